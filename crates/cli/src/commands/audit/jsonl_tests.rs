use super::*;

fn read_lines(lines: &[&str]) -> StoreContents {
    read_jsonl_entries("some.jsonl", &lines.join("\n"))
}

#[test]
fn records_of_several_programs_are_read() {
    let read = read_lines(&[
        r#"{"id":"mem-epi-1","status":"active","description":"Task: x - Outcome: failure","content":{"type":"episodic"},"accessCount":0,"createdAt":"2025-12-06T22:49:10.321Z"}"#,
        r#"{"id":"l-1","ts":"2026-01-01T00:00:00Z","description":"Check the lock file","frequency":3}"#,
        r#"{"text":"Use pnpm","used":2,"ts":1767225600}"#,
        r#"{"id":7,"title":"Ports","content":"8080 is taken","created_at":1767225600000}"#,
        r#"{"id":"m","alias":"m-001","summary":"Use pnpm","rule":"IF x THEN y","detail":"Because.","evidence":{},"usageCount":0,"state":"archived"}"#,
    ]);
    let at = |text: &str| text.parse().ok();
    let entry = |name: &str, text: &str, at, used, is_retired| AuditEntry {
        name: name.to_owned(),
        text: text.to_owned(),
        at,
        used,
        is_retired,
    };
    assert_eq!(
        read.entries,
        [
            entry("mem-epi-1", "Task: x - Outcome: failure", at("2025-12-06T22:49:10.321Z"), Some(0), false),
            entry("l-1", "Check the lock file", at("2026-01-01T00:00:00Z"), None, false),
            entry("some.jsonl:3", "Use pnpm", at("2026-01-01T00:00:00Z"), Some(2), false),
            entry("7", "Ports\n8080 is taken", at("2026-01-01T00:00:00Z"), None, false),
            entry("m-001", "Use pnpm\nIF x THEN y\nBecause.", None, None, true),
        ]
    );
}

#[test]
fn strange_lines_are_counted() {
    let read = read_lines(&["{", "[]", "3", "{}", r#"{"text":"  "}"#, r#"{"text":7}"#, "", r#"{"text":"Use pnpm"}"#]);
    assert_eq!((read.skipped, read.entries.len()), (6, 1));
}

#[test]
fn of_several_versions_the_last_holds() {
    let read = read_lines(&[
        r#"{"id":"a","text":"one","createdAt":"2026-01-01T00:00:00Z"}"#,
        r#"{"id":"b","text":"two"}"#,
        r#"{"id":"a","text":"three","createdAt":"2026-02-01T00:00:00Z","status":"archived"}"#,
    ]);
    let texts: Vec<(&str, bool)> = read.entries.iter().map(|entry| (entry.text.as_str(), entry.is_retired)).collect();
    assert_eq!(texts, [("three", true), ("two", false)]);
    assert_eq!(read.entries.first().unwrap().at, "2026-01-01T00:00:00Z".parse().ok());
}

#[test]
fn who_is_replaced_is_retired() {
    for line in [
        r#"{"text":"x","supersededBy":"b"}"#,
        r#"{"text":"x","archived":true}"#,
        r#"{"text":"x","status":"Deprecated"}"#,
    ] {
        assert!(read_lines(&[line]).entries.first().unwrap().is_retired, "{line}");
    }
    for line in [r#"{"text":"x","supersededBy":null}"#, r#"{"text":"x","archived":false,"status":"active"}"#] {
        assert!(!read_lines(&[line]).entries.first().unwrap().is_retired, "{line}");
    }
}
