use proptest::prelude::*;

use super::*;

#[test]
fn what_happened_once_is_an_incident() {
    for text in [
        "Today the build failed because the disk was full.",
        "Yesterday we tried the new linker and went back.",
        "Fixed the flaky login test in PR #412.",
        "Merged pull request 77 and deleted the branch.",
        "On 2026-03-01 the deploy timed out.",
        "The deploy of 1.3.2026 was rolled back",
        "Reverted 4f2c9ab.",
        "Commit 4f2c9ab broke the page, it was reverted this morning",
        "I spent an hour on the proxy",
        "The user asked for a shorter answer and got one.",
        "Refactored the parser; all tests are green now",
        "Last week the runner hung twice",
        "Task: Create a file called a.txt - Outcome: failure - Error: out of memory",
        "Task: Use the shell to list files. Outcome: success",
        "Ran the suite: 12 passed",
        "On March 3rd the certificate expired",
    ] {
        assert!(describe_incident(text).is_some(), "{text}");
    }
}

#[test]
fn what_advises_settles_or_says_how_things_are_is_none() {
    for text in [
        "IF the build failed yesterday THEN clear the cache first",
        "IF Outcome: failure THEN retry once",
        "The build failed yesterday because the disk was full: clear the cache first.",
        "PR #412 broke the login, so run the e2e tests before merging",
        "Never edit a migration that was merged",
        "Use pnpm",
        "We decided on Postgres on 2026-03-01",
        "Anna prefers short answers",
        "The API requires version 4 since 2026-01-15",
        "The cache is keyed by commit, 4f2c9ab was the first",
        "Tests that were skipped today are listed in the report",
        "Deleted rows stay in the table with a mark",
        "If the tests failed, look at the log",
        "Restart the worker after the flag was changed",
        "The import was made by hand and has no history",
        "Swift rejected labels without a phone number; it should be filled in",
        "Ports below 1024 need root",
        "The port of the proxy, opened by the installer",
        "",
    ] {
        assert_eq!(describe_incident(text), None, "{text}");
    }
}

#[test]
fn it_is_said_what_gave_it_away() {
    assert_eq!(describe_incident("Fixed the login").as_deref(), Some("tells of an event: \"fixed\""));
    assert_eq!(describe_incident("The login broke yesterday").as_deref(), Some("tells of an event: \"yesterday\""));
    assert_eq!(describe_incident("Login was repaired by #412").as_deref(), Some("tells of an event: \"#412\""));
    assert_eq!(describe_incident("Task: x - Outcome: success").as_deref(), Some("tells how a run ended"));
}

#[test]
fn the_tables_hold_words_as_they_are_looked_up() {
    for table in [RULING, TELLING, PRESENT, ENDED, DID, WAS, NOT_PAST, SOMEBODY, MOMENTS, MONTHS, NUMBERED] {
        assert!(table.is_sorted(), "{table:?}");
        assert!(table.iter().all(|word| *word == word.to_lowercase()), "{table:?}");
    }
}

proptest! {
    #[test]
    fn a_rule_is_never_an_incident(condition in "[a-z0-9# .]{0,60}", recommendation in "[a-z0-9# .]{1,60}") {
        let rule = format!("Yesterday it failed in #12. IF {condition} THEN {recommendation}");
        prop_assert_eq!(describe_incident(&rule), None);
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,300}") {
        describe_incident(&text);
    }
}
