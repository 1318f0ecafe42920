//! Reads Markdown line by line: the kind of each line, with front matter, code and comments told apart from notes. Which
//! lines belong together is the reader's choice.

#[cfg(test)]
#[path = "markdown_lines_tests.rs"]
mod tests;

/// The most digits of the number of a list item; a longer number is a year or an amount.
const MAX_ITEM_DIGITS: usize = 3;

/// A line of a document, below its front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownLine<'t> {
    /// The number of the line in the whole document, from 1.
    pub number: usize,
    /// The line as it is written.
    pub raw: &'t str,
    /// The kind of line.
    pub kind: MarkdownLineKind<'t>,
}

/// The kind of a line of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkdownLineKind<'t> {
    /// A line without text.
    Blank,
    /// A heading of any level.
    Heading {
        /// The level of the heading, from 1 to 6.
        level: usize,
        /// The text of the heading.
        title: &'t str,
    },
    /// A line of fenced code, or one of its fences.
    Code,
    /// A line of a comment.
    Comment,
    /// A horizontal line, or the line below a heading.
    Ruler,
    /// A row of a table.
    TableRow,
    /// The first line of a list item, without its mark and its box.
    ListItem(&'t str),
    /// Any other line.
    Text,
}

impl MarkdownLine<'_> {
    /// Returns the line without blanks around it.
    pub fn trimmed(&self) -> &str {
        self.raw.trim()
    }

    /// Tells whether the line begins with a blank.
    pub fn is_indented(&self) -> bool {
        self.raw.starts_with([' ', '\t'])
    }
}

/// The block that goes on over blank lines until its end.
enum OpenBlock {
    Code { sign: char, length: usize },
    Comment,
}

/// Returns the lines of a document without its front matter. Code and comments that never end go on to the end.
pub fn read_markdown_lines(text: &str) -> Vec<MarkdownLine<'_>> {
    let skipped = split_front_matter(text).map_or(0, |(head, _)| head.lines().count() + 2);
    let mut open = None;
    let lines = (1..).zip(text.lines()).skip(skipped);
    lines.map(|(number, raw)| MarkdownLine { number, raw, kind: read_kind(raw.trim(), &mut open) }).collect()
}

/// Splits a document into the front matter between its two `---` lines, and the text below.
pub fn split_front_matter(text: &str) -> Option<(&str, &str)> {
    let is_mark = |line: &str| line.trim_end() == "---";
    let first = text.split_inclusive('\n').next().filter(|line| is_mark(line))?;
    let rest = text.get(first.len()..)?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if is_mark(line) {
            return Some((rest.get(..end)?, rest.get(end + line.len()..)?));
        }
        end += line.len();
    }
    None
}

/// Returns the target of the first link in a line, as `tests.md` in `[Tests](tests.md)`.
pub fn first_link_target(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("](")?;
    rest.split_once(')').map(|(target, _)| target)
}

fn read_kind<'t>(line: &'t str, open: &mut Option<OpenBlock>) -> MarkdownLineKind<'t> {
    match open {
        Some(OpenBlock::Code { sign, length }) => {
            let is_end = line.chars().all(|c| c == *sign) && line.len() >= *length;
            if is_end {
                *open = None;
            }
            return MarkdownLineKind::Code;
        }
        Some(OpenBlock::Comment) => {
            if line.contains("-->") {
                *open = None;
            }
            return MarkdownLineKind::Comment;
        }
        None => {}
    }
    if let Some(fence) = read_fence(line) {
        *open = Some(fence);
        MarkdownLineKind::Code
    } else if line.starts_with("<!--") {
        *open = (!line.contains("-->")).then_some(OpenBlock::Comment);
        MarkdownLineKind::Comment
    } else if line.is_empty() {
        MarkdownLineKind::Blank
    } else if let Some((level, title)) = read_heading(line) {
        MarkdownLineKind::Heading { level, title }
    } else if is_ruler(line) {
        MarkdownLineKind::Ruler
    } else if line.starts_with('|') {
        MarkdownLineKind::TableRow
    } else {
        strip_item_mark(line).map_or(MarkdownLineKind::Text, MarkdownLineKind::ListItem)
    }
}

fn read_fence(line: &str) -> Option<OpenBlock> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == sign).count();
    // Code between signs on one line is part of a sentence.
    let is_closed = sign == '`' && line.trim_start_matches(sign).contains(sign);
    (length >= 3 && !is_closed).then_some(OpenBlock::Code { sign, length })
}

fn read_heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let is_heading = (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| (level, title.trim()))
}

fn is_ruler(line: &str) -> bool {
    let mut signs = line.chars().filter(|c| *c != ' ');
    let Some(sign) = signs.next().filter(|sign| matches!(sign, '-' | '*' | '_' | '=')) else { return false };
    line.len() >= 3 && signs.all(|c| c == sign)
}

/// Returns the text of a list item without its mark, or `None` if the line is no list item.
fn strip_item_mark(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark));
    let item = bullet.or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = line.len() - rest.len();
        let rest = Some(rest).filter(|_| (1..=MAX_ITEM_DIGITS).contains(&digits))?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    })?;
    let item = item.trim_start();
    Some(["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item))
}
