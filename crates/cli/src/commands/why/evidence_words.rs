//! Describes the evidence of a lesson in words, for `archivist why` and the terminal display.

use crate::text_format::one_line;
use archivist_core::domain::{Effect, EvidenceLevel, Exposure, Quote, TrustClass};
use archivist_core::recall::EffectVerdict;
use archivist_core::service::{LessonBrief, LessonFeedback, LessonInjection, RelatedLesson};

/// Returns the answer to whether the lesson helps.
pub(crate) fn describe_verdict(verdict: EffectVerdict) -> &'static str {
    match verdict {
        EffectVerdict::Helps => "It does",
        EffectVerdict::Harms => "No, it does harm",
        EffectVerdict::Unclear => "That is not clear yet",
    }
}

/// Returns the relation of the lesson to another one, in words.
pub(crate) fn describe_relation(related: &RelatedLesson) -> &str {
    match related.relation.as_str() {
        "same" => "says what",
        "similar" => "is much like",
        "replaced by" => "gave way to",
        other => other,
    }
}

/// Returns a session that the lesson was chosen for, and the outcome.
pub(crate) fn describe_injection(given: &LessonInjection) -> String {
    let shown = match &given.exposure {
        Exposure::Exposed => format!("shown at {}", given.point),
        Exposure::Withheld => "held back".to_owned(),
        Exposure::Other(word) => word.clone(),
    };
    let result = match &given.effect {
        Some(Effect::Recurred) => "the trouble came back",
        Some(Effect::Prevented) => "the trouble was spared",
        Some(Effect::Unknown | Effect::Other(_)) => "nobody can tell",
        None => "not looked at yet",
    };
    format!("{}: {shown}; {result}", given.run)
}

/// Returns another lesson on one line.
pub(crate) fn describe_lesson(other: &LessonBrief) -> String {
    let name = other.alias.as_ref().map_or_else(|| other.id.to_string(), ToString::to_string);
    let summary = other.summary.as_deref().map_or_else(|| "(not here any more)".to_owned(), one_line);
    let state = other.state.as_ref().map(|state| format!(" ({state})")).unwrap_or_default();
    format!("{name}: {summary}{state}")
}

/// Returns one feedback on the lesson, in words.
pub(crate) fn describe_feedback(judged: &LessonFeedback) -> String {
    let who = judged.role.as_deref().unwrap_or("somebody");
    let run = judged.session.as_ref().map_or_else(|| judged.episode.to_string(), ToString::to_string);
    let regression = if judged.regression { ", though it had held before" } else { "" };
    format!(
        "{} by {who} in {run}, {}, weight {}{regression}",
        judged.verdict,
        describe_evidence_level(&judged.level),
        judged.weight
    )
}

/// Returns the strength of a proof, in words.
pub(crate) fn describe_evidence_level(level: &EvidenceLevel) -> &str {
    match level {
        EvidenceLevel::Execution => "proved by output",
        EvidenceLevel::Citation => "proved by a citation",
        EvidenceLevel::Reasoning => "by reasoning",
        EvidenceLevel::Other(word) => word,
    }
}

/// Returns the source of a quote, in words.
pub(crate) fn describe_quote_source(quote: &Quote) -> &str {
    match &quote.trust {
        TrustClass::User => "said by a person",
        TrustClass::Agent => "said or done by the agent",
        TrustClass::BuildOutput => "printed by a build or a test",
        TrustClass::RepoFile => "in a file of the repository",
        TrustClass::ToolOutput => "printed by a tool",
        TrustClass::Web => "from the web",
        TrustClass::OtherAgent => "said by another agent",
        TrustClass::InjectedMemory => "given by Archivist itself",
        TrustClass::Other(word) => word,
    }
}
