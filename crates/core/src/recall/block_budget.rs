//! Fits lessons into a block, limited by number and by tokens, counted on the text as the prompt will show it.

use super::block_render::has_no_text;
use super::{BlockFrame, PromptLesson, RenderDetail, related_lessons};
use crate::domain::MemoryKind;
use crate::text::Tokenizer;

#[cfg(test)]
#[path = "block_budget_tests.rs"]
mod tests;

/// The limits of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLimits {
    /// The most lessons in the block.
    pub items: usize,
    /// The most tokens, heading and frame included.
    pub tokens: usize,
    /// The most characters, as agents written in JavaScript count them.
    pub characters: usize,
    /// The places reserved for preferences, before all others.
    pub preference_places: usize,
    /// The smallest number of remaining tokens with which another lesson is tried.
    pub min_space: usize,
}

impl BlockLimits {
    /// Returns true if a block with this text stays within the limits.
    pub fn allow_text(&self, text: &str, tokenizer: &Tokenizer) -> bool {
        let is_short = text.len() <= self.characters || text.encode_utf16().count() <= self.characters;
        is_short && tokenizer.fits_within(text, self.tokens)
    }

    /// Returns the limits that remain for a block in which this text has its place already.
    #[must_use]
    pub fn without_text(self, text: &str, tokenizer: &Tokenizer) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(tokenizer.count_tokens(text)),
            characters: self.characters.saturating_sub(text.encode_utf16().count()),
            ..self
        }
    }
}

/// A block with the lessons that fitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittedBlock {
    /// The text of the block; empty if there is nothing to show.
    pub text: String,
    /// The indexes of the lessons in the block, in its order, among those that were offered.
    pub given: Vec<usize>,
    /// The method by which they were made to fit.
    pub how: FitMethod,
    /// The number of lessons left out for lack of room.
    pub dropped: usize,
    /// The number of lessons left out because nothing that they name exists any more.
    pub stale: usize,
}

/// The method by which lessons were made to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitMethod {
    /// All lessons are shown in full.
    Whole,
    /// All lessons are shown by their summaries.
    Shortened,
    /// Only some of the lessons are shown.
    Picked,
}

/// Makes a block of the best of `lessons`, which are sorted with the best first.
///
/// All of them in full if that fits, else all by their summaries, else one after another as long as they fit. Some
/// places are reserved for preferences, however many other lessons rank higher. No limit is ever exceeded.
pub fn fit_lessons(
    lessons: &[PromptLesson<'_>],
    frame: &BlockFrame,
    caps: &BlockLimits,
    tokenizer: &Tokenizer,
) -> FittedBlock {
    let (stale, fresh): (Vec<_>, Vec<_>) =
        lessons.iter().filter(|lesson| !has_no_text(lesson)).partition(|lesson| lesson.staleness.is_orphaned());
    let offered = fresh.len();
    let mut chosen = preferences_first(fresh, caps.preference_places);
    chosen.truncate(caps.items);
    let whole = [(RenderDetail::Full, FitMethod::Whole), (RenderDetail::Short, FitMethod::Shortened)]
        .into_iter()
        .find_map(|(form, how)| {
            let block = DraftBlock::from_lessons(chosen.clone(), frame, form);
            caps.allow_text(&block.text, tokenizer).then_some((block, how))
        });
    let (block, how) = whole.unwrap_or_else(|| (pick_lessons(chosen, frame, caps, tokenizer), FitMethod::Picked));
    let place = |given: &&PromptLesson<'_>| lessons.iter().position(|lesson| std::ptr::eq(lesson, *given));
    FittedBlock {
        given: block.lessons.iter().filter_map(place).collect(),
        how,
        dropped: offered - block.lessons.len(),
        stale: stale.len(),
        text: block.text,
    }
}

/// Returns the preferences with a reserved place first, and then all other lessons in their order.
fn preferences_first<'g, 'a>(lessons: Vec<&'g PromptLesson<'a>>, places: usize) -> Vec<&'g PromptLesson<'a>> {
    let mut left = places;
    let (mut first, rest): (Vec<_>, Vec<_>) = lessons.into_iter().partition(|lesson| {
        let has_place = lesson.memory.kind == MemoryKind::Preference && left > 0;
        left -= usize::from(has_place);
        has_place
    });
    first.extend(rest);
    first
}

/// A block in preparation, with its lessons and its text.
struct DraftBlock<'g, 'a> {
    lessons: Vec<&'g PromptLesson<'a>>,
    text: String,
}

impl<'g, 'a> DraftBlock<'g, 'a> {
    fn from_lessons(lessons: Vec<&'g PromptLesson<'a>>, frame: &BlockFrame, form: RenderDetail) -> Self {
        let lessons = related_lessons::arrange_related(lessons);
        let lines = (1..).zip(&lessons).map(|(number, lesson)| frame.render_line(number, lesson, &lessons, form));
        let text = frame.wrap_lines(&lines.collect::<Vec<_>>());
        Self { lessons, text }
    }
}

/// Picks one lesson after another by its summary, as long as there is room. A lesson that is too long does not exclude
/// shorter ones.
fn pick_lessons<'g, 'a>(
    chosen: Vec<&'g PromptLesson<'a>>,
    frame: &BlockFrame,
    caps: &BlockLimits,
    tokenizer: &Tokenizer,
) -> DraftBlock<'g, 'a> {
    let characters = |text: &str| text.encode_utf16().count();
    let (head, tail) = (frame.opening_text(), frame.closing_text());
    let mut left = caps.tokens.saturating_sub(tokenizer.count_tokens(&head) + tokenizer.count_tokens(tail));
    let mut room = caps.characters.saturating_sub(characters(&head) + characters(tail));
    let mut taken: Vec<&PromptLesson<'_>> = Vec::new();
    for lesson in &chosen {
        if left < caps.min_space.max(1) {
            break;
        }
        // Parts that end with a line break and begin with a dash or a digit cost together the sum of their single
        // costs. The ties to lessons that may yet be left out are counted too, so that the block is rather too short.
        let line = frame.render_line(taken.len() + 1, lesson, &chosen, RenderDetail::Short);
        let (cost, length) = (tokenizer.count_tokens(&line), characters(&line));
        if cost <= left && length <= room {
            (left, room) = (left - cost, room - length);
            taken.push(lesson);
        }
    }
    // The lines fit as they were counted. Should a count ever come out higher, the last lesson is dropped.
    loop {
        let block = DraftBlock::from_lessons(taken.clone(), frame, RenderDetail::Short);
        if taken.pop().is_none() || caps.allow_text(&block.text, tokenizer) {
            return block;
        }
    }
}
