//! `archivist batch`: reflects on every session of the last days that was not reflected on yet.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use chrono::TimeDelta;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::lesson_format::display_name;
use crate::session_trigger::build_runtime;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{format_count, one_line};
use archivist_core::config::Config;
use archivist_core::domain::{AgentMemory, ArchivistOutcome, MemoryId};
use archivist_core::service::RequestError;
use archivist_core::service::{ArchivistService, BatchJournal, BatchPlan, FinishedSession, PlannedSession};

const EXAMPLES: &str = "\
Examples:
  archivist batch --days 7
  archivist batch --days 30 --concurrency 8 --yes
  archivist batch --days 1 --dry-run --json

Broken off, it goes on where it was when it is started again, and asks a model for nothing twice.";

/// The approximate number of characters of a token.
const CHARACTERS_A_TOKEN: u64 = 4;

/// The approximate tokens of a prompt besides the log, and of a reply.
const PROMPT_TOKENS: u64 = 2_500;
const ANSWER_TOKENS: u64 = 800;

/// The interval between progress notes where no terminal shows a progress bar.
const TOLD_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BatchCommand {
    /// Sessions that were alive in the last N days
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// How many are worked on at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Do not ask before beginning
    #[arg(short, long)]
    yes: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Print the plan, or the outcomes, as JSON
    #[arg(long)]
    json: bool,
}

/// The sessions of a batch and their expected cost.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BatchForecast {
    sessions: usize,
    /// The sessions that have nothing new.
    known: usize,
    bytes: u64,
    /// The model's name; missing where no model is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    prompt_tokens: u64,
    completion_tokens: u64,
    cost_usd: f64,
    problems: Vec<String>,
}

/// The result of a batch.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct BatchReport {
    reflected: usize,
    skipped: usize,
    outcomes: Vec<ArchivistOutcome>,
    #[serde(skip)]
    lessons: Vec<(AgentMemory, u64)>,
    #[serde(skip)]
    problems: Vec<String>,
}

impl BatchCommand {
    pub(crate) fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let service = session.archivist.reflection_service()?;
        let window = TimeDelta::days(i64::from(self.days));
        let since = session.now.checked_sub_signed(window).unwrap_or_default();
        let runtime = build_runtime()?;
        let plan = runtime.block_on(service.plan_batch(since)).map_err(RequestError::from)?;
        let forecast = BatchForecast::from_plan(&plan, session.archivist.config());
        for problem in &forecast.problems {
            console.print_warning(problem);
        }
        if self.dry_run && self.json {
            console.print_json(&forecast)?;
            return Ok(CommandExit::Done);
        }
        console.print_note(&forecast.describe_plan());
        if self.dry_run || plan.sessions.is_empty() {
            if self.json {
                console.print_json(&BatchReport::default())?;
            }
            return Ok(CommandExit::Done);
        }
        if !self.yes && !console.ask_confirmation("go on?")? {
            return Ok(CommandExit::Refused);
        }
        let journal = open_journal(session.archivist.memory_dir())?;
        let harvest = runtime.block_on(self.reflect_on_plan(&service, plan, &journal, console));
        if let Some(journal) = Arc::into_inner(journal)
            && let Err(error) = journal.delete_journal()
        {
            console.print_warning(&format!("the batch's journal could not be removed: {error}"));
        }
        runtime.block_on(async {
            session.archivist.finish_reflections().await;
            session.archivist.memory.run_maintenance().await;
        });
        harvest.print_report(self.json, console)
    }

    async fn reflect_on_plan(
        &self,
        service: &Arc<ArchivistService>,
        plan: BatchPlan,
        journal: &Arc<BatchJournal>,
        console: &mut Console,
    ) -> BatchReport {
        let bar = build_progress_bar(plan.sessions.len(), console);
        let mut harvest = BatchReport::default();
        let (began, mut told) = (Instant::now(), Instant::now());
        let total = plan.sessions.len();
        let watch = |finished: FinishedSession<'_>| {
            harvest.add_finished(&finished);
            bar.inc(1);
            let done = harvest.reflected + harvest.skipped;
            if bar.is_hidden() && told.elapsed() >= TOLD_EVERY {
                told = Instant::now();
                let left = began.elapsed().div_f64(done.max(1) as f64).mul_f64(total.saturating_sub(done) as f64);
                console.print_note(&format!("{done} of {total} sessions, about {} s left", left.as_secs()));
            }
        };
        let concurrency = usize::from(self.concurrency);
        Arc::clone(service).run_batch(plan, concurrency, Some(Arc::clone(journal)), watch).await;
        bar.finish_and_clear();
        harvest
    }
}

impl BatchForecast {
    fn from_plan(plan: &BatchPlan, config: &Config) -> Self {
        let digest = u64::from(config.distill.digest_tokens);
        let asked =
            |planned: &PlannedSession| PROMPT_TOKENS + (planned.sources.total_bytes() / CHARACTERS_A_TOKEN).min(digest);
        let model = (!config.model.base_url.is_empty()).then(|| config.model.name.clone());
        let sessions = u64::try_from(plan.sessions.len()).unwrap_or(u64::MAX);
        let (prompt_tokens, completion_tokens) = match model {
            Some(_) => (plan.sessions.iter().map(asked).sum(), sessions.saturating_mul(ANSWER_TOKENS)),
            None => (0, 0),
        };
        let price = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        let prices = &config.model.prices;
        Self {
            sessions: plan.sessions.len(),
            known: plan.known,
            bytes: plan.sessions.iter().map(|planned| planned.sources.total_bytes()).sum(),
            model,
            prompt_tokens,
            completion_tokens,
            cost_usd: price(prompt_tokens, prices.input_per_million)
                + price(completion_tokens, prices.output_per_million),
            problems: plan.problems.clone(),
        }
    }

    fn describe_plan(&self) -> String {
        let sessions = format_count(self.sessions, "session", "sessions");
        let known = match self.known {
            0 => String::new(),
            known => format!(" ({known} more have nothing new to tell)"),
        };
        let cost = match &self.model {
            None => "no model is asked".to_owned(),
            Some(model) => {
                let tokens = format_count(self.prompt_tokens + self.completion_tokens, "token", "tokens");
                format!("about {tokens} of {}, ${:.2}", one_line(model), self.cost_usd)
            }
        };
        format!("{sessions} to reflect on{known}, {cost}")
    }
}

impl BatchReport {
    fn add_finished(&mut self, finished: &FinishedSession<'_>) {
        match finished.result {
            Ok(learned) => {
                self.reflected += 1;
                for memory in learned.created.iter().chain(&learned.updated).chain(&learned.seen) {
                    self.record_lesson(memory);
                }
            }
            Err(skip) => {
                self.skipped += 1;
                if !skip.is_choice() {
                    self.problems.push(format!("{}: {skip}", finished.trigger.session_id));
                }
            }
        }
        self.outcomes.push(ArchivistService::build_outcome(finished.trigger, finished.result));
    }

    /// Records the latest version of a lesson, and in how many sessions it was seen.
    fn record_lesson(&mut self, memory: &AgentMemory) {
        let id: &MemoryId = &memory.id;
        match self.lessons.iter_mut().find(|(known, _)| known.id == *id) {
            Some((known, times)) => {
                *known = memory.clone();
                *times += 1;
            }
            None => self.lessons.push((memory.clone(), 1)),
        }
    }

    fn print_report(&self, json: bool, console: &mut Console) -> Result<CommandExit> {
        if json {
            console.print_json(self)?;
        } else {
            let mut table = TextTable::new([
                TableColumn::text("ID", ColumnVisibility::Always),
                TableColumn::text("State", ColumnVisibility::Always),
                TableColumn::number("Imp", ColumnVisibility::Always),
                TableColumn::number("Seen", ColumnVisibility::Always),
                TableColumn::text("Summary", ColumnVisibility::Always),
            ]);
            for (memory, times) in &self.lessons {
                let state = memory.state.as_ref().map(ToString::to_string).unwrap_or_default();
                let summary = one_line(&memory.summary);
                table.add_row([
                    display_name(memory).to_owned(),
                    state,
                    memory.importance.to_string(),
                    times.to_string(),
                    summary,
                ]);
            }
            if !self.lessons.is_empty() {
                table.print_to(console)?;
            }
            let lessons = format_count(self.lessons.len(), "lesson", "lessons");
            console.print_note(&format!("{lessons} from {}", format_count(self.reflected, "session", "sessions")));
        }
        for problem in &self.problems {
            console.print_warning(problem);
        }
        Ok(if self.reflected == 0 && !self.problems.is_empty() { CommandExit::Refused } else { CommandExit::Done })
    }
}

/// Opens the journal of model requests next to the memory that they are for.
fn open_journal(memory_dir: &Path) -> Result<Arc<BatchJournal>, CliError> {
    let path = memory_dir.join("queue").join("batch.log");
    let opened = BatchJournal::open(&path);
    opened.map(Arc::new).map_err(|error| CliError::user_error(format!("cannot write {}: {error}", path.display())))
}

fn build_progress_bar(sessions: usize, console: &Console) -> ProgressBar {
    if !console.is_stderr_watched() {
        return ProgressBar::hidden();
    }
    let length = u64::try_from(sessions).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let form = "{bar:30} {pos}/{len} sessions, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
