//! The reply to a recall request, as a program reads it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Alias, Exposure, MemoryId, MemoryState};
use crate::memory::SearchMethod;
use crate::recall::LessonStaleness;
use crate::service::{InjectionBlock, SelectedLesson};
use crate::text::Tokenizer;

/// Scores are rounded to this many parts, so that the last bits of a float are not shown.
const PARTS: f64 = 1e6;

/// How lessons were found: each level does without something that the one before it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(with = "u8")]
#[serde(into = "u8")]
#[schemars(rename = "Level")]
pub enum RecallLevel {
    /// By meaning and by words.
    Meaning,
    /// By words, through the index.
    Words,
    /// By words, reading everything.
    FullRead,
}

impl RecallLevel {
    /// Returns the level of a search method.
    pub fn from_method(method: SearchMethod) -> Self {
        match method {
            SearchMethod::Index => Self::Words,
            SearchMethod::FullRead => Self::FullRead,
        }
    }
}

impl From<RecallLevel> for u8 {
    fn from(level: RecallLevel) -> Self {
        match level {
            RecallLevel::Meaning => 0,
            RecallLevel::Words => 1,
            RecallLevel::FullRead => 3,
        }
    }
}

/// The lessons that were found, as a program reads them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Reply")]
pub struct RecallReply {
    /// How they were found: 0 by meaning, 1 by words through the index, 3 by reading everything.
    pub level: RecallLevel,
    /// The same in words.
    pub method: &'static str,
    /// The lessons, the best first.
    pub items: Vec<RecallReplyItem>,
    /// How many more met the question.
    pub dropped: usize,
    /// What the block costs that a prompt would get.
    pub tokens: usize,
    /// What earlier sessions met, where no lesson is about it: a record, not advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
}

/// One of them, with what it was ordered by.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReplyItem")]
pub struct RecallReplyItem {
    /// The id of the lesson.
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

impl RecallReply {
    /// Builds the reply from a block.
    pub fn from_block(block: &InjectionBlock, level: RecallLevel) -> Self {
        Self {
            level,
            method: method_name(block.method),
            items: block.lessons.iter().map(RecallReplyItem::from_selected_lesson).collect(),
            dropped: block.dropped,
            tokens: Tokenizer::new().count_tokens(&block.text),
            history: block.history.as_ref().map(|history| history.text.clone()),
        }
    }
}

impl RecallReplyItem {
    fn from_selected_lesson(chosen: &SelectedLesson) -> Self {
        let (memory, score) = (&chosen.lesson.memory, &chosen.score);
        Self {
            id: memory.id.clone(),
            alias: memory.alias.clone(),
            summary: memory.summary.clone(),
            rule: memory.rule.clone(),
            score: round_score(score.score),
            importance: round_score(score.importance),
            recency: round_score(score.recency),
            relevance: round_score(score.relevance),
            state: memory.state.clone(),
            exposed: chosen.exposure == Exposure::Exposed,
            unverified: LessonStaleness::warning_text(&chosen.staleness),
        }
    }
}

/// Returns the name of a search method.
pub(super) fn method_name(method: SearchMethod) -> &'static str {
    match method {
        SearchMethod::Index => "index",
        SearchMethod::FullRead => "full read",
    }
}

fn round_score(number: f64) -> f64 {
    (number * PARTS).round() / PARTS
}
