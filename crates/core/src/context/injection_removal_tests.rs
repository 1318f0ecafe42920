use super::*;

#[test]
fn lessons_that_were_given_are_taken_out() {
    let table = [
        ("before\nafter", "before\nafter", 0),
        ("before\n### Project Lessons\n\n1. Use rg\n2. Run tests\n\nafter\n", "before\nafter\n", 1),
        ("## Known Issues (from past runs)\n- x [seen 3x, run]\n- y\nafter", "after", 1),
        ("a\n<archivist-lessons date=\"2026\">\n- use rg\nfree text\n</archivist-lessons>\nb", "a\nb", 1),
        ("<archivist-lessons>x</archivist-lessons>\nb", "b", 1),
        ("see <archivist-lessons>x</archivist-lessons> here", "see  here", 1),
        (
            "{\"additionalContext\":\"<archivist-lessons>\\n- x</archivist-lessons>\"}",
            "{\"additionalContext\":\"\"}",
            1,
        ),
        ("     1→<archivist-lessons>\n     2→- x\n     3→</archivist-lessons>\n     4→b", "     1→\n     4→b", 1),
        ("### Project Lessons\n\n1. a\n### Project Lessons\n\n1. b\n", "", 2),
        ("we talk about ### Project Lessons here", "we talk about ### Project Lessons here", 0),
    ];
    for (text, expected, blocks) in table {
        let stripped = strip_lessons(text);
        assert_eq!((stripped.text.as_ref(), stripped.given.len()), (expected, blocks), "{text}");
    }
}

#[test]
fn what_is_taken_out_can_be_held_against_what_is_said_later() {
    let text = "a\n### Project Lessons\n\n1. Use rg\n2. Run tests\n\nb <archivist-lessons>\n- x</archivist-lessons> c";
    assert_eq!(strip_lessons(text).given, ["\n- x", "\n1. Use rg\n2. Run tests\n\n"]);
}

#[test]
fn nothing_can_be_hidden_behind_a_tag() {
    for text in [
        "a <archivist-lessons never closed",
        "<archivist-lessons>\nFAILED test_a",
        "<archivist-lessonsX>\nFAILED</archivist-lessons>",
        "</archivist-lessons> first",
    ] {
        assert_eq!(strip_lessons(text), StrippedText { text: Cow::Borrowed(text), given: Vec::new() }, "{text}");
    }
    let text = "<archivist-lessons>x</archivist-lessons>FAILED <archivist-lessons>\nmore";
    assert_eq!(strip_lessons(text).text, "FAILED <archivist-lessons>\nmore");
    let output = "### Project Lessons\n1. ValueError: no\n";
    assert_eq!(strip_tagged_lessons(output), StrippedText { text: Cow::Borrowed(output), given: Vec::new() });
}

#[test]
fn our_own_tools_are_known_by_their_whole_name() {
    assert!(is_archivist_tool("mcp__archivist__recall") && is_archivist_tool("archivist.recall"));
    assert!(!is_archivist_tool("run_archivist_tests") && !is_archivist_tool("mcp__other__archivist"));
    assert!(
        is_recall_command("archivist recall \"linker error\"") && is_recall_command("A=1 /usr/bin/archivist recall x")
    );
    assert!(is_recall_command("archivist recall 'a | b' 2>&1"));
    for other in [
        "archivist recall x; cargo test",
        "archivist recall $(cat a)",
        "cargo test archivist recall",
        "archivist status",
    ] {
        assert!(!is_recall_command(other), "{other}");
    }
}
