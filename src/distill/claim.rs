//! What somebody says was learned, before a word of it is believed.

use crate::domain::{
    EpisodeId, EvidenceLevel, Facets, Importance, MemoryCategory, MemoryId, MemoryKind, MemoryScope, Severity,
};

/// A lesson as a distiller puts it. Only `verify` makes a candidate of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    pub(super) summary: String,
    /// "IF condition THEN recommendation".
    pub(super) rule: Option<String>,
    pub(super) detail: Option<String>,
    pub(super) kind: MemoryKind,
    pub(super) category: MemoryCategory,
    pub(super) scope: MemoryScope,
    pub(super) facets: Facets,
    pub(super) tags: Vec<String>,
    pub(super) importance: Importance,
    pub(super) importance_reason: Option<String>,
    pub(super) severity: Option<Severity>,
    pub(super) quotes: Vec<Cited>,
    /// Other episodes in which it was seen, besides those of its quotes.
    pub(super) episodes: Vec<EpisodeId>,
    /// Known lessons that it may repeat.
    pub(super) near: Vec<MemoryId>,
}

/// Words that are said to stand in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cited {
    pub(super) place: Place,
    pub(super) text: String,
    /// How strong they are said to be.
    pub(super) level: Option<EvidenceLevel>,
}

/// A step of one of the trajectories, as a digest names it: `t0.s3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) trajectory: u32,
    pub(super) step: u32,
}
