use proptest::prelude::*;
use serde_json::json;

use super::*;

fn candidate() -> Value {
    json!({
        "summary": " Use pnpm ", "rule": {"if": "IF installing packages", "then": "then use pnpm"}, "detail": null,
        "kind": "Preference", "category": "tool-usage", "scope": "project", "tool": "pnpm", "provider": "",
        "tags": ["npm"], "importance": 0.7, "importance_reason": "asked for", "unknown": {"x": 1},
        "quotes": [{"step": "t1.s3", "text": "use pnpm", "source": "words"}], "same_as": ["mem-1", "not an id"],
    })
}

fn with(name: &str, value: Value) -> Value {
    let mut made = candidate();
    made[name] = value;
    made
}

fn read(candidates: Value) -> Vec<Result<UncheckedCandidate, DroppedCandidate>> {
    parse_reply(&json!({"candidates": candidates})).unwrap().claims
}

#[test]
fn decisions_and_preferences_are_so_by_their_category() {
    let kind = |more: Value| {
        let mut lesson = json!({"summary": "Use tabs.", "category": "decision", "scope": "project", "importance": 0.5});
        more.as_object().unwrap().iter().for_each(|(name, value)| lesson[name] = value.clone());
        parse_candidate(&lesson).unwrap().kind
    };
    assert_eq!(kind(json!({})), MemoryKind::Decision);
    assert_eq!(kind(json!({"category": "Preference"})), MemoryKind::Preference);
    assert_eq!(kind(json!({"category": "workflow"})), MemoryKind::Lesson);
    assert_eq!(kind(json!({"kind": "fact"})), MemoryKind::Fact);
}

#[test]
fn a_whole_candidate_is_read() {
    let made = read(json!([candidate()])).remove(0).unwrap();
    assert_eq!(made.summary, "Use pnpm");
    assert_eq!(made.rule.as_deref(), Some("IF installing packages THEN use pnpm"));
    assert_eq!((made.kind, made.category), (MemoryKind::Preference, MemoryCategory::ToolUsage));
    assert_eq!((made.facets.tool.as_deref(), made.facets.provider), (Some("pnpm"), None));
    assert_eq!(made.quotes[0].place, StepReference { trajectory: 1, step: 3 });
    assert_eq!(made.quotes[0].level, Some(EvidenceLevel::Reasoning));
    assert_eq!(made.near.len(), 1);
}

#[test]
fn one_bad_candidate_takes_no_other_with_it_and_names_the_member() {
    let bad = [
        (json!("text"), "object"),
        (with("summary", json!(null)), "`summary`"),
        (with("summary", json!(7)), "`summary`"),
        (with("category", json!("gossip")), "`category`"),
        (with("scope", json!(null)), "`scope`"),
        (with("scope", json!("galaxy")), "`scope`"),
        (with("kind", json!("rumour")), "`kind`"),
        (with("tags", json!("npm")), "`tags`"),
        (with("tags", json!([1])), "`tags`"),
        (with("importance", json!("high")), "`importance`"),
        (with("importance", json!(-1)), "`importance`"),
        (with("importance", json!(101)), "`importance`"),
        (with("importance", json!(null)), "`importance`"),
        (with("quotes", json!([{"step": "first", "text": "x"}])), "`quotes.step`"),
        (with("quotes", json!([{"step": 1.5, "text": "x"}])), "`quotes.step`"),
        (with("quotes", json!([{"step": 1}])), "`quotes.text`"),
        (with("quotes", json!([{"step": 1, "text": "x", "trajectory": -1}])), "`quotes.trajectory`"),
        (with("rule", json!(["IF"])), "`rule`"),
        (with("rule", json!({"if": 1, "then": "x"})), "`rule.if`"),
        (with("detail", json!({})), "`detail`"),
    ];
    for (value, member) in bad {
        let made = read(json!([candidate(), value, candidate()]));
        assert!(made[0].is_ok() && made[2].is_ok());
        let dropped = made[1].clone().unwrap_err();
        assert_eq!(dropped.why, DropReason::Malformed);
        assert!(dropped.detail.contains(member), "{member}: {}", dropped.detail);
    }
}

#[test]
fn importance_is_brought_to_a_fraction() {
    for (said, expected) in [
        (json!(0.7), 0.7),
        (json!("0.7"), 0.7),
        (json!(7), 0.7),
        (json!("70%"), 0.7),
        (json!(70), 0.7),
        (json!(1), 1.0),
        (json!(0), 0.0),
    ] {
        let made = read(json!([with("importance", said.clone())])).remove(0).unwrap();
        assert!((made.importance.value() - expected).abs() < 1e-9, "{said}");
    }
}

#[test]
fn steps_have_several_names() {
    for (step, trajectory, expected) in [
        (json!("t2.s5"), json!(null), (2, 5)),
        (json!("s5"), json!(1), (1, 5)),
        (json!("5"), json!(null), (0, 5)),
        (json!(5), json!("t3"), (3, 5)),
        (json!("T2.S5"), json!(9), (2, 5)),
        (json!("s5 agent"), json!(null), (0, 5)),
        (json!("[t1.s5]"), json!(null), (1, 5)),
        (json!("Step 5:"), json!(null), (0, 5)),
    ] {
        let quote = json!([{"step": step, "trajectory": trajectory, "text": "x"}]);
        let made = read(json!([with("quotes", quote)])).remove(0).unwrap();
        assert_eq!((made.quotes[0].place.trajectory, made.quotes[0].place.step), expected, "{step}");
    }
}

#[test]
fn what_happened_is_read_leniently_and_within_bounds() {
    let long = "word ".repeat(1000);
    let answer = parse_reply(&json!({
        "outcome_summary": long, "what_worked": "one thing", "what_failed": [1, "a\nb", ""],
        "key_decisions": vec!["x"; 50], "candidates": [],
    }))
    .unwrap();
    assert_eq!(answer.reflection.outcome.chars().count(), MAX_OUTCOME_CHARACTERS);
    assert_eq!(answer.reflection.worked, ["one thing"]);
    assert_eq!(answer.reflection.failed, ["a b"]);
    assert_eq!(answer.reflection.decisions.len(), MAX_POINTS);
    assert_eq!(parse_reply(&json!([])), Err(UnreadableReply::NoObject));
    assert_eq!(parse_reply(&json!({"candidates": {}})), Err(UnreadableReply::NoCandidates));
    let many = read(json!(vec![candidate(); MAX_CLAIMS + 1]));
    assert_eq!(many.last().unwrap().clone().unwrap_err().why, DropReason::TooMany);
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(
                "summary|rule|if|then|quotes|step|text|importance|tags|category|scope",
                inner,
                0..5
            )
            .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_value_is_too_strange(value in anything(), member in "summary|rule|quotes|importance|tags|category|scope|same_as") {
        let _ = parse_reply(&value);
        let made = read(json!([with(&member, value)]));
        prop_assert_eq!(made.len(), 1);
    }
}
