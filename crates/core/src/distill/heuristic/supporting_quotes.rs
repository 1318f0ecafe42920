//! Quotes from the log that support a candidate, copied from the passages themselves.

use super::super::unchecked_candidate::{StepReference, UncheckedQuote};
use crate::context::{ReflectionContext, quotable_texts};
use crate::domain::{Step, TrustClass};

#[cfg(test)]
#[path = "supporting_quotes_tests.rs"]
mod tests;

/// The most quotes of one candidate.
pub(super) const MAX_QUOTES: usize = 6;

/// The fewest letters and digits of a quote.
const MIN_LETTERS: usize = 6;

/// The number of earlier steps that are searched for the agent's own words.
const LOOKED_BACK: usize = 8;

/// The most characters of one quote.
const MAX_CHARACTERS: usize = 240;

/// Returns the step that a reference points to.
pub(super) fn find_step(context: &ReflectionContext, place: StepReference) -> Option<&Step> {
    let trajectory = context.trajectories.get(usize::try_from(place.trajectory).ok()?)?;
    let at = trajectory.steps.binary_search_by_key(&place.step, |step| step.number).ok()?;
    trajectory.steps.get(at)
}

/// Quotes what the agent did in a step: the passage of its own that contains `words`, cut to a line.
pub(super) fn quote_agent(context: &ReflectionContext, place: StepReference, words: &str) -> Option<UncheckedQuote> {
    quote_matching(context, place, words, |trust| *trust == TrustClass::Agent)
}

/// Quotes an output of a step, which is neither the agent's nor the user's text.
pub(super) fn quote_output(context: &ReflectionContext, place: StepReference, words: &str) -> Option<UncheckedQuote> {
    quote_matching(context, place, words, |trust| !matches!(trust, TrustClass::Agent | TrustClass::User))
}

/// Quotes what the user said in a step.
pub(super) fn quote_user(context: &ReflectionContext, place: StepReference, words: &str) -> Option<UncheckedQuote> {
    quote_matching(context, place, words, |trust| *trust == TrustClass::User)
}

/// Quotes what the agent said or did last, up to and including a step.
pub(super) fn quote_agent_before(context: &ReflectionContext, place: StepReference) -> Option<UncheckedQuote> {
    let trajectory = context.trajectories.get(usize::try_from(place.trajectory).ok()?)?;
    let end = trajectory.steps.partition_point(|step| step.number <= place.step);
    trajectory.steps.iter().take(end).rev().take(LOOKED_BACK).find_map(|step| {
        let place = StepReference { trajectory: place.trajectory, step: step.number };
        let own = quotable_texts(step).into_iter().find(|passage| passage.trust == TrustClass::Agent)?;
        quote_agent(context, place, &own.text)
    })
}

/// Tells whether a quote is from the agent, the user, a build or a file of the project.
pub(super) fn is_trustworthy_quote(context: &ReflectionContext, cited: &UncheckedQuote) -> bool {
    let own = |trust: &TrustClass| !matches!(trust, TrustClass::ToolOutput | TrustClass::Web | TrustClass::OtherAgent);
    find_step(context, cited.place).is_some_and(|step| {
        quotable_texts(step).iter().any(|passage| own(&passage.trust) && passage.text.contains(&cited.text))
    })
}

/// Tells whether a quote is in the agent's own words.
pub(super) fn is_agent_quote(context: &ReflectionContext, cited: &UncheckedQuote) -> bool {
    find_step(context, cited.place).is_some_and(|step| {
        let mut holding = quotable_texts(step).into_iter().filter(|passage| passage.text.contains(&cited.text));
        holding.next().is_some_and(|passage| passage.trust == TrustClass::Agent)
    })
}

/// Quotes the given words of a step, whoever said them.
pub(super) fn quote_anyone(context: &ReflectionContext, place: StepReference, words: &str) -> Option<UncheckedQuote> {
    quote_matching(context, place, words, |_| true)
}

fn quote_matching(
    context: &ReflectionContext,
    place: StepReference,
    words: &str,
    is_meant: impl Fn(&TrustClass) -> bool,
) -> Option<UncheckedQuote> {
    let step = find_step(context, place)?;
    let found = quotable_texts(step).into_iter().filter(|passage| is_meant(&passage.trust)).find_map(|passage| {
        let text = find_words(&passage.text, words)?;
        Some(UncheckedQuote { place, text, level: Some(passage.level.clone()) })
    });
    found.filter(|cited| cited.text.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_LETTERS)
}

/// Returns the first line of the words as it appears in a text, or its longest piece that covers half of it.
fn find_words(text: &str, words: &str) -> Option<String> {
    let words = words.trim();
    let wanted = words.lines().next().map(str::trim).filter(|line| !line.is_empty())?;
    let wanted = cut_line(wanted);
    if text.contains(wanted) {
        return Some(wanted.to_owned());
    }
    // Colours and margins were removed from the wanted line: its longest piece that appears in the text will do.
    let pieces = wanted.split(|c: char| c.is_control() || c == '\u{1b}');
    let longest = pieces.filter(|piece| text.contains(piece.trim())).max_by_key(|piece| piece.len())?.trim();
    (longest.len() * 2 >= wanted.len()).then(|| longest.to_owned())
}

/// Returns at most `MAX_CHARACTERS` characters of a line, cut between two words.
fn cut_line(line: &str) -> &str {
    let Some((end, _)) = line.char_indices().nth(MAX_CHARACTERS) else { return line };
    let head = line.get(..end).unwrap_or_default();
    head.rfind(' ').and_then(|at| head.get(..at)).filter(|cut| !cut.is_empty()).unwrap_or(head)
}

/// Returns each quote once, and at most `MAX_QUOTES` of them.
pub(super) fn dedup_and_cap(quotes: impl IntoIterator<Item = Option<UncheckedQuote>>) -> Vec<UncheckedQuote> {
    let mut kept: Vec<UncheckedQuote> = Vec::new();
    for quote in quotes.into_iter().flatten() {
        if kept.len() < MAX_QUOTES
            && !kept.iter().any(|known| known.text == quote.text && known.place.trajectory == quote.place.trajectory)
        {
            kept.push(quote);
        }
    }
    kept
}
