//! `archivist batch`: every session of the last days that was not reflected on.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use chrono::TimeDelta;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::console::Console;
use super::failure::{Exit, Failure};
use super::lesson::name;
use super::prose::{count, one_line};
use super::reflecting::{hud_patience, runtime, service};
use super::session::Session;
use super::table::{Column, Stay, Table};
use crate::config::{Config, Surroundings};
use crate::desk::Refusal;
use crate::domain::{AgentMemory, ArchivistOutcome, MemoryId};
use crate::service::{ArchivistService, BatchPlan, Finished, Journal, Planned};

const EXAMPLES: &str = "\
Examples:
  archivist batch --days 7
  archivist batch --days 30 --concurrency 8 --yes
  archivist batch --days 1 --dry-run --json

Broken off, it goes on where it was when it is started again, and asks a model for nothing twice.";

/// Characters that make a token, about.
const CHARACTERS_A_TOKEN: u64 = 4;

/// What a question takes besides the log, and what an answer takes, about.
const PROMPT_TOKENS: u64 = 2_500;
const ANSWER_TOKENS: u64 = 800;

/// Whoever watches a file instead of a terminal hears of it this often.
const TOLD_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Batch {
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

/// What is going to happen, and what it may cost.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Forecast {
    sessions: usize,
    /// Those that have nothing new to tell.
    known: usize,
    bytes: u64,
    /// Missing where no model is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    prompt_tokens: u64,
    completion_tokens: u64,
    cost_usd: f64,
    problems: Vec<String>,
}

/// Everything that came of it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Harvest {
    reflected: usize,
    skipped: usize,
    outcomes: Vec<ArchivistOutcome>,
    #[serde(skip)]
    lessons: Vec<(AgentMemory, u64)>,
    #[serde(skip)]
    troubles: Vec<String>,
}

impl Batch {
    pub(super) fn run(&self, session: &Session, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        let service = Arc::new(service(session, surroundings)?);
        let window = TimeDelta::days(i64::from(self.days));
        let since = session.now.checked_sub_signed(window).unwrap_or_default();
        let runtime = runtime()?;
        let plan = runtime.block_on(service.plan_batch(since)).map_err(Refusal::from)?;
        let forecast = Forecast::of(&plan, session.desk.config());
        for problem in &forecast.problems {
            console.warn(problem);
        }
        if self.dry_run && self.json {
            console.json(&forecast)?;
            return Ok(Exit::Done);
        }
        console.note(&forecast.told());
        if self.dry_run || plan.sessions.is_empty() {
            if self.json {
                console.json(&Harvest::default())?;
            }
            return Ok(Exit::Done);
        }
        if !self.yes && !console.agrees("go on?")? {
            return Ok(Exit::Refused);
        }
        let journal = journal(session.desk.memory_dir())?;
        let harvest = runtime.block_on(self.reap(&service, plan, &journal, console));
        if let Some(journal) = Arc::into_inner(journal)
            && let Err(error) = journal.close()
        {
            console.warn(&format!("the batch's journal could not be removed: {error}"));
        }
        runtime.block_on(async {
            service.finish(hud_patience(session)).await;
            if let Err(skip) = service.tend().await {
                console.warn(&format!("older lessons were not looked after: {skip}"));
            }
            session.desk.memory.maintain().await;
        });
        harvest.print(self.json, console)
    }

    async fn reap(
        &self,
        service: &Arc<ArchivistService>,
        plan: BatchPlan,
        journal: &Arc<Journal>,
        console: &mut Console,
    ) -> Harvest {
        let bar = bar(plan.sessions.len(), console);
        let mut harvest = Harvest::default();
        let (began, mut told) = (Instant::now(), Instant::now());
        let total = plan.sessions.len();
        let watch = |finished: Finished<'_>| {
            harvest.add(&finished);
            bar.inc(1);
            let done = harvest.reflected + harvest.skipped;
            if bar.is_hidden() && told.elapsed() >= TOLD_EVERY {
                told = Instant::now();
                let left = began.elapsed().div_f64(done.max(1) as f64).mul_f64(total.saturating_sub(done) as f64);
                console.note(&format!("{done} of {total} sessions, about {} s left", left.as_secs()));
            }
        };
        let concurrency = usize::from(self.concurrency);
        Arc::clone(service).run_batch(plan, concurrency, Some(Arc::clone(journal)), watch).await;
        bar.finish_and_clear();
        harvest
    }
}

impl Forecast {
    fn of(plan: &BatchPlan, config: &Config) -> Self {
        let digest = u64::from(config.distill.digest_tokens);
        let asked = |planned: &Planned| PROMPT_TOKENS + (planned.sources.bytes() / CHARACTERS_A_TOKEN).min(digest);
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
            bytes: plan.sessions.iter().map(|planned| planned.sources.bytes()).sum(),
            model,
            prompt_tokens,
            completion_tokens,
            cost_usd: price(prompt_tokens, prices.input_per_million)
                + price(completion_tokens, prices.output_per_million),
            problems: plan.problems.clone(),
        }
    }

    fn told(&self) -> String {
        let sessions = count(self.sessions, "session", "sessions");
        let known = match self.known {
            0 => String::new(),
            known => format!(" ({known} more have nothing new to tell)"),
        };
        let cost = match &self.model {
            None => "no model is asked".to_owned(),
            Some(model) => {
                let tokens = count(self.prompt_tokens + self.completion_tokens, "token", "tokens");
                format!("about {tokens} of {}, ${:.2}", one_line(model), self.cost_usd)
            }
        };
        format!("{sessions} to reflect on{known}, {cost}")
    }
}

impl Harvest {
    fn add(&mut self, finished: &Finished<'_>) {
        match finished.came {
            Ok(learned) => {
                self.reflected += 1;
                for memory in learned.created.iter().chain(&learned.updated).chain(&learned.seen) {
                    self.see(memory);
                }
            }
            Err(skip) => {
                self.skipped += 1;
                if !skip.is_choice() {
                    self.troubles.push(format!("{}: {skip}", finished.trigger.session_id));
                }
            }
        }
        self.outcomes.push(ArchivistService::outcome(finished.trigger, finished.came));
    }

    /// A lesson as it was last seen, and in how many sessions.
    fn see(&mut self, memory: &AgentMemory) {
        let id: &MemoryId = &memory.id;
        match self.lessons.iter_mut().find(|(known, _)| known.id == *id) {
            Some((known, times)) => {
                *known = memory.clone();
                *times += 1;
            }
            None => self.lessons.push((memory.clone(), 1)),
        }
    }

    fn print(&self, json: bool, console: &mut Console) -> Result<Exit> {
        if json {
            console.json(self)?;
        } else {
            let mut table = Table::new([
                Column::text("ID", Stay::Always),
                Column::text("State", Stay::Always),
                Column::number("Imp", Stay::Always),
                Column::number("Seen", Stay::Always),
                Column::text("Summary", Stay::Always),
            ]);
            for (memory, times) in &self.lessons {
                let state = memory.state.as_ref().map(ToString::to_string).unwrap_or_default();
                let summary = one_line(&memory.summary);
                table.row([name(memory).to_owned(), state, memory.importance.to_string(), times.to_string(), summary]);
            }
            if !self.lessons.is_empty() {
                table.print(console)?;
            }
            let lessons = count(self.lessons.len(), "lesson", "lessons");
            console.note(&format!("{lessons} from {}", count(self.reflected, "session", "sessions")));
        }
        for trouble in &self.troubles {
            console.warn(trouble);
        }
        Ok(if self.reflected == 0 && !self.troubles.is_empty() { Exit::Refused } else { Exit::Done })
    }
}

/// What was asked of a model, beside the memory that it is for.
fn journal(memory_dir: &Path) -> Result<Arc<Journal>, Failure> {
    let path = memory_dir.join("queue").join("batch.log");
    let opened = Journal::open(&path);
    opened.map(Arc::new).map_err(|error| Failure::user(format!("cannot write {}: {error}", path.display())))
}

fn bar(sessions: usize, console: &Console) -> ProgressBar {
    if !console.watches_stderr() {
        return ProgressBar::hidden();
    }
    let length = u64::try_from(sessions).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let form = "{bar:30} {pos}/{len} sessions, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
