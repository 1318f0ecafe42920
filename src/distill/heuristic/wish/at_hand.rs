//! Whether a sentence is about the work at hand, and not about how work is done.

use super::super::words::any;
use super::lexicon::{FROM_NOW, ONCE, PLACES, TOOLS, is_deed};
use super::standing::Spoken;

#[cfg(test)]
#[path = "at_hand_tests.rs"]
mod tests;

impl Spoken<'_> {
    /// Whether it holds for what is being done, and ends with it.
    pub(super) fn is_at_hand(&self) -> bool {
        if any(ONCE, |once| self.lower.contains(once)) || self.is_not_yet() {
            return true;
        }
        !any(FROM_NOW, |words| self.lower.contains(words))
            && (self.names_this_thing()
                || self.tells_what_a_thing_should()
                || self.is_of_the_moment()
                || self.picks_one()
                || self.ends_in_this()
                || self.is_of_this_line())
    }

    fn is_not_yet(&self) -> bool {
        self.words.contains(&"yet")
    }

    /// "In that function", "for this": a place within the work, and not the project as a whole.
    fn names_this_thing(&self) -> bool {
        (0..self.words.len()).any(|at| {
            let is_within = matches!(self.word(at), "in" | "on" | "for" | "at" | "inside" | "within");
            let is_this = matches!(self.word(at + 1), "this" | "that" | "these" | "those");
            let is_place =
                [self.word(at + 2), self.word(at + 3)].iter().any(|noun| any(PLACES, |place| place == *noun));
            is_within && is_this && !is_place
        })
    }

    /// "Now", "the call we just added", "so you can drop the check".
    fn is_of_the_moment(&self) -> bool {
        const MOMENTS: &str =
            "so you can|so commit|so push|so merge|so ship|so go |so continue|so carry on|so proceed|as discussed";
        const DONE: &str = "made|did|wrote|put|built|ran|sent|got|saw|gave|took|fixed";
        let is_told_of_us = matches!(self.word(0), "we" | "we're" | "we've" | "this" | "our");
        let is_now = self.words.iter().enumerate().any(|(at, word)| {
            *word == "now" && !matches!(at.checked_sub(1).map(|at| self.word(at)), Some("on" | "from" | "of"))
        });
        let is_just_done = (0..self.words.len()).any(|at| {
            let past = self.word(at + 2);
            matches!(self.word(at), "you" | "we" | "i")
                && self.word(at + 1) == "just"
                && (past.ends_with("ed") || any(DONE, |known| known == past))
        });
        (is_now && !is_told_of_us) || is_just_done || any(MOMENTS, |words| self.lower.contains(words))
    }

    /// "It should pick up where it left off": what a thing is to do, and not whoever works on it.
    fn tells_what_a_thing_should(&self) -> bool {
        ["it should ", "it must ", "it has to ", "it needs to "].iter().any(|words| self.lower.contains(words))
    }

    /// "Option 2", "the second variant, not the first": one of several that were offered.
    fn picks_one(&self) -> bool {
        const OFFERS: &str =
            "option|variant|approach|choice|alternative|suggestion|proposal|idea|solution|version|way|one";
        let is_offer = |word: &str| any(OFFERS, |offer| offer == word);
        (0..self.words.len()).any(|at| {
            let next = self.word(at + 1);
            let is_numbered = matches!(self.word(at), "option" | "variant" | "approach" | "proposal" | "alternative")
                && next.chars().count() == 1;
            let is_ordinal = matches!(self.word(at), "first" | "second" | "third" | "latter" | "former" | "other");
            let is_meant = at > 0 && self.word(at - 1) == "the" && (is_offer(next) || next.is_empty());
            is_numbered || (is_ordinal && is_meant)
        })
    }

    /// "Don't log errors there, throw them", "use a map here": a spot, unless it is named or the order is about tools.
    fn is_of_this_line(&self) -> bool {
        let clause = self.lower.split([',', ';', '—', '–']).next().unwrap_or_default();
        let clause = Spoken::new(clause);
        let is_known = clause.words.iter().any(|word| any(TOOLS, |tool| tool == *word)) || clause.is_of_a_kind_named();
        let is_every = |word: &&str| matches!(*word, "never" | "always" | "ever" | "any" | "anything" | "from");
        let is_there = clause.words.last().is_some_and(|last| *last == "there" || (*last == "here" && !is_known));
        is_there && clause.is_order() && !clause.words.iter().any(is_every)
    }

    /// "Ask Tom before you merge this": what it is about was only pointed at.
    fn ends_in_this(&self) -> bool {
        let mut back = self.words.iter().rev();
        let (Some(last), Some(deed)) = (back.next(), back.next()) else { return false };
        let is_open =
            matches!(*last, "it" | "that" | "them") && !self.is_of_a_kind_named() && !self.lower.contains('`');
        is_deed(deed) && (is_open || matches!(*last, "this" | "these" | "those"))
    }
}
