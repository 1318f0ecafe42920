use proptest::prelude::*;

use super::super::scripted_model::{ScriptedModel, every_error, text_reply, text_request};
use super::super::{AnswerSchema, Finish, ModelMessage, ModelTool, ModelToolCall, RequestedFormat};
use super::*;
use crate::domain::TokenUsage;

type Answer = Result<ModelReply, ModelError>;

fn key(request: &ModelRequest, model: &str) -> String {
    exchange_key(&build_exchange(request, model))
}

fn as_it_is() -> Clean {
    Arc::new(str::to_owned)
}

fn without(secret: &'static str) -> Clean {
    Arc::new(move |text| text.replace(secret, "[gone]"))
}

fn recorder(answers: Vec<Answer>, directory: &Path, clean: Clean) -> RecordingModel<ScriptedModel> {
    RecordingModel::new(ScriptedModel::new(answers), directory.to_owned(), clean)
}

fn player(directory: &Path, clean: Clean) -> ReplayModel {
    ReplayModel::new(ScriptedModel::NAME.to_owned(), directory.to_owned(), clean)
}

fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .map(|entries| entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

#[tokio::test]
async fn every_answer_and_every_error_is_played_back_as_it_was() {
    let usage = TokenUsage { prompt_tokens: Some(u64::MAX), cost_usd: Some(0.1 + 0.2), ..TokenUsage::default() };
    let mut answers: Vec<Answer> = every_error().into_iter().map(Err).collect();
    answers.push(Ok(ModelReply {
        usage,
        finish: Finish::Other("tired".to_owned()),
        ..text_reply("because\u{0}\u{2028}")
    }));
    for answer in answers {
        let directory = tempfile::tempdir().unwrap();
        let recorded = recorder(vec![answer.clone()], directory.path(), as_it_is());
        assert_eq!(recorded.send_request(&text_request("why?")).await, answer);
        let played = player(directory.path(), as_it_is()).send_request(&text_request("why?")).await;
        let was_asked = !matches!(
            answer,
            Err(ModelError::Refused { .. } | ModelError::Resting { .. } | ModelError::NotRecorded { .. })
        );
        let key = key(&text_request("why?"), ScriptedModel::NAME);
        assert_eq!(played, if was_asked { answer } else { Err(ModelError::NotRecorded { key }) });
    }
}

#[tokio::test]
async fn what_was_not_asked_leaves_an_earlier_answer_alone() {
    let directory = tempfile::tempdir().unwrap();
    let refused = ModelError::Refused { why: "too dear".to_owned() };
    let recorded = recorder(vec![Ok(text_reply("because")), Err(refused)], directory.path(), as_it_is());
    recorded.send_request(&text_request("why?")).await.unwrap();
    recorded.send_request(&text_request("why?")).await.unwrap_err();
    assert_eq!(
        player(directory.path(), as_it_is()).send_request(&text_request("why?")).await,
        Ok(text_reply("because"))
    );
}

#[tokio::test]
async fn a_later_answer_takes_the_place_of_an_earlier_one() {
    let directory = tempfile::tempdir().unwrap();
    let busy = ModelError::RateLimited { retry_after: None, said: "busy".to_owned() };
    let recorded = recorder(vec![Err(busy), Ok(text_reply("because"))], directory.path(), as_it_is());
    recorded.send_request(&text_request("why?")).await.unwrap_err();
    recorded.send_request(&text_request("why?")).await.unwrap();
    assert_eq!(
        player(directory.path(), as_it_is()).send_request(&text_request("why?")).await,
        Ok(text_reply("because"))
    );
    assert_eq!(files(directory.path()), [format!("{}.json", key(&text_request("why?"), ScriptedModel::NAME))]);
}

#[tokio::test]
async fn a_recording_can_be_read_by_a_person() {
    let directory = tempfile::tempdir().unwrap();
    recorder(vec![Ok(text_reply("because"))], directory.path(), as_it_is())
        .send_request(&text_request("why?"))
        .await
        .unwrap();
    let text = std::fs::read_to_string(directory.path().join(&files(directory.path())[0])).unwrap();
    let expected = r#"{
  "model": "scripted",
  "reply": {
    "finish": "stop",
    "text": "because",
    "usage": {}
  },
  "request": {
    "form": "text",
    "max_output_tokens": 100,
    "messages": [
      {
        "role": "user",
        "text": "why?"
      }
    ]
  }
}
"#;
    assert_eq!(text, expected);
}

#[test]
fn the_key_of_a_question_never_changes() {
    // Recordings lie in repositories; a new key would lose them all.
    assert_eq!(key(&text_request("why?"), "scripted"), "3cbfcbbbabb6b9bf8cc36c627fb94797");
}

#[tokio::test]
async fn nothing_secret_is_recorded_and_the_answer_is_still_found() {
    let directory = tempfile::tempdir().unwrap();
    let call =
        || ModelToolCall { id: "hunter2".to_owned(), name: "look".to_owned(), arguments: "[\"hunter2\"]".to_owned() };
    let schema = json!({ "default": "hunter2", "enum": [["hunter2"]] });
    let tool = ModelTool { name: "look".to_owned(), description: "not for hunter2".to_owned(), parameters: schema };
    let request = ModelRequest {
        messages: vec![
            ModelMessage::System { text: "hunter2".to_owned() },
            ModelMessage::User { text: "it is hunter2.".to_owned() },
            ModelMessage::Assistant { text: "hunter2?".to_owned(), calls: vec![call()] },
            ModelMessage::ToolResult { call_id: "hunter2".to_owned(), text: "hunter2!".to_owned() },
        ],
        form: RequestedFormat::Tools(vec![tool]),
        max_output_tokens: 9,
    };
    let told = ModelReply { calls: vec![call()], ..text_reply("your password is hunter2") };
    let recorded = recorder(vec![Ok(told.clone())], directory.path(), without("hunter2"));
    assert_eq!(recorded.send_request(&request).await, Ok(told), "who asked gets the answer as it came");
    let [name] = files(directory.path()).try_into().unwrap();
    let text = std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(!text.contains("hunter2") && text.matches("[gone]").count() == 13, "{text}");
    let played = player(directory.path(), without("hunter2")).send_request(&request).await.unwrap();
    assert_eq!(played.text, "your password is [gone]");
    assert_eq!(played.calls[0].arguments, "[\"[gone]\"]");
}

#[tokio::test]
async fn nothing_secret_is_recorded_of_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let error = ModelError::Unauthorized { status: 401, said: "wrong key hunter2".to_owned() };
    let recorded = recorder(vec![Err(error)], directory.path(), without("hunter2"));
    recorded.send_request(&text_request("why?")).await.unwrap_err();
    let played = player(directory.path(), without("hunter2")).send_request(&text_request("why?")).await;
    assert_eq!(played, Err(ModelError::Unauthorized { status: 401, said: "wrong key [gone]".to_owned() }));
}

#[tokio::test]
async fn what_was_never_recorded_is_not_made_up() {
    let directory = tempfile::tempdir().unwrap();
    recorder(vec![Ok(text_reply("because"))], directory.path(), as_it_is())
        .send_request(&text_request("why?"))
        .await
        .unwrap();
    let player = player(directory.path(), as_it_is());
    let error = player.send_request(&text_request("how?")).await.unwrap_err();
    assert_eq!(error, ModelError::NotRecorded { key: key(&text_request("how?"), "scripted") });
    let other = ReplayModel::new("other".to_owned(), directory.path().to_owned(), as_it_is());
    assert!(matches!(other.send_request(&text_request("why?")).await, Err(ModelError::NotRecorded { .. })));
    let nowhere = ReplayModel::new("scripted".to_owned(), directory.path().join("nowhere"), as_it_is());
    assert!(matches!(nowhere.send_request(&text_request("why?")).await, Err(ModelError::NotRecorded { .. })));
}

#[tokio::test]
async fn a_broken_recording_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let key = key(&text_request("why?"), "scripted");
    let path = directory.path().join(format!("{key}.json"));
    let both = r#"{"reply":{"finish":"stop"},"error":{"kind":"refused","why":"no"}}"#;
    for text in ["", "{", "[]", "{}", r#"{"reply":3}"#, r#"{"error":{"kind":"moon"}}"#, both, "\u{feff}{}"] {
        std::fs::write(&path, text).unwrap();
        match player(directory.path(), as_it_is()).send_request(&text_request("why?")).await {
            Err(ModelError::Unreadable { why }) => assert!(why.contains(&key), "{why}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let error = player(directory.path(), as_it_is()).send_request(&text_request("why?")).await.unwrap_err();
    assert!(matches!(&error, ModelError::Unreadable { why } if why.contains(&key)), "{error}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_recorded_is_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let recorded = recorder(vec![Ok(text_reply("because"))], &file, as_it_is());
    assert_eq!(recorded.send_request(&text_request("why?")).await, Ok(text_reply("because")));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn debug_shows_where_and_not_what() {
    let shown = format!("{:?}", player(Path::new("tapes"), as_it_is()));
    assert_eq!(shown, r#"ReplayModel { model: "scripted", directory: "tapes", .. }"#);
    let shown = format!("{:?}", recorder(Vec::new(), Path::new("tapes"), as_it_is()));
    assert!(shown.starts_with("RecordingModel { inner: Scripted") && shown.contains("tapes"), "{shown}");
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn calls() -> impl Strategy<Value = Vec<ModelToolCall>> {
    let call =
        any::<(String, String, String)>().prop_map(|(id, name, arguments)| ModelToolCall { id, name, arguments });
    prop::collection::vec(call, 0..3)
}

fn requests() -> impl Strategy<Value = ModelRequest> {
    let message = prop_oneof![
        any::<String>().prop_map(|text| ModelMessage::System { text }),
        any::<String>().prop_map(|text| ModelMessage::User { text }),
        (any::<String>(), calls()).prop_map(|(text, calls)| ModelMessage::Assistant { text, calls }),
        any::<(String, String)>().prop_map(|(call_id, text)| ModelMessage::ToolResult { call_id, text }),
    ];
    let tool = (any::<String>(), any::<String>(), values()).prop_map(|(name, description, parameters)| ModelTool {
        name,
        description,
        parameters,
    });
    let form = prop_oneof![
        prop::collection::vec(tool, 0..3).prop_map(RequestedFormat::Tools),
        (any::<String>(), values()).prop_map(|(name, schema)| RequestedFormat::Schema(AnswerSchema { name, schema })),
        Just(RequestedFormat::Json),
        Just(RequestedFormat::Text),
    ];
    (prop::collection::vec(message, 0..4), form, any::<u32>())
        .prop_map(|(messages, form, max_output_tokens)| ModelRequest { messages, form, max_output_tokens })
}

fn answers() -> impl Strategy<Value = Answer> {
    let tokens = || any::<Option<u64>>();
    let usage = (tokens(), tokens(), tokens(), prop::option::of(proptest::num::f64::POSITIVE)).prop_map(
        |(prompt_tokens, completion_tokens, cached_tokens, cost_usd)| TokenUsage {
            prompt_tokens,
            completion_tokens,
            cached_tokens,
            cost_usd: cost_usd.filter(|cost| cost.is_finite()),
            ..TokenUsage::default()
        },
    );
    let reply = (any::<String>(), calls(), any::<String>(), usage)
        .prop_map(|(text, calls, finish, usage)| ModelReply { text, calls, finish: Finish::from(finish), usage });
    let error = any::<(u16, Option<std::time::Duration>, String)>()
        .prop_map(|(status, retry_after, said)| ModelError::Server { status, retry_after, said });
    prop_oneof![3 => reply.prop_map(Ok), 1 => error.prop_map(Err)]
}

/// The same value, its members put in the other way round.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(members) => members.iter().rev().map(|(name, member)| (name.clone(), turned(member))).collect(),
        Value::Array(items) => items.iter().map(turned).collect(),
        other => other.clone(),
    }
}

fn with_schema(schema: Value) -> ModelRequest {
    ModelRequest {
        form: RequestedFormat::Schema(AnswerSchema { name: "answer".to_owned(), schema }),
        ..text_request("why?")
    }
}

#[test]
fn the_order_of_members_counts_for_nothing() {
    let one: Value = serde_json::from_str(r#"{"type":"object","properties":{"a":{},"b":[{"c":1,"d":2}]}}"#).unwrap();
    let other: Value = serde_json::from_str(r#"{"properties":{"b":[{"d":2,"c":1}],"a":{}},"type":"object"}"#).unwrap();
    assert_eq!(key(&with_schema(one), "m"), key(&with_schema(other), "m"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_exchange_survives_its_file(request in requests(), answer in answers()) {
        let directory = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let recorded = recorder(vec![answer.clone()], directory.path(), as_it_is());
        prop_assert_eq!(&runtime.block_on(recorded.send_request(&request)), &answer);
        prop_assert_eq!(&runtime.block_on(player(directory.path(), as_it_is()).send_request(&request)), &answer);

        let [name] = <[String; 1]>::try_from(files(directory.path())).unwrap();
        let text = std::fs::read_to_string(directory.path().join(&name)).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let kept: ModelRequest = serde_json::from_value(file["request"].clone()).unwrap();
        prop_assert_eq!(&kept, &request);
        prop_assert_eq!(name, format!("{}.json", key(&kept, ScriptedModel::NAME)));
    }

    #[test]
    fn keys_differ_as_questions_do(one in requests(), other in requests(), model: String) {
        let of_one = key(&one, &model);
        prop_assert!(of_one.len() == 32 && of_one.bytes().all(|digit| digit.is_ascii_hexdigit()));
        prop_assert_eq!(one == other, of_one == key(&other, &model));
        prop_assert_ne!(&of_one, &key(&one, &format!("{model}2")));
        let longer = ModelRequest { max_output_tokens: one.max_output_tokens ^ 1, ..one };
        prop_assert_ne!(of_one, key(&longer, &model));
    }

    #[test]
    fn a_schema_turned_round_has_the_same_key(schema in values()) {
        prop_assert_eq!(key(&with_schema(turned(&schema)), "m"), key(&with_schema(schema), "m"));
    }
}
