//! `archivist eval effect`: how surely lessons that do harm are found by holding lessons back.

mod play;
mod rule;
mod show;
mod tally;

use std::ops::RangeInclusive;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use self::play::{Game, Lessons, played};
use self::tally::{ClassRow, CoverageRow, HoldoutRow, SpreadRow};
use crate::cli::console::Console;
use crate::cli::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  archivist eval effect
  archivist eval effect --holdout 0.2 --json
  archivist eval effect --lessons 50 --sessions 4000 --seeds 3 --seed 11

Lessons are made up whose effect is known: a fifth each helps much or a little, does nothing,
harms a little or much. In a session a quarter of them are due; each is shown or held back by the
coin that real sessions throw, and then its trouble comes back or does not. After every session
the rule that retires lessons is asked, and so are two simpler ones. The same --seed plays the
same sessions; without it, 7.";

/// The seed that is reported where none is given. Rules are made with others.
const SEED: u64 = 7;

/// The shares of lessons held back that are compared.
const HOLDOUTS: [f64; 4] = [0.05, 0.1, 0.2, 0.5];

/// More than this takes minutes and says nothing more.
const MOST_LESSONS: u64 = 10_000;
const MOST_SESSIONS: u64 = 1_000_000;
const MOST_SEEDS: u64 = 1_000;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct EvalEffect {
    /// How many lessons to make up
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(5..=MOST_LESSONS))]
    lessons: u64,
    /// How many sessions to play; a lesson is due in a quarter of them
    #[arg(long, value_name = "N", default_value_t = 24_000, value_parser = clap::value_parser!(u64).range(1..=MOST_SESSIONS))]
    sessions: u64,
    /// With what probability a lesson that is due is held back
    #[arg(long, value_name = "P", default_value_t = 0.1, value_parser = probability)]
    holdout: f64,
    /// Over how many seeds to show how much the figures vary, from --seed on
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: u64,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    lessons: u64,
    sessions: u64,
    holdout: f64,
    seed: u64,
    seeds: u64,
    /// How often trouble comes back in runs without the lesson.
    base: f64,
    /// Of how many runs nobody can tell how they ended.
    unknown: f64,
    /// What each rule did to each class of lessons, under the seed.
    rules: Vec<ClassRow>,
    /// What our rule does where more or fewer lessons are held back, under the seed.
    holdouts: Vec<HoldoutRow>,
    /// How often the interval holds the truth, over all seeds.
    coverage: Vec<CoverageRow>,
    /// How much the figures vary with the seed.
    spread: Vec<SpreadRow>,
}

impl EvalEffect {
    pub(super) fn run(&self, seed: Option<u64>, console: &mut Console) -> Result<Exit> {
        let report = self.measured(seed.unwrap_or(SEED))?;
        if self.json {
            console.json(&report)?;
        } else {
            show::print(&report, console)?;
        }
        Ok(Exit::Done)
    }

    fn measured(&self, seed: u64) -> Result<Report, Failure> {
        let mut holdouts = HOLDOUTS.to_vec();
        if !holdouts.contains(&self.holdout) {
            holdouts.push(self.holdout);
            holdouts.sort_by(f64::total_cmp);
        }
        let seeds = (0..self.seeds).map(|more| Game { seed: seed.wrapping_add(more), holdout: self.holdout });
        let others = holdouts.iter().filter(|holdout| **holdout != self.holdout);
        let games: Vec<Game> = seeds.chain(others.map(|holdout| Game { seed, holdout: *holdout })).collect();
        let lessons = Lessons::new(self.lessons, self.sessions).map_err(|error| Failure::user(error.to_string()))?;
        let all = played(&lessons, &games);
        let (by_seed, by_holdout): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.game.holdout == self.holdout);
        let own = by_seed.first().into_iter();
        let mut compared: Vec<_> = own.clone().chain(&by_holdout).collect();
        compared.sort_by(|a, b| a.game.holdout.total_cmp(&b.game.holdout));
        Ok(Report {
            lessons: self.lessons,
            sessions: self.sessions,
            holdout: self.holdout,
            seed,
            seeds: self.seeds,
            base: play::BASE,
            unknown: play::UNKNOWN,
            rules: own.flat_map(tally::rules).collect(),
            holdouts: compared.into_iter().map(tally::holdout).collect(),
            coverage: tally::coverage(&by_seed),
            spread: tally::spread(&by_seed),
        })
    }
}

fn probability(text: &str) -> Result<f64, String> {
    const ALL: RangeInclusive<f64> = 0.0..=1.0;
    match text.parse::<f64>() {
        Ok(value) if ALL.contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1 is needed".to_owned()),
    }
}
