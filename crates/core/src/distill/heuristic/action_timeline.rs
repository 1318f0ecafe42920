//! Every action of a session in order, and how it ended.

use serde_json::Value;

use super::super::unchecked_candidate::StepReference;
use super::command_comparison::ComparableCommand;
use super::command_purpose::is_preparation;
use crate::context::{
    CallFailure, CallOutcome, ReflectionContext, ToolAction, is_read_only_command, is_verification, read_call_outcome,
};
use crate::domain::{Episode, EpisodeId, EpisodeStatus, Speaker, Step, ToolOutput, Trajectory, TrustClass};
use crate::text::shell_lexer::{CommandSeparator, split_commands};

/// The number of first steps in which the harness says where the agent works.
const HARNESS_STEPS: usize = 8;

/// One tool call and its output.
#[derive(Debug)]
pub(super) struct AgentAction<'c> {
    pub(super) place: StepReference,
    pub(super) tool: &'c str,
    pub(super) arguments: Option<&'c Value>,
    pub(super) action: ToolAction,
    pub(super) line: Option<ComparableCommand>,
    pub(super) ended: CallOutcome,
    pub(super) output: Option<&'c ToolOutput>,
    /// True if it only looks.
    pub(super) is_look: bool,
    /// True if it runs tests, a build, a type check or a linter.
    pub(super) is_check: bool,
}

impl AgentAction<'_> {
    /// Returns the command, if one was run.
    pub(super) fn command(&self) -> Option<&str> {
        match &self.action {
            ToolAction::Run { command } if !command.is_empty() => Some(command),
            _ => None,
        }
    }

    /// Returns how it failed, if it did.
    pub(super) fn failure(&self) -> Option<&CallFailure> {
        match &self.ended {
            CallOutcome::Failed(fault) => Some(fault),
            _ => None,
        }
    }

    pub(super) fn has_passed(&self) -> bool {
        self.ended == CallOutcome::Passed
    }

    /// Tells whether the output was fetched from the web.
    pub(super) fn is_web_output(&self) -> bool {
        self.output.is_some_and(|output| output.trust == Some(TrustClass::Web))
    }

    /// Returns the time limit among its arguments, in milliseconds.
    pub(super) fn time_limit(&self) -> Option<u64> {
        ["timeout", "timeout_ms", "timeoutMs"].iter().find_map(|key| self.arguments?.get(key)?.as_u64())
    }

    /// Tells whether it was sent to the background.
    pub(super) fn is_background(&self) -> bool {
        let asked = ["run_in_background", "background", "is_background"]
            .iter()
            .any(|key| self.arguments.and_then(|given| given.get(key)).and_then(Value::as_bool).unwrap_or_default());
        let separator = |command: &str| split_commands(command).last().map(|last| last.separator);
        asked || self.command().and_then(separator) == Some(CommandSeparator::Background)
    }

    /// Returns the folder that its arguments name.
    pub(super) fn argument_folder(&self) -> Option<&str> {
        ["workdir", "cwd"].iter().find_map(|key| self.arguments?.get(key)?.as_str())
    }
}

/// The actions of all trajectories, in order.
#[derive(Debug)]
pub(super) struct ActionTimeline<'c> {
    pub(super) context: &'c ReflectionContext,
    pub(super) actions: Vec<AgentAction<'c>>,
}

impl<'c> ActionTimeline<'c> {
    pub(super) fn from_context(context: &'c ReflectionContext) -> Self {
        let mut actions = Vec::new();
        for (index, trajectory) in context.trajectories.iter().enumerate() {
            let Ok(trajectory_index) = u32::try_from(index) else { break };
            for step in trajectory.steps.iter().filter(|step| !step.copied) {
                add_step_actions(StepReference { trajectory: trajectory_index, step: step.number }, step, &mut actions);
            }
        }
        Self { context, actions }
    }

    pub(super) fn find_trajectory(&self, index: u32) -> Option<&'c Trajectory> {
        self.context.trajectories.get(usize::try_from(index).ok()?)
    }

    /// Returns the folder that a trajectory worked in.
    pub(super) fn working_folder(&self, index: u32) -> &str {
        let told = self.find_trajectory(index).and_then(|trajectory| trajectory.about.directory.as_deref());
        told.unwrap_or(&self.context.project_root)
    }

    /// Returns the agent of a trajectory, else the vendor of its model, in lower case.
    pub(super) fn agent_name(&self, index: u32) -> Option<String> {
        let about = &self.find_trajectory(index)?.about;
        about.agent.clone().or_else(|| about.model.as_deref().map(guess_vendor)).map(|name| name.to_lowercase())
    }

    /// Returns another agent that succeeded at the same task, so that the failure is this agent's own.
    pub(super) fn find_rival_agent(&self, index: u32) -> Option<String> {
        let (own, task) = (self.agent_name(index)?, self.context.episode.task_id.as_ref()?);
        let did_well =
            |other: &&Episode| other.status == EpisodeStatus::Success && other.task_id.as_ref() == Some(task);
        // The first tag of an episode is its agent.
        let mut others = self.context.related_episodes.iter().filter(did_well).filter_map(|other| other.tags.first());
        others.find(|agent| **agent != own).cloned()
    }

    /// Returns the episode of a trajectory: its own if it is a session of its own, else the one that is reflected on.
    pub(super) fn owning_episode(&self, index: u32) -> EpisodeId {
        let episode = &self.context.episode;
        if let Some(owner) = usize::try_from(index).ok().and_then(|index| self.context.owners.get(index)) {
            return owner.clone();
        }
        let own =
            self.find_trajectory(index).filter(|one| one.outcome.is_some() && one.about.parent_session_id.is_none());
        let name = own.and_then(|one| one.about.trajectory_id.as_deref().or(one.about.session_id.as_deref()));
        let is_one_of_many = self.context.trajectories.len() > 1;
        match name.filter(|_| is_one_of_many) {
            Some(name) => EpisodeId::for_session(episode.repo_id.as_deref().unwrap_or(&episode.project_root), name),
            None => episode.id.clone(),
        }
    }

    /// Tells whether the user said something, or answered a question, between two actions of a trajectory.
    pub(super) fn has_user_spoken_between(&self, before: &AgentAction<'_>, after: &AgentAction<'_>) -> bool {
        let Some(trajectory) = self.find_trajectory(before.place.trajectory) else { return false };
        let start = trajectory.steps.partition_point(|step| step.number <= before.place.step);
        let mut between = trajectory.steps.iter().skip(start).take_while(|step| step.number < after.place.step);
        between.any(|step| {
            let is_asked = step.calls.iter().any(|call| is_question_tool(&call.tool) && call.output.is_some());
            !step.copied && (step.speaker == Speaker::User || is_asked)
        })
    }

    /// Tells whether the harness says that the agent works in a sandbox.
    pub(super) fn is_sandboxed(&self, index: u32) -> bool {
        let is_said = |step: &&Step| step.speaker == Speaker::System && step.text.contains("sandbox");
        self.find_trajectory(index).is_some_and(|one| one.steps.iter().take(HARNESS_STEPS).any(|step| is_said(&step)))
    }

    /// Returns the number of sessions that are read together.
    pub(super) fn session_count(&self) -> usize {
        let mut episodes: Vec<EpisodeId> = (0..self.context.trajectories.len())
            .filter_map(|index| Some(self.owning_episode(u32::try_from(index).ok()?)))
            .collect();
        episodes.sort();
        episodes.dedup();
        episodes.len()
    }
}

/// Tells whether a tool asks the user something.
fn is_question_tool(tool: &str) -> bool {
    matches!(
        tool,
        "AskUserQuestion" | "request_user_input" | "ask_followup_question" | "question" | "ask_user" | "AskQuestion"
    )
}

/// Returns the vendor of a model, as far as its name tells.
fn guess_vendor(model: &str) -> String {
    let known = [("claude", "anthropic"), ("gpt", "openai"), ("o1", "openai"), ("o3", "openai"), ("gemini", "google")];
    let found = known.iter().find(|(prefix, _)| model.starts_with(prefix)).map(|(_, vendor)| (*vendor).to_owned());
    found.unwrap_or_else(|| model.split([':', '/']).next().unwrap_or(model).to_owned())
}

fn add_step_actions<'c>(place: StepReference, step: &'c Step, actions: &mut Vec<AgentAction<'c>>) {
    // An output of a step as a whole belongs to the last of its calls that has none.
    let waiting = step.calls.iter().rposition(|call| call.output.is_none());
    for (at, call) in step.calls.iter().enumerate() {
        let lone = step.outputs.first().filter(|_| waiting == Some(at));
        let action = ToolAction::from_call(&call.tool, &call.arguments);
        actions.push(read_action(place, &call.tool, Some(&call.arguments), action, call.output.as_ref().or(lone)));
    }
    if step.calls.is_empty() {
        for output in &step.outputs {
            actions.push(read_action(place, "", None, ToolAction::Other, Some(output)));
        }
    }
    if step.speaker == Speaker::Tool && step.calls.is_empty() && step.outputs.is_empty() {
        let mut agent_action = read_action(place, "terminal", None, ToolAction::Run { command: String::new() }, None);
        let output = ToolOutput { text: step.text.clone(), ..ToolOutput::default() };
        agent_action.ended = read_call_outcome("terminal", &agent_action.action, Some(&output));
        actions.push(agent_action);
    }
}

fn read_action<'c>(
    place: StepReference,
    tool: &'c str,
    arguments: Option<&'c Value>,
    action: ToolAction,
    output: Option<&'c ToolOutput>,
) -> AgentAction<'c> {
    let ended = read_call_outcome(tool, &action, output);
    let command = match &action {
        ToolAction::Run { command } if !command.is_empty() => Some(command.as_str()),
        _ => None,
    };
    let line = command.map(ComparableCommand::parse);
    let is_check =
        command.is_some_and(is_verification) && !line.as_ref().is_some_and(|line| is_preparation(line.main_words()));
    let is_look = match &action {
        ToolAction::Run { .. } => command.is_some_and(is_read_only_command),
        ToolAction::Read { .. } | ToolAction::Fetch => true,
        _ => false,
    };
    AgentAction { place, tool, arguments, action, line, ended, output, is_look, is_check }
}
