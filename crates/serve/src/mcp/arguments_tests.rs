use serde_json::json;

use super::*;

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

fn why(problem: &HttpProblem) -> String {
    problem.as_parts().1.to_owned()
}

#[track_caller]
fn turned_down<T: std::fmt::Debug>(read: Result<T, HttpProblem>, expected: &str) {
    let found = why(&read.unwrap_err());
    assert!(found.contains(expected), "{found}");
}

#[test]
fn arguments_are_bounded_before_they_are_read() {
    let long = object(json!({"text": "x".repeat(MAX_ARGUMENT_BYTES)}));
    turned_down(parse_arguments::<RecallArguments>(long), "bytes long");
}

#[test]
fn a_misspelt_name_is_an_error() {
    turned_down(parse_arguments::<RecallArguments>(object(json!({"txt": "x"}))), "unknown field `txt`");
    turned_down(parse_arguments::<RecordLessonArguments>(object(json!({}))), "missing field `text`");
    turned_down(
        parse_arguments::<RecordLessonArguments>(object(json!({"text": "x", "state": "active"}))),
        "unknown field `state`",
    );
    turned_down(
        parse_arguments::<RecordLessonArguments>(object(json!({"text": "x", "importance": 1}))),
        "unknown field `importance`",
    );
}

#[test]
fn every_field_has_its_length() {
    let recalling = |arguments| parse_arguments::<RecallArguments>(object(arguments)).unwrap().into_recall_body();
    turned_down(recalling(json!({"text": "é".repeat(MAX_MATTER + 1)})), "`text` has 16001 characters");
    turned_down(recalling(json!({"tool": "x".repeat(MAX_WORD + 1)})), "`tool` has 201 characters");
    turned_down(recalling(json!({"max": 21})), "`max` is from 1 to 20");
    turned_down(recalling(json!({"budget": 4_001})), "`budget` is from 0 to 4000");
    let recording = |arguments| parse_arguments::<RecordLessonArguments>(object(arguments)).unwrap().into_lesson_body();
    turned_down(recording(json!({"text": "x".repeat(MAX_SENTENCE + 1)})), "`text` has 501 characters");
    turned_down(recording(json!({"text": "x", "tags": vec!["t"; 21]})), "`tags` names 21");
    let reflecting = |arguments| parse_arguments::<ReflectArguments>(object(arguments)).unwrap().into_reflection_body();
    turned_down(reflecting(json!({"files": vec!["f"; 21]})), "`files` names 21");
    let judging = |arguments| check_feedback_length(parse_arguments::<FeedbackBody>(object(arguments)).unwrap());
    turned_down(
        judging(json!({"verdict": "ignore", "lessons": vec!["m-001"; 101], "run": "r"})),
        "`lessons` names 101",
    );
}

#[test]
fn a_lesson_is_written_down_without_secrets_and_without_what_steers_a_terminal() {
    let token = ["ghp", "_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let arguments = json!({"text": format!("Push with {token}"), "detail": format!("Ran\u{1b}[31m it:\n\t{token}")});
    let body = parse_arguments::<RecordLessonArguments>(object(arguments)).unwrap().into_lesson_body().unwrap();
    let detail = body.detail.unwrap();
    assert!(!body.text.contains(&token) && !detail.contains(&token), "{} {detail}", body.text);
    assert!(detail.starts_with("Ran it:\n\t"), "{detail:?}");
}

#[test]
fn a_secret_is_found_whatever_is_hidden_in_it() {
    for hidden in ["\u{200b}", "\u{1b}[0m", "\u{e0041}", "\u{200d}"] {
        let token = ["ghp", "_", "16C7e42F292c", hidden, "6912E7710c838347Ae178B4a"].concat();
        let arguments = json!({"text": format!("Push with {token}"), "rule": token});
        let body = parse_arguments::<RecordLessonArguments>(object(arguments)).unwrap().into_lesson_body().unwrap();
        let texts = [body.text, body.rule.unwrap()];
        assert!(texts.iter().all(|text| !text.contains("16C7e42F292c")), "{hidden:?}: {texts:?}");
    }
}
