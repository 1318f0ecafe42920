//! Words of the log to prove a claim by, taken from the passages themselves.

use super::super::claim::{Cited, Place};
use crate::context::{ReflectionContext, passages};
use crate::domain::{Step, TrustClass};

#[cfg(test)]
#[path = "quote_tests.rs"]
mod tests;

/// A claim cites no more than this.
pub(super) const MAX_QUOTES: usize = 6;

/// What is shorter proves nothing.
const MIN_LETTERS: usize = 6;

/// How many steps back the agent's own words are looked for.
const LOOKED_BACK: usize = 8;

/// A quote is a line, not a page.
const MAX_CHARACTERS: usize = 240;

/// The step at a place.
pub(super) fn step(context: &ReflectionContext, place: Place) -> Option<&Step> {
    let trajectory = context.trajectories.get(usize::try_from(place.trajectory).ok()?)?;
    let at = trajectory.steps.binary_search_by_key(&place.step, |step| step.number).ok()?;
    trajectory.steps.get(at)
}

/// What the agent did at a place: the passage of its own that holds `words`, cut to a line.
pub(super) fn deed(context: &ReflectionContext, place: Place, words: &str) -> Option<Cited> {
    cite(context, place, words, |trust| *trust == TrustClass::Agent)
}

/// What came back at a place.
pub(super) fn output(context: &ReflectionContext, place: Place, words: &str) -> Option<Cited> {
    cite(context, place, words, |trust| !matches!(trust, TrustClass::Agent | TrustClass::User))
}

/// What a person said at a place.
pub(super) fn said(context: &ReflectionContext, place: Place, words: &str) -> Option<Cited> {
    cite(context, place, words, |trust| *trust == TrustClass::User)
}

/// What the agent said or did last before a place.
pub(super) fn before(context: &ReflectionContext, place: Place) -> Option<Cited> {
    let trajectory = context.trajectories.get(usize::try_from(place.trajectory).ok()?)?;
    let end = trajectory.steps.partition_point(|step| step.number <= place.step);
    trajectory.steps.iter().take(end).rev().take(LOOKED_BACK).find_map(|step| {
        let place = Place { trajectory: place.trajectory, step: step.number };
        let own = passages(step).into_iter().find(|passage| passage.trust == TrustClass::Agent)?;
        deed(context, place, &own.text)
    })
}

/// Whether a quote is in the agent's or a person's own words, or in those of a build or a file of the project.
pub(super) fn is_own(context: &ReflectionContext, cited: &Cited) -> bool {
    let own = |trust: &TrustClass| !matches!(trust, TrustClass::ToolOutput | TrustClass::Web | TrustClass::OtherAgent);
    step(context, cited.place).is_some_and(|step| {
        passages(step).iter().any(|passage| own(&passage.trust) && passage.text.contains(&cited.text))
    })
}

/// Whether a quote is in the agent's own words.
pub(super) fn is_agents(context: &ReflectionContext, cited: &Cited) -> bool {
    step(context, cited.place).is_some_and(|step| {
        let mut holding = passages(step).into_iter().filter(|passage| passage.text.contains(&cited.text));
        holding.next().is_some_and(|passage| passage.trust == TrustClass::Agent)
    })
}

/// Any words at a place that are those looked for.
pub(super) fn any(context: &ReflectionContext, place: Place, words: &str) -> Option<Cited> {
    cite(context, place, words, |_| true)
}

fn cite(
    context: &ReflectionContext,
    place: Place,
    words: &str,
    is_meant: impl Fn(&TrustClass) -> bool,
) -> Option<Cited> {
    let step = step(context, place)?;
    let found = passages(step).into_iter().filter(|passage| is_meant(&passage.trust)).find_map(|passage| {
        let text = find(&passage.text, words)?;
        Some(Cited { place, text, level: Some(passage.level.clone()) })
    });
    found.filter(|cited| cited.text.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_LETTERS)
}

/// The words as they stand in a text: as a whole, or the line that begins like them.
fn find(text: &str, words: &str) -> Option<String> {
    let words = words.trim();
    let wanted = words.lines().next().map(str::trim).filter(|line| !line.is_empty())?;
    let wanted = to_length(wanted);
    if text.contains(wanted) {
        return Some(wanted.to_owned());
    }
    // Colours and margins were taken out of what is looked for: its longest stretch that stands there will do.
    let pieces = wanted.split(|c: char| c.is_control() || c == '\u{1b}');
    let longest = pieces.filter(|piece| text.contains(piece.trim())).max_by_key(|piece| piece.len())?.trim();
    (longest.len() * 2 >= wanted.len()).then(|| longest.to_owned())
}

/// At most so many characters, cut between two words.
fn to_length(line: &str) -> &str {
    let Some((end, _)) = line.char_indices().nth(MAX_CHARACTERS) else { return line };
    let head = line.get(..end).unwrap_or_default();
    head.rfind(' ').and_then(|at| head.get(..at)).filter(|cut| !cut.is_empty()).unwrap_or(head)
}

/// Each quote once, no more than a claim may have.
pub(super) fn few(quotes: impl IntoIterator<Item = Option<Cited>>) -> Vec<Cited> {
    let mut kept: Vec<Cited> = Vec::new();
    for quote in quotes.into_iter().flatten() {
        if kept.len() < MAX_QUOTES
            && !kept.iter().any(|known| known.text == quote.text && known.place.trajectory == quote.place.trajectory)
        {
            kept.push(quote);
        }
    }
    kept
}
