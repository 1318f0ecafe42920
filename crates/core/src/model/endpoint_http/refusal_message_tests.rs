use serde_json::json;

use super::*;

#[track_caller]
fn says(body: &Value, message: &str) {
    assert_eq!(RefusalMessage::from_body(&body.to_string()).message, message, "{body}");
}

#[test]
fn every_style_of_error_says_its_message() {
    says(&json!({"error": "a"}), "a");
    says(&json!({"error": {"message": "a", "code": 400, "type": "x", "param": null}}), "a");
    says(&json!({"error": ["a", {"message": "b"}, "c", "d"]}), "a; b; c");
    says(&json!([{"error": {"code": 400, "message": "a", "status": "INVALID_ARGUMENT"}}]), "a");
    says(&json!({"message": "a", "request_id": "1"}), "a");
    says(&json!({"object": "error", "message": "a", "code": 40303}), "a");
    says(&json!({"detail": "a"}), "a");
    says(&json!({"detail": [{"loc": ["body"], "msg": "a", "type": "missing"}, {"msg": "b"}]}), "a; b");
    says(&json!({"errors": [{"message": "a"}]}), "a");
    says(&json!({"errors": {"message": "a"}}), "a");
    says(&json!({"error": "", "message": "a"}), "a");
    says(&json!({"error": null, "message": {"detail": "a"}}), "a");
    says(&json!("a"), "a");
    says(&json!({"other": 1}), r#"{"other":1}"#);
    says(&json!(7), "7");
}

#[test]
fn codes_are_labels_or_a_status() {
    let words =
        RefusalMessage::from_body(r#"{"error": {"message": "a", "type": "Rate_Limit", "code": 429, "param": "x"}}"#);
    assert_eq!((words.labels, words.status), (vec!["rate_limit".to_owned(), "x".to_owned()], Some(429)));
    for code in ["7", "40303", "-1", "1.5", "1e30", "99999999999999999999"] {
        assert_eq!(RefusalMessage::from_body(&format!(r#"{{"message": "a", "code": {code}}}"#)).status, None, "{code}");
    }
}

#[test]
fn a_page_is_known_by_its_title() {
    assert_eq!(RefusalMessage::from_body("<HTML><TITLE> Oh\nno </TITLE>").message, "an HTML page, \"Oh\nno\"");
    assert_eq!(RefusalMessage::from_body("<!DOCTYPE html><p>é").message, "an HTML page, untitled");
    assert!(!is_html_page("<think>"));
}

#[test]
fn deep_errors_are_not_followed_for_ever() {
    let mut value = json!("a");
    for _ in 0..100 {
        value = json!({"error": value});
    }
    assert!(RefusalMessage::from_json(&value).message.starts_with(r#"{"error":"#));
}
