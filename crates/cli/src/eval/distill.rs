//! `archivist eval distill` measures what is learned from sessions without a model, and how much of it is false.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::planted::{
    self, BaselineDistiller, DistillScores, DistillTally, PlantedSession, PlantedVerdict, ScenarioHalf,
};
use crate::cli_error::{CliError, CommandExit};
use crate::console::{Console, TextStyle};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{join_with_commas, one_line};
use archivist_core::distill::SessionDistiller;
use archivist_core::domain::{Candidate, Timestamp};
use archivist_core::redact::Redactor;

const EXAMPLES: &str = "\
Examples:
  archivist eval distill
  archivist eval distill --sessions 120 --filling 7 --json
  archivist eval distill --misses
  archivist eval distill --data my-sessions

Without --data, sessions are made up by a generator: half of them hold one thing to learn, half are
routine. A set of your own is a folder of logs with `expected.json`:
  {\"monday.jsonl\": {\"mention\": [[\"pnpm\"], [\"npm ci\", \"lockfile\"]], \"steps\": [7]}, \"tuesday.json\": null}
A lesson is found if it has a word of every group in `mention` and quotes one of the steps.
Every other lesson is false. Quarantined ones count as not given.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalDistill {
    /// A folder of logs with `expected.json`; sessions made by the generator otherwise
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// How many sessions to make; every scenario by every agent otherwise
    #[arg(long, value_name = "N", conflicts_with = "data")]
    sessions: Option<usize>,
    /// Which names, numbers and paths the sessions are filled with
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "data")]
    filling: u64,
    /// Show what was missed and what was false; of made-up sessions those of the development half only
    #[arg(long)]
    misses: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The scores of one distiller.
#[derive(Debug, Serialize)]
struct DistillerScore {
    distiller: &'static str,
    #[serde(flatten)]
    tally: DistillTally,
}

impl EvalDistill {
    pub(super) fn run(&self, now: Timestamp, console: &mut Console) -> Result<CommandExit> {
        let sessions = self.load_sessions()?;
        let redactor = Redactor::new();
        let distiller = SessionDistiller {
            redactor: &redactor,
            documents: &[],
            max_candidates: super::MAX_CANDIDATES,
            min_importance: super::MIN_IMPORTANCE,
        };
        let mut quarantined = Vec::new();
        let mut own = Vec::new();
        let mut others: Vec<Vec<PlantedVerdict>> = vec![Vec::new(); BaselineDistiller::ALL.len()];
        for session in &sessions {
            let context = planted::build_session_context(session, &redactor, now)
                .map_err(|error| CliError::user_error(format!("{}: {error}", session.name)))?;
            let (given, held_back): (Vec<Candidate>, Vec<Candidate>) = distiller
                .distill_with_heuristics(&context)
                .candidates
                .into_iter()
                .partition(|one| one.quarantine.is_none());
            own.push(planted::score_candidates(session, &given));
            if session.half != ScenarioHalf::Held {
                let why = |one: &Candidate| one.quarantine.clone().unwrap_or_default();
                let told = |one: &Candidate| format!("{}: {} ({})", session.name, one.summary, why(one));
                quarantined.extend(held_back.iter().map(told));
            }
            for (other, verdicts) in BaselineDistiller::ALL.iter().zip(&mut others) {
                verdicts.push(planted::score_candidates(session, &(other.distill)(&context)));
            }
        }
        let names = ["archivist"].into_iter().chain(BaselineDistiller::ALL.iter().map(|other| other.name));
        let scored: Vec<DistillerScore> = names
            .zip([own].iter().chain(&others))
            .map(|(distiller, verdicts)| DistillerScore {
                distiller,
                tally: hide_holdout_cases(planted::tally_verdicts(verdicts)),
            })
            .collect();
        if self.json {
            console.print_json(&scored)?;
        } else {
            print_scores(&scored, self.misses, console)?;
            for one in quarantined.iter().filter(|_| self.misses) {
                let label = console.style_text(TextStyle::Yellow, "quarantined");
                console.print_line(&format!("{label} {}", one_line(one)))?;
            }
        }
        Ok(CommandExit::Done)
    }

    fn load_sessions(&self) -> Result<Vec<PlantedSession>, CliError> {
        if let Some(folder) = &self.data {
            return planted::from_dir(folder).map_err(|error| CliError::user_error(error.to_string()));
        }
        let count = match self.sessions {
            Some(count) => count,
            None => planted::count_all_sessions().map_err(|error| CliError::user_error(error.to_string()))?,
        };
        planted::generate_sessions(self.filling, count).map_err(|error| CliError::user_error(error.to_string()))
    }
}

/// Removes the holdout cases from the lists, so that nobody fits a rule to a single one of them; they stay counted.
fn hide_holdout_cases(mut tally: DistillTally) -> DistillTally {
    tally.misses.retain(|missed| missed.half != ScenarioHalf::Held);
    tally.false_lessons.retain(|lesson| lesson.half != ScenarioHalf::Held);
    tally
}

fn print_scores(scored: &[DistillerScore], misses: bool, console: &mut Console) -> Result<(), CliError> {
    let mut table = TextTable::new([
        TableColumn::text("half", ColumnVisibility::Always),
        TableColumn::text("distiller", ColumnVisibility::Always),
        TableColumn::number("planted", ColumnVisibility::UntilNarrow(2)),
        TableColumn::number("recall", ColumnVisibility::Always),
        TableColumn::number("claimed", ColumnVisibility::UntilNarrow(2)),
        TableColumn::number("precision", ColumnVisibility::Always),
        TableColumn::number("routine", ColumnVisibility::UntilNarrow(2)),
        TableColumn::number("silent", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    let halves = scored.first().map(|one| one.tally.halves.keys().copied().collect::<Vec<_>>()).unwrap_or_default();
    for half in halves {
        let mut label = half.as_str().to_owned();
        for one in scored {
            let Some(scores) = one.tally.halves.get(&half) else { continue };
            table.add_row(
                [std::mem::take(&mut label), one.distiller.to_owned()]
                    .into_iter()
                    .chain(format_figures(scores))
                    .chain([String::new()]),
            );
        }
    }
    table.print_to(console)?;
    let Some(own) = scored.first() else { return Ok(()) };
    console.print_line("")?;
    let mut table = TextTable::new([
        TableColumn::text("half", ColumnVisibility::Always),
        TableColumn::text("what there is to learn", ColumnVisibility::Always),
        TableColumn::number("planted", ColumnVisibility::Always),
        TableColumn::number("found", ColumnVisibility::Always),
        TableColumn::number("claimed", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    for (half, kinds) in &own.tally.kinds {
        for (kind, scores) in kinds {
            let counts = [scores.planted, scores.found, scores.claimed].map(|count| count.to_string());
            table.add_row(
                [half.as_str().to_owned(), kind.as_str().to_owned()].into_iter().chain(counts).chain([String::new()]),
            );
        }
    }
    table.print_to(console)?;
    if misses {
        print_misses(&own.tally, console)?;
    }
    Ok(())
}

fn format_figures(scores: &DistillScores) -> [String; 6] {
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    [
        scores.planted.to_string(),
        share(scores.recall),
        scores.claimed.to_string(),
        share(scores.precision),
        scores.routine.to_string(),
        share(scores.silence),
    ]
}

fn print_misses(tally: &DistillTally, console: &mut Console) -> Result<(), CliError> {
    for missed in &tally.misses {
        let label = console.style_text(TextStyle::Yellow, "missed");
        let words = join_with_commas(missed.mention.iter().map(|group| group.join(" or ")));
        console.print_line(&format!(
            "{label} {} steps {}: {}",
            missed.session,
            join_with_commas(&missed.steps),
            one_line(&words)
        ))?;
    }
    for lesson in &tally.false_lessons {
        let label = console.style_text(TextStyle::Yellow, "false");
        console.print_line(&format!("{label}  {}: {}", lesson.session, one_line(&lesson.text)))?;
    }
    Ok(())
}
