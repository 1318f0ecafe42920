//! What a program reads that asked for lessons.

use serde::Serialize;

use crate::domain::{Alias, Exposure, MemoryId, MemoryState};
use crate::memory::Method;
use crate::recall::Staleness;
use crate::service::{Block, Chosen};
use crate::text::Tokenizer;

/// Scores are rounded to this many parts, so that the last bits of a float do not reach a reader.
const PARTS: f64 = 1e6;

/// How lessons were found: each level does without something that the one before it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
pub(super) enum Level {
    /// By meaning and by words.
    Meaning,
    /// By words, through the index.
    Words,
    /// By words, reading everything.
    FullRead,
}

impl Level {
    pub(super) fn of(method: Method) -> Self {
        match method {
            Method::Index => Self::Words,
            Method::FullRead => Self::FullRead,
        }
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        match level {
            Level::Meaning => 0,
            Level::Words => 1,
            Level::FullRead => 3,
        }
    }
}

/// The answer as a program reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reply<'a> {
    level: Level,
    method: &'static str,
    items: Vec<Item<'a>>,
    dropped: usize,
    /// What the block costs that a prompt would get.
    tokens: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    id: &'a MemoryId,
    alias: Option<&'a Alias>,
    summary: &'a str,
    rule: Option<&'a str>,
    score: f64,
    importance: f64,
    recency: f64,
    relevance: f64,
    state: Option<&'a MemoryState>,
    exposed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<String>,
}

impl<'a> Reply<'a> {
    pub(super) fn of(block: &'a Block, level: Level) -> Self {
        Self {
            level,
            method: method(block.method),
            items: block.lessons.iter().map(Item::of).collect(),
            dropped: block.dropped,
            tokens: Tokenizer::new().count(&block.text),
        }
    }
}

impl<'a> Item<'a> {
    fn of(chosen: &'a Chosen) -> Self {
        let (memory, score) = (&chosen.lesson.memory, &chosen.score);
        Self {
            id: &memory.id,
            alias: memory.alias.as_ref(),
            summary: &memory.summary,
            rule: memory.rule.as_deref(),
            score: rounded(score.score),
            importance: rounded(score.importance),
            recency: rounded(score.recency),
            relevance: rounded(score.relevance),
            state: memory.state.as_ref(),
            exposed: chosen.exposure == Exposure::Exposed,
            unverified: Staleness::mark(&chosen.staleness),
        }
    }
}

/// How lessons were found, in a word or two.
pub(super) fn method(method: Method) -> &'static str {
    match method {
        Method::Index => "index",
        Method::FullRead => "full read",
    }
}

fn rounded(number: f64) -> f64 {
    (number * PARTS).round() / PARTS
}
