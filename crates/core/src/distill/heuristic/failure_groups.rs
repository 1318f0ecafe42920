//! Failures grouped by error family, with everything that is known about each group.

use std::collections::{BTreeMap, BTreeSet};

use super::super::unchecked_candidate::StepReference;
use super::action_timeline::{ActionTimeline, AgentAction};
use super::agent_packages;
use super::command_comparison::{CommandDifference, ComparableCommand};
use super::displayed_command;
use super::failure_cause::FailureCause;
use super::reason_line;
use super::remedy::{self, FailureRemedy, RemedyKind};
use super::sentence_text::{any_listed, is_uninformative};
use crate::context::{Signal, SignalKind, is_read_only_command};
use crate::distill::verify::find_weakening;
use crate::domain::{DropReason, EpisodeId, EpisodeStatus, ErrorFamily};
use crate::text::shell_lexer::is_assignment;

#[cfg(test)]
#[path = "failure_groups_tests.rs"]
mod tests;

/// The number of failures of one family that make it more than a slip.
const OFTEN: u32 = 3;

/// The number of sessions in which an undefined name is more than a slip.
const ENOUGH_SESSIONS: usize = 3;

/// The number of failures that is enough for limits that others set.
const OFTEN_LIMIT: u32 = 2;

/// The number of commands for which a remedy is looked for.
const TRIED: usize = 16;

/// Programs whose failures are routine.
const EVERYDAY: &str = "git|cp|mv|rm|mkdir|touch|ln|cd|curl|wget|tar|unzip|kill|pkill|killall|gh|sed|awk|xargs|tee|test|echo|ssh|\
    scp|find|lsof|sleep|wait|pgrep|which|true|chmod";

/// Words that a command may share with fetched text without having taken them from it.
const HARMLESS: &str = "sudo|apt|apt-get|brew|python|python3|pip|pip3|venv|virtualenv|npm|pnpm|yarn|npx|uv|poetry|conda|cargo|\
    bundle|gem|node|nvm|use|install|update|upgrade|sync|add|cache|clean|login|activate|source|export";

/// The number of actions before a failure that may have started what it waits for.
const JUST_STARTED: usize = 3;

/// The failures of one error family.
#[derive(Debug)]
pub(super) struct FailureGroup {
    pub(super) family: ErrorFamily,
    pub(super) class: String,
    pub(super) headline: String,
    pub(super) tool: String,
    pub(super) cause: FailureCause,
    /// The indices of the actions that failed so, as far as they are kept.
    pub(super) actions: Vec<usize>,
    /// The first place where it was seen, for each trajectory.
    pub(super) places: BTreeMap<u32, StepReference>,
    pub(super) times: u32,
    /// True if the error was fetched and the remedy was not: only the agent's own words are used.
    pub(super) is_fetched: bool,
    /// Earlier episodes that met it.
    pub(super) earlier: Vec<EpisodeId>,
    /// Every episode of this context that met it.
    pub(super) episodes: BTreeSet<EpisodeId>,
    pub(super) remedy: Option<FailureRemedy>,
    /// True if a flaky test causes it, which is reported as such.
    is_flaky: bool,
}

/// The reason why a failure is worth a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LessonReason {
    /// The log shows a remedy.
    Mended,
    /// The failure keeps recurring.
    Recurring,
}

/// Groups all failures by error family, in the order of their first appearance.
pub(super) fn group_failures(timeline: &ActionTimeline<'_>) -> Vec<FailureGroup> {
    let mut groups: Vec<FailureGroup> = Vec::new();
    let mut known: BTreeMap<ErrorFamily, usize> = BTreeMap::new();
    let mut slot = |groups: &mut Vec<FailureGroup>, family: &ErrorFamily, fresh: &dyn Fn() -> FailureGroup| {
        *known.entry(family.clone()).or_insert_with(|| {
            groups.push(fresh());
            groups.len() - 1
        })
    };
    let signals = timeline.context.signals.iter();
    let of_provider: Vec<&str> =
        signals.filter(|one| one.tool.as_deref() == Some("model")).filter_map(|one| one.quote.as_deref()).collect();
    for (index, agent_action) in timeline.actions.iter().enumerate() {
        let Some(fault) = agent_action.failure() else { continue };
        // A provider's message has a step of its own; its signal says more.
        if agent_action.tool.is_empty() && of_provider.contains(&fault.headline.as_str()) {
            continue;
        }
        let fresh = || {
            let inner =
                agent_action.output.and_then(|output| reason_line::find_inner_reason(&output.text, &fault.headline));
            let headline = inner.unwrap_or(&fault.headline);
            let mut group = FailureGroup::new(&fault.family, fault.class, headline, agent_action.tool);
            // A check without a known phrase is about the code.
            if agent_action.is_check && group.cause == FailureCause::Unknown {
                group.cause = FailureCause::Code;
            }
            if agent_action.line.is_some()
                && FailureCause::is_sandbox_denial(headline)
                && timeline.is_sandboxed(agent_action.place.trajectory)
            {
                group.cause = FailureCause::Sandbox;
            }
            if matches!(&group.cause, FailureCause::Module(Some(name)) if agent_packages::is_project_module(timeline, index, name))
            {
                group.cause = FailureCause::Code;
            }
            group
        };
        let at = slot(&mut groups, &fault.family, &fresh);
        if let Some(group) = groups.get_mut(at) {
            group.actions.push(index);
            group.times = group.times.saturating_add(1);
            group.places.entry(agent_action.place.trajectory).or_insert(agent_action.place);
        }
    }
    for signal in &timeline.context.signals {
        let Some(family) = &signal.error_family else { continue };
        let class = signal.error_class.as_deref().unwrap_or_default();
        let quote = signal.quote.as_deref().unwrap_or_default();
        let fresh = || FailureGroup::new(family, class, quote, signal.tool.as_deref().unwrap_or_default());
        let at = slot(&mut groups, family, &fresh);
        if let Some(group) = groups.get_mut(at) {
            group.add_signal(signal);
        }
    }
    for group in &mut groups {
        group.episodes = group.places.keys().map(|index| timeline.owning_episode(*index)).collect();
        let earlier = timeline.context.related_episodes.iter().filter(|one| one.error_families.contains(&group.family));
        group.earlier = earlier.map(|one| one.id.clone()).collect();
        group.remedy = group.find_remedy(timeline);
        group.discard_fetched_text(timeline);
    }
    groups
}

/// Tells whether a provider says that it never accepts such a request.
fn is_provider_refusal(headline: &str) -> bool {
    const REFUSALS: &str =
        "exceeds|exceeded|maximum|too large|blocked|does not exist|invalid|not supported|unsupported|policy";
    let lower = headline.to_lowercase();
    any_listed(REFUSALS, |words| lower.contains(words))
}

impl FailureGroup {
    fn new(family: &ErrorFamily, class: &str, headline: &str, tool: &str) -> Self {
        Self {
            family: family.clone(),
            class: class.to_owned(),
            headline: headline.to_owned(),
            tool: tool.to_owned(),
            cause: FailureCause::classify(class, headline),
            actions: Vec::new(),
            places: BTreeMap::new(),
            times: 0,
            is_fetched: false,
            earlier: Vec::new(),
            episodes: BTreeSet::new(),
            remedy: None,
            is_flaky: false,
        }
    }

    /// Returns another agent that finished the same task, where this one ran out of time.
    pub(super) fn find_rival_agent(&self, timeline: &ActionTimeline<'_>) -> Option<String> {
        let first = self.places.keys().next().copied().unwrap_or_default();
        (self.cause == FailureCause::Time && self.tool != "model").then(|| timeline.find_rival_agent(first)).flatten()
    }

    /// Adds what a signal says: steps may have been dropped from the context, signals are not.
    fn add_signal(&mut self, signal: &Signal) {
        let place = StepReference { trajectory: signal.trajectory, step: signal.step };
        let seen = signal.also.iter().map(|seen| StepReference { trajectory: seen.trajectory, step: seen.step });
        match signal.kind {
            SignalKind::FlakyTest => {
                self.is_flaky = !self.cause.is_limit();
                return;
            }
            SignalKind::Fixed => return,
            _ => {}
        }
        for place in seen.chain([place]) {
            self.places.entry(place.trajectory).or_insert(place);
        }
        self.times = self.times.max(signal.times);
    }

    /// Returns the clearest remedy of any trajectory.
    fn find_remedy(&self, timeline: &ActionTimeline<'_>) -> Option<FailureRemedy> {
        let mut tried = BTreeSet::new();
        let mut best: Option<FailureRemedy> = None;
        for &index in self.actions.iter().rev() {
            let Some(agent_action) = timeline.actions.get(index) else { continue };
            let key =
                (agent_action.place.trajectory, agent_action.line.as_ref().map(|line| line.main_words().to_vec()));
            if tried.len() >= TRIED || !tried.insert(key) {
                continue;
            }
            // What the sandbox forbids stays forbidden, unless something is set before the same command.
            let helps = |found: &FailureRemedy| {
                self.cause != FailureCause::Sandbox
                    || matches!(found.how, RemedyKind::Instead(CommandDifference::Before, _))
            };
            match remedy::find_remedy(timeline, index, &self.cause).filter(helps) {
                Some(found) if found.how.is_actionable() => return Some(found),
                found => best = best.or(found),
            }
        }
        best
    }

    /// Discards fetched text. A program that fetches, such as a package manager, repeats what others wrote. Where the
    /// agent found the remedy by itself, its own commands suffice.
    fn discard_fetched_text(&mut self, timeline: &ActionTimeline<'_>) {
        let mut actions = self.actions.iter().filter_map(|index| timeline.actions.get(*index)).peekable();
        let is_fetched = actions.peek().is_some()
            && actions.all(|agent_action| agent_action.is_web_output() && agent_action.line.is_some());
        let Some(remedy) = self.remedy.as_ref().filter(|remedy| is_fetched && remedy.how.is_actionable()) else {
            return;
        };
        let Some(failed) = timeline.actions.get(remedy.failed) else { return };
        let run = failed.command().unwrap_or_default();
        let output = failed.output.map_or("", |output| output.text.as_str());
        // Flags belong to the program; any other word that also appears in the fetched text may come from there.
        let is_theirs = |word: &str| {
            let is_flag = word.starts_with('-') && !word.contains('=');
            // The name of a variable is harmless; its value may come from the fetched text.
            let word = word.split_once('=').filter(|_| is_assignment(word)).map_or(word, |(_, value)| value);
            let pieces = word.split(|c: char| !c.is_alphanumeric()).filter(|piece| piece.len() > 2);
            let is_new = |piece: &&str| !any_listed(HARMLESS, |known| known == *piece) && !run.contains(*piece);
            !is_flag && pieces.filter(is_new).any(|piece| output.contains(piece))
        };
        if remedy.named_commands(timeline).iter().any(|command| command.split_whitespace().any(is_theirs)) {
            return;
        }
        self.is_fetched = true;
        match &mut self.cause {
            FailureCause::Module(name)
            | FailureCause::Program(name)
            | FailureCause::Variable(name)
            | FailureCause::Port(name) => {
                *name = name.take().filter(|name| run.contains(name.as_str()));
            }
            _ => {}
        }
    }

    /// Tells whether the log shows a remedy that others can use.
    pub(super) fn is_remedied(&self, timeline: &ActionTimeline<'_>) -> bool {
        let Some(remedy) = self.remedy.as_ref().filter(|remedy| remedy.how.is_actionable()) else { return false };
        if remedy
            .named_commands(timeline)
            .iter()
            .any(|command| displayed_command::contains_secret(command) || find_weakening(command).is_some())
        {
            return false;
        }
        let is_once = self.times < 2 && self.episode_count() < 2;
        match (&self.cause, &remedy.how) {
            // For an unknown cause nobody can tell what helped, unless the output suggested it.
            (FailureCause::Unknown, RemedyKind::After(actions)) if is_once => {
                remedy::are_suggested_by_failure(timeline, remedy.failed, actions)
            }
            // Forgetting to build after an edit says nothing about the project.
            (FailureCause::Code | FailureCause::Unknown, RemedyKind::After(actions)) => {
                !remedy::is_only_rebuild(timeline, remedy.failed, actions)
            }
            // Another way to look at a file shows something else.
            (FailureCause::Program(Some(name)), RemedyKind::Instead(..)) => {
                let failed = timeline.actions.get(remedy.failed).and_then(AgentAction::command);
                let worked = timeline.actions.get(remedy.worked).and_then(AgentAction::command);
                !failed.is_some_and(is_read_only_command) || worked.is_some_and(|worked| worked.contains(name.as_str()))
            }
            // A single question may be about anything.
            (_, RemedyKind::Person) => self.times >= 2,
            // A service that was just started needs time.
            (FailureCause::Service | FailureCause::Network, RemedyKind::Wait) => {
                let start = remedy.failed.saturating_sub(JUST_STARTED);
                !timeline.actions.iter().take(remedy.failed).skip(start).any(AgentAction::is_background)
            }
            _ => true,
        }
    }

    /// Describes what a lesson about it rests on.
    pub(super) fn describe_basis(&self, timeline: &ActionTimeline<'_>) -> &'static str {
        let how = self.remedy.as_ref().filter(|_| self.is_remedied(timeline)).map(|remedy| &remedy.how);
        match how {
            Some(RemedyKind::Instead(..)) => "the same done in another way passed",
            Some(RemedyKind::After(_)) => "it passed after something else was done",
            Some(RemedyKind::MoreTime(_) | RemedyKind::Background | RemedyKind::Wait) => {
                "it passed when it was given time"
            }
            Some(RemedyKind::In(_)) => "it passed in another folder",
            Some(RemedyKind::Person) => "only a person could clear it",
            _ if self.cause == FailureCause::Sandbox => "the agent's sandbox forbids it",
            _ if self.cause.is_limit() => "a limit that others set",
            _ => "nothing mended it",
        }
    }

    /// Tells whether a trajectory ended with it, so that it cost the session.
    fn ends_trajectory(&self, timeline: &ActionTimeline<'_>) -> bool {
        const LAST_STEPS: u32 = 2;
        self.places.values().any(|place| {
            let last =
                timeline.find_trajectory(place.trajectory).and_then(|one| one.steps.last()).map(|step| step.number);
            last.is_some_and(|last| place.step + LAST_STEPS >= last)
        })
    }

    /// Returns the number of episodes that are known to have met it.
    pub(super) fn episode_count(&self) -> usize {
        self.episodes.len() + self.earlier.len()
    }

    /// Returns the reason why it is worth a lesson, or why not; `None` if it is not worth mentioning.
    pub(super) fn judge_worth(
        &self,
        timeline: &ActionTimeline<'_>,
    ) -> Option<Result<LessonReason, (DropReason, &'static str)>> {
        let actions: Vec<_> = self.actions.iter().filter_map(|index| timeline.actions.get(*index)).collect();
        // An action made it pass, so it was no chance.
        let is_chance = self.is_flaky && !matches!(&self.remedy, Some(FailureRemedy { how: RemedyKind::After(_), .. }));
        if is_chance || self.cause == FailureCause::Edit || self.headline.is_empty() {
            return None;
        }
        let is_missing_program = matches!(self.cause, FailureCause::Program(_));
        let is_look = !actions.is_empty() && actions.iter().all(|agent_action| agent_action.is_look);
        if is_look && !self.cause.is_limit() && !is_missing_program {
            return None;
        }
        if is_uninformative(&self.headline) && !self.cause.is_limit() {
            return Some(Err((DropReason::Vague, "it says no more than that something failed")));
        }
        let one_off = Some(Err((DropReason::OneOff, "it happened once, or was mended in the code at hand")));
        let is_known = self.episode_count() >= 2;
        let has_failed = matches!(timeline.context.episode.status, EpisodeStatus::Failed);
        let often = match self.cause {
            // The size of a context window does not change by itself, and the message names it.
            FailureCause::Room if names_large_number(&self.headline) => 1,
            _ if self.cause.is_limit() => OFTEN_LIMIT,
            _ => OFTEN,
        };
        let is_often = self.times >= often || is_known;
        let how = self.remedy.as_ref().map(|remedy| &remedy.how);
        let is_clear = self.is_remedied(timeline);
        if let (FailureCause::Module(Some(name)), Some(first)) = (&self.cause, self.actions.first())
            && agent_packages::is_imported_by_agent(timeline, *first, name)
        {
            return one_off;
        }
        let line = actions.iter().rev().find_map(|agent_action| agent_action.line.as_ref());
        let is_everyday =
            line.is_some_and(|line| line.is_script || any_listed(EVERYDAY, |known| known == line.program_name()));
        // A query of a state has to wait, or is put in another way.
        let is_asked_again = !self.cause.is_environmental()
            && matches!(
                how,
                Some(RemedyKind::Instead(CommandDifference::Flags, _) | RemedyKind::In(_) | RemedyKind::Person)
            );
        if line.is_some_and(ComparableCommand::is_query)
            && !is_known
            && (self.cause == FailureCause::Time || is_asked_again)
        {
            return one_off;
        }
        let is_own_matter = matches!(
            self.cause,
            FailureCause::Lock
                | FailureCause::Login
                | FailureCause::Version
                | FailureCause::Service
                | FailureCause::Program(_)
                | FailureCause::Variable(_)
        );
        if is_clear && (!is_everyday || is_own_matter || how == Some(&RemedyKind::Person)) {
            return Some(Ok(LessonReason::Mended));
        }
        if is_everyday && !is_known && !self.cause.is_limit() {
            return one_off;
        }
        // A failure without a remedy is only recorded, unless others set the limit or it lies outside the code.
        let is_told = match self.cause {
            _ if self.cause.is_limit() => {
                is_often
                    || (has_failed
                        && self.cause != FailureCause::Patience
                        && how.is_none()
                        && self.ends_trajectory(timeline))
            }
            // A provider refuses the request: the session need not fail for it. A provider that is down comes back.
            _ if self.tool == "model" && is_provider_refusal(&self.headline) => is_often,
            FailureCause::Sandbox => true,
            FailureCause::Name(_) => self.episode_count() >= ENOUGH_SESSIONS,
            _ => is_often && self.cause.is_environmental(),
        };
        let worth = is_told.then_some(LessonReason::Recurring);
        worth.map(Ok).or(one_off)
    }
}

/// Tells whether a message names a number of at least four digits.
fn names_large_number(message: &str) -> bool {
    message.split(|c: char| !c.is_ascii_digit() && c != ',').any(|number| number.len() >= 4)
}
