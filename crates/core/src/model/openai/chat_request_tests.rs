use super::*;

#[test]
fn a_parameter_can_be_left_out_once() {
    let full = RequestDialect { max_tokens: true, temperature: Some(0.5) };
    let without = full.without_parameter(OptionalParameter::MaxTokens).unwrap();
    assert_eq!(without, RequestDialect { max_tokens: false, ..full });
    assert_eq!(without.without_parameter(OptionalParameter::MaxTokens), None);
    let without = full.without_parameter(OptionalParameter::Temperature).unwrap();
    assert_eq!(without, RequestDialect { temperature: None, ..full });
    assert_eq!(without.without_parameter(OptionalParameter::Temperature), None);
}

#[test]
fn arguments_that_are_no_object_are_made_one() {
    let cases = [
        (r#"{"a": 1}"#, r#"{"a": 1}"#),
        ("", "{}"),
        ("{", "{}"),
        (r#"{"a": 1, "b": "#, r#"{"a":1}"#),
        ("{'a': True}", r#"{"a":true}"#),
        ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
        ("[1]", "{}"),
        ("just words", "{}"),
    ];
    for (written, sent) in cases {
        assert_eq!(repair_arguments(written), sent, "{written}");
    }
}
