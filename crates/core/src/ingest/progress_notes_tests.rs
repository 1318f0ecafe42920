use proptest::prelude::*;

use super::{ProgressNotes, ProgressTokenCounts, parse};
use crate::domain::{EpisodeStatus, Part, TrajectoryEvent};
use crate::ingest::LogFormat;
use crate::ingest::chat_messages::tests::{outputs, read, said};

const NOTES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/progress.md"));

#[test]
fn whole_notes_are_parsed() {
    let progress = parse(NOTES);
    assert_eq!(progress.session_id.as_deref(), Some("session-2026-01-09T07-00-00-000Z-pq12rs"));
    assert_eq!(progress.started_at.unwrap().to_rfc3339(), "2026-01-09T07:00:00+00:00");
    assert_eq!(progress.task_id.as_deref(), Some("sh-4c"));
    assert_eq!(progress.task_title.as_deref(), Some("Import: read CSV - part 2"));
    assert_eq!(progress.completed_at, None);
    assert_eq!(progress.repo_state.as_deref(), Some("clean"));
    assert_eq!(progress.tests_passing_at_start, Some(true));
    assert_eq!(progress.init_script.as_deref(), Some("Success"));
    assert_eq!(progress.init_output.as_deref(), Some("checking git status... typecheck passed"));
    let previous = progress.previous_session.unwrap();
    assert_eq!(previous.task.as_deref(), Some("sh-4b - Import: read CSV - part 1"));
    assert_eq!(previous.in_progress, ["sh-4b-sub-001", "sh-4b-sub-002"]);
    assert_eq!(
        previous.blockers,
        ["Verification failed: src/csv.ts(7,1): error TS2304: Cannot find name 'split'., the second one\nat line 7"]
    );
    assert_eq!(previous.next_steps, ["Fix the types", "Review changes"]);
    assert_eq!(progress.subtasks_completed, ["sh-4c-sub-001"]);
    assert!(progress.subtasks_in_progress.is_empty());
    assert_eq!(progress.files_modified, ["src/csv.ts", "src/import.ts"]);
    assert_eq!((progress.tests_run, progress.tests_passing_after), (Some(true), Some(false)));
    assert_eq!((progress.e2e_run, progress.e2e_passing_after), (Some(false), Some(false)));
    let claude = progress.claude_session.unwrap();
    assert_eq!(claude.session_id.as_deref(), Some("0a1b2c3d-0000-4000-8000-00000000000a"));
    assert_eq!(claude.forked_from.as_deref(), Some("0a1b2c3d-0000-4000-8000-00000000000b"));
    assert_eq!(claude.tools_used, ["Bash(3)", "Edit(2)"]);
    assert_eq!(claude.summary.as_deref(), Some("Split the reader"));
    let tokens = ProgressTokenCounts {
        input: Some(46),
        output: Some(1376),
        cache_read: Some(577_215),
        cache_write: Some(99_781),
    };
    assert_eq!((claude.tokens, claude.cost_usd), (tokens, Some(1.0217)));
    assert_eq!(progress.next_steps, ["Run: bun test csv", "Ask for the delimiter"]);
    assert_eq!(
        progress.blockers,
        ["Tests failed: expected 3 rows, got 2\nin src/csv.test.ts", "expected 3 rows, got 2"]
    );
    assert!(progress.notes.starts_with("- **Reviewer**: nobody\nThe file in question has a byte order mark."));
    assert!(progress.notes.contains("## Healer Summary"));
    assert!(progress.notes.contains("**Scenario:** VerificationFailed"));
    assert!(progress.notes.contains("# not a heading\nCompleted: 2020-01-01T00:00:00Z"));
}

#[test]
fn line_ends_and_byte_order_marks_change_nothing() {
    let windows = format!("\u{feff}{}", NOTES.replace('\n', "\r\n"));
    assert_eq!(parse(&windows), parse(NOTES));
}

#[test]
fn tasks_of_all_shapes() {
    for (line, id, title) in [
        ("- **Task**: a-1 - Do it", Some("a-1"), Some("Do it")),
        ("- Task: a-1 - Do it - well", Some("a-1"), Some("Do it - well")),
        ("**Task:** a-1", Some("a-1"), None),
        ("- **Task**: a-1 - ", Some("a-1"), None),
        ("- **Task**: - Do it", None, Some("Do it")),
        ("- **Task**: Do it", None, Some("Do it")),
        ("- **Task**:  - ", None, None),
        ("- **Task**:", None, None),
        ("- **Task**: None", None, None),
    ] {
        let progress = parse(&format!("## Session Info\n{line}\n"));
        assert_eq!((progress.task_id.as_deref(), progress.task_title.as_deref()), (id, title), "{line}");
    }
}

#[test]
fn tokens_of_all_shapes() {
    let of = |value: &str| {
        let notes = format!("### Claude Code Session\n- **Token Usage**: {value}\n");
        let ProgressTokenCounts { input, output, cache_read, cache_write } =
            parse(&notes).claude_session.unwrap().tokens;
        (input, output, cache_read, cache_write)
    };
    assert_eq!(of("46 in, 1,376 out"), (Some(46), Some(1376), None, None));
    assert_eq!(of("46 in, 1.376 out, 2 cache hits"), (Some(46), Some(1376), Some(2), None));
    assert_eq!(of("1\u{202f}376 in, 1 000 cache writes"), (Some(1376), None, None, Some(1000)));
    assert_eq!(of("5 input, 6 output, 7 cache reads, 8 cache creation"), (Some(5), Some(6), Some(7), Some(8)));
    assert_eq!(of("many"), (None, None, None, None));
    assert_eq!(of("99999999999999999999999 in"), (None, None, None, None));
}

#[test]
fn lists_come_after_commas_and_in_bullets() {
    let progress = parse(
        "## Work Done\n- **Subtasks Completed**:\n- a\n- b\n- **Files Modified**: x.rs, y.rs\n- Odd: one\n\
         - Tests Run: maybe\n## Next Session Should\nContinue\n- None\n### Blockers\nNone\n",
    );
    assert_eq!(progress.subtasks_completed, ["a", "b"]);
    assert_eq!(progress.files_modified, ["x.rs", "y.rs"]);
    assert_eq!(progress.notes, "- Odd: one");
    assert_eq!(progress.tests_run, None);
    assert_eq!(progress.next_steps, ["Continue"]);
    assert!(progress.blockers.is_empty());
}

#[test]
fn a_previous_session_in_bullets_keeps_its_blockers() {
    let progress = parse(
        "## Orientation\n- **Previous Session**:\n  - **Previous task**: a - b\n  - Completed: x, y\n  - Blockers: one\n\
         two\n  - **Next steps**: go; on\n- **Repo State**: dirty\n",
    );
    let previous = progress.previous_session.unwrap();
    assert_eq!(previous.task.as_deref(), Some("a - b"));
    assert_eq!(previous.completed, ["x", "y"]);
    assert_eq!(previous.blockers, ["one\ntwo"]);
    assert_eq!(previous.next_steps, ["go", "on"]);
    assert_eq!(progress.repo_state.as_deref(), Some("dirty"));
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(parse(""), ProgressNotes::default());
    assert_eq!(parse("# Session Progress\n\n---\nCompleted: In Progress"), ProgressNotes::default());
}

#[test]
fn notes_without_a_rule_still_end() {
    let progress = parse("## Next Session Should\n- Go on\nCompleted: 2026-01-09T08:00:00Z\n");
    assert_eq!(progress.next_steps, ["Go on"]);
    assert!(progress.completed_at.is_some());
}

#[test]
fn notes_are_told() {
    let (format, events) = read(NOTES);
    assert_eq!(format, LogFormat::ProgressNotes);
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{events:?}") };
    assert_eq!(about.task_id.as_deref(), Some("sh-4c"));
    let said = said(&events);
    assert_eq!((said.len(), said[0].0), (1, "system"));
    for words in
        ["Previous blockers: Verification failed", "Files modified: src/csv.ts, src/import.ts", "Healer Summary"]
    {
        assert!(said[0].1.contains(words), "{words}");
    }
    assert_eq!(
        outputs(&events),
        [("step 1".to_owned(), "Tests failed: expected 3 rows, got 2\nin src/csv.test.ts", Some(true))],
        "what an earlier blocker says is not told again"
    );
    let total = events
        .iter()
        .find_map(|event| if let TrajectoryEvent::Total(usage) = event { Some(usage) } else { None })
        .unwrap();
    assert_eq!(total.prompt_tokens, Some(677_042));
    assert_eq!((total.completion_tokens, total.cached_tokens), (Some(1376), Some(577_215)));
    assert!(events.iter().any(|event| {
        matches!(event, TrajectoryEvent::Elsewhere(elsewhere) if elsewhere.part == Part::Subagent
            && elsewhere.id.as_deref() == Some("0a1b2c3d-0000-4000-8000-00000000000a"))
    }));
    assert!(
        matches!(events.last(), Some(TrajectoryEvent::Outcome(outcome)) if outcome.status == EpisodeStatus::Partial)
    );
}

#[test]
fn outcomes_follow_tests_and_blockers() {
    let of = |work: &str, blockers: &str| {
        let notes =
            format!("# Session Progress\n## Work Done\n- Tests Passing After Work: {work}\n### Blockers\n{blockers}");
        let (_, events) = read(&notes);
        events
            .into_iter()
            .find_map(|event| if let TrajectoryEvent::Outcome(outcome) = event { Some(outcome.status) } else { None })
    };
    assert_eq!(of("Yes", ""), Some(EpisodeStatus::Success));
    assert_eq!(of("Yes", "- one"), Some(EpisodeStatus::Partial));
    assert_eq!(of("No", "- one"), Some(EpisodeStatus::Partial));
    assert_eq!(of("No", ""), None);
}

/// File, end of the session's id, task, how the first blocker begins, how many there are, the next step, how the previous
/// session's blocker begins, cost in ten-thousandths of a dollar: read by a person.
type Row = (&'static str, &'static str, &'static str, &'static str, usize, &'static str, &'static str, u32);

const TURNS: &str = "Claude Code finished with: error_max_turns";
const SLOW: &str = "Claude Code timed out after 300000ms";
const HALF: &str = "Subtask did not complete - SUBTASK_COMPLETE not found";
const ON: &str = "Continue with next task";
const PICK: &str = "Pick next task";

const HISTORY: &[Row] = &[
    (
        "01-20251203T005044-d41f4ea8",
        "752Z-b2bt7j",
        "oa-e0d033",
        "OpenRouter request failed: Error: HTTP 404",
        1,
        ON,
        "",
        0,
    ),
    ("02-20251203T011345-0f450e61", "049Z-sz34uv", "oa-e0d033", HALF, 1, ON, HALF, 0),
    ("03-20251203T012038-d617f2ce", "934Z-follqo", "oa-pi12", TURNS, 1, ON, HALF, 8978),
    ("04-20251203T012406-78248753", "671Z-w2ti4s", "oa-pi12", "", 0, PICK, TURNS, 6211),
    ("05-20251203T012830-8cd343c3", "871Z-f7e10y", "oa-44834c", TURNS, 1, "Update Claude Code permissions", "", 7517),
    ("06-20251203T012853-532cf13d", "567Z-zdjbey", "oa-44834c", "", 0, PICK, TURNS, 5753),
    ("07-20251203T014132-7e379b79", "293Z-pommm8", "oa-820036", "", 0, PICK, "", 4884),
    (
        "08-20251203T014827-aea67451",
        "579Z-xal7dj",
        "oa-cc015b",
        "Verification failed (typecheck/tests): src/tasks",
        2,
        ON,
        TURNS,
        13327,
    ),
    (
        "09-20251203T015028-63801f6e",
        "027Z-akqkdq",
        "oa-cc015b",
        "",
        0,
        PICK,
        "Verification failed (typecheck/tests): src/tasks",
        7482,
    ),
    ("10-20251203T015533-9d54f2a4", "888Z-u566iw", "oa-e21ac5", SLOW, 1, ON, "", 0),
    ("11-20251203T020039-4d3f3fb2", "486Z-91qqp5", "oa-8067e5", SLOW, 1, ON, SLOW, 0),
    ("12-20251203T020544-5f5e2c86", "165Z-5k73ky", "oa-8067e5", SLOW, 1, ON, SLOW, 0),
    ("13-20251203T020750-b11de504", "794Z-1mxuka", "oa-8067e5", "", 0, PICK, SLOW, 16775),
    ("14-20251203T020930-a2a8d207", "816Z-5gifa1", "oa-574d83", "", 0, PICK, "", 5049),
    ("15-20251203T021150-2db84061", "814Z-hea2tt", "oa-4b9dce", "", 0, PICK, "", 7500),
    ("16-20251203T021347-f2d2dbb7", "456Z-4i13t8", "oa-a8d5f9", "", 0, PICK, "", 4099),
    ("17-20251203T021445-7b5fb8b0", "930Z-reqlh3", "oa-e21ac5", "", 0, PICK, "", 6506),
    (
        "18-20251203T021648-36f9490a",
        "491Z-81mdwr",
        "oa-6c74e7",
        "Verification failed (typecheck/tests): src/hud",
        2,
        ON,
        "",
        5231,
    ),
    (
        "19-20251203T023339-e8a5ada1",
        "923Z-byhygq",
        "oa-6c74e7",
        "",
        0,
        PICK,
        "Verification failed (typecheck/tests): src/hud",
        3366,
    ),
    ("20-20251203T024337-e42ac66e", "047Z-4p9j5v", "oa-4e8aa5", "", 0, PICK, "", 42832),
];

#[test]
fn the_real_notes_are_parsed() {
    let Ok(corpus) = std::env::var("ARCHIVIST_CORPUS") else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let mut rows: Vec<(String, Row)> =
        HISTORY.iter().map(|row| (format!("{corpus}/openagents/progress-history/{}.md", row.0), *row)).collect();
    let healed = "Tests or typecheck failed after changes (healing attempted)";
    rows.push((
        format!("{corpus}/openagents/progress.md"),
        ("", "882Z-35za38", "oa-abafe0", "", 0, PICK, healed, 10217),
    ));
    for (file, (_, session, task, blocker, count, next, previous, cost)) in rows {
        let text = std::fs::read_to_string(&file).unwrap();
        let progress = parse(&text);
        assert!(
            progress.session_id.as_deref().is_some_and(|id| id.starts_with("session-") && id.ends_with(session)),
            "{file}"
        );
        assert!(progress.started_at.is_some(), "{file}");
        assert_eq!(progress.task_id.as_deref(), Some(task), "{file}");
        assert!(progress.task_title.is_some(), "{file}");
        assert_eq!(progress.blockers.len(), count, "{file}");
        assert!(progress.blockers.first().map_or("", String::as_str).starts_with(blocker), "{file}");
        assert_eq!(progress.next_steps.len(), 1, "{file}");
        assert!(progress.next_steps[0].starts_with(next), "{file}");
        let earlier = progress.previous_session.unwrap_or_default();
        assert_eq!(earlier.blockers.len(), usize::from(!previous.is_empty()), "{file}");
        assert!(earlier.blockers.first().map_or("", String::as_str).starts_with(previous), "{file}");
        assert_eq!(earlier.next_steps.is_empty(), file.contains("/01-"), "{file}");
        let spent = progress.claude_session.and_then(|claude| claude.cost_usd).unwrap_or_default();
        assert!((spent * 10_000.0 - f64::from(cost)).abs() < 0.01, "{file}: {spent}");
        assert_eq!(progress.completed_at.is_some(), count == 0, "{file}");
        assert_eq!(progress.notes, "", "{file}");
        assert_eq!(read(&text).0, LogFormat::ProgressNotes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic(
        text in "(?s).{0,200}",
        lines in prop::collection::vec((any::<prop::sample::Index>(), 0usize..40), 0..40),
    ) {
        parse(&text);
        let all: Vec<&str> = NOTES.lines().collect();
        let mixed: Vec<String> =
            lines.iter().map(|(at, length)| all[at.index(all.len())].chars().take(*length).collect()).collect();
        let mixed = mixed.join("\n");
        parse(&mixed);
        read(&format!("# Session Progress\n{mixed}"));
    }
}
