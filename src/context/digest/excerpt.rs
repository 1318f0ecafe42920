//! A long text by its beginning, its end, and the lines that matter.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::failure::complaint_weight;

#[cfg(test)]
#[path = "excerpt_tests.rs"]
mod tests;

/// A longer quotation is shown by its beginning.
const MAX_QUOTE_BYTES: usize = 2000;

/// A gap that is no longer than its mark would be is no gap.
const MIN_GAP_BYTES: usize = 32;

/// So many lines after a complaint tend to explain it.
const EXPLAINED: usize = 2;

/// So many lines of one weight that begin alike are shown as complaints.
const ALIKE: usize = 2;

/// Where a text comes from, which tells what matters in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TextOrigin {
    /// Somebody wrote it: the beginning says most.
    #[default]
    Writing,
    /// A command printed it: complaints matter, then the end.
    Command,
    /// A file, a search or a page: of complaints only those of the shell itself.
    Dump,
}

/// The lines of a text that matter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted<'a> {
    /// Those that signals quote.
    pub(super) quotes: &'a [&'a str],
    /// Those with words of complaints that stand elsewhere, in lower case.
    pub(super) trouble: Option<&'a BTreeSet<String>>,
    pub(super) origin: TextOrigin,
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch<'t> {
    /// Word for word.
    Kept(&'t str),
    /// Left out: so many line breaks and bytes.
    Gap { lines: usize, bytes: usize },
}

/// Chooses about `limit` bytes of a text. The quotations that stand in it are always among them; then come complaints,
/// the loudest first, or lines with words of complaints, then the end and the beginning.
pub(super) fn excerpt<'t>(text: &'t str, limit: usize, wanted: Wanted<'_>) -> Vec<Stretch<'t>> {
    if text.len() <= limit.saturating_add(MIN_GAP_BYTES) {
        return vec![Stretch::Kept(text)];
    }
    let mut choice = Choice { units: units(text, limit), spent: 0 };
    for quote in wanted.quotes.iter().filter(|quote| !quote.is_empty()) {
        if let Some(start) = text.find(quote) {
            choice.keep_range(start, start + quote.len().min(MAX_QUOTE_BYTES));
        }
    }
    if let Some(trouble) = wanted.trouble {
        choice.keep_trouble(text, trouble, limit / 3 * 2);
    } else if wanted.origin != TextOrigin::Writing {
        choice.keep_complaints(text, wanted.origin == TextOrigin::Dump, limit / 3 * 2);
    }
    if wanted.origin == TextOrigin::Writing {
        choice.keep_some(0, usize::MAX, limit / 4 * 3);
    }
    choice.keep_ends(limit);
    choice.stretches(text)
}

/// Splits a text into its words, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1).map(str::to_lowercase)
}

/// A line, or a stretch of a long one.
struct Unit {
    start: usize,
    end: usize,
    /// It goes on with a line that began in an earlier unit.
    is_rest: bool,
    is_kept: bool,
}

struct Choice {
    units: Vec<Unit>,
    spent: usize,
}

impl Choice {
    fn keep_range(&mut self, start: usize, end: usize) {
        let first = self.units.partition_point(|unit| unit.end <= start);
        for unit in self.units.iter_mut().skip(first).take_while(|unit| unit.start < end).filter(|unit| !unit.is_kept) {
            unit.is_kept = true;
            self.spent += unit.end - unit.start;
        }
    }

    /// Keeps lines with words of complaints, those first whose words are rare in this text.
    fn keep_trouble(&mut self, text: &str, trouble: &BTreeSet<String>, limit: usize) {
        let line = |unit: &Unit| text.get(unit.start..unit.end).unwrap_or_default();
        let told: Vec<BTreeSet<String>> =
            self.units.iter().map(|unit| words(line(unit)).filter(|word| trouble.contains(word)).collect()).collect();
        let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
        for word in told.iter().flatten() {
            *lines.entry(word).or_default() += 1;
        }
        let weight = |word: &String| lines.get(word.as_str()).map_or(0, |lines| 1000 / lines);
        let mut ranked: Vec<(u32, usize)> =
            told.iter().map(|words| words.iter().map(weight).sum()).zip(0..).filter(|(sum, _)| *sum > 0).collect();
        ranked.sort_by_key(|(sum, at)| (std::cmp::Reverse(*sum), *at));
        for (_, at) in ranked {
            self.keep_some(at, 1, limit);
        }
    }

    /// Keeps so many units from this one on, as far as there is room.
    fn keep_some(&mut self, at: usize, count: usize, limit: usize) {
        for unit in self.units.iter_mut().skip(at).take(count).filter(|unit| !unit.is_kept) {
            let length = unit.end - unit.start;
            if self.spent + length > limit {
                return;
            }
            unit.is_kept = true;
            self.spent += length;
        }
    }

    /// Keeps lines that complain and what follows them, the loudest first.
    fn keep_complaints(&mut self, text: &str, is_dump: bool, limit: usize) {
        let mut alike: BTreeMap<(u8, &str), usize> = BTreeMap::new();
        let mut loud: Vec<(u8, usize)> = Vec::new();
        for (at, unit) in self.units.iter().enumerate().filter(|(_, unit)| !unit.is_rest) {
            let line = text.get(unit.start..unit.end).unwrap_or_default();
            let weight = complaint_weight(line, is_dump);
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
            self.keep_some(at, EXPLAINED + 1, limit);
        }
    }

    /// Keeps lines from both ends towards the middle; of long ones the beginning, and more of them where there is room.
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

    fn stretches<'t>(&self, text: &'t str) -> Vec<Stretch<'t>> {
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

fn push_kept<'t>(stretches: &mut Vec<Stretch<'t>>, text: &'t str, start: usize, end: usize) {
    if let Some(kept) = text.get(start..end).filter(|kept| !kept.is_empty()) {
        stretches.push(Stretch::Kept(kept));
    }
}

fn push_gap(stretches: &mut Vec<Stretch<'_>>, text: &str, start: usize, end: usize) {
    if let Some(gap) = text.get(start..end).filter(|gap| !gap.is_empty()) {
        let lines = memchr::memchr_iter(b'\n', gap.as_bytes()).count();
        stretches.push(Stretch::Gap { lines, bytes: gap.len() });
    }
}

/// The lines of a text; long ones in stretches, so that one line does not take everything or nothing.
fn units(text: &str, limit: usize) -> Vec<Unit> {
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
            units.push(Unit { start, end: at, is_rest: start > line_start, is_kept: false });
            start = at;
        }
        if start < line_end {
            units.push(Unit { start, end: line_end, is_rest: start > line_start, is_kept: false });
        }
        start = line_end;
    }
    units
}
