//! `archivist audit`: measures how much of a memory is junk.

mod jsonl;
mod markdown;
mod print;
mod project_documents;
mod stores;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use self::stores::{AuditFormat, read_entries};
use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::lesson_format::display_name;
use crate::memory_audit::{AuditEntry, AuditProjectView, AuditReport, AuditRules, JunkKind, audit_entries};
use crate::text_format::format_count;
use archivist_core::domain::LessonAvailability;
use archivist_core::judge::SimilarityThresholds;
use archivist_core::memory::{Lesson, LessonStateFilter};
use archivist_core::recall::{AnchorPresence, LessonAnchor};
use archivist_core::service::{LessonFilter, ProjectFileProbe};

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
pub(crate) struct AuditCommand {
    /// A file or a folder of another memory; this project's own otherwise
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// What PATH holds; known by its looks otherwise
    #[arg(long, value_enum, value_name = "FORMAT", requires = "path")]
    format: Option<AuditFormat>,
    /// So many examples of each sort
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// End with 1 if more than this share of all entries is junk
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    max_junk: Option<f64>,
    /// End with 1 if more than this share is junk of this sort; may be given again
    #[arg(long, value_name = "SORT=SHARE", value_parser = parse_limit)]
    max: Vec<(JunkKind, f64)>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl AuditCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let entries = match &self.path {
            Some(path) => read_entries(path, self.format, session.now, console)?,
            None => read_own_entries(session).await?,
        };
        let root = &session.archivist.project().root;
        let documents = project_documents::read_documents(root, self.path.as_deref());
        let look = ProjectFileProbe::with_long_time_limit(root);
        // A path whose presence is unknown counts as present.
        let is_there = |path: &str| {
            matches!(
                look.find_anchor(&LessonAnchor::Path(path.to_owned())),
                AnchorPresence::Here | AnchorPresence::Unknown
            )
        };
        let judge = &session.archivist.config().judge;
        let rules = AuditRules {
            thresholds: SimilarityThresholds { same_above: judge.same_above, different_below: judge.different_below },
            examples: self.examples,
            now: Some(session.now),
        };
        let report = audit_entries(&entries, &AuditProjectView { documents: &documents, is_there: &is_there }, &rules);
        if self.json {
            console.print_json(&report)?;
        } else if report.total == 0 {
            console.print_note(&describe_empty_memory(&report, self.path.is_some()));
        } else {
            print::print_audit(&report, console)?;
        }
        Ok(self.check_limits(&report, console))
    }

    /// Compares the shares with the given limits, and reports each that is exceeded.
    fn check_limits(&self, report: &AuditReport, console: &mut Console) -> CommandExit {
        let mut exit = CommandExit::Done;
        let whole = self.max_junk.map(|most| ("junk", Some(report.junk_share), most));
        let sorts = self.max.iter().map(|(sort, most)| {
            let share = report.sorts.get(sort).map(|tally| tally.share);
            (sort.as_str(), share, *most)
        });
        for (what, share, most) in whole.into_iter().chain(sorts) {
            match share {
                None => {
                    console.print_warning(&format!(
                        "this memory does not tell what was used; no limit for {what} was looked at"
                    ));
                }
                Some(share) if share > most => {
                    let (share, most) = (print::format_percent(share), print::format_percent(most));
                    console.print_error(&format!("{what}: {share} of the entries, above the limit of {most}"));
                    exit = CommandExit::Refused;
                }
                Some(_) => {}
            }
        }
        exit
    }
}

/// Returns the message for a memory that has no entries in use.
fn describe_empty_memory(report: &AuditReport, is_other: bool) -> String {
    let what = if is_other { "no entries" } else { "no lessons" };
    match report.retired {
        0 => what.to_owned(),
        retired => format!("{what} in use; {}", format_count(retired, "is retired", "are retired")),
    }
}

/// Reads the lessons of this project as audit entries.
async fn read_own_entries(session: &CommandContext) -> Result<Vec<AuditEntry>> {
    let lessons = session.archivist.list_lessons(&LessonFilter::from_selection(LessonStateFilter::All)).await?;
    Ok(lessons.iter().map(entry_from_lesson).collect())
}

fn entry_from_lesson(lesson: &Lesson) -> AuditEntry {
    let memory = &lesson.memory;
    let texts = [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()];
    let availability = memory.availability();
    AuditEntry {
        name: display_name(memory).to_owned(),
        text: texts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n"),
        at: Some(memory.created_at),
        // A lesson that waits to be seen again is never injected, so it does not count as unused.
        used: (availability != LessonAvailability::Waiting).then_some(lesson.counters.exposures),
        is_retired: availability == LessonAvailability::Retired,
    }
}

/// Parses a share such as `0.25` or `25%`.
fn parse_share(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "a share is written like 0.25 or 25%".to_owned())
}

/// Parses a limit such as `secrets=0`.
fn parse_limit(text: &str) -> Result<(JunkKind, f64), String> {
    let (sort, most) = text.split_once('=').ok_or("a limit is written like secrets=0 or nearDuplicates=10%")?;
    Ok((sort.trim().parse()?, parse_share(most.trim())?))
}
