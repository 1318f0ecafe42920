//! How strong the proof of a lesson is, and whose words it is made of.

use super::quotes::Found;
use crate::domain::{EvidenceLevel, Importance, ImportanceScale, Quote, TrustClass};

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;

/// A lesson for which there are words alone that are no person's, or whose advice nobody was seen to follow, matters no
/// more than this.
const MAX_BY_WORDS: f64 = 0.6;

/// Tells whether a quote is evidence: the words of a person, of the agent, of a check or of a file that people keep, or
/// what a command on this machine printed. What a harness, a page or another agent says proves only that it says so.
pub(super) fn is_trusted(quote: &Quote) -> bool {
    match quote.trust {
        TrustClass::User | TrustClass::Agent | TrustClass::BuildOutput | TrustClass::RepoFile => true,
        TrustClass::ToolOutput => quote.level == EvidenceLevel::Execution,
        _ => false,
    }
}

/// Why a person must look at a lesson with this proof, if one must.
pub(super) fn quarantine(found: &[Found]) -> Option<String> {
    if found.iter().any(|one| is_trusted(&one.quote)) {
        return None;
    }
    let mut whose: Vec<&str> = found.iter().map(|one| name(&one.quote.trust)).collect();
    whose.sort_unstable();
    whose.dedup();
    Some(format!("everything it quotes was written by {}", whose.join(" and ")))
}

/// A class in words.
pub(super) fn name(trust: &TrustClass) -> &'static str {
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

/// How much a lesson matters, given what the log shows. What was claimed beyond that is told in `mended`.
pub(super) fn importance(
    claimed: Importance,
    found: &[Found],
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
    if (is_borne_out && !is_by_words) || claimed.value() <= MAX_BY_WORDS {
        return claimed;
    }
    let Ok(capped) = Importance::parse(MAX_BY_WORDS, ImportanceScale::Undeclared) else { return claimed };
    let why = if is_by_words { "nothing but words stands behind it" } else { "nobody was seen to mend a failure so" };
    mended.push(format!("importance {claimed} became {capped}: {why}"));
    capped
}
