use proptest::prelude::*;

use super::*;
use crate::domain::{
    EpisodeId, ErrorFamily, Importance, ImportanceScale, MemoryId, MemoryKind, MemoryState, Relation, TrustClass,
};

fn day(number: i64) -> Timestamp {
    chrono::DateTime::from_timestamp(1_767_225_600 + number * 86_400, 0).unwrap()
}

fn lesson(name: &str, summary: &str) -> AgentMemory {
    AgentMemory::new(MemoryId::parse(name).unwrap(), day(0), summary)
}

fn quote(text: &str, level: EvidenceLevel) -> Quote {
    Quote::verify_passage("t", 1, text, text, level, TrustClass::Agent).unwrap()
}

#[test]
fn the_better_text_stays() {
    let check = |kept: (&str, Option<&str>), absorbed: (&str, Option<&str>), expected: &str| {
        let make = |name, (summary, rule): (&str, Option<&str>)| AgentMemory {
            rule: rule.map(str::to_owned),
            ..lesson(name, summary)
        };
        let merged = merge_lessons(&make("a", kept), make("b", absorbed), day(1));
        assert_eq!(merged.summary, expected);
        assert_eq!(merged.id.as_str(), "a");
        assert_eq!(merged.updated_at, Some(day(1)));
    };
    let (vague, exact) = ("Start the database", "Start the database with `make db` before the invoice tests");
    check((vague, None), (exact, None), exact);
    check((exact, None), (vague, None), exact);
    check((vague, None), ("Start the data base", None), vague);
    check((vague, None), ("Start it", Some("IF testing THEN start the database")), "Start it");
}

#[test]
fn a_rule_is_not_lost_with_the_worse_text() {
    let kept = lesson("a", "Start the database with `make db` and load `seed.sql` into `shop_test`");
    let absorbed = AgentMemory { rule: Some("IF testing THEN start it".to_owned()), ..lesson("b", "Start it") };
    assert_eq!(merge_lessons(&kept, absorbed, day(1)).rule.as_deref(), Some("IF testing THEN start it"));
}

#[test]
fn the_situation_is_that_of_the_lesson_that_stays_or_else_the_other_one() {
    let asked = |name: &str, situation: Option<&str>| AgentMemory {
        situation: situation.map(str::to_owned),
        ..lesson(name, "Start the database")
    };
    for (kept, absorbed, expected) in [(Some("a"), Some("b"), Some("a")), (None, Some("b"), Some("b"))] {
        let (kept, absorbed) = (asked("a", kept), asked("b", absorbed));
        let merged = merge_lessons(&kept, absorbed.clone(), day(1));
        assert_eq!(merged.situation.as_deref(), expected);
        assert_eq!(unmerge_lesson(&merged), Some((kept.clone(), absorbed.clone())));
        assert_eq!(refine_lesson(&absorbed, kept).situation.as_deref(), expected);
    }
}

#[test]
fn evidence_and_tags_are_united_and_bounded() {
    let mut kept = AgentMemory { tags: vec!["ci".to_owned(), "slow".to_owned()], ..lesson("a", "one") };
    let mut absorbed = AgentMemory { tags: (0..20).map(|n| format!("t{n}")).collect(), ..lesson("b", "one") };
    absorbed.tags.insert(0, "slow".to_owned());
    kept.evidence.episode_ids = ["e1", "e2"].map(|id| EpisodeId::parse(id).unwrap()).to_vec();
    absorbed.evidence.episode_ids = ["e2", "e3"].map(|id| EpisodeId::parse(id).unwrap()).to_vec();
    kept.evidence.quotes = (0..9).map(|n| quote(&format!("said {n}"), EvidenceLevel::Reasoning)).collect();
    absorbed.evidence.quotes = (0..9).map(|n| quote(&format!("ran {n}"), EvidenceLevel::Execution)).collect();
    let merged = merge_lessons(&kept, absorbed, day(1));
    assert_eq!(merged.tags.len(), MAX_TAGS);
    assert_eq!(merged.tags.iter().take(3).collect::<Vec<_>>(), ["ci", "slow", "t0"]);
    assert_eq!(merged.evidence.episode_ids.iter().map(EpisodeId::as_str).collect::<Vec<_>>(), ["e1", "e2", "e3"]);
    let texts: Vec<&str> = merged.evidence.quotes.iter().map(|quote| quote.text.as_str()).collect();
    assert_eq!(texts.len(), MAX_QUOTES);
    assert_eq!((texts.first(), texts.last()), (Some(&"ran 0"), Some(&"said 2")));
}

#[test]
fn the_graver_view_wins() {
    let importance = |number| Importance::parse(number, ImportanceScale::Undeclared).unwrap();
    let kept = AgentMemory { importance: importance(0.4), severity: Some(Severity::Info), ..lesson("a", "one") };
    let absorbed = AgentMemory { importance: importance(0.9), severity: Some(Severity::Bug), ..lesson("b", "one") };
    for (one, other) in [(&kept, &absorbed), (&absorbed, &kept)] {
        let merged = merge_lessons(one, other.clone(), day(1));
        assert_eq!((merged.importance.value(), merged.severity), (0.9, Some(Severity::Bug)));
    }
}

#[test]
fn only_circumstances_that_both_share_bind() {
    let tool = |name: &str| FacetValues { tool: Some(name.to_owned()), ..FacetValues::default() };
    let merged = |kept: AgentMemory, facets: FacetValues| {
        merge_lessons(&kept, AgentMemory { facets, ..lesson("b", "x") }, day(1)).facets
    };
    let kept = AgentMemory { facets: tool("bash"), ..lesson("a", "x") };
    assert_eq!(merged(kept.clone(), tool("bash")).tool.as_deref(), Some("bash"));
    assert_eq!(merged(kept.clone(), FacetValues::default()).tool, None);
    assert_eq!(merged(kept.clone(), tool("grep")).tool, None);
    let scoped = AgentMemory { scope: MemoryScope::Tool, ..kept };
    assert_eq!(merged(scoped, FacetValues::default()).tool.as_deref(), Some("bash"));
    let family = Some(ErrorFamily::from_parts(&["x"]));
    let failed = FacetValues { error_family: family.clone(), ..FacetValues::default() };
    assert_eq!(merged(lesson("a", "x"), failed).error_family, family);
}

prop_compose! {
    fn any_lesson()(
        name in "[a-z]{1,6}",
        summary in "\\PC{0,40}",
        rule in prop::option::of("\\PC{0,40}"),
        detail in prop::option::of("[a-z ]{0,20}"),
        tags in prop::collection::vec("[a-z]{1,4}", 0..15),
        importance in 0.0..=1.0,
        severity in prop::option::of(prop::sample::select(Severity::WORDS)),
        tool in prop::option::of("[a-c]"),
        provider in prop::option::of("[a-c]"),
        quotes in prop::collection::vec(("[a-z]{1,5}", prop::sample::select(EvidenceLevel::WORDS)), 0..15),
        episodes in prop::collection::vec("[a-e]", 0..6),
        links in prop::collection::vec("[a-z]{1,3}", 0..3),
        (kind, state) in (prop::sample::select(MemoryKind::WORDS), prop::option::of(prop::sample::select(MemoryState::WORDS))),
        (usage_count, evergreen, updated) in (0u64..9, any::<bool>(), prop::option::of(0i64..9)),
    ) -> AgentMemory {
        let mut made = lesson(&name, &summary);
        made.rule = rule;
        made.detail = detail;
        made.tags = tags;
        made.importance = Importance::parse(importance, ImportanceScale::Undeclared).unwrap();
        made.severity = severity.map(|word| Severity::parse(word).unwrap());
        made.facets.tool = tool;
        made.facets.provider = provider;
        made.kind = MemoryKind::parse(kind).unwrap();
        made.state = state.map(|word| MemoryState::parse(word).unwrap());
        made.evidence.quotes =
            quotes.iter().map(|(text, level)| quote(text, EvidenceLevel::parse(level).unwrap())).collect();
        made.evidence.episode_ids = episodes.iter().map(|id| EpisodeId::parse(id).unwrap()).collect();
        made.links = links
            .iter()
            .map(|id| LessonLink { to: MemoryId::parse(id).unwrap(), relation: Relation::Similar })
            .collect();
        made.usage_count = usage_count;
        made.evergreen = evergreen;
        made.updated_at = updated.map(day);
        made
    }
}

proptest! {
    #[test]
    fn what_became_one_becomes_two_again(first in any_lesson(), others in prop::collection::vec(any_lesson(), 1..5)) {
        let mut stages = vec![first];
        for (number, other) in others.iter().enumerate() {
            let kept = stages.last().unwrap();
            let merged = merge_lessons(kept, other.clone(), day(i64::try_from(number).unwrap()));
            prop_assert_eq!(&merged, &merge_lessons(kept, other.clone(), day(i64::try_from(number).unwrap())));
            stages.push(merged);
        }
        for other in others.iter().rev() {
            let (kept, absorbed) = unmerge_lesson(&stages.pop().unwrap()).unwrap();
            prop_assert_eq!(&absorbed, other);
            prop_assert_eq!(&kept, stages.last().unwrap());
        }
        prop_assert!(unmerge_lesson(stages.last().unwrap()).is_none());
    }

    #[test]
    fn a_lesson_that_took_in_others_can_be_taken_in(a in any_lesson(), b in any_lesson(), c in any_lesson()) {
        let inner = merge_lessons(&b, c, day(1));
        let outer = merge_lessons(&a, inner.clone(), day(2));
        prop_assert_eq!(unmerge_lesson(&outer), Some((a, inner)));
    }
}
