//! Whether quoted words stand where they are said to stand.
//!
//! A quotation may wrap its lines anew, leave something out where it says so, and stand between quotation marks. Every
//! other letter must be the log's. What is kept are the log's own letters, never those of the claim.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;

use super::folded::Folded;
use super::orders::{Order, is_order};
use super::pasted;
use crate::context::{Passage, ReflectionContext, passages};
use crate::distill::claim::{Cited, Claim, Place};
use crate::domain::{DropReason, EvidenceLevel, Quote, Step, Trajectory, TrustClass};

#[cfg(test)]
#[path = "quotes_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fabrication_tests.rs"]
mod fabrication;

/// A fragment with fewer letters and digits than this stands everywhere.
const MIN_PROOF: usize = 6;

/// As much of a quotation as is kept.
const MAX_QUOTE_CHARACTERS: usize = 400;

/// Quotations of one claim that are looked up.
const MAX_QUOTES: usize = 24;

/// Fragments of one quotation. Who leaves out more than this is picking words.
const MAX_FRAGMENTS: usize = 8;

/// A quotation shorter than this may repeat a lesson by chance.
const MIN_ECHO_WORDS: usize = 5;

/// How much text around a wrong place is looked through to name the right one.
const MAX_SEARCH_BYTES: usize = 4 * 1024 * 1024;

/// How much before and behind a quotation belongs to its paragraph.
const NEAR_BYTES: usize = 600;

/// Marks that people put around quoted words.
const MARKS: &[char] = &['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»'];

/// Words of the log, and how they bear on the claim.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) quote: Quote,
    pub(super) place: Place,
    /// How strong they were said to be.
    pub(super) claimed: Option<EvidenceLevel>,
    /// What the words around them order the reader to do.
    pub(super) order: Option<Order>,
}

/// Why a quotation proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    NoSuchStep,
    TooShort,
    TooScattered,
    NotThere,
    Elsewhere(Place),
    Echo,
}

/// Looks quotations up. Every step is folded once, however often it is quoted.
#[derive(Debug)]
pub(super) struct Lookup<'c> {
    context: &'c ReflectionContext,
    /// The words of the lessons that are known already.
    lessons: Vec<String>,
    steps: BTreeMap<Place, Vec<(Folded, Passage<'c>)>>,
}

impl<'c> Lookup<'c> {
    pub(super) fn new(context: &'c ReflectionContext) -> Self {
        let lessons = context
            .existing_memories
            .iter()
            .flat_map(|memory| [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()])
            .flatten()
            .map(|text| bare_words(text))
            .collect();
        Self { context, lessons, steps: BTreeMap::new() }
    }

    /// The quotations of a claim that were found, or why none of them counts.
    pub(super) fn all(&mut self, claim: &Claim) -> Result<Vec<Found>, (DropReason, String)> {
        let mut found: Vec<Found> = Vec::new();
        let mut faults = Vec::new();
        for cited in claim.quotes.iter().take(MAX_QUOTES) {
            match self.one(cited) {
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
        let is_echo = faults.iter().any(|(_, fault)| *fault == Fault::Echo);
        let why = if is_echo { DropReason::Echo } else { DropReason::NoEvidence };
        let said = faults.iter().find(|(_, fault)| (*fault == Fault::Echo) == is_echo);
        Err((why, said.map_or_else(|| "it quotes nothing".to_owned(), |(place, fault)| fault.say(*place))))
    }

    fn one(&mut self, cited: &Cited) -> Result<Vec<Found>, Fault> {
        let readings = readings(&cited.text);
        if readings.iter().all(|fragments| fragments.iter().all(|fragment| weight(fragment) < MIN_PROOF)) {
            return Err(Fault::TooShort);
        }
        if readings.iter().all(|fragments| fragments.len() > MAX_FRAGMENTS) {
            return Err(Fault::TooScattered);
        }
        let step = step(self.context, cited.place);
        let trajectory_id = self.trajectory_id(cited.place);
        let lessons = &self.lessons;
        let shown = match step {
            Some(step) => self.steps.entry(cited.place).or_insert_with(|| {
                let folded = |passage: Passage<'c>| (Folded::new(&passage.text), passage);
                passages(step).into_iter().map(folded).collect()
            }),
            None => return Err(Fault::NoSuchStep),
        };
        let mut is_echo = false;
        for fragments in readings.iter().filter(|fragments| fragments.len() <= MAX_FRAGMENTS) {
            for (folded, passage) in shown.iter() {
                let Some(spans) = stand_in(fragments, folded.text()) else { continue };
                let whole = fragments.join(" ");
                if passage.trust == TrustClass::InjectedMemory || is_echo_of(lessons, &whole, passage) {
                    is_echo = true;
                    continue;
                }
                let quotes: Vec<Found> = spans
                    .into_iter()
                    .filter_map(|span| {
                        let span = capped(&passage.text, folded.original(span));
                        let trust = whose(passage, &span);
                        let order = order_near(passage, &span, &trust);
                        let level = passage.level.clone();
                        let number = cited.place.step;
                        let quote =
                            Quote::at(&trajectory_id, number, &passage.text, span, passage.start, level, trust)?;
                        Some(Found { quote, place: cited.place, claimed: cited.level.clone(), order })
                    })
                    .collect();
                if !quotes.is_empty() {
                    return Ok(quotes);
                }
            }
        }
        if is_echo {
            return Err(Fault::Echo);
        }
        Err(self.elsewhere(cited.place, &readings).map_or(Fault::NotThere, Fault::Elsewhere))
    }

    /// The trajectory's own name, else that of its session, else that of the run.
    fn trajectory_id(&self, place: Place) -> String {
        let about = trajectory(self.context, place).map(|one| &one.about);
        about
            .and_then(|about| about.trajectory_id.clone().or_else(|| about.session_id.clone()))
            .unwrap_or_else(|| self.context.episode.session_id.as_str().to_owned())
    }

    /// Another step in which the words stand, the nearest first.
    fn elsewhere(&self, place: Place, readings: &[Vec<String>]) -> Option<Place> {
        let steps = &trajectory(self.context, place)?.steps;
        let mut near: Vec<&Step> = steps.iter().filter(|step| step.number != place.step).collect();
        near.sort_by_key(|step| step.number.abs_diff(place.step));
        let mut left = MAX_SEARCH_BYTES;
        for step in near {
            for passage in passages(step) {
                left = left.checked_sub(passage.text.len())?;
                let folded = Folded::new(&passage.text);
                if readings.iter().any(|fragments| stand_in(fragments, folded.text()).is_some()) {
                    return Some(Place { step: step.number, ..place });
                }
            }
        }
        None
    }
}

/// The trajectory of a place.
fn trajectory(context: &ReflectionContext, place: Place) -> Option<&Trajectory> {
    context.trajectories.get(usize::try_from(place.trajectory).ok()?)
}

/// The step of a place.
fn step(context: &ReflectionContext, place: Place) -> Option<&Step> {
    trajectory(context, place)?.steps.iter().find(|step| step.number == place.step)
}

/// The ways to read a quotation, each as fragments: word for word first, then with what it leaves out.
fn readings(text: &str) -> Vec<Vec<String>> {
    let folded = Folded::new(text);
    let whole = folded.text();
    let bare = whole.trim_matches(|c: char| MARKS.contains(&c) || c.is_whitespace());
    let mut readings: Vec<Vec<String>> = Vec::new();
    for text in [whole, bare] {
        let marked = without_marks(text);
        for fragments in [vec![text.to_owned()], split(&marked, &["…"]), split(&marked, &["…", "..."])] {
            if !fragments.is_empty() && !readings.contains(&fragments) {
                readings.push(fragments);
            }
        }
    }
    readings
}

/// The text with `…` for everything else that says "left out": `[…]`, `[...]`, `(...)` and the marks of cut logs.
fn without_marks(text: &str) -> String {
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

fn split(text: &str, marks: &[&str]) -> Vec<String> {
    let text = marks.iter().fold(text.to_owned(), |text, mark| text.replace(mark, "\0"));
    let trim = |fragment: &str| fragment.trim().to_owned();
    text.split('\0').map(trim).filter(|fragment| !fragment.is_empty()).collect()
}

/// How many letters and digits there are; a sign of a script without spaces says as much as two.
fn weight(fragment: &str) -> usize {
    let heavy = |c: char| u32::from(c) >= 0x2E80;
    fragment.chars().filter(|c| c.is_alphanumeric()).map(|c| if heavy(c) { 2 } else { 1 }).sum()
}

/// Where the fragments stand in a text, one behind the other; all of them, and one of them long enough to be proof.
fn stand_in(fragments: &[String], text: &str) -> Option<Vec<Range<usize>>> {
    if !fragments.iter().any(|fragment| weight(fragment) >= MIN_PROOF) {
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
    // What is too short to be proof was needed to find the rest, and is not kept.
    let is_proof = |span: &Range<usize>| text.get(span.clone()).is_some_and(|words| weight(words) >= MIN_PROOF);
    spans.retain(is_proof);
    Some(spans)
}

/// As much of a stretch as may be kept.
fn capped(text: &str, span: Range<usize>) -> Range<usize> {
    let words = text.get(span.clone()).unwrap_or_default();
    let length = words.char_indices().nth(MAX_QUOTE_CHARACTERS).map_or(words.len(), |(at, _)| at);
    let kept = words.get(..length).unwrap_or_default().trim_end().len();
    span.start..span.start + kept
}

/// Whose words a quotation is made of: what somebody only passed on is not theirs.
fn whose(passage: &Passage<'_>, span: &Range<usize>) -> TrustClass {
    let is_message = matches!(passage.trust, TrustClass::User | TrustClass::Agent);
    if !is_message || passage.level != EvidenceLevel::Reasoning {
        return passage.trust.clone();
    }
    let touches = |part: &pasted::Part<'_>| part.start < span.end && span.start < part.start + part.text.len();
    let is_strange = pasted::parts(&passage.text, &passage.trust).iter().any(|part| part.is_strange && touches(part));
    if is_strange { pasted::CLASS } else { passage.trust.clone() }
}

/// What the paragraph of a quotation orders its reader to do. What a person orders is theirs to order.
fn order_near(passage: &Passage<'_>, span: &Range<usize>, trust: &TrustClass) -> Option<Order> {
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
    is_order(near).filter(|order| *trust != TrustClass::Agent || order.is_grave())
}

/// The words of a text in lower case between single spaces, one at each end.
fn bare_words(text: &str) -> String {
    let mut bare = String::from(" ");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        bare.extend(word.chars().flat_map(char::to_lowercase));
        bare.push(' ');
    }
    bare
}

/// Whether words of the log only repeat a known lesson. What is said is said after the lesson wherever they share a piece.
/// What was done, and what came of it, is not: a lesson quotes the failure that it is about, and whoever meets that failure
/// again meets the same words. Only where the log shows the lesson itself, as in a file of lessons, they prove nothing.
fn is_echo_of(lessons: &[String], quoted: &str, passage: &Passage<'_>) -> bool {
    let quoted = bare_words(quoted);
    let mut known = lessons.iter().filter(|lesson| repeats(lesson, &quoted)).peekable();
    if known.peek().is_none() || passage.level != EvidenceLevel::Execution {
        return known.peek().is_some();
    }
    let shown = bare_words(&passage.text);
    known.any(|lesson| is_long(lesson) && memmem::find(shown.as_bytes(), lesson.as_bytes()).is_some())
}

/// Whether one of the two stands in the other.
fn repeats(lesson: &str, quoted: &str) -> bool {
    is_long(quoted)
        && (memmem::find(lesson.as_bytes(), quoted.as_bytes()).is_some()
            || (is_long(lesson) && memmem::find(quoted.as_bytes(), lesson.as_bytes()).is_some()))
}

fn is_long(words: &str) -> bool {
    words.split(' ').filter(|word| !word.is_empty()).count() >= MIN_ECHO_WORDS
}

impl Fault {
    fn say(&self, place: Place) -> String {
        let Place { trajectory, step } = place;
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
