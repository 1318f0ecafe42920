use super::super::scripted_model::{ScriptedModel, every_error, text_reply, text_request, tool_call_reply};
use super::*;

type Answer = Result<ModelReply, ModelError>;

fn refused() -> Answer {
    Err(ModelError::BadRequest { status: 400, said: "unknown member".to_owned() })
}

fn prose() -> Answer {
    Ok(text_reply("A spider has eight legs."))
}

fn cut_off(text: &str) -> Answer {
    Ok(ModelReply { finish: Finish::Length, ..text_reply(text) })
}

fn forms(asked: &[ModelRequest]) -> Vec<&'static str> {
    asked
        .iter()
        .map(|request| match request.form {
            RequestedFormat::Tools(_) => "tools",
            RequestedFormat::Schema(_) => "json_schema",
            RequestedFormat::Json => "json_object",
            RequestedFormat::Text => "text",
        })
        .collect()
}

/// Tries a model with these answers and tells what was found and in which forms it was asked.
async fn tried(answers: Vec<Answer>) -> (Result<AnswerFormat, ModelError>, Vec<ModelRequest>) {
    let model = ScriptedModel::new(answers);
    let found = probe_answer_format(&model).await;
    (found, model.received_requests())
}

async fn check(answers: Vec<Answer>, answer_format: AnswerFormat, asked: &[&str]) {
    let told = format!("{answers:?}");
    let (found, requests) = tried(answers).await;
    assert_eq!((found, forms(&requests)), (Ok(answer_format), asked.to_vec()), "{told}");
}

#[tokio::test]
async fn a_call_of_the_tool_is_the_top() {
    for arguments in [r#"{"leg_count":8}"#, r#" {"leg_count": "eight", "more": 1} "#] {
        check(vec![Ok(tool_call_reply("count_legs", arguments))], AnswerFormat::Tools, &["tools"]).await;
    }
    let aloud = ModelReply {
        text: "<think>Spiders, hm.</think>".to_owned(),
        ..tool_call_reply("count_legs", r#"{"leg_count":8}"#)
    };
    check(vec![Ok(aloud)], AnswerFormat::Tools, &["tools"]).await;
}

#[tokio::test]
async fn what_is_no_real_call_is_not() {
    let replies = [
        tool_call_reply("count_eyes", r#"{"leg_count":8}"#),
        tool_call_reply("count_legs", r#"{"leg_count":8"#),
        tool_call_reply("count_legs", "8"),
        tool_call_reply("count_legs", "{}"),
        tool_call_reply("count_legs", ""),
        text_reply(r#"{"name":"count_legs","arguments":{"leg_count":8}}"#),
        text_reply(r#"<tool_call>{"name":"count_legs","arguments":{"leg_count":8}}</tool_call>"#),
    ];
    for reply in replies {
        let answers = vec![Ok(reply), Ok(text_reply(r#"{"leg_count":8}"#))];
        check(answers, AnswerFormat::Schema, &["tools", "json_schema"]).await;
    }
}

#[tokio::test]
async fn a_schema_is_followed_to_the_letter() {
    for text in [r#"{"leg_count":8}"#, "\n{\"leg_count\": 8.0}\n", r#"{"leg_count":-1}"#] {
        check(vec![refused(), Ok(text_reply(text))], AnswerFormat::Schema, &["tools", "json_schema"]).await;
    }
    let unlike = [
        r#"{"legs":8}"#,
        r#"{"leg_count":"8"}"#,
        r#"{"leg_count":8.5}"#,
        r#"{"leg_count":null}"#,
        r#"[{"leg_count":8}]"#,
        r#"Here it is: {"leg_count":8}"#,
        r#"<think>Eight.</think>{"leg_count":8}"#,
        "```json\n{\"leg_count\":8}\n```",
        "8",
        "",
    ];
    for text in unlike {
        let answers = vec![refused(), Ok(text_reply(text)), Ok(text_reply("{}"))];
        check(answers, AnswerFormat::Json, &["tools", "json_schema", "json_object"]).await;
    }
}

#[tokio::test]
async fn a_json_object_may_hold_anything_and_follow_thoughts() {
    let texts =
        ["{}", r#"{"legs":"eight"}"#, "<think>\nEight.\n</think>\n\n{\"legs\":8}", "\n<thinking>{</thinking>{}"];
    for text in texts {
        let answers = vec![refused(), refused(), Ok(text_reply(text))];
        check(answers, AnswerFormat::Json, &["tools", "json_schema", "json_object"]).await;
    }
    for text in ["8", "[]", "```json\n{}\n```", "Sure: {}", "<think>{}", "{} That is it.", "<think>Eight.</think>"] {
        let answers = vec![refused(), refused(), Ok(text_reply(text))];
        check(answers, AnswerFormat::Text, &["tools", "json_schema", "json_object"]).await;
    }
}

#[tokio::test]
async fn an_error_about_the_form_leads_to_the_next_rung() {
    let not_found = |said: &str| ModelError::NotFound { said: said.to_owned() };
    let server = |status, said: &str| ModelError::Server { status, retry_after: None, said: said.to_owned() };
    let errors = [
        ModelError::BadRequest { status: 422, said: String::new() },
        ModelError::Unreadable { why: "a stream".to_owned() },
        ModelError::Oversized { max_bytes: 9 },
        server(501, "not implemented"),
        server(500, "tools param requires another template"),
        not_found("No endpoints found that support Tool use"),
        not_found("nobody can handle the requested parameters"),
    ];
    for error in errors {
        check(vec![Err(error), Ok(text_reply(r#"{"leg_count":8}"#))], AnswerFormat::Schema, &["tools", "json_schema"])
            .await;
    }
}

#[tokio::test]
async fn any_other_error_is_handed_on_from_every_rung() {
    let more = [
        ModelError::Server { status: 500, retry_after: None, said: "out of memory".to_owned() },
        ModelError::NotFound { said: "there is no model `Scripted`".to_owned() },
    ];
    let is_silent = |error: &ModelError| {
        !matches!(error, ModelError::BadRequest { .. } | ModelError::Unreadable { .. } | ModelError::Oversized { .. })
    };
    for error in every_error().into_iter().filter(is_silent).chain(more) {
        for before in 0..3 {
            let mut answers = vec![prose(); before];
            answers.push(Err(error.clone()));
            let (found, asked) = tried(answers).await;
            assert_eq!((found, asked.len()), (Err(error.clone()), before + 1));
        }
    }
}

#[test]
fn a_model_with_a_telling_name_may_still_be_missing() {
    let missing = ModelError::NotFound { said: "The model `ToolMaker:7b` does not exist".to_owned() };
    assert!(!is_about_format(&missing, "toolmaker:7b"));
    assert!(is_about_format(&missing, "another"));
}

#[tokio::test]
async fn words_are_tried_only_where_nothing_was_answered() {
    check(vec![prose(), refused(), prose()], AnswerFormat::Text, &["tools", "json_schema", "json_object"]).await;
    check(vec![refused(), prose(), refused()], AnswerFormat::Text, &["tools", "json_schema", "json_object"]).await;
    let all = ["tools", "json_schema", "json_object", "text"];
    check(vec![refused(), refused(), refused(), prose()], AnswerFormat::Text, &all).await;
    let (found, asked) = tried(vec![refused(); 4]).await;
    assert_eq!((found, forms(&asked)), (Err(refused().unwrap_err()), all.to_vec()), "nothing is understood at all");
}

#[tokio::test]
async fn a_model_that_was_cut_off_while_thinking_gets_room_to_think() {
    let answers = vec![cut_off("<think>Well,"), prose(), cut_off(""), Ok(text_reply("{}"))];
    let (found, asked) = tried(answers).await;
    assert_eq!(found, Ok(AnswerFormat::Json));
    assert_eq!(forms(&asked), ["tools", "tools", "json_schema", "json_object"]);
    let room: Vec<u32> = asked.iter().map(|request| request.max_output_tokens).collect();
    assert_eq!(room, [200, 2000, 2000, 2000], "room once given is kept, and no more is given");
}

#[tokio::test]
async fn being_cut_off_after_the_call_is_no_fault() {
    let reply = ModelReply { finish: Finish::Length, ..tool_call_reply("count_legs", r#"{"leg_count":8}"#) };
    check(vec![Ok(reply)], AnswerFormat::Tools, &["tools"]).await;
}

#[tokio::test]
async fn trials_are_small_and_only_the_schema_names_the_member() {
    let (_, asked) = tried(vec![refused(), refused(), refused(), prose()]).await;
    for request in &asked {
        assert_eq!(request.max_output_tokens, 200);
        let said = serde_json::to_string(&request.messages).unwrap();
        assert!(said.len() < 300 && !said.contains(MEMBER), "{said}");
        assert!(request.form != RequestedFormat::Json || said.contains("JSON"), "{said}");
    }
}

#[test]
fn words_and_steps_of_the_ladder() {
    let mut steps = vec![AnswerFormat::Tools];
    while let Some(next) = steps.last().unwrap().next_simpler_format() {
        steps.push(next);
    }
    assert_eq!(steps, AnswerFormat::ALL);
    for answer_format in AnswerFormat::ALL {
        assert_eq!(AnswerFormat::parse(answer_format.as_str()), Ok(answer_format));
        assert_eq!(answer_format.to_string(), answer_format.as_str());
    }
    let error = AnswerFormat::parse("Tools").unwrap_err().to_string();
    assert!(error.contains("tools, json_schema, json_object, text"), "{error}");
    assert_eq!(forms(&[text_request("why?")]), ["text"]);
}
