//! `archivist inspect`: what a log holds.

mod lessons;
mod report;
mod show;
mod work;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

pub(super) use self::lessons::print as print_lessons;
use self::report::{Report, Unread};
use super::arguments::Globals;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::reflecting::{by_hand, runtime, service};
use super::session::Session;
use crate::config::Surroundings;
use crate::context::{Material, digest};
use crate::desk::Refusal;
use crate::domain::Timestamp;
use crate::ingest::{Rules, subagents_beside};
use crate::redact::Redactor;
use crate::service::Logs;
use crate::text::Tokenizer;

const EXAMPLES: &str = "\
Examples:
  archivist inspect ~/.claude/projects/-home-me-shop/0f4e.jsonl
  archivist inspect jobs/ --json
  archivist inspect trajectory.json --strict
  archivist inspect session.jsonl --context > context.json
  archivist inspect session.jsonl --digest --budget 8000
  archivist inspect session.jsonl --lessons

The format is known by what a file holds, not by its name. In folders, files that are no logs are passed over.
Secrets are masked in everything that is printed.";

/// The words of a digest, when nobody says how many.
const DIGEST_TOKENS: usize = 24_000;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Inspect {
    /// Logs, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Hold logs against their format's own rules; ends with 1 if one breaks them
    #[arg(long)]
    strict: bool,
    /// Print what a reflection on these logs, as one session, would look at
    #[arg(long, conflicts_with_all = ["strict", "digest"])]
    context: bool,
    /// Print what a model would read of these logs, as one session
    #[arg(long, conflicts_with_all = ["strict", "json"])]
    digest: bool,
    /// Print the lessons that these logs, as one session, would give; nothing is stored
    #[arg(long, conflicts_with_all = ["strict", "context", "digest"])]
    lessons: bool,
    /// The most tokens of a digest
    #[arg(long, value_name = "TOKENS", requires = "digest", default_value_t = DIGEST_TOKENS)]
    budget: usize,
    /// Print one JSON object a file, each on its own line
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(super) fn run(
        &self,
        globals: &Globals,
        surroundings: &Surroundings,
        now: Timestamp,
        seed: u64,
        console: &mut Console,
    ) -> Result<Exit> {
        let here = &surroundings.current_dir;
        let given: Vec<PathBuf> = self.paths.iter().map(|path| here.join(path)).collect();
        let files = work::files(&given, &self.paths)?;
        if self.context || self.lessons {
            let session = Session::open(globals, surroundings, now, seed)?;
            return self.together(&files, &session, surroundings, console);
        }
        if self.digest {
            let redactor = Redactor::new();
            let logs = together(&files, &redactor)?;
            let material =
                Material { trajectories: &logs.gathered.trajectories, signals: &logs.gathered.signals, notes: None };
            console.print(digest(&material, self.budget, &Tokenizer::new()).text.as_bytes())?;
            return Ok(Exit::Done);
        }
        self.each(files, console)
    }

    /// What a reflection on all files, as one session, would look at or learn.
    fn together(
        &self,
        files: &[work::Found],
        session: &Session,
        surroundings: &Surroundings,
        console: &mut Console,
    ) -> Result<Exit> {
        let service = service(session, surroundings)?;
        let paths = files.iter().map(|found| found.path.clone()).collect();
        let (trigger, sources) = by_hand(paths, session)?;
        let runtime = runtime()?;
        if self.context {
            console.json(&runtime.block_on(service.look(&trigger, sources)).map_err(Refusal::from)?)?;
            return Ok(Exit::Done);
        }
        let distilled = runtime.block_on(service.preview(&trigger, sources)).map_err(Refusal::from)?;
        match self.json {
            true => console.json(&distilled)?,
            false => lessons::print(&distilled, console)?,
        }
        Ok(Exit::Done)
    }

    /// One report a file.
    fn each(&self, files: Vec<work::Found>, console: &mut Console) -> Result<Exit> {
        let mut tally = Tally::default();
        let rules = Rules { strict: self.strict };
        work::in_parallel(&files, rules, console, |found, read, console| {
            match read {
                Ok(log) => {
                    let report = Report::of(&found.shown, log);
                    tally.read += 1;
                    tally.with_findings += u64::from(report.has_findings());
                    if self.json {
                        let line = serde_json::to_string(&report).map_err(Failure::Encode)?;
                        console.line(&line)
                    } else {
                        show::print(&report, tally.read == 1, console)
                    }
                }
                // Whoever names a folder does not vouch for every file in it.
                Err(unreadable) if !found.is_named && unreadable.is_no_log() => {
                    tally.passed_over += 1;
                    Ok(())
                }
                Err(unreadable) => {
                    tally.unread += 1;
                    if self.json {
                        let line =
                            serde_json::to_string(&Unread::of(&found.shown, &unreadable)).map_err(Failure::Encode)?;
                        console.line(&line)?;
                    }
                    console.error(&format!("{}: {unreadable}", found.shown));
                    Ok(())
                }
            }
        })?;
        tally.end(self.strict, console)
    }
}

/// What became of the files.
#[derive(Debug, Default)]
struct Tally {
    read: u64,
    with_findings: u64,
    unread: u64,
    passed_over: u64,
}

impl Tally {
    fn end(&self, strict: bool, console: &mut Console) -> Result<Exit> {
        if self.passed_over > 0 {
            console.note(&format!("passed over {} files that are no logs", self.passed_over));
        }
        if self.read == 0 && self.unread == 0 {
            let hint = "name a session log or a folder that holds some";
            return Err(Failure::user("no logs were found").with_hint(hint).into());
        }
        if self.unread > 0 {
            console.hint("docs/formats.md lists the formats that are read");
        }
        let is_clean = self.unread == 0 && !(strict && self.with_findings > 0);
        Ok(if is_clean { Exit::Done } else { Exit::Refused })
    }
}

/// Files read as one session, with what lies beside them.
fn together(files: &[work::Found], redactor: &Redactor) -> Result<Logs> {
    let paths: Vec<PathBuf> = files.iter().map(|found| found.path.clone()).collect();
    let subagents: Vec<PathBuf> =
        paths.iter().flat_map(|path| subagents_beside(path)).filter(|path| !paths.contains(path)).collect();
    let logs = Logs::read(&paths, &subagents, redactor);
    let shown = files.first().map(|found| found.shown.as_str()).unwrap_or_default();
    logs.map_err(|unreadable| {
        let hint = "docs/formats.md lists the formats that are read";
        Failure::user(format!("{shown}: {unreadable}")).with_hint(hint).into()
    })
}
