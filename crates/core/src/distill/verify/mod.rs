//! Verifies the candidates that a distiller proposes.
//!
//! A candidate passes several checks, one file each. `quote_lookup`: its quotes must appear in the log.
//! `prompt_injection`, `provenance` and `pasted_text`: its recommendation must not come from a stranger's text.
//! `restatement`: no document of the project says it already. `sanitize`, `dates`, `rule`, `vagueness`: a reader who
//! was not there can use it. `safety_weakening` and `remedy_origin`: what weakens safety, and what nobody of the project
//! named, waits for a person. `agreement`: a person stands behind a decision. `confirmation`: its recommendation was
//! seen to help. `rank`: only the best ones stay.

mod absolute_dates;
mod agreement;
mod candidate_selection;
mod evidence_strength;
mod failure_wording;
mod folded_text;
mod generic_words;
mod network_addresses;
mod obeyed_orders;
mod package_names;
mod pasted_text;
mod project_forge;
mod provenance;
mod quote_check;
mod reader_orders;
mod remedy_origin;
mod remedy_proof;
mod restated_documents;
mod rule_form;
mod safety_weakening;
mod text_cleaning;
mod vague_lessons;
mod word_runs;

#[cfg(test)]
pub(in crate::distill) mod test_support;

pub(super) use self::failure_wording::reads_as_failure;
pub use self::generic_words::is_generic as is_generic_word;
pub(super) use self::pasted_text::plain_parts;
pub(super) use self::safety_weakening::find_weakening;

use self::obeyed_orders::PromptInjectionVerdict;
use self::pasted_text::PassedOnLines;
use self::provenance::WordProvenance;
use self::quote_check::{FoundQuote, QuoteLookup};
use self::remedy_origin::RemedyOrigins;
use self::rule_form::LessonRule;
use super::unchecked_candidate::{StepReference, UncheckedCandidate};
use crate::context::ReflectionContext;
use crate::domain::{Candidate, DropReason, DroppedCandidate, Engine, Evidence, MemoryId, MemoryKind, SessionId};
use crate::redact::Redactor;
use crate::text::DocumentIndex;

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;

/// Returns what a text orders its reader to do that no lesson may, worded to follow "it tells its reader".
pub fn find_forbidden_order(text: &str) -> Option<&'static str> {
    reader_orders::find_order(text)
        .filter(|order| *order != reader_orders::ReaderOrder::Remember)
        .map(reader_orders::ReaderOrder::describe)
}

/// The most characters of the summary of a dropped candidate.
const SHOWN_CHARACTERS: usize = 160;

/// A document of the project that agents are given anyway: AGENTS.md, CLAUDE.md, README.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectDocument {
    /// Its path in the project.
    pub path: String,
    /// The text of the document.
    pub text: String,
}

/// The limits on the candidates that are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CandidateLimits {
    /// The most candidates that are kept.
    pub(super) max_candidates: usize,
    /// The least importance of a candidate that is kept.
    pub(super) min_importance: f64,
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VerifiedCandidates {
    /// The verified candidates, the most important first.
    pub(super) candidates: Vec<Candidate>,
    /// The dropped candidates in their order; those that better ones displaced come last.
    pub(super) dropped: Vec<DroppedCandidate>,
}

/// Checks the proposed candidates of a session against its log.
#[derive(Debug)]
pub(super) struct CandidateVerifier<'c> {
    context: &'c ReflectionContext,
    documents: DocumentIndex,
    project_documents: Vec<ProjectDocument>,
    passed_on: PassedOnLines,
    redactor: &'c Redactor,
    limits: CandidateLimits,
    author: Engine,
}

impl<'c> CandidateVerifier<'c> {
    pub(super) fn new(
        context: &'c ReflectionContext,
        documents: &[ProjectDocument],
        redactor: &'c Redactor,
        limits: CandidateLimits,
    ) -> Self {
        let texts = documents.iter().map(|document| (document.path.as_str(), document.text.as_str()));
        Self {
            context,
            documents: DocumentIndex::new(texts),
            project_documents: documents.to_vec(),
            passed_on: PassedOnLines::collect(context),
            redactor,
            limits,
            author: Engine::Model,
        }
    }

    /// Returns a verifier for candidates of the heuristics: rules obey no orders, and what they quote is what failed.
    pub(super) fn for_heuristics(self) -> Self {
        Self { author: Engine::Heuristic, ..self }
    }

    /// Turns every proposed candidate into a candidate, or drops it with a reason.
    pub(super) fn verify_all(&self, claims: Vec<Result<UncheckedCandidate, DroppedCandidate>>) -> VerifiedCandidates {
        let mut dropped = Vec::new();
        let mut proved: Vec<(UncheckedCandidate, Vec<FoundQuote>)> = Vec::new();
        let mut lookup = QuoteLookup::new(self.context, &self.passed_on);
        for claim in claims {
            let proof = claim.and_then(|claim| match lookup.look_up_all(&claim) {
                Ok(found) => Ok((claim, found)),
                Err((why, detail)) => Err(self.make_dropped(&claim, why, detail)),
            });
            match proof {
                Ok((claim, found)) => proved.push((text_cleaning::sanitize_candidate(claim, self.redactor), found)),
                Err(one) => dropped.push(one),
            }
        }
        let texts = || proved.iter().flat_map(|(claim, _)| obeyed_orders::readable_texts(claim));
        let provenance = WordProvenance::trace_words(self.context, &self.passed_on, texts());
        let origins = RemedyOrigins::trace_names(self.context, &self.project_documents, &self.passed_on, texts());
        let mut candidates = Vec::new();
        for (claim, found) in proved {
            match self.make_candidate(claim, &found, &provenance, &origins) {
                Ok(candidate) => candidates.push(candidate),
                Err(one) => dropped.push(one),
            }
        }
        let candidates = candidate_selection::rank_candidates(candidates, &self.limits, &mut dropped);
        VerifiedCandidates { candidates, dropped }
    }

    fn make_dropped(&self, claim: &UncheckedCandidate, why: DropReason, detail: impl Into<String>) -> DroppedCandidate {
        DroppedCandidate {
            summary: text_cleaning::sanitize_line(&claim.summary, SHOWN_CHARACTERS, self.redactor),
            why,
            detail: detail.into(),
        }
    }

    /// Turns a sanitized candidate with found quotes into a verified one.
    fn make_candidate(
        &self,
        claim: UncheckedCandidate,
        found: &[FoundQuote],
        provenance: &WordProvenance,
        origins: &RemedyOrigins,
    ) -> Result<Candidate, DroppedCandidate> {
        let quarantine = match obeyed_orders::judge_prompt_injection(&claim, found, provenance, &self.author) {
            PromptInjectionVerdict::Fine => find_unsafe_advice(&claim, origins),
            PromptInjectionVerdict::Quarantine(why) => Some(why),
            PromptInjectionVerdict::Injected(why) => return Err(self.make_dropped(&claim, DropReason::Injected, why)),
            PromptInjectionVerdict::Echo(why) => return Err(self.make_dropped(&claim, DropReason::Echo, why)),
        };
        if let Some(place) = restated_documents::find_restatement(&self.documents, &claim) {
            return Err(self.make_dropped(&claim, DropReason::Restated, place));
        }
        let mut mended = Vec::new();
        let claim = normalize_rule(self.with_absolute_dates(claim), &mut mended);
        if let Some(why) = vague_lessons::find_vagueness(&claim, found) {
            return Err(self.make_dropped(&claim, DropReason::Vague, why));
        }
        let is_shown =
            self.author == Engine::Heuristic || remedy_proof::is_confirmed_in_session(&claim, found, self.context);
        let importance = evidence_strength::cap_importance(claim.importance, found, is_shown, &mut mended);
        let kind = self.determine_kind(&claim, found, quarantine.as_deref(), &mut mended);
        Ok(Candidate {
            importance,
            evidence: self.collect_evidence(&claim, found),
            near: self.resolve_near_lessons(&claim),
            summary: claim.summary,
            rule: claim.rule,
            detail: claim.detail,
            kind,
            category: claim.category,
            scope: claim.scope,
            facets: claim.facets,
            tags: claim.tags,
            importance_reason: claim.importance_reason,
            severity: claim.severity,
            quarantine,
            mended,
        })
    }

    /// Returns the kind of a candidate, by who stands behind it. Nobody stands behind a quarantined one, and the
    /// heuristics know what they read.
    fn determine_kind(
        &self,
        claim: &UncheckedCandidate,
        found: &[FoundQuote],
        quarantine: Option<&str>,
        mended: &mut Vec<String>,
    ) -> MemoryKind {
        let kind = match (&self.author, quarantine) {
            (Engine::Heuristic, _) => claim.kind.clone(),
            (_, None) => agreement::determine_kind(claim, found, self.context),
            (_, Some(_)) => MemoryKind::Lesson,
        };
        if kind == MemoryKind::Lesson && claim.kind != MemoryKind::Lesson {
            mended.push(format!("it is called a {}, but nobody who may say so stands behind it", claim.kind));
        }
        kind
    }

    /// Returns the candidate with dates that mean the same to every reader.
    fn with_absolute_dates(&self, claim: UncheckedCandidate) -> UncheckedCandidate {
        let end = self.context.episode.finished_at;
        let dated = |text: String| absolute_dates::make_dates_absolute(&text, end);
        UncheckedCandidate {
            summary: dated(claim.summary),
            rule: claim.rule.map(dated),
            detail: claim.detail.map(dated),
            importance_reason: claim.importance_reason.map(dated),
            ..claim
        }
    }

    fn collect_evidence(&self, claim: &UncheckedCandidate, found: &[FoundQuote]) -> Evidence {
        let own = self.context.episode.session_id.as_str();
        let session = |place: StepReference| {
            let trajectory = self.context.trajectories.get(usize::try_from(place.trajectory).ok()?)?;
            let id = trajectory.about.session_id.as_deref().unwrap_or(own);
            SessionId::parse(id).ok()
        };
        // A distiller that knows the episodes names them all: a log of several sessions is no session of its own.
        let this = Some(&self.context.episode.id).filter(|id| claim.episodes.is_empty() || claim.episodes.contains(id));
        Evidence {
            episode_ids: remove_repeats(this.into_iter().chain(&claim.episodes).cloned()),
            trajectory_ids: remove_repeats(found.iter().map(|one| one.quote.trajectory_id.clone())),
            session_ids: remove_repeats(
                found.iter().map(|one| session(one.place).unwrap_or_else(|| self.context.episode.session_id.clone())),
            ),
            run_log_paths: remove_repeats(self.context.sessions.iter().map(|session| session.path.clone())),
            quotes: found.iter().map(|one| one.quote.clone()).collect(),
            ..Evidence::default()
        }
    }

    /// Returns the ids of the known lessons that a candidate names, also where it uses their short names.
    fn resolve_near_lessons(&self, claim: &UncheckedCandidate) -> Vec<MemoryId> {
        let known = |named: &MemoryId| {
            let is_meant = |alias: &crate::domain::Alias| alias.as_str() == named.as_str();
            let mut memories = self.context.existing_memories.iter();
            memories.find(|memory| memory.id == *named || memory.alias.as_ref().is_some_and(is_meant))
        };
        remove_repeats(claim.near.iter().filter_map(known).map(|memory| memory.id.clone()))
    }
}

/// Returns why a person must review a candidate, whoever said it: it weakens safety, or its decisive words come from
/// nobody of the project.
fn find_unsafe_advice(claim: &UncheckedCandidate, origins: &RemedyOrigins) -> Option<String> {
    let texts = || obeyed_orders::readable_texts(claim);
    let weakening = texts().find_map(find_weakening);
    if let Some(weakening) = weakening {
        return Some(format!("it asks for `{}`, which {}", weakening.words, weakening.kind.describe()));
    }
    texts().find_map(|text| origins.find_strange_word(text)).or_else(|| {
        let rule = LessonRule::parse(claim.rule.as_deref()?).ok()?;
        let advice = rule.recommendation.as_str();
        origins.find_clipped_words(advice).or_else(|| origins.find_strange_name(advice))
    })
}

/// Returns a candidate whose rule has its normal form, or none if it is faulty.
fn normalize_rule(mut claim: UncheckedCandidate, mended: &mut Vec<String>) -> UncheckedCandidate {
    let Some(text) = claim.rule.take() else { return claim };
    let parsed = LessonRule::parse(&text).and_then(|rule| rule.find_fault().map_or(Ok(rule), Err));
    match parsed {
        Ok(rule) => claim.rule = Some(rule.normal_form()),
        Err(why) => mended.push(format!("its rule was left out: {why}")),
    }
    claim
}

/// Returns the values without repeats, in order.
fn remove_repeats<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for value in values {
        if !unique.contains(&value) {
            unique.push(value);
        }
    }
    unique
}
