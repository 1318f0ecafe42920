use proptest::prelude::*;

use super::*;

fn entry(name: &str, text: &str) -> AuditEntry {
    AuditEntry { name: name.to_owned(), text: text.to_owned(), at: None, used: None, is_retired: false }
}

#[test]
fn a_block_of_recalled_memory_is_known_by_its_frame() {
    for (text, expected) in [
        ("<archivist-lessons>\n### Project Lessons\n\n1. Use pnpm.\n</archivist-lessons>", "archivist-lessons"),
        ("### Project Lessons\n\n1. Use pnpm.\n2. Sort imports.", "### Project Lessons"),
        (
            "We were told:\n> ## Known Issues (from past runs)\n> - the port is taken",
            "## Known Issues (from past runs)",
        ),
        ("## Known Issues (from past runs) - the port is taken - tests are slow", "## Known Issues (from past runs)"),
        ("=== HISTORICAL PATTERNS ===\n[4x] forgot the lock file", "=== HISTORICAL PATTERNS"),
        ("=== HISTORICAL PATTERNS (reviewer) ===\nforgot the lock file", "=== HISTORICAL PATTERNS"),
        ("<system-reminder>\nBackground: facts, not instructions.\n</system-reminder>", "system-reminder"),
        ("Said before. <system-reminder kind=\"memory\">the port is 8080</system-reminder>", "system-reminder"),
        ("User memories:\n- likes tabs", "user memories"),
        ("USER MEMORIES: 1. likes tabs 2. uses vim", "user memories"),
        ("**Relevant memories:**\n* likes tabs", "relevant memories"),
        ("## Relevant memories:\n- likes tabs", "relevant memories"),
        ("<relevant-memories>\nlikes tabs and vim\n</relevant-memories>", "relevant-memories"),
        ("<relevant-memories>\nlikes tabs, and the rest was cut of", "relevant-memories"),
        ("<claude-mem-context>\n# Recent\n- changed the ledger\n</claude-mem-context>", "claude-mem-context"),
    ] {
        assert_eq!(find_recall_frame(text), Some(expected), "{text}");
    }
}

#[test]
fn whoever_speaks_of_a_frame_is_left_alone() {
    for text in [
        "Strip `<system-reminder>` blocks before counting",
        "<system-reminder> blocks are not the user's words",
        "What stands between <system-reminder> and </system-reminder> is not the user's",
        "The heading ### Project Lessons stands above the task",
        "### Project Lessons is what the section is called",
        "`## Known Issues (from past runs)` must come last",
        "## Known issues\n- the port is taken",
        "User memories are kept for 30 days",
        "User memories: kept for 30 days",
        "Relevant memories are ranked by recency",
        "=== HISTORICAL PATTERNS",
        "<memories-of-a-user>likes tabs and vim</memories-of-a-user>",
        "Use pnpm",
        "",
    ] {
        assert_eq!(find_recall_frame(text), None, "{text}");
    }
}

fn quoted(texts: &[&str]) -> Vec<Option<usize>> {
    let entries: Vec<AuditEntry> = texts.iter().map(|text| entry("e", text)).collect();
    let found = find_recall_loops(&entries.iter().collect::<Vec<_>>());
    found
        .into_iter()
        .map(|looped| match looped? {
            RecallLoopSign::Quotes(of) => Some(of),
            RecallLoopSign::Framed(frame) => panic!("{frame}"),
        })
        .collect()
}

const LESSON: &str = "Never edit a migration that has been merged into main.";
const OTHER: &str = "The port of the dev server is taken by the proxy.";

#[test]
fn an_entry_that_holds_another_whole_is_a_recalled_one() {
    for text in [
        format!("Memory says: {LESSON}"),
        format!("Recalled: \"{LESSON}\" - noted."),
        format!("The agent was reminded that {} It did so.", LESSON.to_lowercase()),
        format!("- {OTHER}\n- {LESSON}"),
        format!("{LESSON} {OTHER}"),
        format!("1. {LESSON}\n2. {OTHER}"),
        "never EDIT (a migration) that has been merged into main. THE PORT of the dev server is taken by the proxy"
            .to_owned(),
        format!("As before, {LESSON}"),
    ] {
        assert!(quoted(&[LESSON, OTHER, &text]).last().unwrap().is_some(), "{text}");
    }
}

#[test]
fn an_entry_that_says_more_or_less_or_the_same_quotes_nothing() {
    for text in [
        LESSON,
        "Never edit a migration that has been merged into main. Write a second one.",
        "Never edit a migration that has been merged.",
        "As before, never edit a migration that has been deployed into main.",
        "Edit a migration that has never been merged into main.",
        "The proxy takes the port of the dev server.",
        "A migration that has been merged into main may never be edited.",
        "Something else altogether, of more than a few words.",
    ] {
        assert_eq!(quoted(&[LESSON, OTHER, text]).last().unwrap(), &None, "{text}");
    }
    // Short entries stand in others by chance.
    assert_eq!(quoted(&["Use pnpm here", "Please do use pnpm here and not npm"]), [None, None]);
}

#[test]
fn what_lessons_are_given_under_is_known_line_by_line() {
    assert!(is_recall_heading("  ## Known Issues (from past runs)"));
    assert!(!is_recall_heading("## Known Issues"));
    assert_eq!(recall_closing_tag("<relevant-memories>").as_deref(), Some("</relevant-memories>"));
    assert_eq!(recall_closing_tag("<system-reminder kind=\"x\">").as_deref(), Some("</system-reminder>"));
    assert_eq!(recall_closing_tag("<system-reminder> is a tag"), None);
    assert_eq!(recall_closing_tag("<div>"), None);
}

proptest! {
    #[test]
    fn any_text_is_looked_at(texts in proptest::collection::vec("[a-c<>/=#`\\-: \n]{0,80}|\\PC{0,80}", 0..6)) {
        let entries: Vec<AuditEntry> = texts.iter().map(|text| entry("e", text)).collect();
        prop_assert_eq!(find_recall_loops(&entries.iter().collect::<Vec<_>>()).len(), entries.len());
    }
}
