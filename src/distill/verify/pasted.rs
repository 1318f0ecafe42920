//! What of a message its speaker only passes on: whoever pastes a page has not said what stands in it.
//!
//! Quoted lines and quoted blocks in a person's message are somebody else's words. Fenced blocks are mostly the speaker's
//! own code, so they, and what an agent quotes, are a stranger's only where they order their reader about.

use std::collections::BTreeMap;

use super::orders::{Order, is_order};
use crate::domain::TrustClass;

#[cfg(test)]
#[path = "pasted_tests.rs"]
mod tests;

/// What a text that was passed on is worth: as much as a page on the web.
pub(super) const CLASS: TrustClass = TrustClass::Web;

/// Quotes a block in plain text.
const QUOTES: &str = "\"\"\"";

/// Tags that only a harness writes; a person who sends one has pasted it.
const HARNESS: &[&str] = &["system", "archivist"];

/// Different tags of one message that are looked at. Whoever uses more sends a page.
const MAX_TAGS: usize = 32;

/// As much of a block is looked at for orders at once.
const LOOKED_AT_BYTES: usize = 4 * 1024;

/// Part of a message, from one mouth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'t> {
    /// Where it begins in the message, in bytes.
    pub(super) start: usize,
    pub(super) text: &'t str,
    pub(super) is_strange: bool,
}

/// The parts of a message in order; together they are all of it.
pub(super) fn parts<'t>(message: &'t str, speaker: &TrustClass) -> Vec<Part<'t>> {
    let is_strange = |set: Set, text: &str| match set {
        Set::Plain => false,
        Set::Quoted if *speaker == TrustClass::User => true,
        Set::Quoted | Set::Block => gives_orders(text),
    };
    let mut parts: Vec<Part<'t>> = Vec::new();
    for (start, text, set) in pieces(message) {
        let part = Part { start, text, is_strange: is_strange(set, text) };
        match parts.last_mut().filter(|last| last.is_strange == part.is_strange) {
            Some(last) => last.text = message.get(last.start..start + text.len()).unwrap_or(last.text),
            None => parts.push(part),
        }
    }
    parts
}

/// The words of a message that are its speaker's own.
pub(super) fn own(message: &str, speaker: &TrustClass) -> String {
    parts(message, speaker).iter().filter(|part| !part.is_strange).map(|part| part.text).collect()
}

/// The stretches of a message that are set off neither as somebody else's words nor as code.
pub(in crate::distill) fn plain_parts(message: &str) -> Vec<&str> {
    pieces(message).into_iter().filter(|(_, _, set)| *set == Set::Plain).map(|(_, text, _)| text).collect()
}

/// How a stretch is set off from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    Plain,
    /// As somebody else's words.
    Quoted,
    /// As code, or between tags.
    Block,
}

/// What ends the block that a line is in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Until {
    /// A fence of this sign, at least so long.
    Fence(char, usize),
    /// The first line that holds this.
    Mark(String),
    /// Nothing does.
    End,
}

/// Whole lines, joined as long as they are set alike; a block is a piece of its own.
fn pieces(message: &str) -> Vec<(usize, &str, Set)> {
    let mut pieces: Vec<(usize, &str, Set)> = Vec::new();
    let mut closings = Closings { message, last: BTreeMap::new() };
    let mut open: Option<(Until, Set)> = None;
    let mut start = 0;
    for line in message.split_inclusive('\n') {
        let end = start + line.len();
        let (set, is_first) = match &open {
            Some((_, set)) => (*set, false),
            None => {
                open = opened(line, end, &mut closings);
                let alone = if line.trim_start().starts_with('>') { Set::Quoted } else { Set::Plain };
                (open.as_ref().map_or(alone, |(_, set)| *set), open.is_some())
            }
        };
        match pieces.last_mut().filter(|last| last.2 == set && !is_first) {
            Some(last) => last.1 = message.get(last.0..end).unwrap_or(last.1),
            None => pieces.push((start, line, set)),
        }
        if open.as_ref().is_some_and(|(until, _)| until.is_met_by(line, is_first)) {
            open = None;
        }
        start = end;
    }
    pieces
}

/// The block that a line opens, if it does. A quoted or tagged block must be closed somewhere, or it is none; what looks
/// like a harness's need not be.
fn opened(line: &str, end: usize, closings: &mut Closings<'_>) -> Option<(Until, Set)> {
    let text = line.trim_start();
    for sign in ['`', '~'] {
        let length = text.chars().take_while(|c| *c == sign).count();
        // A fence says no more than the language of what it holds; a span of code closes on its own line.
        if length >= 3 && !text.trim_start_matches(sign).contains(sign) {
            return Some((Until::Fence(sign, length), Set::Block));
        }
    }
    if text.contains(QUOTES) && (text.matches(QUOTES).count() > 1 || closings.is_behind(QUOTES, end)) {
        return Some((Until::Mark(QUOTES.to_owned()), Set::Quoted));
    }
    for behind in text.split('<').skip(1) {
        let name: String = behind.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let is_harness = HARNESS.iter().any(|head| name.to_ascii_lowercase().starts_with(head));
        let set = if is_harness { Set::Quoted } else { Set::Block };
        let closing = format!("</{name}>");
        if text.contains(&closing) || closings.is_behind(&closing, end) {
            return Some((Until::Mark(closing), set));
        }
        if is_harness {
            return Some((Until::End, set));
        }
    }
    None
}

impl Until {
    fn is_met_by(&self, line: &str, is_first: bool) -> bool {
        match self {
            Self::Fence(sign, length) => {
                let text = line.trim();
                !is_first && text.chars().count() >= *length && text.chars().all(|c| c == *sign)
            }
            // What stands behind the end of a block on its line goes with it.
            Self::Mark(mark) if is_first && mark == QUOTES => line.matches(QUOTES).count() > 1,
            Self::Mark(mark) => line.contains(mark.as_str()),
            Self::End => false,
        }
    }
}

/// Where marks that close something stand last, each looked for once.
struct Closings<'t> {
    message: &'t str,
    last: BTreeMap<String, Option<usize>>,
}

impl Closings<'_> {
    fn is_behind(&mut self, mark: &str, place: usize) -> bool {
        if self.last.len() >= MAX_TAGS && !self.last.contains_key(mark) {
            return false;
        }
        let found = self.last.entry(mark.to_owned()).or_insert_with(|| self.message.rfind(mark));
        found.is_some_and(|last| last >= place)
    }
}

/// Whether a block speaks to whoever reads it. That code runs a download or that a setting is called `system` is no order.
fn gives_orders(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.floor_char_boundary(LOOKED_AT_BYTES);
        let piece = rest.get(..end).unwrap_or(rest);
        let cut = if end == rest.len() { end } else { piece.rfind('\n').map_or(end, |at| at + 1) };
        let (piece, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
        if is_order(piece).is_some_and(|order| !matches!(order, Order::Unsafe | Order::Disguise)) {
            return true;
        }
        rest = after;
    }
    false
}
