use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;
use crate::domain::{Effect, EpisodeId, Exposure, Extra, Importance, MemoryId, RunId, TrustClass};

const RULES: LifecycleRules = LifecycleRules {
    candidate_sightings: 2,
    candidate_importance: 0.7,
    verified_contexts: 2,
    decay_runs: 10,
    grace_days: 0,
    deprecate_below: 0.1,
};

fn day(day: i64) -> Timestamp {
    "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap() + TimeDelta::days(day)
}

fn lesson() -> AgentMemory {
    let mut memory = AgentMemory::new(MemoryId::parse("mem-1").unwrap(), day(0), "Start redis before the tests");
    memory.source = MemorySource::Archivist;
    memory.importance = Importance::try_from(0.5).unwrap();
    memory
}

fn episode(number: i64) -> EpisodeId {
    EpisodeId::parse(&format!("ep-{number}")).unwrap()
}

/// Seen in an episode of that day.
fn seen(number: i64, context: Option<&str>) -> Fact {
    Fact::Sighting {
        memory: lesson().id,
        episode: episode(number),
        at: day(number),
        level: EvidenceLevel::Reasoning,
        context: context.map(str::to_owned),
        quotes: Vec::new(),
        extra: Extra::new(),
    }
}

fn judged(number: i64, verdict: FeedbackVerdict, level: EvidenceLevel, weight: f64) -> Fact {
    Fact::Feedback {
        memory: lesson().id,
        episode: episode(number),
        verdict,
        weight,
        role: None,
        level,
        at: day(number),
        extra: Extra::new(),
    }
}

fn quote(level: EvidenceLevel) -> Quote {
    Quote::verify_passage("t", 1, "refused", "refused", level, TrustClass::BuildOutput).unwrap()
}

fn ignored(times: i64) -> Vec<Fact> {
    (1..=times).map(|number| judged(number, FeedbackVerdict::Ignored, EvidenceLevel::Reasoning, 1.0)).collect()
}

/// The runs that ended on these days.
fn runs(days: std::ops::RangeInclusive<i64>) -> SessionEnds {
    SessionEnds::new(days.map(day))
}

#[track_caller]
fn check(memory: &AgentMemory, facts: &[Fact], expected: MemoryState) {
    assert_eq!(derive_state(memory, facts, &SessionEnds::default(), &RULES).state, expected);
}

#[test]
fn a_lesson_seen_once_is_observed_and_seen_in_two_runs_a_candidate() {
    let (once, again) = (seen(1, Some("a")), seen(2, Some("a")));
    check(&lesson(), &[], MemoryState::Observed);
    check(&lesson(), std::slice::from_ref(&once), MemoryState::Observed);
    check(&lesson(), &[once.clone(), once.clone()], MemoryState::Observed);
    check(&lesson(), &[once, again], MemoryState::Candidate);
}

#[test]
fn an_important_lesson_that_is_proved_is_a_candidate_at_once() {
    let of = |importance: f64, level: Option<EvidenceLevel>| {
        let mut memory = lesson();
        memory.importance = Importance::try_from(importance).unwrap();
        memory.evidence.quotes.extend(level.map(quote));
        memory
    };
    check(&of(0.7, Some(EvidenceLevel::Execution)), &[seen(1, None)], MemoryState::Candidate);
    check(&of(0.9, Some(EvidenceLevel::Citation)), &[seen(1, None)], MemoryState::Candidate);
    check(&of(0.9, Some(EvidenceLevel::Reasoning)), &[seen(1, None)], MemoryState::Observed);
    check(&of(0.9, None), &[seen(1, None)], MemoryState::Observed);
    check(&of(0.69, Some(EvidenceLevel::Execution)), &[seen(1, None)], MemoryState::Observed);
    let mut proved = seen(1, None);
    if let Fact::Sighting { quotes, .. } = &mut proved {
        quotes.push(quote(EvidenceLevel::Execution));
    }
    check(&of(0.7, None), &[proved], MemoryState::Candidate);
}

#[test]
fn what_held_in_two_contexts_is_verified() {
    check(&lesson(), &[seen(1, Some("a")), seen(2, Some("a"))], MemoryState::Candidate);
    check(&lesson(), &[seen(1, Some("a")), seen(2, Some("b"))], MemoryState::Verified);
    check(&lesson(), &[seen(1, Some("a")), seen(2, None)], MemoryState::Verified);
    check(&lesson(), &[seen(1, None), seen(2, None)], MemoryState::Verified);
    // A run that is named like a context is no context.
    check(&lesson(), &[seen(1, Some("ep-2")), seen(2, None)], MemoryState::Verified);
}

#[test]
fn a_candidate_that_was_validated_with_proof_is_verified() {
    use EvidenceLevel::{Citation, Execution, Reasoning};
    let validated = |level, weight| judged(3, FeedbackVerdict::Validated, level, weight);
    let twice = [seen(1, Some("a")), seen(2, Some("a"))];
    let with = |fact: Fact| [twice.as_slice(), &[fact]].concat();
    check(&lesson(), &with(validated(Execution, 1.0)), MemoryState::Verified);
    check(&lesson(), &with(validated(Citation, 1.5)), MemoryState::Verified);
    check(&lesson(), &with(validated(Reasoning, 1.0)), MemoryState::Candidate);
    check(&lesson(), &with(validated(Execution, 0.0)), MemoryState::Candidate);
    check(&lesson(), &with(judged(3, FeedbackVerdict::Ignored, Execution, 1.0)), MemoryState::Candidate);
    check(&lesson(), &[seen(1, None), validated(Execution, 1.0)], MemoryState::Observed);
}

#[test]
fn nothing_makes_a_lesson_active_but_a_person() {
    let facts: Vec<Fact> = (1..=100)
        .flat_map(|number| {
            let proof = judged(number, FeedbackVerdict::Validated, EvidenceLevel::Execution, 10.0);
            [seen(number, None), proof]
        })
        .collect();
    check(&lesson(), &facts, MemoryState::Verified);
}

#[test]
fn what_a_person_or_a_merge_decided_stays() {
    let against = ignored(50);
    for word in ["archived", "superseded", "quarantined", "active", "a word of tomorrow"] {
        let decided = MemoryState::from(word.to_owned());
        let memory = AgentMemory { state: Some(decided.clone()), state_reason: Some("because".to_owned()), ..lesson() };
        for facts in [&[][..], &against] {
            let expected = StateWithReason { state: decided.clone(), reason: Some("because".to_owned()) };
            assert_eq!(derive_state(&memory, facts, &runs(1..=500), &RULES), expected);
        }
    }
    let replaced = AgentMemory { superseded_by: Some(MemoryId::parse("mem-2").unwrap()), ..lesson() };
    check(&replaced, &[seen(1, None), seen(2, None)], MemoryState::Superseded);
}

#[test]
fn what_was_read_off_the_records_before_is_read_off_again() {
    for word in ["observed", "candidate", "verified", "deprecated"] {
        let memory = AgentMemory { state: Some(MemoryState::from(word.to_owned())), ..lesson() };
        check(&memory, &[seen(1, None)], MemoryState::Observed);
        check(&memory, &[seen(1, None), seen(2, None)], MemoryState::Verified);
    }
}

#[test]
fn wishes_decisions_and_what_people_wrote_are_candidates_and_outlast_silence() {
    let request = AgentMemory { kind: MemoryKind::Preference, ..lesson() };
    let settled = AgentMemory { kind: MemoryKind::Decision, ..lesson() };
    let manual = AgentMemory { source: MemorySource::Manual, ..lesson() };
    for memory in [request, settled, manual] {
        let availability = derive_state(&memory, [], &runs(1..=1000), &RULES);
        assert_eq!(availability, StateWithReason { state: MemoryState::Candidate, reason: None });
        let availability = derive_state(&memory, &[seen(1, None), seen(2, None)], &runs(1..=1000), &RULES);
        assert_eq!(availability.state, MemoryState::Verified);
    }
    let evergreen = AgentMemory { evergreen: true, ..lesson() };
    assert_eq!(derive_state(&evergreen, &[seen(1, None)], &runs(1..=1000), &RULES).state, MemoryState::Observed);
}

#[test]
fn silence_takes_a_sighting_every_ten_runs() {
    // Frequency, unseen runs, and whether it is over by then.
    for (frequency, unseen, is_over) in
        [(1, 9, false), (1, 10, true), (2, 19, false), (2, 20, true), (5, 49, false), (5, 50, true), (3, 25, false)]
    {
        let facts: Vec<Fact> = (1..=frequency).map(|number| seen(number, None)).collect();
        let availability = derive_state(&lesson(), &facts, &runs(1..=frequency + unseen), &RULES);
        assert_eq!(availability.state == MemoryState::Deprecated, is_over, "{frequency} {unseen}");
        assert_eq!(availability.reason, is_over.then(|| format!("not seen in {unseen} runs")));
    }
}

#[test]
fn a_busy_day_ends_no_lesson() {
    let rules = LifecycleRules { grace_days: 30, ..RULES };
    let minutes = |count: i64| (1..=count).map(|minute| day(1) + TimeDelta::minutes(minute));
    let busy = SessionEnds::new(minutes(500));
    assert_eq!(derive_state(&lesson(), &[seen(1, None)], &busy, &rules).state, MemoryState::Observed);
    // The last day of grace, and the first after it.
    for (last, expected) in [(31, MemoryState::Observed), (32, MemoryState::Deprecated)] {
        let runs = SessionEnds::new(minutes(500).chain([day(last)]));
        let availability = derive_state(&lesson(), &[seen(1, None)], &runs, &rules);
        assert_eq!(availability.state, expected, "{last}: {:?}", availability.reason);
    }
    // Time alone ends nothing either.
    let quiet = SessionEnds::new([day(300), day(301)]);
    assert_eq!(derive_state(&lesson(), &[seen(1, None)], &quiet, &rules).state, MemoryState::Observed);
    // Who is not believed needs no silence.
    assert_eq!(derive_state(&lesson(), &ignored(10), &busy, &rules).state, MemoryState::Deprecated);
}

#[test]
fn a_lesson_without_sightings_was_seen_when_it_was_made() {
    assert_eq!(derive_state(&lesson(), [], &runs(-50..=9), &RULES).state, MemoryState::Observed);
    assert_eq!(derive_state(&lesson(), [], &runs(-50..=10), &RULES).state, MemoryState::Deprecated);
}

#[test]
fn no_decay_is_asked_for_with_a_zero() {
    let rules = LifecycleRules { decay_runs: 0, ..RULES };
    assert_eq!(derive_state(&lesson(), &[seen(1, None)], &runs(1..=1000), &rules).state, MemoryState::Observed);
}

#[test]
fn ten_judgements_that_it_is_noise_end_a_lesson() {
    let sighted = [seen(1, None), seen(2, None)];
    check(&lesson(), &[&sighted[..], &ignored(9)].concat(), MemoryState::Verified);
    let facts = [&sighted[..], &ignored(10)].concat();
    let availability = derive_state(&lesson(), &facts, &SessionEnds::default(), &RULES);
    let reason = Some("judged to be noise too often: trust is 0.09".to_owned());
    assert_eq!(availability, StateWithReason { state: MemoryState::Deprecated, reason });
    // Distrust speaks against what people wrote too, where silence does not.
    check(&AgentMemory { source: MemorySource::Manual, ..lesson() }, &ignored(10), MemoryState::Deprecated);
    let believed = judged(11, FeedbackVerdict::Validated, EvidenceLevel::Reasoning, 1.0);
    check(&lesson(), &[facts, vec![believed]].concat(), MemoryState::Verified);
}

#[test]
fn a_lesson_that_is_seen_again_comes_back() {
    let once = [seen(1, Some("a"))];
    assert_eq!(derive_state(&lesson(), &once, &runs(1..=20), &RULES).state, MemoryState::Deprecated);
    let again = [seen(1, Some("a")), seen(20, Some("a"))];
    assert_eq!(derive_state(&lesson(), &again, &runs(1..=20), &RULES).state, MemoryState::Candidate);
}

#[test]
fn facts_about_other_lessons_and_exposures_count_for_nothing() {
    let mut other = seen(2, None);
    if let Fact::Sighting { memory, .. } = &mut other {
        *memory = MemoryId::parse("mem-2").unwrap();
    }
    let (run, memory) = (RunId::parse("run-1").unwrap(), lesson().id);
    let shown = Fact::Injection {
        run: run.clone(),
        memory: memory.clone(),
        point: "orchestrator".to_owned(),
        rank: 1,
        exposure: Exposure::Exposed,
        at: day(3),
        extra: Extra::new(),
    };
    let effect = Fact::Effect { run, memory, effect: Effect::Prevented, at: day(3), extra: Extra::new() };
    check(&lesson(), &[seen(1, None), other, shown, effect], MemoryState::Observed);
}

#[test]
fn runs_are_counted_from_the_moment_after() {
    let runs = SessionEnds::new([day(3), day(1), day(2), day(2)]);
    assert_eq!([day(0), day(1), day(2), day(3)].map(|at| runs.count_since(at)), [4, 3, 1, 0]);
    assert_eq!(SessionEnds::default().count_since(day(0)), 0);
}

/// From the lowest to the highest.
fn height(availability: &StateWithReason) -> usize {
    use MemoryState::{Candidate, Deprecated, Observed, Verified};
    [Deprecated, Observed, Candidate, Verified].iter().position(|state| *state == availability.state).unwrap()
}

fn any_fact() -> impl Strategy<Value = Fact> {
    let sighting = (0_i64..12, proptest::option::of("[ab]"), 0_i64..40).prop_map(|(number, context, at)| {
        let mut fact = seen(number, context.as_deref());
        if let Fact::Sighting { at: when, .. } = &mut fact {
            *when = day(at);
        }
        fact
    });
    let verdict = prop_oneof![Just(FeedbackVerdict::Validated), Just(FeedbackVerdict::Ignored)];
    let level = prop_oneof![Just(EvidenceLevel::Execution), Just(EvidenceLevel::Reasoning)];
    let feedback = (0_i64..6, verdict, level, 0.0..20.0)
        .prop_map(|(number, verdict, level, weight)| judged(number, verdict, level, weight));
    prop_oneof![3 => sighting, 1 => feedback]
}

fn any_lesson() -> impl Strategy<Value = AgentMemory> {
    let kind = prop_oneof![Just(MemoryKind::Lesson), Just(MemoryKind::Preference)];
    (kind, 0.0..=1.0, any::<bool>(), any::<bool>()).prop_map(|(kind, importance, evergreen, is_proved)| {
        let mut memory = AgentMemory { kind, evergreen, ..lesson() };
        memory.importance = Importance::try_from(importance).unwrap();
        memory.evidence.quotes.extend(is_proved.then(|| quote(EvidenceLevel::Execution)));
        memory
    })
}

proptest! {
    #[test]
    fn the_order_and_repeats_of_facts_change_nothing(
        memory in any_lesson(),
        facts in proptest::collection::vec(any_fact(), 0..20),
        shuffled in any::<prop::sample::Index>(),
        ended in 0_i64..80,
    ) {
        let runs = runs(0..=ended);
        let expected = derive_state(&memory, &facts, &runs, &RULES);
        let mut turned = facts.clone();
        turned.reverse();
        if !turned.is_empty() {
            let at = shuffled.index(turned.len());
            turned.rotate_left(at);
            turned.push(turned[at].clone());
        }
        prop_assert_eq!(derive_state(&memory, &turned, &runs, &RULES), expected);
    }

    #[test]
    fn another_run_that_shows_a_lesson_never_lowers_it(
        memory in any_lesson(),
        facts in proptest::collection::vec(any_fact(), 0..20),
        at in 0_i64..80,
        context in proptest::option::of("[ab]"),
        ended in 0_i64..80,
    ) {
        let runs = runs(0..=ended);
        let before = derive_state(&memory, &facts, &runs, &RULES);
        let mut another = seen(1000, context.as_deref());
        if let Fact::Sighting { at: when, .. } = &mut another {
            *when = day(at);
        }
        let more = [facts.as_slice(), &[another]].concat();
        prop_assert!(height(&derive_state(&memory, &more, &runs, &RULES)) >= height(&before));
    }
}

#[test]
fn harm_ends_what_no_person_stands_behind() {
    use MemoryState::{Active, Archived, Candidate, Deprecated, Observed, Quarantined, Superseded, Verified};
    let harmed = |state: MemoryState| StateWithReason { state, reason: None }.deprecate_harmful("it came back");
    for state in [Observed, Candidate, Verified] {
        let reason = Some("does harm: it came back".to_owned());
        assert_eq!(harmed(state), StateWithReason { state: Deprecated, reason });
    }
    for state in [Active, Archived, Superseded, Quarantined, Deprecated, MemoryState::Other("?".to_owned())] {
        assert_eq!(harmed(state.clone()), StateWithReason { state, reason: None });
    }
}
