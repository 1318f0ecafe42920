//! Reads notes in Markdown: every bullet with what belongs to it, and every paragraph, is an entry.

use super::stores::StoreContents;
use crate::memory_audit::{AuditEntry, is_recall_heading, recall_closing_tag};
use archivist_core::text::{MarkdownLine, MarkdownLineKind, first_link_target, read_markdown_lines};

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

/// The index file whose bullets only point to other files.
const INDEX: &str = "MEMORY.md";

/// Returns the entries of a file. Headings, comments and front matter are not entries.
pub(super) fn read_markdown_entries(file: &str, text: &str) -> StoreContents {
    let mut reader =
        MarkdownNoteReader { file, is_index: file.rsplit('/').next() == Some(INDEX), ..MarkdownNoteReader::default() };
    for line in read_markdown_lines(text) {
        reader.read_line(&line);
    }
    reader.end_block();
    StoreContents { entries: reader.entries, skipped: 0 }
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
    fn read_line(&mut self, line: &MarkdownLine<'_>) {
        let (number, raw, trimmed) = (line.number, line.raw, line.trimmed());
        let is_heading = matches!(line.kind, MarkdownLineKind::Heading { .. });
        let is_recall_end = match &self.inside {
            MarkdownNoteBlock::Block(end) => Some(trimmed.ends_with(end.as_str())),
            MarkdownNoteBlock::Section => (!is_heading).then_some(false),
            _ => None,
        };
        if let Some(is_end) = is_recall_end {
            self.text.push(raw.to_owned());
            if is_end {
                self.end_block();
            }
            return;
        }
        let is_in_bullet = self.inside == MarkdownNoteBlock::Bullet;
        match line.kind {
            _ if is_in_bullet && trimmed.is_empty() => self.is_apart = true,
            MarkdownLineKind::Comment if is_in_bullet && line.is_indented() => {}
            MarkdownLineKind::Blank | MarkdownLineKind::Comment => self.end_block(),
            _ if is_in_bullet && line.is_indented() => self.text.push(trimmed.to_owned()),
            MarkdownLineKind::Code => {
                // Code belongs to what stands before it, and so does the text right after it.
                if self.text.is_empty() {
                    self.begins = number;
                }
                self.text.push(raw.to_owned());
                self.inside = MarkdownNoteBlock::Paragraph;
            }
            _ if is_recall_heading(trimmed) => self.begin_block(number, raw, MarkdownNoteBlock::Section),
            kind => match (recall_closing_tag(trimmed), kind) {
                (Some(end), _) => self.begin_block(number, raw, MarkdownNoteBlock::Block(end)),
                (None, MarkdownLineKind::Heading { .. } | MarkdownLineKind::Ruler) => self.end_block(),
                (None, MarkdownLineKind::ListItem(item)) => self.begin_block(number, item, MarkdownNoteBlock::Bullet),
                _ if self.inside == MarkdownNoteBlock::Paragraph || (is_in_bullet && !self.is_apart) => {
                    self.text.push(trimmed.to_owned());
                }
                _ => self.begin_block(number, trimmed, MarkdownNoteBlock::Paragraph),
            },
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

/// Returns true if a bullet only points to a file next to it, as in `[Tests](tests.md): how to run them`.
fn points_to_file(line: &str) -> bool {
    let target = first_link_target(line).filter(|_| line.starts_with('['));
    target.is_some_and(|target| target.ends_with(".md") && !target.contains("://"))
}
