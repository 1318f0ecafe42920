//! Shortens a long text to its beginning, its end and the lines that matter.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::failure::rate_error_line;

#[cfg(test)]
#[path = "excerpt_tests.rs"]
mod tests;

/// The number of bytes shown of a long quote.
const MAX_QUOTE_BYTES: usize = 2000;

/// The smallest gap that is left out; a shorter one would be no longer than its mark.
const MIN_GAP_BYTES: usize = 32;

/// The number of lines kept after an error line, because they tend to explain it.
const EXPLAINED: usize = 2;

/// The number of error lines kept that have the same weight and first word.
const ALIKE: usize = 2;

/// The origin of a text, which decides which of its lines matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TextOrigin {
    /// Prose: the beginning says most.
    #[default]
    Writing,
    /// The output of a command: error lines matter most, then the end.
    Command,
    /// A file, a search or a page: only error lines of the shell itself count.
    Dump,
}

/// The lines of a text that matter to an excerpt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExcerptFocus<'a> {
    /// The quotes of signals.
    pub(super) quotes: &'a [&'a str],
    /// Words of error lines elsewhere, in lower case; lines with these words matter.
    pub(super) error: Option<&'a BTreeSet<String>>,
    pub(super) origin: TextOrigin,
}

/// One part of an excerpt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExcerptPart<'t> {
    /// A part of the text, word for word.
    Kept(&'t str),
    /// A part left out, with the number of its line breaks and bytes.
    Gap { lines: usize, bytes: usize },
}

/// Chooses about `limit` bytes of a text. Quotes found in it are always kept; then come error lines, the strongest
/// first, or lines with words of error lines, then the end and the beginning.
pub(super) fn choose_excerpt<'t>(text: &'t str, limit: usize, wanted: ExcerptFocus<'_>) -> Vec<ExcerptPart<'t>> {
    if text.len() <= limit.saturating_add(MIN_GAP_BYTES) {
        return vec![ExcerptPart::Kept(text)];
    }
    let mut choice = ExcerptSelection { units: split_units(text, limit), spent: 0 };
    for quote in wanted.quotes.iter().filter(|quote| !quote.is_empty()) {
        if let Some(start) = text.find(quote) {
            choice.keep_range(start, start + quote.len().min(MAX_QUOTE_BYTES));
        }
    }
    if let Some(error) = wanted.error {
        choice.keep_lines_with_words(text, error, limit / 3 * 2);
    } else if wanted.origin != TextOrigin::Writing {
        choice.keep_error_lines(text, wanted.origin == TextOrigin::Dump, limit / 3 * 2);
    }
    if wanted.origin == TextOrigin::Writing {
        choice.keep_units(0, usize::MAX, limit / 4 * 3);
    }
    choice.keep_ends(limit);
    choice.collect_parts(text)
}

/// Splits a text into its words, in lower case.
pub(super) fn lowercase_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1).map(str::to_lowercase)
}

/// A line, or a part of a long one.
struct ExcerptUnit {
    start: usize,
    end: usize,
    /// True if it continues a line that began in an earlier unit.
    is_rest: bool,
    is_kept: bool,
}

struct ExcerptSelection {
    units: Vec<ExcerptUnit>,
    spent: usize,
}

impl ExcerptSelection {
    fn keep_range(&mut self, start: usize, end: usize) {
        let first = self.units.partition_point(|unit| unit.end <= start);
        for unit in self.units.iter_mut().skip(first).take_while(|unit| unit.start < end).filter(|unit| !unit.is_kept) {
            unit.is_kept = true;
            self.spent += unit.end - unit.start;
        }
    }

    /// Keeps lines with the given words, first those whose words are rare in this text.
    fn keep_lines_with_words(&mut self, text: &str, error: &BTreeSet<String>, limit: usize) {
        let line = |unit: &ExcerptUnit| text.get(unit.start..unit.end).unwrap_or_default();
        let told: Vec<BTreeSet<String>> = self
            .units
            .iter()
            .map(|unit| lowercase_words(line(unit)).filter(|word| error.contains(word)).collect())
            .collect();
        let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
        for word in told.iter().flatten() {
            *lines.entry(word).or_default() += 1;
        }
        let weight = |word: &String| lines.get(word.as_str()).map_or(0, |lines| 1000 / lines);
        let mut ranked: Vec<(u32, usize)> =
            told.iter().map(|words| words.iter().map(weight).sum()).zip(0..).filter(|(sum, _)| *sum > 0).collect();
        ranked.sort_by_key(|(sum, at)| (std::cmp::Reverse(*sum), *at));
        for (_, at) in ranked {
            self.keep_units(at, 1, limit);
        }
    }

    /// Keeps up to `count` units from `at` on, as far as there is room.
    fn keep_units(&mut self, at: usize, count: usize, limit: usize) {
        for unit in self.units.iter_mut().skip(at).take(count).filter(|unit| !unit.is_kept) {
            let length = unit.end - unit.start;
            if self.spent + length > limit {
                return;
            }
            unit.is_kept = true;
            self.spent += length;
        }
    }

    /// Keeps error lines and the lines after them, the strongest first.
    fn keep_error_lines(&mut self, text: &str, is_dump: bool, limit: usize) {
        let mut alike: BTreeMap<(u8, &str), usize> = BTreeMap::new();
        let mut loud: Vec<(u8, usize)> = Vec::new();
        for (at, unit) in self.units.iter().enumerate().filter(|(_, unit)| !unit.is_rest) {
            let line = text.get(unit.start..unit.end).unwrap_or_default();
            let weight = rate_error_line(line, is_dump);
            if weight == 0 {
                continue;
            }
            let times = alike.entry((weight, line.split_whitespace().next().unwrap_or_default())).or_default();
            *times += 1;
            if *times <= ALIKE {
                loud.push((weight, at));
            }
        }
        loud.sort_by_key(|(weight, at)| (std::cmp::Reverse(*weight), *at));
        for (_, at) in loud {
            self.keep_units(at, EXPLAINED + 1, limit);
        }
    }

    /// Keeps lines from both ends towards the middle: first the beginnings of long lines, then the rest of them.
    fn keep_ends(&mut self, limit: usize) {
        for with_rest in [self.units.iter().filter(|unit| !unit.is_rest).count() < 2, true] {
            let mut ends = self.units.iter_mut().filter(|unit| with_rest || !unit.is_rest);
            let (mut from_end, mut is_over) = (true, [false; 2]);
            while let Some(unit) = if from_end { ends.next_back() } else { ends.next() } {
                let length = if unit.is_kept { 0 } else { unit.end - unit.start };
                if self.spent + length <= limit {
                    unit.is_kept = true;
                    self.spent += length;
                } else {
                    is_over = if from_end { [is_over[0], true] } else { [true, is_over[1]] };
                }
                from_end = match is_over {
                    [true, true] => break,
                    [over_start, over_end] => over_start || (!from_end && !over_end),
                };
            }
        }
    }

    fn collect_parts<'t>(&self, text: &'t str) -> Vec<ExcerptPart<'t>> {
        let mut stretches = Vec::new();
        let (mut start, mut end) = (0, 0);
        for unit in self.units.iter().filter(|unit| unit.is_kept) {
            if unit.start > end + MIN_GAP_BYTES {
                push_kept(&mut stretches, text, start, end);
                push_gap(&mut stretches, text, end, unit.start);
                start = unit.start;
            }
            end = unit.end;
        }
        push_kept(&mut stretches, text, start, end);
        push_gap(&mut stretches, text, end, text.len());
        stretches
    }
}

fn push_kept<'t>(stretches: &mut Vec<ExcerptPart<'t>>, text: &'t str, start: usize, end: usize) {
    if let Some(kept) = text.get(start..end).filter(|kept| !kept.is_empty()) {
        stretches.push(ExcerptPart::Kept(kept));
    }
}

fn push_gap(stretches: &mut Vec<ExcerptPart<'_>>, text: &str, start: usize, end: usize) {
    if let Some(gap) = text.get(start..end).filter(|gap| !gap.is_empty()) {
        let lines = memchr::memchr_iter(b'\n', gap.as_bytes()).count();
        stretches.push(ExcerptPart::Gap { lines, bytes: gap.len() });
    }
}

/// Splits a text into lines, and long lines into parts, so that one line does not take everything or nothing.
fn split_units(text: &str, limit: usize) -> Vec<ExcerptUnit> {
    let longest = (limit / 3).clamp(160, 400);
    let mut units = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let line_start = start;
        let line_end = start + line.len();
        while line_end - start > longest {
            let cut = text.floor_char_boundary(start + longest);
            let near = text.floor_char_boundary(start + longest - longest / 4);
            let at = text.get(near..cut).and_then(|end| end.rfind(' ')).map_or(cut, |space| near + space + 1);
            units.push(ExcerptUnit { start, end: at, is_rest: start > line_start, is_kept: false });
            start = at;
        }
        if start < line_end {
            units.push(ExcerptUnit { start, end: line_end, is_rest: start > line_start, is_kept: false });
        }
        start = line_end;
    }
    units
}
