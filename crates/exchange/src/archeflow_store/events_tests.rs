use proptest::prelude::*;

use super::super::finding::FindingSeverity;
use super::*;

/// Gives its bytes a few at a time.
struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        let (now, later) = self.0.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

fn verdict(findings: &str) -> String {
    format!(r#"{{"run_id":"r-1","type":"review.verdict","data":{{"archetype":"guardian","findings":{findings}}}}}"#)
}

fn read(log: &str) -> RunFindings {
    parse_run_log(log.as_bytes()).unwrap()
}

#[test]
fn findings_are_read_once_each() {
    let one = r#"[{"severity":"bug","description":"Null check missing","category":"code"}]"#;
    let run = read(&[verdict(one), verdict(one)].join("\n"));
    assert_eq!(run.id.as_deref(), Some("r-1"));
    assert!(run.is_reviewed);
    let [finding] = run.findings.as_slice() else { panic!("{run:?}") };
    assert_eq!((finding.source.as_str(), finding.severity), ("guardian", FindingSeverity::Bug));
}

#[test]
fn the_first_event_that_says_so_names_the_run() {
    for (log, id) in [
        ("", None),
        ("{}", None),
        ("{}\n{\"run_id\":\"a\"}\n{\"run_id\":\"b\"}", Some("a")),
        ("broken\n{\"run_id\":null}\n{\"run_id\":\"b\"}", Some("b")),
        ("{\"run_id\":7}", Some("7")),
        ("\u{feff}{\"run_id\":\"a\"}\r\n", Some("a")),
    ] {
        assert_eq!(read(log).id.as_deref(), id, "{log}");
    }
}

#[test]
fn broken_lines_are_counted_and_do_no_harm() {
    let one = verdict(r#"[{"severity":"bug","description":"x1"}]"#);
    let torn = one.get(..40).unwrap();
    let log =
        format!("{{\"run_id\":\"r-1\"}}\n{torn}\n\nplain words\n[1]\n{{\"review.verdict\" 7}}\n{one}\r\n{{\"a\":");
    let run = read(&log);
    assert_eq!((run.findings.len(), run.malformed), (1, 5));
}

#[test]
fn odd_shapes_hold_no_findings() {
    for findings in ["null", "7", "\"text\"", "[]", "[null,7,{}]", "{}"] {
        let run = read(&verdict(findings));
        assert!(run.findings.is_empty() && run.is_reviewed && run.malformed == 0, "{findings}: {run:?}");
    }
    assert_eq!(read(&verdict(r#"{"a":{"description":"In a map"}}"#)).findings.len(), 1);
    let other = r#"{"type":"note","data":{"text":"review.verdict","findings":[{"description":"x"}]}}"#;
    assert_eq!(read(other), RunFindings::default());
    assert!(read(r#"{"type":"review.verdict"}"#).is_reviewed);
    let nobody = r#"{"type":"review.verdict","data":{"findings":["Words"]}}"#;
    assert_eq!(read(nobody).findings[0].source, "unknown");
}

#[test]
fn bytes_that_are_no_text_cost_no_finding() {
    let mut log = verdict(r#"[{"severity":"bug","description":"Broken # sign"}]"#).into_bytes();
    let at = log.iter().position(|byte| *byte == b'#').unwrap();
    log[at] = 0xff;
    let run = parse_run_log(log.as_slice()).unwrap();
    assert_eq!((run.findings[0].description.as_str(), run.malformed), ("Broken \u{fffd} sign", 0));
}

#[test]
fn fixes_are_read() {
    let log = r#"{"type":"fix.applied","data":{"finding":"Null check missing"}}
{"type":"fix.applied","data":{"finding":{"description":"Told in full"}}}
{"type":"fix.applied","data":{"finding":null}}
{"type":"fix.applied","data":{}}
{"type":"fix.applied"}
{"type":"other","data":{"finding":"fix.applied"}}
{"type":"fix.applied","data":{"finding":"#;
    assert_eq!(parse_fixes(log.as_bytes()).unwrap(), ["Null check missing", "Told in full"]);
}

#[test]
fn a_line_may_be_longer_than_what_is_read_at_once() {
    let long = "word ".repeat(CHUNK);
    let log = format!(
        "{}\n{}",
        verdict(&format!("[{{\"severity\":\"bug\",\"description\":\"{long}\"}}]")),
        verdict("[\"x\"]")
    );
    assert_eq!(read(&log).findings.len(), 2);
}

proptest! {
    #[test]
    fn it_does_not_matter_how_a_log_arrives(
        lines in prop::collection::vec(
            prop_oneof![
                Just(verdict(r#"[{"severity":"bug","description":"one"}]"#)),
                Just(verdict(r#"[{"severity":"info","description":"two"}]"#)),
                Just("{\"run_id\":\"r-2\",\"type\":\"x\"}".to_owned()),
                Just(String::new()),
                "[a-z{}]{0,12}",
            ],
            0..12,
        ),
        end in prop_oneof![Just("\n"), Just("\r\n")],
        step in 1..80_usize,
    ) {
        let log = lines.join(end);
        prop_assert_eq!(parse_run_log(Drip(log.as_bytes(), step)).unwrap(), read(&log));
        let whole: Vec<RunFindings> = lines.iter().map(|line| read(line)).collect();
        prop_assert_eq!(read(&log).is_reviewed, whole.iter().any(|run| run.is_reviewed));
    }
}

#[test]
fn a_long_log_says_the_same_as_its_lines_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let found = |number: usize| {
        format!(
            "{{\"run_id\":\"long\",\"type\":\"review.verdict\",\"data\":{{\"archetype\":\"sage\",\"findings\":[\
             {{\"severity\":\"bug\",\"description\":\"thing {number}\"}},\
             {{\"severity\":\"bug\",\"description\":\"the same thing\"}}]}}}}"
        )
    };
    let quiet =
        format!("{{\"run_id\":\"long\",\"type\":\"agent.complete\",\"data\":{{\"summary\":\"{}\"}}}}", "x".repeat(300));
    for shift in 0..40 {
        let mut lines: Vec<String> = (0..8_000).map(|_| quiet.clone()).collect();
        for (number, place) in [3, 3_900, 4_000, 4_100, 7_999].into_iter().enumerate() {
            lines[place] = found(number);
        }
        lines[5_000] = "cut off".to_owned();
        lines[0].push_str(&" ".repeat(shift * 37));
        std::fs::write(&path, lines.join("\n")).unwrap();
        let whole = parse_run_log(File::open(&path).unwrap()).unwrap();
        assert_eq!(read_run_findings(&path).unwrap(), whole, "{shift}");
        assert_eq!((whole.findings.len(), whole.malformed), (6, 1));
    }
}

#[test]
fn a_long_log_may_name_its_run_late_or_be_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let nameless = format!("{{\"type\":\"agent.complete\",\"data\":\"{}\"}}", "x".repeat(300));
    let one = verdict(r#"[{"severity":"bug","description":"one"}]"#);
    let late = [vec![nameless.as_str(); 9_000], vec!["{\"run_id\":\"early\"}", &one], vec![&nameless; 3_000]].concat();
    let long = verdict(&format!("[{{\"severity\":\"bug\",\"description\":\"{}\"}}]", "word ".repeat(700_000)));
    let none = nameless.repeat(9_000);
    for (log, name) in [(late.join("\n"), Some("early")), (long, Some("r-1")), (none, None)] {
        std::fs::write(&path, &log).unwrap();
        let run = read_run_findings(&path).unwrap();
        assert_eq!(run, read(&log));
        assert_eq!(run.id.as_deref(), name);
    }
}

#[test]
fn a_line_is_no_worse_for_beginning_a_piece() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    // Nobody looks into lines like these once the run has a name, wherever they stand.
    let log = format!("{{\"run_id\":\"r-1\"}}\n{}", format!("{{{}}}\n", "no event ".repeat(50)).repeat(9_000));
    std::fs::write(&path, &log).unwrap();
    let run = read_run_findings(&path).unwrap();
    assert_eq!((run.malformed, &run), (0, &read(&log)));
}
