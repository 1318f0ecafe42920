//! A lesson.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Alias, Evidence, Extra, Facet, FacetSet, Facets, Importance, MemoryId, MemoryQuery, Standing, Timestamp};

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
    pub facets: Facets,
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
    /// The takeaway.
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
    pub links: Vec<Link>,
    /// What was merged into it, the first first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<Merge>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tie to another lesson.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The other lesson.
    pub to: MemoryId,
    /// What the tie means.
    pub relation: Relation,
}

words! {
    /// What ties one lesson to another.
    Relation, "a relation" {
        /// It says the same.
        Same = "same",
        /// It says the same and more; the other gave way to it.
        Refines = "refines",
        /// Both cannot hold.
        Contradicts = "contradicts",
        /// They may be the same; nobody has decided.
        Similar = "similar",
    }
}

/// What became one lesson, so that it can become two again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Merge {
    /// The lesson that was taken in, whole.
    pub absorbed: Box<AgentMemory>,
    /// The lesson that took it in, as it was; its own merges are those that stand before this one.
    pub kept: Box<AgentMemory>,
    /// When.
    pub at: Timestamp,
}

impl AgentMemory {
    /// The least that makes a lesson; the rest is set on the value.
    pub fn new(id: MemoryId, created_at: Timestamp, summary: impl Into<String>) -> Self {
        Self {
            id,
            alias: None,
            created_at,
            updated_at: None,
            scope: MemoryScope::Project,
            project_root: None,
            repo_id: None,
            facets: Facets::default(),
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

    /// When this version was made.
    pub fn version_at(&self) -> Timestamp {
        self.updated_at.unwrap_or(self.created_at)
    }

    /// Whether it may still be given to anybody.
    pub fn standing(&self) -> Standing {
        let retired = matches!(
            self.state,
            Some(MemoryState::Archived | MemoryState::Superseded | MemoryState::Deprecated | MemoryState::Quarantined)
        );
        match self.state {
            _ if retired || self.superseded_by.is_some() => Standing::Retired,
            Some(MemoryState::Observed) => Standing::Waiting,
            _ => Standing::Live,
        }
    }

    /// The facets that a question must meet, if it mentions them, for this lesson to apply.
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
        let given = self.facets.given();
        Facet::ALL.into_iter().filter(|&facet| given.contains(facet)).filter(binds).collect()
    }

    /// Whether the question's project may see it: one repository's lessons stay in that repository.
    pub fn belongs_to(&self, query: &MemoryQuery) -> bool {
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
    /// The narrowest circumstance a lesson holds in.
    MemoryScope, "a scope" {
        /// Everywhere.
        Global = "global",
        /// This project.
        Project = "project",
        /// This repository.
        Repo = "repo",
        /// One task.
        Task = "task",
        /// One tool.
        Tool = "tool",
        /// One provider.
        Provider = "provider",
        /// One path.
        Component = "component",
        /// One role.
        Role = "role",
        /// One domain.
        Domain = "domain",
    }
}

words! {
    /// What sort of statement it is.
    #[derive(Default)]
    MemoryKind, "a kind" {
        /// Learned from what happened.
        #[default]
        Lesson = "lesson",
        /// How somebody wants it done.
        Preference = "preference",
        /// Settled, with reasons.
        Decision = "decision",
        /// How things are.
        Fact = "fact",
        /// A remark.
        Note = "note",
    }
}

impl MemoryKind {
    fn is_lesson(&self) -> bool {
        *self == Self::Lesson
    }
}

words! {
    /// What a lesson is about.
    MemoryCategory, "a category" {
        /// What tends to work.
        Heuristic = "heuristic",
        /// What was tried and failed.
        AntiPattern = "anti_pattern",
        /// How to use a tool.
        ToolUsage = "tool_usage",
        /// How a provider behaves.
        ProviderQuirk = "provider_quirk",
        /// How to test.
        TestStrategy = "test_strategy",
        /// Machines, services, pipelines.
        Infra = "infra",
        /// How to ask.
        Prompting = "prompting",
        /// A failure and its fix.
        BugfixPattern = "bugfix_pattern",
        /// How somebody wants it done.
        Preference = "preference",
        /// How the work is organised.
        Workflow = "workflow",
        /// Settled, with reasons.
        Decision = "decision",
    }
}

words! {
    /// Who made a lesson.
    MemorySource, "a source" {
        /// A reflection.
        Archivist = "archivist",
        /// A rescue.
        Healer = "healer",
        /// A person.
        Manual = "manual",
        /// Another memory.
        Import = "import",
    }
}

words! {
    /// Where a lesson stands in its life.
    MemoryState, "a state" {
        /// Seen once.
        Observed = "observed",
        /// Seen often enough, or well enough, to be tried.
        Candidate = "candidate",
        /// Held in more than one context.
        Verified = "verified",
        /// A person stands behind it.
        Active = "active",
        /// Silence, distrust or harm took it out.
        Deprecated = "deprecated",
        /// Put away.
        Archived = "archived",
        /// Another took its place.
        Superseded = "superseded",
        /// Rests on untrusted words only; a person must look.
        Quarantined = "quarantined",
    }
}

words! {
    /// How bad it is when a lesson is ignored.
    Severity, "a severity" {
        /// Something breaks.
        Bug = "bug",
        /// Something may break.
        Warning = "warning",
        /// Good to know.
        Info = "info",
        /// Would be nicer.
        Recommendation = "recommendation",
    }
}
