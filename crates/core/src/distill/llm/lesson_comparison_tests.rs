use std::time::Duration;

use super::*;
use crate::model::scripted_model::{ScriptedModel, text_reply};

fn pairs(count: usize) -> Vec<ComparisonPair> {
    (0..count)
        .map(|number| ComparisonPair { known: format!("known {number}"), new: format!("new\n{number}") })
        .collect()
}

#[test]
fn answers_are_read_one_by_one() {
    let check = |text: &str, expected: &[Option<Relation>]| {
        assert_eq!(parse_relations(text, expected.len()), expected, "{text}");
    };
    let (same, refines) = (Some(Relation::Same), Some(Relation::Refines));
    check(
        r#"{"pairs": [{"pair": 1, "relation": "same"}, {"pair": 2, "relation": "refines"}]}"#,
        &[same.clone(), refines],
    );
    check(r#"Sure: {"pairs": [{"pair": 2, "relation": "different"}]} bye"#, &[None, Some(Relation::Similar)]);
    check(r#"{"pairs": [{"pair": 1, "relation": "same"}, {"pair": 1, "relation": "contradicts"}]}"#, &[same]);
    check(r#"{"pairs": [{"pair": 0, "relation": "same"}, {"pair": 9, "relation": "same"}, {"pair": 1}]}"#, &[None]);
    check("I cannot say", &[None, None]);
    check("", &[None]);
}

#[tokio::test]
async fn a_pair_is_asked_about_without_its_secrets_and_on_one_line() {
    let model = ScriptedModel::new(vec![Ok(text_reply(r#"{"pairs": [{"pair": 1, "relation": "contradicts"}]}"#))]);
    let mut pairs = pairs(1);
    if let Some(pair) = pairs.first_mut() {
        pair.known = format!("export the key ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    }
    let prompts = PromptSet::with_overrides([]).unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    let answers = compare_lessons(&model, &prompts, &Redactor::new(), &pairs, until).await.unwrap();
    assert_eq!(answers, [Some(Relation::Contradicts)]);
    let asked = serde_json::to_string(&model.received_requests()).unwrap();
    assert!(asked.contains("1. new: new 0") && !asked.contains("ghp_a1B2"), "{asked}");
}
