//! Candidates, as a distiller proposes them, and the result of a distillation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::word_enum::words;
use super::{
    Evidence, FacetValues, Importance, MemoryCategory, MemoryId, MemoryKind, MemoryScope, Severity, TokenUsage,
};

/// A proposed lesson. It becomes an [`AgentMemory`](super::AgentMemory) only if the judge accepts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The lesson in one sentence.
    pub summary: String,
    /// The lesson as a rule: "IF condition THEN recommendation".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// A short paragraph with details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The kind of statement.
    #[serde(default)]
    pub kind: MemoryKind,
    /// The subject of the lesson.
    pub category: MemoryCategory,
    /// The narrowest scope in which it holds.
    pub scope: MemoryScope,
    /// The task, provider, tool and other facets that it applies to.
    #[serde(flatten)]
    pub facets: FacetValues,
    /// Tags for finding it.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The importance of the lesson.
    pub importance: Importance,
    /// The reason for the importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance_reason: Option<String>,
    /// The severity of ignoring it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The evidence for it. Every quote in it was found in the log.
    pub evidence: Evidence,
    /// The reason why a person must approve it before it is injected anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
    /// Stored lessons that it may repeat, in the distiller's opinion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<MemoryId>,
    /// The corrections made where the proposal was weaker or vaguer than it claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<String>,
}

/// A proposal that did not become a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DroppedCandidate {
    /// The lesson that was proposed.
    pub summary: String,
    /// The reason in one word.
    pub why: DropReason,
    /// The reason in full, where there is more to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

words! {
    /// The reason why a proposal is dropped.
    DropReason, "a reason to drop a lesson" {
        /// It lacks the parts that a lesson must have.
        Malformed = "malformed",
        /// None of its quotes was found in the step that it names.
        NoEvidence = "no_evidence",
        /// Its only evidence is a lesson that was injected into the session.
        Echo = "echo",
        /// It repeats a document of the project.
        Restated = "restated",
        /// It follows an instruction in a text of the log: a prompt injection.
        Injected = "injected",
        /// It happened only once and recommends nothing.
        OneOff = "one_off",
        /// It recommends nothing that anyone could do.
        Vague = "vague",
        /// Another candidate of the same reflection says it already.
        Repeated = "repeated",
        /// The reflection had enough better candidates.
        TooMany = "too_many",
        /// Its importance is too low.
        Unimportant = "unimportant",
        /// It repeats a lesson that a person took out of use.
        Rejected = "rejected",
    }
}

/// What happened in a session, in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Reflection")]
pub struct ReflectionSummary {
    /// How it came out, in one to three sentences.
    pub outcome: String,
    /// The things that worked.
    #[serde(default)]
    pub worked: Vec<String>,
    /// The things that failed.
    #[serde(default)]
    pub failed: Vec<String>,
    /// What was decided.
    #[serde(default)]
    pub decisions: Vec<String>,
}

/// The result of distilling a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DistillationResult {
    /// The engine that distilled.
    pub engine: Engine,
    /// A summary of the session.
    pub reflection: ReflectionSummary,
    /// The candidates, the most important first.
    pub candidates: Vec<Candidate>,
    /// The proposals that were dropped.
    #[serde(default)]
    pub dropped: Vec<DroppedCandidate>,
    /// The reason why the heuristics replaced the model's answer, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The name of the model, if one was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A fingerprint of the prompts that the model got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<String>,
    /// The answer format of the last request: tools, schema, JSON or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The tokens and money that the requests cost.
    #[serde(default)]
    pub usage: TokenUsage,
    /// The number of requests to the model.
    #[serde(default)]
    pub calls: u32,
}

words! {
    /// The engine that distils lessons.
    Engine, "an engine" {
        /// Rules over signals.
        Heuristic = "heuristic",
        /// A language model.
        Model = "model",
    }
}
