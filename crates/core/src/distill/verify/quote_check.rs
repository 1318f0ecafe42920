//! Checks whether quoted words appear in the step that is claimed.
//!
//! A quote may wrap its lines differently, leave something out if it says so, and stand between quotation marks. Every
//! other letter must match the log. The log's own letters are kept, never those of the candidate.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;

use super::folded_text::FoldedText;
use super::pasted_text::{self, PassedOnLines};
use super::reader_orders::{ReaderOrder, find_order};
use crate::context::{QuotableText, ReflectionContext, quotable_texts};
use crate::distill::unchecked_candidate::{StepReference, UncheckedCandidate, UncheckedQuote};
use crate::domain::{DropReason, EvidenceLevel, Quote, Step, Trajectory, TrustClass};

#[cfg(test)]
#[path = "quote_check_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fabrication_tests.rs"]
mod fabrication;

/// The fewest letters and digits of a fragment that proves something.
const MIN_PROOF: usize = 6;

/// The most characters of a quote that are kept.
const MAX_QUOTE_CHARACTERS: usize = 400;

/// The most quotes of one candidate that are looked up.
const MAX_QUOTES: usize = 24;

/// The most fragments of one quote. A quote that leaves out more is picking words.
const MAX_FRAGMENTS: usize = 8;

/// A quote with fewer words than this may repeat a lesson by chance.
const MIN_ECHO_WORDS: usize = 5;

/// The most bytes around a wrong step that are searched for the right one.
const MAX_SEARCH_BYTES: usize = 4 * 1024 * 1024;

/// The number of bytes before and after a quote that are searched for its paragraph.
const NEAR_BYTES: usize = 600;

/// Marks that people put around quoted words.
const MARKS: &[char] = &['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»'];

/// A quote that was found in the log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundQuote {
    pub(super) quote: Quote,
    pub(super) place: StepReference,
    /// The evidence level that was claimed for it.
    pub(super) claimed: Option<EvidenceLevel>,
    /// The order that the text around it gives to the reader.
    pub(super) order: Option<ReaderOrder>,
}

/// The reason why a quote proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum QuoteFault {
    NoSuchStep,
    TooShort,
    TooScattered,
    NotThere,
    Elsewhere(StepReference),
    Echo,
}

/// Looks up quotes. Every step is folded once, however often it is quoted.
#[derive(Debug)]
pub(super) struct QuoteLookup<'c> {
    context: &'c ReflectionContext,
    /// The texts of the known lessons, as normalized words.
    lessons: Vec<String>,
    steps: BTreeMap<StepReference, Vec<(FoldedText, QuotableText<'c>)>>,
    passed_on: &'c PassedOnLines,
}

impl<'c> QuoteLookup<'c> {
    pub(super) fn new(context: &'c ReflectionContext, passed_on: &'c PassedOnLines) -> Self {
        let lessons = context
            .existing_memories
            .iter()
            .flat_map(|memory| [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()])
            .flatten()
            .map(|text| normalize_words(text))
            .collect();
        Self { context, lessons, steps: BTreeMap::new(), passed_on }
    }

    /// Returns the quotes of a candidate that were found, or why none of them counts.
    pub(super) fn look_up_all(&mut self, claim: &UncheckedCandidate) -> Result<Vec<FoundQuote>, (DropReason, String)> {
        let mut found: Vec<FoundQuote> = Vec::new();
        let mut faults = Vec::new();
        for cited in claim.quotes.iter().take(MAX_QUOTES) {
            match self.look_up_quote(cited) {
                Ok(more) => {
                    for one in more {
                        if !found.iter().any(|known| known.quote == one.quote) {
                            found.push(one);
                        }
                    }
                }
                Err(fault) => faults.push((cited.place, fault)),
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        let is_echo = faults.iter().any(|(_, fault)| *fault == QuoteFault::Echo);
        let why = if is_echo { DropReason::Echo } else { DropReason::NoEvidence };
        let said = faults.iter().find(|(_, fault)| (*fault == QuoteFault::Echo) == is_echo);
        Err((why, said.map_or_else(|| "it quotes nothing".to_owned(), |(place, fault)| fault.describe(*place))))
    }

    fn look_up_quote(&mut self, cited: &UncheckedQuote) -> Result<Vec<FoundQuote>, QuoteFault> {
        let readings = quote_readings(&cited.text);
        if readings.iter().all(|fragments| fragments.iter().all(|fragment| letter_weight(fragment) < MIN_PROOF)) {
            return Err(QuoteFault::TooShort);
        }
        if readings.iter().all(|fragments| fragments.len() > MAX_FRAGMENTS) {
            return Err(QuoteFault::TooScattered);
        }
        let step = find_step(self.context, cited.place);
        let trajectory_id = self.trajectory_id(cited.place);
        let (lessons, passed_on) = (&self.lessons, self.passed_on);
        let shown = match step {
            Some(step) => self.steps.entry(cited.place).or_insert_with(|| {
                let folded = |passage: QuotableText<'c>| (FoldedText::new(&passage.text), passage);
                quotable_texts(step).into_iter().map(folded).collect()
            }),
            None => return Err(QuoteFault::NoSuchStep),
        };
        let mut is_echo = false;
        for fragments in readings.iter().filter(|fragments| fragments.len() <= MAX_FRAGMENTS) {
            for (folded, passage) in shown.iter() {
                let Some(spans) = locate_fragments(fragments, folded.text()) else { continue };
                let whole = fragments.join(" ");
                if passage.trust == TrustClass::InjectedMemory || is_echo_of(lessons, &whole, passage) {
                    is_echo = true;
                    continue;
                }
                let quotes: Vec<FoundQuote> = spans
                    .into_iter()
                    .filter_map(|span| {
                        let span = cap_range(&passage.text, folded.original_range(span));
                        let trust = quote_trust(passage, &span, passed_on);
                        let order = find_order_nearby(passage, &span, &trust);
                        let level = passage.level.clone();
                        let number = cited.place.step;
                        let quote =
                            Quote::from_span(&trajectory_id, number, &passage.text, span, passage.start, level, trust)?;
                        Some(FoundQuote { quote, place: cited.place, claimed: cited.level.clone(), order })
                    })
                    .collect();
                if !quotes.is_empty() {
                    return Ok(quotes);
                }
            }
        }
        if is_echo {
            return Err(QuoteFault::Echo);
        }
        Err(self.find_elsewhere(cited.place, &readings).map_or(QuoteFault::NotThere, QuoteFault::Elsewhere))
    }

    /// Returns the id of the trajectory, else that of its session, else that of the episode's session.
    fn trajectory_id(&self, place: StepReference) -> String {
        let about = find_trajectory(self.context, place).map(|one| &one.about);
        about
            .and_then(|about| about.trajectory_id.clone().or_else(|| about.session_id.clone()))
            .unwrap_or_else(|| self.context.episode.session_id.as_str().to_owned())
    }

    /// Returns another step that contains the words, the nearest first.
    fn find_elsewhere(&self, place: StepReference, readings: &[Vec<String>]) -> Option<StepReference> {
        let steps = &find_trajectory(self.context, place)?.steps;
        let mut near: Vec<&Step> = steps.iter().filter(|step| step.number != place.step).collect();
        near.sort_by_key(|step| step.number.abs_diff(place.step));
        let mut left = MAX_SEARCH_BYTES;
        for step in near {
            for passage in quotable_texts(step) {
                left = left.checked_sub(passage.text.len())?;
                let folded = FoldedText::new(&passage.text);
                if readings.iter().any(|fragments| locate_fragments(fragments, folded.text()).is_some()) {
                    return Some(StepReference { step: step.number, ..place });
                }
            }
        }
        None
    }
}

/// Returns the trajectory that a reference points into.
fn find_trajectory(context: &ReflectionContext, place: StepReference) -> Option<&Trajectory> {
    context.trajectories.get(usize::try_from(place.trajectory).ok()?)
}

/// Returns the step that a reference points to.
fn find_step(context: &ReflectionContext, place: StepReference) -> Option<&Step> {
    find_trajectory(context, place)?.steps.iter().find(|step| step.number == place.step)
}

/// Returns the ways to read a quote, each as fragments: word for word first, then with its omissions.
fn quote_readings(text: &str) -> Vec<Vec<String>> {
    let folded = FoldedText::new(text);
    let whole = folded.text();
    let bare = whole.trim_matches(|c: char| MARKS.contains(&c) || c.is_whitespace());
    let mut readings: Vec<Vec<String>> = Vec::new();
    for text in [whole, bare] {
        let marked = normalize_omissions(text);
        for fragments in
            [vec![text.to_owned()], split_fragments(&marked, &["…"]), split_fragments(&marked, &["…", "..."])]
        {
            if !fragments.is_empty() && !readings.contains(&fragments) {
                readings.push(fragments);
            }
        }
    }
    readings
}

/// Returns the text with `…` for every mark of an omission: `[…]`, `[...]`, `(...)` and the marks of cut logs.
fn normalize_omissions(text: &str) -> String {
    let text = ["[…]", "[...]", "(…)", "(...)"].iter().fold(text.to_owned(), |text, mark| text.replace(mark, "…"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("[… ") {
        let cut = behind.split_once(" bytes cut …]").filter(|(bytes, _)| bytes.bytes().all(|b| b.is_ascii_digit()));
        out.push_str(before);
        out.push('…');
        rest = cut.map_or(behind, |(_, after)| after);
    }
    out.push_str(rest);
    out
}

fn split_fragments(text: &str, marks: &[&str]) -> Vec<String> {
    let text = marks.iter().fold(text.to_owned(), |text, mark| text.replace(mark, "\0"));
    let trim = |fragment: &str| fragment.trim().to_owned();
    text.split('\0').map(trim).filter(|fragment| !fragment.is_empty()).collect()
}

/// Counts letters and digits; a sign of a script without spaces counts twice.
fn letter_weight(fragment: &str) -> usize {
    let heavy = |c: char| u32::from(c) >= 0x2E80;
    fragment.chars().filter(|c| c.is_alphanumeric()).map(|c| if heavy(c) { 2 } else { 1 }).sum()
}

/// Returns the positions of the fragments in a text, in order; all must appear, and one must be long enough.
fn locate_fragments(fragments: &[String], text: &str) -> Option<Vec<Range<usize>>> {
    if !fragments.iter().any(|fragment| letter_weight(fragment) >= MIN_PROOF) {
        return None;
    }
    let mut from = 0;
    let mut spans = Vec::with_capacity(fragments.len());
    for fragment in fragments {
        let rest = text.as_bytes().get(from..)?;
        let at = from + memmem::find(rest, fragment.as_bytes())?;
        from = at + fragment.len();
        spans.push(at..from);
    }
    // Fragments that are too short to be proof helped to find the rest, and are not kept.
    let is_proof = |span: &Range<usize>| text.get(span.clone()).is_some_and(|words| letter_weight(words) >= MIN_PROOF);
    spans.retain(is_proof);
    Some(spans)
}

/// Returns the part of a range that may be kept.
fn cap_range(text: &str, span: Range<usize>) -> Range<usize> {
    let words = text.get(span.clone()).unwrap_or_default();
    let length = words.char_indices().nth(MAX_QUOTE_CHARACTERS).map_or(words.len(), |(at, _)| at);
    let kept = words.get(..length).unwrap_or_default().trim_end().len();
    span.start..span.start + kept
}

/// Returns the trust class of quoted words: what somebody only passed on is not theirs.
fn quote_trust(passage: &QuotableText<'_>, span: &Range<usize>, passed_on: &PassedOnLines) -> TrustClass {
    let is_message = matches!(passage.trust, TrustClass::User | TrustClass::Agent);
    if !is_message || passage.level != EvidenceLevel::Reasoning {
        return passage.trust.clone();
    }
    let touches =
        |part: &pasted_text::AttributedPart<'_>| part.start < span.end && span.start < part.start + part.text.len();
    let is_strange =
        pasted_text::split_by_author(&passage.text, &passage.trust).iter().any(|part| part.is_strange && touches(part));
    let mut start = 0;
    let is_copied = passage.trust == TrustClass::User
        && passage.text.split_inclusive('\n').any(|line| {
            let lines = start..start + line.len();
            start = lines.end;
            lines.start < span.end && span.start < lines.end && passed_on.contains_line(line)
        });
    if is_strange || is_copied { pasted_text::CLASS } else { passage.trust.clone() }
}

/// Returns what the paragraph of a quote orders its reader to do. A user's own orders do not count.
fn find_order_nearby(passage: &QuotableText<'_>, span: &Range<usize>, trust: &TrustClass) -> Option<ReaderOrder> {
    if *trust == TrustClass::User {
        return None;
    }
    let text = passage.text.as_ref();
    let from = text.floor_char_boundary(span.start.saturating_sub(NEAR_BYTES));
    let to = text.ceil_char_boundary((span.end + NEAR_BYTES).min(text.len()));
    let before = text.get(from..span.start).unwrap_or_default();
    let before = before.rsplit("\n\n").next().unwrap_or(before);
    let behind = text.get(span.end..to).unwrap_or_default();
    let behind = behind.split("\n\n").next().unwrap_or(behind);
    let near = text.get(span.start - before.len()..span.end + behind.len())?;
    find_order(near).filter(|order| *trust != TrustClass::Agent || order.is_grave())
}

/// Returns the words of a text in lower case, separated and surrounded by single spaces.
fn normalize_words(text: &str) -> String {
    let mut bare = String::from(" ");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        bare.extend(word.chars().flat_map(char::to_lowercase));
        bare.push(' ');
    }
    bare
}

/// Tells whether words of the log only repeat a known lesson. Words that were said repeat it wherever they share a
/// piece. Executions do not: a lesson quotes the failure that it is about, and the same failure prints the same words
/// again. They prove nothing only where the output contains the whole lesson, as in a file of lessons.
fn is_echo_of(lessons: &[String], quoted: &str, passage: &QuotableText<'_>) -> bool {
    let quoted = normalize_words(quoted);
    let mut known = lessons.iter().filter(|lesson| overlaps_lesson(lesson, &quoted)).peekable();
    if known.peek().is_none() || passage.level != EvidenceLevel::Execution {
        return known.peek().is_some();
    }
    let shown = normalize_words(&passage.text);
    known.any(|lesson| is_long(lesson) && memmem::find(shown.as_bytes(), lesson.as_bytes()).is_some())
}

/// Tells whether the quote contains the lesson or the lesson contains the quote.
fn overlaps_lesson(lesson: &str, quoted: &str) -> bool {
    is_long(quoted)
        && (memmem::find(lesson.as_bytes(), quoted.as_bytes()).is_some()
            || (is_long(lesson) && memmem::find(quoted.as_bytes(), lesson.as_bytes()).is_some()))
}

fn is_long(words: &str) -> bool {
    words.split(' ').filter(|word| !word.is_empty()).count() >= MIN_ECHO_WORDS
}

impl QuoteFault {
    fn describe(&self, place: StepReference) -> String {
        let StepReference { trajectory, step } = place;
        match self {
            Self::NoSuchStep => format!("t{trajectory}.s{step} is not among the steps that were read"),
            Self::TooShort => "what it quotes is too short to prove anything".to_owned(),
            Self::TooScattered => format!("it leaves out too much of t{trajectory}.s{step}"),
            Self::NotThere => format!("its words do not stand in t{trajectory}.s{step}"),
            Self::Elsewhere(right) => {
                format!(
                    "its words stand in t{}.s{}, not in t{trajectory}.s{step} as it says",
                    right.trajectory, right.step
                )
            }
            Self::Echo => format!("what it quotes of t{trajectory}.s{step} is a lesson that was known already"),
        }
    }
}
