use proptest::prelude::*;
use serde_json::{Value, json as value};

use super::super::ModelTool;
use super::*;

#[track_caller]
fn strict(text: &str, expected: Value) {
    assert_eq!(find_json(text), Some(LenientJson { value: expected, repaired: false }), "{text}");
}

#[track_caller]
fn mended(text: &str, expected: Value) {
    assert_eq!(find_json(text), Some(LenientJson { value: expected, repaired: true }), "{text}");
}

#[test]
fn strict_json_is_found_wherever_it_stands() {
    strict(r#"{"a": 1}"#, value!({"a": 1}));
    strict("Sure! Here it is:\n```json\n{\"a\": [1, 2.5, -3e2, true, null]}\n```\nAnything else?", {
        value!({"a": [1, 2.5, -3e2, true, null]})
    });
    strict("```\n[{\"a\": 1}, {\"b\": 2}]\n```", value!([{"a": 1}, {"b": 2}]));
    strict(r#"{"a": 1}}}"#, value!({"a": 1}));
    strict(r#"[]"#, value!([]));
    strict(r#"as shown in [1] and [2, 3]: {"a": 1}"#, value!({"a": 1}));
    strict(r#"fn main() {} gives {"a": 1}"#, value!({"a": 1}));
    strict(r#"{"a": "\u00e9\ud83d\ude00\n\"\\\/"} ."#, value!({"a": "é😀\n\"\\/"}));
    strict(r#"see {this} and {that: one} but {"a": 1}"#, value!({"a": 1}));
    strict(r#"[1, {"a": 1}, 2] ."#, value!({"a": 1}));
    strict(r#"['tis {"a": 1} 'twas]"#, value!({"a": 1}));
}

#[test]
fn thoughts_are_not_the_answer() {
    strict(r#"<think>maybe {"a": 0}?</think>{"a": 1}"#, value!({"a": 1}));
    strict(r#"no opening tag {"a": 0} </think> {"a": 1}"#, value!({"a": 1}));
    mended(r#"<think>{"a": 0}</think> {"a": 1,}"#, value!({"a": 1}));
    strict(r#"<think>{"a": 0}</think> done"#, value!({"a": 0}));
    strict(r#"so: {"a": "</think> {\"b\": 1} {x: 1}"}"#, value!({"a": "</think> {\"b\": 1} {x: 1}"}));
}

#[test]
fn what_models_get_wrong_is_mended() {
    mended(r#"{"a": 1, "b": [1, 2,],}"#, value!({"a": 1, "b": [1, 2]}));
    mended("{\"a\": 1, // one\n # two\n /* three */ \"b\": 2}", value!({"a": 1, "b": 2}));
    mended(r#"{'a': 'it\'s "so"'}"#, value!({"a": "it's \"so\""}));
    mended(r#"{a: 1, b-c: 2, $d: 3}"#, value!({"a": 1, "b-c": 2, "$d": 3}));
    mended(r#"{"a": True, "b": False, "c": None, "d": NaN}"#, value!({"a": true, "b": false, "c": null, "d": null}));
    mended("{\"a\": \"one\ntwo\tthree\"}", value!({"a": "one\ntwo\tthree"}));
    mended(r#"{"a": 1 "b": 2}"#, value!({"a": 1, "b": 2}));
    mended(r#"{"a": "\d+ \ud800 \uXY"}"#, value!({"a": "\\d+ \u{FFFD} \\uXY"}));
    mended(r#"{"a": +1, "b": 007, "c": 1_000, "d": 1e999, "e": .5}"#, {
        value!({"a": 1, "b": 7, "c": 1000, "d": null, "e": 0.5})
    });
    mended(r#"{"a": [1, 2}"#, value!({"a": [1, 2]}));
    mended(r#"[{"a": 1]"#, value!([{"a": 1}]));
    mended(r#"{"a": 1]}"#, value!({"a": 1}));
    mended(r#"{,"a": 1,, "b": 2}"#, value!({"a": 1, "b": 2}));
}

#[test]
fn what_was_cut_off_is_left_out() {
    mended(r#"{"a": 1, "b": "hal"#, value!({"a": 1}));
    mended(r#"{"a": 1, "b": 12"#, value!({"a": 1}));
    mended(r#"{"a": 1, "b""#, value!({"a": 1}));
    mended(r#"{"a": 1, "b": tr"#, value!({"a": 1}));
    mended(r#"{"a": [{"b": 1}, {"c": "#, value!({"a": [{"b": 1}]}));
    mended("```json\n{\"a\": {\"b\": 1}\n```\nThat is all", value!({"a": {"b": 1}}));
    mended(r#"<tool_call>{"a": {"b": 1}</tool_call>"#, value!({"a": {"b": 1}}));
    // An empty list would say that there is nothing.
    assert_eq!(find_json(r#"{"lessons": ["#), None);
    assert_eq!(find_json(r#"{"lessons": [{"text": "{x: 1} is"#), None);
    assert_eq!(find_json(r#"{"lessons": "</think>{x: 1} is"#), None);
}

#[test]
fn what_is_not_json_gives_nothing() {
    for text in ["", "no", "{", "[", "}", "[1, 2]", "{nothing}", "\"a\"", "{\"a\" 1}", "{\"a\": b c}", "[[[]]] ."] {
        assert_eq!(find_json(text), None, "{text}");
    }
}

#[test]
fn an_object_with_a_wanted_key_is_preferred() {
    let text = r#"Given {"task": 1}, I say {lessons: []} and {"other": 2} and {"lessons": [1]}"#;
    assert_eq!(find_json_with_keys(text, &["lessons"]).unwrap().value, value!({"lessons": [1]}));
    assert_eq!(find_json_with_keys(text, &["nope", "other"]).unwrap().value, value!({"other": 2}));
    assert_eq!(find_json_with_keys(text, &["nope"]).unwrap().value, value!({"task": 1}));
    let text = r#"{"task": 1} {lessons: [2],}"#;
    assert_eq!(
        find_json_with_keys(text, &["lessons"]).unwrap(),
        LenientJson { value: value!({"lessons": [2]}), repaired: true }
    );
    let text = r#"{"task": 1} [{"x": 1}, {"quote": "a"}]"#;
    assert_eq!(find_json_with_keys(text, &["quote"]).unwrap().value, value!([{"x": 1}, {"quote": "a"}]));
}

#[test]
fn depth_is_bounded() {
    let deep = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert!(!find_json(&deep(120)).unwrap().repaired);
    assert_eq!(find_json(&deep(129)), None);
    assert_eq!(find_json(&deep(100_000)), None);
    assert_eq!(find_json(&"[".repeat(1_000_000)), None);
}

#[test]
fn hostile_texts_take_linear_time() {
    let patterns = [
        "{",
        "[",
        "{\"",
        "{a{",
        "{}",
        "[{",
        "{\"a\":1 ",
        "{\"\\",
        "</think>{",
        "```{",
        "{\"a\":1}]",
        "]}",
        "[/*",
        "[//",
        "{'",
        "['",
        "[\"",
        "{'a':",
        "[1,",
        "{\"a\":[",
        "[\"[\",",
        "[{},",
        "[#\n",
    ];
    for pattern in patterns {
        let text = pattern.repeat((1 << 13) / pattern.len());
        for text in [format!("{text}!"), format!("[1,{text}"), text] {
            let read = scan_text(&text).read;
            assert!(read <= text.len() * (MAX_READINGS + 2), "{pattern:?}: {read} bytes of {}", text.len());
        }
    }
}

fn tools() -> Vec<ModelTool> {
    ["look", "note"]
        .map(|name| ModelTool { name: name.to_owned(), description: String::new(), parameters: value!({}) })
        .to_vec()
}

#[track_caller]
fn called(text: &str, expected: &[(&str, &str)]) {
    let calls = find_printed_calls(text, &tools());
    let told: Vec<(&str, &str)> = calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(told, expected, "{text}");
    for (number, call) in calls.iter().enumerate() {
        assert_eq!(call.id, format!("call_{}", number + 1));
    }
}

#[test]
fn a_printed_call_is_a_call() {
    let look = [("look", r#"{"at":1}"#)];
    called("I will look.\n```json\n{\"name\": \"look\", \"arguments\": {\"at\": 1}}\n```", &look);
    called(r#"<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>"#, &look);
    called(r#"<tool_call>{"name": "look", "arguments": {"at": 1}</tool_call>"#, &look);
    called(r#"{"function": {"name": "look", "arguments": {"at": 1}}}"#, &look);
    called(r#"{"type": "function", "function": {"name": "look", "parameters": {"at": 1}}}"#, &look);
    called(r#"{"function": "look", "arguments": {"at": 1}}"#, &look);
    called(r#"{"tool": "look", "parameters": {"at": 1}}"#, &look);
    called(r#"{"action": "look", "action_input": {"at": 1}}"#, &look);
    called(r#"<|python_tag|>{"name": "look", "parameters": {"at": 1}}"#, &look);
    called(r#"{"name": "look", "arguments": "{\"at\":1}"}"#, &look);
    called(r#"<think>{"name": "note", "arguments": {}}</think>{"name": "look", "arguments": {"at": 1}}"#, &look);
    called(r#"{"function": {"name": "look"}}"#, &[("look", "{}")]);
}

#[test]
fn several_printed_calls_are_several_calls() {
    let both = [("look", r#"{"at":1}"#), ("note", "{}")];
    let list = r#"[{"name": "look", "arguments": {"at": 1}}, {"name": "note", "arguments": null}]"#;
    called(list, &both);
    called(&format!("[TOOL_CALLS] {list}"), &both);
    called(&format!("{{\"tool_calls\": {list}}}"), &both);
    called(
        r#"<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call><tool_call>{"name":"note","args":{}}</tool_call>"#,
        &both,
    );
}

#[test]
fn only_given_tools_are_called() {
    for text in [
        r#"{"name": "delete", "arguments": {}}"#,
        r#"{"name": "look"}"#,
        r#"{"name": 1, "arguments": {}}"#,
        r#"{"function": {"name": "delete", "arguments": {}}, "name": "look", "arguments": {}}"#,
        "look(at=1)",
        "",
    ] {
        called(text, &[]);
    }
    assert_eq!(super::find_printed_calls(r#"{"name": "look", "arguments": {}}"#, &[]), []);
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        r#"[{}\[\]"':,/#x1 \\`<>-]{0,20}|</think>|\{x: 1\}"#.prop_map(Value::from),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(any::<String>(), tree(), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Every value with nothing in it, and where it stands.
fn leaves(at: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (key, member) in object {
                leaves(&format!("{at}/{key:?}"), member, found);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (number, item) in list.iter().enumerate() {
                leaves(&format!("{at}/{number}"), item, found);
            }
        }
        leaf => found.push((at.to_owned(), leaf.clone())),
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        find_json(&text);
        find_printed_calls(&text, &tools());
    }

    #[test]
    fn any_text_of_json_characters_is_survived(text in r#"[{}\[\]"':,/*#a1.e+\-\\u \n`<>]{0,80}"#) {
        find_json(&text);
        find_printed_calls(&text, &tools());
    }

    #[test]
    fn strict_json_reads_as_serde_reads_it(tree in object(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&tree) } else { serde_json::to_string(&tree) }.unwrap();
        let mut parser = LenientParser::new(&text, 0);
        prop_assert_eq!(parser.parse_value(), Ok(Some(tree)));
        prop_assert_eq!((parser.mended, parser.cut, parser.position()), (false, false, text.len()));
    }

    #[test]
    fn prose_around_an_object_does_not_matter(
        before in r"[^{}\[\]]*", tree in object(), after in r"[^{}\[\]]*",
    ) {
        let text = format!("{before}{tree}{after}");
        prop_assert_eq!(find_json(&text), Some(LenientJson { value: tree, repaired: false }), "{}", text);
    }

    #[test]
    fn a_prefix_holds_nothing_that_was_not_there(tree in object(), share in 0.0..1.0_f64) {
        let text = tree.to_string();
        let cut = text.char_indices().map(|(at, _)| at).find(|at| *at as f64 >= text.len() as f64 * share);
        let prefix = text.get(..cut.unwrap_or(text.len())).unwrap();
        if let Some(found) = find_json(prefix) {
            prop_assert!(found.value.is_object());
            let (mut kept, mut all) = (Vec::new(), Vec::new());
            leaves("", &found.value, &mut kept);
            leaves("", &tree, &mut all);
            for leaf in kept {
                prop_assert!(all.contains(&leaf), "{leaf:?} is not in {text}");
            }
        }
    }
}
