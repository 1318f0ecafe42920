use super::*;
use crate::lesson_origin::parse_timestamp;

fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, ImportBundle) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let bundle = read_memory(folder.path(), parse_timestamp("2026-01-01T00:00:00Z").unwrap()).unwrap();
    (folder, bundle)
}

#[test]
fn topics_and_what_the_index_says_itself() {
    let (_folder, bundle) = folder(&[
        (
            "MEMORY.md",
            "# Memory\n\n- [Real database](feedback_db.md) — tests hit a real one\n- Deploys happen on Tuesdays only\n\
             - [Elsewhere](https://example.com/x) has the runbook of the team\n",
        ),
        (
            "feedback_db.md",
            "---\nname: real database\ndescription: >\n  Integration tests must hit\n  a real database\ntype: feedback\n\
             ---\n\nNo mocks.\n\n**Why:** a mock hid a broken migration.\n",
        ),
        ("user_go.md", "---\nname: \"go: expert\"\ndescription: Knows Go well, is new to React\ntype: user\n---\n"),
        ("debugging.md", "# Debugging\n\n- Set RUST_LOG before looking for the bug\n"),
    ]);
    let said: Vec<String> = bundle
        .lessons
        .iter()
        .map(|brought| {
            let memory = brought.current_version().unwrap();
            let detail = memory.detail.as_deref().unwrap_or("-").replace('\n', "/");
            format!("{} | {} | {} | {detail}", brought.name, memory.kind, memory.summary)
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    debugging.md:3 | lesson | Set RUST_LOG before looking for the bug | -
    feedback_db | lesson | Integration tests must hit a real database | No mocks.//**Why:** a mock hid a broken migration.
    user_go | preference | Knows Go well, is new to React | -
    MEMORY.md:4 | lesson | Deploys happen on Tuesdays only | -
    MEMORY.md:5 | lesson | [Elsewhere](https://example.com/x) has the runbook of the team | -
    ");
}

#[test]
fn names_are_not_trusted_with_paths() {
    let rest = Map::new();
    let memory = LessonOrigin::new_lesson(FORMAT, "../../.bashrc", Timestamp::default(), "x", rest);
    assert_eq!(choose_file_stem(&memory), "-..-.bashrc");
}

#[test]
fn words_that_only_begin_like_a_rule_are_words() {
    let check = |body: &str, rule: Option<&str>, detail: Option<&str>| {
        let text = format!("---\nname: n\ndescription: d\n---\n\n{body}\n");
        let brought = import_topic(Path::new("n.md"), &text, Timestamp::default());
        let memory = brought[0].current_version().unwrap();
        assert_eq!((memory.rule.as_deref(), memory.detail.as_deref()), (rule, detail), "{body}");
    };
    check("**Rule:** run it", Some("run it"), None);
    check("**Rule:** \"a: b\"\n\nMore.", Some("a: b"), Some("More."));
    check("**Rule:** v #z", None, Some("**Rule:** v #z"));
    check("**Rule:** run it\nat once", None, Some("**Rule:** run it\nat once"));
    check("Words.", None, Some("Words."));
}
