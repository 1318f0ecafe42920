//! Removes lessons that Archivist injected into the session: they were shown, they did not happen.
//!
//! A block is removed only if it is certainly an injected one, from its opening to its end: a file or a web page that
//! an agent reads must not be able to hide the rest of a text behind a tag.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::text::shell_lexer::{is_assignment, program_name, split_commands};

#[cfg(test)]
#[path = "injection_removal_tests.rs"]
mod tests;

const OPENING: &str = "<archivist-lessons";
const CLOSING: &str = "</archivist-lessons>";

/// The longest attributes of an opening tag, in bytes.
const MAX_TAG_BYTES: usize = 200;

/// Headings under which lessons are injected without tags, and how each of their lines begins.
const HEADINGS: &[(&str, LineStart)] =
    &[("### Project Lessons", LineStart::Number), ("## Known Issues (from past runs)", LineStart::Dash)];

/// Fast searchers for the tag and the headings, because every text is searched and few contain them.
static SUSPECT_TAG: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPENING));
static SUSPECT_HEADINGS: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| HEADINGS.iter().map(|(heading, _)| Finder::new(*heading)).collect());

#[derive(Clone, Copy)]
enum LineStart {
    Number,
    Dash,
}

/// A text from which injected lessons were removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StrippedText<'t> {
    pub(super) text: Cow<'t, str>,
    /// The removed blocks of lessons.
    pub(super) given: Vec<String>,
}

/// Removes all injected lessons from a text of a speaker.
pub(super) fn strip_lessons(text: &str) -> StrippedText<'_> {
    let tagless = strip_tagged_lessons(text);
    if !SUSPECT_HEADINGS.iter().any(|finder| finder.find(tagless.text.as_bytes()).is_some()) {
        return tagless;
    }
    let mut given = tagless.given;
    let text = strip_listed_lessons(&tagless.text, &mut given);
    StrippedText { text: Cow::Owned(text), given }
}

/// Removes the blocks of lessons between tags, wherever they occur in a text.
pub(super) fn strip_tagged_lessons(text: &str) -> StrippedText<'_> {
    let mut given = Vec::new();
    if SUSPECT_TAG.find(text.as_bytes()).is_none() {
        return StrippedText { text: Cow::Borrowed(text), given };
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPENING) {
        let closed = after_opening_tag(behind).and_then(|inside| inside.split_once(CLOSING));
        let Some((block, after)) = closed else { break };
        kept.push_str(before);
        given.push(block.to_owned());
        // A block on lines of its own includes its last line end.
        let is_own_line = before.is_empty() || before.ends_with('\n');
        rest = if is_own_line { after.strip_prefix('\n').unwrap_or(after) } else { after };
    }
    kept.push_str(rest);
    StrippedText { text: Cow::Owned(kept), given }
}

/// Returns the text after the opening tag, if it is one.
fn after_opening_tag(behind: &str) -> Option<&str> {
    let (attributes, inside) = behind.split_once('>')?;
    let is_tag =
        attributes.len() <= MAX_TAG_BYTES && (attributes.is_empty() || attributes.starts_with(char::is_whitespace));
    is_tag.then_some(inside)
}

/// Removes the lists of lessons under Archivist's headings.
fn strip_listed_lessons(text: &str, given: &mut Vec<String>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut inside: Option<LineStart> = None;
    for line in text.split_inclusive('\n') {
        if inside.is_some_and(|start| line.trim().is_empty() || start.matches_line(line)) {
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

/// Returns true if a tool is Archivist's own, so that its output is all lessons.
pub(super) fn is_archivist_tool(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    tool == "archivist" || ["mcp__archivist__", "archivist."].iter().any(|prefix| tool.starts_with(prefix))
}

/// Returns true if a command is only `archivist recall`, so that its output is all lessons.
pub(super) fn is_recall_command(command: &str) -> bool {
    let commands = split_commands(command);
    let [only] = commands.as_slice() else { return false };
    let mut words = only.arguments().map(|word| word.text.as_str()).skip_while(|word| is_assignment(word));
    words.next().map(program_name) == Some("archivist")
        && words.any(|word| word == "recall")
        && only.substituted.is_empty()
}

impl LineStart {
    fn matches_line(self, line: &str) -> bool {
        match self {
            Self::Dash => line.starts_with("- "),
            Self::Number => {
                let digits = line.bytes().take_while(u8::is_ascii_digit).count();
                digits > 0 && line.get(digits..).is_some_and(|rest| rest.starts_with(". "))
            }
        }
    }
}
