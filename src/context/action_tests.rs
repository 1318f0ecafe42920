use serde_json::json;

use super::*;

#[test]
fn a_call_is_known_by_what_it_does() {
    let run = |command: &str| Action::Run { command: command.to_owned() };
    let read = |path: &str| Action::Read { path: Some(path.to_owned()) };
    let table = [
        ("Bash", json!({"command": " cargo test "}), run("cargo test")),
        ("shell", json!({"command": ["bash", "-lc", "cargo test"]}), run("cargo test")),
        ("shell", json!({"command": ["ls", "-la"]}), run("ls -la")),
        ("functions.exec_command", json!({"cmd": "ls"}), run("ls")),
        ("bash_command", json!({"keystrokes": "ls\n", "duration": 1.0}), run("ls")),
        ("local_shell_call", json!({"command": {"command": ["ls"]}}), run("ls")),
        ("my_own_runner", json!({"command": "ls"}), run("ls")),
        ("Bash", json!({}), Action::Other),
        ("Read", json!({"file_path": "a.rs"}), read("a.rs")),
        ("str_replace_based_edit_tool", json!({"command": "view", "path": "a.rs"}), read("a.rs")),
        ("Grep", json!({"pattern": "x"}), Action::Read { path: None }),
        ("WebFetch", json!({"url": "https://example.com"}), Action::Fetch),
        ("mcp__github__get_issue", json!({}), Action::Fetch),
        ("Task", json!({"prompt": "x"}), Action::Delegate),
        ("TodoWrite", json!({"todos": []}), Action::Other),
        ("Bash", json!(null), Action::Other),
    ];
    for (tool, arguments, expected) in table {
        assert_eq!(Action::of(tool, &arguments), expected, "{tool} {arguments}");
    }
}

#[test]
fn an_edit_names_its_files() {
    let paths = |tool: &str, arguments| match Action::of(tool, &arguments) {
        Action::Edit(changes) => changes.into_iter().map(|change| change.path).collect::<Vec<_>>(),
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
    let change = |old: &str, new: &str| match Action::of("Edit", &json!({"path": "a", "old_str": old, "new_str": new}))
    {
        Action::Edit(changes) => changes[0].clone(),
        other => panic!("{other:?}"),
    };
    let (there, back) = (change("one", "two"), change("two", "one"));
    assert_eq!((there.before, there.after), (back.after, back.before));
}

#[test]
fn looking_is_told_from_doing() {
    for look in [
        "ls -la",
        "cat a | grep b",
        "git status && git log",
        "sed -n 1,5p a.rs",
        "cd x && pwd",
        "rg foo 2>/dev/null",
        "grep x y 2>&1",
    ] {
        assert!(is_look(look), "{look}");
    }
    for deed in ["rm a", "sed -i s/a/b/ c", "echo x > y", "git checkout a", "npm install", "cat a | tee b", "ls; make"]
    {
        assert!(!is_look(deed), "{deed}");
    }
}

#[test]
fn a_command_is_the_same_whatever_is_cut_off_its_output() {
    let key = command_key("cargo test --workspace");
    for same in
        ["cargo test  --workspace 2>&1", "cargo test --workspace 2>&1 | tail -20", "cargo test --workspace | head"]
    {
        assert_eq!(command_key(same), key, "{same}");
    }
    assert_ne!(command_key("cargo test -p shop"), key);
}
