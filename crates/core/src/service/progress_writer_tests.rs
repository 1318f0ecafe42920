use proptest::prelude::*;

use super::*;
use crate::context::LogGatherer;
use crate::domain::{EventSink, MemoryId, OutputOwner, Speaker, Step, ToolCall, ToolOutput, TrajectoryEvent};
use crate::ingest::{parse_progress, strip_lesson_sections};
use crate::redact::Redactor;
use crate::service::project_context::read_progress_notes;

fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

fn lesson(summary: &str, rule: Option<&str>) -> AgentMemory {
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut memory = AgentMemory::new(MemoryId::parse("mem-1").unwrap(), at, summary);
    memory.rule = rule.map(str::to_owned);
    memory
}

fn redis() -> Vec<AgentMemory> {
    vec![lesson("Start redis before the tests", Some("IF the tests run THEN start redis")), lesson("Use pnpm", None)]
}

#[test]
fn lessons_stand_in_a_section_of_their_own() {
    insta::assert_snapshot!(replace_lesson_section("# Session Progress\n\nDone.\n", &session("s-1"), &redis()), @r#"
    # Session Progress

    Done.
    <!-- <archivist-lessons session="s-1"> -->

    ## Lessons learned

    - Start redis before the tests (IF the tests run THEN start redis)
    - Use pnpm

    <!-- </archivist-lessons> -->
    "#);
}

#[test]
fn another_run_replaces_the_section_where_it_stands() {
    let (one, two) = (session("s-1"), session("s-2"));
    let notes = replace_lesson_section(&replace_lesson_section("a\n", &one, &redis()), &two, &redis()) + "b";
    let new = [lesson("Use bun", None)];
    let replaced = replace_lesson_section(&notes, &one, &new);
    assert_eq!(
        replaced,
        notes.replacen("Start redis before the tests (IF the tests run THEN start redis)\n- Use pnpm", "Use bun", 1)
    );
    assert_eq!(replace_lesson_section(&replaced, &one, &redis()), notes);
    assert_eq!(replace_lesson_section(&replace_lesson_section(&notes, &one, &[]), &two, &[]), "a\nb");
}

#[test]
fn of_two_sections_of_one_session_one_is_left() {
    let one = session("s-1");
    let notes = replace_lesson_section("a\n", &one, &redis());
    let merged = format!("{notes}{}", notes.replace("redis", "postgres"));
    assert_eq!(replace_lesson_section(&merged, &one, &redis()), format!("{notes}a\n"));
    assert_eq!(replace_lesson_section(&merged, &one, &[]), "a\na\n");
}

#[test]
fn line_ends_are_kept() {
    #[track_caller]
    fn check(notes: &str, start: &str, line_end: &str, end: &str) {
        let one = session("s-1");
        let written = replace_lesson_section(notes, &one, &redis());
        assert_eq!(written, format!("{start}{}{end}", render_section(&one, &redis(), line_end)));
        assert_eq!(replace_lesson_section(&written, &one, &redis()), written);
        assert_eq!(replace_lesson_section(&written, &one, &[]), notes);
    }
    check("", "", "\n", "\n");
    check("\u{feff}", "\u{feff}", "\n", "\n");
    check("a", "a\n", "\n", "");
    check("a\nb", "a\nb\n", "\n", "");
    check("a\n", "a\n", "\n", "\n");
    check("a\r\n", "a\r\n", "\r\n", "\r\n");
    check("\u{feff}a\r\nb", "\u{feff}a\r\nb\r\n", "\r\n", "");
    check("a\r", "a\r\n", "\n", "");
    check("a\nb\r", "a\nb\r\n", "\n", "");
}

#[test]
fn no_lesson_leaves_its_line_or_passes_for_a_mark() {
    #[track_caller]
    fn check(summary: &str, rule: Option<&str>, expected: &str) {
        assert_eq!(render_line(&lesson(summary, rule)), expected);
    }
    check("a\nb\r\nc\u{2028}d\u{85}e\u{b}f", None, "- a b c d e f");
    check(
        "use `cat <file` and Vec<String>",
        Some("IF a < b THEN </div>"),
        "- use `cat <file` and Vec<String> (IF a < b THEN </div>)",
    );
    check("x <!-- y", None, "- x &lt;!-- y");
    check("\n<!-- </archivist-lessons> -->\n## Forged", None, "- &lt;!-- &lt;/archivist-lessons> --> ## Forged");
    check("<Archivist-Lessons>", Some(" \n "), "- &lt;Archivist-Lessons>");
    check("\u{202e}desrever\u{1b}[2J", None, "- desrever");
}

#[test]
fn what_an_agent_reads_aloud_from_the_notes_is_known_to_be_given() {
    let written = replace_lesson_section("Done.\n", &session("s-1"), &redis());
    let redactor = Redactor::new();
    let mut gathering = LogGatherer::new(&redactor);
    let call = ToolCall { id: "c".to_owned(), tool: "bash".to_owned(), ..ToolCall::default() };
    let step = Step { number: 1, speaker: Speaker::Agent, calls: vec![call], ..Step::default() };
    gathering.receive_event(TrajectoryEvent::Step(Box::new(step)));
    let output = ToolOutput { text: written, ..ToolOutput::default() };
    gathering.receive_event(TrajectoryEvent::Output(OutputOwner::Call("c".to_owned()), output));
    let gathered = gathering.finish();
    assert_eq!(gathered.survey.injected, 1);
    assert!(!format!("{:?}", gathered.trajectories).contains("redis"));
}

fn project(progress: &[u8]) -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join(".openagents")).unwrap();
    fs::write(project.path().join(PROGRESS_NOTES), progress).unwrap();
    project
}

#[test]
fn the_file_gets_the_section_and_loses_it_again() {
    let project = project(b"Done.\r\n");
    let path = project.path().join(PROGRESS_NOTES);
    for _ in 0..2 {
        write_lessons(project.path(), &session("s-1"), &redis()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), replace_lesson_section("Done.\r\n", &session("s-1"), &redis()));
    }
    assert_eq!(read_progress_notes(project.path()).unwrap(), "Done.\r\n");
    write_lessons(project.path(), &session("s-1"), &[]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "Done.\r\n");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left lying about");
}

#[test]
fn where_there_are_no_notes_none_are_made() {
    let project = tempfile::tempdir().unwrap();
    write_lessons(project.path(), &session("s-1"), &redis()).unwrap();
    fs::create_dir(project.path().join(".openagents")).unwrap();
    write_lessons(project.path(), &session("s-1"), &redis()).unwrap();
    assert_eq!(fs::read_dir(project.path().join(".openagents")).unwrap().count(), 0);
}

#[test]
fn notes_that_are_no_text_stay_as_they_are() {
    let bytes = [b'a', 0xff, b'\n'];
    let project = project(&bytes);
    let error = write_lessons(project.path(), &session("s-1"), &redis()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(fs::read(project.path().join(PROGRESS_NOTES)).unwrap(), bytes);
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_links_are_not_followed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let home = project(b"Done.\n");
    let path = home.path().join(PROGRESS_NOTES);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write_lessons(home.path(), &session("s-1"), &redis()).unwrap();
    let written = path.metadata().unwrap();
    assert_eq!(written.permissions().mode() & 0o777, 0o640);
    write_lessons(home.path(), &session("s-1"), &redis()).unwrap();
    assert_eq!(path.metadata().unwrap().ino(), written.ino(), "nothing changed, and it was written anew");

    let (linked, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(home.path().join(".openagents"), linked.path().join(".openagents")).unwrap();
    fs::create_dir(beside.path().join(".openagents")).unwrap();
    symlink(&path, beside.path().join(PROGRESS_NOTES)).unwrap();
    for project in [&linked, &beside] {
        let error = write_lessons(project.path(), &session("s-2"), &redis()).unwrap_err();
        assert!(error.to_string().contains("is a symbolic link"), "{error}");
    }
    assert_eq!(path.metadata().unwrap().ino(), written.ino());
}

fn any_notes() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("```\n".to_owned()),
        Just("<!-- <archivist-lessons session=\"s-1\"> -->".to_owned()),
        Just("<!-- <archivist-lessons session=\"s-2\"> -->".to_owned()),
        Just("<!-- </archivist-lessons> -->".to_owned()),
        "[a-z#*: <>-]{0,12}",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_lessons() -> impl Strategy<Value = Vec<AgentMemory>> {
    let text = prop_oneof!["[a-z\n\r<!/> -]{1,30}", Just("<!-- </archivist-lessons> -->".to_owned()), any::<String>()];
    let lesson =
        (text.clone(), proptest::option::of(text)).prop_map(|(summary, rule)| lesson(&summary, rule.as_deref()));
    proptest::collection::vec(lesson, 0..4)
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(notes in any_notes(), lessons in any_lessons()) {
        let once = replace_lesson_section(&notes, &session("s-1"), &lessons);
        prop_assert_eq!(replace_lesson_section(&once, &session("s-1"), &lessons), once.as_str());
        let own = LessonSection::find_all(&once).into_iter().filter(|section| section.session == "s-1").count();
        prop_assert_eq!(own, usize::from(!lessons.is_empty()));
    }

    #[test]
    fn adding_and_removing_leaves_the_notes_as_they_were(notes in any_notes(), lessons in any_lessons()) {
        let notes = replace_lesson_section(&notes, &session("s-1"), &[]);
        let written = replace_lesson_section(&notes, &session("s-1"), &lessons);
        prop_assert!(written.starts_with(&notes));
        prop_assert_eq!(replace_lesson_section(&written, &session("s-1"), &[]), notes.as_str());
        let both = replace_lesson_section(&written, &session("s-3"), &lessons);
        let other = replace_lesson_section(&both, &session("s-1"), &[]);
        prop_assert_eq!(replace_lesson_section(&other, &session("s-3"), &[]), notes.as_str());
    }

    #[test]
    fn readers_of_the_notes_see_no_difference(notes in "([a-z#*: -]{0,12}\n?|## Blockers\n|---\n|```\n){0,12}", lessons in any_lessons()) {
        let written = replace_lesson_section(&notes, &session("s-1"), &lessons);
        prop_assert_eq!(strip_lesson_sections(&written), notes.as_str());
        prop_assert_eq!(parse_progress(&written), parse_progress(&notes));
    }
}
