//! The types that a bank and its index share. They exist without the index too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bank_files::{RecordPlace, StoreFile};
use crate::domain::{AgentMemory, Fact, LessonCounters, MemoryId, RunId, StableHash};
use crate::recall::LessonTerms;

/// The error of an index that cannot be relied on. Callers read the files instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged or in the way")]
pub(super) struct BrokenIndex;

/// The parts of the files that the index covers, and its stored totals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexCoverage {
    /// The files' epoch when it was made.
    pub(super) epoch: u64,
    /// The offset up to which each file is covered.
    pub(super) ends: BTreeMap<StoreFile, u64>,
    /// The seals that prove that the files still begin with the covered bytes.
    pub(super) seals: BTreeMap<StoreFile, FileSeal>,
    /// The highest number of any short name.
    pub(super) highest_alias: u64,
    /// The line limit it was made with; longer lines were not read.
    pub(super) line_limit: usize,
    /// The number of lessons in each state, and their total length.
    pub(super) live: LessonTotals,
    pub(super) waiting: LessonTotals,
    pub(super) retired: LessonTotals,
    /// The number of facts.
    pub(super) facts: usize,
    /// The number of lines in the covered files that could not be read.
    pub(super) damaged: usize,
}

/// A chain of hashes with one link for each index update, so that an update does not read everything again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileSeal {
    pub(super) links: Vec<u64>,
    pub(super) hash: String,
}

impl FileSeal {
    /// Adds a link for the bytes up to `end`.
    pub(super) fn add_link(&mut self, bytes: &[u8], end: u64) {
        self.hash = StableHash::from_text(&self.hash).with_bytes(bytes).to_digits(64);
        self.links.push(end);
    }
}

/// The number of lessons, and their total length in words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LessonTotals {
    pub(super) documents: u64,
    pub(super) length: u64,
}

/// A record to be indexed. It replaces what the index has under the same key.
#[derive(Debug)]
pub(super) enum IndexItem<'a> {
    Lesson {
        memory: &'a AgentMemory,
        terms: &'a LessonTerms,
        place: RecordPlace,
        version: u64,
        counters: &'a LessonCounters,
    },
    Fact {
        fact: &'a Fact,
        place: RecordPlace,
    },
}

/// The lesson or the session that facts are about.
#[derive(Debug, Clone, Copy)]
pub(super) enum FactSubject<'a> {
    Lesson(&'a MemoryId),
    Run(&'a RunId),
}

impl FactSubject<'_> {
    /// Returns the term under which facts about it are indexed.
    pub(super) fn trait_term(self) -> String {
        match self {
            Self::Lesson(memory) => format!("of {memory}"),
            Self::Run(run) => format!("run {run}"),
        }
    }
}

impl IndexCoverage {
    pub(super) fn at_epoch(epoch: u64, line_limit: usize) -> Self {
        Self { epoch, line_limit, ..Self::default() }
    }
}
