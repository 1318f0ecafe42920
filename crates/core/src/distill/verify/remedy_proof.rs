//! Checks whether a session shows that a lesson's recommendation helps: after a failure it was followed, and it passed.
//!
//! A model that sees a failure always recommends something. One session is enough for such a lesson only if the agent
//! followed the recommendation there and it passed; otherwise a second session must show it too.

use super::failure_wording::reads_as_failure;
use super::quote_check::FoundQuote;
use super::rule_form::LessonRule;
use crate::context::{ReflectionContext, ToolAction};
use crate::distill::unchecked_candidate::UncheckedCandidate;
use crate::domain::{Step, ToolCall, ToolOutput, TrustClass};

#[cfg(test)]
#[path = "remedy_proof_tests.rs"]
mod tests;

/// Words with which a clause recommends against something, which nobody can be seen to do.
const AGAINST: &[&str] = &["not", "never", "don't", "avoid", "skip", "without", "instead of", "rather than"];

/// Tells whether what a candidate recommends was done, and passed, after a failure that it quotes. For a candidate
/// without a rule the failure, or the word of a user, is enough.
pub(super) fn is_confirmed_in_session(
    claim: &UncheckedCandidate,
    found: &[FoundQuote],
    context: &ReflectionContext,
) -> bool {
    let Some(rule) = &claim.rule else {
        return found
            .iter()
            .any(|one| one.quote.trust == TrustClass::User || steps_after_failure(one, context).is_some());
    };
    let names = recommended_names(rule);
    found.iter().filter_map(|one| steps_after_failure(one, context)).any(|steps| {
        let done: Vec<String> = steps.iter().flat_map(passed_actions).collect();
        let is_done = |name: &&String| done.iter().any(|text| text.contains(name.as_str()));
        let shown = names.iter().filter(is_done).count();
        shown > 0 && shown * 2 >= names.len() && names.iter().filter(|name| is_flag(name)).all(|flag| is_done(&flag))
    })
}

/// Returns the steps after a quote, if it quotes something that failed.
fn steps_after_failure<'c>(found: &FoundQuote, context: &'c ReflectionContext) -> Option<&'c [Step]> {
    let steps = &context.trajectories.get(usize::try_from(found.place.trajectory).ok()?)?.steps;
    let at = steps.iter().position(|step| step.number == found.place.step)?;
    let (step, behind) = steps.get(at..)?.split_first()?;
    let is_output = !matches!(found.quote.trust, TrustClass::User | TrustClass::Agent);
    let mut outputs = step.calls.iter().filter_map(|call| call.output.as_ref()).chain(&step.outputs);
    let has_failed = outputs.any(|output| !has_passed(output));
    (has_failed || (is_output && found.quote.text.lines().any(reads_as_failure))).then_some(behind)
}

fn has_passed(output: &ToolOutput) -> bool {
    output.failed != Some(true) && !output.interrupted && output.exit_code.is_none_or(|code| code == 0)
}

/// Returns the commands and the edits of a step that passed, in lower case.
fn passed_actions(step: &Step) -> impl Iterator<Item = String> {
    let is_passed = |call: &&ToolCall| call.output.as_ref().is_some_and(has_passed);
    step.calls.iter().filter(is_passed).filter_map(|call| match ToolAction::from_call(&call.tool, &call.arguments) {
        ToolAction::Run { command } => Some(strip_backslashes(&command.to_lowercase())),
        ToolAction::Edit(_) => Some(strip_backslashes(&call.arguments.to_string().to_lowercase())),
        _ => None,
    })
}

/// Returns the code names that a rule recommends to use, in lower case: flags, paths, settings, text in backticks.
fn recommended_names(rule: &str) -> Vec<String> {
    let recommendation =
        LessonRule::parse(rule).map_or_else(|_| rule.to_owned(), |rule| rule.recommendation).to_lowercase();
    let is_against = |clause: &&str| {
        let words = format!(" {clause} ");
        AGAINST.iter().any(|word| words.contains(&format!(" {word} ")))
    };
    let mut names = Vec::new();
    for clause in recommendation.split([';', ',']).filter(|clause| !is_against(clause)) {
        for (at, span) in clause.split('`').enumerate() {
            let is_code = at % 2 == 1;
            // A placeholder to fill in was not used as it is written.
            let whole = span.split(['<', '…']).next().unwrap_or(span).trim();
            names.extend(Some(whole).filter(|whole| is_code && whole.len() > 1).map(strip_backslashes));
            let words = span.split(|c: char| c.is_whitespace() || "()\"“”".contains(c));
            let bare = words.map(|word| word.trim_end_matches(['.', ':', '!', '?']));
            let is_wanted = |word: &&str| if is_code { is_flag(word) } else { is_flag(word) || is_name(word) };
            names.extend(bare.filter(is_wanted).map(str::to_owned));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Returns a text without backslashes, so that quotes within JSON match as well.
fn strip_backslashes(text: &str) -> String {
    text.replace('\\', "")
}

fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

fn is_name(word: &str) -> bool {
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    let has_letter = word.chars().any(char::is_alphabetic);
    has_letter && (has_digit || word.contains(['-', '_', '/', '.', ':', '=', '$', '@', '|']))
}
