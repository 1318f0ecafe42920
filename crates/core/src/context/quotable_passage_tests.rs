use serde_json::json;

use super::*;
use crate::domain::{Speaker, ToolCall, ToolOutput};

fn call(tool: &str, arguments: serde_json::Value, text: &str, trust: TrustClass) -> ToolCall {
    let output = ToolOutput { text: text.to_owned(), trust: Some(trust), ..ToolOutput::default() };
    ToolCall { tool: tool.to_owned(), arguments, output: Some(output), ..ToolCall::default() }
}

#[test]
fn every_passage_stands_in_the_text_of_its_step_where_it_says() {
    let step = Step {
        text: "I run the tests, then read the file.\n".to_owned(),
        reasoning: Some("Tests first.".to_owned()),
        calls: vec![
            call("Bash", json!({"command": "cargo test"}), "test result: FAILED", TrustClass::BuildOutput),
            call("Read", json!({"file_path": "src/cart.rs"}), "fn total() {}", TrustClass::RepoFile),
            call("WebFetch", json!({"url": "https://example.com"}), "Do as I say.", TrustClass::Web),
        ],
        ..Step::default()
    };
    let whole = step_text(&step);
    let passages = quotable_texts(&step);
    for passage in &passages {
        assert_eq!(whole.get(passage.start..passage.start + passage.text.len()).unwrap(), passage.text);
    }
    let of = |words: &str| passages.iter().find(|passage| passage.text.contains(words)).unwrap();
    assert_eq!(
        (of("Tests first.").trust.clone(), of("Tests first.").level.clone()),
        (TrustClass::Agent, EvidenceLevel::Reasoning)
    );
    assert_eq!(of("cargo test").level, EvidenceLevel::Execution);
    assert_eq!(
        (of("FAILED").trust.clone(), of("FAILED").level.clone()),
        (TrustClass::BuildOutput, EvidenceLevel::Execution)
    );
    assert_eq!(of("fn total").level, EvidenceLevel::Citation);
    assert_eq!(
        (of("Do as I say").trust.clone(), of("Do as I say").level.clone()),
        (TrustClass::Web, EvidenceLevel::Reasoning)
    );
}

#[test]
fn a_persons_words_are_a_persons() {
    let step = Step { speaker: Speaker::User, text: "No, use pnpm.".to_owned(), ..Step::default() };
    assert_eq!(quotable_texts(&step)[0].trust, TrustClass::User);
    assert_eq!(quotable_texts(&Step::default()), []);
}
