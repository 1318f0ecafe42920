//! Decides which characters nobody can see, and removes them. No other module decides this.
//!
//! Logs, stores, models and other programs may hand over characters that no screen shows but that a terminal obeys, that
//! a model reads or that keep two equal words apart.

use std::borrow::Cow;
use std::ops::Range;

use super::ansi_escapes::{begins_sequence, skip_closed_control_string, skip_sequence};

#[cfg(test)]
#[path = "hidden_characters_tests.rs"]
mod tests;

/// The treatment of joiners (U+200C, U+200D) and of the selectors of text and emoji style (U+FE0E, U+FE0F). They are
/// hidden, but some scripts and many emoji need them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinerPolicy {
    /// All are removed: for models, and for comparisons.
    Remove,
    /// One is kept where it changes how its neighbours look: for people. A joiner is kept between two characters of
    /// scripts that join, or two emoji; a selector behind a symbol. Everywhere else they are removed.
    Keep,
}

/// Returns true for characters that cannot be seen: controls, line breaks and tabs among them; whatever Unicode allows a
/// display to ignore (zero-width characters, direction marks, fillers, variation selectors, tags); line and paragraph
/// separators; interlinear annotations; and private use, which everybody displays differently.
pub fn is_hidden_character(c: char) -> bool {
    match c {
        '\0'..='\u{7f}' => c.is_ascii_control(),
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => true,
        _ => false,
    }
}

/// Returns the text without escape sequences and hidden characters. Line feeds, carriage returns and tabs are kept;
/// every other character that breaks a line becomes a blank.
pub fn strip_hidden_text(text: &str, joiners: JoinerPolicy) -> Cow<'_, str> {
    let is_layout = |c: char| matches!(c, '\n' | '\r' | '\t');
    if !text.contains(|c| is_hidden_character(c) && !is_layout(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            c if is_layout(c) || !is_hidden_character(c) => out.push(c),
            c if c.is_whitespace() => out.push(' '),
            c if begins_sequence(c) => skip_sequence(c, &mut rest),
            c if joiners == JoinerPolicy::Keep && changes_neighbours(&out, c, rest.clone().next()) => out.push(c),
            _ => {}
        }
    }
    Cow::Owned(out)
}

/// Returns the spans of a text that can be seen: those that [`strip_hidden_text`] keeps as they are. Characters that
/// break a line count as seen, because what stands around them is not one word.
pub fn visible_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut rest = text.chars();
    loop {
        let start = text.len() - rest.as_str().len();
        let Some(c) = rest.next() else { return spans };
        if is_hidden_character(c) && !c.is_whitespace() {
            if begins_sequence(c) {
                skip_sequence(c, &mut rest);
            }
            continue;
        }
        let end = text.len() - rest.as_str().len();
        match spans.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => spans.push(start..end),
        }
    }
}

/// Returns the text without control strings: titles, links and other data that a terminal takes for itself and no screen
/// shows. An unclosed one stays, as do colours and all other characters.
pub fn strip_control_strings(text: &str) -> Cow<'_, str> {
    if !text.contains(begins_sequence) {
        return Cow::Borrowed(text);
    }
    // What stood around a removed string may be one now.
    let mut kept = remove_control_strings(text);
    loop {
        let again = remove_control_strings(&kept);
        if again.len() == kept.len() {
            break;
        }
        kept = again;
    }
    if kept.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(kept) }
}

/// Returns the text without the control strings that are found in one pass.
fn remove_control_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if !begins_sequence(c) || !skip_closed_control_string(c, &mut rest) {
            out.push(c);
            continue;
        }
        // What follows must not become part of a sequence that was begun before.
        out.truncate(out.trim_end_matches(begins_sequence).len());
    }
    out
}

/// Returns true if a joiner or a selector changes how the characters before and behind it look.
fn changes_neighbours(before: &str, c: char, behind: Option<char>) -> bool {
    let Some(before) = before.chars().next_back() else { return false };
    let is_symbol = |c: char| !c.is_ascii() && !c.is_whitespace() && !is_hidden_character(c);
    // The first script whose letters join is Arabic, at U+0600.
    let joins = |c: char| c >= '\u{600}' && is_symbol(c);
    match c {
        '\u{200c}' | '\u{200d}' => {
            (joins(before) || matches!(before, '\u{fe0e}' | '\u{fe0f}')) && behind.is_some_and(joins)
        }
        // A digit, `#` or `*` with a selector is a key, if the frame of a key follows.
        '\u{fe0e}' | '\u{fe0f}' => {
            is_symbol(before) || (matches!(before, '0'..='9' | '#' | '*') && behind == Some('\u{20e3}'))
        }
        _ => false,
    }
}
