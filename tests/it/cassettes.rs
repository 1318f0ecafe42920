//! A small real model, played back: what it said about the sessions in `fixtures/`, and what became of it.
//!
//! `scripts/record-cassettes` records anew, against any endpoint.

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{World, text};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The sessions that were recorded, with what is made of them today.
fn replayed() -> Vec<(String, Value)> {
    let folder = fixtures().join("cassettes");
    let variables = [
        ("ARCHIVIST__MODEL__NAME", "qwen"),
        ("ARCHIVIST__MODEL__FORM", "json_schema"),
        ("ARCHIVIST__MODEL__CASSETTE", "replay"),
        ("ARCHIVIST__MODEL__CASSETTE_DIR", text(&folder)),
        ("ARCHIVIST__MODEL__MAX_OUTPUT_TOKENS", "1000"),
        ("ARCHIVIST__DISTILL__DIGEST_TOKENS", "1200"),
    ];
    let listed = std::fs::read_to_string(folder.join("sessions.txt")).unwrap();
    let replay = |log: &str| {
        let path = fixtures().join(log);
        let output = World::new().run_with(&["inspect", text(&path), "--lessons", "--json"], &variables, "");
        assert_eq!(output.status, 0, "{output}");
        (log.to_owned(), serde_json::from_str(&output.stdout).unwrap())
    };
    listed.lines().map(replay).collect()
}

#[test]
fn what_a_real_model_said_is_read_and_every_lesson_of_it_proved() {
    let replayed = replayed();
    assert!(replayed.len() >= 9, "{}", replayed.len());
    let mut told = Vec::new();
    for (log, outcome) in &replayed {
        // What it would have said to a second question was not recorded.
        let is_unproved = outcome["fallback"].as_str().is_some_and(|why| why.starts_with("none of its lessons"));
        assert!(outcome["engine"] == "model" || is_unproved, "{log}: {outcome}");
        told.push(log.clone());
        for lesson in outcome["candidates"].as_array().unwrap() {
            assert!(!lesson["evidence"]["quotes"].as_array().unwrap().is_empty(), "{log}: {lesson}");
            let held = lesson["quarantine"].as_str().map(|why| format!(" [quarantined: {why}]")).unwrap_or_default();
            told.push(format!("  + {}{held}", lesson["summary"].as_str().unwrap()));
        }
        for dropped in outcome["dropped"].as_array().unwrap() {
            told.push(format!("  - {}: {}", dropped["why"].as_str().unwrap(), dropped["summary"].as_str().unwrap()));
        }
    }
    assert_snapshot!(told.join("\n"));
}

#[test]
fn the_estimate_is_close_to_what_was_billed() {
    let mut worst: f64 = 0.0;
    let mut exchanges = 0;
    for entry in std::fs::read_dir(fixtures().join("cassettes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let exchange: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let request: archivist_core::model::ModelRequest = serde_json::from_value(exchange["request"].clone()).unwrap();
        let billed = exchange["reply"]["usage"]["promptTokens"].as_f64().unwrap();
        let estimate = archivist_core::model::estimate_prompt_tokens(&request) as f64;
        worst = worst.max((estimate / billed - 1.0).abs());
        exchanges += 1;
        assert!((0.85..=1.15).contains(&(estimate / billed)), "{}: {estimate} for {billed}", path.display());
    }
    assert!(exchanges >= 9, "{exchanges}");
    println!("{exchanges} exchanges, at most {:.1} % off", worst * 100.0);
}
