use proptest::prelude::*;

use super::super::{ScoreWeights, weighted_score};
use super::*;
use crate::domain::MemoryId;

const RULES: ProfileRules =
    ProfileRules { half_lives: HalfLives { lesson: 30.0, decision: 90.0 }, decay_runs: 10, min_score: 0.1 };

fn day(number: u64) -> Timestamp {
    "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap() + chrono::Days::new(number)
}

fn lesson() -> AgentMemory {
    let mut memory = AgentMemory::new(MemoryId::parse("a").unwrap(), day(0), "Run the tests first");
    memory.source = MemorySource::Archivist;
    memory
}

fn seen(sightings: u64) -> LessonCounters {
    LessonCounters { sightings, ..LessonCounters::default() }
}

fn relevant(relevance: f64) -> RecallScore {
    weighted_score(&ScoreWeights { importance: 0.4, recency: 0.3, relevance: 0.3 }, 0.5, 0.5, relevance)
}

fn near(own: f64, expected: f64) {
    assert!((own - expected).abs() < 1e-6, "{own} is not {expected}");
}

#[test]
fn every_profile_has_a_word() {
    for (profile, word) in RankingProfile::ALL.into_iter().zip(RankingProfile::WORDS) {
        assert_eq!((profile.as_str(), word.parse()), (*word, Ok(profile)));
        assert_eq!(serde_json::to_value(profile).unwrap(), *word);
    }
    let refused = "best".parse::<RankingProfile>().unwrap_err().to_string();
    assert_eq!(refused, "`best` is not a profile: it is one of balanced, frequency, patterns, decisions");
}

#[test]
fn the_published_scores_of_patterns() {
    use PatternKind::{Causal, Observation, Rule};
    let table = [
        (1.0, 0.0, 0.0, 0.0, Observation, 1.0),
        (1.0, 0.0, 14.0, 0.0, Observation, 0.367879),
        (1.0, 0.0, 28.0, 0.0, Observation, 0.135335),
        (1.0, 0.0, 32.0, 0.0, Observation, 0.101701),
        (1.0, 0.0, 33.0, 0.0, Observation, 0.09469),
        (5.0, 0.0, 60.0, 5.0, Observation, 1.0),
        (5.0, 0.0, 60.0, 2.0, Observation, 0.013764),
        (3.0, 1.5, 0.0, 0.0, Rule, 0.866667),
        (3.0, 1.5, 7.0, 0.0, Causal, 0.444789),
        (1.0, 10.0, 0.0, 0.0, Observation, 0.090909),
        (2.0, 3.0, 0.0, 0.0, Rule, 0.52),
        (0.0, 1.0, 0.0, 0.0, Observation, 0.0),
        (0.0, 0.0, 0.0, 0.0, Observation, 0.0),
    ];
    for (success, ignored, days, reinforced, sort, expected) in table {
        near(ScoredPattern { success, ignored, days, reinforced, sort }.score(), expected);
    }
    near(blend_scores(0.5, 1.0), 0.7);
}

#[test]
fn the_published_scores_of_decisions() {
    let mut memory = lesson();
    let check = |memory: &AgentMemory, relevance, days, expected| {
        let counters = LessonCounters::default();
        let rated =
            RatedLesson { memory, counters: &counters, score: relevant(relevance), unseen_runs: 0, similarity: None };
        near(RankingProfile::Decisions.rate_lesson(&rated, &RULES, day(days)).unwrap(), expected);
    };
    check(&memory, 0.3, 0, 2.0);
    check(&memory, 0.3, 90, 1.5);
    check(&memory, 0.0, 0, 1.0);
    check(&memory, 0.0, 90, 0.5);
    check(&memory, 0.3, 730, 1.003617);
    check(&memory, 0.3, 45, 1.707107);
    memory.evergreen = true;
    check(&memory, 0.3, 730, 2.0);
    check(&memory, 0.0, 730, 1.0);
    memory.evergreen = false;
    memory.scope = MemoryScope::Global;
    check(&memory, 0.0, 730, 1.0);
}

#[test]
fn silence_takes_a_sighting_every_ten_runs() {
    let table = [
        ((1, 9), (1, 9)),
        ((1, 10), (0, 0)),
        ((2, 19), (1, 9)),
        ((2, 20), (0, 0)),
        ((5, 49), (1, 9)),
        ((5, 50), (0, 0)),
        ((3, 25), (1, 5)),
        ((3, 0), (3, 0)),
    ];
    for ((frequency, unseen), (left, silent)) in table {
        let faded = FrequencyDecay::after_silence(frequency, unseen, 10);
        assert_eq!((faded.frequency, faded.silent_runs), (left, silent), "{frequency} {unseen}");
        assert_eq!(faded.is_exhausted(), left == 0);
    }
    assert_eq!(FrequencyDecay::after_silence(1, 1_000, 0), FrequencyDecay { frequency: 1, silent_runs: 1_000 });
}

#[test]
fn what_somebody_stands_behind_keeps_its_sightings() {
    let check = |change: fn(&mut AgentMemory), expected| {
        let mut memory = lesson();
        change(&mut memory);
        assert_eq!(effective_frequency(&memory, &seen(2), 15, 10), expected);
    };
    check(|_| {}, 1);
    check(|memory| memory.evergreen = true, 2);
    check(|memory| memory.kind = MemoryKind::Preference, 2);
    check(|memory| memory.kind = MemoryKind::Decision, 2);
    check(|memory| memory.source = MemorySource::Manual, 2);
    check(|memory| memory.state = Some(MemoryState::Active), 2);
    assert_eq!(effective_frequency(&lesson(), &seen(0), 0, 10), 1, "it was seen when it was made");
}

#[test]
fn a_lesson_is_a_pattern_by_what_is_known_of_it() {
    let counters = LessonCounters {
        sightings: 2,
        validated: 1.0,
        ignored: 1.5,
        last_seen_at: Some(day(3)),
        ..LessonCounters::default()
    };
    let mut memory = lesson();
    let expected =
        ScoredPattern { success: 3.0, ignored: 1.5, days: 7.0, reinforced: 1.0, sort: PatternKind::Observation };
    assert_eq!(ScoredPattern::from_lesson(&memory, &counters, day(10)), expected);
    memory.category = MemoryCategory::BugfixPattern;
    assert_eq!(PatternKind::from_lesson(&memory), PatternKind::Causal);
    memory.rule = Some("IF a THEN b".to_owned());
    assert_eq!(PatternKind::from_lesson(&memory), PatternKind::Rule);
    assert_eq!(ScoredPattern::from_lesson(&memory, &LessonCounters::default(), day(10)).days, 10.0);
    assert_eq!(ScoredPattern::from_lesson(&memory, &LessonCounters::default(), day(0)).success, 1.0);
}

#[test]
fn noise_and_what_faded_is_not_given() {
    let memory = lesson();
    let check = |profile: RankingProfile, counters: &LessonCounters, unseen_runs, similarity, expected: Option<f64>| {
        let rated = RatedLesson { memory: &memory, counters, score: relevant(0.2), unseen_runs, similarity };
        let own = profile.rate_lesson(&rated, &RULES, day(0));
        assert_eq!(own.map(|rate| (rate * 1e6).round() / 1e6), expected, "{profile}");
    };
    let noise = LessonCounters { sightings: 1, ignored: 10.0, ..LessonCounters::default() };
    check(RankingProfile::Patterns, &noise, 0, None, None);
    check(RankingProfile::Patterns, &noise, 0, Some(1.0), Some(0.636364));
    check(RankingProfile::Frequency, &seen(3), 29, None, Some(1.0));
    check(RankingProfile::Frequency, &seen(3), 30, None, None);
    check(RankingProfile::Balanced, &noise, 500, None, Some(0.41));
}

#[test]
fn equals_keep_their_order() {
    let rated = vec![("a", 1.0), ("b", 3.0), ("c", f64::NAN), ("d", 3.0), ("e", 1.0)];
    assert_eq!(sort_by_rate(rated), ["b", "d", "a", "e", "c"]);
}

proptest! {
    #[test]
    fn fading_is_one_run_after_another(frequency in 0u64..40, unseen in 0u64..500, runs in 1u32..20) {
        let (mut left, mut silent) = (frequency, 0);
        for _ in 0..unseen {
            if left == 0 {
                break;
            }
            silent += 1;
            if silent >= u64::from(runs) {
                left -= 1;
                silent = 0;
            }
        }
        prop_assert_eq!(FrequencyDecay::after_silence(frequency, unseen, runs), FrequencyDecay { frequency: left, silent_runs: silent });
    }

    #[test]
    fn a_pattern_is_a_number_within_its_bounds(
        success in 0.0..1e6, ignored in 0.0..1e6, days in -10.0..1e5, reinforced in 0.0..10.0, sort in 0usize..3,
    ) {
        let sort = [PatternKind::Rule, PatternKind::Causal, PatternKind::Observation][sort];
        let score = ScoredPattern { success, ignored, days, reinforced, sort }.score();
        prop_assert!((0.0..=1.3).contains(&score), "{}", score);
    }
}
