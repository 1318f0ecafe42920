use proptest::prelude::*;
use serde_json::json;

use super::*;

fn at() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

#[test]
fn ids_are_safe_names() {
    let good = ["a", "m-1", "session-2025-12-05T07-45-57-649Z-x8251x", "0195:turn.3", &"x".repeat(128)];
    let bad = ["", ".", "..", "../../etc/passwd", "a/b", "a b", "a\n", "-x", "a..b", "ä", &"x".repeat(129)];
    for text in good {
        assert_eq!(MemoryId::parse(text).unwrap().as_str(), text);
    }
    for text in bad {
        assert!(MemoryId::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn aliases_have_one_shape() {
    for (text, number) in [("m-001", 1), ("g-042", 42), ("m-1000", 1000)] {
        assert_eq!(Alias::parse(text).unwrap().number(), number);
    }
    for text in ["m-1", "x-001", "m-", "m-00a", "001"] {
        assert!(Alias::parse(text).is_err(), "{text:?}");
    }
    assert_eq!(Alias::from_number('m', 7).unwrap().as_str(), "m-007");
}

#[test]
fn an_error_family_is_sixteen_hexadecimal_digits() {
    assert!(ErrorFamily::parse("0123456789abcdef").is_ok());
    for text in ["0123456789ABCDEF", "0123456789abcde", "0123456789abcdefa"] {
        assert!(ErrorFamily::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn importance_normalises_three_scales() {
    let check = |number, scale, expected: Option<f64>| {
        assert_eq!(Importance::parse(number, scale).ok().map(Importance::value), expected, "{number}");
    };
    check(0.7, ImportanceScale::Undeclared, Some(0.7));
    check(70.0, ImportanceScale::Undeclared, Some(0.7));
    check(7.0, ImportanceScale::OneToTen, Some(0.7));
    check(1.0, ImportanceScale::Undeclared, Some(1.0));
    check(1.0, ImportanceScale::OneToTen, Some(0.1));
    check(0.0, ImportanceScale::Undeclared, Some(0.0));
    check(101.0, ImportanceScale::Undeclared, None);
    check(11.0, ImportanceScale::OneToTen, None);
    check(-0.1, ImportanceScale::Undeclared, None);
    check(f64::NAN, ImportanceScale::Undeclared, None);
    assert!("7".parse::<Importance>().is_err(), "a mark or a percentage?");
    assert_eq!("0.7".parse::<Importance>(), "70".parse());
}

#[test]
fn outcomes_of_other_systems_become_ours() {
    let check = |word, expected| assert_eq!(EpisodeStatus::from_outcome(word).ok(), expected, "{word}");
    check("success", Some(EpisodeStatus::Success));
    check("Completed", Some(EpisodeStatus::Success));
    check("blocked", Some(EpisodeStatus::Partial));
    check("failure", Some(EpisodeStatus::Failed));
    check("timeout", Some(EpisodeStatus::Failed));
    check("cancelled", Some(EpisodeStatus::Aborted));
    check("banana", None);
}

#[test]
fn a_strange_word_is_kept_when_read_and_refused_when_said() {
    let category: MemoryCategory = serde_json::from_value(json!("mystery")).unwrap();
    assert_eq!(category, MemoryCategory::Other("mystery".into()));
    assert_eq!(serde_json::to_value(&category).unwrap(), "mystery");
    let refusal = MemoryCategory::parse("mystery").unwrap_err().to_string();
    assert!(refusal.starts_with("`mystery` is not a category: it is one of heuristic,"), "{refusal}");
}

#[test]
fn ids_sort_by_time_and_repeat_under_a_seed() {
    let ids = |seed| {
        let source = IdSource::new(seed);
        let later = at() + chrono::Duration::milliseconds(1);
        [source.new_memory_id(at(), "a"), source.new_memory_id(at(), "a"), source.new_memory_id(later, "a")]
    };
    let [first, second, third] = ids(1);
    assert_ne!(first, second);
    assert!(first < third && second < third);
    assert_eq!(ids(1), [first.clone(), second, third]);
    assert_ne!(ids(2)[0], first);
    assert_ne!(IdSource::new(1).new_memory_id(at(), "a"), IdSource::new(1).new_memory_id(at(), "b"));
    assert!(first.as_str().starts_with("mem-") && MemoryId::parse(first.as_str()).is_ok());
}

#[test]
fn a_quote_is_made_only_of_words_that_are_there() {
    let quote = |passage| {
        let step = "cargo test\nerror: could not compile";
        Quote::verify_passage("t1", 3, step, passage, EvidenceLevel::Execution, TrustClass::BuildOutput)
    };
    let found = quote("error: could not").unwrap();
    assert_eq!((found.start, found.end, found.text.as_str()), (11, 27, "error: could not"));
    assert_eq!(quote("error: cannot"), None);
    assert_eq!(quote("  "), None);
}

/// The specification's record, written out field by field.
fn specified_memory() -> serde_json::Value {
    json!({
        "id": "mem-1", "createdAt": "2026-01-01T00:00:00Z", "scope": "provider", "projectRoot": "/p", "repoId": "r",
        "taskId": "oa-1", "provider": "claude-code", "tool": "bash", "category": "provider_quirk",
        "tags": ["claude-code", "rate-limit", "retry"], "importance": 0.8, "summary": "s", "rule": "IF a THEN b",
        "detail": "d",
        "evidence": {"episodeIds": ["e"], "trajectoryIds": ["t"], "sessionIds": ["s"], "runLogPaths": ["l"]},
        "source": "archivist", "usageCount": 2, "lastUsedAt": "2026-01-02T00:00:00Z", "supersededBy": "mem-2"
    })
}

#[test]
fn the_specified_memory_survives_unchanged() {
    let memory: AgentMemory = serde_json::from_value(specified_memory()).unwrap();
    assert_eq!(memory.extra, Extra::new());
    assert_eq!(serde_json::to_value(&memory).unwrap(), specified_memory());
}

#[test]
fn the_specified_episode_survives_unchanged() {
    let specified = json!({
        "id": "ep-1", "projectRoot": "/p", "taskId": "oa-1", "subtaskId": "oa-1.1", "sessionId": "s",
        "kind": "healer_run", "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T01:00:00Z",
        "status": "partial", "summary": "s", "tags": ["init-failure"], "trajectories": ["t"],
        "usage": {"promptTokens": 1, "completionTokens": 2, "cachedTokens": 3, "costUsd": 0.5}
    });
    let episode: Episode = serde_json::from_value(specified.clone()).unwrap();
    assert_eq!(serde_json::to_value(&episode).unwrap(), specified);
}

#[test]
fn the_four_hud_messages_have_their_specified_form() {
    let ts = at();
    let scenario = ReflectionScenario::SessionFailed;
    let messages = [
        HudMessage::ArchivistReflectionStart {
            scenario: scenario.clone(),
            session_id: SessionId::parse("s").unwrap(),
            ts,
        },
        HudMessage::ArchivistReflectionComplete {
            scenario: scenario.clone(),
            memories_created: 1,
            memories_updated: 2,
            ts,
        },
        HudMessage::ArchivistMemoryHighlight {
            memory_id: MemoryId::parse("m").unwrap(),
            summary: "x".into(),
            importance: Importance::MANUAL,
            ts,
        },
        HudMessage::ArchivistMemoriesAdded { count: 3, scenario, ts },
    ];
    insta::assert_snapshot!(
        messages.iter().map(|message| serde_json::to_string(message).unwrap()).collect::<Vec<_>>().join("\n"),
        @r#"
    {"type":"archivist_reflection_start","scenario":"session_failed","sessionId":"s","ts":"2026-01-01T00:00:00Z"}
    {"type":"archivist_reflection_complete","scenario":"session_failed","memoriesCreated":1,"memoriesUpdated":2,"ts":"2026-01-01T00:00:00Z"}
    {"type":"archivist_memory_highlight","memoryId":"m","summary":"x","importance":0.7,"ts":"2026-01-01T00:00:00Z"}
    {"type":"archivist_memories_added","count":3,"scenario":"session_failed","ts":"2026-01-01T00:00:00Z"}
    "#);
}

#[test]
fn a_trigger_is_read_in_its_least_and_its_full_form() {
    let least = json!({"scenario": "session_complete", "projectRoot": "/p", "sessionId": "s"});
    let trigger: ReflectionTrigger = serde_json::from_value(least.clone()).unwrap();
    assert_eq!(serde_json::to_value(&trigger).unwrap(), least);
    let full = json!({
        "scenario": "manual", "projectRoot": "/p", "sessionId": "s", "mainTaskId": "oa-1", "subtaskId": "x",
        "fromTheFuture": true
    });
    let trigger: ReflectionTrigger = serde_json::from_value(full.clone()).unwrap();
    assert_eq!(serde_json::to_value(&trigger).unwrap(), full);
}

#[test]
fn a_component_is_met_by_the_paths_below_it() {
    let lesson =
        FacetValues { component: Some("src/auth".into()), tool: Some("bash".into()), ..FacetValues::default() };
    let asked = |component: &str| FacetValues { component: Some(component.into()), ..FacetValues::default() };
    assert!(lesson.facets_met_by(&asked("src/auth")).contains(Facet::Component));
    assert!(lesson.facets_met_by(&asked("src/auth/login.rs")).contains(Facet::Component));
    assert!(!lesson.facets_met_by(&asked("src/author.rs")).contains(Facet::Component));
    assert!(!lesson.facets_met_by(&asked("src")).contains(Facet::Component));
    assert!(!lesson.facets_met_by(&FacetValues::default()).contains(Facet::Tool));
}

fn extra() -> impl Strategy<Value = Extra> {
    let value = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        ".{0,12}".prop_map(|value| json!(value)),
        prop::collection::vec(any::<u8>(), 0..3).prop_map(|value| json!(value)),
    ];
    prop::collection::btree_map("x[a-zA-Z]{1,6}", value, 0..3).prop_map(|map| map.into_iter().collect())
}

prop_compose! {
    fn memory()(
        key in "[a-z0-9]{1,20}",
        (summary, rule, detail) in (".{0,60}", prop::option::of(".{0,40}"), prop::option::of(".{0,40}")),
        (scope, category, state) in ("[a-z_]{1,12}", "[a-z_]{1,12}", prop::option::of("[a-z]{1,12}")),
        tags in prop::collection::vec(".{0,10}", 0..4),
        importance in 0.0..=1.0,
        (tool, component) in (prop::option::of(".{1,10}"), prop::option::of("[a-z/]{1,10}")),
        seconds in 0i64..4_000_000_000,
        evergreen: bool,
        extra in extra(),
    ) -> AgentMemory {
        let created = Timestamp::from_timestamp(seconds, 0).unwrap();
        let mut memory = AgentMemory::new(MemoryId::parse(&key).unwrap(), created, summary);
        memory.rule = rule;
        memory.detail = detail;
        memory.scope = scope.into();
        memory.category = category.into();
        memory.state = state.map(Into::into);
        memory.tags = tags;
        memory.importance = Importance::parse(importance, ImportanceScale::Undeclared).unwrap();
        memory.facets.tool = tool;
        memory.facets.component = component;
        memory.evergreen = evergreen;
        memory.extra = extra.clone();
        memory.evidence.extra = extra;
        memory
    }
}

proptest! {
    #[test]
    fn a_memory_survives_the_round_trip(memory in memory()) {
        let line = serde_json::to_string(&memory).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(serde_json::from_str::<AgentMemory>(&line).unwrap(), memory);
    }

    #[test]
    fn a_fact_survives_the_round_trip(key in "[a-z]{1,8}", weight in 0.0..10.0, extra in extra()) {
        let fact = Fact::Feedback {
            memory: MemoryId::parse(&key).unwrap(),
            episode: EpisodeId::parse(&key).unwrap(),
            verdict: FeedbackVerdict::Validated,
            weight,
            role: Some(key.clone()),
            level: EvidenceLevel::Citation,
            at: at(),
            extra,
        };
        let line = serde_json::to_string(&fact).unwrap();
        prop_assert_eq!(serde_json::from_str::<Fact>(&line).unwrap(), fact);
    }

    #[test]
    fn counting_does_not_mind_order_or_repeats(order in prop::collection::vec(0usize..6, 0..30)) {
        let facts: Vec<Fact> = (0..6).map(|number| Fact::Sighting {
            memory: MemoryId::parse("m").unwrap(),
            episode: EpisodeId::parse(&format!("e{}", number % 3)).unwrap(),
            at: at(),
            level: EvidenceLevel::Execution,
            context: None,
 quotes: Vec::new(),
 extra: Extra::new(),
        }).collect();
        let distinct = order.iter().map(|number| number % 3).collect::<std::collections::BTreeSet<_>>().len();
        let counters = LessonCounters::from_facts(order.iter().map(|number| &facts[*number]));
        prop_assert_eq!(counters.sightings, distinct as u64);
    }
}

#[test]
fn ids_that_are_stored_stay_the_same() {
    let episode = EpisodeId::for_session("/shop", "s-1");
    let ids = [
        episode.to_string(),
        MemoryId::for_lesson(&episode, at(), "Use pnpm", Some("IF installing THEN use pnpm")).to_string(),
        MemoryId::for_lesson(&episode, at(), "Use pnpm", None).to_string(),
        ErrorFamily::from_parts(&["bash", "ECONNREFUSED", ""]).to_string(),
        IdSource::new(7).new_memory_id(at(), "Use pnpm").to_string(),
        IdSource::new(7).new_run_id(at(), "Use pnpm").to_string(),
    ];
    let expected = [
        "ep-56813d9706ec5b218566",
        "mem-01kdvdna00qd05a588sa2k428t",
        "mem-01kdvdna00hemwwxb5y14tk84m",
        "1bb893b89c89df2a",
        "mem-01kdvdna00e7jxdzhv81d41mzg",
        "run-01kdvdna003d3y0cbb5xjpcqx2",
    ];
    assert_eq!(ids, expected);
}
