//! The reflection settings that are part of the published contract: when Archivist reflects and how much it keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether and when to reflect, and how much one reflection may keep.
///
/// There is no `Default` here: the defaults live in `config/default.toml` and nowhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchivistConfig {
    /// Whether Archivist reflects on sessions at all.
    pub enabled: bool,
    /// The most memories one reflection may write.
    #[schemars(range(min = 1, max = 1000))]
    pub max_memories_per_run: u32,
    /// A candidate less important than this is dropped.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_importance_to_persist: f64,
    /// Which events start a reflection.
    pub reflect_on: ReflectOnSettings,
}

/// The events that may start a reflection, each switched on or off by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReflectOn")]
pub struct ReflectOnSettings {
    /// A session that ended well.
    pub session_success: bool,
    /// A session that ended in failure.
    pub session_failure: bool,
    /// A run of the Healer.
    pub healer_invocation: bool,
}
