use serde_json::json;

use super::*;

#[test]
fn a_call_is_known_by_what_it_does() {
    let run = |command: &str| ToolAction::Run { command: command.to_owned() };
    let read = |path: &str| ToolAction::Read { path: Some(path.to_owned()) };
    let table = [
        ("Bash", json!({"command": " cargo test "}), run("cargo test")),
        ("shell", json!({"command": ["bash", "-lc", "cargo test"]}), run("cargo test")),
        ("shell", json!({"command": ["ls", "-la"]}), run("ls -la")),
        ("functions.exec_command", json!({"cmd": "ls"}), run("ls")),
        ("bash_command", json!({"keystrokes": "ls\n", "duration": 1.0}), run("ls")),
        ("local_shell_call", json!({"command": {"command": ["ls"]}}), run("ls")),
        ("my_own_runner", json!({"command": "ls"}), run("ls")),
        ("Bash", json!({}), ToolAction::Other),
        ("Read", json!({"file_path": "a.rs"}), read("a.rs")),
        ("str_replace_based_edit_tool", json!({"command": "view", "path": "a.rs"}), read("a.rs")),
        ("Grep", json!({"pattern": "x"}), ToolAction::Read { path: None }),
        ("WebFetch", json!({"url": "https://example.com"}), ToolAction::Fetch),
        ("mcp__github__get_issue", json!({}), ToolAction::Fetch),
        ("Task", json!({"prompt": "x"}), ToolAction::Delegate),
        ("TodoWrite", json!({"todos": []}), ToolAction::Other),
        ("Bash", json!(null), ToolAction::Other),
    ];
    for (tool, arguments, expected) in table {
        assert_eq!(ToolAction::from_call(tool, &arguments), expected, "{tool} {arguments}");
    }
}

#[test]
fn an_edit_names_its_files() {
    let paths = |tool: &str, arguments| match ToolAction::from_call(tool, &arguments) {
        ToolAction::Edit(changes) => changes.into_iter().map(|change| change.path).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(paths("Edit", json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"})), ["a.rs"]);
    assert_eq!(paths("Write", json!({"file_path": "b.rs", "content": "x"})), ["b.rs"]);
    assert_eq!(paths("MultiEdit", json!({"file_path": "c.rs", "edits": [{}, {}]})), ["c.rs", "c.rs"]);
    let patch = "*** Begin Patch\n*** Update File: d.rs\n@@\n-old\n+new\n*** Add File: e.rs\n+x\n*** End Patch";
    assert_eq!(paths("apply_patch", json!({"input": patch})), ["d.rs", "e.rs"]);
    assert_eq!(paths("file_change", json!({"changes": [{"path": "f.rs", "kind": "update"}]})), ["f.rs"]);
    assert_eq!(paths("str_replace_editor", json!({"command": "create", "path": "g.rs", "file_text": ""})), ["g.rs"]);
    assert_eq!(paths("Edit", json!({})), [""; 0]);
}

#[test]
fn a_change_and_its_way_back_are_known_by_their_fingerprints() {
    let change = |old: &str, new: &str| match ToolAction::from_call(
        "Edit",
        &json!({"path": "a", "old_str": old, "new_str": new}),
    ) {
        ToolAction::Edit(changes) => changes[0].clone(),
        other => panic!("{other:?}"),
    };
    let (there, back) = (change("one", "two"), change("two", "one"));
    assert_eq!((there.before, there.after), (back.after, back.before));
}

#[test]
fn a_tool_that_is_no_command_may_change_things_too() {
    let table = [
        ("mcp__github__get_issue", json!({}), false),
        ("mcp__db__listTables", json!({}), false),
        ("mcp__serena__find_and_replace", json!({}), true),
        ("mcp__serena__replace_symbol_body", json!({}), true),
        ("mcp__db__write", json!({}), true),
        ("WebFetch", json!({}), false),
        ("TodoWrite", json!({"todos": []}), false),
        ("update_plan", json!({}), false),
        ("think", json!({}), false),
        ("Read", json!({"path": "a"}), false),
        ("Edit", json!({"path": "a"}), true),
        ("Task", json!({}), true),
        ("deploy", json!({}), true),
    ];
    for (tool, arguments, expected) in table {
        assert_eq!(ToolAction::from_call(tool, &arguments).may_change(tool, true), expected, "{tool}");
    }
    assert!(!ToolAction::from_call("Edit", &json!({"path": "a"})).may_change("Edit", false));
}

#[test]
fn a_command_is_the_same_whatever_is_cut_off_its_output() {
    let key = |command: &str| command_key(command, None);
    let whole = key("cargo test --workspace");
    for same in [
        "cargo test  --workspace 2>&1",
        "cargo test --workspace 2>&1 | tail -20",
        "cargo test --workspace | head",
        "cargo test --workspace|tail -3",
    ] {
        assert_eq!(key(same), whole, "{same}");
    }
    for other in ["cargo test -p shop", "cargo test --workspace | tail -3; pytest", "cargo test --workspace | tailspin"]
    {
        assert_ne!(key(other), whole, "{other}");
    }
    assert_eq!(key("a | tail -3; b"), key("a | tail -9; b"));
    assert_ne!(key("python - <<E\nx\nE"), key("python - <<E\ny\nE"));
    assert_ne!(key("a && b"), key("a || b"));
    assert_eq!(key("a | tail -3 && b"), key("a && b"));
    assert_ne!(command_key("pytest", Some("/a")), command_key("pytest", Some("/b")));
}

#[test]
fn going_to_a_folder_is_apart_from_what_is_done_there() {
    assert_eq!(split_leading_cd("cd /a && pytest"), (Some("/a"), "pytest"));
    assert_eq!(split_leading_cd("cd 'a b'; pytest && ls"), (Some("a b"), "pytest && ls"));
    assert_eq!(split_leading_cd("cd a"), (None, "cd a"));
    assert_eq!(split_leading_cd("pytest; cd a"), (None, "pytest; cd a"));
    assert_eq!(split_leading_cd("cd '/a && b' 2>/dev/null && pytest"), (Some("/a && b"), "pytest"));
}
