//! Finds the line of an output that describes a failure best, without reading all of it closely.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::failure_detection::{FailureClass, make_headline};
use super::failure_line::{ANCHORS, ClueCredibility, DEEP_ANCHORS, FailureClue, WEAK_ANCHORS, read_clue};
use super::plain_output::{line_at, prefix_to_byte, strip_control_codes, suffix_from_byte};

/// The number of lines that are judged before the search skips to the end of the output.
const MAX_JUDGED: usize = 200;

/// The number of bytes at each end of an output that are searched closely.
const EDGE_BYTES: usize = 16 * 1024;

/// The number of bytes at the end of an output that count as a program's last words.
const CLOSING_BYTES: usize = 800;

/// Labels that a harness writes before the first line of an output.
const FRAMED: &[&str] = &["Output: ", "Stdout: ", "Stderr: "];

/// The number of lines of a stack trace that are followed.
const MAX_FRAMES: usize = 300;

/// The best headline found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundHeadline {
    pub(super) class: FailureClass,
    pub(super) weight: u8,
    pub(super) headline: String,
    /// True if a test runner reported a failure as well.
    pub(super) saw_tests: bool,
}

/// The position of a line in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinePosition {
    pub(super) first: bool,
    pub(super) last: bool,
}

/// The depth of a search for error lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchDepth {
    /// Searches for a headline of a failure that is already known.
    Known,
    /// Searches for lines that are trusted by themselves.
    Doubt,
    /// Searches the head and tail for errors of the shell around an output that was merely shown.
    Edges,
}

static STRONG: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| build_searcher(ANCHORS.split('|').collect(), AnchorPrefilter::No));
static ALL: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| build_searcher(ANCHORS.split('|').chain(WEAK_ANCHORS.split('|')).collect(), AnchorPrefilter::No));
static DEEP: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| build_searcher(DEEP_ANCHORS.to_vec(), AnchorPrefilter::Yes));

/// Turns the prefilter for rare bytes on or off. With many anchors no byte is rare, and it costs more than it saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnchorPrefilter {
    Yes,
    No,
}

fn build_searcher(anchors: Vec<&str>, ahead: AnchorPrefilter) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    builder
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::LeftmostFirst)
        .prefilter(ahead == AnchorPrefilter::Yes);
    builder.build(anchors).ok()
}

/// Finds the next anchor: any of them near the head and the tail, only the clearest in between.
struct AnchorSearch {
    look: SearchDepth,
    near: &'static AhoCorasick,
    /// The searcher for the middle; `None` if the middle is skipped.
    between: Option<&'static AhoCorasick>,
    head: usize,
    tail: usize,
}

impl AnchorSearch {
    fn new(text: &str, look: SearchDepth) -> Option<Self> {
        let near = if look == SearchDepth::Known { ALL.as_ref()? } else { STRONG.as_ref()? };
        let between = if look == SearchDepth::Edges { None } else { DEEP.as_ref() };
        let tail = text.len().saturating_sub(EDGE_BYTES);
        Some(Self { look, near, between, head: EDGE_BYTES.min(text.len()), tail: tail.max(EDGE_BYTES.min(text.len())) })
    }

    fn find_next(&self, text: &str, mut from: usize) -> Option<usize> {
        if from < self.head {
            if let Some(hit) = self.find_at_edge(text, from, self.head) {
                return Some(hit);
            }
            from = self.head;
        }
        if from < self.tail {
            if let Some(hit) = self.between.and_then(|between| find_anchor(between, text, from, self.tail)) {
                return Some(hit);
            }
            from = self.tail;
        }
        self.find_at_edge(text, from, text.len())
    }

    fn find_at_edge(&self, text: &str, mut from: usize, to: usize) -> Option<usize> {
        if self.look == SearchDepth::Known {
            return find_anchor(self.near, text, from, to);
        }
        // Most lines need not be searched: their beginning shows that they are displayed content.
        while from < to {
            let (line, end) = line_at(text, from);
            if !is_displayed_content(line)
                && let Some(hit) = find_anchor(self.near, text, from, end)
            {
                return Some(hit);
            }
            from = end + 1;
        }
        None
    }
}

fn find_anchor(search: &AhoCorasick, text: &str, from: usize, to: usize) -> Option<usize> {
    if from < to { search.find(Input::new(text).range(from..to)).map(|hit| hit.start()) } else { None }
}

/// Returns the most specific of the lines that `accept` admits.
pub(super) fn search_headline(
    text: &str,
    look: SearchDepth,
    accept: impl Fn(&str, &FailureClue, LinePosition) -> bool,
) -> Option<FoundHeadline> {
    let search = AnchorSearch::new(text, look)?;
    let first = first_line_end(text);
    let mut best: Option<FoundHeadline> = None;
    let mut saw_tests = false;
    let mut judged = 0;
    let mut from = 0;
    while let Some(hit) = search.find_next(text, from) {
        let (raw, end) = line_at(text, hit);
        from = end;
        if look != SearchDepth::Known && is_displayed_content(raw) {
            continue;
        }
        judged += 1;
        if judged == MAX_JUDGED {
            from = end.max(search.tail);
        }
        let place = LinePosition { first: hit < first, last: end + CLOSING_BYTES >= text.len() };
        let line = strip_control_codes(raw);
        let line = FRAMED.iter().find_map(|frame| line.strip_prefix(frame)).unwrap_or(&line);
        let Some((clue, told)) = read_clue_at(line, text, end) else { continue };
        if !accept(line.trim(), &clue, place) {
            continue;
        }
        saw_tests |= clue.class == FailureClass::Test && clue.belief >= ClueCredibility::Content;
        // Of chained exceptions the last ended the program; of errors the first began the failure.
        let is_better = best.as_ref().is_none_or(|best| {
            clue.weight > best.weight || (clue.weight == best.weight && told.is_some() && clue.weight == TRACEBACK)
        });
        if is_better {
            let headline = make_headline(told.as_deref().unwrap_or(line));
            best = Some(FoundHeadline { class: clue.class, weight: clue.weight, headline, saw_tests });
        }
    }
    best.map(|best| FoundHeadline { saw_tests, ..best })
}

/// Returns true if a line begins like code, a comment or a quote. Short indented lines may be summaries of test runs.
fn is_displayed_content(line: &str) -> bool {
    const MARKS: &[&str] =
        &["//", "/*", "#", "*", "}", "|", ">", "use ", "pub ", "fn ", "let ", "import ", "from ", "const ", "def "];
    if line.starts_with([' ', '\t']) {
        return line.len() > 120 || line.starts_with("        ") || !line.contains("ail");
    }
    MARKS.iter().any(|mark| line.starts_with(mark)) && !line.starts_with("# fail") && !line.starts_with("** (")
}

/// The weight of the line that ends a traceback.
const TRACEBACK: u8 = 85;

/// The weight of the line below one that only announces an error.
const LABELLED: u8 = 61;

/// Reads the clue of a line; for the head of a stack trace or a panic, that of the lines below it.
fn read_clue_at(line: &str, text: &str, end: usize) -> Option<(FailureClue, Option<String>)> {
    let bare = line.trim();
    if bare == "Traceback (most recent call last):" {
        let indent = line.len() - line.trim_start().len();
        let last = text_after(text, end).lines().take(MAX_FRAMES).find(|next| {
            let next = strip_control_codes(next);
            has_content(&next) && next.len() - next.trim_start().len() <= indent
        })?;
        let last = strip_control_codes(last);
        let clue = read_clue(last.trim());
        let belief = if indent == 0 { ClueCredibility::Content } else { ClueCredibility::Weak };
        let class = clue.map_or(FailureClass::Exception, |clue| clue.class);
        let class = if class == FailureClass::Command { FailureClass::Exception } else { class };
        return Some((FailureClue { class, weight: TRACEBACK, belief }, Some(last.into_owned())));
    }
    if is_bare_label(bare) {
        let below = text_after(text, end)
            .lines()
            .map(strip_control_codes)
            .find(|next| has_content(next) && !is_bare_label(next))?;
        let (class, weight) =
            read_clue(below.trim()).map_or((FailureClass::Command, 0), |clue| (clue.class, clue.weight));
        let weight = weight.max(LABELLED);
        return Some((FailureClue { class, weight, belief: ClueCredibility::Closing }, Some(below.into_owned())));
    }
    let clue = read_clue(line)?;
    if bare.starts_with("thread '") && bare.ends_with(':') && bare.contains("panicked at") {
        let message = text_after(text, end).lines().find(|next| !next.trim().is_empty()).map(strip_control_codes);
        let says_more = message.as_ref().filter(|message| {
            let message = message.trim();
            let is_bare_assertion = message.starts_with("assertion `") && message.ends_with("` failed");
            !message.starts_with("note: ") && !is_bare_assertion
        });
        if let Some(message) = says_more {
            let class = read_clue(message).map_or(clue.class, |inner| inner.class);
            let class = if class == FailureClass::Command { FailureClass::Exception } else { class };
            return Some((FailureClue { class, weight: 83, ..clue }, Some(message.to_string())));
        }
    }
    Some((clue, None))
}

/// Returns true if a line only announces the error below it: `Error:`, `Error in code parsing:`.
pub(super) fn is_bare_label(line: &str) -> bool {
    const LABELS: &[&str] = &["error", "exception", "failure", "failed", "fatal", "stderr"];
    let lower = prefix_to_byte(line.trim(), 64).to_ascii_lowercase();
    let first = lower.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty());
    let is_announced = lower.ends_with(':') && line.trim().len() < 60 || lower.split_whitespace().count() == 1;
    is_announced && first.is_some_and(|word| LABELS.contains(&word)) && !lower.contains(": ")
}

/// Returns true if an output names file locations or unformatted files, as linters do.
pub(super) fn lists_findings(text: &str) -> bool {
    const FINDINGS: &[&str] = &["Diff in ", "would reformat ", "[warn] ", "--> ", "@@ ", "would be reformatted"];
    let is_place = |word: &str| {
        let (name, numbers) = word.split_once([':', '(']).unwrap_or((word, ""));
        let is_file = name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ending.len() <= 6);
        (is_file || name.parse::<u32>().is_ok()) && numbers.starts_with(|c: char| c.is_ascii_digit())
    };
    prefix_to_byte(text, EDGE_BYTES).lines().any(|line| {
        let line = strip_control_codes(line);
        let bare = line.trim_start();
        FINDINGS.iter().any(|finding| bare.starts_with(finding))
            || bare.starts_with("In ") && bare.contains(" line ")
            || bare.split_whitespace().next().is_some_and(is_place)
    })
}

fn text_after(text: &str, end: usize) -> &str {
    prefix_to_byte(suffix_from_byte(text, end), EDGE_BYTES * 4)
}

/// Returns the offset just after the first line with content.
fn first_line_end(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    let mut offset = start;
    for line in prefix_to_byte(suffix_from_byte(text, start), 2000).split_inclusive('\n').take(12) {
        offset += line.len();
        if has_content(line) {
            break;
        }
    }
    offset
}

/// Returns the first line with content.
pub(super) fn first_content_line(text: &str) -> Option<String> {
    prefix_to_byte(text, EDGE_BYTES)
        .lines()
        .map(strip_control_codes)
        .find(|line| has_content(line))
        .map(std::borrow::Cow::into_owned)
}

/// Returns the last line with content.
pub(super) fn last_content_line(text: &str) -> Option<String> {
    let tail = suffix_from_byte(text, text.len().saturating_sub(EDGE_BYTES));
    tail.lines().rev().map(strip_control_codes).find(|line| has_content(line)).map(std::borrow::Cow::into_owned)
}

/// Counts the lines with content, up to ten.
pub(super) fn count_content_lines(text: &str) -> usize {
    prefix_to_byte(text, EDGE_BYTES).lines().filter(|line| has_content(&strip_control_codes(line))).take(10).count()
}

/// Returns true unless a line is empty, a rule of dashes or part of the frame that a harness puts around an output.
fn has_content(line: &str) -> bool {
    const FRAME: &str = "... [|exit code|wall time:|output:|chunk id:|original token count:|total output lines:|\
        process exited with code|(command exited with code|[stdout]|[stderr]|[exit_code]|[metadata]|\
        [error] tool reported failure|<retrieval_status>|<task_id>|<task_type>|<status>|<exit_code>|\
        <output>|</output>|<stdout>|</stdout>|<stderr>|</stderr>|stderr:|stdout:|traceback (most|\
        note: run with|new terminal output:|current terminal |current screen|\
        for more information about this error|a complete log of this run";
    let line = line.trim();
    if line.chars().filter(|c| c.is_alphanumeric()).count() < 2 {
        return false;
    }
    let lower = prefix_to_byte(line, 64).to_ascii_lowercase();
    // `EXIT: 1`, as commands print it themselves.
    let is_code = |word: &str| matches!(word, "exit" | "status" | "code" | "rc") || word.parse::<i32>().is_ok();
    let is_exit = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).all(is_code);
    !is_exit && !FRAME.split('|').any(|frame| lower.starts_with(frame))
}
