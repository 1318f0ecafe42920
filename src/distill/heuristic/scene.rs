//! Everything that was done, in order, and what became of it.

use serde_json::Value;

use super::super::claim::Place;
use super::command::Line;
use super::purpose::prepares;
use crate::context::{Action, Ended, Fault, ReflectionContext, ended, is_look, is_verification};
use crate::domain::{Episode, EpisodeId, EpisodeStatus, Output, Speaker, Step, Trajectory, TrustClass};

/// Among so many steps at the beginning the harness says where the agent works.
const HARNESS_STEPS: usize = 8;

/// One call and what came back.
#[derive(Debug)]
pub(super) struct Deed<'c> {
    pub(super) place: Place,
    pub(super) tool: &'c str,
    pub(super) arguments: Option<&'c Value>,
    pub(super) action: Action,
    pub(super) line: Option<Line>,
    pub(super) ended: Ended,
    pub(super) output: Option<&'c Output>,
    /// It only looks.
    pub(super) is_look: bool,
    /// It runs tests, a build, a type check or a linter.
    pub(super) is_check: bool,
}

impl Deed<'_> {
    /// The command, if one was run.
    pub(super) fn command(&self) -> Option<&str> {
        match &self.action {
            Action::Run { command } if !command.is_empty() => Some(command),
            _ => None,
        }
    }

    /// How it failed.
    pub(super) fn fault(&self) -> Option<&Fault> {
        match &self.ended {
            Ended::Failed(fault) => Some(fault),
            _ => None,
        }
    }

    pub(super) fn has_passed(&self) -> bool {
        self.ended == Ended::Passed
    }

    /// Whether what came back was fetched from elsewhere.
    pub(super) fn is_fetched(&self) -> bool {
        self.output.is_some_and(|output| output.trust == Some(TrustClass::Web))
    }

    /// A number among its arguments, such as a time limit.
    pub(super) fn limit(&self) -> Option<u64> {
        ["timeout", "timeout_ms", "timeoutMs"].iter().find_map(|key| self.arguments?.get(key)?.as_u64())
    }

    /// Whether it was sent to the background.
    pub(super) fn is_background(&self) -> bool {
        let asked = ["run_in_background", "background", "is_background"]
            .iter()
            .any(|key| self.arguments.and_then(|given| given.get(key)).and_then(Value::as_bool).unwrap_or_default());
        asked || self.command().is_some_and(|command| command.trim_end().ends_with('&') && !command.ends_with("&&"))
    }

    /// The folder that its arguments name.
    pub(super) fn folder(&self) -> Option<&str> {
        ["workdir", "cwd"].iter().find_map(|key| self.arguments?.get(key)?.as_str())
    }
}

/// All deeds of all trajectories.
#[derive(Debug)]
pub(super) struct Scene<'c> {
    pub(super) context: &'c ReflectionContext,
    pub(super) deeds: Vec<Deed<'c>>,
}

impl<'c> Scene<'c> {
    pub(super) fn of(context: &'c ReflectionContext) -> Self {
        let mut deeds = Vec::new();
        for (index, trajectory) in context.trajectories.iter().enumerate() {
            let Ok(trajectory_index) = u32::try_from(index) else { break };
            for step in trajectory.steps.iter().filter(|step| !step.copied) {
                of_step(Place { trajectory: trajectory_index, step: step.number }, step, &mut deeds);
            }
        }
        Self { context, deeds }
    }

    pub(super) fn trajectory(&self, index: u32) -> Option<&'c Trajectory> {
        self.context.trajectories.get(usize::try_from(index).ok()?)
    }

    /// The folder that a trajectory worked in.
    pub(super) fn root(&self, index: u32) -> &str {
        let told = self.trajectory(index).and_then(|trajectory| trajectory.about.directory.as_deref());
        told.unwrap_or(&self.context.project_root)
    }

    /// The agent whose trajectory it is.
    pub(super) fn agent(&self, index: u32) -> Option<String> {
        let about = &self.trajectory(index)?.about;
        about.agent.clone().or_else(|| about.model.as_deref().map(vendor)).map(|name| name.to_lowercase())
    }

    /// Another agent that did well on the same task, where somebody had it do that: what stopped this one is its own.
    pub(super) fn rival(&self, index: u32) -> Option<String> {
        let (own, task) = (self.agent(index)?, self.context.episode.task_id.as_ref()?);
        let did_well =
            |other: &&Episode| other.status == EpisodeStatus::Success && other.task_id.as_ref() == Some(task);
        // An episode's first tag is its agent.
        let mut others = self.context.related_episodes.iter().filter(did_well).filter_map(|other| other.tags.first());
        others.find(|agent| **agent != own).cloned()
    }

    /// The episode of a trajectory: a run of its own has one of its own, the rest belong to the run reflected on.
    pub(super) fn episode(&self, index: u32) -> EpisodeId {
        let episode = &self.context.episode;
        if let Some(owner) = usize::try_from(index).ok().and_then(|index| self.context.owners.get(index)) {
            return owner.clone();
        }
        let own = self.trajectory(index).filter(|one| one.outcome.is_some() && one.about.parent_session_id.is_none());
        let name = own.and_then(|one| one.about.trajectory_id.as_deref().or(one.about.session_id.as_deref()));
        let is_one_of_many = self.context.trajectories.len() > 1;
        match name.filter(|_| is_one_of_many) {
            Some(name) => EpisodeId::of_session(episode.repo_id.as_deref().unwrap_or(&episode.project_root), name),
            None => episode.id.clone(),
        }
    }

    /// Tells whether a person said something, or answered a question, between two deeds of a run.
    pub(super) fn is_answered(&self, before: &Deed<'_>, after: &Deed<'_>) -> bool {
        let Some(trajectory) = self.trajectory(before.place.trajectory) else { return false };
        let start = trajectory.steps.partition_point(|step| step.number <= before.place.step);
        let mut between = trajectory.steps.iter().skip(start).take_while(|step| step.number < after.place.step);
        between.any(|step| {
            let is_asked = step.calls.iter().any(|call| is_question(&call.tool) && call.output.is_some());
            !step.copied && (step.speaker == Speaker::User || is_asked)
        })
    }

    /// Tells whether the harness says that the agent works in a sandbox.
    pub(super) fn is_sandboxed(&self, index: u32) -> bool {
        let is_said = |step: &&Step| step.speaker == Speaker::System && step.text.contains("sandbox");
        self.trajectory(index).is_some_and(|one| one.steps.iter().take(HARNESS_STEPS).any(|step| is_said(&step)))
    }

    /// How many runs were read together.
    pub(super) fn runs(&self) -> usize {
        let mut episodes: Vec<EpisodeId> = (0..self.context.trajectories.len())
            .filter_map(|index| Some(self.episode(u32::try_from(index).ok()?)))
            .collect();
        episodes.sort();
        episodes.dedup();
        episodes.len()
    }
}

/// Tells whether a tool asks the person something.
fn is_question(tool: &str) -> bool {
    matches!(
        tool,
        "AskUserQuestion" | "request_user_input" | "ask_followup_question" | "question" | "ask_user" | "AskQuestion"
    )
}

/// Who makes a model, as far as its name tells.
fn vendor(model: &str) -> String {
    let known = [("claude", "anthropic"), ("gpt", "openai"), ("o1", "openai"), ("o3", "openai"), ("gemini", "google")];
    let found = known.iter().find(|(prefix, _)| model.starts_with(prefix)).map(|(_, vendor)| (*vendor).to_owned());
    found.unwrap_or_else(|| model.split([':', '/']).next().unwrap_or(model).to_owned())
}

fn of_step<'c>(place: Place, step: &'c Step, deeds: &mut Vec<Deed<'c>>) {
    // What came back for a step as a whole belongs to the last of its calls that waits.
    let waiting = step.calls.iter().rposition(|call| call.output.is_none());
    for (at, call) in step.calls.iter().enumerate() {
        let lone = step.outputs.first().filter(|_| waiting == Some(at));
        let action = Action::of(&call.tool, &call.arguments);
        deeds.push(deed(place, &call.tool, Some(&call.arguments), action, call.output.as_ref().or(lone)));
    }
    if step.calls.is_empty() {
        for output in &step.outputs {
            deeds.push(deed(place, "", None, Action::Other, Some(output)));
        }
    }
    if step.speaker == Speaker::Tool && step.calls.is_empty() && step.outputs.is_empty() {
        let mut deed = deed(place, "terminal", None, Action::Run { command: String::new() }, None);
        let output = Output { text: step.text.clone(), ..Output::default() };
        deed.ended = ended("terminal", &deed.action, Some(&output));
        deeds.push(deed);
    }
}

fn deed<'c>(
    place: Place,
    tool: &'c str,
    arguments: Option<&'c Value>,
    action: Action,
    output: Option<&'c Output>,
) -> Deed<'c> {
    let ended = ended(tool, &action, output);
    let command = match &action {
        Action::Run { command } if !command.is_empty() => Some(command.as_str()),
        _ => None,
    };
    let line = command.map(Line::read);
    let is_check = command.is_some_and(is_verification) && !line.as_ref().is_some_and(|line| prepares(line.main()));
    let is_look = match &action {
        Action::Run { .. } => command.is_some_and(is_look),
        Action::Read { .. } | Action::Fetch => true,
        _ => false,
    };
    Deed { place, tool, arguments, action, line, ended, output, is_look, is_check }
}
