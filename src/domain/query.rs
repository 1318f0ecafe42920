//! A question to the memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Facets, MemoryId, MemoryKind, MemoryScope};

/// What is asked, and in which circumstances.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryQuery {
    /// Where the asking project stands.
    pub project_root: String,
    /// Which repository it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    /// Only lessons of this scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
    /// Only this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MemoryKind>,
    /// Task, provider, tool and the other circumstances.
    #[serde(flatten)]
    pub facets: Facets,
    /// Tags that would be welcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What it is about, in plain words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How close lessons are to it in meaning, where somebody who has a model found out.
    #[serde(skip)]
    pub cosines: BTreeMap<MemoryId, f64>,
    /// At most this many; the configuration says how many otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_results: Option<usize>,
}

impl MemoryQuery {
    /// A question that mentions nothing but the project.
    pub fn for_project(project_root: impl Into<String>) -> Self {
        Self { project_root: project_root.into(), ..Self::default() }
    }

    /// Whether it says what it is about. If it does, lessons on other matters are no answer.
    pub fn has_topic(&self) -> bool {
        self.text.as_deref().is_some_and(|text| !text.trim().is_empty())
            || !self.tags.is_empty()
            || self.facets.error_family.is_some()
    }
}

/// Whether a lesson may be given to anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Live,
    /// Seen too little so far: kept and listed, not given yet.
    Waiting,
    /// Archived, superseded, deprecated or in quarantine: kept, shown on request, never given.
    Retired,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Live, Self::Waiting, Self::Retired];
}
