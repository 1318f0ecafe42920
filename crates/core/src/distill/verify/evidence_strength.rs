//! The strength of a lesson's evidence, and whose words it consists of.

use super::quote_check::FoundQuote;
use crate::domain::{EvidenceLevel, Importance, Quote, TrustClass};

#[cfg(test)]
#[path = "evidence_strength_tests.rs"]
mod tests;

/// Tells whether a quote is evidence: words of a user, of the agent, of a check or of a file of the repository, or what
/// a command on this machine printed. What a harness, a page or another agent says proves only that it says so.
pub(super) fn is_trusted(quote: &Quote) -> bool {
    match quote.trust {
        TrustClass::User | TrustClass::Agent | TrustClass::BuildOutput | TrustClass::RepoFile => true,
        TrustClass::ToolOutput => quote.level == EvidenceLevel::Execution,
        _ => false,
    }
}

/// Returns why a person must review a lesson with these quotes, if one must.
pub(super) fn quarantine_reason(found: &[FoundQuote]) -> Option<String> {
    if found.iter().any(|one| is_trusted(&one.quote)) {
        return None;
    }
    let mut whose: Vec<&str> = found.iter().map(|one| describe_trust(&one.quote.trust)).collect();
    whose.sort_unstable();
    whose.dedup();
    Some(format!("everything it quotes was written by {}", whose.join(" and ")))
}

/// Describes a trust class in words.
pub(super) fn describe_trust(trust: &TrustClass) -> &'static str {
    match trust {
        TrustClass::User => "the user",
        TrustClass::Agent => "the agent",
        TrustClass::BuildOutput => "a build or a test run",
        TrustClass::RepoFile => "a file of the repository",
        TrustClass::ToolOutput => "a tool",
        TrustClass::Web => "the web",
        TrustClass::OtherAgent => "another agent",
        TrustClass::InjectedMemory => "a lesson that was given",
        TrustClass::Other(_) => "somebody unknown",
    }
}

/// Returns the importance that the log supports. What was claimed beyond that is noted in `mended`.
pub(super) fn cap_importance(
    claimed: Importance,
    found: &[FoundQuote],
    is_borne_out: bool,
    mended: &mut Vec<String>,
) -> Importance {
    let shown = found.iter().map(|one| &one.quote.level).min().unwrap_or(&EvidenceLevel::Reasoning);
    let said = found.iter().filter_map(|one| one.claimed.as_ref()).min();
    if let Some(said) = said.filter(|said| *said < shown) {
        mended.push(format!("its proof was said to be {said}; the log shows {shown}"));
    }
    let has_person = found.iter().any(|one| one.quote.trust == TrustClass::User);
    let is_by_words = *shown >= EvidenceLevel::Reasoning && !has_person;
    if (is_borne_out && !is_by_words) || claimed <= Importance::MAX_BY_WORDS {
        return claimed;
    }
    let capped = Importance::MAX_BY_WORDS;
    let why = if is_by_words { "nothing but words stands behind it" } else { "nobody was seen to mend a failure so" };
    mended.push(format!("importance {claimed} became {capped}: {why}"));
    capped
}
