use serde_json::json;

use super::super::tests::{item, prompt, says, told, user};

#[test]
fn a_prompt_in_tags_is_a_persons_when_an_event_says_so() {
    for text in [
        "<pr_description>⏎Fix the sum.⏎</pr_description>",
        "<skill> element is not rendered, why? see </b>",
        "<instructions>⏎fix⏎</instructions>⏎Please do this now",
        "<instructions>Fix the sum.</instructions>",
    ] {
        let sent = text.replace('⏎', "\n");
        let expected = [format!("1 user: {text}"), "2 agent: Ok.".to_owned()];
        assert_eq!(told(&[user(&sent), prompt(&sent), says("Ok.")]), expected);
        assert_eq!(told(&[prompt(&sent), user(&sent), says("Ok.")]), expected);
    }
}

#[test]
fn tags_without_an_event_are_the_harness() {
    let skill = "<skill>x</skill>";
    let expected = ["1 user: Go.", "2 system: <skill>x</skill>", "3 agent: Ok."];
    assert_eq!(told(&[user("Go."), user(skill), says("Ok.")]), expected);
    assert_eq!(told(&[user("Go."), prompt("Go."), user(skill), says("Ok.")]), expected);
    let expected = ["1 system: <skill>x</skill>", "2 user: Go.", "3 agent: Ok."];
    assert_eq!(told(&[user(skill), user("Go."), prompt("Go."), says("Ok.")]), expected);
}

#[test]
fn parts_in_tags_and_others_are_told_once() {
    let parts = item(json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "<skill>x</skill>"}, {"type": "input_text", "text": "Go."}]}));
    let whole = "<skill>x</skill>Go.";
    assert_eq!(told(std::slice::from_ref(&parts)), ["1 system: <skill>x</skill>", "2 user: Go."]);
    assert_eq!(told(&[parts.clone(), prompt("Go.")]), ["1 system: <skill>x</skill>", "2 user: Go."]);
    assert_eq!(told(&[parts.clone(), prompt(whole)]), ["1 user: <skill>x</skill>", "2 user: Go."]);
    assert_eq!(told(&[prompt(whole), parts]), ["1 user: <skill>x</skill>Go."]);
}

#[test]
fn the_harness_is_told_once_though_an_event_repeats_it() {
    let context = "<environment_context>a</environment_context>";
    for lines in [[user(context), prompt(context)], [prompt(context), user(context)]] {
        assert_eq!(told(&lines), [format!("1 system: {context}")]);
    }
}
