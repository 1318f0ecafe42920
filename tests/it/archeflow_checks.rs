//! `archivist archeflow`: what becomes of lessons when runs are over.

use serde_json::json;

use crate::archeflow::Step::{Absent, Bytes, Field, File, Lines, Run};
use crate::archeflow::{ARCHIVE, AUDIT, INDEX, LESSONS, NOTHING, Out, RUNS, check, lesson};
use crate::archeflow_runs::{NULLS, ONE, OTHER, SAME, THREE, TWO, log};

fn fixes(run: &str, fixed: &[&str]) -> String {
    let line =
        |text: &&str| json!({"run_id": run, "type": "fix.applied", "data": {"finding": text}}).to_string() + "\n";
    fixed.iter().map(line).collect()
}

fn index(runs: &[&str]) -> String {
    runs.iter().map(|run| json!({"run_id": run}).to_string() + "\n").collect()
}

/// A lesson that one more silent run is the end of, or is not.
fn old(id: &str, kind: &str, frequency: u64, silent: u64, seen: &str) -> String {
    let line = lesson(id, kind, frequency, "code")
        .replace("\"last_seen_run\":\"old\"", &format!("\"last_seen_run\":\"{seen}\""));
    line.replace("\"runs_since_last_seen\":0", &format!("\"runs_since_last_seen\":{silent}"))
}

#[test]
fn decay() {
    let five: Vec<_> = std::iter::once(File(LESSONS, old("m-001", "pattern", 5, 0, "")))
        .chain((0..49).map(|_| Run(&["decay"], 0, NOTHING, "0 archived")))
        .chain([
            Field(LESSONS, "m-001", "frequency", json!(1)),
            Run(&["decay"], 0, NOTHING, "1 decayed, 1 archived"),
            Lines(LESSONS, 0),
        ])
        .collect();
    check(vec![
        ("nothing yet", vec![Run(&["decay"], 0, NOTHING, ""), Absent(".archeflow")]),
        (
            "one run of silence",
            vec![
                Run(&["add", "pattern", "Decay test lesson"], 0, NOTHING, ""),
                Run(&["decay"], 0, NOTHING, "[archeflow-memory] Decay complete: 0 decayed, 0 archived\n"),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(1)),
                Absent(RUNS),
            ],
        ),
        (
            "the tenth takes a sighting",
            vec![
                File(LESSONS, old("m-001", "pattern", 3, 9, "")),
                Run(&["decay"], 0, NOTHING, "Decay complete: 1 decayed, 0 archived"),
                Field(LESSONS, "m-001", "frequency", json!(2)),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(0)),
            ],
        ),
        (
            "the last sighting",
            vec![
                File(LESSONS, old("m-001", "pattern", 1, 9, "")),
                Run(&["decay"], 0, NOTHING, "[archeflow-memory] Archived lesson m-001 (frequency reached 0)\n[archeflow-memory] Decay complete: 1 decayed, 1 archived\n"),
                Bytes(LESSONS, String::new()),
                Field(ARCHIVE, "m-001", "frequency", json!(0)),
                Field(ARCHIVE, "m-001", "ts", json!("2026-03-01T12:00:00Z")),
                Field(ARCHIVE, "m-001", "runs_since_last_seen", json!(9)),
            ],
        ),
        ("seen five times, fifty runs", five),
        (
            "preferences stay",
            vec![
                File(LESSONS, old("m-001", "preference", 1, 9, "")),
                Run(&["decay"], 0, NOTHING, "0 decayed, 0 archived"),
                Bytes(LESSONS, old("m-001", "preference", 1, 9, "")),
                Absent(ARCHIVE),
            ],
        ),
        (
            "no last line is lost",
            vec![
                File(LESSONS, format!("oops\n{}{}", old("m-001", "pattern", 2, 0, ""), old("m-002", "pattern", 2, 0, "").trim_end())),
                Run(&["decay"], 0, NOTHING, ""),
                Field(LESSONS, "m-002", "runs_since_last_seen", json!(1)),
                Lines(LESSONS, 3),
            ],
        ),
        (
            "numbers that are none",
            vec![
                File(LESSONS, "{\"id\":\"m-001\",\"frequency\":null}\n{\"id\":\"m-002\",\"frequency\":\"x\",\"runs_since_last_seen\":\"9\"}\n{\"id\":\"m-003\",\"frequency\":2.9,\"runs_since_last_seen\":9.5}\n".into()),
                Run(&["decay"], 0, NOTHING, "1 decayed, 0 archived"),
                Field(LESSONS, "m-001", "frequency", json!(0)),
                Field(LESSONS, "m-002", "runs_since_last_seen", json!(1)),
                Field(LESSONS, "m-003", "frequency", json!(1)),
            ],
        ),
        (
            "what the run has just shown stays",
            vec![
                File(LESSONS, old("m-001", "pattern", 1, 4, "old")),
                File(ONE, log("run-1", &[NULLS])),
                Run(&["extract", ONE], 0, NOTHING, "1 new"),
                Run(&["decay"], 0, NOTHING, ""),
                Field(LESSONS, "m-002", "runs_since_last_seen", json!(0)),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(5)),
                Run(&["decay"], 0, NOTHING, ""),
                Field(LESSONS, "m-002", "runs_since_last_seen", json!(1)),
            ],
        ),
        (
            "also where nothing else is there to change",
            vec![
                File(ONE, log("run-1", &[NULLS])),
                Run(&["extract", ONE], 0, NOTHING, "1 new"),
                Run(&["decay"], 0, NOTHING, ""),
                Run(&["decay"], 0, NOTHING, ""),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(1)),
            ],
        ),
        (
            "a run that is named",
            vec![
                File(LESSONS, format!("{}{}", old("m-001", "pattern", 1, 0, "run-7"), old("m-002", "pattern", 1, 0, "run-6"))),
                Run(&["decay", "run-7"], 0, NOTHING, "0 decayed"),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(0)),
                Field(LESSONS, "m-002", "runs_since_last_seen", json!(1)),
                Run(&["decay", "--run", "run-7"], 0, NOTHING, "Run run-7 has had its decay already"),
                Field(LESSONS, "m-002", "runs_since_last_seen", json!(1)),
                Run(&["decay", "--run=run-8"], 0, NOTHING, ""),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(1)),
            ],
        ),
        (
            "the last run that ArcheFlow noted",
            vec![
                File(INDEX, index(&["run-6", "run-7"])),
                File(LESSONS, format!("{}{}", old("m-001", "pattern", 1, 0, "run-7"), old("m-002", "pattern", 1, 0, "run-6"))),
                Run(&["decay"], 0, NOTHING, ""),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(0)),
                Field(LESSONS, "m-002", "runs_since_last_seen", json!(1)),
                Run(&["decay"], 0, NOTHING, ""),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(1)),
            ],
        ),
        ("a run that leads elsewhere", vec![File(LESSONS, old("m-001", "pattern", 1, 0, "")), Run(&["decay", "../x"], 1, NOTHING, "Error: invalid run_id '../x'")]),
        (
            "a note whose deed was cut off",
            vec![
                File(LESSONS, old("m-001", "pattern", 2, 0, "")),
                Run(&["decay", "run-7"], 0, NOTHING, ""),
                File(LESSONS, old("m-001", "pattern", 2, 0, "")),
                Run(&["decay", "run-7"], 0, NOTHING, "0 decayed"),
                Field(LESSONS, "m-001", "runs_since_last_seen", json!(1)),
            ],
        ),
        (
            "what a writer that was cut off archived is not archived twice",
            vec![
                File(LESSONS, old("m-001", "pattern", 1, 9, "")),
                File(ARCHIVE, old("m-001", "pattern", 0, 9, "").replace("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")),
                Run(&["decay"], 0, NOTHING, "1 archived"),
                Lines(ARCHIVE, 1),
                Lines(LESSONS, 0),
            ],
        ),
    ]);
}

#[test]
fn audit_check() {
    let lessons = || {
        File(LESSONS, "{\"id\":\"m-001\",\"type\":\"pattern\",\"source\":\"guardian\",\"description\":\"Missing null check in response handler\",\"frequency\":2,\"domain\":\"code\"}\n".into())
    };
    let given = || Run(&["inject", "code", "", "--audit", "run-1"], 0, Out::Has(&["null check"]), "");
    check(vec![
        (
            "no records",
            vec![Run(&["audit-check", "run-1"], 0, NOTHING, "No audit records found.\n"), Absent(".archeflow")],
        ),
        (
            "no log",
            vec![
                lessons(),
                given(),
                Run(&["audit-check", "run-1"], 0, NOTHING, "No events file found for run run-1.\n"),
            ],
        ),
        (
            "another run",
            vec![
                lessons(),
                given(),
                File(TWO, log("run-2", &[])),
                Run(&["audit-check", "run-2"], 0, NOTHING, "No audit records for run run-2.\n"),
            ],
        ),
        (
            "a run that leads elsewhere",
            vec![
                lessons(),
                given(),
                Run(
                    &["audit-check", "../../etc/passwd"],
                    1,
                    NOTHING,
                    "Error: invalid run_id '../../etc/passwd' (allowed: letters, digits, '.', '_', '-')\n",
                ),
            ],
        ),
        ("dots in a row", vec![Run(&["audit-check", "a..b"], 1, NOTHING, "invalid run_id 'a..b'")]),
        ("a dash in front", vec![Run(&["audit-check", "-x"], 1, NOTHING, "invalid run_id '-x'")]),
        (
            "helpful",
            vec![
                lessons(),
                given(),
                File(ONE, log("run-1", &[OTHER])),
                Run(
                    &["audit-check", "run-1"],
                    0,
                    NOTHING,
                    "[archeflow-memory] Lesson m-001 (helpful): Missing null check in response handler\n",
                ),
                Lines(AUDIT, 2),
                Field(AUDIT, "m-001", "type", json!("effectiveness_check")),
                Field(AUDIT, "m-001", "effectiveness", json!("helpful")),
                Field(AUDIT, "m-001", "keyword_overlap_pct", json!(0)),
                Field(AUDIT, "m-001", "lesson_desc", json!("Missing null check in response handler")),
            ],
        ),
        (
            "a review without findings",
            vec![
                lessons(),
                given(),
                File(ONE, log("run-1", &[])),
                Run(&["audit-check", "run-1"], 0, NOTHING, "(helpful)"),
            ],
        ),
        (
            "ineffective",
            vec![
                lessons(),
                given(),
                File(ONE, log("run-1", &[SAME])),
                Run(&["audit-check", "run-1"], 0, NOTHING, "(ineffective)"),
                Field(AUDIT, "m-001", "keyword_overlap_pct", json!(100)),
            ],
        ),
        (
            "nobody looked",
            vec![
                lessons(),
                given(),
                File(ONE, "{\"run_id\":\"run-1\",\"type\":\"run.start\"}\n".into()),
                Run(&["audit-check", "run-1"], 0, NOTHING, "(unknown)"),
                Field(AUDIT, "m-001", "effectiveness", json!("unknown")),
            ],
        ),
        (
            "words that are scattered",
            vec![
                lessons(),
                given(),
                File(
                    ONE,
                    log(
                        "run-1",
                        &[
                            ("bug", "missing semicolon", "code"),
                            ("bug", "null island", "code"),
                            ("bug", "response late", "code"),
                        ],
                    ),
                ),
                Run(&["audit-check", "run-1"], 0, NOTHING, "(helpful)"),
                Field(AUDIT, "m-001", "keyword_overlap_pct", json!(20)),
            ],
        ),
        (
            "said again, not written again",
            vec![
                lessons(),
                given(),
                File(ONE, log("run-1", &[OTHER])),
                Run(&["audit-check", "run-1"], 0, NOTHING, "(helpful)"),
                Run(&["audit-check", "run-1"], 0, NOTHING, "(helpful)"),
                Lines(AUDIT, 2),
                File(ONE, log("run-1", &[OTHER, SAME])),
                Run(&["audit-check", "run-1"], 0, NOTHING, "(ineffective)"),
                Lines(AUDIT, 3),
            ],
        ),
        (
            "archived since",
            vec![
                lessons(),
                given(),
                File(ONE, log("run-1", &[])),
                Run(&["forget", "m-001"], 0, NOTHING, ""),
                Run(&["audit-check", "run-1"], 0, NOTHING, "Lesson m-001 (helpful)"),
            ],
        ),
        (
            "nowhere any more",
            vec![
                File(AUDIT, "{\"run_id\":\"run-1\",\"lessons_injected\":[\"m-404\"]}\n".into()),
                File(ONE, log("run-1", &[])),
                Run(&["audit-check", "run-1"], 0, NOTHING, "m-404 is neither"),
                Lines(AUDIT, 1),
            ],
        ),
    ]);
}

#[test]
fn regression_check() {
    let now = || File(THREE, log("run-3", &[OTHER, SAME]));
    let fixed = "Missing null check in response handler";
    check(vec![
        (
            "no such file",
            vec![Run(&["regression-check", "none.jsonl"], 1, NOTHING, "Error: events file not found: none.jsonl\n")],
        ),
        (
            "no index",
            vec![
                now(),
                Run(
                    &["regression-check", THREE],
                    0,
                    NOTHING,
                    "[archeflow-memory] No index.jsonl found — skipping regression check.\n",
                ),
            ],
        ),
        (
            "no run before",
            vec![
                now(),
                File(INDEX, index(&["run-3"])),
                Run(
                    &["regression-check", THREE],
                    0,
                    NOTHING,
                    "[archeflow-memory] No previous run found — skipping regression check.\n",
                ),
            ],
        ),
        (
            "an empty index",
            vec![
                now(),
                File(INDEX, String::new()),
                Run(&["regression-check", THREE], 0, NOTHING, "No previous run found"),
            ],
        ),
        (
            "a run that leads elsewhere",
            vec![
                now(),
                File(INDEX, index(&["../../x", "run-3"])),
                Run(
                    &["regression-check", THREE],
                    0,
                    NOTHING,
                    "[archeflow-memory] Ignoring invalid run_id in index.jsonl: '../../x'\n",
                ),
            ],
        ),
        (
            "no log of the run before",
            vec![
                now(),
                File(INDEX, index(&["run-2", "run-3"])),
                Run(
                    &["regression-check", THREE],
                    0,
                    NOTHING,
                    "[archeflow-memory] Previous run events not found: .archeflow/events/run-2.jsonl\n",
                ),
            ],
        ),
        (
            "nothing fixed",
            vec![
                now(),
                File(INDEX, index(&["run-2", "run-3"])),
                File(TWO, log("run-2", &[NULLS])),
                Run(
                    &["regression-check", THREE],
                    0,
                    NOTHING,
                    "[archeflow-memory] No resolved findings in previous run — nothing to regress.\n",
                ),
            ],
        ),
        (
            "nothing found",
            vec![
                File(THREE, log("run-3", &[])),
                File(INDEX, index(&["run-2", "run-3"])),
                File(TWO, fixes("run-2", &[fixed])),
                Run(
                    &["regression-check", THREE],
                    0,
                    NOTHING,
                    "[archeflow-memory] No findings in current run — no regressions.\n",
                ),
            ],
        ),
        (
            "nothing came back",
            vec![
                now(),
                File(INDEX, index(&["run-2", "run-3"])),
                File(TWO, fixes("run-2", &["Wholly unrelated matter"])),
                Run(&["regression-check", THREE], 0, NOTHING, "[archeflow-memory] No regressions detected.\n"),
            ],
        ),
        (
            "it came back",
            vec![
                now(),
                File(INDEX, index(&["run-2", "run-3"])),
                File(TWO, fixes("run-2", &[fixed, "Wholly unrelated matter"])),
                Run(
                    &["regression-check", THREE],
                    1,
                    Out::Is(
                        "REGRESSION: \"Missing null check in response handler\" (fixed in run-2) reappeared as \"Null check missing in the response handler\"\n",
                    ),
                    "[archeflow-memory] 1 regression(s) detected from run run-2.\n",
                ),
            ],
        ),
        (
            "from a run long ago",
            vec![
                now(),
                File(INDEX, index(&["run-1", "run-2", "run-3"])),
                File(ONE, fixes("run-1", &[fixed])),
                File(TWO, fixes("run-2", &["Wholly unrelated matter"])),
                Run(
                    &["regression-check", THREE],
                    1,
                    Out::Has(&["(fixed in run-1)"]),
                    "1 regression(s) detected from run run-1.",
                ),
            ],
        ),
        (
            "fixed twice is told once",
            vec![
                now(),
                File(INDEX, index(&["run-1", "run-2"])),
                File(ONE, fixes("run-1", &[fixed])),
                File(TWO, fixes("run-2", &[fixed])),
                Run(
                    &["regression-check", THREE],
                    1,
                    Out::Is(
                        "REGRESSION: \"Missing null check in response handler\" (fixed in run-2) reappeared as \"Null check missing in the response handler\"\n",
                    ),
                    "1 regression(s)",
                ),
            ],
        ),
        (
            "fixed later is no regression",
            vec![
                File(ONE, log("run-1", &[NULLS])),
                File(TWO, fixes("run-2", &[fixed])),
                File(INDEX, index(&["run-1", "run-2"])),
                Run(&["regression-check", ONE], 0, NOTHING, "No previous run found"),
            ],
        ),
        (
            "an index with a broken line",
            vec![
                now(),
                File(INDEX, format!("oops\n{}", index(&["run-2"]))),
                File(TWO, fixes("run-2", &[fixed])),
                Run(&["regression-check", THREE], 1, Out::Has(&["REGRESSION"]), ""),
            ],
        ),
    ]);
}
