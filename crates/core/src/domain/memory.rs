//! Lessons, in the form that the specification calls `AgentMemory`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::word_enum::words;
use super::{
    Alias, Evidence, Extra, Facet, FacetSet, FacetValues, Importance, LessonAvailability, MemoryId, MemoryQuery,
    Timestamp,
};

/// Something learned, with the evidence for it. One line of `lessons.jsonl` is one version of one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMemory {
    /// Its name through all versions.
    pub id: MemoryId,
    /// Its name for people; the store gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Alias>,
    /// When the first version was made.
    pub created_at: Timestamp,
    /// When this version was made, if it is not the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// The narrowest circumstance it holds in.
    pub scope: MemoryScope,
    /// Where the project stood; set where one memory serves several projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_root: Option<String>,
    /// Which repository it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    /// Task, provider, tool and the other circumstances.
    #[serde(flatten)]
    pub facets: FacetValues,
    /// What sort of statement it is; a lesson unless said otherwise.
    #[serde(default, skip_serializing_if = "MemoryKind::is_lesson")]
    pub kind: MemoryKind,
    /// What it is about.
    pub category: MemoryCategory,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How much it matters.
    pub importance: Importance,
    /// How bad it is when it is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The takeaway in one sentence.
    pub summary: String,
    /// "IF condition THEN recommendation".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// A short paragraph with nuance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What was being asked for when it was learned: whoever has the same to do is to find it. Never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub situation: Option<String>,
    /// What it rests on.
    #[serde(default)]
    pub evidence: Evidence,
    /// Who made it.
    pub source: MemorySource,
    /// Where it stands in its life, as last decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<MemoryState>,
    /// Why it stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_reason: Option<String>,
    /// Whether it never grows old.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub evergreen: bool,
    /// Exposures. In a stored line it is what held when the line was written; an answer counts the ledger.
    #[serde(default)]
    pub usage_count: u64,
    /// The last exposure, under the same rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// The lesson that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// The version whose content this one brought back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_from: Option<u64>,
    /// Other lessons on the same matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LessonLink>,
    /// What was merged into it, the first first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<LessonMerge>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tie to another lesson.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Link")]
pub struct LessonLink {
    /// The other lesson.
    pub to: MemoryId,
    /// What the tie means.
    pub relation: Relation,
}

words! {
    /// The relation of one lesson to another.
    Relation, "a relation" {
        /// Both lessons say the same.
        Same = "same",
        /// This lesson says the same and more; it replaced the other one.
        Refines = "refines",
        /// The two lessons cannot both hold.
        Contradicts = "contradicts",
        /// The lessons may be the same; this is not decided.
        Similar = "similar",
    }
}

/// What became one lesson, so that it can become two again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Merge")]
pub struct LessonMerge {
    /// The lesson that was taken in, whole.
    pub absorbed: Box<AgentMemory>,
    /// The lesson that took it in, as it was; its own merges are those that stand before this one.
    pub kept: Box<AgentMemory>,
    /// The time of the merge.
    pub at: Timestamp,
}

impl AgentMemory {
    /// Creates a lesson with the required fields; the caller sets the others on the value.
    pub fn new(id: MemoryId, created_at: Timestamp, summary: impl Into<String>) -> Self {
        Self {
            id,
            alias: None,
            created_at,
            updated_at: None,
            scope: MemoryScope::Project,
            project_root: None,
            repo_id: None,
            facets: FacetValues::default(),
            kind: MemoryKind::Lesson,
            category: MemoryCategory::Heuristic,
            tags: Vec::new(),
            importance: Importance::MANUAL,
            severity: None,
            summary: summary.into(),
            rule: None,
            detail: None,
            situation: None,
            evidence: Evidence::default(),
            source: MemorySource::Manual,
            state: None,
            state_reason: None,
            evergreen: false,
            usage_count: 0,
            last_used_at: None,
            superseded_by: None,
            restored_from: None,
            links: Vec::new(),
            merges: Vec::new(),
            extra: Extra::new(),
        }
    }

    /// Returns the time at which this version was made.
    pub fn version_at(&self) -> Timestamp {
        self.updated_at.unwrap_or(self.created_at)
    }

    /// Tells whether the lesson may be injected, and if not, why.
    pub fn availability(&self) -> LessonAvailability {
        let retired = matches!(
            self.state,
            Some(MemoryState::Archived | MemoryState::Superseded | MemoryState::Deprecated | MemoryState::Quarantined)
        );
        match self.state {
            _ if retired || self.superseded_by.is_some() => LessonAvailability::Retired,
            Some(MemoryState::Observed) => LessonAvailability::Waiting,
            _ => LessonAvailability::Live,
        }
    }

    /// Returns the facets that a query must match, if it mentions them, for this lesson to apply.
    ///
    /// A task or an error is where a lesson came from and binds only a lesson of that scope; a tool, a provider or a
    /// path is what the lesson is about.
    pub fn binding_facets(&self) -> FacetSet {
        let binds = |&facet: &Facet| match facet {
            Facet::Task => self.scope == MemoryScope::Task,
            Facet::ErrorFamily => false,
            Facet::Domain => self.facets.domain.as_deref() != Some("general"),
            _ => true,
        };
        let given = self.facets.present_facets();
        Facet::ALL.into_iter().filter(|&facet| given.contains(facet)).filter(binds).collect()
    }

    /// Returns true if the query's project may see the lesson: the lessons of a repository stay in that repository.
    pub fn is_visible_to(&self, query: &MemoryQuery) -> bool {
        if self.scope == MemoryScope::Global {
            return true;
        }
        match (&self.repo_id, &query.repo_id) {
            (Some(own), Some(asked)) => own == asked,
            _ => self.project_root.as_ref().is_none_or(|own| *own == query.project_root),
        }
    }
}

words! {
    /// The narrowest scope in which a lesson holds.
    MemoryScope, "a scope" {
        /// The lesson holds everywhere.
        Global = "global",
        /// The lesson holds in this project.
        Project = "project",
        /// The lesson holds in this repository.
        Repo = "repo",
        /// The lesson holds for one task.
        Task = "task",
        /// The lesson holds for one tool.
        Tool = "tool",
        /// The lesson holds for one provider.
        Provider = "provider",
        /// The lesson holds for one path.
        Component = "component",
        /// The lesson holds for one role.
        Role = "role",
        /// The lesson holds in one domain.
        Domain = "domain",
    }
}

words! {
    /// The kind of statement that a memory makes.
    #[derive(Default)]
    MemoryKind, "a kind" {
        /// A lesson learned from what happened.
        #[default]
        Lesson = "lesson",
        /// A preference for how work is done.
        Preference = "preference",
        /// A decision with its reasons.
        Decision = "decision",
        /// A fact about the project or its environment.
        Fact = "fact",
        /// A note without further claims.
        Note = "note",
    }
}

impl MemoryKind {
    fn is_lesson(&self) -> bool {
        *self == Self::Lesson
    }
}

words! {
    /// The subject of a lesson.
    MemoryCategory, "a category" {
        /// An approach that tends to work.
        Heuristic = "heuristic",
        /// An approach that was tried and failed.
        AntiPattern = "anti_pattern",
        /// The right use of a tool.
        ToolUsage = "tool_usage",
        /// The behaviour of a provider.
        ProviderQuirk = "provider_quirk",
        /// An approach to testing.
        TestStrategy = "test_strategy",
        /// Machines, services and pipelines.
        Infra = "infra",
        /// The right wording of prompts.
        Prompting = "prompting",
        /// A failure and its fix.
        BugfixPattern = "bugfix_pattern",
        /// A preference for how work is done.
        Preference = "preference",
        /// The organisation of the work.
        Workflow = "workflow",
        /// A decision with its reasons.
        Decision = "decision",
    }
}

words! {
    /// The author of a lesson.
    MemorySource, "a source" {
        /// Archivist itself: a reflection, or a proposal that an agent recorded.
        Archivist = "archivist",
        /// A healer that rescued a session.
        Healer = "healer",
        /// A person who wrote it by hand.
        Manual = "manual",
        /// An import from another memory.
        Import = "import",
    }
}

words! {
    /// The lifecycle state of a lesson.
    MemoryState, "a state" {
        /// The lesson was seen once and waits for more sightings.
        Observed = "observed",
        /// The lesson has enough sightings or strong enough evidence to be used.
        Candidate = "candidate",
        /// The lesson held in more than one context.
        Verified = "verified",
        /// A person confirmed the lesson.
        Active = "active",
        /// The lesson is out of use for lack of sightings, low trust or harm.
        Deprecated = "deprecated",
        /// The lesson was taken out of use, but is kept.
        Archived = "archived",
        /// Another lesson replaced it.
        Superseded = "superseded",
        /// The lesson rests on untrusted words; a person must approve it first.
        Quarantined = "quarantined",
    }
}

words! {
    /// The severity of ignoring a lesson.
    Severity, "a severity" {
        /// Something breaks if the lesson is ignored.
        Bug = "bug",
        /// Something may break if the lesson is ignored.
        Warning = "warning",
        /// The lesson is good to know.
        Info = "info",
        /// Following the lesson improves the result.
        Recommendation = "recommendation",
    }
}
