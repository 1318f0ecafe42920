//! Queries to the memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FacetValues, MemoryId, MemoryKind, MemoryScope};

/// A query for lessons, with the facets that they should fit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryQuery {
    /// The root of the project that asks.
    pub project_root: String,
    /// The repository of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    /// Only lessons of this scope match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
    /// Only lessons of this kind match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MemoryKind>,
    /// The task, provider, tool and other facets of the situation.
    #[serde(flatten)]
    pub facets: FacetValues,
    /// Tags that raise the rank of a lesson.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The topic in plain words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The similarity of lessons to the query in meaning, if the caller computed it with a model.
    #[serde(skip)]
    pub cosines: BTreeMap<MemoryId, f64>,
    /// The most lessons to return; by default the configuration decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_results: Option<usize>,
}

impl MemoryQuery {
    /// Returns a query that mentions only the project.
    pub fn for_project(project_root: impl Into<String>) -> Self {
        Self { project_root: project_root.into(), ..Self::default() }
    }

    /// Returns true if the query names a topic. If it does, lessons on other topics are not returned.
    pub fn has_topic(&self) -> bool {
        self.text.as_deref().is_some_and(|text| !text.trim().is_empty())
            || !self.tags.is_empty()
            || self.facets.error_family.is_some()
    }
}

/// Tells whether a lesson may be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonAvailability {
    /// The lesson may be injected.
    Live,
    /// The lesson has too few sightings so far: it is kept and listed, but not injected yet.
    Waiting,
    /// Archived, superseded, deprecated or in quarantine: the lesson is kept and shown on request, but never injected.
    Retired,
}

impl LessonAvailability {
    /// All values of the type.
    pub const ALL: [Self; 3] = [Self::Live, Self::Waiting, Self::Retired];
}
