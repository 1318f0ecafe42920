//! Finds the telling line of an output without reading all of it closely.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::evidence::{ANCHORS, Belief, DEEP_ANCHORS, Saying, WEAK_ANCHORS, judge};
use super::plain::{from_byte, line_at, plain, to_byte};
use super::read::{Class, headline};

/// So many lines are judged before the search goes on near the end.
const MAX_JUDGED: usize = 200;

/// So much of the head and of the tail is looked at closely.
const EDGE_BYTES: usize = 16 * 1024;

/// A program's last word stands here.
const CLOSING_BYTES: usize = 800;

/// What a harness writes before the first line of an output.
const FRAMED: &[&str] = &["Output: ", "Stdout: ", "Stderr: "];

/// Longer stacks are not followed to their end.
const MAX_FRAMES: usize = 300;

/// The best line found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) class: Class,
    pub(super) weight: u8,
    pub(super) headline: String,
    /// A test runner spoke too.
    pub(super) saw_tests: bool,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) first: bool,
    pub(super) last: bool,
}

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// For a headline; that it failed is known.
    Known,
    /// For lines that are believed by themselves.
    Doubt,
    /// For complaints of the shell around an output that was merely shown: at its head and tail.
    Edges,
}

static STRONG: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| searcher(ANCHORS.split('|').collect(), Ahead::No));
static ALL: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| searcher(ANCHORS.split('|').chain(WEAK_ANCHORS.split('|')).collect(), Ahead::No));
static DEEP: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| searcher(DEEP_ANCHORS.to_vec(), Ahead::Yes));

/// Whether to look ahead for rare bytes. With many anchors none is rare, and looking costs more than it saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ahead {
    Yes,
    No,
}

fn searcher(anchors: Vec<&str>, ahead: Ahead) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    builder.kind(Some(AhoCorasickKind::DFA)).match_kind(MatchKind::LeftmostFirst).prefilter(ahead == Ahead::Yes);
    builder.build(anchors).ok()
}

/// Finds the next anchor: any of them near the head and the tail, the plainest few between.
struct Search {
    look: Look,
    near: &'static AhoCorasick,
    /// `None` where the middle is passed over.
    between: Option<&'static AhoCorasick>,
    head: usize,
    tail: usize,
}

impl Search {
    fn new(text: &str, look: Look) -> Option<Self> {
        let near = if look == Look::Known { ALL.as_ref()? } else { STRONG.as_ref()? };
        let between = if look == Look::Edges { None } else { DEEP.as_ref() };
        let tail = text.len().saturating_sub(EDGE_BYTES);
        Some(Self { look, near, between, head: EDGE_BYTES.min(text.len()), tail: tail.max(EDGE_BYTES.min(text.len())) })
    }

    fn find(&self, text: &str, mut from: usize) -> Option<usize> {
        if from < self.head {
            if let Some(hit) = self.find_near(text, from, self.head) {
                return Some(hit);
            }
            from = self.head;
        }
        if from < self.tail {
            if let Some(hit) = self.between.and_then(|between| find_in(between, text, from, self.tail)) {
                return Some(hit);
            }
            from = self.tail;
        }
        self.find_near(text, from, text.len())
    }

    fn find_near(&self, text: &str, mut from: usize, to: usize) -> Option<usize> {
        if self.look == Look::Known {
            return find_in(self.near, text, from, to);
        }
        // Most lines need not be searched: their beginning says that they are only shown.
        while from < to {
            let (line, end) = line_at(text, from);
            if !is_shown(line)
                && let Some(hit) = find_in(self.near, text, from, end)
            {
                return Some(hit);
            }
            from = end + 1;
        }
        None
    }
}

fn find_in(search: &AhoCorasick, text: &str, from: usize, to: usize) -> Option<usize> {
    if from < to { search.find(Input::new(text).range(from..to)).map(|hit| hit.start()) } else { None }
}

/// The most telling of the lines that `accept` lets pass.
pub(super) fn survey(text: &str, look: Look, accept: impl Fn(&str, &Saying, Place) -> bool) -> Option<Found> {
    let search = Search::new(text, look)?;
    let first = first_offset(text);
    let mut best: Option<Found> = None;
    let mut saw_tests = false;
    let mut judged = 0;
    let mut from = 0;
    while let Some(hit) = search.find(text, from) {
        let (raw, end) = line_at(text, hit);
        from = end;
        if look != Look::Known && is_shown(raw) {
            continue;
        }
        judged += 1;
        if judged == MAX_JUDGED {
            from = end.max(search.tail);
        }
        let place = Place { first: hit < first, last: end + CLOSING_BYTES >= text.len() };
        let line = plain(raw);
        let line = FRAMED.iter().find_map(|frame| line.strip_prefix(frame)).unwrap_or(&line);
        let Some((saying, told)) = tell(line, text, end) else { continue };
        if !accept(line.trim(), &saying, place) {
            continue;
        }
        saw_tests |= saying.class == Class::Test && saying.belief >= Belief::Content;
        // Of chained exceptions the last is the one that ended the program; of errors the first began it.
        let is_better = best.as_ref().is_none_or(|best| {
            saying.weight > best.weight
                || (saying.weight == best.weight && told.is_some() && saying.weight == TRACEBACK)
        });
        if is_better {
            let headline = headline(told.as_deref().unwrap_or(line));
            best = Some(Found { class: saying.class, weight: saying.weight, headline, saw_tests });
        }
    }
    best.map(|best| Found { saw_tests, ..best })
}

/// Whether a line is code, a comment or a quotation by its beginning. Summaries of test runs are indented, but short.
fn is_shown(line: &str) -> bool {
    const MARKS: &[&str] =
        &["//", "/*", "#", "*", "}", "|", ">", "use ", "pub ", "fn ", "let ", "import ", "from ", "const ", "def "];
    if line.starts_with([' ', '\t']) {
        return line.len() > 120 || line.starts_with("        ") || !line.contains("ail");
    }
    MARKS.iter().any(|mark| line.starts_with(mark)) && !line.starts_with("# fail") && !line.starts_with("** (")
}

/// The weight of what ends a traceback.
const TRACEBACK: u8 = 85;

/// The weight of what stands below a line that only announces an error.
const LABELLED: u8 = 61;

/// What a line says; for the head of a stack or a panic, what the lines below it say.
fn tell(line: &str, text: &str, end: usize) -> Option<(Saying, Option<String>)> {
    let bare = line.trim();
    if bare == "Traceback (most recent call last):" {
        let indent = line.len() - line.trim_start().len();
        let last = rest_of(text, end).lines().take(MAX_FRAMES).find(|next| {
            let next = plain(next);
            says_something(&next) && next.len() - next.trim_start().len() <= indent
        })?;
        let last = plain(last);
        let saying = judge(last.trim());
        let belief = if indent == 0 { Belief::Content } else { Belief::Weak };
        let class = saying.map_or(Class::Exception, |saying| saying.class);
        let class = if class == Class::Command { Class::Exception } else { class };
        return Some((Saying { class, weight: TRACEBACK, belief }, Some(last.into_owned())));
    }
    if is_bare_label(bare) {
        let below = rest_of(text, end).lines().map(plain).find(|next| says_something(next) && !is_bare_label(next))?;
        let (class, weight) = judge(below.trim()).map_or((Class::Command, 0), |saying| (saying.class, saying.weight));
        let weight = weight.max(LABELLED);
        return Some((Saying { class, weight, belief: Belief::Closing }, Some(below.into_owned())));
    }
    let saying = judge(line)?;
    if bare.starts_with("thread '") && bare.ends_with(':') && bare.contains("panicked at") {
        let message = rest_of(text, end).lines().find(|next| !next.trim().is_empty()).map(plain);
        let says_more = message.as_ref().filter(|message| {
            let message = message.trim();
            let is_bare_assertion = message.starts_with("assertion `") && message.ends_with("` failed");
            !message.starts_with("note: ") && !is_bare_assertion
        });
        if let Some(message) = says_more {
            let class = judge(message).map_or(saying.class, |inner| inner.class);
            let class = if class == Class::Command { Class::Exception } else { class };
            return Some((Saying { class, weight: 83, ..saying }, Some(message.to_string())));
        }
    }
    Some((saying, None))
}

/// Says whether a line only announces an error, and what it is stands below: `Error:`, `Error in code parsing:`.
pub(super) fn is_bare_label(line: &str) -> bool {
    const LABELS: &[&str] = &["error", "exception", "failure", "failed", "fatal", "stderr"];
    let lower = to_byte(line.trim(), 64).to_ascii_lowercase();
    let first = lower.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty());
    let is_announced = lower.ends_with(':') && line.trim().len() < 60 || lower.split_whitespace().count() == 1;
    is_announced && first.is_some_and(|word| LABELS.contains(&word)) && !lower.contains(": ")
}

/// Says whether an output names places in files, or files that are not formatted, as linters do.
pub(super) fn names_findings(text: &str) -> bool {
    const FINDINGS: &[&str] = &["Diff in ", "would reformat ", "[warn] ", "--> ", "@@ ", "would be reformatted"];
    let is_place = |word: &str| {
        let (name, numbers) = word.split_once([':', '(']).unwrap_or((word, ""));
        let is_file = name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ending.len() <= 6);
        (is_file || name.parse::<u32>().is_ok()) && numbers.starts_with(|c: char| c.is_ascii_digit())
    };
    to_byte(text, EDGE_BYTES).lines().any(|line| {
        let line = plain(line);
        let bare = line.trim_start();
        FINDINGS.iter().any(|finding| bare.starts_with(finding))
            || bare.starts_with("In ") && bare.contains(" line ")
            || bare.split_whitespace().next().is_some_and(is_place)
    })
}

fn rest_of(text: &str, end: usize) -> &str {
    to_byte(from_byte(text, end), EDGE_BYTES * 4)
}

/// Just behind the first line that is not empty.
fn first_offset(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    let mut offset = start;
    for line in to_byte(from_byte(text, start), 2000).split_inclusive('\n').take(12) {
        offset += line.len();
        if says_something(line) {
            break;
        }
    }
    offset
}

/// The first line with something to say.
pub(super) fn first_line(text: &str) -> Option<String> {
    to_byte(text, EDGE_BYTES).lines().map(plain).find(|line| says_something(line)).map(std::borrow::Cow::into_owned)
}

/// The last line with something to say.
pub(super) fn last_line(text: &str) -> Option<String> {
    let tail = from_byte(text, text.len().saturating_sub(EDGE_BYTES));
    tail.lines().rev().map(plain).find(|line| says_something(line)).map(std::borrow::Cow::into_owned)
}

/// How many lines have something to say, up to ten.
pub(super) fn lines_with_words(text: &str) -> usize {
    to_byte(text, EDGE_BYTES).lines().filter(|line| says_something(&plain(line))).take(10).count()
}

/// Neither empty, nor a rule of dashes, nor what a harness puts around an output.
fn says_something(line: &str) -> bool {
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
    let lower = to_byte(line, 64).to_ascii_lowercase();
    // `EXIT: 1`, as commands print it themselves.
    let is_code = |word: &str| matches!(word, "exit" | "status" | "code" | "rc") || word.parse::<i32>().is_ok();
    let is_exit = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).all(is_code);
    !is_exit && !FRAME.split('|').any(|frame| lower.starts_with(frame))
}
