//! Whether a session shows that a lesson's advice helps: something failed, and what is advised was done afterwards.
//!
//! A model that saw a failure will always say what to do about it. One session is enough for such a lesson only where the
//! agent did it there and it passed; otherwise a second session must show it too.

use super::failing::reads_as_failure;
use super::quotes::Found;
use super::rule::Rule;
use crate::context::{Action, ReflectionContext};
use crate::distill::claim::Claim;
use crate::domain::{Call, Output, Step, TrustClass};

#[cfg(test)]
#[path = "borne_out_tests.rs"]
mod tests;

/// Words with which a clause advises against something, which nobody can be seen to do.
const AGAINST: &[&str] = &["not", "never", "don't", "avoid", "skip", "without", "instead of", "rather than"];

/// Tells whether what a claim advises was done, and passed, after a failure that it quotes. For a claim that advises
/// nothing the failure, or the word of a person, is enough.
pub(super) fn is_borne_out(claim: &Claim, found: &[Found], context: &ReflectionContext) -> bool {
    let Some(rule) = &claim.rule else {
        return found.iter().any(|one| one.quote.trust == TrustClass::User || steps_from(one, context).is_some());
    };
    let names = advised_names(rule);
    found.iter().filter_map(|one| steps_from(one, context)).any(|steps| {
        let done: Vec<String> = steps.iter().flat_map(passed_deeds).collect();
        let is_done = |name: &&String| done.iter().any(|text| text.contains(name.as_str()));
        let shown = names.iter().filter(is_done).count();
        shown > 0 && shown * 2 >= names.len() && names.iter().filter(|name| is_flag(name)).all(|flag| is_done(&flag))
    })
}

/// The steps behind quoted words, if those are of something that failed.
fn steps_from<'c>(found: &Found, context: &'c ReflectionContext) -> Option<&'c [Step]> {
    let steps = &context.trajectories.get(usize::try_from(found.place.trajectory).ok()?)?.steps;
    let at = steps.iter().position(|step| step.number == found.place.step)?;
    let (step, behind) = steps.get(at..)?.split_first()?;
    let is_output = !matches!(found.quote.trust, TrustClass::User | TrustClass::Agent);
    let mut outputs = step.calls.iter().filter_map(|call| call.output.as_ref()).chain(&step.outputs);
    let has_failed = outputs.any(|output| !has_passed(output));
    (has_failed || (is_output && found.quote.text.lines().any(reads_as_failure))).then_some(behind)
}

fn has_passed(output: &Output) -> bool {
    output.failed != Some(true) && !output.interrupted && output.exit_code.is_none_or(|code| code == 0)
}

/// The commands and the changes of a step that passed, in lower case.
fn passed_deeds(step: &Step) -> impl Iterator<Item = String> {
    let is_passed = |call: &&Call| call.output.as_ref().is_some_and(has_passed);
    step.calls.iter().filter(is_passed).filter_map(|call| match Action::of(&call.tool, &call.arguments) {
        Action::Run { command } => Some(unescaped(&command.to_lowercase())),
        Action::Edit(_) => Some(unescaped(&call.arguments.to_string().to_lowercase())),
        _ => None,
    })
}

/// The names out of code that a rule advises to use, in lower case: flags, paths, settings, what stands in backticks.
fn advised_names(rule: &str) -> Vec<String> {
    let advice = Rule::parse(rule).map_or_else(|_| rule.to_owned(), |rule| rule.advice).to_lowercase();
    let is_against = |clause: &&str| {
        let words = format!(" {clause} ");
        AGAINST.iter().any(|word| words.contains(&format!(" {word} ")))
    };
    let mut names = Vec::new();
    for clause in advice.split([';', ',']).filter(|clause| !is_against(clause)) {
        for (at, span) in clause.split('`').enumerate() {
            let is_code = at % 2 == 1;
            // What somebody has to fill in was not done so.
            let whole = span.split(['<', '…']).next().unwrap_or(span).trim();
            names.extend(Some(whole).filter(|whole| is_code && whole.len() > 1).map(unescaped));
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

/// A text whose quotation marks are those of its inside, also where it stands in JSON.
fn unescaped(text: &str) -> String {
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
