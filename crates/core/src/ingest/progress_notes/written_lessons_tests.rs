use proptest::prelude::*;

use super::*;
use crate::ingest::parse_progress;

const NOTES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/progress.md"));

fn section(session: &str, line_end: &str) -> String {
    let lines = ["", "## Blockers", "- Start redis first", "Completed: 2026-01-01T00:00:00Z", "```"];
    LessonSection::render_section(session, &lines.map(str::to_owned), line_end)
}

#[test]
fn lessons_in_the_notes_are_none_of_the_sessions_own() {
    let plain = parse_progress(NOTES);
    let first = section("a", "\n");
    let windows = NOTES.replace('\n', "\r\n");
    for notes in [
        format!("{NOTES}{first}\n"),
        format!("{NOTES}{first}\n{}\n", section("b", "\n")),
        format!("{first}\n{NOTES}"),
        format!("\u{feff}{windows}{}\r\n", section("a", "\r\n")),
        NOTES.replace("## Work Done\n", &format!("{first}\n## Work Done\n")),
    ] {
        assert_eq!(parse_progress(&notes), plain, "{notes}");
    }
}

#[test]
fn sections_are_found_between_their_marks() {
    let (a, b) = (section("a", "\n"), section("b", "\n"));
    #[track_caller]
    fn check(notes: &str, sessions: &[&str], rest: &str) {
        let found: Vec<String> = LessonSection::find_all(notes).into_iter().map(|section| section.session).collect();
        assert_eq!(found, sessions);
        assert_eq!(strip_lesson_sections(notes), rest);
    }
    check("", &[], "");
    check("text\n", &[], "text\n");
    check(&format!("text\n{a}\n"), &["a"], "text\n");
    check(&format!("text\n{a}"), &["a"], "text");
    check(&format!("text\r\n{}", section("a", "\r\n")), &["a"], "text");
    check(&format!("{a}\n"), &["a"], "");
    check(&format!("\u{feff}{a}\n"), &["a"], "\u{feff}");
    check(&format!("text\n{a}\n{b}"), &["a", "b"], "text");
    check(&format!("text\n{a}\nbetween\n{b}\nafter"), &["a", "b"], "text\nbetween\nafter");
    // A mark alone, within a line, or of the wrong sort is a text like any other.
    let (opening, _) = a.split_once('\n').unwrap();
    check(&format!("{opening}\ntext\n"), &[], &format!("{opening}\ntext\n"));
    check(&format!("{CLOSING}\n{a}\n{CLOSING}"), &["a"], &format!("{CLOSING}\n{CLOSING}"));
    check(&format!("> {a}\n"), &[], &format!("> {a}\n"));
    check(&format!("{opening}\n{b}\ntext"), &["b"], &format!("{opening}\ntext"));
    check(&format!("{opening}\n{b}\ntext\n{CLOSING}\nrest"), &["a", "b"], "rest");
}

#[test]
fn any_number_of_marks_is_read_in_one_go() {
    let (opening, _) = section("a", "\n").split_once('\n').map(|(first, rest)| (first.to_owned(), rest.len())).unwrap();
    let notes = format!("{}{}", format!("{opening}\n").repeat(20_000), format!("{CLOSING}\n").repeat(20_000));
    assert_eq!(strip_lesson_sections(&notes), "");
}

proptest! {
    #[test]
    fn what_is_left_holds_no_section(pieces in proptest::collection::vec(0..5_usize, 0..20)) {
        let marks = ["<!-- <archivist-lessons session=\"a\"> -->", CLOSING, "\n", "\r\n", "text"];
        let notes: String = pieces.iter().map(|piece| marks[*piece]).collect();
        let rest = strip_lesson_sections(&notes).into_owned();
        prop_assert_eq!(LessonSection::find_all(&rest), []);
        prop_assert_eq!(strip_lesson_sections(&rest), rest.as_str());
    }
}
