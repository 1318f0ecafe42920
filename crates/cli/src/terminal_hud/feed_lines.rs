//! Renders messages of reflections as lines of the feed.

use super::super::text_format::format_count;
use super::rows::{MemoryRows, clean_line};
use archivist_core::domain::{HudMessage, MemoryId, ReflectionScenario, Timestamp};

/// One line of the feed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LiveFeedLine {
    pub(super) at: Timestamp,
    pub(super) text: String,
    pub(super) weight: FeedEmphasis,
}

/// The emphasis of a feed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedEmphasis {
    /// Routine progress without new lessons.
    Plain,
    /// Something was learned.
    News,
}

/// Returns the line for a message, or `None` if another message covers it.
pub(super) fn render_message(message: &HudMessage, known: &MemoryRows) -> Option<LiveFeedLine> {
    let (at, text, weight) = match message {
        HudMessage::ArchivistReflectionStart { scenario, session_id, ts } => {
            (ts, format!("reflecting on {session_id} ({})", describe_scenario(scenario)), FeedEmphasis::Plain)
        }
        HudMessage::ArchivistReflectionComplete { memories_created, memories_updated, ts, .. } => {
            let is_news = memories_created + memories_updated > 0;
            let weight = if is_news { FeedEmphasis::News } else { FeedEmphasis::Plain };
            (ts, describe_result(*memories_created, *memories_updated), weight)
        }
        HudMessage::ArchivistMemoryHighlight { memory_id, summary, importance, ts } => {
            let text =
                format!("worth a look: {} {summary} (importance {importance})", lesson_display_name(memory_id, known));
            (ts, text, FeedEmphasis::News)
        }
        HudMessage::ArchivistRecordsErased { count, ts } => {
            (ts, format!("{} erased for good", format_count(*count, "record", "records")), FeedEmphasis::Plain)
        }
        // The completion message tells how many there are.
        HudMessage::ArchivistMemoriesAdded { .. } => return None,
    };
    Some(LiveFeedLine { at: *at, text: clean_line(&text), weight })
}

fn describe_result(created: u64, updated: u64) -> String {
    let new = format_count(created, "new lesson", "new lessons");
    match (created, updated) {
        (0, 0) => "reflection done: nothing new".to_owned(),
        (_, 0) => format!("reflection done: {new}"),
        (0, _) => format!("reflection done: {} seen again or changed", format_count(updated, "lesson", "lessons")),
        _ => format!("reflection done: {new}, {updated} seen again or changed"),
    }
}

fn describe_scenario(scenario: &ReflectionScenario) -> &str {
    match scenario {
        ReflectionScenario::SessionComplete => "it ended",
        ReflectionScenario::SessionFailed => "it failed",
        ReflectionScenario::HealerInvocation => "a rescue ended",
        ReflectionScenario::PatternDetected => "the same trouble in several runs",
        ReflectionScenario::Manual => "somebody asked",
        ReflectionScenario::Other(word) => word,
    }
}

/// Returns the alias of a lesson if it is loaded, else its id.
fn lesson_display_name<'k>(id: &'k MemoryId, known: &'k MemoryRows) -> &'k str {
    known.all_lessons().find(|row| row.key == id.as_str()).map_or_else(|| id.as_str(), |row| row.name.as_str())
}
