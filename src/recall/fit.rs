//! As many lessons as a prompt may hold, by number and by tokens, counted on the text as it will stand there.

use super::render::is_empty;
use super::{Form, Frame, Given, related};
use crate::domain::MemoryKind;
use crate::text::Tokenizer;

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;

/// What a block may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// At most so many lessons.
    pub items: usize,
    /// At most so many tokens, heading and frame included.
    pub tokens: usize,
    /// And so many characters, as agents written in JavaScript count them.
    pub characters: usize,
    /// Places kept for preferences, before all others.
    pub preference_places: usize,
    /// With fewer tokens left than this nothing more is put in.
    pub min_space: usize,
}

impl Caps {
    fn hold(&self, text: &str, tokenizer: &Tokenizer) -> bool {
        let is_short = text.len() <= self.characters || text.encode_utf16().count() <= self.characters;
        is_short && tokenizer.fits(text, self.tokens)
    }
}

/// What fitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// The block; empty if there is nothing to say.
    pub text: String,
    /// Which of the lessons are in it, in its order, by their places among those that were offered.
    pub given: Vec<usize>,
    /// How they were made to fit.
    pub how: Fit,
    /// How many were left out for want of room.
    pub dropped: usize,
    /// How many were left out because nothing that they speak of is there any more.
    pub stale: usize,
}

/// How lessons were made to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// They are there in full.
    Whole,
    /// They are there by their summaries.
    Shortened,
    /// Only some of them are there.
    Picked,
}

/// Makes a block of the best of `lessons`, which come in their order.
///
/// All of them in full if that fits, else all by their summaries, else one after another whatever still fits. A few
/// places are kept for preferences, however many other lessons are better. No cap is ever passed.
pub fn fit(lessons: &[Given<'_>], frame: &Frame, caps: &Caps, tokenizer: &Tokenizer) -> Fitted {
    let (stale, fresh): (Vec<_>, Vec<_>) =
        lessons.iter().filter(|lesson| !is_empty(lesson)).partition(|lesson| lesson.staleness.is_orphaned());
    let offered = fresh.len();
    let mut chosen = preferences_first(fresh, caps.preference_places);
    chosen.truncate(caps.items);
    let whole = [(Form::Full, Fit::Whole), (Form::Short, Fit::Shortened)].into_iter().find_map(|(form, how)| {
        let block = Block::of(chosen.clone(), frame, form);
        caps.hold(&block.text, tokenizer).then_some((block, how))
    });
    let (block, how) = whole.unwrap_or_else(|| (picked(chosen, frame, caps, tokenizer), Fit::Picked));
    let place = |given: &&Given<'_>| lessons.iter().position(|lesson| std::ptr::eq(lesson, *given));
    Fitted {
        given: block.lessons.iter().filter_map(place).collect(),
        how,
        dropped: offered - block.lessons.len(),
        stale: stale.len(),
        text: block.text,
    }
}

/// The first preferences, as many as have a place of their own, and then all others in their order.
fn preferences_first<'g, 'a>(lessons: Vec<&'g Given<'a>>, places: usize) -> Vec<&'g Given<'a>> {
    let mut left = places;
    let (mut first, rest): (Vec<_>, Vec<_>) = lessons.into_iter().partition(|lesson| {
        let has_place = lesson.memory.kind == MemoryKind::Preference && left > 0;
        left -= usize::from(has_place);
        has_place
    });
    first.extend(rest);
    first
}

/// Lessons as they stand in a block.
struct Block<'g, 'a> {
    lessons: Vec<&'g Given<'a>>,
    text: String,
}

impl<'g, 'a> Block<'g, 'a> {
    fn of(lessons: Vec<&'g Given<'a>>, frame: &Frame, form: Form) -> Self {
        let lessons = related::arranged(lessons);
        let lines = (1..).zip(&lessons).map(|(number, lesson)| frame.line(number, lesson, &lessons, form));
        let text = frame.around(&lines.collect::<Vec<_>>());
        Self { lessons, text }
    }
}

/// One lesson after another by its summary, as long as there is room. One that is too long keeps no shorter one out.
fn picked<'g, 'a>(chosen: Vec<&'g Given<'a>>, frame: &Frame, caps: &Caps, tokenizer: &Tokenizer) -> Block<'g, 'a> {
    let characters = |text: &str| text.encode_utf16().count();
    let (head, tail) = (frame.head(), frame.tail());
    let mut left = caps.tokens.saturating_sub(tokenizer.count(&head) + tokenizer.count(tail));
    let mut room = caps.characters.saturating_sub(characters(&head) + characters(tail));
    let mut taken: Vec<&Given<'_>> = Vec::new();
    for lesson in &chosen {
        if left < caps.min_space.max(1) {
            break;
        }
        // Parts that end with a line break and begin with a dash or a digit cost together what they cost apart. The ties to
        // lessons that may yet be left out are paid for, so that the block is rather too short.
        let line = frame.line(taken.len() + 1, lesson, &chosen, Form::Short);
        let (cost, length) = (tokenizer.count(&line), characters(&line));
        if cost <= left && length <= room {
            (left, room) = (left - cost, room - length);
            taken.push(lesson);
        }
    }
    // What was paid for is what is there. Should a count ever come out higher, the last one goes.
    loop {
        let block = Block::of(taken.clone(), frame, Form::Short);
        if taken.pop().is_none() || caps.hold(&block.text, tokenizer) {
            return block;
        }
    }
}
