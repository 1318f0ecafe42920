//! From what a distiller claims to what may become a lesson.
//!
//! A claim goes through gates, one file each. `quotes`: its words must stand in the log. `injection`, `provenance`
//! and `pasted`: what it advises must not come from a stranger's text. `restated`: no document of the project says it already.
//! `clean`, `dates`, `rule`, `vague`: it is fit to be read by somebody who was not there. `settled`: whether somebody
//! stands behind it. `borne_out`: whether its advice was seen to help. `rank`: the best ones, once.

mod addresses;
mod borne_out;
mod clean;
mod dates;
mod destructive;
mod failing;
mod folded;
mod generic;
mod injection;
mod orders;
mod own_forge;
mod pasted;
mod provenance;
mod quotes;
mod rank;
mod restated;
mod rule;
mod settled;
mod trust;
mod vague;

#[cfg(test)]
pub(in crate::distill) mod test_support;

pub(super) use self::destructive::find_destructive;
pub(super) use self::failing::reads_as_failure;
pub use self::generic::is_generic as is_generic_word;
pub(super) use self::pasted::plain_parts;

use self::injection::Judgement;
use self::provenance::Provenance;
use self::quotes::{Found, Lookup};
use self::restated::Restated;
use self::rule::Rule;
use super::claim::{Claim, Place};
use crate::context::ReflectionContext;
use crate::domain::{Candidate, DropReason, Dropped, Engine, Evidence, MemoryId, MemoryKind, SessionId};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;

/// What a text orders its reader to do that no lesson may, in words behind "it tells its reader".
pub fn order_in(text: &str) -> Option<&'static str> {
    orders::is_order(text).filter(|order| *order != orders::Order::Remember).map(orders::Order::say)
}

/// Of what was dropped, as much is shown.
const SHOWN_CHARACTERS: usize = 160;

/// A document of the project that agents are given anyway: AGENTS.md, CLAUDE.md, README.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Where it stands in the project.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// At most so many candidates.
    pub(super) max_candidates: usize,
    /// None that matters less.
    pub(super) min_importance: f64,
}

/// What became of some claims.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Verified {
    /// The most important first.
    pub(super) candidates: Vec<Candidate>,
    /// In the order of the claims; those that others crowded out come last.
    pub(super) dropped: Vec<Dropped>,
}

/// Holds claims against the log.
#[derive(Debug)]
pub(super) struct Verifier<'c> {
    context: &'c ReflectionContext,
    restated: Restated,
    redactor: &'c Redactor,
    limits: Limits,
    author: Engine,
}

impl<'c> Verifier<'c> {
    pub(super) fn new(
        context: &'c ReflectionContext,
        documents: &[Document],
        redactor: &'c Redactor,
        limits: Limits,
    ) -> Self {
        Self { context, restated: Restated::new(documents), redactor, limits, author: Engine::Model }
    }

    /// The same for claims of our own making: rules obey nobody, and what they quote is what failed.
    pub(super) fn for_heuristics(self) -> Self {
        Self { author: Engine::Heuristic, ..self }
    }

    /// Every claim becomes a candidate or is dropped with a reason.
    pub(super) fn verify(&self, claims: Vec<Result<Claim, Dropped>>) -> Verified {
        let mut dropped = Vec::new();
        let mut proved: Vec<(Claim, Vec<Found>)> = Vec::new();
        let mut lookup = Lookup::new(self.context);
        for claim in claims {
            let proof = claim.and_then(|claim| match lookup.all(&claim) {
                Ok(found) => Ok((claim, found)),
                Err((why, detail)) => Err(self.dropped(&claim, why, detail)),
            });
            match proof {
                Ok((claim, found)) => proved.push((clean::claim(claim, self.redactor), found)),
                Err(one) => dropped.push(one),
            }
        }
        let provenance = Provenance::trace(self.context, proved.iter().flat_map(|(claim, _)| injection::texts(claim)));
        let mut candidates = Vec::new();
        for (claim, found) in proved {
            match self.candidate(claim, &found, &provenance) {
                Ok(candidate) => candidates.push(candidate),
                Err(one) => dropped.push(one),
            }
        }
        let candidates = rank::rank(candidates, &self.limits, &mut dropped);
        Verified { candidates, dropped }
    }

    fn dropped(&self, claim: &Claim, why: DropReason, detail: impl Into<String>) -> Dropped {
        Dropped { summary: clean::line(&claim.summary, SHOWN_CHARACTERS, self.redactor), why, detail: detail.into() }
    }

    /// A clean claim with proof, made into a candidate.
    fn candidate(&self, claim: Claim, found: &[Found], provenance: &Provenance) -> Result<Candidate, Dropped> {
        let quarantine = match injection::judge(&claim, found, provenance, &self.author) {
            Judgement::Fine => self.safeguard(&claim, found),
            Judgement::Quarantine(why) => Some(why),
            Judgement::Injected(why) => return Err(self.dropped(&claim, DropReason::Injected, why)),
            Judgement::Echo(why) => return Err(self.dropped(&claim, DropReason::Echo, why)),
        };
        if let Some(place) = self.restated.by(&claim) {
            return Err(self.dropped(&claim, DropReason::Restated, place));
        }
        let mut mended = Vec::new();
        let claim = mend_rule(self.dated(claim), &mut mended);
        if let Some(why) = vague::fault(&claim, found) {
            return Err(self.dropped(&claim, DropReason::Vague, why));
        }
        let is_shown = self.author == Engine::Heuristic || borne_out::is_borne_out(&claim, found, self.context);
        let importance = trust::importance(claim.importance, found, is_shown, &mut mended);
        let kind = self.kind(&claim, found, quarantine.as_deref(), &mut mended);
        Ok(Candidate {
            importance,
            evidence: self.evidence(&claim, found),
            near: self.near(&claim),
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

    /// Returns why a person must look first at a claim that asks for what destroys, unless a person said it.
    fn safeguard(&self, claim: &Claim, found: &[Found]) -> Option<String> {
        let texts = [Some(&claim.summary), claim.rule.as_ref()];
        let asked = texts.into_iter().flatten().find_map(|text| find_destructive(text))?;
        let is_persons = found.iter().any(|one| one.quote.trust == crate::domain::TrustClass::User);
        (!is_persons).then(|| format!("it asks for `{asked}`, which throws work away or switches a safeguard off"))
    }

    /// What it is, by who stands behind it. Nobody stands behind what a person must look at first, and rules know what
    /// they read.
    fn kind(&self, claim: &Claim, found: &[Found], quarantine: Option<&str>, mended: &mut Vec<String>) -> MemoryKind {
        let kind = match (&self.author, quarantine) {
            (Engine::Heuristic, _) => claim.kind.clone(),
            (_, None) => settled::kind(claim, found, self.context),
            (_, Some(_)) => MemoryKind::Lesson,
        };
        if kind == MemoryKind::Lesson && claim.kind != MemoryKind::Lesson {
            mended.push(format!("it is called a {}, but nobody who may say so stands behind it", claim.kind));
        }
        kind
    }

    /// The claim with dates that mean the same to every reader.
    fn dated(&self, claim: Claim) -> Claim {
        let end = self.context.episode.finished_at;
        let dated = |text: String| dates::absolute(&text, end);
        Claim {
            summary: dated(claim.summary),
            rule: claim.rule.map(dated),
            detail: claim.detail.map(dated),
            importance_reason: claim.importance_reason.map(dated),
            ..claim
        }
    }

    fn evidence(&self, claim: &Claim, found: &[Found]) -> Evidence {
        let own = self.context.episode.session_id.as_str();
        let session = |place: Place| {
            let trajectory = self.context.trajectories.get(usize::try_from(place.trajectory).ok()?)?;
            let id = trajectory.about.session_id.as_deref().unwrap_or(own);
            SessionId::parse(id).ok()
        };
        // Whoever knows the runs names them all: a log of many runs is no run beside them.
        let this = Some(&self.context.episode.id).filter(|id| claim.episodes.is_empty() || claim.episodes.contains(id));
        Evidence {
            episode_ids: unique(this.into_iter().chain(&claim.episodes).cloned()),
            trajectory_ids: unique(found.iter().map(|one| one.quote.trajectory_id.clone())),
            session_ids: unique(
                found.iter().map(|one| session(one.place).unwrap_or_else(|| self.context.episode.session_id.clone())),
            ),
            run_log_paths: unique(self.context.sessions.iter().map(|session| session.path.clone())),
            quotes: found.iter().map(|one| one.quote.clone()).collect(),
            ..Evidence::default()
        }
    }

    /// The known lessons among those that a claim names, by their ids even where it says their short names.
    fn near(&self, claim: &Claim) -> Vec<MemoryId> {
        let known = |named: &MemoryId| {
            let is_meant = |alias: &crate::domain::Alias| alias.as_str() == named.as_str();
            let mut memories = self.context.existing_memories.iter();
            memories.find(|memory| memory.id == *named || memory.alias.as_ref().is_some_and(is_meant))
        };
        unique(claim.near.iter().filter_map(known).map(|memory| memory.id.clone()))
    }
}

/// A claim whose rule has its normal form, or none.
fn mend_rule(mut claim: Claim, mended: &mut Vec<String>) -> Claim {
    let Some(text) = claim.rule.take() else { return claim };
    let parsed = Rule::parse(&text).and_then(|rule| rule.fault().map_or(Ok(rule), Err));
    match parsed {
        Ok(rule) => claim.rule = Some(rule.say()),
        Err(why) => mended.push(format!("its rule was left out: {why}")),
    }
    claim
}

/// Without repeats, in order.
fn unique<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for value in values {
        if !unique.contains(&value) {
            unique.push(value);
        }
    }
    unique
}
