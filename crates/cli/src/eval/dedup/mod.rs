//! `archivist eval dedup` measures how well a lesson that is already stored is told apart from a new one.

mod pairs;
mod print;
mod public;
mod similarity_measures;
mod store;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use self::pairs::LessonPairScore;
use self::public::TextPairSetScore;
use self::store::StoreMergeScore;
use super::model::SentenceModel;
use crate::cli_error::CommandExit;
use crate::console::Console;
use archivist_core::config::{ConfigLoadRequest, load_config};
use archivist_core::judge::SimilarityThresholds;

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

/// The public set whose texts are also added to a memory of stored lessons.
const STORED: &str = "nl2bash_pairs";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalDedup {
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

/// The figures of all measurements of `archivist eval dedup`.
#[derive(Debug, Serialize)]
struct DedupEvalReport {
    same_above: f64,
    different_below: f64,
    pairs: Vec<LessonPairScore>,
    sets: Vec<TextPairSetScore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<StoreMergeScore>,
}

impl EvalDedup {
    pub(super) fn run(&self, console: &mut Console) -> Result<CommandExit> {
        let judging = load_config(&ConfigLoadRequest::default())?.config.judge;
        let thresholds =
            SimilarityThresholds { same_above: judging.same_above, different_below: judging.different_below };
        let model = self.embeddings.as_deref().map(SentenceModel::new).transpose()?;
        let sets = match &self.data {
            Some(directory) => public::read_pair_sets(directory, console)?,
            None => Vec::new(),
        };
        let mut report = DedupEvalReport {
            same_above: thresholds.same_above,
            different_below: thresholds.different_below,
            pairs: pairs::score_lesson_pairs(&self.pairs, &thresholds, model.as_ref())?,
            sets: Vec::new(),
            store: None,
        };
        for set in &sets {
            report.sets.push(public::score_pair_set(set, model.as_ref())?);
            if set.name == STORED {
                report.store = store::score_store_merges(&set.pairs, &thresholds, model.as_ref())?;
            }
        }
        if self.json {
            console.print_json(&report)?;
        } else {
            print::print_report(&report, console)?;
        }
        Ok(CommandExit::Done)
    }
}
