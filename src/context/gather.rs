//! What a reader tells, put together: trajectories without secrets, counts, signals.
//!
//! It listens in one pass and in bounded memory. Long texts lose their middle; when the log goes on and on, quiet steps
//! are shed from its middle, never those that a signal rests on.

use std::collections::HashMap;

use super::action::Action;
use super::clip;
use super::failure::{self, Told, family, is_noise, is_verification, outcome_of_tests};
use super::injected;
use super::keep::Keep;
use super::mine::{Miner, Place, Returned};
use super::reflection::SessionSummary;
use super::signal::Signal;
use super::survey::{Counts, Survey};
use super::trust;
use crate::domain::{
    About, Call, Elsewhere, Event, Happening, Outcome, Output, OutputOf, Sink, Speaker, Step, Trajectory, Usage,
};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;

/// Calls that wait for their output. Logs that leave more of them open than this have no outputs.
const MAX_OPEN_CALLS: usize = 16 * 1024;

/// What the kept steps of a trajectory may take.
const ROOM_BYTES: usize = 24 * 1024 * 1024;

/// The same, where nobody is going to read them.
const BRIEF_BYTES: usize = 2 * 1024 * 1024;

/// What was gathered from one log, or from all logs of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gathered {
    /// Without secrets.
    pub trajectories: Vec<Trajectory>,
    /// What stands out in them.
    pub signals: Vec<Signal>,
    /// How much there was of everything.
    pub survey: Survey,
}

/// A call that waits for its output.
#[derive(Debug)]
struct Open {
    step: u32,
    tool: String,
    action: Action,
    is_copied: bool,
    at: Option<crate::domain::Timestamp>,
}

/// Listens to readers.
#[derive(Debug)]
pub struct Gathering<'r> {
    redactor: &'r Redactor,
    miner: Miner,
    keep: Keep,
    survey: Survey,
    done: Vec<Trajectory>,
    current: Current,
    /// How many references were asked for.
    referred: usize,
}

/// The trajectory that is being told.
#[derive(Debug, Default)]
struct Current {
    about: About,
    outcome: Option<Outcome>,
    counts: Counts,
    spent: HashMap<u32, Usage>,
    total: Usage,
    open: HashMap<String, Open>,
    /// The last steps that were copied from elsewhere.
    copied: std::collections::HashSet<u32>,
    last_step: u32,
    is_begun: bool,
}

impl Current {
    /// What the log counts for itself, else the sum over steps, added in their order so that it repeats to the last bit.
    fn usage(&self) -> Usage {
        let mut steps: Vec<(&u32, &Usage)> = self.spent.iter().collect();
        steps.sort_unstable_by_key(|(step, _)| **step);
        self.total.or(steps.into_iter().fold(Usage::default(), |sum, (_, usage)| sum.plus(*usage)))
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
            current: Current::default(),
            referred: 0,
        }
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
        SessionSummary {
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
        }
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
        let (mut signals, left_out) = self.miner.finish();
        self.survey.signals_left_out = left_out;
        for signal in &mut signals {
            signal.text = clip::settled(std::mem::take(&mut signal.text), self.redactor);
            signal.quote = signal.quote.take().map(|quote| clip::settled(quote, self.redactor));
        }
        let mut trajectories = self.done;
        for trajectory in &mut trajectories {
            super::keep::settle(trajectory, self.redactor);
        }
        Gathered { trajectories, signals, survey: self.survey }
    }

    fn place(&self, step: u32) -> Place {
        Place { trajectory: self.index(), step }
    }

    /// The number of the current trajectory.
    fn index(&self) -> u32 {
        u32::try_from(self.done.len()).unwrap_or(u32::MAX)
    }

    /// The current trajectory is over.
    fn close(&mut self) {
        let current = std::mem::take(&mut self.current);
        if !current.is_begun {
            return;
        }
        let index = self.index();
        let passed = self.miner.over(index, &current.spent);
        let usage = current.usage();
        self.survey.add(index, &current.about, current.counts, usage, passed);
        let steps = self.keep.take();
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
        step.reasoning = step.reasoning.take().map(|reasoning| self.clip(reasoning));
        self.keep.step(step);
        if self.keep.is_full() {
            let pinned = self.miner.places();
            self.survey.shed += self.keep.shed(|step| pinned.contains(&Place { trajectory: at.trajectory, step }));
        }
    }

    /// Output of a terminal that stands where a person's words should.
    fn terminal(&mut self, at: Place, text: &mut String) {
        let action = Action::Run { command: String::new() };
        let output = Output { text: std::mem::take(text), ..Output::default() };
        *text = self.returned(at, "terminal", &action, output).text;
    }

    fn call(&mut self, step: u32, mut call: Call) {
        self.current.is_begun = true;
        self.current.counts.tool_calls += 1;
        let action = Action::of(&call.tool, &call.arguments);
        let is_copied = self.current.copied.contains(&step);
        if is_copied {
            self.current.counts.copied_tool_calls += 1;
        } else {
            self.miner.agent();
        }
        if self.current.open.len() >= MAX_OPEN_CALLS {
            self.current.open.clear();
        }
        let at = self.keep.time_of(step);
        let open = Open { step, tool: call.tool.clone(), action, is_copied, at };
        self.current.open.insert(call.id.clone(), open);
        call.arguments = self.keep.clip_arguments(call.arguments);
        self.keep.call(step, call);
    }

    fn output(&mut self, of: OutputOf, mut output: Output) {
        self.current.is_begun = true;
        self.current.about.lived(output.at);
        self.strip(&mut output.text);
        let open = match &of {
            OutputOf::Call(id) => self.current.open.remove(id),
            OutputOf::Step(step) => Some(Open {
                step: *step,
                tool: String::new(),
                action: Action::Other,
                is_copied: self.current.copied.contains(step),
                at: None,
            }),
        };
        let Some(open) = open else {
            // An output without a call: the log lost the call, or told it in another file.
            self.survey.orphaned_outputs += 1;
            return;
        };
        if output.duration_ms.is_none()
            && let (Some(from), Some(to)) = (open.at, output.at)
        {
            output.duration_ms = u64::try_from((to - from).num_milliseconds()).ok();
        }
        if open.tool.to_lowercase().contains("archivist") {
            self.survey.injected += 1;
            output.text = String::new();
        }
        let output = if open.is_copied {
            let trust = Some(trust::of_output(&open.tool, &open.action));
            Output { text: self.clip(std::mem::take(&mut output.text)), trust, ..output }
        } else {
            self.returned(self.place(open.step), &open.tool, &open.action, output)
        };
        let id = match of {
            OutputOf::Call(id) => Some(id),
            OutputOf::Step(_) => None,
        };
        self.keep.output(open.step, id.as_deref(), output);
    }

    /// Looks at what came back, and brings it to its kept form.
    fn returned(&mut self, at: Place, tool: &str, action: &Action, mut output: Output) -> Output {
        let told = Told { failed: output.failed, exit_code: output.exit_code, interrupted: output.interrupted };
        let command = action.command();
        let is_check = command.is_some_and(is_verification);
        let mut failure = failure::read(tool, command, &told, &output.text);
        // Which tests failed is of interest only if some did.
        let tests = (is_check && failure.is_some()).then(|| outcome_of_tests(&output.text)).flatten();
        self.current.counts.flagged_tool_errors += u64::from(output.failed == Some(true));
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
        self.current.counts.tool_errors += u64::from(failure.is_some());
        let failure = failure.filter(|failure| !is_noise(&failure.headline)).map(|failure| {
            let family = family(tool, failure.class.as_str(), &failure.headline);
            (failure, family)
        });
        output.trust = Some(trust::of_output(tool, action));
        let duration_ms = output.duration_ms;
        self.miner.returned(&Returned { at, tool, action, failure, tests, is_check, duration_ms });
        output
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
            }
            _ => {}
        }
        *self.survey.happenings.entry(what.as_str().to_owned()).or_default() += 1;
    }

    /// Takes our own lessons out: they were shown, they did not happen.
    fn strip(&mut self, text: &mut String) {
        let (stripped, blocks) = injected::strip(text);
        if blocks > 0 {
            *text = stripped.into_owned();
            self.survey.injected += u64::from(blocks);
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

impl Sink for Gathering<'_> {
    fn hear(&mut self, event: Event) {
        match event {
            Event::Begin => self.close(),
            Event::About(about) => {
                self.current.is_begun = true;
                self.current.about.learn(*about);
            }
            Event::Step(step) => self.step(*step),
            Event::More(step, text, reasoning) => {
                let text = self.clip(text);
                let reasoning = reasoning.map(|reasoning| self.clip(reasoning));
                self.keep.more(step, &text, reasoning.as_deref());
            }
            Event::Call(step, call) => self.call(step, call),
            Event::Output(of, output) => self.output(of, output),
            Event::Spent(step, usage) => {
                if !self.current.copied.contains(&step) {
                    self.current.spent.insert(step, usage);
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
