//! Golden numbers that nobody here wrote, where they are at hand.

use std::path::PathBuf;

use archivist::recall::{Weights, recency, score};
use serde_json::Value;

/// The folder of public yardsticks, or a plain word about its absence.
fn bench(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ARCHIVIST_BENCH").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped {name}: ARCHIVIST_BENCH does not name a folder of yardsticks");
    }
    folder.map(|folder| folder.join(name))
}

#[test]
fn the_specified_score_is_exact() {
    let Some(path) = bench("scoring_cases.json") else {
        return;
    };
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let number = |case: &Value, key: &str| case[key].as_f64().unwrap();
    let weights = Weights { importance: 0.4, recency: 0.3, relevance: 0.3 };
    let spec = &cases["archivist_spec"];
    let mut checked = 0;
    for case in spec["cases"].as_array().unwrap() {
        let own = score(&weights, number(case, "importance"), number(case, "recency"), number(case, "relevance"));
        assert!((own.score - number(case, "score")).abs() < 1e-6, "{case}");
        checked += 1;
    }
    for case in spec["recency_half_life_examples"].as_array().unwrap() {
        let age = case["age_days"].as_i64().unwrap() * 86_400_000;
        let own = recency(age, Some(number(case, "half_life_days")));
        assert!((own - number(case, "recency")).abs() < 1e-6, "{case}");
        checked += 1;
    }
    assert!(checked > 15, "only {checked} cases");
}
