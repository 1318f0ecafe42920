//! What a distiller claims, before anybody has judged it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Evidence, Facets, Importance, MemoryCategory, MemoryId, MemoryKind, MemoryScope, Severity, Usage};

/// A claim that something was learned. It becomes an [`AgentMemory`](super::AgentMemory) only if it is judged to be one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The takeaway.
    pub summary: String,
    /// "IF condition THEN recommendation".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// A short paragraph with nuance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What sort of statement it is.
    #[serde(default)]
    pub kind: MemoryKind,
    /// What it is about.
    pub category: MemoryCategory,
    /// The narrowest circumstance it holds in.
    pub scope: MemoryScope,
    /// Task, provider, tool and the other circumstances.
    #[serde(flatten)]
    pub facets: Facets,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How much it matters.
    pub importance: Importance,
    /// Why it matters so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance_reason: Option<String>,
    /// How bad it is when it is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What it rests on. Every quote in it was found in the log.
    pub evidence: Evidence,
    /// Why a person must look at it before anybody is given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
    /// Known lessons that it may repeat, as the distiller sees it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<MemoryId>,
    /// What was weaker or vaguer than it was claimed to be, and was set right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<String>,
}

/// A claim that did not become a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dropped {
    /// What it claimed.
    pub summary: String,
    /// Why it was dropped, in a word.
    pub why: DropReason,
    /// The same in words, where there is more to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

words! {
    /// Why a claim is dropped.
    DropReason, "a reason to drop a lesson" {
        /// It is not made of what a lesson is made of.
        Malformed = "malformed",
        /// None of its quotes was found where it says.
        NoEvidence = "no_evidence",
        /// It proves itself by a lesson that was given to the session.
        Echo = "echo",
        /// It says what a document of the project says.
        Restated = "restated",
        /// It carries out what a text in the log ordered.
        Injected = "injected",
        /// It happened once, and nothing says what to do about it.
        OneOff = "one_off",
        /// It says nothing that somebody could do.
        Vague = "vague",
        /// Another candidate of the same reflection says it.
        Repeated = "repeated",
        /// There were better ones.
        TooMany = "too_many",
        /// It matters too little.
        Unimportant = "unimportant",
        /// A lesson that a person took out of use says it.
        Rejected = "rejected",
    }
}

/// What happened in a session, in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reflection {
    /// How it came out, in one to three sentences.
    pub outcome: String,
    /// What worked.
    #[serde(default)]
    pub worked: Vec<String>,
    /// What failed.
    #[serde(default)]
    pub failed: Vec<String>,
    /// What was decided.
    #[serde(default)]
    pub decisions: Vec<String>,
}

/// What came of distilling a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Distilled {
    /// Who distilled.
    pub engine: Engine,
    /// What happened.
    pub reflection: Reflection,
    /// What may have been learned, the most important first.
    pub candidates: Vec<Candidate>,
    /// What was not.
    #[serde(default)]
    pub dropped: Vec<Dropped>,
    /// Why the model's answer was not used, where there is a model and the heuristics stood in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Which model, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Which prompts it was given: a fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<String>,
    /// In which form it was asked last: by tools, by a schema, for JSON or for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// What asking cost.
    #[serde(default)]
    pub usage: Usage,
    /// How often it was asked.
    #[serde(default)]
    pub calls: u32,
}

words! {
    /// Who distils.
    Engine, "an engine" {
        /// Rules over signals.
        Heuristic = "heuristic",
        /// A language model.
        Model = "model",
    }
}
