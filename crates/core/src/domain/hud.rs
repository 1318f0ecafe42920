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
        /// When.
        ts: Timestamp,
    },
    /// A reflection ended, whichever way.
    ArchivistReflectionComplete {
        /// What set it off.
        scenario: ReflectionScenario,
        /// New lessons.
        memories_created: u64,
        /// Changed lessons.
        memories_updated: u64,
        /// When.
        ts: Timestamp,
    },
    /// A lesson worth looking at.
    ArchivistMemoryHighlight {
        /// Which.
        memory_id: MemoryId,
        /// Its takeaway.
        summary: String,
        /// How much it matters.
        importance: Importance,
        /// When.
        ts: Timestamp,
    },
    /// Lessons were stored.
    ArchivistMemoriesAdded {
        /// How many.
        count: u64,
        /// What set the reflection off.
        scenario: ReflectionScenario,
        /// When.
        ts: Timestamp,
    },
}
