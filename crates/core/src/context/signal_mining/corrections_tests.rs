use super::*;

#[test]
fn corrections_are_told_from_other_words() {
    for correction in [
        "No",
        "No, never use floats for money.",
        "No: use pnpm",
        "No - use pnpm",
        "no\nuse pnpm",
        "no use pnpm",
        "No don't do that",
        "Please revert that.",
        "Use pnpm instead.",
        "use pnpm, not npm",
        "Thanks, but use pnpm, not npm.",
        "that broke the build",
        "You deleted my config!!",
        "You're wrong, it's b.rs",
        "You’re wrong",
        "Wait, that file is generated",
        "Stop!",
        "Undo it",
        "Wrong file",
        "Hm, that is the wrong file - edit b.rs",
        "I asked you to keep it",
        "why are you deleting tests?",
        "Next time, ask before you push.",
        "Please use pnpm.",
        "Don't use floats, thanks",
        "> we always squash\nNo, rebase.",
        "Never push to main",
        "its still there",
    ] {
        assert!(find_correction(correction, false).is_some(), "{correction}");
    }
    for other in [
        "No database is needed here, so go on with the UI.",
        "No errors now, ship it",
        "no-op is fine here",
        "Actually that is great, thanks!",
        "Never mind, looks good",
        "Don't forget to commit.",
        "I asked the team and they are happy",
        "why are you so good?",
        "Waiting for CI; meanwhile add docs.",
        "Stopwatch component next please.",
        "Undocumented flags should be listed too.",
        "Wrongly formatted dates come from the API; look into it.",
        "Please use the attached file as input",
        "Next time we meet I'd like a demo. Great work!",
        "Here is the README:\n> we always squash\nSummarise it.",
        "The log says:\n```\nno, don't do that\n```\nWhat is it?",
        "> no, don't",
        "wait for the tests",
        "Could we do that instead?",
        "Notes are in notes.md",
    ] {
        assert_eq!(find_correction(other, false), None, "{other}");
    }
}

#[test]
fn the_words_are_handed_back_as_they_were_said() {
    assert_eq!(find_correction("  > quoted\nNo, rebase. ", false), Some("> quoted\nNo, rebase."));
}

#[test]
fn after_an_interruption_a_new_order_is_a_correction() {
    assert!(find_correction("Keep the database", true).is_some());
    assert_eq!(find_correction("continue", true), None);
    assert_eq!(find_correction("Keep the database", false), None);
}
