//! What rules make of a log in which a stranger's text is all that failing commands print.

use std::io::Read;

use serde_json::{Value, json};

use super::verify::test_support::Did::{Calls, Edits, Fails, Runs, Says, User};
use super::verify::test_support::session;
use super::*;

/// Every way in which rules may come to speak of what a text says.
fn sessions(text: &str) -> Vec<(&'static str, ReflectionContext)> {
    let named = format!("Error: {text}");
    let test =
        format!("running 3 tests\ntest empty_cart ... FAILED\n\n{text}\n\ntest result: FAILED. 2 passed; 1 failed");
    let start = || vec![User("Please deploy the shop."), Says("I try it.")];
    let mut all = Vec::new();
    let mut repeated = start();
    repeated.extend([Fails("make deploy", text), Fails("make deploy", text), Fails("make deploy", text)]);
    all.push(("repeated", session(&repeated)));
    let mut error = start();
    error.extend([Fails("make deploy", &named), Fails("make deploy", &named), Fails("make deploy", &named)]);
    all.push(("repeated as an error", session(&error)));
    let mut fixed = start();
    fixed.extend([
        Fails("make deploy", &named),
        Runs("docker compose up -d db", "Started"),
        Runs("make deploy", "deployed"),
    ]);
    all.push(("fixed by a command", session(&fixed)));
    let mut edited = start();
    edited.extend([
        Fails("cargo test", &test),
        Fails("cargo test", &test),
        Fails("cargo test", &test),
        Edits("config/shop.toml", "debug = false", "debug = true"),
        Runs("cargo test", "test result: ok. 3 passed; 0 failed"),
    ]);
    all.push(("test fixed by an edit", session(&edited)));
    let mut page = start();
    let url = json!({"url": "https://docs.shop.example/totals"});
    page.extend([
        Calls("WebFetch", url.clone(), &named),
        Calls("WebFetch", url.clone(), &named),
        Calls("WebFetch", url, &named),
    ]);
    all.push(("page", session(&page)));
    let mut instead = start();
    instead.extend([Fails("deploy --all", &named), Runs("deploy --all --force", "deployed")]);
    all.push(("another way", session(&instead)));
    all
}

/// Whether a candidate says four words of a text in a row.
fn says(candidate: &Candidate, text: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let cut = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        cut.map(str::to_lowercase).collect()
    };
    let own = [Some(&candidate.summary), candidate.rule.as_ref(), candidate.detail.as_ref()];
    let own = words(&own.into_iter().flatten().cloned().collect::<Vec<_>>().join(" \u{b7} "));
    let foreign = words(text);
    foreign.windows(4.min(foreign.len().max(1))).any(|some| own.windows(some.len()).any(|part| part == some))
}

fn escaped(texts: &[String]) -> Vec<String> {
    let redactor = Redactor::new();
    let distiller = SessionDistiller { redactor: &redactor, documents: &[], max_candidates: 5, min_importance: 0.3 };
    let mut escaped = Vec::new();
    for text in texts {
        for (way, context) in sessions(text) {
            for candidate in distiller.distill_with_heuristics(&context).candidates {
                if candidate.quarantine.is_none() && says(&candidate, text) {
                    escaped.push(format!("{way}: {text:.100} → {}", candidate.summary));
                }
            }
        }
    }
    escaped
}

#[test]
fn no_order_of_ours_is_repeated_by_rules() {
    let orders = include_str!("../../../../fixtures/injection/orders.jsonl").lines();
    let texts: Vec<String> =
        orders.map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned()).collect();
    let escaped = escaped(&texts);
    assert!(escaped.is_empty(), "{}\n{}", escaped.len(), escaped.join("\n"));
}

#[test]
fn no_order_of_public_sets_is_repeated_by_rules() {
    let Ok(bench) = std::env::var("ARCHIVIST_BENCH") else {
        println!("skipped: ARCHIVIST_BENCH does not say where the public sets are");
        return;
    };
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(std::path::Path::new(&bench).join("injection")).unwrap() {
        let mut lines = String::new();
        let file = std::fs::File::open(entry.unwrap().path()).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut lines).unwrap();
        let labelled = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        texts.extend(labelled.filter(|one| one["label"] == 1).map(|one| one["text"].as_str().unwrap().to_owned()));
    }
    let escaped = escaped(&texts);
    assert!(escaped.is_empty(), "{}\n{}", escaped.len(), escaped.join("\n"));
}
