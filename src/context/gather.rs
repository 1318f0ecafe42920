//! What a reader tells, put together: trajectories without secrets, counts, signals.
//!
//! It listens in one pass and in bounded memory. Long texts lose their middle; when the log goes on and on, quiet steps
//! are shed from its middle, never those that a signal rests on.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::action::Action;
use super::clip;
use super::failure::{self, Class, Failure, Told, family, is_verification, outcome_of_tests};
use super::injected;
use super::keep::Keep;
use super::mine::{Came, Miner, Place, Returned};
use super::reflection::SessionSummary;
use super::settle;
use super::signal::Signal;
use super::survey::{Counts, Survey};
use super::trust;
use crate::domain::{
    About, Call, Elsewhere, Event, Happening, Outcome, Output, OutputOf, Sink, Speaker, Step, Trajectory, TrustClass,
    Usage,
};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;

/// Calls that are remembered for their output. Logs that leave more of them open than this have no outputs.
const MAX_CALLS: usize = 4096;

/// Steps whose cost may still be corrected.
const MAX_SPENT: usize = 32 * 1024;

/// Copied steps that are remembered.
const MAX_COPIED: usize = 64 * 1024;

/// A log of more runs than this is counted to its end, but its later runs are not kept.
const MAX_TRAJECTORIES: usize = 10_000;

/// What the kept steps of a trajectory may take.
const ROOM_BYTES: usize = 24 * 1024 * 1024;

/// The same, where nobody is going to read them.
const BRIEF_BYTES: usize = 2 * 1024 * 1024;

/// Of lessons that were shown, as much is remembered.
const MAX_GIVEN_BYTES: usize = 64 * 1024;

/// What was gathered from one log, or from all logs of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gathered {
    /// Without secrets.
    pub trajectories: Vec<Trajectory>,
    /// What stands out in them.
    pub signals: Vec<Signal>,
    /// How much there was of everything.
    pub survey: Survey,
    /// Lessons that the session was given, block by block, whoever wrote them.
    pub given: Vec<String>,
}

/// A call that waits for its output, or has one: some come in pieces.
#[derive(Debug, Clone)]
struct Made {
    step: u32,
    tool: String,
    action: Action,
    is_copied: bool,
    is_answered: bool,
    /// Where it runs, if it says so.
    directory: Option<String>,
}

/// Listens to readers.
#[derive(Debug)]
pub struct Gathering<'r> {
    redactor: &'r Redactor,
    miner: Miner,
    keep: Keep,
    survey: Survey,
    done: Vec<Trajectory>,
    /// How many trajectories are over, kept or not.
    over: u32,
    current: Current,
    /// How many references were asked for.
    referred: usize,
    /// Lessons that were shown.
    given: Vec<String>,
}

/// The trajectory that is being told.
#[derive(Debug, Default)]
struct Current {
    about: About,
    outcome: Option<Outcome>,
    counts: Counts,
    /// What the last steps cost, and what those before them cost together.
    spent: BTreeMap<u32, Usage>,
    spent_before: Usage,
    total: Usage,
    calls: HashMap<String, Made>,
    /// The last step that made calls, and which.
    calling: (u32, Vec<String>),
    /// The last steps that were copied from elsewhere.
    copied: BTreeSet<u32>,
    last_step: u32,
    is_begun: bool,
}

impl Current {
    /// What the log counts for itself, else the sum over steps, added in their order so that it repeats to the last bit.
    fn usage(&self) -> Usage {
        self.total.or(self.spent.values().fold(self.spent_before, |sum, usage| sum.plus(*usage)))
    }
}

/// How much was heard at some point.
#[derive(Debug, Clone, Copy)]
pub struct SoFar {
    trajectories: usize,
    counts: Counts,
    usage: Usage,
}

impl<'r> Gathering<'r> {
    /// Nothing is heard yet. Everything that a reflection may want to quote will be kept.
    pub fn new(redactor: &'r Redactor) -> Self {
        Self::with_room(redactor, ROOM_BYTES)
    }

    /// For whoever wants counts and signals, and of the steps only the beginning and the end.
    pub fn in_brief(redactor: &'r Redactor) -> Self {
        Self::with_room(redactor, BRIEF_BYTES)
    }

    fn with_room(redactor: &'r Redactor, room: usize) -> Self {
        Self {
            redactor,
            miner: Miner::default(),
            keep: Keep::new(room),
            survey: Survey::default(),
            done: Vec::new(),
            over: 0,
            current: Current::default(),
            referred: 0,
            given: Vec::new(),
        }
    }

    /// Closes the trajectory that is being told, and says how many are kept.
    pub fn kept(&mut self) -> usize {
        self.close();
        self.done.len()
    }

    /// How much was heard so far.
    pub fn so_far(&self) -> SoFar {
        let survey = &self.survey;
        let mut counts = survey.counts.plus(survey.subagents);
        counts = counts.plus(self.current.counts);
        SoFar {
            trajectories: self.done.len(),
            counts,
            usage: survey.usage.plus(survey.subagent_usage).plus(self.current.usage()),
        }
    }

    /// What was heard since then, as one log in brief.
    pub fn summary(&self, since: &SoFar, path: &str, format: &str) -> SessionSummary {
        let now = self.so_far();
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
            usage: now.usage.minus(since.usage),
        };
        settle::summary(&mut summary, self.redactor);
        summary
    }

    /// What stands elsewhere and was not asked for yet.
    pub fn references(&mut self) -> Vec<Elsewhere> {
        let fresh = self.survey.elsewhere.get(self.referred..).unwrap_or_default().to_vec();
        self.referred += fresh.len();
        fresh
    }

    /// Everything is told.
    pub fn finish(mut self) -> Gathered {
        self.close();
        let (signals, left_out) = self.miner.finish();
        self.survey.signals_left_out = left_out;
        let mut gathered = Gathered { trajectories: self.done, signals, survey: self.survey, given: self.given };
        settle::gathered(&mut gathered, self.redactor);
        gathered
    }

    fn place(&self, step: u32) -> Place {
        Place { trajectory: self.index(), step }
    }

    /// The number of the current trajectory.
    fn index(&self) -> u32 {
        self.over
    }

    /// The current trajectory is over.
    fn close(&mut self) {
        let current = std::mem::take(&mut self.current);
        if !current.is_begun {
            return;
        }
        let index = self.index();
        let passed = self.miner.over();
        let usage = current.usage();
        self.survey.add(index, &current.about, current.counts, usage, passed);
        self.over = self.over.saturating_add(1);
        if self.done.len() >= MAX_TRAJECTORIES {
            self.survey.shed += self.keep.take(|_| false).1;
            return;
        }
        let pinned = if self.keep.is_crowded() { self.miner.places() } else { HashSet::new() };
        let (steps, shed) = self.keep.take(|step| pinned.contains(&Place { trajectory: index, step }));
        self.survey.shed += shed;
        self.done.push(Trajectory { about: current.about, steps, outcome: current.outcome, usage });
    }

    fn step(&mut self, mut step: Step) {
        let at = self.place(step.number);
        self.current.is_begun = true;
        self.current.last_step = step.number;
        self.current.about.lived(step.at);
        self.current.counts.steps += 1;
        if step.copied {
            self.current.counts.copied_steps += 1;
            self.current.copied.insert(step.number);
            if self.current.copied.len() > MAX_COPIED {
                self.current.copied.pop_first();
            }
        }
        self.strip(&mut step.text);
        match &step.speaker {
            _ if step.copied => {}
            Speaker::User if !step.text.trim().is_empty() => {
                self.current.counts.user_turns += 1;
                let text = self.clip(std::mem::take(&mut step.text));
                step.text = clip::settled(text, self.redactor);
                self.miner.user(at, &step.text);
            }
            Speaker::Agent => self.miner.agent(),
            Speaker::Tool => self.terminal(at, &mut step.text),
            _ => {}
        }
        if self.current.about.model.is_none() && step.subagent.is_none() {
            self.current.about.model.clone_from(&step.model);
        }
        step.trust = Some(trust::of_words(&step.speaker));
        step.text = self.clip(step.text);
        step.reasoning = step.reasoning.take().map(|mut reasoning| {
            self.strip(&mut reasoning);
            self.clip(reasoning)
        });
        self.keep.step(step);
        self.shed();
    }

    /// Lets quiet steps go when there are too many.
    fn shed(&mut self) {
        if self.keep.is_full() {
            let trajectory = self.index();
            let pinned = self.miner.places();
            self.survey.shed += self.keep.shed(|step| pinned.contains(&Place { trajectory, step }));
        }
    }

    /// Output of a terminal that stands where a person's words should.
    fn terminal(&mut self, at: Place, text: &mut String) {
        let action = Action::Run { command: String::new() };
        let output = Output { text: std::mem::take(text), ..Output::default() };
        let output = self.returned(at, "terminal", &action, None, output);
        // Settled here, because the step's text is going to be clipped as a whole.
        *text = clip::settled(output.text, self.redactor);
    }

    fn call(&mut self, step: u32, mut call: Call) {
        self.current.is_begun = true;
        self.current.counts.tool_calls += 1;
        call.tool = settle::label(call.tool, self.redactor);
        let action = settle::action(Action::of(&call.tool, &call.arguments), self.redactor);
        let directory = ["workdir", "cwd"].iter().find_map(|key| call.arguments.get(key)?.as_str()).map(str::to_owned);
        let is_copied = self.current.copied.contains(&step);
        if is_copied {
            self.current.counts.copied_tool_calls += 1;
        } else {
            self.miner.agent();
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
        let made = Made { step, tool: call.tool.clone(), action, is_copied, is_answered: false, directory };
        current.calls.insert(call.id.clone(), made);
        self.strip_value(&mut call.arguments);
        call.arguments = self.keep.clip_arguments(call.arguments);
        self.keep.call(step, call);
    }

    fn output(&mut self, of: OutputOf, mut output: Output) {
        self.current.is_begun = true;
        self.current.about.lived(output.at);
        let made = self.made(&of);
        if injected::is_our_tool(&made.tool) || made.action.command().is_some_and(injected::is_our_command) {
            self.survey.injected += 1;
            output.text = String::new();
        }
        let output = if made.is_copied {
            let trust = Some(trust::of_output(&made.tool, &made.action, None));
            Output { text: self.clip(std::mem::take(&mut output.text)), trust, ..output }
        } else {
            self.returned(self.place(made.step), &made.tool, &made.action, made.directory.as_deref(), output)
        };
        let id = match of {
            OutputOf::Call(id) => Some(id),
            OutputOf::Step(_) => None,
        };
        self.keep.output(made.step, id.as_deref(), output);
        self.shed();
    }

    /// The call that an output belongs to. That of a whole step belongs to the last of its calls that runs something;
    /// one without a call, because the log lost it, to the last step.
    fn made(&mut self, of: &OutputOf) -> Made {
        let current = &mut self.current;
        let stand_in = |step: u32, is_copied: bool| {
            let (tool, action) = (String::new(), Action::Other);
            Made { step, tool, action, is_copied, is_answered: true, directory: None }
        };
        match of {
            OutputOf::Call(id) => {
                if let Some(made) = current.calls.get_mut(id) {
                    made.is_answered = true;
                    return made.clone();
                }
                self.survey.orphaned_outputs += 1;
                stand_in(current.last_step, current.copied.contains(&current.last_step))
            }
            OutputOf::Step(step) => {
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

    /// Looks at what came back, and brings it to its kept form.
    fn returned(
        &mut self,
        at: Place,
        tool: &str,
        action: &Action,
        directory: Option<&str>,
        mut output: Output,
    ) -> Output {
        let told = Told { failed: output.failed, exit_code: output.exit_code, interrupted: output.interrupted };
        let command = action.command();
        let is_check = command.is_some_and(is_verification);
        let mut failure = failure::read(tool, command, &told, &output.text);
        // Which tests failed is of interest only if some did.
        let mut tests = (is_check && failure.is_some()).then(|| outcome_of_tests(&output.text)).flatten();
        for name in tests.iter_mut().flat_map(|tests| &mut tests.names) {
            *name = settle::label(std::mem::take(name), self.redactor);
        }
        self.current.counts.flagged_tool_errors += u64::from(output.failed == Some(true));
        let came = match &failure {
            None if is_no_result(&output.text) => Came::Void,
            None => Came::Passed,
            Some(failure) => self.came(tool, failure),
        };
        if let Some(found) = &failure {
            // Whoever speaks of a failure quotes it, so its words are cleaned before they are read.
            let (text, is_changed) = clip::around(&output.text, &found.headline, self.redactor);
            output.text = text;
            if is_changed {
                failure = failure::read(tool, command, &told, &output.text);
            }
        } else {
            output.text = self.clip(std::mem::take(&mut output.text));
        }
        // A lesson in an output is no evidence; whether the call failed was read before anything was taken out.
        self.strip_tagged(&mut output.text);
        let is_error = failure.as_ref().is_some_and(|failure| failure.class != Class::Lint);
        self.current.counts.tool_errors += u64::from(is_error);
        let came = match (came, &failure) {
            (Came::Failed(..), Some(failure)) => self.came(tool, failure),
            (came, _) => came,
        };
        let failed = failure.as_ref().map(|failure| (failure, output.text.as_str()));
        output.trust = Some(trust::of_output(tool, action, failed));
        let duration_ms = output.duration_ms;
        self.miner.returned(&Returned { at, tool, action, came, tests, is_check, duration_ms, directory });
        output
    }

    /// What became of a call that did not pass.
    fn came(&self, tool: &str, failure: &Failure) -> Came {
        if failure.is_void() {
            return Came::Void;
        }
        Came::Failed(failure.clone(), family(tool, failure.class.as_str(), &failure.headline))
    }

    fn happened(&mut self, step: u32, what: Happening, text: &str) {
        let at = self.place(step);
        match what {
            Happening::Interrupted => self.miner.interrupted(at),
            Happening::ApiError => {
                let text = clip::settled(text.to_owned(), self.redactor);
                let told = Told { failed: Some(true), exit_code: None, interrupted: false };
                if let Some(failure) = failure::read("model", None, &told, &text) {
                    let family = family("model", failure.class.as_str(), &failure.headline);
                    self.miner.provider_failed(at, failure, family);
                }
                // Kept with the step that it followed, so that it can be quoted.
                let (text, trust) = (self.clip(text), Some(TrustClass::ToolOutput));
                self.keep.output(step, None, Output { text, trust, failed: Some(true), ..Output::default() });
            }
            _ => {}
        }
        *self.survey.happenings.entry(what.as_str().to_owned()).or_default() += 1;
    }

    /// The last word on what a step cost. Steps further back have had theirs.
    fn spent(&mut self, step: u32, usage: Usage) {
        self.miner.spent(self.place(step), usage);
        let current = &mut self.current;
        current.spent.insert(step, usage);
        if current.spent.len() > MAX_SPENT
            && let Some((_, usage)) = current.spent.pop_first()
        {
            current.spent_before = current.spent_before.plus(usage);
        }
    }

    /// Takes our own lessons out: they were shown, they did not happen.
    fn strip(&mut self, text: &mut String) {
        let stripped = injected::strip(text);
        if !stripped.given.is_empty() {
            let (kept, given) = (stripped.text.into_owned(), stripped.given);
            *text = kept;
            self.given(given);
        }
    }

    /// The same where a heading alone proves nothing: in what a tool gives back, or is given.
    fn strip_tagged(&mut self, text: &mut String) {
        let stripped = injected::strip_tagged(text);
        if !stripped.given.is_empty() {
            let (kept, given) = (stripped.text.into_owned(), stripped.given);
            *text = kept;
            self.given(given);
        }
    }

    /// Remembers what was shown, as far as there is room: whoever repeats it has not found it out.
    fn given(&mut self, blocks: Vec<String>) {
        for block in blocks {
            self.survey.injected += 1;
            let held: usize = self.given.iter().map(String::len).sum();
            if held + block.len() <= MAX_GIVEN_BYTES && !self.given.contains(&block) {
                self.given.push(block);
            }
        }
    }

    /// The same in every string of a value.
    fn strip_value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.strip_tagged(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.strip_value(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.strip_value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn clip(&mut self, text: String) -> String {
        let (text, lost) = clip::clipped(text);
        if lost > 0 {
            self.survey.cut.values += 1;
            self.survey.cut.bytes += lost;
        }
        text
    }
}

/// Whether a call that did not fail has no result yet, or checked nothing.
pub(super) fn is_no_result(text: &str) -> bool {
    let tail = text.get(text.floor_char_boundary(text.len().saturating_sub(2000))..).unwrap_or_default();
    let is_empty_run = ["ok. 0 passed; 0 failed", "no tests ran", "collected 0 items", "Ran 0 tests", "No tests found"];
    is_empty_run.iter().any(|words| tail.contains(words)) && !tail.contains(" 1 passed")
        || text.starts_with("Command running in background")
        || text.starts_with("Command was manually backgrounded")
}

impl Sink for Gathering<'_> {
    fn hear(&mut self, event: Event) {
        match event {
            Event::Begin => self.close(),
            Event::About(about) => {
                self.current.is_begun = true;
                self.current.about.learn(*about);
            }
            Event::Step(step) => self.step(*step),
            Event::More(step, mut text, reasoning) => {
                self.strip(&mut text);
                let text = self.clip(text);
                let reasoning = reasoning.map(|reasoning| self.clip(reasoning));
                self.keep.more(step, &text, reasoning.as_deref());
            }
            Event::Call(step, call) => self.call(step, call),
            Event::Output(of, output) => self.output(of, output),
            Event::Spent(step, usage) => {
                if !self.current.copied.contains(&step) {
                    self.spent(step, usage);
                }
            }
            Event::Total(usage) => self.current.total = usage.or(self.current.total),
            Event::Happened(step, what, text) => self.happened(step, what, &text),
            Event::Outcome(outcome) => {
                self.current.is_begun = true;
                self.current.outcome = Some(outcome);
            }
            Event::Elsewhere(elsewhere) => self.survey.refer(elsewhere),
            Event::Skipped(skipped) => self.survey.skip(skipped),
            Event::Breach(breach) => self.survey.breach(breach),
            Event::Cut(cut) => {
                self.survey.cut.values += cut.values;
                self.survey.cut.bytes += cut.bytes;
            }
        }
    }
}
