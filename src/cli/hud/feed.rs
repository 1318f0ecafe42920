//! What reflections tell, in words.

use super::super::prose::count;
use super::rows::{Known, shown};
use crate::domain::{HudMessage, MemoryId, ReflectionScenario, Timestamp};

/// One line of the feed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) at: Timestamp,
    pub(super) text: String,
    pub(super) weight: Weight,
}

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Something goes on.
    Plain,
    /// Something was learned.
    News,
}

/// What a message says; nothing where another message says it better.
pub(super) fn item(message: &HudMessage, known: &Known) -> Option<Item> {
    let (at, text, weight) = match message {
        HudMessage::ArchivistReflectionStart { scenario, session_id, ts } => {
            (ts, format!("reflecting on {session_id} ({})", cause(scenario)), Weight::Plain)
        }
        HudMessage::ArchivistReflectionComplete { memories_created, memories_updated, ts, .. } => {
            let is_news = memories_created + memories_updated > 0;
            let weight = if is_news { Weight::News } else { Weight::Plain };
            (ts, came_of_it(*memories_created, *memories_updated), weight)
        }
        HudMessage::ArchivistMemoryHighlight { memory_id, summary, importance, ts } => {
            let text = format!("worth a look: {} {summary} (importance {importance})", called(memory_id, known));
            (ts, text, Weight::News)
        }
        // The end of the reflection says how many there are.
        HudMessage::ArchivistMemoriesAdded { .. } => return None,
    };
    Some(Item { at: *at, text: shown(&text), weight })
}

fn came_of_it(created: u64, updated: u64) -> String {
    let new = count(created, "new lesson", "new lessons");
    match (created, updated) {
        (0, 0) => "reflection done: nothing new".to_owned(),
        (_, 0) => format!("reflection done: {new}"),
        (0, _) => format!("reflection done: {} seen again or changed", count(updated, "lesson", "lessons")),
        _ => format!("reflection done: {new}, {updated} seen again or changed"),
    }
}

fn cause(scenario: &ReflectionScenario) -> &str {
    match scenario {
        ReflectionScenario::SessionComplete => "it ended",
        ReflectionScenario::SessionFailed => "it failed",
        ReflectionScenario::HealerInvocation => "a rescue ended",
        ReflectionScenario::PatternDetected => "the same trouble in several runs",
        ReflectionScenario::Manual => "somebody asked",
        ReflectionScenario::Other(word) => word,
    }
}

/// What people call a lesson, as far as it is known here.
fn called<'k>(id: &'k MemoryId, known: &'k Known) -> &'k str {
    known.all_lessons().find(|row| row.key == id.as_str()).map_or_else(|| id.as_str(), |row| row.name.as_str())
}
