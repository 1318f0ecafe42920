//! Checks whether a lesson carries out what a text in the log ordered.
//!
//! A lesson is only as trustworthy as the weakest words that it needs. The words of its recommendation are traced (see
//! `provenance`), and a quote must mention its subject. A lesson that gives orders to its reader is not kept at all.

use std::collections::BTreeSet;

use super::failure_wording::{reads_as_failure, split_failure_line};
use super::provenance::{TaintSource, TracedText, WordProvenance};
use super::quote_check::FoundQuote;
use super::reader_orders::{ReaderOrder, find_order};
use super::rule_form::LessonRule;
use super::{evidence_strength, generic_words};
use crate::distill::unchecked_candidate::{StepReference, UncheckedCandidate};
use crate::domain::{Engine, EvidenceLevel, Facet, TrustClass};
use crate::text::WordSplitter;

#[cfg(test)]
#[path = "obeyed_orders_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "obedience_tests.rs"]
mod obedience;

#[cfg(test)]
#[path = "honest_tests.rs"]
mod honest;

/// Words after which a quotation says what went wrong.
const FAILURE_WORDS: &str = "\
    fail|fails|failed|failing|failure|error|errors|panic|panics|crash|crashes|says|said|prints|printed|\
    reports|reported|message|warning|warns|throws|raises|exits|rejects|rejected|refuses|complains|dies|\
    aborts|stops|breaks|broke|timed|returns|returned|sees|see|shows|hits|hit|got|gives|errored";

/// The most words between such a word and the quotation.
const FAILURE_WITHIN: usize = 4;

/// A sentence with fewer words is only judged as part of its text.
const MIN_SENTENCE_WORDS: usize = 3;

/// The number of consecutive words that are no coincidence.
const REPEATED_WORDS: usize = 4;

/// The verdict on a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptInjectionVerdict {
    /// Nothing speaks against it.
    Fine,
    /// A person must review it first.
    Quarantine(String),
    /// It carries out somebody's order.
    Injected(String),
    /// It repeats a lesson that was injected.
    Echo(String),
}

/// Returns every text of a candidate that somebody will read.
pub(super) fn readable_texts(claim: &UncheckedCandidate) -> impl Iterator<Item = &str> {
    [Some(claim.summary.as_str()), claim.rule.as_deref(), claim.detail.as_deref()].into_iter().flatten()
}

/// Judges a candidate whose texts are sanitized.
pub(super) fn judge_prompt_injection(
    claim: &UncheckedCandidate,
    found: &[FoundQuote],
    provenance: &WordProvenance,
    author: &Engine,
) -> PromptInjectionVerdict {
    let about = LessonSubject::from_candidate(claim);
    let rests_on_person =
        found.iter().any(|one| one.quote.trust == TrustClass::User && about.is_mentioned_in(&one.quote.text));
    let ordered = |text: &str| find_order(text).filter(|order| *order != ReaderOrder::Remember);
    if let Some(order) = readable_texts(claim).find_map(ordered)
        && (order.is_grave() || !rests_on_person)
    {
        return PromptInjectionVerdict::Injected(format!("it tells its reader {}", order.describe()));
    }
    let mut quarantine = evidence_strength::quarantine_reason(found);
    for one in found.iter().filter(|one| one.order.is_some()) {
        let at = format!("t{}.s{}", one.place.trajectory, one.place.step);
        match one.order {
            // A user's own request counts, whatever a file says next to it.
            Some(ReaderOrder::Remember) if rests_on_person => {}
            Some(ReaderOrder::Remember) => {
                quarantine.get_or_insert(format!("beside what it quotes of {at} stand orders to whoever reads it"));
            }
            Some(order) => {
                return PromptInjectionVerdict::Injected(format!(
                    "beside what it quotes, {at} tells its reader {}",
                    order.describe()
                ));
            }
            None => {}
        }
    }
    if *author == Engine::Heuristic {
        if let Some(why) = find_repeated_stranger(claim, found) {
            quarantine.get_or_insert(why);
        }
        return quarantine.map_or(PromptInjectionVerdict::Fine, PromptInjectionVerdict::Quarantine);
    }
    // Doing as a lesson says confirms it; repeating its words does not.
    let is_said_again = found.iter().all(|one| one.quote.trust == TrustClass::Agent && rests_on_words(one));
    for taint in collect_taints(claim, provenance) {
        let TaintSource { place, trust, is_foreign, order, words } = taint;
        if trust == TrustClass::InjectedMemory {
            if is_said_again {
                return PromptInjectionVerdict::Echo(format!("what it says (“{words}”) is a lesson that was given"));
            }
            continue;
        }
        let at = format!("t{}.s{}", place.trajectory, place.step);
        match order.filter(|order| *order != ReaderOrder::Remember) {
            Some(order) => {
                let why = format!("its words (“{words}”) come from {at}, which tells its reader {}", order.describe());
                return PromptInjectionVerdict::Injected(why);
            }
            None if !is_foreign && is_shown_and_tried(place, found, &about) => {}
            None => {
                let whose = evidence_strength::describe_trust(&trust);
                quarantine.get_or_insert(format!("what it says (“{words}”) was said first by {whose}, in {at}"));
            }
        }
    }
    if let Some(address) = readable_texts(claim).find_map(|text| provenance.find_invented_address(text)) {
        quarantine.get_or_insert(format!("nobody in the log names {address}"));
    }
    let speaks = |one: &FoundQuote| evidence_strength::is_trusted(&one.quote) && about.is_mentioned_in(&one.quote.text);
    if !found.iter().any(speaks) {
        quarantine.get_or_insert("its quotes do not speak of it".to_owned());
    }
    quarantine.map_or(PromptInjectionVerdict::Fine, PromptInjectionVerdict::Quarantine)
}

/// Tells whether a candidate quotes the step that said it first, and an execution in another step mentions its subject
/// too.
fn is_shown_and_tried(place: StepReference, found: &[FoundQuote], about: &LessonSubject) -> bool {
    let is_elsewhere = |one: &&FoundQuote| one.place != place && one.quote.level == EvidenceLevel::Execution;
    let is_shown = found.iter().any(|one| one.place == place);
    let is_tried = found
        .iter()
        .filter(is_elsewhere)
        .any(|one| evidence_strength::is_trusted(&one.quote) && about.is_mentioned_in(&one.quote.text));
    is_shown && is_tried
}

fn rests_on_words(found: &FoundQuote) -> bool {
    !matches!(found.quote.level, EvidenceLevel::Execution | EvidenceLevel::Citation)
}

/// Returns why a person must review a candidate of the heuristics, if one must. Only the failure that it repeats can be
/// a stranger's text; the other words are its own.
fn find_repeated_stranger(claim: &UncheckedCandidate, found: &[FoundQuote]) -> Option<String> {
    let own: Vec<String> = readable_texts(claim).flat_map(plain_words).collect();
    let is_ours = |one: &&FoundQuote| matches!(one.quote.trust, TrustClass::User | TrustClass::Agent);
    let ours: Vec<Vec<String>> =
        found.iter().filter(is_ours).map(|one| plain_words(&one.quote.text).collect()).collect();
    let outputs = found.iter().filter(|one| !is_ours(one));
    outputs.into_iter().find_map(|one| {
        let at = format!("t{}.s{}", one.place.trajectory, one.place.step);
        if matches!(one.quote.trust, TrustClass::Web | TrustClass::OtherAgent) {
            return Some(format!(
                "what failed in {at} was told by {}",
                evidence_strength::describe_trust(&one.quote.trust)
            ));
        }
        let is_repeated = |line: &str| {
            let words: Vec<String> = plain_words(line).collect();
            let many = words.len().clamp(1, REPEATED_WORDS);
            let stands_in = |text: &[String], some: &[String]| text.windows(many).any(|part| part == some);
            // Words that the agent or the user said too are not a stranger's.
            words.windows(many).any(|some| stands_in(&own, some) && !ours.iter().any(|text| stands_in(text, some)))
        };
        let strange = one.quote.text.lines().find(|line| {
            let (failure, recommendation) = split_failure_line(line);
            (is_repeated(failure) && !reads_as_failure(failure))
                || (is_repeated(recommendation) && !reads_as_failure(line))
        });
        strange.map(|_| format!("what it repeats of {at} does not read like a failure"))
    })
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the strangers' texts that a candidate rests on, traced for each text as a whole and sentence by sentence.
fn collect_taints(claim: &UncheckedCandidate, provenance: &WordProvenance) -> Vec<TaintSource> {
    let mut taints = Vec::new();
    let mut look = |whole: &str, recommendation: &str| {
        taints.extend(provenance.find_taints(TracedText { whole, recommendation }));
        let sentences: Vec<&str> = split_sentences(whole).collect();
        if sentences.len() > 1 {
            // A failure may be described in whole sentences of the log; a stranger's recommendation is never accepted.
            let long = sentences.iter().filter(|one| one.split_whitespace().count() >= MIN_SENTENCE_WORDS);
            taints.extend(
                long.flat_map(|sentence| provenance.find_taints(TracedText { whole: sentence, recommendation: "" })),
            );
        }
    };
    look(&claim.summary, &extract_recommendation(&claim.summary));
    match claim.rule.as_deref().map(|rule| (rule, LessonRule::parse(rule))) {
        Some((_, Ok(rule))) => {
            look(&rule.condition, "");
            look(&rule.recommendation, &rule.recommendation);
        }
        Some((rule, Err(_))) => look(rule, rule),
        None => {}
    }
    if let Some(detail) = &claim.detail {
        look(detail, &extract_recommendation(detail));
    }
    taints.sort_by_key(|taint| taint.order.is_none());
    taints
}

fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '\n']).flat_map(|part| part.split(". ")).flat_map(|part| part.split(" — ")).map(str::trim)
}

/// Returns a text without what describes failures: its leading condition, and quotations after a word for failing.
fn extract_recommendation(text: &str) -> String {
    // A question such as "If it is so, what then?" recommends nothing but its condition.
    let advised =
        LessonRule::parse(text).ok().filter(|rule| !crate::text::split_words(&rule.recommendation).is_empty());
    let text = advised.map_or_else(|| text.to_owned(), |rule| rule.recommendation);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['`', '"', '“', '(']) {
        let (before, span) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let mut inside = span.chars();
        let close = match inside.next() {
            Some('“') => '”',
            Some('(') => ')',
            Some(mark) => mark,
            None => break,
        };
        out.push_str(before);
        let Some((quoted, after)) = inside.as_str().split_once(close) else {
            out.push_str(span);
            return out;
        };
        if !follows_failure_word(&out) {
            out.push(' ');
            out.push_str(quoted);
        }
        out.push(' ');
        rest = after;
    }
    out.push_str(rest);
    out
}

fn follows_failure_word(before: &str) -> bool {
    before
        .rsplit(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(FAILURE_WITHIN)
        .any(|word| FAILURE_WORDS.split('|').any(|known| known == word.to_lowercase()))
}

/// The subject of a lesson: its words, split into specific and generic ones.
pub(super) struct LessonSubject {
    telling: BTreeSet<String>,
    common: BTreeSet<String>,
}

impl LessonSubject {
    pub(super) fn from_candidate(claim: &UncheckedCandidate) -> Self {
        let mut cutter = WordSplitter::default();
        let facets =
            [Facet::Tool, Facet::Component, Facet::Provider].into_iter().filter_map(|one| claim.facets.get(one));
        let words = readable_texts(claim).chain(facets).flat_map(|text| cutter.split_words(text)).collect::<Vec<_>>();
        let (common, telling) = words.into_iter().partition(|word| generic_words::is_generic(word));
        Self { telling, common }
    }

    /// Tells whether a quotation mentions it: by a specific word, or by two or more generic ones that are half of it.
    pub(super) fn is_mentioned_in(&self, quoted: &str) -> bool {
        let quoted: BTreeSet<String> = crate::text::split_words(quoted).into_iter().collect();
        let common = quoted.intersection(&self.common).count();
        quoted.intersection(&self.telling).next().is_some() || (common >= 2 && common * 2 >= quoted.len())
    }
}
