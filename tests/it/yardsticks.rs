//! Golden numbers that nobody here wrote, where they are at hand.

use std::path::PathBuf;

use archivist_core::domain::{
    AgentMemory, EpisodeId, EvidenceLevel, Fact, MemoryId, MemorySource, MemoryState, Timestamp,
};
use archivist_core::judge::{LifecycleRules, SessionEnds, derive_state};
use archivist_core::recall::{
    FrequencyDecay, KeywordMatch, PatternKind, ScoreWeights, ScoredPattern, decision_score, recency_score,
    weighted_score,
};
use serde_json::Value;

/// The folder of public yardsticks, or a plain word about its absence.
fn bench(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ARCHIVIST_BENCH").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped {name}: ARCHIVIST_BENCH does not name a folder of yardsticks");
    }
    folder.map(|folder| folder.join(name))
}

fn scoring_cases() -> Option<Value> {
    let path = bench("scoring_cases.json")?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap()
}

#[test]
fn the_specified_score_is_exact() {
    let Some(cases) = scoring_cases() else {
        return;
    };
    let weights = ScoreWeights { importance: 0.4, recency: 0.3, relevance: 0.3 };
    let spec = &cases["archivist_spec"];
    let mut checked = 0;
    for case in spec["cases"].as_array().unwrap() {
        let own =
            weighted_score(&weights, number(case, "importance"), number(case, "recency"), number(case, "relevance"));
        assert!((own.score - number(case, "score")).abs() < 1e-6, "{case}");
        checked += 1;
    }
    for case in spec["recency_half_life_examples"].as_array().unwrap() {
        let age = case["age_days"].as_i64().unwrap() * 86_400_000;
        let own = recency_score(age, Some(number(case, "half_life_days")));
        assert!((own - number(case, "recency")).abs() < 1e-6, "{case}");
        checked += 1;
    }
    assert!(checked > 15, "only {checked} cases");
}

#[test]
fn the_scores_of_other_memories_are_exact() {
    let Some(cases) = scoring_cases() else {
        return;
    };
    let list = |name: &str| cases[name]["cases"].as_array().unwrap().clone();
    for case in list("jkz_patterns") {
        let sort = match case["category"].as_str().unwrap() {
            "rule" => PatternKind::Rule,
            "causal" => PatternKind::Causal,
            _ => PatternKind::Observation,
        };
        let pattern = ScoredPattern {
            success: number(&case, "success"),
            ignored: number(&case, "ignore_weight"),
            days: number(&case, "days"),
            reinforced: number(&case, "reinforced"),
            sort,
        };
        assert!((pattern.score() - number(&case, "score")).abs() < 1e-6, "{case}");
        assert_eq!(pattern.score() >= 0.1, case["injected"].as_bool().unwrap(), "{case}");
    }
    for case in list("decisions") {
        let keyword = if case["keyword"].as_bool().unwrap() { KeywordMatch::Met } else { KeywordMatch::Missed };
        let half_life = (!case["exempt"].as_bool().unwrap()).then_some(90.0);
        let own = decision_score(keyword, recency_score(case["age_days"].as_i64().unwrap() * 86_400_000, half_life));
        assert!((own - number(&case, "score")).abs() < 1e-6, "{case}");
    }
    for case in list("archeflow_decay") {
        let count = |key: &str| case[key].as_u64().unwrap();
        let own = FrequencyDecay::after_silence(count("frequency"), count("unseen_runs"), 10);
        assert_eq!((own.frequency, own.silent_runs), (count("frequency_after"), count("runs_since_after")), "{case}");
        assert_eq!(own.is_exhausted(), case["archived"].as_bool().unwrap(), "{case}");
    }
}

#[test]
fn a_lesson_ends_when_silence_has_taken_every_sighting() {
    let rules = LifecycleRules {
        candidate_sightings: 2,
        candidate_importance: 0.7,
        verified_contexts: 2,
        decay_runs: 10,
        grace_days: 0,
        deprecate_below: 0.1,
    };
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut memory = AgentMemory::new(MemoryId::parse("a").unwrap(), start, "Run the tests first");
    memory.source = MemorySource::Archivist;
    for frequency in 1..=5_u64 {
        let facts: Vec<Fact> = (0..frequency)
            .map(|run| Fact::Sighting {
                memory: memory.id.clone(),
                episode: EpisodeId::parse(&format!("e{run}")).unwrap(),
                at: start,
                level: EvidenceLevel::Reasoning,
                context: None,
                quotes: Vec::new(),
                extra: serde_json::Map::new(),
            })
            .collect();
        for unseen in 0..=60_u64 {
            let runs = SessionEnds::new((1..=unseen).map(|run| start + chrono::Days::new(run)));
            let is_over = derive_state(&memory, &facts, &runs, &rules).state == MemoryState::Deprecated;
            assert_eq!(
                is_over,
                FrequencyDecay::after_silence(frequency, unseen, 10).is_exhausted(),
                "{frequency} {unseen}"
            );
        }
    }
}
