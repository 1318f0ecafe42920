use serde_json::json;

use super::*;

fn reserve(id: &str, project: &str, prompt: u64, completion: u64, micro: u64) -> String {
    json!({
        "entry": "reserve", "id": id, "at": "2026-11-16T10:00:00Z", "project": project, "endpoint": "e", "model": "m",
        "promptTokens": prompt, "completionTokens": completion, "microUsd": micro,
    })
    .to_string()
}

fn charge(id: &str, prompt: u64, completion: u64, micro: u64) -> String {
    json!({ "entry": "settle", "id": id, "promptTokens": prompt, "completionTokens": completion, "microUsd": micro })
        .to_string()
}

fn day(lines: &[String]) -> LedgerDay {
    let mut day = LedgerDay::default();
    for line in lines {
        day.read_line(line.as_bytes());
    }
    day
}

/// Tokens and money of all and of the project `p`, and broken lines.
fn check(lines: &[String], total: (u128, u128), project: (u128, u128), broken: u64) {
    let day = day(lines);
    let p = day.project_total("p");
    assert_eq!((day.total.total_tokens(), day.total.micro_usd), total, "{lines:?}");
    assert_eq!((p.total_tokens(), p.micro_usd), project, "{lines:?}");
    assert_eq!(day.broken, broken, "{lines:?}");
}

#[test]
fn a_reservation_counts_until_it_is_settled() {
    let (a, b) = (reserve("a", "p", 100, 50, 9), reserve("b", "q", 10, 5, 1));
    check(std::slice::from_ref(&a), (150, 9), (150, 9), 0);
    check(&[a.clone(), b.clone()], (165, 10), (150, 9), 0);
    check(&[a.clone(), b.clone(), charge("a", 60, 20, 4)], (95, 5), (80, 4), 0);
    check(&[a, b, charge("a", 60, 20, 4), charge("b", 0, 0, 0)], (80, 4), (80, 4), 0);
}

#[test]
fn what_is_wrong_with_a_line_never_lowers_the_sums() {
    let a = reserve("a", "p", 100, 50, 9);
    let broken = [
        "{".to_owned(),
        "\0\0\0".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        json!({ "entry": "refund", "id": "a", "promptTokens": 1, "completionTokens": 1, "microUsd": 1 }).to_string(),
        charge("a", 0, 0, 0).replace("\"promptTokens\":0", "\"promptTokens\":-100"),
        charge("a", 0, 0, 0).replace("\"promptTokens\":0", "\"promptTokens\":1e400"),
        charge("a", 0, 0, 0).replace("\"promptTokens\"", "\"prompt\""),
        "[".repeat(100_000),
    ];
    for line in broken {
        check(&[a.clone(), line], (150, 9), (150, 9), 1);
    }
    for line in ["", "  ", "\r"] {
        check(&[a.clone(), line.to_owned()], (150, 9), (150, 9), 0);
    }
    // Settled twice, or without having been reserved: it was spent by somebody.
    check(&[a.clone(), charge("z", 7, 0, 1)], (157, 10), (157, 10), 0);
    check(&[a.clone(), charge("a", 7, 0, 1), charge("a", 7, 0, 1)], (14, 2), (14, 2), 0);
    // Reserved twice: one of them stands for ever.
    check(&[a.clone(), a.clone(), charge("a", 7, 0, 1)], (157, 10), (157, 10), 0);
    // Settled first.
    check(&[charge("a", 7, 0, 1), a], (157, 10), (157, 10), 0);
}

#[test]
fn lines_of_later_versions_may_say_more() {
    let later = reserve("a", "p", 100, 50, 9).replace("\"id\"", "\"mood\":\"good\",\"id\"");
    check(&[later], (150, 9), (150, 9), 0);
}

#[test]
fn a_model_that_claims_too_much_is_known() {
    let claim = |prompt: u64, completion: u64| {
        let mut line: serde_json::Value = serde_json::from_str(&charge("a", 100, 50, 9)).unwrap();
        line["claimed"] = json!({ "promptTokens": prompt, "completionTokens": completion });
        day(&[reserve("a", "p", 100, 50, 9), line.to_string()])
    };
    for (prompt, completion, greedy) in
        [(100, 50, false), (1, 1, false), (101, 0, true), (0, 51, true), (u64::MAX, u64::MAX, true)]
    {
        let day = claim(prompt, completion);
        assert_eq!(day.has_overcharged("e", "m"), greedy, "{prompt} {completion}");
        assert!(!day.has_overcharged("e", "another") && !day.has_overcharged("another", "m"));
        assert_eq!(day.total.total_tokens(), 150);
    }
}

#[test]
fn lines_are_written_as_the_format_says() {
    let amount = CallAmount { prompt_tokens: 100, completion_tokens: 50, micro_usd: 9 };
    let entry = SpendLedgerEntry::Reserve(ReservationEntry {
        id: "a".to_owned(),
        at: "2026-11-16T10:00:00Z".parse().unwrap(),
        project: "p".to_owned(),
        endpoint: "http://e".to_owned(),
        model: "m".to_owned(),
        amount,
    });
    let line = serde_json::to_string(&entry).unwrap();
    assert_eq!(
        line,
        r#"{"entry":"reserve","id":"a","at":"2026-11-16T10:00:00Z","project":"p","endpoint":"http://e","model":"m","promptTokens":100,"completionTokens":50,"microUsd":9}"#
    );
    assert_eq!(serde_json::from_str::<SpendLedgerEntry>(&line).unwrap(), entry);
    let claimed = Some(CallTokens { prompt: u64::MAX, completion: 7 });
    let entry = SpendLedgerEntry::Charge(ChargeEntry { id: "a".to_owned(), amount, claimed });
    let line = serde_json::to_string(&entry).unwrap();
    assert_eq!(
        line,
        r#"{"entry":"settle","id":"a","promptTokens":100,"completionTokens":50,"microUsd":9,"claimed":{"promptTokens":18446744073709551615,"completionTokens":7}}"#
    );
    assert_eq!(serde_json::from_str::<SpendLedgerEntry>(&line).unwrap(), entry);
}
