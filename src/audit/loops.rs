//! Memory that was given to a session and stored again as if the session had learned it.
//!
//! It is known by the frame that it was given in, ours or another's, or by holding another entry whole. Whoever only
//! speaks of such a frame, in a code span or in the middle of a sentence, is left alone.

use std::collections::{BTreeSet, HashMap};

use super::Entry;
use super::copies::fingerprint;

#[cfg(test)]
#[path = "loops_tests.rs"]
mod tests;

/// Tags between which memories are given.
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

/// Headings above lists of lessons, letter for letter: a heading of somebody's own may look much like them.
const HEADINGS: &[&str] = &["## Known Issues (from past runs)", "### Project Lessons", "=== HISTORICAL PATTERNS"];

/// What lists of memories are called, in any case, before a colon.
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

/// Fewer words than this between two tags are a sentence about the tags.
const MIN_INSIDE_WORDS: usize = 3;

/// An entry of fewer words than this may stand in another by chance.
const MIN_QUOTED_WORDS: usize = 8;

/// No tag is longer, attributes and all.
const MAX_TAG_BYTES: usize = 200;

/// As much of an entry as is looked at.
const MAX_BYTES: usize = 64 * 1024;

/// What gives a recalled text away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looped {
    /// The frame it was given in.
    Framed(&'static str),
    /// It holds this entry whole, by its place.
    Quotes(usize),
}

impl Looped {
    pub(super) fn described<'n>(&self, name: impl Fn(usize) -> &'n str) -> String {
        match self {
            Self::Framed(frame) => format!("holds `{frame}`"),
            Self::Quotes(of) => format!("quotes {}", name(*of)),
        }
    }
}

/// For each entry what makes it a recalled text, if it is one.
pub(super) fn find(entries: &[&Entry]) -> Vec<Option<Looped>> {
    let quotations = Quotations::new(entries);
    let find = |(place, entry): (usize, &&Entry)| {
        frame(&entry.text).map(Looped::Framed).or_else(|| quotations.in_entry(place).map(Looped::Quotes))
    };
    entries.iter().enumerate().map(find).collect()
}

/// Whether lessons are given under this heading, so that what stands below it in a file belongs to it.
pub fn is_recall_heading(line: &str) -> bool {
    HEADINGS.contains(&line.trim())
}

/// Where recalled text ends that begins with this line, if the line is an opening tag and nothing else.
pub fn recall_block_end(line: &str) -> Option<String> {
    let tag = line.trim().strip_prefix('<')?.strip_suffix('>')?.split_whitespace().next()?;
    TAGS.contains(&tag).then(|| format!("</{tag}>"))
}

/// The frame in which memories were given, if the text holds one.
fn frame(text: &str) -> Option<&'static str> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    let tagged = || TAGS.iter().copied().find(|tag| is_tagged(text, tag));
    tagged().or_else(|| listed(text))
}

/// Whether words stand between these tags, or below an opening tag that has its line for itself.
fn is_tagged(text: &str, tag: &str) -> bool {
    let opening = format!("<{tag}");
    let closing = format!("</{tag}>");
    let is_block = |(before, behind): (&str, &str)| {
        let Some((attributes, inside)) = behind.split_once('>') else { return false };
        let is_tag = attributes.len() <= MAX_TAG_BYTES
            && (attributes.is_empty() || attributes.starts_with(char::is_whitespace))
            && !attributes.contains('<');
        let own_line = inside.split_once('\n').filter(|(rest, _)| rest.trim().is_empty());
        let words = match (inside.split_once(closing.as_str()), own_line) {
            (Some((block, _)), _) => words(block).len(),
            (None, Some((_, below))) => words(below).len(),
            (None, None) => 0,
        };
        is_tag && !before.ends_with('`') && words >= MIN_INSIDE_WORDS
    };
    text.match_indices(&opening).any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        rest.strip_prefix(opening.as_str()).is_some_and(|behind| is_block((before, behind)))
    })
}

/// The heading or the label above a list of memories.
fn listed(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(unquoted).filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        let below = lines.peek().copied().unwrap_or_default();
        let is_list = |rest: &str| begins_list(rest) || (rest.is_empty() && begins_list(below));
        for &heading in HEADINGS {
            let Some(rest) = line.strip_prefix(heading) else { continue };
            let is_patterns = heading.starts_with('=');
            // "(builder) ===" may stand behind it.
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

/// A line without the signs of a quotation around it.
fn unquoted(line: &str) -> &str {
    line.trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end()
}

/// Whether a line is one of a list.
fn begins_list(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered =
        digits > 0 && line.get(digits..).is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") "));
    is_numbered || ["- ", "* ", "• ", "["].iter().any(|mark| line.starts_with(mark))
}

/// Which entries stand whole in others.
struct Quotations {
    words: Vec<Vec<String>>,
    /// By the first words of an entry: how many words it has, for all that begin so.
    lengths: HashMap<u64, BTreeSet<usize>>,
    /// By all words of an entry: its place.
    whole: HashMap<u64, usize>,
}

impl Quotations {
    fn new(entries: &[&Entry]) -> Self {
        let cut =
            |entry: &&Entry| words(entry.text.get(..entry.text.floor_char_boundary(MAX_BYTES)).unwrap_or_default());
        let words: Vec<Vec<String>> = entries.iter().map(cut).collect();
        let (mut lengths, mut whole) = (HashMap::<u64, BTreeSet<usize>>::new(), HashMap::new());
        for (place, words) in words.iter().enumerate() {
            if let Some(first) = words.get(..MIN_QUOTED_WORDS) {
                lengths.entry(row(first)).or_default().insert(words.len());
                whole.entry(row(words)).or_insert(place);
            }
        }
        Self { words, lengths, whole }
    }

    /// The entry that this one quotes. An entry that begins like another one and says more may be a better wording of
    /// it, so words must stand before the quotation, or a second entry be quoted.
    fn in_entry(&self, place: usize) -> Option<usize> {
        let own = self.words.get(place)?;
        let mut quoted: BTreeSet<usize> = BTreeSet::new();
        for (at, first) in own.windows(MIN_QUOTED_WORDS).enumerate() {
            let Some(lengths) = self.lengths.get(&row(first)) else { continue };
            for &length in lengths.iter().filter(|length| **length < own.len()) {
                let part = own.get(at..at + length);
                let of = part.and_then(|part| {
                    self.whole.get(&row(part)).filter(|of| self.words.get(**of).map(Vec::as_slice) == Some(part))
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

fn row(words: &[String]) -> u64 {
    fingerprint(words.iter().map(String::as_str))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
