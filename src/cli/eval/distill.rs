//! `archivist eval distill`: what is learned from sessions without a model, and what is made up.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::planted::{self, Baseline, Half, Scores, Session, Tally, Verdict};
use crate::cli::console::{Console, Style};
use crate::cli::failure::{Exit, Failure};
use crate::cli::prose::{list, one_line};
use crate::cli::table::{Column, Stay, Table};
use crate::distill::Distiller;
use crate::domain::{Candidate, Timestamp};
use crate::redact::Redactor;

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

/// As many candidates as a reflection keeps, and none less important, where nothing else is set.
const MAX_CANDIDATES: usize = 5;
const MIN_IMPORTANCE: f64 = 0.3;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct EvalDistill {
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

/// What one distiller scored.
#[derive(Debug, Serialize)]
struct Scored {
    distiller: &'static str,
    #[serde(flatten)]
    tally: Tally,
}

impl EvalDistill {
    pub(super) fn run(&self, now: Timestamp, console: &mut Console) -> Result<Exit> {
        let sessions = self.made()?;
        let redactor = Redactor::new();
        let distiller = Distiller {
            redactor: &redactor,
            documents: &[],
            max_candidates: MAX_CANDIDATES,
            min_importance: MIN_IMPORTANCE,
        };
        let mut quarantined = Vec::new();
        let mut own = Vec::new();
        let mut others: Vec<Vec<Verdict>> = vec![Vec::new(); Baseline::ALL.len()];
        for session in &sessions {
            let context = planted::context(session, &redactor, now)
                .map_err(|error| Failure::user(format!("{}: {error}", session.name)))?;
            let (given, held_back): (Vec<Candidate>, Vec<Candidate>) =
                distiller.by_heuristics(&context).candidates.into_iter().partition(|one| one.quarantine.is_none());
            own.push(planted::score(session, &given));
            if session.half != Half::Held {
                let why = |one: &Candidate| one.quarantine.clone().unwrap_or_default();
                let told = |one: &Candidate| format!("{}: {} ({})", session.name, one.summary, why(one));
                quarantined.extend(held_back.iter().map(told));
            }
            for (other, verdicts) in Baseline::ALL.iter().zip(&mut others) {
                verdicts.push(planted::score(session, &(other.distill)(&context)));
            }
        }
        let names = ["archivist"].into_iter().chain(Baseline::ALL.iter().map(|other| other.name));
        let scored: Vec<Scored> = names
            .zip([own].iter().chain(&others))
            .map(|(distiller, verdicts)| Scored { distiller, tally: shown(planted::tally(verdicts)) })
            .collect();
        if self.json {
            console.json(&scored)?;
        } else {
            print(&scored, self.misses, console)?;
            for one in quarantined.iter().filter(|_| self.misses) {
                let label = console.styled(Style::Yellow, "quarantined");
                console.line(&format!("{label} {}", one_line(one)))?;
            }
        }
        Ok(Exit::Done)
    }

    fn made(&self) -> Result<Vec<Session>, Failure> {
        if let Some(folder) = &self.data {
            return planted::from_dir(folder).map_err(|error| Failure::user(error.to_string()));
        }
        let count = match self.sessions {
            Some(count) => count,
            None => planted::all_sessions().map_err(|error| Failure::user(error.to_string()))?,
        };
        planted::sessions(self.filling, count).map_err(|error| Failure::user(error.to_string()))
    }
}

/// What was held out is counted, and never shown: whoever looked could mend the one case and not the kind.
fn shown(mut tally: Tally) -> Tally {
    tally.misses.retain(|missed| missed.half != Half::Held);
    tally.false_lessons.retain(|lesson| lesson.half != Half::Held);
    tally
}

fn print(scored: &[Scored], misses: bool, console: &mut Console) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("half", Stay::Always),
        Column::text("distiller", Stay::Always),
        Column::number("planted", Stay::UntilNarrow(2)),
        Column::number("recall", Stay::Always),
        Column::number("claimed", Stay::UntilNarrow(2)),
        Column::number("precision", Stay::Always),
        Column::number("routine", Stay::UntilNarrow(2)),
        Column::number("silent", Stay::Always),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    let halves = scored.first().map(|one| one.tally.halves.keys().copied().collect::<Vec<_>>()).unwrap_or_default();
    for half in halves {
        let mut label = half.as_str().to_owned();
        for one in scored {
            let Some(scores) = one.tally.halves.get(&half) else { continue };
            table.row(
                [std::mem::take(&mut label), one.distiller.to_owned()]
                    .into_iter()
                    .chain(figures(scores))
                    .chain([String::new()]),
            );
        }
    }
    table.print(console)?;
    let Some(own) = scored.first() else { return Ok(()) };
    console.line("")?;
    let mut table = Table::new([
        Column::text("half", Stay::Always),
        Column::text("what there is to learn", Stay::Always),
        Column::number("planted", Stay::Always),
        Column::number("found", Stay::Always),
        Column::number("claimed", Stay::Always),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    for (half, kinds) in &own.tally.kinds {
        for (kind, scores) in kinds {
            let counts = [scores.planted, scores.found, scores.claimed].map(|count| count.to_string());
            table.row(
                [half.as_str().to_owned(), kind.as_str().to_owned()].into_iter().chain(counts).chain([String::new()]),
            );
        }
    }
    table.print(console)?;
    if misses {
        print_misses(&own.tally, console)?;
    }
    Ok(())
}

fn figures(scores: &Scores) -> [String; 6] {
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

fn print_misses(tally: &Tally, console: &mut Console) -> Result<(), Failure> {
    for missed in &tally.misses {
        let label = console.styled(Style::Yellow, "missed");
        let words = list(missed.mention.iter().map(|group| group.join(" or ")));
        console.line(&format!("{label} {} steps {}: {}", missed.session, list(&missed.steps), one_line(&words)))?;
    }
    for lesson in &tally.false_lessons {
        let label = console.styled(Style::Yellow, "false");
        console.line(&format!("{label}  {}: {}", lesson.session, one_line(&lesson.text)))?;
    }
    Ok(())
}
