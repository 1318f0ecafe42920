//! `archivist audit`: how much of a memory is junk.

mod ground;
mod jsonl;
mod markdown;
mod show;
mod stores;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use self::stores::{Format, entries_of};
use super::console::Console;
use super::failure::Exit;
use super::lesson::name;
use super::prose::count;
use super::session::Session;
use crate::audit::{Entry, Ground, Report, Rules, Sort, audit};
use crate::desk::{LessonFilter, ProjectLook};
use crate::domain::Standing;
use crate::judge::Thresholds;
use crate::memory::{Lesson, Which};
use crate::recall::{Anchor, Presence};

const EXAMPLES: &str = "\
Examples:
  archivist audit
  archivist audit .openagents/memories.jsonl
  archivist audit ~/.claude/projects/-home-me-shop/memory --examples 1
  archivist audit CLAUDE.md --format markdown --json
  archivist audit --max-junk 30% --max secrets=0 --max nearDuplicates=0.1

Without PATH the memory of the project is looked at. Paths and documents are looked for in the project, whosever memory it
is: see --project. Nothing is changed and nothing is sent anywhere; secrets are masked in everything that is printed.
Exit code 1 says that a share is above a limit that was given. docs/audit.md says what each sort catches and misses.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Audit {
    /// A file or a folder of another memory; this project's own otherwise
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// What PATH holds; known by its looks otherwise
    #[arg(long, value_enum, value_name = "FORMAT", requires = "path")]
    format: Option<Format>,
    /// So many examples of each sort
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// End with 1 if more than this share of all entries is junk
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_junk: Option<f64>,
    /// End with 1 if more than this share is junk of this sort; may be given again
    #[arg(long, value_name = "SORT=SHARE", value_parser = limit)]
    max: Vec<(Sort, f64)>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let entries = match &self.path {
            Some(path) => entries_of(path, self.format, session.now, console)?,
            None => own(session).await?,
        };
        let root = &session.desk.project().root;
        let documents = ground::documents(root, self.path.as_deref());
        let look = ProjectLook::patient(root);
        // What nobody can tell is taken to be there.
        let is_there =
            |path: &str| matches!(look.at(&Anchor::Path(path.to_owned())), Presence::Here | Presence::Unknown);
        let judge = &session.desk.config().judge;
        let rules = Rules {
            thresholds: Thresholds { same_above: judge.same_above, different_below: judge.different_below },
            examples: self.examples,
            now: Some(session.now),
        };
        let report = audit(&entries, &Ground { documents: &documents, is_there: &is_there }, &rules);
        if self.json {
            console.json(&report)?;
        } else if report.total == 0 {
            console.note(&nothing(&report, self.path.is_some()));
        } else {
            show::print(&report, console)?;
        }
        Ok(self.verdict(&report, console))
    }

    /// Holds the shares against the limits that were given.
    fn verdict(&self, report: &Report, console: &mut Console) -> Exit {
        let mut exit = Exit::Done;
        let whole = self.max_junk.map(|most| ("junk", Some(report.junk_share), most));
        let sorts = self.max.iter().map(|(sort, most)| {
            let share = report.sorts.get(sort).map(|tally| tally.share);
            (sort.as_str(), share, *most)
        });
        for (what, share, most) in whole.into_iter().chain(sorts) {
            match share {
                None => {
                    console
                        .warn(&format!("this memory does not tell what was used; no limit for {what} was looked at"));
                }
                Some(share) if share > most => {
                    let (share, most) = (show::percent(share), show::percent(most));
                    console.error(&format!("{what}: {share} of the entries, above the limit of {most}"));
                    exit = Exit::Refused;
                }
                Some(_) => {}
            }
        }
        exit
    }
}

/// What is said of a memory without anything in use.
fn nothing(report: &Report, is_other: bool) -> String {
    let what = if is_other { "no entries" } else { "no lessons" };
    match report.retired {
        0 => what.to_owned(),
        retired => format!("{what} in use; {}", count(retired, "is retired", "are retired")),
    }
}

/// The lessons of this project.
async fn own(session: &Session) -> Result<Vec<Entry>> {
    let lessons = session.desk.lessons(&LessonFilter::of(Which::All)).await?;
    Ok(lessons.iter().map(entry).collect())
}

fn entry(lesson: &Lesson) -> Entry {
    let memory = &lesson.memory;
    let texts = [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()];
    let standing = memory.standing();
    Entry {
        name: name(memory).to_owned(),
        text: texts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n"),
        at: Some(memory.created_at),
        // One that waits to be seen again is given to nobody, and that is no fault of its own.
        used: (standing != Standing::Waiting).then_some(lesson.counters.exposures),
        is_retired: standing == Standing::Retired,
    }
}

/// `0.25` or `25%`.
fn share(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "a share is written like 0.25 or 25%".to_owned())
}

/// `secrets=0`.
fn limit(text: &str) -> Result<(Sort, f64), String> {
    let (sort, most) = text.split_once('=').ok_or("a limit is written like secrets=0 or nearDuplicates=10%")?;
    Ok((sort.trim().parse()?, share(most.trim())?))
}
