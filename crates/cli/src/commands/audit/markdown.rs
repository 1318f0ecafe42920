//! Reads notes in Markdown: every bullet with what belongs to it, and every paragraph, is an entry.

use super::stores::StoreContents;
use crate::memory_audit::{AuditEntry, is_recall_heading, recall_closing_tag};

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

/// The index file whose bullets only point to other files.
const INDEX: &str = "MEMORY.md";

/// Returns the entries of a file. Headings, comments and front matter are not entries.
pub(super) fn read_markdown_entries(file: &str, text: &str) -> StoreContents {
    let mut reader =
        MarkdownNoteReader { file, is_index: file.rsplit('/').next() == Some(INDEX), ..MarkdownNoteReader::default() };
    for (number, line) in (1..).zip(text.lines()).skip(count_frontmatter_lines(text)) {
        reader.read_line(number, line);
    }
    reader.end_block();
    StoreContents { entries: reader.entries, skipped: 0 }
}

/// Returns the number of lines of front matter.
fn count_frontmatter_lines(text: &str) -> usize {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return 0;
    }
    lines.position(|line| line.trim_end() == "---").map_or(0, |end| end + 2)
}

/// The kind of block that the current lines belong to.
#[derive(Debug, Default, PartialEq, Eq)]
enum MarkdownNoteBlock {
    /// No block: the last line was blank or a heading.
    #[default]
    Nothing,
    /// A paragraph that ends at a blank line.
    Paragraph,
    /// A bullet that ends where an unindented block begins.
    Bullet,
    /// Code that ends at the closing fence.
    Code,
    /// A comment that ends at its closing mark.
    Comment,
    /// Recalled text below a heading, which ends at the next heading.
    Section,
    /// Recalled text between tags, which ends at this tag.
    Block(String),
}

#[derive(Debug, Default)]
struct MarkdownNoteReader<'f> {
    file: &'f str,
    is_index: bool,
    inside: MarkdownNoteBlock,
    /// True if a blank line followed the bullet.
    is_apart: bool,
    begins: usize,
    text: Vec<String>,
    entries: Vec<AuditEntry>,
}

impl MarkdownNoteReader<'_> {
    fn read_line(&mut self, number: usize, line: &str) {
        let trimmed = line.trim();
        match &self.inside {
            MarkdownNoteBlock::Block(end) => {
                let is_end = trimmed.ends_with(end.as_str());
                self.text.push(line.to_owned());
                if is_end {
                    self.end_block();
                }
                return;
            }
            MarkdownNoteBlock::Comment => {
                if trimmed.contains("-->") {
                    self.inside = MarkdownNoteBlock::Nothing;
                }
                return;
            }
            MarkdownNoteBlock::Code => {
                self.text.push(line.to_owned());
                if is_fence(trimmed) {
                    // Text right after code, without a blank line, belongs to the same block as the code.
                    self.inside = MarkdownNoteBlock::Paragraph;
                }
                return;
            }
            MarkdownNoteBlock::Section if !trimmed.starts_with('#') => {
                self.text.push(line.to_owned());
                return;
            }
            _ => {}
        }
        let is_indented = line.starts_with([' ', '\t']);
        if trimmed.is_empty() {
            match self.inside {
                MarkdownNoteBlock::Bullet => self.is_apart = true,
                _ => self.end_block(),
            }
        } else if self.inside == MarkdownNoteBlock::Bullet && is_indented {
            self.text.push(trimmed.to_owned());
        } else if is_fence(trimmed) {
            if self.text.is_empty() {
                self.begins = number;
            }
            self.text.push(line.to_owned());
            self.inside = MarkdownNoteBlock::Code;
        } else if is_recall_heading(trimmed) {
            self.begin_block(number, line, MarkdownNoteBlock::Section);
        } else if let Some(end) = recall_closing_tag(trimmed) {
            self.begin_block(number, line, MarkdownNoteBlock::Block(end));
        } else if trimmed.starts_with('#') || is_ruler(trimmed) {
            self.end_block();
        } else if trimmed.starts_with("<!--") {
            self.end_block();
            self.inside = if trimmed.contains("-->") { MarkdownNoteBlock::Nothing } else { MarkdownNoteBlock::Comment };
        } else if let Some(rest) = strip_bullet_mark(trimmed) {
            self.begin_block(number, rest, MarkdownNoteBlock::Bullet);
        } else if self.inside == MarkdownNoteBlock::Paragraph
            || (self.inside == MarkdownNoteBlock::Bullet && !self.is_apart)
        {
            self.text.push(trimmed.to_owned());
        } else {
            self.begin_block(number, trimmed, MarkdownNoteBlock::Paragraph);
        }
    }

    fn begin_block(&mut self, number: usize, line: &str, inside: MarkdownNoteBlock) {
        self.end_block();
        self.begins = number;
        self.text.push(line.to_owned());
        self.inside = inside;
    }

    /// Makes an entry of the lines of the current block.
    fn end_block(&mut self) {
        let is_pointer = self.is_index && self.text.first().is_some_and(|line| points_to_file(line));
        let text = std::mem::take(&mut self.text).join("\n").trim().to_owned();
        if text.contains(char::is_alphanumeric) && !is_pointer {
            let name = format!("{}:{}", self.file, self.begins);
            self.entries.push(AuditEntry { name, text, at: None, used: None, is_retired: false });
        }
        self.inside = MarkdownNoteBlock::Nothing;
        self.is_apart = false;
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Returns true if the line is a horizontal rule.
fn is_ruler(line: &str) -> bool {
    line.len() >= 3 && ["-", "*", "_", "="].iter().any(|sign| line.replace([' '], "").split(sign).all(str::is_empty))
}

/// Returns the text of a bullet without its mark, or `None` if the line is no bullet.
fn strip_bullet_mark(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = line.get(digits..).filter(|_| digits > 0);
    let rest = ["- ", "* ", "+ ", "• "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or_else(|| numbered.and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))))?;
    let rest = rest.trim_start();
    Some(["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest))
}

/// Returns true if a bullet only points to a file next to it, as in `[Tests](tests.md): how to run them`.
fn points_to_file(line: &str) -> bool {
    let target =
        line.strip_prefix('[').and_then(|rest| rest.split_once("](")).and_then(|(_, rest)| rest.split_once(')'));
    target.is_some_and(|(target, _)| target.ends_with(".md") && !target.contains("://"))
}
