//! The candidates and quotes that a distiller proposes, before anything of them is verified.

use crate::domain::{
    EpisodeId, EvidenceLevel, FacetValues, Importance, MemoryCategory, MemoryId, MemoryKind, MemoryScope, Severity,
};

/// A lesson as a distiller proposes it. Only `verify` turns it into a `Candidate`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UncheckedCandidate {
    pub(super) summary: String,
    /// The rule, in the form "IF condition THEN recommendation".
    pub(super) rule: Option<String>,
    pub(super) detail: Option<String>,
    pub(super) kind: MemoryKind,
    pub(super) category: MemoryCategory,
    pub(super) scope: MemoryScope,
    pub(super) facets: FacetValues,
    pub(super) tags: Vec<String>,
    pub(super) importance: Importance,
    pub(super) importance_reason: Option<String>,
    pub(super) severity: Option<Severity>,
    pub(super) quotes: Vec<UncheckedQuote>,
    /// Other episodes in which it was seen, besides those of its quotes.
    pub(super) episodes: Vec<EpisodeId>,
    /// The ids of known lessons that it may repeat.
    pub(super) near: Vec<MemoryId>,
}

/// Words that are claimed to appear in the log, not yet looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UncheckedQuote {
    pub(super) place: StepReference,
    pub(super) text: String,
    /// The evidence level that the distiller claims for them.
    pub(super) level: Option<EvidenceLevel>,
}

/// A reference to a step of one of the trajectories, as a digest writes it: `t0.s3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepReference {
    pub(super) trajectory: u32,
    pub(super) step: u32,
}
