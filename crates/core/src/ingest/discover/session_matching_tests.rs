use super::*;
use crate::ingest::json_fields::parse_time_text;

fn facts(id: &str, task: &str, started: &str, finished: &str, text: &str) -> SessionFacts {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    SessionFacts {
        session_id: some(id),
        task_id: some(task),
        started: parse_time_text(started),
        finished: parse_time_text(finished),
        first_text: some(text),
    }
}

fn check(a: &SessionFacts, b: &SessionFacts, expected: bool) {
    assert_eq!(is_same_session(a, b), expected, "{a:?} {b:?}");
    assert_eq!(is_same_session(b, a), expected, "{b:?} {a:?}");
}

#[test]
fn one_run_under_three_ids() {
    let atif = facts(
        "session-2025-12-05T08-07-41-875Z-ebphxk",
        "",
        "2025-12-05T08:07:41.876Z",
        "2025-12-05T08:10:47.148Z",
        "Session started: session-2025-12-05T08-07-41-882Z-35za38",
    );
    let notes = facts("session-2025-12-05T08-07-41-882Z-35za38", "oa-abafe0", "2025-12-05T08:07:41.882Z", "", "");
    let claude = facts(
        "f8e58dd1-9fb1-4f29-8043-3a745e4d4fe4",
        "",
        "2025-12-05T08:08:03Z",
        "2025-12-05T08:10:26Z",
        "## Subtask: oa-abafe0-sub-001\nWire e2eCommands into the verification",
    );
    let run = facts("run-20251205-080741-k3x9", "oa-abafe0", "2025-12-05T08:07:41Z", "2025-12-05T08:11:00Z", "");
    check(&atif, &notes, true);
    check(&run, &notes, true);
    check(&run, &claude, true);
    // Nothing but time speaks for these two; they meet through the run.
    check(&atif, &claude, false);

    let earlier = facts(
        "session-2025-12-05T08-00-23-404Z-ew8gut",
        "oa-abafe0",
        "2025-12-05T08:00:23.404Z",
        "2025-12-05T08:04:39.755Z",
        "Session started: session-2025-12-05T08-00-23-411Z-5jdn6n",
    );
    check(&earlier, &notes, false);
    check(&earlier, &run, false);
    check(&earlier, &atif, false);

    // A resumed session names the id under which it began, ten minutes before.
    let resumed = facts(
        "session-2025-12-05T07-45-57-649Z-x8251x",
        "",
        "2025-12-05T07:45:57.649Z",
        "",
        "Session started: session-2025-12-05T07-36-22-573Z-3xpw50",
    );
    check(
        &resumed,
        &facts("session-2025-12-05T07-36-22-573Z-3xpw50", "", "2025-12-05T07:36:22Z", "2025-12-05T07:40:00Z", ""),
        true,
    );
}

#[test]
fn what_links_and_what_does_not() {
    let at = "2026-03-01T10:00:00Z";
    let later = "2026-03-01T10:05:00Z";
    let base = facts("a-session", "task-11", at, later, "Fix the cart");
    check(&base, &facts("a-session", "task-22", "2026-05-01", "", ""), true);
    check(&base, &facts("other", "task-11", "2026-03-01T10:04:00Z", "", ""), true);
    check(&base, &facts("other", "task-11", "2026-03-01T10:05:04Z", "", ""), true);
    check(&base, &facts("other", "task-11", "2026-03-01T10:05:06Z", "", ""), false);
    check(&base, &facts("other", "task-11", "", "", ""), false);
    check(&base, &facts("other", "task-22", at, later, "Fix the cart"), false);
    check(&base, &facts("other", "", at, later, " Fix the cart\n"), true);
    check(&base, &facts("other", "", at, later, "Fix the till"), false);
    check(&base, &facts("other", "", at, later, "work on task-11, please"), true);
    check(&base, &facts("other", "", at, later, "work on task-112"), false);
    check(&SessionFacts::default(), &SessionFacts::default(), false);
}

#[test]
fn moments_in_ids() {
    let check =
        |id: &str, expected: Option<&str>| assert_eq!(parse_time_in_id(id), expected.and_then(parse_time_text), "{id}");
    check("session-2025-12-05T08-07-41-875Z-ebphxk", Some("2025-12-05T08:07:41.875Z"));
    check("run-20251202-185110-33ph", Some("2025-12-02T18:51:10Z"));
    check("rollout-2025-08-06T18-02-11-05997ac9-0e06-4251", Some("2025-08-06T18:02:11Z"));
    check("session-2026-03-01T10-00-aaaa", Some("2026-03-01T10:00:00Z"));
    check("f8e58dd1-9fb1-4f29-8043-3a745e4d4fe4", None);
    check("session-é-2025", None);
    check("", None);
}
