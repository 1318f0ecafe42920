//! `archivist archeflow extract`: what runs teach.

use serde_json::json;

use crate::archeflow::Step::{Absent, Bytes, Field, File, Lines, Run};
use crate::archeflow::{LESSONS, NOTHING, Out, RUNS, check, lesson};

pub(crate) const ONE: &str = ".archeflow/events/run-1.jsonl";
pub(crate) const TWO: &str = ".archeflow/events/run-2.jsonl";
pub(crate) const THREE: &str = ".archeflow/events/run-3.jsonl";

/// The log of a run whose reviewer found these: severity, text, category.
pub(crate) fn log(run: &str, findings: &[(&str, &str, &str)]) -> String {
    let findings: Vec<_> = findings
        .iter()
        .map(|(severity, text, category)| json!({"severity": severity, "description": text, "category": category}))
        .collect();
    let start = json!({"run_id": run, "seq": 1, "type": "run.start", "phase": "plan", "data": {"task": "test"}});
    let verdict = json!({"run_id": run, "seq": 2, "type": "review.verdict", "phase": "check",
        "data": {"archetype": "guardian", "verdict": "needs_changes", "findings": findings}});
    format!("{start}\n{verdict}\n")
}

pub(crate) const NULLS: (&str, &str, &str) = ("bug", "Missing null check in response handler", "code");
pub(crate) const SAME: (&str, &str, &str) = ("warning", "Null check missing in the response handler", "code");
pub(crate) const OTHER: (&str, &str, &str) = ("warning", "Timeline references contradict chapter three", "code");

#[test]
fn extract() {
    check(vec![
        ("no such file", vec![Run(&["extract", "nonexistent.jsonl"], 1, NOTHING, "Error: events file not found: nonexistent.jsonl\n"), Absent(LESSONS)]),
        ("a folder", vec![File(ONE, String::new()), Run(&["extract", ".archeflow/events"], 1, NOTHING, "events file not found")]),
        (
            "a candidate",
            vec![
                File(ONE, log("run-1", &[("WARNING", "Missing input validation on user endpoint", "code")])),
                Run(&["extract", ONE], 0, NOTHING, "[archeflow-memory] Added candidate lesson m-001: Missing input validation on user endpoint\n[archeflow-memory] Extract complete: 0 updated, 1 new candidates\n"),
                Bytes(LESSONS, concat!(
                    r#"{"id":"m-001","ts":"2026-03-01T12:00:00Z","run_id":"run-1","type":"pattern","source":"guardian","#,
                    r#""description":"Missing input validation on user endpoint","frequency":1,"severity":"warning","#,
                    r#""domain":"code","tags":["missing","input","validation","user","endpoint"],"archetype":null,"#,
                    r#""last_seen_run":"run-1","runs_since_last_seen":0}"#, "\n").to_owned()),
                Field(RUNS, "run-1", "lessons", json!(["m-001"])),
            ],
        ),
        (
            "a second run",
            vec![
                File(ONE, log("run-1", &[NULLS])),
                File(TWO, log("run-2", &[SAME])),
                Run(&["extract", ONE], 0, NOTHING, ""),
                Run(&["extract", TWO], 0, NOTHING, "[archeflow-memory] Updated lesson m-001 (freq +1): Missing null check in response handler\n[archeflow-memory] Extract complete: 1 updated, 0 new candidates\n"),
                Field(LESSONS, "m-001", "frequency", json!(2)),
                Field(LESSONS, "m-001", "last_seen_run", json!("run-2")),
                Field(LESSONS, "m-001", "run_id", json!("run-1")),
                Lines(LESSONS, 1),
                Run(&["inject", "code"], 0, Out::Has(&["[seen 2x, guardian]"]), ""),
            ],
        ),
        (
            "the same run again and again",
            vec![
                File(ONE, log("run-1", &[NULLS, SAME, NULLS])),
                File(TWO, log("run-2", &[SAME, OTHER])),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 1 new"),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 0 new"),
                Run(&["extract", TWO], 0, NOTHING, "1 updated, 1 new"),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 0 new"),
                Run(&["extract", TWO], 0, NOTHING, "0 updated, 0 new"),
                Field(LESSONS, "m-001", "frequency", json!(2)),
                Field(LESSONS, "m-002", "frequency", json!(1)),
                Lines(RUNS, 2),
            ],
        ),
        (
            "a run that goes on",
            vec![
                File(ONE, log("run-1", &[NULLS])),
                Run(&["extract", ONE], 0, NOTHING, "1 new"),
                File(ONE, log("run-1", &[NULLS, OTHER])),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 1 new"),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 0 new"),
                Field(RUNS, "run-1", "lessons", json!(["m-001", "m-002"])),
            ],
        ),
        (
            "what was forgotten stays forgotten for its run",
            vec![
                File(ONE, log("run-1", &[NULLS])),
                Run(&["extract", ONE], 0, NOTHING, "1 new"),
                Run(&["forget", "m-001"], 0, NOTHING, ""),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 0 new"),
                Lines(LESSONS, 0),
            ],
        ),
        (
            "a folder that the script made",
            vec![
                File(ONE, log("run-1", &[NULLS])),
                File(TWO, log("run-2", &[NULLS])),
                File(LESSONS, "{\"id\":\"m-001\",\"description\":\"Missing null check in response handler\",\"frequency\":1,\"domain\":\"code\",\"last_seen_run\":\"run-1\"}\n".into()),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 0 new"),
                Run(&["extract", TWO], 0, NOTHING, "1 updated, 0 new"),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 0 new"),
                Field(LESSONS, "m-001", "frequency", json!(2)),
            ],
        ),
        (
            "the script's run is remembered before its name is overwritten",
            vec![
                File(ONE, log("run-1", &[NULLS])),
                File(TWO, log("run-2", &[NULLS])),
                File(LESSONS, "{\"id\":\"m-001\",\"description\":\"Missing null check in response handler\",\"frequency\":1,\"domain\":\"code\",\"last_seen_run\":\"run-1\"}\n".into()),
                Run(&["extract", TWO], 0, NOTHING, "1 updated, 0 new"),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 0 new"),
            ],
        ),
        (
            "information is no lesson, but it is a sighting",
            vec![
                File(ONE, log("run-1", &[("info", NULLS.1, "code"), ("recommendation", "Rename the helper", "code"), ("", "No severity at all", "code")])),
                Run(&["extract", ONE], 0, NOTHING, "Extract complete: 0 updated, 0 new candidates"),
                Absent(LESSONS),
                File(TWO, log("run-2", &[NULLS])),
                Run(&["extract", TWO], 0, NOTHING, "1 new"),
                File(THREE, log("run-3", &[("INFO", NULLS.1, "code")])),
                Run(&["extract", THREE], 0, NOTHING, "1 updated, 0 new"),
            ],
        ),
        (
            "many words for a severity",
            vec![
                File(ONE, log("run-1", &[("CRITICAL", "alpha one", "a"), ("high", "beta two", "b"), ("Error", "gamma three", "c"), ("medium", "delta four", "d"), ("strange", "epsilon five", "e")])),
                Run(&["extract", ONE], 0, NOTHING, "5 new"),
                Field(LESSONS, "m-001", "severity", json!("bug")),
                Field(LESSONS, "m-002", "severity", json!("bug")),
                Field(LESSONS, "m-003", "severity", json!("bug")),
                Field(LESSONS, "m-004", "severity", json!("warning")),
                Field(LESSONS, "m-005", "severity", json!("warning")),
            ],
        ),
        (
            "another category is another lesson",
            vec![
                File(ONE, log("run-1", &[("bug", "Missing null check", "code"), ("bug", "Missing null check", "writing")])),
                Run(&["extract", ONE], 0, NOTHING, "2 new"),
                File(TWO, log("run-2", &[("bug", "Missing null check", "writing")])),
                Run(&["extract", TWO], 0, NOTHING, "Updated lesson m-002"),
                File(THREE, log("run-3", &[("bug", "Missing null check", "general")])),
                Run(&["extract", THREE], 0, NOTHING, "Updated lesson m-001"),
            ],
        ),
        (
            "half of the words",
            vec![
                File(LESSONS, "{\"id\":\"m-001\",\"description\":\"one two\",\"frequency\":1,\"domain\":\"code\"}\n".into()),
                File(ONE, log("run-1", &[("bug", "one two three four five", "code")])),
                Run(&["extract", ONE], 0, NOTHING, "0 updated, 1 new"),
                File(TWO, log("run-2", &[("bug", "one two nine ten more", "code"), ("bug", "one two six seven", "code")])),
                Run(&["extract", TWO], 0, NOTHING, "Updated lesson m-001 (freq +1): one two"),
            ],
        ),
        (
            "the best match, not the first",
            vec![
                File(LESSONS, "{\"id\":\"m-001\",\"description\":\"alpha beta\"}\n{\"id\":\"m-002\",\"description\":\"alpha beta gamma\"}\n".into()),
                File(ONE, log("run-1", &[("bug", "alpha beta gamma delta", "code")])),
                Run(&["extract", ONE], 0, NOTHING, "Updated lesson m-002"),
                Field(LESSONS, "m-002", "frequency", json!(1)),
            ],
        ),
        (
            "tags count",
            vec![
                File(LESSONS, "{\"id\":\"m-001\",\"description\":\"Timeline\",\"tags\":[\"continuity\",\"story\"],\"frequency\":1}\n".into()),
                File(ONE, log("run-1", &[("bug", "story continuity broken badly", "writing")])),
                Run(&["extract", ONE], 0, NOTHING, "Updated lesson m-001"),
            ],
        ),
        (
            "umlauts",
            vec![
                File(ONE, log("run-1", &[("bug", "Größe prüfen", "code")])),
                File(TWO, log("run-2", &[("bug", "GRÖSSE größe PRÜFEN", "code")])),
                File(THREE, log("run-3", &[("bug", "Grüße prägen", "code")])),
                Run(&["extract", ONE], 0, NOTHING, "1 new"),
                Run(&["extract", TWO], 0, NOTHING, "1 updated, 0 new"),
                Run(&["extract", THREE], 0, NOTHING, "0 updated, 1 new"),
            ],
        ),
        (
            "a run without findings",
            vec![
                File(ONE, log("run-1", &[])),
                Run(&["extract", ONE], 0, NOTHING, "[archeflow-memory] No findings to extract from .archeflow/events/run-1.jsonl\n"),
                Absent(LESSONS),
                Field(RUNS, "run-1", "lessons", json!([])),
            ],
        ),
        ("an empty log", vec![File(ONE, String::new()), Run(&["extract", ONE], 0, NOTHING, "No findings to extract"), Field(RUNS, "run-1", "lessons", json!([]))]),
        (
            "broken lines",
            vec![
                File(ONE, format!("{{\"run_id\":\nnonsense\n{}{{\"run_id\":\"run-1\",\"type\":\"review.ver", log("run-1", &[NULLS]))),
                Run(&["extract", ONE], 0, NOTHING, "[archeflow-memory] Skipped 3 malformed line(s) in .archeflow/events/run-1.jsonl\n"),
                Field(LESSONS, "m-001", "run_id", json!("run-1")),
            ],
        ),
        (
            "Windows line ends, a mark in front, no final line break",
            vec![
                File(ONE, format!("\u{feff}{}", log("run-1", &[NULLS]).replace('\n', "\r\n").trim_end())),
                File(LESSONS, format!("{}oops\r\n{{ \"id\" : \"m-009\", \"x\": 1.0 }}", lesson("m-002", "pattern", 1, "code").replace('\n', "\r\n"))),
                Run(&["extract", ONE], 0, NOTHING, "Added candidate lesson m-010"),
                Field(LESSONS, "m-010", "last_seen_run", json!("run-1")),
                Lines(LESSONS, 4),
                Run(&["forget", "m-010"], 0, NOTHING, ""),
                Bytes(LESSONS, format!("{}oops\r\n{{ \"id\" : \"m-009\", \"x\": 1.0 }}\n", lesson("m-002", "pattern", 1, "code").replace('\n', "\r\n"))),
            ],
        ),
        (
            "unknown fields survive, numbers that are none do not matter",
            vec![
                File(LESSONS, "{\"note\":{\"a\":1.50},\"id\":\"m-001\",\"description\":\"Missing null check\",\"frequency\":null,\"domain\":\"code\"}\n".into()),
                File(ONE, log("run-1", &[NULLS])),
                Run(&["extract", ONE], 0, NOTHING, "Updated lesson m-001"),
                Bytes(LESSONS, "{\"note\":{\"a\":1.50},\"id\":\"m-001\",\"description\":\"Missing null check\",\"frequency\":1,\"domain\":\"code\",\"ts\":\"2026-03-01T12:00:00Z\",\"last_seen_run\":\"run-1\",\"runs_since_last_seen\":0}\n".into()),
            ],
        ),
        (
            "several lines are one lesson",
            vec![
                File(ONE, log("run-1", &[("bug", "First line\nsecond line", "code")])),
                Run(&["extract", ONE], 0, NOTHING, "Added candidate lesson m-001: First line second line\n"),
                Lines(LESSONS, 1),
                Field(LESSONS, "m-001", "description", json!("First line\nsecond line")),
            ],
        ),
        (
            "nobody in particular",
            vec![
                File(ONE, "{\"run_id\":\"run-1\",\"type\":\"review.verdict\",\"data\":{\"findings\":[{\"severity\":\"bug\",\"description\":\"Some trouble\"}]}}".into()),
                Run(&["extract", ONE], 0, NOTHING, "1 new"),
                Field(LESSONS, "m-001", "source", json!("unknown")),
                Field(LESSONS, "m-001", "domain", json!("general")),
            ],
        ),
    ]);
}
