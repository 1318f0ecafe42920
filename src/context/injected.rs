//! Lessons that Archivist gave to the session: they were shown, they happened to nobody.
//!
//! A block is taken out only if it is certainly one of ours, from its opening to its end: whoever writes a file or a
//! web page that an agent reads must not be able to hide the rest of a text behind a tag.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

#[cfg(test)]
#[path = "injected_tests.rs"]
mod tests;

const OPENING: &str = "<archivist-lessons";
const CLOSING: &str = "</archivist-lessons>";

/// Attributes of the opening tag take no more than this.
const MAX_TAG_BYTES: usize = 200;

/// Headings under which lessons are given without tags, and what every line of theirs begins with.
const HEADINGS: &[(&str, LineStart)] =
    &[("### Project Lessons", LineStart::Number), ("## Known Issues (from past runs)", LineStart::Dash)];

/// Nearly every text holds none of these, and every text is asked.
static SUSPECT_TAG: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPENING));
static SUSPECT_HEADINGS: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| HEADINGS.iter().map(|(heading, _)| Finder::new(*heading)).collect());

#[derive(Clone, Copy)]
enum LineStart {
    Number,
    Dash,
}

/// A text without the lessons in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stripped<'t> {
    pub(super) text: Cow<'t, str>,
    /// What was taken out, block by block.
    pub(super) given: Vec<String>,
}

/// A text that somebody said, without the lessons in it.
pub(super) fn strip(text: &str) -> Stripped<'_> {
    let tagless = strip_tagged(text);
    if !SUSPECT_HEADINGS.iter().any(|finder| finder.find(tagless.text.as_bytes()).is_some()) {
        return tagless;
    }
    let mut given = tagless.given;
    let text = strip_listed(&tagless.text, &mut given);
    Stripped { text: Cow::Owned(text), given }
}

/// A text without the blocks of lessons that stand between our tags, wherever in it they stand.
pub(super) fn strip_tagged(text: &str) -> Stripped<'_> {
    let mut given = Vec::new();
    if SUSPECT_TAG.find(text.as_bytes()).is_none() {
        return Stripped { text: Cow::Borrowed(text), given };
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPENING) {
        let closed = opened(behind).and_then(|inside| inside.split_once(CLOSING));
        let Some((block, after)) = closed else { break };
        kept.push_str(before);
        given.push(block.to_owned());
        // A block on lines of its own takes the end of its last line along.
        let is_own_line = before.is_empty() || before.ends_with('\n');
        rest = if is_own_line { after.strip_prefix('\n').unwrap_or(after) } else { after };
    }
    kept.push_str(rest);
    Stripped { text: Cow::Owned(kept), given }
}

/// What stands behind the opening tag, if it is one.
fn opened(behind: &str) -> Option<&str> {
    let (attributes, inside) = behind.split_once('>')?;
    let is_tag =
        attributes.len() <= MAX_TAG_BYTES && (attributes.is_empty() || attributes.starts_with(char::is_whitespace));
    is_tag.then_some(inside)
}

/// A text without the lists of lessons under our headings.
fn strip_listed(text: &str, given: &mut Vec<String>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut inside: Option<LineStart> = None;
    for line in text.split_inclusive('\n') {
        if inside.is_some_and(|start| line.trim().is_empty() || start.begins(line)) {
            if let Some(block) = given.last_mut() {
                block.push_str(line);
            }
            continue;
        }
        inside = HEADINGS.iter().find(|(heading, _)| line.trim() == *heading).map(|(_, start)| *start);
        match inside {
            Some(_) => given.push(String::new()),
            None => kept.push_str(line),
        }
    }
    kept
}

/// Whether everything that a tool gives back is ours.
pub(super) fn is_our_tool(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    tool == "archivist" || ["mcp__archivist__", "archivist."].iter().any(|prefix| tool.starts_with(prefix))
}

/// Whether everything that a command prints are lessons: it is our own, and nothing else beside it.
pub(super) fn is_our_command(command: &str) -> bool {
    let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
    let program = words.next().unwrap_or_default();
    program.rsplit('/').next() == Some("archivist")
        && words.any(|word| word == "recall")
        && !command.contains([';', '|', '&', '\n', '`', '$'])
}

impl LineStart {
    fn begins(self, line: &str) -> bool {
        match self {
            Self::Dash => line.starts_with("- "),
            Self::Number => {
                let digits = line.bytes().take_while(u8::is_ascii_digit).count();
                digits > 0 && line.get(digits..).is_some_and(|rest| rest.starts_with(". "))
            }
        }
    }
}
