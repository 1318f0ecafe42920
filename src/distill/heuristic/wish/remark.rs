//! The sentences of one message: which of them says what is wanted, and which completes it.

use super::super::scene::Deed;
use super::super::words::{any, capital, relative};
use super::phrase::{self, When, small};
use super::speech;
use super::standing::{Role, Spoken};
use crate::context::Action;

#[cfg(test)]
#[path = "remark_tests.rs"]
mod tests;

/// How much of a person's words stands in a summary.
pub(super) const SHOWN_CHARACTERS: usize = 250;

/// A wish is told in so many of their sentences at most.
const MOST_SENTENCES: usize = 2;

/// One sentence of a person.
#[derive(Debug)]
pub(super) struct Remark<'t> {
    pub(super) said: &'t str,
    /// Spelled out, without what only leads up to it, and an order where one was asked for politely.
    bare: String,
    pub(super) lower: String,
    role: Role,
    is_asked: bool,
}

impl<'t> Remark<'t> {
    pub(super) fn of(said: &'t str, before: &[&Deed<'_>], is_correction: bool) -> Self {
        let plain = speech::plain(said);
        let whole = Self::read(said, &plain, before, is_correction);
        // "Fine for now, but in future …"
        if let Some((_, rest)) = plain.split_once(", but ").filter(|_| whole.role != Role::Standing) {
            let part = Self::read(said, rest, before, is_correction);
            if part.role == Role::Standing {
                return part;
            }
        }
        // "Amend this one and keep to it from here on."
        if let Some((_, rest)) = plain.rsplit_once(" and ").filter(|_| matches!(whole.role, Role::Task | Role::Order)) {
            let part = Self::read(said, rest, before, is_correction);
            if part.role == Role::Lasting {
                return part;
            }
        }
        // "A reminder: never push."
        match plain.split_once(": ").filter(|_| !matches!(whole.role, Role::Standing | Role::Task)) {
            Some((_, rest)) => Some(Self::read(said, rest, before, is_correction))
                .filter(|part| {
                    part.role == Role::Standing || (whole.role == Role::Passing && part.role != Role::Passing)
                })
                .unwrap_or(whole),
            None => whole,
        }
    }

    fn read(said: &'t str, words: &str, before: &[&Deed<'_>], is_correction: bool) -> Self {
        let start = speech::bare(words);
        let asked = speech::asked(start.text);
        let is_for_long = start.is_for_long || asked.as_ref().is_some_and(|asked| asked.is_for_long);
        let is_asked = asked.is_some();
        let bare = asked.map_or_else(|| start.text.to_owned(), |asked| asked.order);
        let lower = bare.to_lowercase();
        let spoken = Spoken::new(&lower);
        let role = match spoken.role(before, is_correction || is_asked && spoken.is_forbidding()) {
            Role::Order | Role::Fact if is_for_long && spoken.words.len() >= 4 => Role::Standing,
            // "Could you always run the linter?"
            Role::Order if is_asked && spoken.says_it_lasts() && !spoken.points() => Role::Standing,
            Role::Fact if is_asked && !matches!(spoken.word(0), "always" | "never") => Role::Passing,
            role => role,
        };
        Self { said, bare, lower, role, is_asked }
    }

    pub(super) fn spoken(&self) -> Spoken<'_> {
        Spoken::new(&self.lower)
    }

    /// As a sentence of its own.
    pub(super) fn sentence(&self, before: &[&Deed<'_>], root: &str) -> String {
        let bare = self.bare.trim_end_matches(['.', '!', ';', ' ']);
        let told = match speech::behind(bare, "you keep ") {
            Some(habit) => format!("Stop {habit}"),
            None => named(bare, before, root).unwrap_or_else(|| bare.to_owned()),
        };
        let told = told.replace(" please,", ",");
        format!("{}.", capital(&relative(&phrase::of_the_user(&told), Some(root))))
    }

    /// What it asks for, and when; nothing, if it only tells how things are.
    pub(super) fn order(&self, root: &str) -> Option<When> {
        let bare = self.bare.trim_end_matches(['.', '!', ';', ' ']);
        let told = |text: &str| small(&relative(&phrase::of_the_user(text), Some(root)));
        if let Some(when) = phrase::when(bare) {
            return Some(When { condition: told(&when.condition), order: told(&when.order) });
        }
        let order = phrase::as_order(bare).or_else(|| self.spoken().is_order().then(|| bare.to_owned()))?;
        Some(When { condition: String::new(), order: told(&order) })
    }

    /// Whether it says why, and nothing that is to be done.
    pub(super) fn is_reason(&self) -> bool {
        const WHY: &str = "otherwise|because|or else|since |the reason|that breaks|this breaks|it breaks|that broke|it broke|it makes|it takes|\
            they get|they are|it gets|that way|this way|ci ";
        let is_told = !self.spoken().is_order() && !self.lower.ends_with('?');
        let is_leaning = self.role == Role::Fact
            && (self.spoken().leans() && self.spoken().word(0) != "there's" || self.lower.ends_with("depends on it."));
        is_told && (is_leaning || any(WHY, |words| self.lower.starts_with(words)))
    }
}

/// "That file is generated" with the file's name, where the last edit tells it.
fn named(bare: &str, before: &[&Deed<'_>], root: &str) -> Option<String> {
    let pointers = ["that file ", "this file ", "the file ", "that one "];
    let rest = pointers.iter().find_map(|pointer| speech::behind(bare, pointer))?;
    let changes = before.iter().find_map(|deed| match &deed.action {
        Action::Edit(changes) => Some(changes),
        _ => None,
    })?;
    Some(format!("`{}` {rest}", relative(&changes.first()?.path, Some(root))))
}

/// A person's own sentences: what is fenced, quoted or pasted was said by others.
pub(super) fn own_sentences(text: &str) -> Vec<&str> {
    let mut said: Vec<&str> = Vec::new();
    let mut is_fenced = false;
    for line in text.lines().map(str::trim) {
        let lower = line.to_lowercase();
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if lower.ends_with(':')
            && (lower.starts_with("here") || lower.ends_with("says:") || lower.ends_with("said:"))
        {
            // "Here:" and a page of somebody else's.
            break;
        } else if !is_fenced && !line.starts_with('>') {
            said.extend(speech::sentences(line));
        }
    }
    said
}

/// Whether a message is about what was done, and no new order: what is ruled out in an order holds for that order.
pub(super) fn is_remark(said: &[&str], before: &[&Deed<'_>]) -> bool {
    const MOST: usize = 6;
    let first = said.first().map(|first| Remark::of(first, before, false));
    if first.is_some_and(|first| {
        first.spoken().is_ban() || first.is_asked && (first.role == Role::Standing || first.spoken().is_forbidding())
    }) {
        return true;
    }
    let mut read = said.iter().map(|said| Remark::of(said, before, false));
    let first = read.find(|remark| remark.role != Role::Passing || remark.lower.starts_with("you "));
    let is_asked = said.first().is_some_and(|first| {
        let lower = first.to_lowercase();
        lower.ends_with('?') && !lower.starts_with("why")
    });
    !before.is_empty()
        && said.len() <= MOST
        && !is_asked
        && first.is_some_and(|first| !matches!(first.role, Role::Order | Role::Task))
}

/// The sentence that matters most: one that is meant for good, or one of which another says so.
pub(super) fn core(remarks: &[Remark<'_>]) -> Option<usize> {
    if let Some(standing) = remarks.iter().position(|remark| remark.role == Role::Standing) {
        return Some(standing);
    }
    let lasting = remarks.iter().position(|remark| remark.role == Role::Lasting)?;
    let is_meant = |at: &usize| {
        remarks.get(*at).is_some_and(|remark| {
            matches!(remark.role, Role::Order | Role::Fact)
                && remark.spoken().words.len() >= 4
                && !remark.spoken().leans()
        })
    };
    (0..lasting).rev().find(is_meant).or_else(|| (lasting + 1..remarks.len()).find(is_meant))
}

/// The sentence with the one that completes it: what to do instead, or what it leans on.
pub(super) fn with_company(remarks: &[Remark<'_>], core: usize) -> Vec<usize> {
    let Some(remark) = remarks.get(core) else { return Vec::new() };
    let spoken = remark.spoken();
    let fits = |at: usize| {
        remarks.get(at).is_some_and(|other| {
            let both = other.bare.chars().count() + remark.bare.chars().count();
            both + 4 <= SHOWN_CHARACTERS && !other.bare.is_empty()
        })
    };
    let role = |at: usize| remarks.get(at).map(|remark| remark.role);
    let previous = core.checked_sub(1).filter(|at| fits(*at)).and_then(|at| Some((at, remarks.get(at)?)));
    if let Some((at, other)) = previous
        && (matches!(other.role, Role::Order | Role::Fact) || other.lower.starts_with("you"))
        && (spoken.leans()
            || spoken.points()
            || spoken.words.iter().take(4).any(|word| *word == "one")
            || other.lower.starts_with("that file")
            || other.lower.starts_with("this file"))
    {
        return vec![at, core];
    }
    let forbids = spoken.is_forbidding();
    let completes = |at: usize| {
        let Some(other) = remarks.get(at).filter(|_| fits(at)) else { return false };
        match other.role {
            // "We always do that in a separate commit."
            Role::Lasting => other.lower.starts_with("we ") && other.spoken().words.len() > 5 && at == core + 1,
            Role::Fact => other.spoken().is_fragment() && at == core + 1,
            _ if other.is_asked && other.spoken().points_back() => false,
            Role::Standing => true,
            Role::Order if spoken.is_order() || forbids => forbids != other.spoken().is_forbidding(),
            Role::Order => !other.spoken().points_back() || remark.said.ends_with(';'),
            _ => false,
        }
    };
    let reason = |at: usize| role(at) == Some(Role::Fact) && fits(at);
    let next = (core + 1..remarks.len()).take(MOST_SENTENCES).find(|at| completes(*at));
    match next {
        Some(next) => vec![core, next],
        None if core > 0 && role(core - 1) == Some(Role::Order) && completes(core - 1) => vec![core - 1, core],
        None if forbids && !spoken.has_instead() && core > 0 && reason(core - 1) => vec![core - 1, core],
        None if forbids && !spoken.has_instead() && reason(core + 1) => vec![core, core + 1],
        None => vec![core],
    }
}
