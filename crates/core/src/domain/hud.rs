//! Messages to a heads-up display.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Importance, MemoryId, ReflectionScenario, SessionId, Timestamp};

/// One message to a display. Told after the commit it speaks of, never before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum HudMessage {
    /// A reflection begins.
    ArchivistReflectionStart {
        /// What set it off.
        scenario: ReflectionScenario,
        /// On which session.
        session_id: SessionId,
        /// The time of the message.
        ts: Timestamp,
    },
    /// A reflection ended, whichever way.
    ArchivistReflectionComplete {
        /// What set it off.
        scenario: ReflectionScenario,
        /// The number of new lessons.
        memories_created: u64,
        /// The number of changed lessons.
        memories_updated: u64,
        /// The time of the message.
        ts: Timestamp,
    },
    /// A lesson worth looking at.
    ArchivistMemoryHighlight {
        /// The id of the lesson.
        memory_id: MemoryId,
        /// The takeaway of the lesson.
        summary: String,
        /// How much it matters.
        importance: Importance,
        /// The time of the message.
        ts: Timestamp,
    },
    /// Lessons were stored.
    ArchivistMemoriesAdded {
        /// The number of lessons.
        count: u64,
        /// What set the reflection off.
        scenario: ReflectionScenario,
        /// The time of the message.
        ts: Timestamp,
    },
    /// Records were erased for good. It does not say which.
    ArchivistRecordsErased {
        /// The number of records.
        count: u64,
        /// The time of the message.
        ts: Timestamp,
    },
}
