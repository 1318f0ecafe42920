//! Whether a lesson carries out what a text in the log ordered.
//!
//! A lesson is as trustworthy as the weakest words it needs. It needs the words of what it advises, so those are traced
//! (see `provenance`), and it needs a quotation that speaks of it. What orders its reader about is not kept at all.

use std::collections::BTreeSet;

use super::failing::{failure_and_advice, reads_as_failure};
use super::orders::{Order, is_order};
use super::provenance::{Provenance, Taint, Traced};
use super::quotes::Found;
use super::rule::Rule;
use super::{generic, trust};
use crate::distill::claim::{Claim, Place};
use crate::domain::{Engine, EvidenceLevel, Facet, TrustClass};
use crate::text::Cutter;

#[cfg(test)]
#[path = "injection_tests.rs"]
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

/// So many words may stand between such a word and the quotation.
const FAILURE_WITHIN: usize = 4;

/// A sentence with fewer words is judged as part of its text only.
const MIN_SENTENCE_WORDS: usize = 3;

/// So many words in a row are repeated, not said by chance.
const REPEATED_WORDS: usize = 4;

/// What is to be done with a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Nothing speaks against it.
    Fine,
    /// A person must look at it first.
    Quarantine(String),
    /// It is somebody's order.
    Injected(String),
    /// It repeats a lesson that was given.
    Echo(String),
}

/// Every text of a claim that is going to be read by somebody.
pub(super) fn texts(claim: &Claim) -> impl Iterator<Item = &str> {
    [Some(claim.summary.as_str()), claim.rule.as_deref(), claim.detail.as_deref()].into_iter().flatten()
}

/// Judges a claim whose texts are clean.
pub(super) fn judge(claim: &Claim, found: &[Found], provenance: &Provenance, author: &Engine) -> Judgement {
    let about = About::of(claim);
    let rests_on_person =
        found.iter().any(|one| one.quote.trust == TrustClass::User && about.is_met_by(&one.quote.text));
    let ordered = |text: &str| is_order(text).filter(|order| *order != Order::Remember);
    if let Some(order) = texts(claim).find_map(ordered)
        && (order.is_grave() || !rests_on_person)
    {
        return Judgement::Injected(format!("it tells its reader {}", order.say()));
    }
    let mut quarantine = trust::quarantine(found);
    for one in found.iter().filter(|one| one.order.is_some()) {
        let at = format!("t{}.s{}", one.place.trajectory, one.place.step);
        match one.order {
            // What a person asked for stands, whatever a file says beside it.
            Some(Order::Remember) if rests_on_person => {}
            Some(Order::Remember) => {
                quarantine.get_or_insert(format!("beside what it quotes of {at} stand orders to whoever reads it"));
            }
            Some(order) => {
                return Judgement::Injected(format!("beside what it quotes, {at} tells its reader {}", order.say()));
            }
            None => {}
        }
    }
    if *author == Engine::Heuristic {
        if let Some(why) = repeated_stranger(claim, found) {
            quarantine.get_or_insert(why);
        }
        return quarantine.map_or(Judgement::Fine, Judgement::Quarantine);
    }
    // Whoever did as a lesson says has shown that it holds; whoever says what it says has not.
    let is_said_again = found.iter().all(|one| one.quote.trust == TrustClass::Agent && is_by_words(one));
    for taint in taints(claim, provenance) {
        let Taint { place, trust, is_foreign, order, words } = taint;
        if trust == TrustClass::InjectedMemory {
            if is_said_again {
                return Judgement::Echo(format!("what it says (“{words}”) is a lesson that was given"));
            }
            continue;
        }
        let at = format!("t{}.s{}", place.trajectory, place.step);
        match order.filter(|order| *order != Order::Remember) {
            Some(order) => {
                let why = format!("its words (“{words}”) come from {at}, which tells its reader {}", order.say());
                return Judgement::Injected(why);
            }
            None if !is_foreign && is_shown_and_tried(place, found, &about) => {}
            None => {
                let whose = trust::name(&trust);
                quarantine.get_or_insert(format!("what it says (“{words}”) was said first by {whose}, in {at}"));
            }
        }
    }
    if let Some(address) = texts(claim).find_map(|text| provenance.invented(text)) {
        quarantine.get_or_insert(format!("nobody in the log names {address}"));
    }
    let speaks = |one: &Found| trust::is_trusted(&one.quote) && about.is_met_by(&one.quote.text);
    if !found.iter().any(speaks) {
        quarantine.get_or_insert("its quotes do not speak of it".to_owned());
    }
    quarantine.map_or(Judgement::Fine, Judgement::Quarantine)
}

/// Tells whether a lesson quotes the very step that said it first, and something that was executed in another step speaks
/// of it too.
fn is_shown_and_tried(place: Place, found: &[Found], about: &About) -> bool {
    let is_elsewhere = |one: &&Found| one.place != place && one.quote.level == EvidenceLevel::Execution;
    let is_shown = found.iter().any(|one| one.place == place);
    let is_tried =
        found.iter().filter(is_elsewhere).any(|one| trust::is_trusted(&one.quote) && about.is_met_by(&one.quote.text));
    is_shown && is_tried
}

fn is_by_words(found: &Found) -> bool {
    !matches!(found.quote.level, EvidenceLevel::Execution | EvidenceLevel::Citation)
}

/// Why a person must look at what rules say, if one must. They put their own words around what failed, so only the
/// words that failed can be a stranger's.
fn repeated_stranger(claim: &Claim, found: &[Found]) -> Option<String> {
    let own: Vec<String> = texts(claim).flat_map(plain_words).collect();
    let is_ours = |one: &&Found| matches!(one.quote.trust, TrustClass::User | TrustClass::Agent);
    let ours: Vec<Vec<String>> =
        found.iter().filter(is_ours).map(|one| plain_words(&one.quote.text).collect()).collect();
    let outputs = found.iter().filter(|one| !is_ours(one));
    outputs.into_iter().find_map(|one| {
        let at = format!("t{}.s{}", one.place.trajectory, one.place.step);
        if matches!(one.quote.trust, TrustClass::Web | TrustClass::OtherAgent) {
            return Some(format!("what failed in {at} was told by {}", trust::name(&one.quote.trust)));
        }
        let is_repeated = |line: &str| {
            let words: Vec<String> = plain_words(line).collect();
            let many = words.len().clamp(1, REPEATED_WORDS);
            let stands_in = |text: &[String], some: &[String]| text.windows(many).any(|part| part == some);
            // What the agent or the person said too is not a stranger's.
            words.windows(many).any(|some| stands_in(&own, some) && !ours.iter().any(|text| stands_in(text, some)))
        };
        let strange = one.quote.text.lines().find(|line| {
            let (failure, advice) = failure_and_advice(line);
            (is_repeated(failure) && !reads_as_failure(failure)) || (is_repeated(advice) && !reads_as_failure(line))
        });
        strange.map(|_| format!("what it repeats of {at} does not read like a failure"))
    })
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The strangers' texts that a claim rests on, each text of it looked at as a whole and sentence by sentence.
fn taints(claim: &Claim, provenance: &Provenance) -> Vec<Taint> {
    let mut taints = Vec::new();
    let mut look = |whole: &str, advice: &str| {
        taints.extend(provenance.taints(Traced { whole, advice }));
        let sentences: Vec<&str> = sentences(whole).collect();
        if sentences.len() > 1 {
            // What failed is told in whole sentences of the log; a stranger's advice is not taken, not even one.
            let long = sentences.iter().filter(|one| one.split_whitespace().count() >= MIN_SENTENCE_WORDS);
            taints.extend(long.flat_map(|sentence| provenance.taints(Traced { whole: sentence, advice: "" })));
        }
    };
    look(&claim.summary, &advice(&claim.summary));
    match claim.rule.as_deref().map(|rule| (rule, Rule::parse(rule))) {
        Some((_, Ok(rule))) => {
            look(&rule.condition, "");
            look(&rule.advice, &rule.advice);
        }
        Some((rule, Err(_))) => look(rule, rule),
        None => {}
    }
    if let Some(detail) = &claim.detail {
        look(detail, &advice(detail));
    }
    taints.sort_by_key(|taint| taint.order.is_none());
    taints
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '\n']).flat_map(|part| part.split(". ")).flat_map(|part| part.split(" — ")).map(str::trim)
}

/// A text without what it tells of failures: its leading condition, and quotations behind a word for failing.
fn advice(text: &str) -> String {
    // "If it is so, what then?" advises nothing but its condition.
    let advised = Rule::parse(text).ok().filter(|rule| !crate::text::words(&rule.advice).is_empty());
    let text = advised.map_or_else(|| text.to_owned(), |rule| rule.advice);
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
        if !is_failure_told(&out) {
            out.push(' ');
            out.push_str(quoted);
        }
        out.push(' ');
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_failure_told(before: &str) -> bool {
    before
        .rsplit(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(FAILURE_WITHIN)
        .any(|word| FAILURE_WORDS.split('|').any(|known| known == word.to_lowercase()))
}

/// What a lesson is about: its words but for the commonest.
pub(super) struct About {
    telling: BTreeSet<String>,
    common: BTreeSet<String>,
}

impl About {
    pub(super) fn of(claim: &Claim) -> Self {
        let mut cutter = Cutter::default();
        let facets =
            [Facet::Tool, Facet::Component, Facet::Provider].into_iter().filter_map(|one| claim.facets.get(one));
        let words = texts(claim).chain(facets).flat_map(|text| cutter.words(text)).collect::<Vec<_>>();
        let (common, telling) = words.into_iter().partition(|word| generic::is_generic(word));
        Self { telling, common }
    }

    /// Whether a quotation speaks of it: it shares a telling word, or so many common ones that they are half of it.
    pub(super) fn is_met_by(&self, quoted: &str) -> bool {
        let quoted: BTreeSet<String> = crate::text::words(quoted).into_iter().collect();
        let common = quoted.intersection(&self.common).count();
        quoted.intersection(&self.telling).next().is_some() || (common >= 2 && common * 2 >= quoted.len())
    }
}
