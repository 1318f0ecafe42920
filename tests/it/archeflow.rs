//! `archivist archeflow`, command by command, as ArcheFlow's own tests ask its script.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{NOW, Output, World};

pub(crate) const LESSONS: &str = ".archeflow/memory/lessons.jsonl";
pub(crate) const ARCHIVE: &str = ".archeflow/memory/archive.jsonl";
pub(crate) const AUDIT: &str = ".archeflow/memory/audit.jsonl";
pub(crate) const RUNS: &str = ".archeflow/memory/runs.jsonl";
pub(crate) const INDEX: &str = ".archeflow/events/index.jsonl";

/// One thing that a case does or looks at.
pub(crate) enum Step {
    /// A file gets this content.
    File(&'static str, String),
    /// A command ends with this code, says all of this on stdout and some of that on stderr.
    Run(&'static [&'static str], i32, Out, &'static str),
    /// The record of a file that has this id has this value.
    Field(&'static str, &'static str, &'static str, Value),
    /// A file has so many lines.
    Lines(&'static str, usize),
    /// A file has exactly these bytes.
    Bytes(&'static str, String),
    /// There is no such file.
    Absent(&'static str),
}

/// What stands on stdout.
pub(crate) enum Out {
    Is(&'static str),
    Has(&'static [&'static str]),
}

pub(crate) type Case = (&'static str, Vec<Step>);

pub(crate) const NOTHING: Out = Out::Is("");

/// Runs a command of ours as if it were the script.
pub(crate) fn flow(world: &World, words: &[&str]) -> Output {
    world.run(&[&["--now", NOW, "--seed", "7", "archeflow"], words].concat())
}

pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub(crate) fn records(world: &World, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(world.project().join(file)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn record(world: &World, file: &str, id: &str) -> Value {
    let names = ["id", "run_id", "lesson_id"];
    let found = records(world, file).into_iter().rfind(|record| names.iter().any(|name| record[*name] == id));
    found.unwrap_or_else(|| panic!("no {id} in {file}"))
}

pub(crate) fn check(cases: Vec<Case>) {
    for (name, steps) in cases {
        let world = World::new();
        for (number, step) in (1..).zip(&steps) {
            let place = format!("{name}, step {number}");
            let path = |file: &str| world.project().join(file);
            match step {
                Step::File(file, text) => write(&path(file), text),
                Step::Run(words, status, stdout, stderr) => {
                    let output = flow(&world, words);
                    assert_eq!(output.status, *status, "{place}: {words:?}\n{output}");
                    match stdout {
                        Out::Is(text) => assert_eq!(output.stdout, *text, "{place}: {words:?}\n{output}"),
                        Out::Has(parts) => {
                            let missing = parts.iter().find(|part| !output.stdout.contains(**part));
                            assert_eq!(missing, None, "{place}: {words:?}\n{output}");
                        }
                    }
                    assert!(output.stderr.contains(stderr), "{place}: {words:?} lacks {stderr:?}\n{output}");
                }
                Step::Field(file, id, field, value) => {
                    assert_eq!(record(&world, file, id)[*field], *value, "{place}: {field} of {id}");
                }
                Step::Lines(file, count) => {
                    let text = std::fs::read_to_string(path(file)).unwrap_or_default();
                    assert_eq!(text.lines().count(), *count, "{place}: lines of {file}:\n{text}");
                }
                Step::Bytes(file, text) => {
                    assert_eq!(std::fs::read_to_string(path(file)).unwrap(), *text, "{place}: {file}");
                }
                Step::Absent(file) => assert!(!path(file).exists(), "{place}: {file} exists"),
            }
        }
    }
}

/// A lesson's line with these numbers; its text is about its id.
pub(crate) fn lesson(id: &str, kind: &str, frequency: u64, domain: &str) -> String {
    let value = json!({
        "id": id, "ts": "2026-01-01T00:00:00Z", "run_id": "old", "type": kind, "source": "guardian",
        "description": format!("Text about {id}"), "frequency": frequency, "severity": "bug", "domain": domain,
        "tags": [], "archetype": null, "last_seen_run": "old", "runs_since_last_seen": 0
    });
    format!("{value}\n")
}

fn lessons(kind: &str, frequency: u64, count: usize) -> String {
    (1..=count).map(|number| lesson(&format!("m-{number:03}"), kind, frequency, "code")).collect()
}

use Step::{Absent, Bytes, Field, File, Lines, Run};

#[test]
fn usage() {
    check(vec![
        (
            "no command",
            vec![Run(&[], 1, NOTHING, "Usage: archivist archeflow <command> [args...]\n\nCommands:\n  extract")],
        ),
        ("unknown command", vec![Run(&["nonexistent"], 1, NOTHING, "Unknown command: nonexistent\n")]),
        ("unknown flag", vec![Run(&["--nonsense"], 1, NOTHING, "Unknown command: --nonsense\n")]),
        ("help", vec![Run(&["--help"], 0, Out::Has(&["extract <events.jsonl>", "regression-check"]), "")]),
        ("short help", vec![Run(&["-h"], 0, Out::Has(&["audit-check <run_id>"]), "")]),
        ("help of a command", vec![Run(&["extract", "--help"], 0, Out::Has(&["Usage: archivist archeflow"]), "")]),
        ("help of add", vec![Run(&["add", "--help"], 0, Out::Has(&["Usage:"]), ""), Absent(LESSONS)]),
        (
            "extract without a file",
            vec![Run(&["extract"], 1, NOTHING, "Usage: archivist archeflow extract <events.jsonl>\n")],
        ),
        ("forget without an id", vec![Run(&["forget"], 1, NOTHING, "Usage: archivist archeflow forget <id>\n")]),
        ("forget nothing", vec![Run(&["forget", ""], 1, NOTHING, "Usage: ")]),
        (
            "audit-check without a run",
            vec![Run(&["audit-check"], 1, NOTHING, "Usage: archivist archeflow audit-check <run_id>\n")],
        ),
        (
            "regression-check without a file",
            vec![Run(
                &["regression-check"],
                1,
                NOTHING,
                "Usage: archivist archeflow regression-check <events.jsonl>\n",
            )],
        ),
        (
            "inject with half a flag",
            vec![Run(&["inject", "code", "", "--audit"], 1, NOTHING, "Usage: archivist archeflow inject")],
        ),
        ("decay with half a flag", vec![Run(&["decay", "--run"], 1, NOTHING, "Usage: archivist archeflow decay")]),
    ]);
}

#[test]
fn add() {
    check(vec![
        (
            "a pattern",
            vec![
                Run(&["add", "pattern", "Guardian misses SQL injection"], 0, NOTHING, "[archeflow-memory] Added lesson m-001 (pattern): Guardian misses SQL injection\n"),
                Bytes(LESSONS, concat!(
                    r#"{"id":"m-001","ts":"2026-03-01T12:00:00Z","run_id":"manual","type":"pattern","source":"user_feedback","#,
                    r#""description":"Guardian misses SQL injection","frequency":1,"severity":"info","domain":"general","#,
                    r#""tags":["guardian","misses","injection"],"archetype":null,"last_seen_run":"","runs_since_last_seen":0}"#,
                    "\n").to_owned()),
                Absent(RUNS),
            ],
        ),
        (
            "ids follow each other",
            vec![
                Run(&["add", "pattern", "first lesson"], 0, NOTHING, "m-001"),
                Run(&["add", "anti_pattern", "second lesson"], 0, NOTHING, "m-002 (anti_pattern)"),
                Run(&["add", "archetype_hint", "third lesson"], 0, NOTHING, "m-003"),
                Lines(LESSONS, 3),
            ],
        ),
        (
            "a text alone is a preference",
            vec![
                Run(&["add", "User prefers single bundled PR"], 0, NOTHING, "Added lesson m-001 (preference): User prefers single bundled PR\n"),
                Field(LESSONS, "m-001", "type", json!("preference")),
            ],
        ),
        ("no text", vec![Run(&["add", "pattern"], 1, NOTHING, "Usage: archivist archeflow add <type> <description>\nTypes: pattern, preference, archetype_hint, anti_pattern\n"), Absent(LESSONS)]),
        ("no words at all", vec![Run(&["add"], 1, NOTHING, "Usage: "), Absent(LESSONS)]),
        ("an empty text", vec![Run(&["add", "pattern", ""], 1, NOTHING, "Types: "), Absent(LESSONS)]),
        ("a blank text", vec![Run(&["add", "pattern", " \n "], 1, NOTHING, "Usage: "), Absent(LESSONS)]),
        ("no such type", vec![Run(&["add", "banana", "Peel it"], 1, NOTHING, "Types: pattern"), Absent(LESSONS)]),
        (
            "more words than a text",
            vec![
                Run(&["add", "pattern", "quoted", "not", "these"], 0, NOTHING, "Ignored 2 more word(s)"),
                Field(LESSONS, "m-001", "description", json!("quoted")),
            ],
        ),
        (
            "several lines stay as they are",
            vec![
                Run(&["add", "pattern", "one\ntwo \"three\" \\ four"], 0, NOTHING, "(pattern): one two \"three\" \\ four\n"),
                Field(LESSONS, "m-001", "description", json!("one\ntwo \"three\" \\ four")),
                Lines(LESSONS, 1),
            ],
        ),
        (
            "a text that looks like a flag",
            vec![
                Run(&["add", "pattern", "--now"], 0, NOTHING, "Added lesson m-001"),
                Run(&["add", "pattern", "-v means verbose"], 0, NOTHING, "Added lesson m-002"),
                Field(LESSONS, "m-001", "description", json!("--now")),
            ],
        ),
        (
            "umlauts are letters",
            vec![
                Run(&["add", "pattern", "Über große Puffer: prüfen, ÄNDERN"], 0, NOTHING, ""),
                Field(LESSONS, "m-001", "tags", json!(["über", "große", "puffer", "prüfen", "ändern"])),
            ],
        ),
        ("short words are no tags", vec![Run(&["add", "pattern", "is it ok"], 0, NOTHING, ""), Field(LESSONS, "m-001", "tags", json!([]))]),
        (
            "global flags behind the text",
            vec![
                Run(&["add", "pattern", "text", "--now", "2026-05-01T00:00:00Z"], 0, NOTHING, ""),
                Field(LESSONS, "m-001", "ts", json!("2026-05-01T00:00:00Z")),
                Run(&["add", "only text", "--now", "2026-05-02T00:00:00Z"], 0, NOTHING, "(preference)"),
                Field(LESSONS, "m-002", "ts", json!("2026-05-02T00:00:00Z")),
            ],
        ),
        (
            "no last line is lost",
            vec![
                File(LESSONS, lesson("m-004", "pattern", 1, "code").trim_end().to_owned()),
                Run(&["add", "pattern", "next"], 0, NOTHING, "m-005"),
                Lines(LESSONS, 2),
                Field(LESSONS, "m-004", "frequency", json!(1)),
            ],
        ),
        (
            "foreign ids do not count",
            vec![
                File(LESSONS, "{\"id\":\"m-1+a[$(touch pwned)]\"}\n{\"id\":\"x-50\"}\n{\"id\":7}\n{\"id\":\"m-12345678901\"}\n".into()),
                Run(&["add", "pattern", "next"], 0, NOTHING, "Added lesson m-001"),
                Absent("pwned"),
            ],
        ),
        (
            "an id is never used again",
            vec![
                Run(&["add", "pattern", "first"], 0, NOTHING, "m-001"),
                Run(&["forget", "m-001"], 0, NOTHING, ""),
                Run(&["add", "pattern", "second"], 0, NOTHING, "m-002"),
                File(RUNS, "{\"run_id\":\"r\",\"lessons\":[\"m-041\"]}\n".into()),
                Run(&["add", "pattern", "third"], 0, NOTHING, "m-042"),
            ],
        ),
    ]);
}

#[test]
fn list() {
    check(vec![
        ("nothing yet", vec![Run(&["list"], 0, NOTHING, "No lessons stored yet.\n"), Absent(".archeflow")]),
        (
            "a table",
            vec![
                File(LESSONS, lesson("m-001", "archetype_hint", 3, "writing")),
                Run(
                    &["list"],
                    0,
                    Out::Is(concat!(
                        "ID       Freq  Type             Domain   Description\n",
                        "----     ----  ----             ------   -----------\n",
                        "m-001    3     archetype_hint   writing  Text about m-001\n"
                    )),
                    "",
                ),
            ],
        ),
        (
            "an empty file",
            vec![
                File(LESSONS, String::new()),
                Run(
                    &["list"],
                    0,
                    Out::Is(
                        "ID       Freq  Type             Domain   Description\n----     ----  ----             ------   -----------\n",
                    ),
                    "",
                ),
            ],
        ),
        (
            "lines that are no lessons",
            vec![
                File(LESSONS, format!("oops\n\n[1]\n{}", lesson("m-002", "pattern", 1, "code"))),
                Run(
                    &["list"],
                    0,
                    Out::Has(&["m-002    1     pattern          code     Text"]),
                    "Left 2 line(s) alone that are no lessons",
                ),
            ],
        ),
        (
            "no final line break, Windows line ends, a mark in front",
            vec![
                File(LESSONS, format!("\u{feff}{}", lessons("pattern", 2, 2).replace('\n', "\r\n").trim_end())),
                Run(
                    &["list"],
                    0,
                    Out::Has(&["m-001    2     pattern          code     Text about m-001\n", "m-002    2 "]),
                    "",
                ),
            ],
        ),
        (
            "odd numbers",
            vec![
                File(LESSONS, "{\"id\":\"m-001\",\"frequency\":null,\"description\":\"a\\nb\"}\n".into()),
                Run(&["list"], 0, Out::Has(&["m-001    0", "a\\nb\n"]), ""),
            ],
        ),
    ]);
}

#[test]
fn forget() {
    let two = || File(LESSONS, lessons("pattern", 4, 2));
    check(vec![
        ("no file", vec![Run(&["forget", "m-001"], 1, NOTHING, "No lessons file found.\n")]),
        (
            "no such lesson",
            vec![
                two(),
                Run(&["forget", "m-999"], 1, NOTHING, "Error: lesson m-999 not found.\n"),
                Lines(LESSONS, 2),
                Absent(ARCHIVE),
            ],
        ),
        (
            "the first line",
            vec![
                two(),
                Run(&["forget", "m-001"], 0, NOTHING, "[archeflow-memory] Forgot lesson m-001 (moved to archive)\n"),
                Bytes(ARCHIVE, lesson("m-001", "pattern", 4, "code")),
                Bytes(LESSONS, lesson("m-002", "pattern", 4, "code")),
            ],
        ),
        (
            "the last line",
            vec![
                two(),
                Run(&["forget", "m-002"], 0, NOTHING, "Forgot"),
                Bytes(LESSONS, lesson("m-001", "pattern", 4, "code")),
            ],
        ),
        (
            "the only line",
            vec![
                File(LESSONS, lessons("pattern", 1, 1)),
                Run(&["forget", "m-001"], 0, NOTHING, ""),
                Bytes(LESSONS, String::new()),
                Lines(ARCHIVE, 1),
            ],
        ),
        (
            "without a final line break, among strangers",
            vec![
                File(
                    LESSONS,
                    format!("oops\n{{\"id\" : \"m-003\"}}\n{}", lesson("m-004", "pattern", 1, "code").trim_end()),
                ),
                Run(&["forget", "m-004"], 0, NOTHING, "Forgot lesson m-004"),
                Bytes(LESSONS, "oops\n{\"id\" : \"m-003\"}\n".into()),
                Bytes(ARCHIVE, lesson("m-004", "pattern", 1, "code")),
            ],
        ),
        (
            "what a writer that was cut off archived is not archived twice",
            vec![
                File(LESSONS, lessons("pattern", 1, 1)),
                File(ARCHIVE, lessons("pattern", 1, 1)),
                Run(&["forget", "m-001"], 0, NOTHING, ""),
                Lines(ARCHIVE, 1),
            ],
        ),
        (
            "an archive without a final line break",
            vec![
                two(),
                File(ARCHIVE, "{\"id\":\"m-000\"}".into()),
                Run(&["forget", "m-001"], 0, NOTHING, ""),
                Lines(ARCHIVE, 2),
                Field(ARCHIVE, "m-000", "id", json!("m-000")),
            ],
        ),
        (
            "not twice",
            vec![two(), Run(&["forget", "m-001"], 0, NOTHING, ""), Run(&["forget", "m-001"], 1, NOTHING, "not found")],
        ),
    ]);
}

#[test]
fn inject() {
    let with = |lines: String| File(LESSONS, lines);
    check(vec![
        ("no file", vec![Run(&["inject", "code", "guardian"], 0, NOTHING, ""), Absent(".archeflow")]),
        ("an empty file", vec![with(String::new()), Run(&["inject"], 0, NOTHING, "")]),
        ("seen once", vec![Run(&["add", "pattern", "Low"], 0, NOTHING, ""), Run(&["inject", "", ""], 0, NOTHING, "")]),
        ("seen twice", vec![with(lessons("pattern", 2, 1)), Run(&["inject", "", ""], 0, Out::Is("## Known Issues (from past runs)\n- Text about m-001 [seen 2x, guardian]\n"), "")]),
        ("a preference", vec![Run(&["add", "preference", "User prefers explicit errors"], 0, NOTHING, ""), Run(&["inject", "writing", "sage"], 0, Out::Is("## Known Issues (from past runs)\n- User prefers explicit errors [seen 1x, user_feedback]\n"), "")]),
        ("another domain", vec![with(lessons("pattern", 4, 1)), Run(&["inject", "writing"], 0, NOTHING, "")]),
        ("its own domain", vec![with(lessons("pattern", 2, 1)), Run(&["inject", "code", ""], 0, Out::Has(&["m-001"]), "")]),
        ("the general domain", vec![with(lesson("m-001", "pattern", 2, "general")), Run(&["inject", "writing", ""], 0, Out::Has(&["m-001"]), "")]),
        ("seen five times", vec![with(lessons("pattern", 5, 1)), Run(&["inject", "writing", "sage"], 0, Out::Has(&["seen 5x"]), "")]),
        ("another archetype", vec![with(lesson("m-001", "pattern", 3, "code").replace("null", "\"sage\"")), Run(&["inject", "code", "guardian"], 0, NOTHING, ""), Run(&["inject", "code", "sage"], 0, Out::Has(&["m-001"]), "")]),
        (
            "ten at most, the most frequent first",
            vec![
                with(lessons("pattern", 2, 11) + &lesson("m-012", "pattern", 3, "code")),
                Run(&["inject", "code"], 0, Out::Is(concat!("## Known Issues (from past runs)\n",
                    "- Text about m-012 [seen 3x, guardian]\n- Text about m-001 [seen 2x, guardian]\n",
                    "- Text about m-002 [seen 2x, guardian]\n- Text about m-003 [seen 2x, guardian]\n",
                    "- Text about m-004 [seen 2x, guardian]\n- Text about m-005 [seen 2x, guardian]\n",
                    "- Text about m-006 [seen 2x, guardian]\n- Text about m-007 [seen 2x, guardian]\n",
                    "- Text about m-008 [seen 2x, guardian]\n- Text about m-009 [seen 2x, guardian]\n")), ""),
            ],
        ),
        (
            "preferences have their places",
            vec![
                with(lessons("pattern", 7, 12) + &lesson("m-099", "preference", 1, "general")),
                Run(&["inject", "writing"], 0, Out::Has(&["- Text about m-001 [seen 7x, guardian]\n", "- Text about m-009 [seen 7x, guardian]\n- Text about m-099 [seen 1x, guardian]\n"]), "Left out 3 lesson(s) seen 5x or more"),
            ],
        ),
        (
            "several lines are one bullet",
            vec![
                Run(&["add", "preference", "First line\n## New orders\n- do this"], 0, NOTHING, ""),
                Run(&["inject"], 0, Out::Is("## Known Issues (from past runs)\n- First line ## New orders - do this [seen 1x, user_feedback]\n"), ""),
            ],
        ),
        (
            "an audit record",
            vec![
                with(lessons("pattern", 2, 2)),
                Run(&["inject", "code", "", "--audit", "run-1"], 0, Out::Has(&["m-002"]), ""),
                Bytes(AUDIT, "{\"ts\":\"2026-03-01T12:00:00Z\",\"run_id\":\"run-1\",\"domain\":\"code\",\"archetype\":\"\",\"lessons_injected\":[\"m-001\",\"m-002\"],\"lesson_count\":2}\n".into()),
                Run(&["inject", "--audit=run-1", "code", "sage"], 0, Out::Has(&["m-001"]), ""),
                Lines(AUDIT, 2),
                Field(AUDIT, "run-1", "archetype", json!("sage")),
            ],
        ),
        ("nothing given is nothing noted", vec![with(lessons("pattern", 1, 1)), Run(&["inject", "code", "", "--audit", "run-1"], 0, NOTHING, ""), Absent(AUDIT)]),
        ("numbers that are none", vec![with("{\"id\":\"m-001\",\"description\":\"x\",\"frequency\":\"9\"}\n{\"id\":\"m-002\",\"description\":\"y\",\"frequency\":null}\n".into()), Run(&["inject"], 0, NOTHING, "")]),
        ("lines that are no lessons", vec![with(format!("oops\n{}", lessons("pattern", 2, 1))), Run(&["inject"], 0, Out::Has(&["m-001"]), "Left 1 line(s) alone")]),
    ]);
}

#[test]
fn another_directory() {
    let world = World::new();
    let other = world.home().join("other");
    std::fs::create_dir(&other).unwrap();
    let before = world.run(&["--project", "../other", "--now", NOW, "--seed", "7", "archeflow", "add", "Before"]);
    let behind = flow(&world, &["add", "Behind", "--project", "../other"]);
    assert_eq!((before.status, behind.status), (0, 0), "{before}{behind}");
    assert_eq!(std::fs::read_to_string(other.join(LESSONS)).unwrap().lines().count(), 2);
    assert!(!world.project().join(".archeflow").exists());
    let missing = flow(&world, &["list", "--project", "nowhere"]);
    assert_eq!(missing.status, 1, "{missing}");
    let quiet = world.run(&["-q", "--now", NOW, "--seed", "7", "archeflow", "add", "Quietly"]);
    assert_eq!((quiet.status, quiet.stderr.as_str()), (0, ""));
}
