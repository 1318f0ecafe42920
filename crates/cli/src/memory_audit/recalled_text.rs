//! Recognizes memory that was injected into a session and stored again as if the session had learned it.
//!
//! Such text is recognized by the frame of the injection, Archivist's or another program's, or because it contains
//! another whole entry. Text that only mentions such a frame, in a code span or in the middle of a sentence, is
//! ignored.

use std::collections::{BTreeSet, HashMap};

use super::AuditEntry;
use archivist_core::domain::StableHash;

#[cfg(test)]
#[path = "recalled_text_tests.rs"]
mod tests;

/// Tags that enclose injected memories.
const TAGS: &[&str] = &[
    "archivist-lessons",
    "claude-mem-context",
    "memories",
    "memory-context",
    "memory_context",
    "past-memories",
    "recalled-memories",
    "recalled_memories",
    "relevant-memories",
    "relevant_memories",
    "retrieved-memories",
    "system-reminder",
    "user-memories",
    "user_memories",
];

/// Headings above lists of lessons, matched exactly, since other headings may look much like them.
const HEADINGS: &[&str] = &["## Known Issues (from past runs)", "### Project Lessons", "=== HISTORICAL PATTERNS"];

/// Labels of lists of memories, in any case, before a colon.
const LABELS: &[&str] = &[
    "here are relevant memories",
    "here are the relevant memories",
    "memories from past sessions",
    "memories from previous sessions",
    "recalled memories",
    "relevant memories",
    "relevant memories from past sessions",
    "relevant user memories",
    "retrieved memories",
    "user memories",
];

/// Fewer words than this between two tags make a sentence about the tags.
const MIN_INSIDE_WORDS: usize = 3;

/// An entry of fewer words than this may appear in another by chance.
const MIN_QUOTED_WORDS: usize = 8;

/// The maximum length of a tag, including its attributes.
const MAX_TAG_BYTES: usize = 200;

/// The number of bytes of an entry that are examined.
const MAX_BYTES: usize = 64 * 1024;

/// The sign by which a recalled text is recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecallLoopSign {
    /// The text contains this frame of an injection.
    Framed(&'static str),
    /// The text contains the whole entry at this place.
    Quotes(usize),
}

impl RecallLoopSign {
    pub(super) fn describe_sign<'n>(&self, name: impl Fn(usize) -> &'n str) -> String {
        match self {
            Self::Framed(frame) => format!("holds `{frame}`"),
            Self::Quotes(of) => format!("quotes {}", name(*of)),
        }
    }
}

/// Returns for each entry the sign that makes it a recalled text, if there is one.
pub(super) fn find_recall_loops(entries: &[&AuditEntry]) -> Vec<Option<RecallLoopSign>> {
    let quotations = QuotedEntryIndex::new(entries);
    let find = |(place, entry): (usize, &&AuditEntry)| {
        find_recall_frame(&entry.text)
            .map(RecallLoopSign::Framed)
            .or_else(|| quotations.find_quoted_entry(place).map(RecallLoopSign::Quotes))
    };
    entries.iter().enumerate().map(find).collect()
}

/// Returns true if the line is a heading under which lessons are injected, so that the text below belongs to it.
pub(crate) fn is_recall_heading(line: &str) -> bool {
    HEADINGS.contains(&line.trim())
}

/// Returns the closing tag of the recalled text that begins with this line, if the line is only an opening tag.
pub(crate) fn recall_closing_tag(line: &str) -> Option<String> {
    let tag = line.trim().strip_prefix('<')?.strip_suffix('>')?.split_whitespace().next()?;
    TAGS.contains(&tag).then(|| format!("</{tag}>"))
}

/// Returns the frame of an injection, if the text contains one.
fn find_recall_frame(text: &str) -> Option<&'static str> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    let tagged = || TAGS.iter().copied().find(|tag| has_tagged_block(text, tag));
    tagged().or_else(|| find_list_heading(text))
}

/// Returns true if enough words appear between these tags, or below an opening tag that has a line to itself.
fn has_tagged_block(text: &str, tag: &str) -> bool {
    let opening = format!("<{tag}");
    let closing = format!("</{tag}>");
    let is_block = |(before, behind): (&str, &str)| {
        let Some((attributes, inside)) = behind.split_once('>') else { return false };
        let is_tag = attributes.len() <= MAX_TAG_BYTES
            && (attributes.is_empty() || attributes.starts_with(char::is_whitespace))
            && !attributes.contains('<');
        let own_line = inside.split_once('\n').filter(|(rest, _)| rest.trim().is_empty());
        let words = match (inside.split_once(closing.as_str()), own_line) {
            (Some((block, _)), _) => split_words(block).len(),
            (None, Some((_, below))) => split_words(below).len(),
            (None, None) => 0,
        };
        is_tag && !before.ends_with('`') && words >= MIN_INSIDE_WORDS
    };
    text.match_indices(&opening).any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        rest.strip_prefix(opening.as_str()).is_some_and(|behind| is_block((before, behind)))
    })
}

/// Returns the heading or the label above a list of memories.
fn find_list_heading(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(strip_quote_marks).filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        let below = lines.peek().copied().unwrap_or_default();
        let is_list = |rest: &str| is_list_item(rest) || (rest.is_empty() && is_list_item(below));
        for &heading in HEADINGS {
            let Some(rest) = line.strip_prefix(heading) else { continue };
            let is_patterns = heading.starts_with('=');
            // The heading may be followed by "(builder) ===".
            let rest = if is_patterns { rest.rsplit("===").next().unwrap_or(rest) } else { rest };
            if is_list(rest.trim()) || (is_patterns && rest.trim().is_empty() && !below.is_empty()) {
                return Some(heading);
            }
        }
        let bare = line.trim_start_matches(['#', '*', '[', ' ']);
        for &label in LABELS {
            let head = bare.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label));
            let rest = head.and_then(|_| bare.get(label.len()..)).map(|rest| rest.trim_start_matches(['*', ']']));
            if let Some(rest) = rest.and_then(|rest| rest.strip_prefix(':'))
                && is_list(rest.trim_start_matches('*').trim())
            {
                return Some(label);
            }
        }
    }
    None
}

/// Returns a line without leading `>` marks and without whitespace around it.
fn strip_quote_marks(line: &str) -> &str {
    line.trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end()
}

/// Returns true if a line is a list item.
fn is_list_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered =
        digits > 0 && line.get(digits..).is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") "));
    is_numbered || ["- ", "* ", "• ", "["].iter().any(|mark| line.starts_with(mark))
}

/// An index of the entries that are contained whole in others.
struct QuotedEntryIndex {
    words: Vec<Vec<String>>,
    /// The word counts of all entries that begin with the same words, by the hash of those words.
    lengths: HashMap<u64, BTreeSet<usize>>,
    /// The place of each entry, by the hash of all its words.
    whole: HashMap<u64, usize>,
}

impl QuotedEntryIndex {
    fn new(entries: &[&AuditEntry]) -> Self {
        let cut = |entry: &&AuditEntry| {
            split_words(entry.text.get(..entry.text.floor_char_boundary(MAX_BYTES)).unwrap_or_default())
        };
        let words: Vec<Vec<String>> = entries.iter().map(cut).collect();
        let (mut lengths, mut whole) = (HashMap::<u64, BTreeSet<usize>>::new(), HashMap::new());
        for (place, words) in words.iter().enumerate() {
            if let Some(first) = words.get(..MIN_QUOTED_WORDS) {
                lengths.entry(fingerprint_row(first)).or_default().insert(words.len());
                whole.entry(fingerprint_row(words)).or_insert(place);
            }
        }
        Self { words, lengths, whole }
    }

    /// Returns the entry that this one quotes. An entry that begins like another one and continues may be a better
    /// wording of it, so there must be words before the quotation, or a second quoted entry.
    fn find_quoted_entry(&self, place: usize) -> Option<usize> {
        let own = self.words.get(place)?;
        let mut quoted: BTreeSet<usize> = BTreeSet::new();
        for (at, first) in own.windows(MIN_QUOTED_WORDS).enumerate() {
            let Some(lengths) = self.lengths.get(&fingerprint_row(first)) else { continue };
            for &length in lengths.iter().filter(|length| **length < own.len()) {
                let part = own.get(at..at + length);
                let of = part.and_then(|part| {
                    self.whole
                        .get(&fingerprint_row(part))
                        .filter(|of| self.words.get(**of).map(Vec::as_slice) == Some(part))
                });
                if let Some(&of) = of {
                    quoted.insert(of);
                    if at > 0 || quoted.len() > 1 {
                        return Some(of);
                    }
                }
            }
        }
        None
    }
}

fn fingerprint_row(words: &[String]) -> u64 {
    u64::from_le_bytes(StableHash::from_parts(words.iter().map(String::as_str)).to_bytes())
}

fn split_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
