//! The grounds of a lesson in words, for the page and for the display in the terminal.

use super::super::prose::one_line;
use crate::desk::{Given, Judged, Other, Related};
use crate::domain::{Effect, EvidenceLevel, Exposure, Quote, TrustClass};
use crate::recall::Verdict;

/// What the runs come to.
pub(in crate::cli) fn answer(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Helps => "It does",
        Verdict::Harms => "No, it does harm",
        Verdict::Unclear => "That is not clear yet",
    }
}

/// How the lesson stands to another.
pub(in crate::cli) fn relation(related: &Related) -> &str {
    match related.relation.as_str() {
        "same" => "says what",
        "similar" => "is much like",
        "replaced by" => "gave way to",
        other => other,
    }
}

/// A run that it was chosen for, and what came of that.
pub(in crate::cli) fn chosen(given: &Given) -> String {
    let shown = match &given.exposure {
        Exposure::Exposed => format!("shown at {}", given.point),
        Exposure::Withheld => "held back".to_owned(),
        Exposure::Other(word) => word.clone(),
    };
    let came = match &given.effect {
        Some(Effect::Recurred) => "the trouble came back",
        Some(Effect::Prevented) => "the trouble was spared",
        Some(Effect::Unknown | Effect::Other(_)) => "nobody can tell",
        None => "not looked at yet",
    };
    format!("{}: {shown}; {came}", given.run)
}

/// Another lesson on a line.
pub(in crate::cli) fn brief(other: &Other) -> String {
    let name = other.alias.as_ref().map_or_else(|| other.id.to_string(), ToString::to_string);
    let summary = other.summary.as_deref().map_or_else(|| "(not here any more)".to_owned(), one_line);
    let state = other.state.as_ref().map(|state| format!(" ({state})")).unwrap_or_default();
    format!("{name}: {summary}{state}")
}

/// What somebody said of it.
pub(in crate::cli) fn judgement(judged: &Judged) -> String {
    let who = judged.role.as_deref().unwrap_or("somebody");
    let run = judged.session.as_ref().map_or_else(|| judged.episode.to_string(), ToString::to_string);
    let regression = if judged.regression { ", though it had held before" } else { "" };
    format!("{} by {who} in {run}, {}, weight {}{regression}", judged.verdict, proof(&judged.level), judged.weight)
}

/// How well something is proved.
pub(in crate::cli) fn proof(level: &EvidenceLevel) -> &str {
    match level {
        EvidenceLevel::Execution => "proved by output",
        EvidenceLevel::Citation => "proved by a citation",
        EvidenceLevel::Reasoning => "by reasoning",
        EvidenceLevel::Other(word) => word,
    }
}

/// Whose words they are.
pub(in crate::cli) fn whose(quote: &Quote) -> &str {
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
