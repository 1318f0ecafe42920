//! A long text by its beginning, its end, and the lines that matter.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

#[cfg(test)]
#[path = "excerpt_tests.rs"]
mod tests;

/// A longer quotation is shown by its beginning.
const MAX_QUOTE_BYTES: usize = 2000;

/// A gap that is no longer than its mark would be is no gap.
const MIN_GAP_BYTES: usize = 32;

/// What a line that tells of an error tends to hold.
const ERROR_WORDS: &[&str] = &[
    "error",
    "failed",
    "failure",
    "fail:",
    "panicked",
    "exception",
    "fatal",
    "traceback",
    "assert",
    "cannot",
    "denied",
    "not found",
    "no such",
    "undefined",
    "unresolved",
    "timed out",
    "timeout",
    "refused",
    "aborted",
    "expected",
];

static ERRORS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(ERROR_WORDS).ok());

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch<'t> {
    /// Word for word.
    Kept(&'t str),
    /// Left out: so many line breaks and bytes.
    Gap { lines: usize, bytes: usize },
}

/// About `limit` bytes of a text. The quotations that stand in it are always among them.
pub(super) fn excerpt<'t>(text: &'t str, limit: usize, quotes: &[&str]) -> Vec<Stretch<'t>> {
    if text.len() <= limit.saturating_add(MIN_GAP_BYTES) {
        return vec![Stretch::Kept(text)];
    }
    let mut choice = Choice { units: units(text, limit), spent: 0 };
    for quote in quotes.iter().filter(|quote| !quote.is_empty()) {
        if let Some(start) = text.find(quote) {
            choice.keep_range(start, start + quote.len().min(MAX_QUOTE_BYTES));
        }
    }
    choice.keep_errors(text, limit / 2);
    choice.keep_next(limit / 4 * 3);
    choice.keep_ends(limit);
    choice.stretches(text)
}

/// A line, or a stretch of a long one.
struct Unit {
    start: usize,
    end: usize,
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

    /// The first lines that tell of an error.
    fn keep_errors(&mut self, text: &str, limit: usize) {
        let Some(errors) = ERRORS.as_ref() else { return };
        for unit in &mut self.units {
            if self.spent >= limit {
                return;
            }
            let length = unit.end - unit.start;
            let line = text.get(unit.start..unit.end).unwrap_or_default();
            if !unit.is_kept && self.spent + length <= limit && errors.is_match(line) {
                unit.is_kept = true;
                self.spent += length;
            }
        }
    }

    /// What follows a line that matters tends to explain it.
    fn keep_next(&mut self, limit: usize) {
        let mut is_next = false;
        for unit in &mut self.units {
            let length = unit.end - unit.start;
            let was_kept = unit.is_kept;
            if is_next && !was_kept && self.spent + length <= limit {
                unit.is_kept = true;
                self.spent += length;
            }
            is_next = was_kept;
        }
    }

    /// From both ends towards the middle.
    fn keep_ends(&mut self, limit: usize) {
        let mut spent = self.spent;
        let mut ends = self.units.iter_mut();
        let mut from_start = true;
        while let Some(unit) = if from_start { ends.next() } else { ends.next_back() } {
            if !unit.is_kept {
                spent += unit.end - unit.start;
                if spent > limit {
                    return;
                }
                unit.is_kept = true;
            }
            from_start = !from_start;
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
    let longest = (limit / 4).clamp(48, 400);
    let mut units = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let line_end = start + line.len();
        while line_end - start > longest {
            let cut = text.floor_char_boundary(start + longest);
            let near = text.floor_char_boundary(start + longest - longest / 4);
            let at = text.get(near..cut).and_then(|end| end.rfind(' ')).map_or(cut, |space| near + space + 1);
            units.push(Unit { start, end: at, is_kept: false });
            start = at;
        }
        if start < line_end {
            units.push(Unit { start, end: line_end, is_kept: false });
        }
        start = line_end;
    }
    units
}
