//! Gathers what log readers report: trajectories without secrets, statistics, signals.
//!
//! It works in one pass and in bounded memory. Long texts lose their middle; when a log is very long, quiet steps in
//! its middle are dropped, but those that a signal rests on only as a last resort.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::clipped_words::ClippedWords;
use super::failure::{
    self, DetectedFailure, FailureClass, LoggedResult, identify_family, is_verification, read_test_outcome,
};
use super::injection_removal;
use super::log_statistics::{LogStatistics, TrajectoryCounts};
use super::redact_gathered;
use super::reflection::SessionSummary;
use super::signal::Signal;
use super::signal_mining::{ReturnOutcome, ReturnedCall, SignalMiner, StepPlace};
use super::step_buffer::StepBuffer;
use super::text_clipping;
use super::tool_action::ToolAction;
use super::trust_class;
use crate::domain::{
    EventSink, Happening, LogReference, OutputOwner, SessionDetails, SessionOutcome, Speaker, Step, TokenUsage,
    ToolCall, ToolOutput, Trajectory, TrajectoryEvent, TrustClass,
};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "trajectory_collector_tests.rs"]
mod tests;

/// The number of calls remembered for their output. Beyond this, answered calls are forgotten, then all of them.
const MAX_CALLS: usize = 4096;

/// The number of steps whose usage may still be corrected.
const MAX_SPENT: usize = 32 * 1024;

/// The number of copied steps that are remembered.
const MAX_COPIED: usize = 64 * 1024;

/// The number of trajectories that are kept; later ones are only counted.
const MAX_TRAJECTORIES: usize = 10_000;

/// The number of bytes that the kept steps of a trajectory may take.
const ROOM_BYTES: usize = 24 * 1024 * 1024;

/// The number of bytes that kept steps may take where only counts and signals are wanted.
const BRIEF_BYTES: usize = 2 * 1024 * 1024;

/// The number of bytes of injected lessons that are remembered.
const MAX_GIVEN_BYTES: usize = 64 * 1024;

/// Everything gathered from one log, or from all logs of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GatheredLogs {
    /// The trajectories, without secrets.
    pub trajectories: Vec<Trajectory>,
    /// The signals found in them.
    pub signals: Vec<Signal>,
    /// Counts of everything that was read.
    pub survey: LogStatistics,
    /// The blocks of lessons injected into the session, from any source.
    pub given: Vec<String>,
    /// The fingerprints of outputs that are kept only in part.
    pub clipped: Vec<ClippedWords>,
}

/// A call that waits for its output or already has one; some outputs come in pieces.
#[derive(Debug, Clone)]
struct TrackedCall {
    step: u32,
    tool: String,
    action: ToolAction,
    is_copied: bool,
    is_answered: bool,
    /// The directory in which it runs, if the call names it.
    directory: Option<String>,
}

/// Gathers the events of log readers.
#[derive(Debug)]
pub struct LogGatherer<'r> {
    redactor: &'r Redactor,
    miner: SignalMiner,
    keep: StepBuffer,
    survey: LogStatistics,
    done: Vec<Trajectory>,
    /// The number of finished trajectories, kept or not.
    over: u32,
    current: OpenTrajectory,
    /// The number of references already returned.
    referred: usize,
    /// The lessons that were injected.
    given: Vec<String>,
    clipped: Vec<ClippedWords>,
}

/// The trajectory that is being read.
#[derive(Debug, Default)]
struct OpenTrajectory {
    about: SessionDetails,
    outcome: Option<SessionOutcome>,
    counts: TrajectoryCounts,
    /// The usage of the last steps, and the sum of those before them.
    spent: BTreeMap<u32, TokenUsage>,
    spent_before: TokenUsage,
    total: TokenUsage,
    calls: HashMap<String, TrackedCall>,
    /// The last step that made calls, with the ids of those calls.
    calling: (u32, Vec<String>),
    /// The last steps that were copied from elsewhere.
    copied: BTreeSet<u32>,
    last_step: u32,
    is_begun: bool,
}

impl OpenTrajectory {
    /// Returns the log's own total, else the sum over the steps, added in their order so that it is reproducible.
    fn total_usage(&self) -> TokenUsage {
        self.total.or_usage(self.spent.values().fold(self.spent_before, |sum, usage| sum.add_usage(*usage)))
    }
}

/// The amount gathered up to some point.
#[derive(Debug, Clone, Copy)]
pub struct GatheringProgress {
    trajectories: usize,
    counts: TrajectoryCounts,
    usage: TokenUsage,
}

impl<'r> LogGatherer<'r> {
    /// Creates an empty gatherer that keeps everything a reflection may quote.
    pub fn new(redactor: &'r Redactor) -> Self {
        Self::with_room(redactor, ROOM_BYTES)
    }

    /// Creates an empty gatherer for counts and signals; it keeps only the beginning and the end of long logs.
    pub fn new_brief(redactor: &'r Redactor) -> Self {
        Self::with_room(redactor, BRIEF_BYTES)
    }

    fn with_room(redactor: &'r Redactor, room: usize) -> Self {
        Self {
            redactor,
            miner: SignalMiner::default(),
            keep: StepBuffer::new(room),
            survey: LogStatistics::default(),
            done: Vec::new(),
            over: 0,
            current: OpenTrajectory::default(),
            referred: 0,
            given: Vec::new(),
            clipped: Vec::new(),
        }
    }

    /// Closes the current trajectory, and returns how many are kept.
    pub fn close_and_count(&mut self) -> usize {
        self.close_trajectory();
        self.done.len()
    }

    /// Returns the amount gathered so far.
    pub fn current_progress(&self) -> GatheringProgress {
        let survey = &self.survey;
        let mut counts = survey.counts.plus(survey.subagents);
        counts = counts.plus(self.current.counts);
        GatheringProgress {
            trajectories: self.done.len(),
            counts,
            usage: survey.usage.add_usage(survey.subagent_usage).add_usage(self.current.total_usage()),
        }
    }

    /// Summarizes what was gathered since then as one session.
    pub fn summarize_since(&self, since: &GatheringProgress, path: &str, format: &str) -> SessionSummary {
        let now = self.current_progress();
        let first = self.done.get(since.trajectories);
        let (about, outcome) = match first {
            Some(trajectory) => (&trajectory.about, &trajectory.outcome),
            None => (&self.current.about, &self.current.outcome),
        };
        let mut summary = SessionSummary {
            session_id: about.session_id.clone(),
            format: format.to_owned(),
            path: path.to_owned(),
            agent: about.agent.clone(),
            model: about.model.clone(),
            started_at: about.started_at,
            finished_at: about.finished_at,
            outcome: outcome.clone(),
            steps: now.counts.steps.saturating_sub(since.counts.steps),
            tool_calls: now.counts.tool_calls.saturating_sub(since.counts.tool_calls),
            tool_errors: now.counts.tool_errors.saturating_sub(since.counts.tool_errors),
            usage: now.usage.subtract_usage(since.usage),
        };
        redact_gathered::redact_summary(&mut summary, self.redactor);
        summary
    }

    /// Returns the references to parts stored elsewhere that were not returned before.
    pub fn take_references(&mut self) -> Vec<LogReference> {
        let fresh = self.survey.elsewhere.get(self.referred..).unwrap_or_default().to_vec();
        self.referred += fresh.len();
        fresh
    }

    /// Ends gathering, and returns everything redacted.
    pub fn finish(mut self) -> GatheredLogs {
        self.close_trajectory();
        let (signals, left_out) = self.miner.finish();
        self.survey.signals_left_out = left_out;
        let Self { done: trajectories, survey, given, clipped, redactor, .. } = self;
        let mut gathered = GatheredLogs { trajectories, signals, survey, given, clipped };
        redact_gathered::redact_logs(&mut gathered, redactor);
        gathered
    }

    fn step_place(&self, step: u32) -> StepPlace {
        StepPlace { trajectory: self.trajectory_index(), step }
    }

    /// Returns the index of the current trajectory.
    fn trajectory_index(&self) -> u32 {
        self.over
    }

    /// Ends the current trajectory, if one has begun.
    fn close_trajectory(&mut self) {
        let current = std::mem::take(&mut self.current);
        if !current.is_begun {
            return;
        }
        let index = self.trajectory_index();
        let passed = self.miner.end_trajectory();
        let usage = current.total_usage();
        self.survey.add_trajectory(index, &current.about, current.counts, usage, passed);
        self.over = self.over.saturating_add(1);
        if self.done.len() >= MAX_TRAJECTORIES {
            self.survey.shed += self.keep.take_steps(|_| false).1;
            return;
        }
        let pinned = if self.keep.is_crowded() { self.miner.pinned_places() } else { HashSet::new() };
        let (steps, shed) = self.keep.take_steps(|step| pinned.contains(&StepPlace { trajectory: index, step }));
        self.survey.shed += shed;
        self.done.push(Trajectory { about: current.about, steps, outcome: current.outcome, usage });
    }

    fn add_step(&mut self, mut step: Step) {
        let at = self.step_place(step.number);
        self.current.is_begun = true;
        self.current.last_step = step.number;
        self.current.about.extend_time_span(step.at);
        self.current.counts.steps += 1;
        if step.copied {
            self.current.counts.copied_steps += 1;
            self.current.copied.insert(step.number);
            if self.current.copied.len() > MAX_COPIED {
                self.current.copied.pop_first();
            }
        }
        text_clipping::drop_control_strings(&mut step.text);
        self.strip_lessons(&mut step.text);
        match &step.speaker {
            _ if step.copied => {}
            Speaker::User if !step.text.trim().is_empty() => {
                self.current.counts.user_turns += 1;
                let text = self.clip_text(std::mem::take(&mut step.text));
                step.text = text_clipping::redact_clipped(text, self.redactor);
                self.miner.record_user_words(at, &step.text);
            }
            Speaker::Agent => self.miner.record_agent_activity(),
            Speaker::Tool => self.add_terminal_output(at, &mut step.text),
            _ => {}
        }
        if self.current.about.model.is_none() && step.subagent.is_none() {
            self.current.about.model.clone_from(&step.model);
        }
        step.trust = Some(trust_class::trust_of_words(&step.speaker));
        step.text = self.clip_text(step.text);
        step.reasoning = step.reasoning.take().map(|mut reasoning| {
            self.strip_lessons(&mut reasoning);
            self.clip_text(reasoning)
        });
        self.keep.push_step(step);
        self.drop_quiet_steps();
    }

    /// Drops quiet steps when there are too many.
    fn drop_quiet_steps(&mut self) {
        if self.keep.is_full() {
            let trajectory = self.trajectory_index();
            let pinned = self.miner.pinned_places();
            self.survey.shed += self.keep.drop_quiet_steps(|step| pinned.contains(&StepPlace { trajectory, step }));
        }
    }

    /// Adds terminal output that the log records as a person's step.
    fn add_terminal_output(&mut self, at: StepPlace, text: &mut String) {
        let action = ToolAction::Run { command: String::new() };
        let output = ToolOutput { text: std::mem::take(text), ..ToolOutput::default() };
        let output = self.process_output(at, "terminal", &action, None, output);
        // Redacted here, because the step's text is going to be clipped as a whole.
        *text = text_clipping::redact_clipped(output.text, self.redactor);
    }

    fn add_call(&mut self, step: u32, mut call: ToolCall) {
        self.current.is_begun = true;
        self.current.counts.tool_calls += 1;
        call.tool = redact_gathered::redact_label(call.tool, self.redactor);
        let action = redact_gathered::redact_action(ToolAction::from_call(&call.tool, &call.arguments), self.redactor);
        let directory = ["workdir", "cwd"].iter().find_map(|key| call.arguments.get(key)?.as_str()).map(str::to_owned);
        let is_copied = self.current.copied.contains(&step);
        if is_copied {
            self.current.counts.copied_tool_calls += 1;
        } else {
            self.miner.record_agent_activity();
        }
        let current = &mut self.current;
        if current.calls.len() >= MAX_CALLS {
            current.calls.retain(|_, made| !made.is_answered);
            if current.calls.len() >= MAX_CALLS {
                current.calls.clear();
            }
        }
        if current.calling.0 != step {
            current.calling = (step, Vec::new());
        }
        current.calling.1.push(call.id.clone());
        let made = TrackedCall { step, tool: call.tool.clone(), action, is_copied, is_answered: false, directory };
        current.calls.insert(call.id.clone(), made);
        self.strip_value_lessons(&mut call.arguments);
        call.arguments = self.keep.clip_arguments(call.arguments);
        self.keep.push_call(step, call);
    }

    fn add_output(&mut self, of: OutputOwner, mut output: ToolOutput) {
        self.current.is_begun = true;
        self.current.about.extend_time_span(output.at);
        text_clipping::drop_control_strings(&mut output.text);
        let made = self.find_call(&of);
        if injection_removal::is_archivist_tool(&made.tool)
            || made.action.command().is_some_and(injection_removal::is_recall_command)
        {
            self.survey.injected += 1;
            output.text = String::new();
        }
        let output = if made.is_copied {
            let trust = Some(trust_class::trust_of_output(&made.tool, &made.action, None));
            ToolOutput { text: self.clip_text(std::mem::take(&mut output.text)), trust, ..output }
        } else {
            self.process_output(self.step_place(made.step), &made.tool, &made.action, made.directory.as_deref(), output)
        };
        let id = match of {
            OutputOwner::Call(id) => Some(id),
            OutputOwner::Step(_) => None,
        };
        self.keep.push_output(made.step, id.as_deref(), output);
        self.drop_quiet_steps();
    }

    /// Finds the call that an output belongs to. The output of a whole step belongs to the last of its calls that runs
    /// something; an output whose call is missing belongs to the last step.
    fn find_call(&mut self, of: &OutputOwner) -> TrackedCall {
        let current = &mut self.current;
        let stand_in = |step: u32, is_copied: bool| {
            let (tool, action) = (String::new(), ToolAction::Other);
            TrackedCall { step, tool, action, is_copied, is_answered: true, directory: None }
        };
        match of {
            OutputOwner::Call(id) => {
                if let Some(made) = current.calls.get_mut(id) {
                    made.is_answered = true;
                    return made.clone();
                }
                self.survey.orphaned_outputs += 1;
                stand_in(current.last_step, current.copied.contains(&current.last_step))
            }
            OutputOwner::Step(step) => {
                let mut answered = None;
                if current.calling.0 == *step {
                    for id in &current.calling.1 {
                        let Some(made) = current.calls.get_mut(id).filter(|made| !made.is_answered) else { continue };
                        made.is_answered = true;
                        if answered.is_none() || made.action.command().is_some() {
                            answered = Some(made.clone());
                        }
                    }
                }
                answered.unwrap_or_else(|| stand_in(*step, current.copied.contains(step)))
            }
        }
    }

    /// Reads the result of a call, and returns its output in the form that is kept.
    fn process_output(
        &mut self,
        at: StepPlace,
        tool: &str,
        action: &ToolAction,
        directory: Option<&str>,
        mut output: ToolOutput,
    ) -> ToolOutput {
        let told = LoggedResult { failed: output.failed, exit_code: output.exit_code, interrupted: output.interrupted };
        let fingerprint = ClippedWords::of_long_output(at, &output.text, self.clipped.len());
        let command = action.command();
        let is_check = command.is_some_and(is_verification);
        let mut failure = failure::detect_failure(tool, command, &told, &output.text);
        // The failed tests are of interest only if there was a failure.
        let mut tests = (is_check && failure.is_some()).then(|| read_test_outcome(&output.text)).flatten();
        for name in tests.iter_mut().flat_map(|tests| &mut tests.names) {
            *name = redact_gathered::redact_label(std::mem::take(name), self.redactor);
        }
        self.current.counts.flagged_tool_errors += u64::from(output.failed == Some(true));
        let result = match &failure {
            None if has_no_result(&output.text) => ReturnOutcome::Void,
            None => ReturnOutcome::Passed,
            Some(failure) => self.classify_failure(tool, failure),
        };
        if let Some(found) = &failure {
            // Failures are quoted, so their words are redacted before they are read.
            let (text, is_changed) = text_clipping::redact_around(&output.text, &found.headline, self.redactor);
            output.text = text;
            if is_changed {
                failure = failure::detect_failure(tool, command, &told, &output.text);
            }
        } else {
            output.text = self.clip_text(std::mem::take(&mut output.text));
        }
        // A lesson in an output is no evidence; the failure was read before anything was removed.
        self.strip_tagged_lessons(&mut output.text);
        let is_error = failure.as_ref().is_some_and(|failure| failure.class != FailureClass::Lint);
        self.current.counts.tool_errors += u64::from(is_error);
        let result = match (result, &failure) {
            (ReturnOutcome::Failed(..), Some(failure)) => self.classify_failure(tool, failure),
            (result, _) => result,
        };
        let failed = failure.as_ref().map(|failure| (failure, output.text.as_str()));
        let trust = trust_class::trust_of_output(tool, action, failed);
        self.clipped.extend(fingerprint.map(|words| words.with_origin(&trust)));
        output.trust = Some(trust);
        let duration_ms = output.duration_ms;
        self.miner.record_returned_call(&ReturnedCall {
            at,
            tool,
            action,
            result,
            tests,
            is_check,
            duration_ms,
            directory,
        });
        output
    }

    /// Classifies the outcome of a call that did not pass.
    fn classify_failure(&self, tool: &str, failure: &DetectedFailure) -> ReturnOutcome {
        if failure.is_disregarded() {
            return ReturnOutcome::Void;
        }
        ReturnOutcome::Failed(failure.clone(), identify_family(tool, failure.class.as_str(), &failure.headline))
    }

    fn record_happening(&mut self, step: u32, what: Happening, text: &str) {
        let at = self.step_place(step);
        match what {
            Happening::Interrupted => self.miner.record_interruption(at),
            Happening::ApiError => {
                let text = text_clipping::redact_clipped(text.to_owned(), self.redactor);
                let told = LoggedResult { failed: Some(true), exit_code: None, interrupted: false };
                if let Some(failure) = failure::detect_failure("model", None, &told, &text) {
                    let family = identify_family("model", failure.class.as_str(), &failure.headline);
                    self.miner.record_provider_failure(at, failure, family);
                }
                // Kept with the step that it followed, so that it can be quoted.
                let (text, trust) = (self.clip_text(text), Some(TrustClass::ToolOutput));
                self.keep.push_output(
                    step,
                    None,
                    ToolOutput { text, trust, failed: Some(true), ..ToolOutput::default() },
                );
            }
            _ => {}
        }
        *self.survey.happenings.entry(what.as_str().to_owned()).or_default() += 1;
    }

    /// Records the latest usage of a step. The usage of steps too far back is final.
    fn record_usage(&mut self, step: u32, usage: TokenUsage) {
        self.miner.record_usage(self.step_place(step), usage);
        let current = &mut self.current;
        current.spent.insert(step, usage);
        if current.spent.len() > MAX_SPENT
            && let Some((_, usage)) = current.spent.pop_first()
        {
            current.spent_before = current.spent_before.add_usage(usage);
        }
    }

    /// Removes injected lessons from a text: they were shown, they did not happen.
    fn strip_lessons(&mut self, text: &mut String) {
        let stripped = injection_removal::strip_lessons(text);
        if !stripped.given.is_empty() {
            let (kept, given) = (stripped.text.into_owned(), stripped.given);
            *text = kept;
            self.remember_lessons(given);
        }
    }

    /// Removes tagged lessons only, from tool arguments and outputs, where a heading alone proves nothing.
    fn strip_tagged_lessons(&mut self, text: &mut String) {
        let stripped = injection_removal::strip_tagged_lessons(text);
        if !stripped.given.is_empty() {
            let (kept, given) = (stripped.text.into_owned(), stripped.given);
            *text = kept;
            self.remember_lessons(given);
        }
    }

    /// Remembers injected lessons, as far as there is room: who repeats one has not discovered it.
    fn remember_lessons(&mut self, blocks: Vec<String>) {
        for block in blocks {
            self.survey.injected += 1;
            let held: usize = self.given.iter().map(String::len).sum();
            if held + block.len() <= MAX_GIVEN_BYTES && !self.given.contains(&block) {
                self.given.push(block);
            }
        }
    }

    /// Removes tagged lessons from every string of a value.
    fn strip_value_lessons(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.strip_tagged_lessons(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.strip_value_lessons(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.strip_value_lessons(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn clip_text(&mut self, text: String) -> String {
        let (text, lost) = text_clipping::clip_middle(text);
        if lost > 0 {
            self.survey.cut.values += 1;
            self.survey.cut.bytes += lost;
        }
        text
    }
}

/// Returns true if a call that did not fail has no result yet, or checked nothing.
pub(super) fn has_no_result(text: &str) -> bool {
    let tail = text.get(text.floor_char_boundary(text.len().saturating_sub(2000))..).unwrap_or_default();
    let is_empty_run = ["ok. 0 passed; 0 failed", "no tests ran", "collected 0 items", "Ran 0 tests", "No tests found"];
    is_empty_run.iter().any(|words| tail.contains(words)) && !tail.contains(" 1 passed")
        || text.starts_with("Command running in background")
        || text.starts_with("Command was manually backgrounded")
}

impl EventSink for LogGatherer<'_> {
    fn receive_event(&mut self, event: TrajectoryEvent) {
        match event {
            TrajectoryEvent::Begin => self.close_trajectory(),
            TrajectoryEvent::About(about) => {
                self.current.is_begun = true;
                self.current.about.fill_from(*about);
            }
            TrajectoryEvent::Step(step) => self.add_step(*step),
            TrajectoryEvent::More(step, mut text, reasoning) => {
                self.strip_lessons(&mut text);
                let text = self.clip_text(text);
                let reasoning = reasoning.map(|reasoning| self.clip_text(reasoning));
                self.keep.append_text(step, &text, reasoning.as_deref());
            }
            TrajectoryEvent::Call(step, call) => self.add_call(step, call),
            TrajectoryEvent::Output(of, output) => self.add_output(of, output),
            TrajectoryEvent::Spent(step, usage) => {
                if !self.current.copied.contains(&step) {
                    self.record_usage(step, usage);
                }
            }
            TrajectoryEvent::Total(usage) => self.current.total = usage.or_usage(self.current.total),
            TrajectoryEvent::Happened(step, what, text) => self.record_happening(step, what, &text),
            TrajectoryEvent::Outcome(outcome) => {
                self.current.is_begun = true;
                self.current.outcome = Some(outcome);
            }
            TrajectoryEvent::Elsewhere(elsewhere) => self.survey.add_reference(elsewhere),
            TrajectoryEvent::Skipped(skipped) => self.survey.add_skipped(skipped),
            TrajectoryEvent::Breach(breach) => self.survey.add_breach(breach),
            TrajectoryEvent::Cut(cut) => {
                self.survey.cut.values += cut.values;
                self.survey.cut.bytes += cut.bytes;
            }
        }
    }
}
