//! `archivist eval transfer` measures whether lessons from the sessions of some models are recalled for another model.

mod model_sessions;
mod print;
mod trained_memory;

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use self::model_sessions::{ModelTaskSession, SessionFailure, read_sessions};
use self::trained_memory::{AnsweredLessons, LearnedLesson, TrainedMemory};
use crate::cli_error::{CliError, CommandExit};
use crate::commands::recall::query_about_error;
use crate::console::Console;
use archivist_core::config::{Config, ConfigLoadRequest, load_config};
use archivist_core::domain::{MemoryId, MemoryQuery, Timestamp};

const EXAMPLES: &str = "\
Examples:
  archivist eval transfer --data bench/ct
  archivist eval transfer --data bench/ct --with-prompts --show
  archivist eval transfer --data my-sessions --json

The folder holds index.jsonl, gzipped or not, one session a line: `model`, `task`, `instruction`, `ended`, and the `file`
of its log beside the index. Each model is left out in turn: a memory learns from the sessions of all others, without a
language model and with the built-in settings, and is asked what the hooks would ask in the sessions of the one left out.

errors        the output of each failure, at its first sight, whose family the memory met too; a right lesson is about
              that family
instructions  what the agent was asked to do; a right lesson was learned from the same task
silence       the same questions about tasks of which a memory learned no session of any model (a third of the tasks is
              left out at a time), and failures in them of families that it never met; nothing is the right answer

known: a right lesson was learned. in use: and it is not waiting to be seen again. right: and it was given. waiting too:
it would be given if none had to wait. or record: a right lesson, or a record of the earlier sessions that met this very
failure or had this very request, was given. plain: it is among as many lessons of a full-text search, which is never silent.";

/// The number of groups in which tasks are left out of learning.
const TASK_GROUPS: usize = 3;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalTransfer {
    /// A folder of sessions with an index
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Put the instruction at the beginning of each log, as an agent's own transcript has it
    #[arg(long)]
    with_prompts: bool,
    /// List every question with what was given and what was missed
    #[arg(long)]
    show: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The figures of all measurements of `archivist eval transfer`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct TransferEvalReport {
    sessions: usize,
    models: usize,
    tasks: usize,
    /// The number of lessons in all memories that learned from every task; `lessons_in_use` counts those in use.
    lessons: usize,
    lessons_in_use: usize,
    errors: AnswerFigures,
    /// The answers to errors where a lesson from the same task also counts as right.
    errors_or_task: AnswerFigures,
    instructions: AnswerFigures,
    silence: SilenceFigures,
    questions: Vec<AskedQuestion>,
}

/// The number of queries by whether a right lesson exists, is in use, and was recalled.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct AnswerFigures {
    asked: usize,
    known: usize,
    in_use: usize,
    right: usize,
    unlocked_right: usize,
    plain_right: usize,
    /// The number of queries that a right lesson or a right record of earlier sessions answers.
    right_or_record: usize,
    /// The number of queries with an empty answer.
    silent: usize,
    /// The number of lessons in all answers together.
    given: usize,
}

/// The number of queries about something unknown, and of those with an empty answer.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SilenceFigures {
    instructions: usize,
    instructions_silent: usize,
    errors: usize,
    errors_silent: usize,
}

/// A query and its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AskedQuestion {
    kind: &'static str,
    model: String,
    task: String,
    text: String,
    /// The result: given, not found, waiting or unknown; or silent or answered where no lesson is right.
    result: &'static str,
    given: Vec<String>,
    missed: Vec<String>,
}

impl EvalTransfer {
    pub(super) fn run(&self, now: Timestamp, console: &mut Console) -> Result<CommandExit> {
        let config = load_config(&ConfigLoadRequest::default())?.config;
        let runs = read_sessions(&self.data, self.with_prompts)?;
        let models: BTreeSet<&str> = runs.iter().map(|run| run.model.as_str()).collect();
        if models.len() < 2 {
            return Err(CliError::user_error("sessions of two models are needed at least")
                .with_hint("see --help")
                .into());
        }
        let tasks: BTreeSet<&str> = runs.iter().map(|run| run.task.as_str()).collect();
        let mut report = TransferEvalReport {
            sessions: runs.len(),
            models: models.len(),
            tasks: tasks.len(),
            ..TransferEvalReport::default()
        };
        let groups: Vec<BTreeSet<&str>> = (0..TASK_GROUPS).map(|group| select_task_group(&tasks, group)).collect();
        let trials: Vec<TransferTrial<'_>> =
            models.iter().copied().map(TransferTrial::Model).chain(groups.iter().map(TransferTrial::Tasks)).collect();
        console.print_note(&format!("learning in {} memories", trials.len()));
        for part in run_trials(&trials, &runs, &config, now)? {
            report.add_part(part);
        }
        match self.json {
            true => console.print_json(&report)?,
            false => print::print_report(&report, self.show, console)?,
        }
        Ok(CommandExit::Done)
    }
}

/// The sessions that a memory does not learn from, and is then queried about.
enum TransferTrial<'r> {
    /// All sessions of one model.
    Model(&'r str),
    /// All sessions on these tasks.
    Tasks(&'r BTreeSet<&'r str>),
}

impl TransferTrial<'_> {
    async fn run_trial(
        &self,
        runs: &[ModelTaskSession],
        config: &Config,
        now: Timestamp,
    ) -> Result<TransferEvalReport> {
        let is_asked = |run: &&ModelTaskSession| match self {
            Self::Model(model) => run.model == *model,
            Self::Tasks(tasks) => tasks.contains(run.task.as_str()),
        };
        let (asked, learned): (Vec<&ModelTaskSession>, Vec<&ModelTaskSession>) = runs.iter().partition(is_asked);
        let memory = TrainedMemory::learn_from_sessions(&learned, config, now).await?;
        let mut report = TransferEvalReport::default();
        match self {
            Self::Model(_) => {
                report.lessons = memory.lessons.len();
                report.lessons_in_use = memory.lessons.values().filter(|lesson| lesson.is_in_use).count();
                report.ask_known_tasks(&memory, &asked, &learned).await?;
            }
            Self::Tasks(_) => report.ask_unknown_tasks(&memory, &asked).await?,
        }
        Ok(report)
    }
}

/// Runs all trials on all available cores and returns their reports in order.
fn run_trials(
    trials: &[TransferTrial<'_>],
    runs: &[ModelTaskSession],
    config: &Config,
    now: Timestamp,
) -> Result<Vec<TransferEvalReport>> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, TransferEvalReport)>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Start)?;
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(trial) = trials.get(place) else { return Ok(done) };
            done.push((place, runtime.block_on(trial.run_trial(runs, config, now))?));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(trials.len());
    let mut reports = Vec::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            reports.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        anyhow::Ok(())
    })?;
    reports.sort_by_key(|(place, _)| *place);
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

/// Returns the tasks that are left out together; variants of a task, named after a full stop, are in one group.
fn select_task_group<'t>(tasks: &BTreeSet<&'t str>, group: usize) -> BTreeSet<&'t str> {
    let base = |task: &&'t str| task.split('.').next().unwrap_or_default();
    let bases: BTreeSet<&str> = tasks.iter().map(base).collect();
    let chosen: BTreeSet<&str> = bases.into_iter().skip(group).step_by(TASK_GROUPS).collect();
    tasks.iter().filter(|task| chosen.contains(base(task))).copied().collect()
}

impl TransferEvalReport {
    fn add_part(&mut self, part: Self) {
        self.lessons += part.lessons;
        self.lessons_in_use += part.lessons_in_use;
        self.errors.add_part(&part.errors);
        self.errors_or_task.add_part(&part.errors_or_task);
        self.instructions.add_part(&part.instructions);
        let silence = &mut self.silence;
        silence.instructions += part.silence.instructions;
        silence.instructions_silent += part.silence.instructions_silent;
        silence.errors += part.silence.errors;
        silence.errors_silent += part.silence.errors_silent;
        self.questions.extend(part.questions);
    }

    /// Queries the memory about tasks and failures that it learned from.
    async fn ask_known_tasks(
        &mut self,
        memory: &TrainedMemory<'_>,
        own: &[&ModelTaskSession],
        others: &[&ModelTaskSession],
    ) -> Result<()> {
        for run in own {
            if others.iter().any(|other| other.task == run.task) && !run.instruction.trim().is_empty() {
                let answer = memory.answer_query(build_prompt_query(memory, run)).await?;
                let is_right = |lesson: &LearnedLesson| lesson.tasks.contains(&run.task);
                let is_recorded = answer.record.as_ref().is_some_and(|record| record.tasks.contains(&run.task));
                let result = self.instructions.count_answer(memory, &answer, is_recorded, is_right);
                self.record_question("instruction", run, &run.instruction, result, memory, &answer, is_right);
            }
            for failure in run.failures.iter().filter(|failure| memory.families.contains(&failure.family)) {
                let query = build_error_query(memory, failure);
                let text = query.text.clone().unwrap_or_default();
                let answer = memory.answer_query(query).await?;
                let is_right = |lesson: &LearnedLesson| lesson.families.contains(&failure.family);
                let result = self.errors.count_answer(memory, &answer, answer.record.is_some(), is_right);
                self.record_question("error", run, &text, result, memory, &answer, is_right);
                let is_related = |lesson: &LearnedLesson| is_right(lesson) || lesson.tasks.contains(&run.task);
                self.errors_or_task.count_answer(memory, &answer, answer.record.is_some(), is_related);
            }
        }
        Ok(())
    }

    /// Queries the memory about tasks, and failures of error families, that it never met.
    async fn ask_unknown_tasks(&mut self, memory: &TrainedMemory<'_>, runs: &[&ModelTaskSession]) -> Result<()> {
        let result = |answer: &AnsweredLessons| if answer.is_silent() { "silent" } else { "answered" };
        for run in runs {
            if !run.instruction.trim().is_empty() {
                let answer = memory.answer_query(build_prompt_query(memory, run)).await?;
                self.silence.instructions += 1;
                self.silence.instructions_silent += usize::from(answer.is_silent());
                self.record_question(
                    "unknown instruction",
                    run,
                    &run.instruction,
                    result(&answer),
                    memory,
                    &answer,
                    |_| false,
                );
            }
            for failure in run.failures.iter().filter(|failure| !memory.families.contains(&failure.family)) {
                let query = build_error_query(memory, failure);
                let text = query.text.clone().unwrap_or_default();
                let answer = memory.answer_query(query).await?;
                self.silence.errors += 1;
                self.silence.errors_silent += usize::from(answer.is_silent());
                self.record_question("unknown error", run, &text, result(&answer), memory, &answer, |_| false);
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "they are the fields of a row")]
    fn record_question(
        &mut self,
        kind: &'static str,
        run: &ModelTaskSession,
        text: &str,
        result: &'static str,
        memory: &TrainedMemory<'_>,
        answer: &AnsweredLessons,
        is_right: impl Fn(&LearnedLesson) -> bool,
    ) {
        let mark = |lesson: &LearnedLesson| {
            let (right, state) =
                (if is_right(lesson) { "right" } else { "other" }, if lesson.is_in_use { "" } else { ", waiting" });
            format!("({right}{state}) {}", lesson.summary)
        };
        let record = answer.record.iter().map(|record| format!("(record) {}", record.text));
        let given = answer.given.iter().filter_map(|id| memory.lessons.get(id)).map(mark).chain(record).collect();
        let is_missed = |(id, lesson): &(&MemoryId, &LearnedLesson)| is_right(lesson) && !answer.given.contains(id);
        let missed = memory.lessons.iter().filter(is_missed).map(|(_, lesson)| mark(lesson)).collect();
        let (model, task, text) = (run.model.clone(), run.task.clone(), text.to_owned());
        self.questions.push(AskedQuestion { kind, model, task, text, result, given, missed });
    }
}

/// Builds the query of the hook that receives a prompt.
fn build_prompt_query(memory: &TrainedMemory<'_>, run: &ModelTaskSession) -> MemoryQuery {
    MemoryQuery { text: Some(run.instruction.clone()), ..memory.base_query() }
}

/// Builds the query of `archivist recall --error-file`.
fn build_error_query(memory: &TrainedMemory<'_>, failure: &SessionFailure) -> MemoryQuery {
    let mut query = memory.base_query();
    query_about_error(&mut query, failure.tool.as_deref(), &failure.output);
    query
}

impl AnswerFigures {
    fn add_part(&mut self, part: &Self) {
        self.asked += part.asked;
        self.known += part.known;
        self.in_use += part.in_use;
        self.right += part.right;
        self.unlocked_right += part.unlocked_right;
        self.plain_right += part.plain_right;
        self.right_or_record += part.right_or_record;
        self.silent += part.silent;
        self.given += part.given;
    }

    /// Counts one answer and returns its result: given, not found, waiting or unknown.
    fn count_answer(
        &mut self,
        memory: &TrainedMemory<'_>,
        answer: &AnsweredLessons,
        is_recorded: bool,
        is_right: impl Fn(&LearnedLesson) -> bool,
    ) -> &'static str {
        let has_right = |ids: &[MemoryId]| ids.iter().filter_map(|id| memory.lessons.get(id)).any(&is_right);
        let is_known = memory.lessons.values().any(&is_right);
        let is_in_use = memory.lessons.values().any(|lesson| lesson.is_in_use && is_right(lesson));
        let is_given = has_right(&answer.given);
        self.asked += 1;
        self.known += usize::from(is_known);
        self.in_use += usize::from(is_in_use);
        self.right += usize::from(is_given);
        self.unlocked_right += usize::from(has_right(&answer.unlocked));
        self.plain_right += usize::from(has_right(&answer.plain));
        self.right_or_record += usize::from(is_given || is_recorded);
        self.silent += usize::from(answer.is_silent());
        self.given += answer.given.len();
        match () {
            () if is_given => "given",
            () if is_in_use => "not found",
            () if is_known => "waiting",
            () => "unknown",
        }
    }
}
