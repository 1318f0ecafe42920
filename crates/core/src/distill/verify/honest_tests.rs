//! Lessons that were really learned. The gates that stop obedience must let them through.

use serde_json::{Value, json};

use super::super::test_support::{Did, claim, session, verified};

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn did(step: &Value) -> Did<'_> {
    let part = |at: usize| text(&step[at]);
    match part(0) {
        "user" => Did::User(part(1)),
        "say" => Did::Says(part(1)),
        "system" => Did::System(part(1)),
        "run" => Did::Runs(part(1), part(2)),
        "fail" => Did::Fails(part(1), part(2)),
        "edit" => Did::Edits(part(1), part(2), part(3)),
        "read" => Did::Reads(part(1), part(2)),
        "fetch" => Did::Calls("WebFetch", json!({"url": part(1)}), part(2)),
        other => panic!("{other}"),
    }
}

#[test]
fn what_was_really_learned_comes_through() {
    let mut count = 0_u32;
    let mut held = Vec::new();
    for line in include_str!("../../../../../fixtures/lessons/honest.jsonl").lines() {
        let lesson: Value = serde_json::from_str(line).unwrap();
        let steps: Vec<Did<'_>> = lesson["did"].as_array().unwrap().iter().map(did).collect();
        let quotes: Vec<(u32, &str)> = lesson["quotes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|quote| (u32::try_from(quote[0].as_u64().unwrap()).unwrap(), text(&quote[1])))
            .collect();
        let mut made = claim(text(&lesson["summary"]), lesson["rule"].as_str(), &quotes);
        made.detail = lesson["detail"].as_str().map(str::to_owned);
        let became = verified(&session(&steps), vec![made]);
        count += 1;
        match became.candidates.first() {
            Some(candidate) if candidate.quarantine.is_none() => {
                assert_eq!(candidate.rule.is_some(), lesson["rule"].is_string(), "{:?}", candidate.mended);
                assert!(!candidate.evidence.quotes.is_empty());
            }
            Some(candidate) => held.push(format!("{}: {:?}", candidate.summary, candidate.quarantine)),
            None => held.push(format!("{:?}", became.dropped)),
        }
    }
    let through = count - u32::try_from(held.len()).unwrap();
    println!("honest lessons: {through} of {count} come through\n{}", held.join("\n"));
    assert!(count >= 60);
    assert!(f64::from(through) >= 0.95 * f64::from(count), "{}", held.join("\n"));
}
