//! Small sessions and claims, told in a few words.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{CandidateLimits, CandidateVerifier, ProjectDocument, VerifiedCandidates};
use crate::context::{LogGatherer, ReflectionContext, ReflectionInputs, SessionDescription};
use crate::distill::unchecked_candidate::{StepReference, UncheckedCandidate, UncheckedQuote};
use crate::domain::{
    AgentMemory, EventSink, FacetValues, Importance, ImportanceScale, MemoryCategory, MemoryId, MemoryKind,
    MemoryScope, OutputOwner, SessionId, Speaker, Step, Timestamp, ToolCall, ToolOutput, TrajectoryEvent,
};
use crate::redact::Redactor;

/// Its tables are large, and built once.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

/// One step of a session.
pub(in crate::distill) enum Did<'a> {
    User(&'a str),
    Says(&'a str),
    System(&'a str),
    Runs(&'a str, &'a str),
    Fails(&'a str, &'a str),
    Edits(&'a str, &'a str, &'a str),
    Reads(&'a str, &'a str),
    Calls(&'a str, Value, &'a str),
    Begin,
}

/// What is gathered from a session that ends on the evening of 16 November 2026.
pub(in crate::distill) fn session(did: &[Did<'_>]) -> ReflectionContext {
    let mut gathering = LogGatherer::new(&REDACTOR);
    let mut number = 0;
    for one in did {
        let (speaker, text) = match one {
            Did::User(text) => (Speaker::User, *text),
            Did::Says(text) => (Speaker::Agent, *text),
            Did::System(text) => (Speaker::System, *text),
            Did::Begin => {
                gathering.receive_event(TrajectoryEvent::Begin);
                number = 0;
                continue;
            }
            _ => (Speaker::Agent, ""),
        };
        number += 1;
        gathering.receive_event(TrajectoryEvent::Step(Box::new(Step {
            number,
            speaker,
            text: text.to_owned(),
            ..Step::default()
        })));
        let (tool, arguments, output, failed) = match one {
            Did::Runs(command, output) => ("Bash", json!({"command": command}), *output, false),
            Did::Fails(command, output) => ("Bash", json!({"command": command}), *output, true),
            Did::Edits(path, old, new) => {
                ("Edit", json!({"file_path": path, "old_string": old, "new_string": new}), "edited", false)
            }
            Did::Reads(path, text) => ("Read", json!({"file_path": path}), *text, false),
            Did::Calls(tool, arguments, output) => (*tool, arguments.clone(), *output, false),
            _ => continue,
        };
        let id = format!("call-{number}");
        gathering.receive_event(TrajectoryEvent::Call(
            number,
            ToolCall { id: id.clone(), tool: tool.to_owned(), arguments, output: None },
        ));
        let failed = Some(failed).filter(|failed| *failed);
        let output = ToolOutput { text: output.to_owned(), failed, ..ToolOutput::default() };
        gathering.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
    }
    let run = SessionDescription {
        session_id: SessionId::parse("s-1").unwrap(),
        project_root: "/home/dev/shop".to_owned(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now: "2026-11-16T18:00:00Z".parse::<Timestamp>().unwrap(),
    };
    let inputs = ReflectionInputs {
        run,
        gathered: gathering.finish(),
        sessions: Vec::new(),
        config: None,
        progress_md: None,
        apm_snapshot: None,
        episodes: Vec::new(),
        memories: Vec::new(),
    };
    ReflectionContext::build(inputs, &REDACTOR)
}

/// A lesson that was known before.
pub(in crate::distill) fn known(summary: &str) -> AgentMemory {
    AgentMemory::new(MemoryId::parse("mem-1").unwrap(), Timestamp::default(), summary)
}

/// A claim that quotes steps of the first trajectory.
pub(in crate::distill) fn claim(summary: &str, rule: Option<&str>, quotes: &[(u32, &str)]) -> UncheckedCandidate {
    let cited = |(step, text): &(u32, &str)| UncheckedQuote {
        place: StepReference { trajectory: 0, step: *step },
        text: (*text).to_owned(),
        level: None,
    };
    UncheckedCandidate {
        summary: summary.to_owned(),
        rule: rule.map(str::to_owned),
        detail: None,
        kind: MemoryKind::Lesson,
        category: MemoryCategory::BugfixPattern,
        scope: MemoryScope::Project,
        facets: FacetValues::default(),
        tags: Vec::new(),
        importance: Importance::parse(0.7, ImportanceScale::Undeclared).unwrap(),
        importance_reason: None,
        severity: None,
        quotes: quotes.iter().map(cited).collect(),
        episodes: Vec::new(),
        near: Vec::new(),
    }
}

/// What becomes of claims, with no limits.
pub(in crate::distill) fn verified(context: &ReflectionContext, claims: Vec<UncheckedCandidate>) -> VerifiedCandidates {
    verified_with(context, &[], claims)
}

pub(in crate::distill) fn verified_with(
    context: &ReflectionContext,
    documents: &[ProjectDocument],
    claims: Vec<UncheckedCandidate>,
) -> VerifiedCandidates {
    let limits = CandidateLimits { max_candidates: 1000, min_importance: 0.0 };
    CandidateVerifier::new(context, documents, &REDACTOR, limits).verify_all(claims.into_iter().map(Ok).collect())
}

/// Numbers that look random and are always the same.
pub(in crate::distill) struct Dice(pub(in crate::distill) u64);

impl Dice {
    pub(in crate::distill) fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below.max(1)
    }

    pub(in crate::distill) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.roll(from.len())]
    }
}
