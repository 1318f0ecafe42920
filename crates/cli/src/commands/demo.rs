//! `archivist demo`: reflects on bundled sessions in a project of their own, and shows all results.
//!
//! The logs, their captions and the project's documents are made up; the lessons and the block for the next session
//! come from the same service that hooks and `archivist reflect` use. The user's own settings, memories and documents
//! are not read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chrono::DateTime;
use clap::Args;
use serde::Serialize;

use super::hook::request_session_lessons;
use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::{Console, TextStyle};
use crate::lesson_format::display_name;
use crate::session_trigger::{build_runtime, trigger_for_files};
use crate::text_format::{one_line, wrap_words};
use archivist_core::config::{ProcessEnvironment, find_trust_key};
use archivist_core::domain::{AgentMemory, DropReason, DroppedCandidate, MemoryState, Quote, Timestamp, TrustClass};
use archivist_core::memory::{EpisodeFilter, LessonName};
use archivist_core::service::RequestError;
use archivist_core::service::{ReflectionReport, RepeatPolicy};
use archivist_core::trust::{RepositoryKind, TrustedRepositories};

const EXAMPLES: &str = "\
Examples:
  archivist demo
  archivist demo --keep ~/shop && archivist why m-001 --project ~/shop

It needs no key, no network and no settings, reads none of yours, and leaves nothing behind unless --keep is given.";

/// The bundled sessions in the order in which they happened.
const SESSIONS: [BundledSession; 4] = [
    BundledSession {
        file: "monday.jsonl",
        about: "Claude Code fixes an invoice",
        log: include_str!("../../../../examples/demo/sessions/monday.jsonl"),
    },
    BundledSession {
        file: "tuesday.jsonl",
        about: "Codex adds the balance of a gift card",
        log: include_str!("../../../../examples/demo/sessions/tuesday.jsonl"),
    },
    BundledSession {
        file: "wednesday.jsonl",
        about: "Claude Code puts the year into the footer",
        log: include_str!("../../../../examples/demo/sessions/wednesday.jsonl"),
    },
    BundledSession {
        file: "thursday.jsonl",
        about: "Claude Code answers a question",
        log: include_str!("../../../../examples/demo/sessions/thursday.jsonl"),
    },
];

/// The only document of the bundled project.
const PROJECT_INSTRUCTIONS: &str = include_str!("../../../../examples/demo/AGENTS.md");

/// The settings of the bundled project: a fixed key, so that nothing depends on its path.
const PROJECT_KEY: &str = "shop";
const PROJECT_SETTINGS: &str = "[project]\nkey = \"shop\"\n";

/// The morning after the last session, in seconds since 1970. A fixed day makes the output reproducible.
const NEXT_MORNING: i64 = 1_772_787_600;

/// The widest column of text that is easy to read.
const WIDEST_TEXT: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoCommand {
    /// Keep the project, its sessions and its memory in this directory, which must be empty or new
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// A session log that is part of the program.
struct BundledSession {
    file: &'static str,
    about: &'static str,
    log: &'static str,
}

/// Everything that the demo shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DemoReport {
    sessions: Vec<SessionReport>,
    /// The text that the session-start hook adds to the next session's context.
    session_start: String,
    /// The directory that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

/// One session and its lessons.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionReport {
    file: &'static str,
    about: &'static str,
    lessons: Vec<LessonReport>,
    dropped: Vec<DroppedCandidate>,
}

/// A lesson in its state after one session, with the quotes from that session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LessonReport {
    change: LessonChange,
    #[serde(flatten)]
    lesson: AgentMemory,
    session_quotes: Vec<Quote>,
}

/// The difference that a session made to a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LessonChange {
    Learned,
    Improved,
    SeenAgain,
}

impl DemoCommand {
    pub(crate) fn run(&self, environment: &ProcessEnvironment, console: &mut Console) -> Result<CommandExit> {
        let now = DateTime::from_timestamp(NEXT_MORNING, 0).unwrap_or_default();
        let report = match &self.keep {
            Some(directory) => {
                let root = prepare_directory(&environment.current_dir.join(directory))?;
                let report = reflect_on_bundled_sessions(&root, now)?;
                trust_kept_project(&root, environment, now);
                DemoReport { kept: Some(root.display().to_string()), ..report }
            }
            None => reflect_in_temporary_directory(now)?,
        };
        match self.json {
            true => console.print_json(&report)?,
            false => print_report(&report, console)?,
        }
        Ok(CommandExit::Done)
    }
}

/// Reflects in a temporary directory, removes it, and leaves its path out of the report.
fn reflect_in_temporary_directory(now: Timestamp) -> Result<DemoReport> {
    let directory = tempfile::tempdir().map_err(|error| {
        let failure = CliError::user_error(format!("there is no temporary directory to work in: {error}"));
        failure.with_hint("set TMPDIR, or give --keep")
    })?;
    let mut report = reflect_on_bundled_sessions(&directory.path().canonicalize()?, now)?;
    directory.close().context("the temporary directory could not be removed")?;
    for report in report.sessions.iter_mut().flat_map(|session| &mut session.lessons) {
        report.lesson.evidence.run_log_paths.clear();
    }
    Ok(report)
}

/// Creates the directory to keep. A directory that is not empty is refused.
fn prepare_directory(directory: &Path) -> Result<PathBuf> {
    let cannot =
        |error: io::Error| CliError::user_error(format!("--keep {} cannot be used: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(cannot)?;
    if fs::read_dir(directory).map_err(cannot)?.next().is_some() {
        let message = format!("--keep {} is not empty", directory.display());
        return Err(CliError::user_error(message).with_hint("name a directory that does not exist yet").into());
    }
    Ok(directory.canonicalize().map_err(cannot)?)
}

/// Trusts the project that is kept, unless it lies in a repository of somebody's.
fn trust_kept_project(root: &Path, environment: &ProcessEnvironment, now: Timestamp) {
    let Some(key) = find_trust_key(root).filter(|key| key.kind == RepositoryKind::Path) else { return };
    if let Err(error) = TrustedRepositories::in_state_dir(environment.state_dir().as_deref()).add(key, now) {
        tracing::warn!(%error, "the project that is kept could not be trusted");
    }
}

/// Writes the bundled project into the directory, reflects on its sessions in order, and recalls the lessons that the
/// next session would get.
fn reflect_on_bundled_sessions(root: &Path, now: Timestamp) -> Result<DemoReport> {
    let logs = root.join("sessions");
    write_project(root, &logs).with_context(|| format!("cannot write to {}", root.display()))?;
    let mut globals = GlobalFlags::default().for_project(root);
    globals.now = Some(now);
    // What the settings say of the project counts only where it is trusted, and here nobody is asked.
    let variables = vec![("ARCHIVIST__PROJECT__KEY".to_owned(), PROJECT_KEY.to_owned())];
    let environment = ProcessEnvironment { home: None, variables, current_dir: root.to_owned() };
    // The demonstration answers for the memory that it makes: it leaves no key on this machine.
    globals.memory_dir = Some(root.join(".openagents/memory"));
    let session = CommandContext::open_for_person(&globals, &environment, now, 0)?;
    let service = session.archivist.reflection_service()?;
    build_runtime()?.block_on(async {
        let mut sessions = Vec::new();
        for bundled in &SESSIONS {
            let (trigger, _) = trigger_for_files(vec![logs.join(bundled.file)], &session)?;
            let learned =
                service.reflect_on_session(&trigger, RepeatPolicy::IfGrown).await.map_err(RequestError::from)?;
            sessions.push(report_session(bundled, learned, &session).await?);
        }
        session.archivist.finish_reflections().await;
        session.archivist.memory.run_maintenance().await;
        let asked = request_session_lessons(&session.archivist, session.archivist.new_query());
        let found = session.archivist.recall_unrecorded(asked).await?;
        Ok(DemoReport { sessions, session_start: found.block.text, kept: None })
    })
}

fn write_project(root: &Path, logs: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join(".openagents"))?;
    fs::write(root.join(".openagents/archivist.toml"), PROJECT_SETTINGS)?;
    fs::create_dir_all(logs)?;
    fs::write(root.join("AGENTS.md"), PROJECT_INSTRUCTIONS)?;
    SESSIONS.iter().try_for_each(|session| fs::write(logs.join(session.file), session.log))
}

async fn report_session(
    bundled: &BundledSession,
    learned: ReflectionReport,
    session: &CommandContext,
) -> Result<SessionReport, RequestError> {
    let filter = EpisodeFilter { id: Some(learned.episode.clone()), ..EpisodeFilter::default() };
    let episodes = session.archivist.memory.list_episodes(&filter).await?;
    let is_of_session = |quote: &Quote| episodes.iter().any(|own| own.trajectories.contains(&quote.trajectory_id));
    let mut lessons = Vec::new();
    for (change, changed) in [
        (LessonChange::Learned, learned.created),
        (LessonChange::Improved, learned.updated),
        (LessonChange::SeenAgain, learned.seen),
    ] {
        for lesson in changed {
            let mut session_quotes = session.archivist.explain_lesson(&LessonName::Id(lesson.id.clone())).await?.quotes;
            session_quotes.retain(is_of_session);
            lessons.push(LessonReport { change, lesson, session_quotes });
        }
    }
    Ok(SessionReport { file: bundled.file, about: bundled.about, lessons, dropped: learned.dropped })
}

fn print_report(report: &DemoReport, console: &mut Console) -> Result<(), CliError> {
    console.print_line("Four sessions of a small web shop. No model, no key, no network: rules read their logs.")?;
    for session in &report.sessions {
        console.print_line("")?;
        let file = console.style_text(TextStyle::Bold, &format!("{:<16}", session.file));
        console.print_line(&format!("{file} {}", session.about))?;
        print_session(session, console)?;
    }
    console.print_line("")?;
    let heading = match report.session_start.is_empty() {
        true => "The next session in this project starts without lessons.",
        false => "The next session in this project starts with this:",
    };
    let heading = console.style_text(TextStyle::Bold, heading);
    console.print_line(&heading)?;
    console.print_line(report.session_start.trim_end())?;
    console.print_line("")?;
    if let Some(kept) = &report.kept {
        console.print_line(&format!("Kept in {kept}; look around with `archivist why m-001 --project {kept}`."))?;
    }
    let next = "Next: `archivist init` has your agents do this by themselves, `archivist batch --days 30` learns from \
                the sessions that you have.";
    for line in wrap_words(next, console.columns().min(WIDEST_TEXT)) {
        console.print_line(&line)?;
    }
    Ok(())
}

fn print_session(session: &SessionReport, console: &mut Console) -> Result<(), CliError> {
    for report in &session.lessons {
        let mark = if report.change == LessonChange::Learned { "+" } else { "=" };
        print_indented(&format!("{mark} {}  ", display_name(&report.lesson)), &report.lesson.summary, None, console)?;
        for quote in &report.session_quotes {
            let words = format!("step {}: “{}”", quote.step, quote.text);
            print_indented("         ", &words, Some(TextStyle::Dim), console)?;
        }
        print_indented("         ", &describe_change(report), None, console)?;
    }
    for dropped in &session.dropped {
        let reason = describe_drop(dropped);
        print_indented("- ", &format!("not learned, {reason}: {}", dropped.summary), None, console)?;
    }
    if session.lessons.is_empty() && session.dropped.is_empty() {
        print_indented("- ", "nothing to learn: no failure with a remedy, no lasting wish of a person", None, console)?;
    }
    Ok(())
}

/// Prints the text after the margin, and indents further lines to the same column.
fn print_indented(margin: &str, text: &str, style: Option<TextStyle>, console: &mut Console) -> Result<(), CliError> {
    let columns = console.columns().min(WIDEST_TEXT).saturating_sub(margin.len() + 2);
    let mut begin = margin.to_owned();
    for line in wrap_words(&one_line(text), columns) {
        let line = style.map_or_else(|| line.clone(), |style| console.style_text(style, &line));
        console.print_line(&format!("  {begin}{line}"))?;
        begin = " ".repeat(margin.len());
    }
    Ok(())
}

fn describe_change(report: &LessonReport) -> String {
    let change = match report.change {
        LessonChange::Learned => "learned",
        LessonChange::Improved => "improved",
        LessonChange::SeenAgain => "seen again",
    };
    let is_preference = report.session_quotes.iter().any(|quote| quote.trust == TrustClass::User);
    let outlook = match &report.lesson.state {
        Some(MemoryState::Observed) => "waits until another session shows it too",
        Some(MemoryState::Quarantined) => "waits until a person approves it",
        Some(MemoryState::Candidate | MemoryState::Verified | MemoryState::Active) if is_preference => {
            "a person asked for it, so it is used from now on"
        }
        Some(MemoryState::Candidate | MemoryState::Verified | MemoryState::Active) => "used from now on",
        _ => return change.to_owned(),
    };
    format!("{change}; {outlook}")
}

fn describe_drop(dropped: &DroppedCandidate) -> String {
    match &dropped.why {
        DropReason::Restated => format!("the project says so already ({})", dropped.detail),
        DropReason::Injected => "a text in the log ordered it".to_owned(),
        DropReason::OneOff => "it happened once and nothing says what to do".to_owned(),
        other => other.to_string().replace('_', " "),
    }
}
