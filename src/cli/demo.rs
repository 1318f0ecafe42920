//! `archivist demo`: bundled sessions are reflected on in a project of their own, and everything that comes of it is shown.
//!
//! The logs, their captions and the project's documents are made up; what is learned of them, and what the next session
//! is given, comes out of the same service that hooks and `archivist reflect` use. Settings, memories and documents of the
//! person who runs it are not read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chrono::DateTime;
use clap::Args;
use serde::Serialize;

use super::arguments::Globals;
use super::console::{Console, Style};
use super::failure::{Exit, Failure};
use super::hook::request_session_lessons;
use super::lesson::name;
use super::prose::{one_line, wrap};
use super::reflecting::{by_hand, hud_patience, runtime, service};
use super::session::Session;
use crate::config::Surroundings;
use crate::desk::Refusal;
use crate::domain::{AgentMemory, DropReason, Dropped, MemoryState, Quote, Timestamp, TrustClass};
use crate::memory::{EpisodeFilter, LessonName};
use crate::service::{Anew, ArchivistService, Learned};

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
        log: include_str!("../../examples/demo/sessions/monday.jsonl"),
    },
    BundledSession {
        file: "tuesday.jsonl",
        about: "Codex adds the balance of a gift card",
        log: include_str!("../../examples/demo/sessions/tuesday.jsonl"),
    },
    BundledSession {
        file: "wednesday.jsonl",
        about: "Claude Code puts the year into the footer",
        log: include_str!("../../examples/demo/sessions/wednesday.jsonl"),
    },
    BundledSession {
        file: "thursday.jsonl",
        about: "Claude Code answers a question",
        log: include_str!("../../examples/demo/sessions/thursday.jsonl"),
    },
];

/// The one document of the project that the sessions are about.
const PROJECT_INSTRUCTIONS: &str = include_str!("../../examples/demo/AGENTS.md");

/// Its settings: a name of its own, so that nothing depends on where it lies.
const PROJECT_SETTINGS: &str = "[project]\nkey = \"shop\"\n";

/// The morning after the last session, as seconds since 1970. On a fixed day the output is the same for everybody.
const NEXT_MORNING: i64 = 1_772_787_600;

/// Text wider than this is hard to read.
const WIDEST_TEXT: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DemoCommand {
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

/// One session and what came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionReport {
    file: &'static str,
    about: &'static str,
    lessons: Vec<LessonReport>,
    dropped: Vec<Dropped>,
}

/// A lesson as it stood after one session, with the words of that session that it rests on.
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
    pub(super) fn run(&self, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        let now = DateTime::from_timestamp(NEXT_MORNING, 0).unwrap_or_default();
        let report = match &self.keep {
            Some(directory) => {
                let root = prepare_directory(&surroundings.current_dir.join(directory))?;
                let report = reflect_on_bundled_sessions(&root, now)?;
                DemoReport { kept: Some(root.display().to_string()), ..report }
            }
            None => reflect_in_temporary_directory(now)?,
        };
        match self.json {
            true => console.json(&report)?,
            false => print_report(&report, console)?,
        }
        Ok(Exit::Done)
    }
}

/// Reflects in a directory that is gone afterwards, and leaves it out of what is reported.
fn reflect_in_temporary_directory(now: Timestamp) -> Result<DemoReport> {
    let directory = tempfile::tempdir().map_err(|error| {
        let failure = Failure::user(format!("there is no temporary directory to work in: {error}"));
        failure.with_hint("set TMPDIR, or give --keep")
    })?;
    let mut report = reflect_on_bundled_sessions(&directory.path().canonicalize()?, now)?;
    directory.close().context("the temporary directory could not be removed")?;
    for report in report.sessions.iter_mut().flat_map(|session| &mut session.lessons) {
        report.lesson.evidence.run_log_paths.clear();
    }
    Ok(report)
}

/// Makes the directory to keep. One that holds something is refused.
fn prepare_directory(directory: &Path) -> Result<PathBuf> {
    let cannot = |error: io::Error| Failure::user(format!("--keep {} cannot be used: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(cannot)?;
    if fs::read_dir(directory).map_err(cannot)?.next().is_some() {
        let message = format!("--keep {} is not empty", directory.display());
        return Err(Failure::user(message).with_hint("name a directory that does not exist yet").into());
    }
    Ok(directory.canonicalize().map_err(cannot)?)
}

/// Writes the bundled project into the directory, reflects on its sessions one after the other, and asks for what the
/// next session would be given.
fn reflect_on_bundled_sessions(root: &Path, now: Timestamp) -> Result<DemoReport> {
    let logs = root.join("sessions");
    write_project(root, &logs).with_context(|| format!("cannot write to {}", root.display()))?;
    let mut globals = Globals::default().in_project(root);
    globals.now = Some(now);
    let surroundings = Surroundings { current_dir: root.to_owned(), ..Surroundings::default() };
    let session = Session::open(&globals, &surroundings, now, 0)?;
    let service = service(&session, &surroundings)?;
    runtime()?.block_on(async {
        let mut sessions = Vec::new();
        for bundled in &SESSIONS {
            let (trigger, _) = by_hand(vec![logs.join(bundled.file)], &session)?;
            let learned = service.reflect(&trigger, Anew::IfGrown).await.map_err(Refusal::from)?;
            sessions.push(report_session(bundled, learned, &session).await?);
        }
        finish(&service, &session).await?;
        let asked = request_session_lessons(&session.desk, session.desk.question());
        let found = session.desk.recall(asked, now).await?;
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

async fn finish(service: &ArchivistService, session: &Session) -> Result<()> {
    service.finish(hud_patience(session)).await;
    service.tend().await.map_err(Refusal::from)?;
    session.desk.memory.maintain().await;
    Ok(())
}

async fn report_session(
    bundled: &BundledSession,
    learned: Learned,
    session: &Session,
) -> Result<SessionReport, Refusal> {
    let filter = EpisodeFilter { id: Some(learned.episode.clone()), ..EpisodeFilter::default() };
    let episodes = session.desk.memory.episodes(&filter).await?;
    let is_of_session = |quote: &Quote| episodes.iter().any(|own| own.trajectories.contains(&quote.trajectory_id));
    let mut lessons = Vec::new();
    for (change, changed) in [
        (LessonChange::Learned, learned.created),
        (LessonChange::Improved, learned.updated),
        (LessonChange::SeenAgain, learned.seen),
    ] {
        for lesson in changed {
            let mut session_quotes = session.desk.why(&LessonName::Id(lesson.id.clone())).await?.quotes;
            session_quotes.retain(is_of_session);
            lessons.push(LessonReport { change, lesson, session_quotes });
        }
    }
    Ok(SessionReport { file: bundled.file, about: bundled.about, lessons, dropped: learned.dropped })
}

fn print_report(report: &DemoReport, console: &mut Console) -> Result<(), Failure> {
    console.line("Four sessions of a small web shop. No model, no key, no network: rules read their logs.")?;
    for session in &report.sessions {
        console.line("")?;
        let file = console.styled(Style::Bold, &format!("{:<16}", session.file));
        console.line(&format!("{file} {}", session.about))?;
        print_session(session, console)?;
    }
    console.line("")?;
    let heading = match report.session_start.is_empty() {
        true => "The next session in this project starts without lessons.",
        false => "The next session in this project starts with this:",
    };
    let heading = console.styled(Style::Bold, heading);
    console.line(&heading)?;
    console.line(report.session_start.trim_end())?;
    console.line("")?;
    if let Some(kept) = &report.kept {
        console.line(&format!("Kept in {kept}; look around with `archivist why m-001 --project {kept}`."))?;
    }
    let next = "Next: `archivist init` has your agents do this by themselves, `archivist batch --days 30` learns from \
                the sessions that you have.";
    for line in wrap(next, console.columns().min(WIDEST_TEXT)) {
        console.line(&line)?;
    }
    Ok(())
}

fn print_session(session: &SessionReport, console: &mut Console) -> Result<(), Failure> {
    for report in &session.lessons {
        let mark = if report.change == LessonChange::Learned { "+" } else { "=" };
        print_indented(&format!("{mark} {}  ", name(&report.lesson)), &report.lesson.summary, None, console)?;
        for quote in &report.session_quotes {
            let words = format!("step {}: “{}”", quote.step, quote.text);
            print_indented("         ", &words, Some(Style::Dim), console)?;
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

/// Prints the text behind the margin, and below it where it takes more than one line.
fn print_indented(margin: &str, text: &str, style: Option<Style>, console: &mut Console) -> Result<(), Failure> {
    let columns = console.columns().min(WIDEST_TEXT).saturating_sub(margin.len() + 2);
    let mut begin = margin.to_owned();
    for line in wrap(&one_line(text), columns) {
        let line = style.map_or_else(|| line.clone(), |style| console.styled(style, &line));
        console.line(&format!("  {begin}{line}"))?;
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
    let is_wish = report.session_quotes.iter().any(|quote| quote.trust == TrustClass::User);
    let outlook = match &report.lesson.state {
        Some(MemoryState::Observed) => "waits until another session shows it too",
        Some(MemoryState::Quarantined) => "waits until a person approves it",
        Some(MemoryState::Candidate | MemoryState::Verified | MemoryState::Active) if is_wish => {
            "a person asked for it, so it is used from now on"
        }
        Some(MemoryState::Candidate | MemoryState::Verified | MemoryState::Active) => "used from now on",
        _ => return change.to_owned(),
    };
    format!("{change}; {outlook}")
}

fn describe_drop(dropped: &Dropped) -> String {
    match &dropped.why {
        DropReason::Restated => format!("the project says so already ({})", dropped.detail),
        DropReason::Injected => "a text in the log ordered it".to_owned(),
        DropReason::OneOff => "it happened once and nothing says what to do".to_owned(),
        other => other.to_string().replace('_', " "),
    }
}
