//! Notes in Markdown: every bullet with what belongs to it, and every paragraph, is an entry.

use super::stores::Read;
use crate::audit::{Entry, is_recall_heading, recall_block_end};

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

/// The file whose bullets only point to others.
const INDEX: &str = "MEMORY.md";

/// The entries of a file. Headings, comments and what stands before the text about the text are none.
pub(super) fn read(file: &str, text: &str) -> Read {
    let mut reader = Reader { file, is_index: file.rsplit('/').next() == Some(INDEX), ..Reader::default() };
    for (number, line) in (1..).zip(text.lines()).skip(preface(text)) {
        reader.line(number, line);
    }
    reader.end();
    Read { entries: reader.entries, skipped: 0 }
}

/// How many lines of front matter there are.
fn preface(text: &str) -> usize {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return 0;
    }
    lines.position(|line| line.trim_end() == "---").map_or(0, |end| end + 2)
}

/// What the lines belong to.
#[derive(Debug, Default, PartialEq, Eq)]
enum Inside {
    /// Nothing: a blank line or a heading was the last.
    #[default]
    Nothing,
    /// A paragraph, until a blank line.
    Paragraph,
    /// A bullet, until something begins that is not indented.
    Bullet,
    /// Code, until it ends.
    Code,
    /// A comment, until it ends.
    Comment,
    /// Recalled text below a heading, until the next one.
    Section,
    /// Recalled text between tags, until this one.
    Block(String),
}

#[derive(Debug, Default)]
struct Reader<'f> {
    file: &'f str,
    is_index: bool,
    inside: Inside,
    /// Whether a blank line stood behind the bullet.
    is_apart: bool,
    begins: usize,
    text: Vec<String>,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn line(&mut self, number: usize, line: &str) {
        let trimmed = line.trim();
        match &self.inside {
            Inside::Block(end) => {
                let is_end = trimmed.ends_with(end.as_str());
                self.text.push(line.to_owned());
                if is_end {
                    self.end();
                }
                return;
            }
            Inside::Comment => {
                if trimmed.contains("-->") {
                    self.inside = Inside::Nothing;
                }
                return;
            }
            Inside::Code => {
                self.text.push(line.to_owned());
                if is_fence(trimmed) {
                    // What follows code without a blank line still belongs to what the code belongs to.
                    self.inside = Inside::Paragraph;
                }
                return;
            }
            Inside::Section if !trimmed.starts_with('#') => {
                self.text.push(line.to_owned());
                return;
            }
            _ => {}
        }
        let is_indented = line.starts_with([' ', '\t']);
        if trimmed.is_empty() {
            match self.inside {
                Inside::Bullet => self.is_apart = true,
                _ => self.end(),
            }
        } else if self.inside == Inside::Bullet && is_indented {
            self.text.push(trimmed.to_owned());
        } else if is_fence(trimmed) {
            if self.text.is_empty() {
                self.begins = number;
            }
            self.text.push(line.to_owned());
            self.inside = Inside::Code;
        } else if is_recall_heading(trimmed) {
            self.begin(number, line, Inside::Section);
        } else if let Some(end) = recall_block_end(trimmed) {
            self.begin(number, line, Inside::Block(end));
        } else if trimmed.starts_with('#') || is_ruler(trimmed) {
            self.end();
        } else if trimmed.starts_with("<!--") {
            self.end();
            self.inside = if trimmed.contains("-->") { Inside::Nothing } else { Inside::Comment };
        } else if let Some(rest) = bullet(trimmed) {
            self.begin(number, rest, Inside::Bullet);
        } else if self.inside == Inside::Paragraph || (self.inside == Inside::Bullet && !self.is_apart) {
            self.text.push(trimmed.to_owned());
        } else {
            self.begin(number, trimmed, Inside::Paragraph);
        }
    }

    fn begin(&mut self, number: usize, line: &str, inside: Inside) {
        self.end();
        self.begins = number;
        self.text.push(line.to_owned());
        self.inside = inside;
    }

    /// Makes an entry of the lines so far.
    fn end(&mut self) {
        let is_pointer = self.is_index && self.text.first().is_some_and(|line| points(line));
        let text = std::mem::take(&mut self.text).join("\n").trim().to_owned();
        if text.contains(char::is_alphanumeric) && !is_pointer {
            let name = format!("{}:{}", self.file, self.begins);
            self.entries.push(Entry { name, text, at: None, used: None, is_retired: false });
        }
        self.inside = Inside::Nothing;
        self.is_apart = false;
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// A line across the page.
fn is_ruler(line: &str) -> bool {
    line.len() >= 3 && ["-", "*", "_", "="].iter().any(|sign| line.replace([' '], "").split(sign).all(str::is_empty))
}

/// What a bullet says.
fn bullet(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = line.get(digits..).filter(|_| digits > 0);
    let rest = ["- ", "* ", "+ ", "• "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or_else(|| numbered.and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))))?;
    let rest = rest.trim_start();
    Some(["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest))
}

/// Whether a bullet only points to a file beside it, as in `[Tests](tests.md): how to run them`.
fn points(line: &str) -> bool {
    let target =
        line.strip_prefix('[').and_then(|rest| rest.split_once("](")).and_then(|(_, rest)| rest.split_once(')'));
    target.is_some_and(|(target, _)| target.ends_with(".md") && !target.contains("://"))
}
