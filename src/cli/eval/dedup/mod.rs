//! `archivist eval dedup`: how well a lesson that is known is told from one that is new.

mod measure;
mod pairs;
mod public;
mod show;
mod store;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use self::pairs::PairScore;
use self::public::SetScore;
use self::store::StoreScore;
use super::model::Model;
use crate::cli::console::Console;
use crate::cli::failure::Exit;
use crate::config::{LoadRequest, load};
use crate::judge::Thresholds;

const EXAMPLES: &str = "\
Examples:
  archivist eval dedup
  archivist eval dedup --pairs my-pairs.jsonl
  archivist eval dedup --data bench/dedup --json
  archivist eval dedup --data bench/dedup --embeddings models/all-MiniLM-L6-v2

Without --data, pairs of lessons are measured that were written for this and are part of the program:
one part the weights and the threshold were made with, one was held out, one is fresh. A set of your own
is a file of JSON lines, gzipped or not, each with `a`, `b` and a `label` (1: they say the same).
A set called `nl2bash_pairs` is also played into a memory of 500 lessons.";

/// The public set whose texts are played into a memory.
const STORED: &str = "nl2bash_pairs";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct EvalDedup {
    /// A directory of labelled pairs of texts (*.jsonl, *.jsonl.gz)
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Pairs of lessons of your own, labelled as in fixtures/pairs, beside those of the program; may be given again
    #[arg(long, value_name = "FILE")]
    pairs: Vec<PathBuf>,
    /// A directory with a sentence model, to measure with embeddings as well
    #[arg(long, value_name = "DIR")]
    embeddings: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    same_above: f64,
    different_below: f64,
    pairs: Vec<PairScore>,
    sets: Vec<SetScore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<StoreScore>,
}

impl EvalDedup {
    pub(super) fn run(&self, console: &mut Console) -> Result<Exit> {
        let judging = load(&LoadRequest::default())?.config.judge;
        let thresholds = Thresholds { same_above: judging.same_above, different_below: judging.different_below };
        let model = self.embeddings.as_deref().map(Model::new).transpose()?;
        let sets = match &self.data {
            Some(directory) => public::sets(directory, console)?,
            None => Vec::new(),
        };
        let mut report = Report {
            same_above: thresholds.same_above,
            different_below: thresholds.different_below,
            pairs: pairs::score(&self.pairs, &thresholds, model.as_ref())?,
            sets: Vec::new(),
            store: None,
        };
        for set in &sets {
            report.sets.push(public::score(set, model.as_ref())?);
            if set.name == STORED {
                report.store = store::score(&set.pairs, &thresholds, model.as_ref())?;
            }
        }
        if self.json {
            console.json(&report)?;
        } else {
            show::print(&report, console)?;
        }
        Ok(Exit::Done)
    }
}
