//! Makes a lesson's text safe for a prompt: one line, nothing hidden, nothing that breaks out of its place.
//!
//! Lessons are cleaned when they are learned; a store may also contain what people, other tools and other versions
//! wrote.

use crate::text::{JoinerPolicy, strip_hidden_text};

#[cfg(test)]
#[path = "sanitize_tests.rs"]
mod tests;

/// The most bytes that are read of a text: far more than is ever shown.
const MAX_READ_BYTES: usize = 16 * 1024;

/// The tag names that mean something to a harness, a page or a model, wherever they appear.
const TAKEN: &[&str] = &["archivist", "assistant", "human", "iframe", "img", "script", "svg", "system"];

const ELLIPSIS: char = '…';

/// Returns the text on one line of at most `max` characters that can only be taken for a line of text: no escape
/// sequences or hidden characters, no tag, fence or image, no heading, list or quote sign in front.
/// Code spans and type parameters stay as they are.
pub fn sanitize_for_prompt(text: &str, max: usize) -> String {
    let text = text.get(..text.floor_char_boundary(MAX_READ_BYTES)).unwrap_or(text);
    let visible = strip_hidden_text(text, JoinerPolicy::Remove);
    let folded = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let unfenced = shorten_fences(&without_tags(&folded));
    close_code_spans(truncate_at_word(strip_leading_signs(&unfenced), max))
}

/// Returns the text with the angle brackets of tags and comments replaced by others.
fn without_tags(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('<') {
        out.push_str(before);
        rest = behind;
        if !opens_tag(before.chars().next_back(), behind) {
            out.push('<');
            continue;
        }
        out.push('‹');
        if let Some((inside, after)) = behind.split_once('>').filter(|(inside, _)| !inside.contains('<')) {
            out.push_str(inside);
            out.push('›');
            rest = after;
        }
    }
    out.push_str(rest);
    out.replace("-->", "--›")
}

/// Returns true if `<` begins a tag or a comment, and is neither a comparison nor part of a type such as `Vec<u8>`.
fn opens_tag(before: Option<char>, behind: &str) -> bool {
    let name = behind.trim_start_matches([' ', '/']);
    let name: String = name.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':')).collect();
    let lower = name.to_lowercase();
    let is_taken = TAKEN.iter().any(|taken| lower.starts_with(taken));
    let is_type = before.is_some_and(|c| c.is_alphanumeric() || c == ':') && !name.contains('-');
    is_taken
        || behind.starts_with(['/', '!', '|', '?'])
        || (behind.starts_with(char::is_alphabetic) && behind.contains('>') && !is_type)
}

/// Returns the text with every run of backticks reduced to one and of tildes to two, so that none opens a fence, and
/// with links in place of images.
fn shorten_fences(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut run = 0;
    for c in line.chars() {
        let goes_on = out.ends_with(c) && ((c == '`') || (c == '~' && run > 1));
        run = if out.ends_with(c) { run + 1 } else { 1 };
        if c == '[' {
            out.truncate(out.trim_end_matches('!').len());
        }
        if !goes_on {
            out.push(c);
        }
    }
    out
}

/// Returns the text without the signs that begin a heading, a quote, a list, a table or a rule.
fn strip_leading_signs(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let next = line.trim_start_matches(['#', '>', '|', '=']).trim_start();
        let next = ["- ", "* ", "+ "].iter().find_map(|sign| next.strip_prefix(sign)).unwrap_or(next).trim_start();
        let next = if next.starts_with("---") { next.trim_start_matches('-') } else { next };
        let digits = next.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = digits.len() < next.len();
        let next = digits.strip_prefix(". ").filter(|_| is_numbered).unwrap_or(next).trim_start();
        if next.len() == line.len() {
            return line;
        }
        line = next;
    }
}

/// Returns at most `max` characters, cut at the end of a word.
fn truncate_at_word(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max.saturating_sub(1)).map_or(0, |(at, _)| at);
    let (kept, behind) = text.split_at_checked(end).unwrap_or_default();
    let in_word = kept.rfind(' ').filter(|at| *at * 2 > kept.len() && !behind.starts_with(' '));
    let kept = kept.get(..in_word.unwrap_or(kept.len())).unwrap_or(kept).trim_end_matches([' ', ',', ';', ':', '.']);
    if max == 0 { String::new() } else { format!("{kept}{ELLIPSIS}") }
}

/// Returns the text with every code span closed: a single backtick becomes an apostrophe.
fn close_code_spans(mut line: String) -> String {
    if line.matches('`').count() % 2 == 1
        && let Some(at) = line.rfind('`')
    {
        line.replace_range(at..=at, "'");
    }
    line
}
