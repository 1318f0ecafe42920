use proptest::prelude::*;

use super::*;
use crate::domain::{Evidence, FacetValues, Importance, MemoryCategory, MemoryKind, MemoryScope, Timestamp};

const REDIS: &str = "Start redis with `docker compose up -d redis` before the billing tests";
const REDIS_AGAIN: &str = "Before the billing tests start redis: `docker compose up -d redis`";
const PORT: &str = "The local Postgres of the shop listens on port 5432";
const OTHER_PORT: &str = "The local Postgres of the shop listens on port 5433";
const CENTS: &str = "Money is stored as integer cents";

fn at() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn id(name: &str) -> MemoryId {
    MemoryId::parse(name).unwrap()
}

fn rules() -> DedupRules {
    let thresholds = SimilarityThresholds { same_above: 0.88, different_below: 0.4 };
    DedupRules { thresholds, background: WordFrequencies::default() }
}

fn known(name: &str, summary: &str) -> AgentMemory {
    AgentMemory::new(id(name), at(), summary)
}

fn in_state(name: &str, summary: &str, state: MemoryState) -> AgentMemory {
    AgentMemory { state: Some(state), ..known(name, summary) }
}

fn candidate(summary: &str) -> Candidate {
    Candidate {
        summary: summary.to_owned(),
        rule: None,
        detail: None,
        kind: MemoryKind::Lesson,
        category: MemoryCategory::Heuristic,
        scope: MemoryScope::Project,
        facets: FacetValues::default(),
        tags: Vec::new(),
        importance: Importance::MANUAL,
        importance_reason: None,
        severity: None,
        evidence: Evidence::default(),
        quarantine: None,
        near: Vec::new(),
        mended: Vec::new(),
    }
}

fn quarantined(summary: &str) -> Candidate {
    Candidate { quarantine: Some("only a page says so".to_owned()), ..candidate(summary) }
}

fn beside(memories: &[AgentMemory]) -> Vec<KnownNeighbour<'_>> {
    memories.iter().map(|memory| KnownNeighbour { memory, cosine: None }).collect()
}

fn verdict(candidate: Candidate, memories: &[AgentMemory]) -> CandidateVerdict {
    judge_candidates(&[candidate], &[beside(memories)], &rules(), &Opinions::new()).remove(0)
}

#[test]
fn a_lesson_that_nobody_knows_is_new() {
    assert_eq!(verdict(candidate(REDIS), &[]), CandidateVerdict::Create { links: Vec::new() });
    assert_eq!(verdict(candidate(REDIS), &[known("a", CENTS)]), CandidateVerdict::Create { links: Vec::new() });
}

#[test]
fn a_lesson_that_is_known_is_seen_again() {
    assert_eq!(verdict(candidate(REDIS), &[known("a", CENTS), known("b", REDIS)]), CandidateVerdict::Sight(id("b")));
    assert_eq!(verdict(candidate(REDIS_AGAIN), &[known("b", REDIS)]), CandidateVerdict::Sight(id("b")));
}

#[test]
fn a_lesson_that_is_said_better_is_merged() {
    let with_rule =
        Candidate { rule: Some("IF running tests/billing THEN start redis".to_owned()), ..candidate(REDIS) };
    let memory = known("a", REDIS);
    let found = judge_candidates(
        std::slice::from_ref(&with_rule),
        &[beside(std::slice::from_ref(&memory))],
        &rules(),
        &Opinions::new(),
    );
    assert!(matches!(found.as_slice(), [CandidateVerdict::Merge(_)]), "{found:?}");
    let mut full = memory.clone();
    for _ in 0..MAX_MERGES {
        full = super::super::merge_lessons(&full, memory.clone(), at());
    }
    let sighted = verdict(with_rule, &[AgentMemory { rule: None, ..full }]);
    assert_eq!(sighted, CandidateVerdict::Sight(id("a")), "a lesson takes in no more than so many");
}

#[test]
fn a_refinement_takes_the_place_of_what_it_refines() {
    let more = Candidate {
        rule: Some("IF running tests/billing THEN start redis and wait for the ping".to_owned()),
        ..candidate(&format!("{REDIS} and wait until `redis-cli ping` answers, as loading the snapshot takes a while"))
    };
    let rule = Some("IF running tests/billing THEN start redis".to_owned());
    let found = verdict(more, &[AgentMemory { rule, ..known("a", REDIS) }]);
    assert!(
        matches!(&found, CandidateVerdict::Merge(known) | CandidateVerdict::Supersede(known) if *known == id("a")),
        "{found:?}"
    );
}

#[test]
fn a_changed_value_contradicts() {
    assert_eq!(verdict(candidate(OTHER_PORT), &[known("a", PORT)]), CandidateVerdict::Contradicts { with: id("a") });
    let archived = in_state("a", PORT, MemoryState::Archived);
    assert_eq!(verdict(candidate(OTHER_PORT), &[archived]), CandidateVerdict::Create { links: Vec::new() });
}

#[test]
fn what_a_person_took_out_does_not_come_back_by_itself() {
    let rejected = CandidateVerdict::Drop(DropReason::Rejected);
    assert_eq!(verdict(candidate(REDIS_AGAIN), &[in_state("a", REDIS, MemoryState::Archived)]), rejected);
    assert_eq!(verdict(quarantined(REDIS_AGAIN), &[in_state("a", REDIS, MemoryState::Archived)]), rejected);
}

#[test]
fn what_rests_or_waits_is_only_seen() {
    for state in [MemoryState::Deprecated, MemoryState::Quarantined] {
        assert_eq!(verdict(candidate(REDIS), &[in_state("a", REDIS, state)]), CandidateVerdict::Sight(id("a")));
    }
}

#[test]
fn what_gave_way_leads_to_what_took_its_place() {
    let old = AgentMemory { superseded_by: Some(id("b")), ..in_state("a", REDIS, MemoryState::Superseded) };
    let check = |others: &[AgentMemory], expected: CandidateVerdict| {
        let memories: Vec<AgentMemory> = std::iter::once(&old).chain(others).cloned().collect();
        assert_eq!(verdict(candidate(REDIS), &memories), expected, "{others:?}");
    };
    check(&[], CandidateVerdict::Sight(id("b")));
    check(&[known("b", REDIS_AGAIN)], CandidateVerdict::Sight(id("b")));
    check(&[known("b", CENTS)], CandidateVerdict::Sight(id("b")));
    let next = AgentMemory { superseded_by: Some(id("c")), ..in_state("b", REDIS_AGAIN, MemoryState::Superseded) };
    check(std::slice::from_ref(&next), CandidateVerdict::Sight(id("c")));
    check(&[next, known("c", REDIS_AGAIN)], CandidateVerdict::Sight(id("c")));
    let circle = AgentMemory { superseded_by: Some(id("a")), ..in_state("b", REDIS_AGAIN, MemoryState::Superseded) };
    check(&[circle], CandidateVerdict::Sight(id("b")));
}

#[test]
fn a_candidate_that_repeats_an_earlier_one_is_dropped() {
    let candidates = [candidate(REDIS), candidate(CENTS), candidate(REDIS_AGAIN), quarantined(CENTS)];
    let found = judge_candidates(&candidates, &[], &rules(), &Opinions::new());
    let created = CandidateVerdict::Create { links: Vec::new() };
    assert_eq!(found, [created.clone(), created.clone(), CandidateVerdict::Drop(DropReason::Repeated), created]);
}

#[test]
fn what_strangers_say_touches_nothing() {
    let created = CandidateVerdict::Create { links: Vec::new() };
    assert_eq!(verdict(quarantined(REDIS), &[known("a", REDIS)]), created);
    assert_eq!(verdict(quarantined(OTHER_PORT), &[known("a", PORT)]), created);
    let waiting = in_state("a", REDIS, MemoryState::Quarantined);
    assert_eq!(verdict(quarantined(REDIS), &[waiting]), CandidateVerdict::Drop(DropReason::Repeated));
}

#[test]
fn a_model_is_asked_where_words_do_not_tell() {
    let strict = DedupRules { thresholds: SimilarityThresholds { same_above: 1.0, different_below: 0.4 }, ..rules() };
    let (candidates, memories) = ([candidate(REDIS_AGAIN), candidate(CENTS)], [known("b", REDIS), known("a", CENTS)]);
    let known = [beside(&memories), beside(&memories)];
    assert_eq!(find_doubtful_pairs(&candidates, &known, &strict), [(0, id("b"))], "the second is known to the letter");
    let judged = |kin: Option<JudgedRelation>| {
        let opinions = kin.map(|kin| ((0, id("b")), kin)).into_iter().collect();
        judge_candidates(&candidates, &known, &strict, &opinions).remove(0)
    };
    let linked = CandidateVerdict::Create { links: vec![LessonLink { to: id("b"), relation: Relation::Similar }] };
    assert_eq!(judged(None), linked, "unasked, they stay apart and are tied");
    assert_eq!(judged(Some(JudgedRelation::Same)), CandidateVerdict::Sight(id("b")));
    assert_eq!(judged(Some(JudgedRelation::Refines)), CandidateVerdict::Supersede(id("b")));
    assert_eq!(judged(Some(JudgedRelation::Contradicts)), CandidateVerdict::Contradicts { with: id("b") });
    assert_eq!(judged(Some(JudgedRelation::Different)), CandidateVerdict::Create { links: Vec::new() });
}

fn any_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "redis",
        "start",
        "never",
        "port",
        "5432",
        "5433",
        "`make db`",
        "tests/billing",
        "before",
        "after",
        "the",
        "billing",
        "tests",
        "use",
        "not",
        "pnpm",
        "npm",
        "commit",
    ]);
    prop::collection::vec(word, 1..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn a_stored_candidate_is_only_seen(text in any_text(), rule in prop::option::of(any_text()), others in prop::collection::vec(any_text(), 0..5)) {
        let candidate = Candidate { rule, ..candidate(&text) };
        let mut memories: Vec<AgentMemory> =
            others.iter().enumerate().map(|(number, text)| known(&format!("o{number}"), text)).collect();
        memories.push(AgentMemory { rule: candidate.rule.clone(), ..known("own", &text) });
        let found = verdict(candidate, &memories);
        prop_assert!(matches!(found, CandidateVerdict::Sight(_)), "{:?}", found);
    }

    #[test]
    fn the_order_of_neighbours_does_not_matter(
        text in any_text(),
        others in prop::collection::vec((any_text(), prop::option::of(prop::sample::select(MemoryState::WORDS))), 1..6),
        turn in 0usize..6,
    ) {
        let mut memories: Vec<AgentMemory> = others
            .iter()
            .enumerate()
            .map(|(number, (text, state))| AgentMemory {
                state: state.map(|word| MemoryState::parse(word).unwrap()),
                ..known(&format!("o{number}"), text)
            })
            .collect();
        let first = verdict(candidate(&text), &memories);
        let first_doubts = find_doubtful_pairs(&[candidate(&text)], &[beside(&memories)], &rules());
        let turn = turn % memories.len();
        memories.rotate_left(turn);
        prop_assert_eq!(&first, &verdict(candidate(&text), &memories));
        memories.reverse();
        prop_assert_eq!(&first, &verdict(candidate(&text), &memories));
        prop_assert_eq!(first_doubts, find_doubtful_pairs(&[candidate(&text)], &[beside(&memories)], &rules()));
    }
}
