//! The words of a message that its user typed: neither pasted logs, code, chats, reviews and plans, nor quotes.

use crate::distill::verify::plain_parts;

/// A message with more lines or characters than these is a document.
const MAX_LINES: usize = 15;
const MAX_CHARACTERS: usize = 1500;

/// The most characters of a paragraph that is read in a document.
const MAX_OWN_CHARACTERS: usize = 200;

/// Phrases in a line before a list or a text that mark it as the user's own and not passed on.
const OWN_LEADS: &[&str] =
    &["from now on", "going forward", "always", "never", "decision", "in this repo", "in this project"];

/// The heading with which the Codex app starts the request after a list of attached files.
const CODEX_REQUEST: &str = "## My request for Codex:";

/// The part of a message that its user typed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TypedWords<'t> {
    /// The sentences of each paragraph, as they appear in the message.
    pub(super) paragraphs: Vec<Vec<&'t str>>,
    /// True if it is too long for a remark, so that most of it describes something.
    pub(super) is_document: bool,
}

impl<'t> TypedWords<'t> {
    /// Parses the typed words of a message.
    pub(super) fn parse(message: &'t str) -> Self {
        let message = message.rsplit_once(CODEX_REQUEST).map_or(message, |(_, request)| request);
        let has_headings = message.lines().filter(|line| line.starts_with('#')).count() > 1;
        let is_document = message.lines().filter(|line| !line.trim().is_empty()).count() > MAX_LINES
            || message.chars().nth(MAX_CHARACTERS).is_some();
        if is_document && has_headings {
            return Self { paragraphs: Vec::new(), is_document };
        }
        let mut paragraphs: Vec<Vec<&'t str>> = Vec::new();
        let mut is_passed_on = false;
        let parts = plain_parts(message).into_iter().map(split_paragraphs);
        // The text that a line announces may be set off after it; then the next part is the user's again.
        let parts = parts.flat_map(|part| part.into_iter().enumerate().map(|(at, text)| (at == 0, text)));
        for (is_first, paragraph) in parts {
            is_passed_on &= !is_first;
            let lines = || paragraph.lines().filter(|line| !is_attachment(line));
            let fences = paragraph.matches("```").count();
            if is_passed_on || fences > 0 || lines().any(is_foreign_line) {
                // A fence that opens within a line closes within a later one.
                is_passed_on ^= fences % 2 == 1;
                continue;
            }
            let lower = paragraph.to_lowercase();
            is_passed_on = paragraph.trim_end().ends_with(':') && !OWN_LEADS.iter().any(|lead| lower.contains(lead));
            if !is_document || paragraph.chars().nth(MAX_OWN_CHARACTERS).is_none() {
                paragraphs.push(split_sentences(paragraph));
            }
        }
        Self { paragraphs, is_document }
    }
}

/// Splits a text at blank lines and before items of a list.
fn split_paragraphs(text: &str) -> Vec<&str> {
    let mut paragraphs = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() || is_list_item(line) {
            paragraphs.push(text.get(start..at).unwrap_or_default());
            start = at;
        }
        at += line.len();
    }
    paragraphs.push(text.get(start..).unwrap_or_default());
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
    paragraphs
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.starts_with("* ")
}

/// Tells whether a line names a file that the harness attached.
fn is_attachment(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('[') && line.ends_with(']') && !line.contains("](")
}

/// Tells whether a line is written by a program, or copied from a chat or a document.
fn is_foreign_line(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "#", "|", "$ ", "❯", "[", "│", "╭", "╰", "✗", "✓", "---", "+++", "@@", "===", "//", "http", "**", "{", "}",
        "diff ",
    ];
    let text = line.trim_end();
    let bare = text.trim_start();
    let is_indented = (text.len() - bare.len() >= 4 || text.starts_with('\t')) && !is_list_item(text);
    is_indented
        || STARTS.iter().any(|start| bare.starts_with(start))
        || [" {", ");", "};", "=>"].iter().any(|end| bare.ends_with(end))
        || bare.split_whitespace().any(names_place_or_time)
        || is_code(bare)
}

/// Tells whether a word is a time of a chat like `[12:31` or a position like `main.go:12:3:`.
fn names_place_or_time(word: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let parts: Vec<&str> = word.trim_start_matches(['[', '(']).split(':').collect();
    let is_time = word.starts_with('[') && parts.first().is_some_and(|part| is_number(part)) && parts.len() > 1;
    let is_place = parts.iter().skip(1).filter(|part| is_number(part)).count() > 1 && parts.len() > 2;
    is_time || is_place
}

/// Tells whether a line has too many signs for prose. Text in backticks does not count.
fn is_code(line: &str) -> bool {
    let prose: String = line.split('`').step_by(2).collect();
    let signs = prose.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && !"!?.,'’".contains(*c)).count();
    signs * 5 > prose.chars().count().max(20)
}

/// Splits a paragraph into sentences. A line break ends one, unless the line is full.
fn split_sentences(paragraph: &str) -> Vec<&str> {
    const FULL_LINE: usize = 60;
    let mut sentences = Vec::new();
    let (mut start, mut line_start) = (0, 0);
    let mut is_quoted = false;
    let has_pairs = paragraph.matches('`').count().is_multiple_of(2);
    for (at, mark) in paragraph.char_indices() {
        let end = at + mark.len_utf8();
        let rest = paragraph.get(end..).unwrap_or_default();
        let head = paragraph.get(start..end).unwrap_or_default();
        is_quoted ^= mark == '`' && has_pairs;
        let is_short_form = ["e.g.", "i.e.", "etc.", "vs."].iter().any(|short| head.ends_with(short));
        let is_end = match mark {
            '\n' => at - line_start < FULL_LINE,
            '.' | '!' | '?' => {
                let is_drawn_out =
                    (head.ends_with("..") || head.ends_with("!!")) && rest.trim_start().starts_with(char::is_lowercase);
                !is_quoted && !is_short_form && !is_drawn_out && rest.starts_with(char::is_whitespace)
            }
            _ => false,
        };
        if mark == '\n' {
            line_start = end;
        }
        if is_end {
            sentences.push(head);
            start = end;
        }
    }
    sentences.push(paragraph.get(start..).unwrap_or_default());
    let bare = |sentence: &'_ str| sentence.trim().trim_start_matches(['-', '*']).len();
    let trimmed = sentences.into_iter().map(|sentence| {
        let text = sentence.trim();
        text.get(text.len() - bare(sentence)..).unwrap_or(text).trim_start()
    });
    trimmed.filter(|sentence| sentence.chars().any(char::is_alphanumeric) && !is_attachment(sentence)).collect()
}
