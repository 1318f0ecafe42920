use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::hooks::HookAgent;

fn plan(agent: HookAgent) -> HookPlan {
    HookPlan { agent, program: "archivist".to_owned(), recall: RecallTiming::AtStart }
}

fn installed(text: &str) -> InstalledSettings {
    install_hooks(Some(text), &plan(HookAgent::ClaudeCode)).unwrap()
}

/// Everything that always holds: once is enough, nothing else changed, it can be undone exactly.
fn check(text: &str) -> String {
    let once = installed(text);
    assert!(once.changed, "{text}");
    assert_eq!(
        installed(&once.text),
        InstalledSettings { text: once.text.clone(), changed: false, undo: vec![] },
        "{text}"
    );
    assert_eq!(apply_splices(&once.text, &once.undo).as_deref(), Some(text));
    let removed = remove_hooks(&once.text, &plan(HookAgent::ClaudeCode)).unwrap();
    assert!(removed.changed);
    removed.text
}

#[test]
fn a_new_file_has_all_hooks_and_nothing_else() {
    assert_snapshot!(install_hooks(None, &plan(HookAgent::Codex)).unwrap().text, @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "archivist hook codex session-start",
                "timeout": 10
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "archivist hook codex stop",
                "timeout": 10
              }
            ]
          }
        ],
        "SubagentStop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "archivist hook codex subagent-stop",
                "timeout": 10
              }
            ]
          }
        ],
        "PreCompact": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "archivist hook codex pre-compact",
                "timeout": 10
              }
            ]
          }
        ],
        "SessionEnd": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "archivist hook codex session-end",
                "timeout": 3
              }
            ]
          }
        ]
      }
    }
    "#);
    let with_prompts = HookPlan { recall: RecallTiming::WithPrompts, ..plan(HookAgent::Gemini) };
    let text = install_hooks(None, &with_prompts).unwrap().text;
    let settings: Value = serde_json::from_str(&text).unwrap();
    let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["AfterAgent", "BeforeAgent", "PreCompress", "SessionEnd", "SessionStart"]);
    assert_eq!(settings["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"], 10_000);
    assert_eq!(settings["hooks"]["AfterAgent"][0]["hooks"][0]["command"], "archivist hook gemini after-agent");
}

#[test]
fn whatever_was_there_comes_back_to_the_byte() {
    for text in [
        "{}",
        "{}\n",
        "{\"a\":1}",
        "{\"a\": 1, \"b\": [1, 2]}",
        "{\n  \"a\": 1\n}",
        "{\n  \"a\": 1\n}\n",
        "{\r\n    \"a\": 1\r\n}\r\n",
        "{\n\t\"a\": {\n\t\t\"b\": []\n\t}\n}\n",
        "{\n    // why\n    \"a\": 1, // because\n    \"b\": 2 // so\n    /* end */\n}\n",
        "{\n  \"a\": 1,\n}\n",
        "// above\n{ \"a\": 1 }\n// below\n",
        "{\n  // only a comment\n}\n",
        "\u{feff}{\n  \"a\": \"é\"\n}\n",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
        "{\n  \"hooks\": {\n    \"Stop\": [{\n      \"hooks\": []\n    }]\n  },\n  \"z\": null\n}",
        "{\n  \"hooks\": {\n    \"PostToolUse\": [ { \"matcher\": \"*\", \"hooks\": [ ] } ] // last\n  }\n}",
        "{\n  \"hooks\": {\n    \"SessionEnd\": [\n      { \"hooks\": [] }, // trailing\n    ],\n  },\n}\n",
    ] {
        assert_eq!(check(text), text);
    }
}

#[test]
fn empty_places_are_filled_and_only_the_record_knows_that_they_were_there() {
    let check = |text: &str, expected: &str| assert_eq!(check(text), expected, "{text}");
    check("{\"hooks\":{}}", "{}");
    check("{\"hooks\":{\"SessionEnd\":[]}}", "{}");
    check("{\n  \"a\": 1,\n  \"hooks\": {}\n}", "{\n  \"a\": 1\n}");
    check("{ }", "{}");
    check("{\n}\n", "{}\n");
    for text in ["", "\n", "  \r\n"] {
        let made = installed(text);
        assert_eq!(apply_splices(&made.text, &made.undo).as_deref(), Some(text));
        assert!(!remove_hooks(text, &plan(HookAgent::ClaudeCode)).unwrap().changed);
    }
}

#[test]
fn new_lines_look_like_those_that_are_there() {
    let text = "{\n\t// mine\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] } // loud\n\t\t],\n\t\t\"SessionEnd\": [{ \"hooks\": [] }]\n\t}\n}\n";
    assert_snapshot!(installed(text).text.replace('\t', "→ "), @r#"
    {
    → // mine
    → "hooks": {
    → → "Stop": [
    → → → { "hooks": [{ "type": "command", "command": "say done" }] }, // loud
    → → → {
    → → → → "hooks": [
    → → → → → {
    → → → → → → "type": "command",
    → → → → → → "command": "archivist hook claude-code stop",
    → → → → → → "timeout": 10
    → → → → → }
    → → → → ]
    → → → }
    → → ],
    → → "SessionEnd": [{ "hooks": [] }, {"hooks": [{"type": "command", "command": "archivist hook claude-code session-end", "timeout": 10}]}],
    → → "SessionStart": [
    → → → {
    → → → → "hooks": [
    → → → → → {
    → → → → → → "type": "command",
    → → → → → → "command": "archivist hook claude-code session-start",
    → → → → → → "timeout": 10
    → → → → → }
    → → → → ]
    → → → }
    → → ],
    → → "SubagentStop": [
    → → → {
    → → → → "hooks": [
    → → → → → {
    → → → → → → "type": "command",
    → → → → → → "command": "archivist hook claude-code subagent-stop",
    → → → → → → "timeout": 10
    → → → → → }
    → → → → ]
    → → → }
    → → ],
    → → "PreCompact": [
    → → → {
    → → → → "hooks": [
    → → → → → {
    → → → → → → "type": "command",
    → → → → → → "command": "archivist hook claude-code pre-compact",
    → → → → → → "timeout": 10
    → → → → → }
    → → → → ]
    → → → }
    → → ]
    → }
    }
    "#);
    assert_snapshot!(installed("{\"model\":\"x\"}").text, @r#"{"model":"x","hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"archivist hook claude-code session-start","timeout":10}]}],"Stop":[{"hooks":[{"type":"command","command":"archivist hook claude-code stop","timeout":10}]}],"SubagentStop":[{"hooks":[{"type":"command","command":"archivist hook claude-code subagent-stop","timeout":10}]}],"PreCompact":[{"hooks":[{"type":"command","command":"archivist hook claude-code pre-compact","timeout":10}]}],"SessionEnd":[{"hooks":[{"type":"command","command":"archivist hook claude-code session-end","timeout":10}]}]}}"#);
}

#[test]
fn hooks_that_are_there_are_updated_where_they_stand() {
    let text = installed("{\n  \"a\": 1\n}\n").text;
    let moved = text.replace("\"archivist hook claude-code stop\"", "\"/old/archivist hook claude-code stop -q\"");
    let again = installed(&moved);
    assert_eq!(again.text, text.replace("claude-code stop\"", "claude-code stop -q\""));
    assert_eq!(apply_splices(&again.text, &again.undo), Some(moved));
    let elsewhere = HookPlan { program: "\"/my tools/archivist\"".to_owned(), ..plan(HookAgent::ClaudeCode) };
    let updated = install_hooks(Some(&text), &elsewhere).unwrap().text;
    assert_eq!(updated.matches(r#"\"/my tools/archivist\" hook claude-code"#).count(), 5);
    assert_eq!(remove_hooks(&updated, &plan(HookAgent::ClaudeCode)).unwrap().text, "{\n  \"a\": 1\n}\n");
}

#[test]
fn prompts_are_added_later_and_stay_once_they_are_there() {
    let text = installed("{}").text;
    let with_prompts = HookPlan { recall: RecallTiming::WithPrompts, ..plan(HookAgent::ClaudeCode) };
    let more = install_hooks(Some(&text), &with_prompts).unwrap().text;
    assert!(more.contains("claude-code prompt-submit"));
    assert!(!installed(&more).changed);
    assert_eq!(remove_hooks(&more, &plan(HookAgent::ClaudeCode)).unwrap().text, "{}");
}

#[test]
fn a_hook_that_somebody_moved_goes_and_its_neighbours_stay() {
    let text = "{\"hooks\": {\"Stop\": [{\"matcher\": \"x\", \"hooks\": [{\"command\": \"archivist hook claude-code stop\"}, \
                {\"command\": \"mine\"}]}]}}";
    let removed = remove_hooks(text, &plan(HookAgent::ClaudeCode)).unwrap().text;
    assert_eq!(removed, "{\"hooks\": {\"Stop\": [{\"matcher\": \"x\", \"hooks\": [ {\"command\": \"mine\"}]}]}}");
    let commented =
        "{\"hooks\": {\"Stop\": [ // mine\n{\"hooks\": [{\"command\": \"archivist hook claude-code stop\"}]} ]}}";
    let removed = remove_hooks(commented, &plan(HookAgent::ClaudeCode)).unwrap().text;
    assert_eq!(removed, "{\"hooks\": {\"Stop\": [ // mine\n ]}}");
    assert!(!remove_hooks(text, &plan(HookAgent::Codex)).unwrap().changed, "another agent's are not ours");
}

#[test]
fn what_cannot_be_edited_is_told_with_its_line() {
    let check = |text: &str, expected: &str| {
        let error = install_hooks(Some(text), &plan(HookAgent::ClaudeCode)).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
        assert!(error.hint().ends_with("nothing was written"));
    };
    check("{\n  \"a\": \n}", "line 3, column 1 is not JSON: unexpected close brace");
    check("{'a': 1}", "line 1, column 2 is not JSON: single-quoted strings are not allowed");
    check("hello", "line 1, column 1 is not JSON: unexpected word");
    check("[1]", "line 1: the whole file should be one object, as in {}");
    check("// nothing\n", "line 1: the whole file should be one object, as in {}");
    check("{\n\"hooks\": []}", "line 2: `hooks` should be an object");
    check("{\"hooks\": {\n\n\"Stop\": {}}}", "line 3: `hooks.Stop` should be a list");
    check("{\"hooks\": {},\n\"hooks\": {}}", "line 2: `hooks` is there twice");
    check("{\"hooks\": {\"Stop\": [],\n\"Stop\": []}}", "line 2: `Stop` is there twice");
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(install_hooks(Some(&deep), &plan(HookAgent::ClaudeCode)).is_err());
    assert!(remove_hooks("{", &plan(HookAgent::ClaudeCode)).is_err());
}

#[test]
fn who_has_no_settings_gets_none() {
    for agent in [HookAgent::Generic, HookAgent::Healer] {
        assert!(!install_hooks(None, &plan(agent)).unwrap().changed);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(Value::from("https://x // no comment /* nor here */")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\]{0,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Hooks of somebody else, under our events and others.
fn foreign_hooks() -> impl Strategy<Value = Value> {
    let entry = prop_oneof![
        "[a-z ]{1,12}".prop_map(|command| serde_json::json!({"type": "command", "command": command})),
        any_json(),
    ];
    let group = prop_oneof![
        prop::collection::vec(entry, 0..3).prop_map(|hooks| serde_json::json!({"matcher": "x", "hooks": hooks})),
        any_json(),
    ];
    let events = ["SessionStart", "Stop", "SessionEnd", "PreCompact", "PostToolUse"];
    prop::collection::btree_map(prop::sample::select(events.to_vec()), prop::collection::vec(group, 1..3), 1..4)
        .prop_map(|events| serde_json::json!(events))
}

fn settings() -> impl Strategy<Value = Value> {
    (prop::collection::btree_map("[a-z]{1,6}", any_json(), 0..4), prop::option::of(foreign_hooks())).prop_map(
        |(rest, hooks)| {
            let mut settings: serde_json::Map<String, Value> = rest.into_iter().collect();
            settings.remove(HOOKS);
            settings.extend(hooks.map(|hooks| (HOOKS.to_owned(), hooks)));
            Value::Object(settings)
        },
    )
}

/// The same settings as people and programs write them.
fn written(settings: &Value, style: usize) -> String {
    let pretty = serde_json::to_string_pretty(settings).unwrap();
    let indented = |unit: &str| {
        let line = |line: &str| {
            let text = line.trim_start_matches(' ');
            format!("{}{text}", unit.repeat((line.len() - text.len()) / 2))
        };
        pretty.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    match style {
        0 => settings.to_string(),
        1 => pretty,
        2 => pretty + "\n",
        3 => indented("\t"),
        4 => indented("    ") + "\n",
        5 => pretty.replace('\n', "\r\n") + "\r\n",
        6 => pretty.replace('\n', " // comment\n"),
        _ => pretty.replace("\n", "\n\n"),
    }
}

/// The settings without our hooks and what only held them, by another way than by text.
fn foreign(settings: &Value) -> Value {
    let mut settings = settings.clone();
    if let Some(events) = settings.get_mut(HOOKS).and_then(Value::as_object_mut) {
        for groups in events.values_mut().filter_map(Value::as_array_mut) {
            groups.retain(|group| !group.to_string().contains("archivist hook claude-code"));
        }
        events.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        if events.is_empty() {
            settings.as_object_mut().unwrap().remove(HOOKS);
        }
    }
    settings
}

proptest! {
    #[test]
    fn installing_twice_and_removing_is_nothing(settings in settings(), style in 0..8_usize) {
        let text = written(&settings, style);
        prop_assert_eq!(check(&text), text);
    }

    #[test]
    fn what_is_not_ours_keeps_its_value(settings in settings(), style in 0..6_usize) {
        let after: Value = serde_json::from_str(&installed(&written(&settings, style)).text).unwrap();
        for event in ["SessionStart", "Stop", "SubagentStop", "PreCompact", "SessionEnd"] {
            prop_assert!(after[HOOKS][event].to_string().contains("archivist hook claude-code"));
        }
        prop_assert_eq!(foreign(&after), settings);
    }

    #[test]
    fn no_settings_are_too_strange(text in "\\PC{0,60}", json in "[{}\\[\\]:,\"a/* \n]{0,40}") {
        for text in [text, json] {
            let _ = install_hooks(Some(&text), &plan(HookAgent::ClaudeCode));
            let _ = remove_hooks(&text, &plan(HookAgent::ClaudeCode));
        }
    }
}
