//! Small sessions, told in a few words, and what is distilled from them.

use serde_json::{Value, json};

use super::super::unchecked_candidate::UncheckedCandidate;
use super::{HeuristicFindings, distill_session, supporting_quotes};
use crate::context::{LogGatherer, ReflectionContext, ReflectionInputs, SessionDescription, quotable_texts};
use crate::domain::{
    Episode, EventSink, Happening, OutputOwner, SessionDetails, SessionId, SessionOutcome, Speaker, Step, ToolCall,
    ToolOutput, TrajectoryEvent,
};
use crate::redact::Redactor;

/// A session that is being written.
#[derive(Default)]
pub(super) struct Session {
    events: Vec<TrajectoryEvent>,
    number: u32,
}

impl Session {
    pub(super) fn new(order: &str) -> Self {
        let mut session = Self::default();
        let about = SessionDetails {
            directory: Some("/home/ada/shop".to_owned()),
            agent: Some("claude-code".to_owned()),
            ..SessionDetails::default()
        };
        session.events.push(TrajectoryEvent::About(Box::new(about)));
        session.user(order)
    }

    /// Another run in the same store.
    pub(super) fn run(mut self, id: &str, status: &str) -> Self {
        let about = SessionDetails {
            trajectory_id: Some(id.to_owned()),
            session_id: Some(id.to_owned()),
            ..SessionDetails::default()
        };
        if !self.events.is_empty() {
            self.events.push(TrajectoryEvent::Begin);
        }
        self.events.push(TrajectoryEvent::About(Box::new(about)));
        let status = crate::domain::EpisodeStatus::from_outcome(status).unwrap();
        self.events.push(TrajectoryEvent::Outcome(SessionOutcome {
            status,
            reward: None,
            error: None,
            from: "store".to_owned(),
        }));
        self.number = 0;
        self
    }

    fn step(&mut self, speaker: Speaker, text: &str) -> u32 {
        self.number += 1;
        let step = Step { number: self.number, speaker, text: text.to_owned(), ..Step::default() };
        self.events.push(TrajectoryEvent::Step(Box::new(step)));
        self.number
    }

    pub(super) fn user(mut self, text: &str) -> Self {
        self.step(Speaker::User, text);
        self
    }

    pub(super) fn system(mut self, text: &str) -> Self {
        self.step(Speaker::System, text);
        self
    }

    pub(super) fn agent(mut self, text: &str) -> Self {
        self.step(Speaker::Agent, text);
        self
    }

    pub(super) fn stop(mut self) -> Self {
        self.events.push(TrajectoryEvent::Happened(self.number, Happening::Interrupted, String::new()));
        self
    }

    pub(super) fn api_error(mut self, text: &str) -> Self {
        self.events.push(TrajectoryEvent::Happened(self.number, Happening::ApiError, text.to_owned()));
        self
    }

    pub(super) fn call(mut self, tool: &str, arguments: Value, output: ToolOutput) -> Self {
        let number = self.step(Speaker::Agent, "");
        let id = format!("call-{}-{number}", self.events.len());
        self.events.push(TrajectoryEvent::Call(
            number,
            ToolCall { id: id.clone(), tool: tool.to_owned(), arguments, output: None },
        ));
        self.events.push(TrajectoryEvent::Output(OutputOwner::Call(id), output));
        self
    }

    pub(super) fn passes(self, command: &str, output: &str) -> Self {
        self.call("Bash", json!({"command": command}), ToolOutput { text: output.to_owned(), ..ToolOutput::default() })
    }

    pub(super) fn fails(self, command: &str, output: &str) -> Self {
        let output = ToolOutput { text: output.to_owned(), failed: Some(true), ..ToolOutput::default() };
        self.call("Bash", json!({"command": command}), output)
    }

    pub(super) fn edits(self, path: &str, old: &str, new: &str) -> Self {
        let given = json!({"file_path": path, "old_string": old, "new_string": new});
        self.call("Edit", given, ToolOutput { text: "edited".to_owned(), ..ToolOutput::default() })
    }

    pub(super) fn context(self, episodes: Vec<Episode>) -> ReflectionContext {
        let redactor = Redactor::new();
        let mut gathering = LogGatherer::new(&redactor);
        for event in self.events {
            gathering.receive_event(event);
        }
        let inputs = ReflectionInputs {
            run: run("session-1"),
            gathered: gathering.finish(),
            sessions: Vec::new(),
            config: None,
            progress_md: None,
            apm_snapshot: None,
            episodes,
            memories: Vec::new(),
        };
        ReflectionContext::build(inputs, &redactor)
    }

    /// What is learned, with every quote looked up.
    pub(super) fn distil(self) -> HeuristicFindings {
        let context = self.context(Vec::new());
        let distillate = distilled(&context);
        for claim in &distillate.claims {
            assert!(
                claim.quotes.iter().any(|cited| supporting_quotes::is_trustworthy_quote(&context, cited)),
                "only words of others: {claim:?}"
            );
        }
        distillate
    }

    pub(super) fn claims(self) -> Vec<UncheckedCandidate> {
        self.distil().claims
    }
}

/// What a log alone does not say.
pub(super) fn run(session: &str) -> SessionDescription {
    SessionDescription {
        session_id: SessionId::parse(session).unwrap(),
        project_root: "/home/ada/shop".to_owned(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now: chrono::DateTime::UNIX_EPOCH,
    }
}

/// What is distilled, with what must hold of everything that is.
pub(super) fn distilled(context: &ReflectionContext) -> HeuristicFindings {
    let distillate = distill_session(context);
    assert_eq!(distillate, distill_session(context), "not the same twice");
    for claim in &distillate.claims {
        assert!(!claim.quotes.is_empty() && claim.quotes.len() <= 6, "{claim:?}");
        assert!(claim.summary.chars().count() <= 300, "long: {}", claim.summary);
        assert!(!claim.episodes.is_empty());
        for cited in &claim.quotes {
            let trajectory = &context.trajectories[cited.place.trajectory as usize];
            let step = trajectory.steps.iter().find(|step| step.number == cited.place.step).expect("a step");
            let holding: Vec<_> =
                quotable_texts(step).into_iter().filter(|one| one.text.contains(&cited.text)).collect();
            assert!(!holding.is_empty(), "not in the log: {cited:?}");
            assert!(cited.text.chars().filter(|c| c.is_alphanumeric()).count() >= 6);
        }
        let text = format!("{} {}", claim.summary, claim.rule.as_deref().unwrap_or_default());
        assert!(!text.contains("/home/") && !text.contains("/Users/"), "a path of this machine: {text}");
    }
    distillate
}

/// The claims as they read.
pub(super) fn told(distillate: &HeuristicFindings) -> String {
    let mut text = String::new();
    for claim in &distillate.claims {
        text += &format!(
            "  * {} [{} {} {}]\n    {}\n    {}\n    tags {:?} quotes {:?} episodes {}\n",
            claim.summary,
            claim.category.as_str(),
            claim.scope.as_str(),
            claim.importance,
            claim.rule.as_deref().unwrap_or("-"),
            claim.detail.as_deref().unwrap_or("-"),
            claim.tags,
            claim.quotes.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(),
            claim.episodes.len(),
        );
    }
    for one in &distillate.dropped {
        text += &format!("  - {}: {} ({})\n", one.why.as_str(), one.summary, one.detail);
    }
    text
}
