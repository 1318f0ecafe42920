//! What a program reads that asked for lessons.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Alias, Exposure, MemoryId, MemoryState};
use crate::memory::Method;
use crate::recall::Staleness;
use crate::service::{Block, Chosen};
use crate::text::Tokenizer;

/// Scores are rounded to this many parts, so that the last bits of a float do not reach a reader.
const PARTS: f64 = 1e6;

/// How lessons were found: each level does without something that the one before it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(with = "u8")]
#[serde(into = "u8")]
pub enum Level {
    /// By meaning and by words.
    Meaning,
    /// By words, through the index.
    Words,
    /// By words, reading everything.
    FullRead,
}

impl Level {
    /// What a method comes to.
    pub fn of(method: Method) -> Self {
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

/// The lessons that were found, as a program reads them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// How they were found: 0 by meaning, 1 by words through the index, 3 by reading everything.
    pub level: Level,
    /// The same in words.
    pub method: &'static str,
    /// The lessons, the best first.
    pub items: Vec<ReplyItem>,
    /// How many more met the question.
    pub dropped: usize,
    /// What the block costs that a prompt would get.
    pub tokens: usize,
}

/// One of them, with what it was ordered by.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplyItem {
    /// Which lesson.
    pub id: MemoryId,
    /// What people call it.
    pub alias: Option<Alias>,
    /// What it says.
    pub summary: String,
    /// The same as a rule.
    pub rule: Option<String>,
    /// What it was ordered by.
    pub score: f64,
    /// How much it matters.
    pub importance: f64,
    /// How fresh it is.
    pub recency: f64,
    /// How well it meets the question.
    pub relevance: f64,
    /// How it stands.
    pub state: Option<MemoryState>,
    /// Whether the run gets to see it.
    pub exposed: bool,
    /// What it names and is not there any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
}

impl Reply {
    /// Puts it together.
    pub fn of(block: &Block, level: Level) -> Self {
        Self {
            level,
            method: method(block.method),
            items: block.lessons.iter().map(ReplyItem::of).collect(),
            dropped: block.dropped,
            tokens: Tokenizer::new().count(&block.text),
        }
    }
}

impl ReplyItem {
    fn of(chosen: &Chosen) -> Self {
        let (memory, score) = (&chosen.lesson.memory, &chosen.score);
        Self {
            id: memory.id.clone(),
            alias: memory.alias.clone(),
            summary: memory.summary.clone(),
            rule: memory.rule.clone(),
            score: rounded(score.score),
            importance: rounded(score.importance),
            recency: rounded(score.recency),
            relevance: rounded(score.relevance),
            state: memory.state.clone(),
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
