//! `progress.md`: the notes that one session leaves for the next.
//!
//! Written for people and overwritten by every session, with labels in bold or plain, lists after a comma or a bullet,
//! and a summary of the session before that spills over several lines.

mod lessons;
mod parse;

use std::io::Read;

use serde::Serialize;

use crate::domain::{
    About, Elsewhere, EpisodeStatus, Event, Outcome, Output, OutputOf, Part, Sink, Skipped, Speaker, Timestamp, Usage,
};
use crate::ingest::chat::Teller;

pub use lessons::{LessonSection, without_lessons};
pub use parse::parse;

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;

/// Notes that are longer are read as far as this.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What the notes say. What they do not say is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The orchestrator's session.
    pub session_id: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// The task worked on.
    pub task_id: Option<String>,
    /// What it is called.
    pub task_title: Option<String>,
    /// When it was done; nothing while it is in progress.
    pub completed_at: Option<Timestamp>,
    /// How the repository was found.
    pub repo_state: Option<String>,
    /// Whether the tests passed before anything was done.
    pub tests_passing_at_start: Option<bool>,
    /// How the init script went.
    pub init_script: Option<String>,
    /// What it printed.
    pub init_output: Option<String>,
    /// What the session before left.
    pub previous_session: Option<PreviousSession>,
    /// Done.
    pub subtasks_completed: Vec<String>,
    /// Begun.
    pub subtasks_in_progress: Vec<String>,
    /// Touched.
    pub files_modified: Vec<String>,
    /// Whether tests were run.
    pub tests_run: Option<bool>,
    /// Whether they passed.
    pub tests_passing_after: Option<bool>,
    /// Whether end-to-end tests were run.
    pub e2e_run: Option<bool>,
    /// Whether they passed.
    pub e2e_passing_after: Option<bool>,
    /// The Claude Code session that did the work.
    pub claude_session: Option<ClaudeSession>,
    /// For the next session.
    pub next_steps: Vec<String>,
    /// What stood in the way.
    pub blockers: Vec<String>,
    /// Everything else, word for word.
    pub notes: String,
}

/// What the session before left, as far as it is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviousSession {
    /// Its task, id and title.
    pub task: Option<String>,
    /// Subtasks that it finished.
    pub completed: Vec<String>,
    /// Subtasks that it began.
    pub in_progress: Vec<String>,
    /// What stood in its way. Several stand in one text: nothing tells the commas between them from those within.
    pub blockers: Vec<String>,
    /// What it left to do.
    pub next_steps: Vec<String>,
}

/// The Claude Code session that did the work.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaudeSession {
    /// Its id in Claude Code's own logs.
    pub session_id: Option<String>,
    /// The session it was forked from.
    pub forked_from: Option<String>,
    /// Tools with how often they were used, such as `Bash(3)`.
    pub tools_used: Vec<String>,
    /// In its own words.
    pub summary: Option<String>,
    /// New, written, read from and written to a cache.
    pub tokens: Tokens,
    /// Money.
    pub cost_usd: Option<f64>,
}

/// Tokens as the notes count them: input excludes what was cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// New.
    pub input: Option<u64>,
    /// Written by the model.
    pub output: Option<u64>,
    /// Served from a cache.
    pub cache_read: Option<u64>,
    /// Written to a cache.
    pub cache_write: Option<u64>,
}

/// Tells what the notes say.
pub(super) fn read(input: &mut dyn Read, sink: &mut dyn Sink) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    input.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let mut more = [0];
    if super::lines::read_some(input, &mut more)? > 0 {
        let why = format!("the notes are longer than {} MB", MAX_BYTES / 1024 / 1024);
        sink.hear(Event::Skipped(Skipped { line: 0, why }));
    }
    tell(parse(&String::from_utf8_lossy(&bytes)), sink);
    Ok(())
}

fn tell(progress: Progress, sink: &mut dyn Sink) {
    let text = work_done(&progress);
    let at = progress.completed_at.or(progress.started_at);
    sink.hear(Event::About(Box::new(About {
        session_id: progress.session_id,
        agent: Some("openagents".to_owned()),
        task_id: progress.task_id,
        title: progress.task_title,
        started_at: progress.started_at,
        finished_at: progress.completed_at,
        ..About::default()
    })));
    let step = Teller::default().said(Speaker::System, text, at, sink);
    let mut told: Vec<&str> = Vec::new();
    for blocker in &progress.blockers {
        // The same error often stands there twice, the second time without its introduction.
        if !told.iter().any(|earlier| earlier.contains(blocker.as_str())) {
            let output = Output { text: blocker.clone(), failed: Some(true), at, ..Output::default() };
            sink.hear(Event::Output(OutputOf::Step(step), output));
            told.push(blocker);
        }
    }
    if let Some(claude) = progress.claude_session {
        let Tokens { input, output, cache_read, cache_write } = claude.tokens;
        let read = [input, cache_read, cache_write].into_iter().flatten().reduce(u64::saturating_add);
        let usage = Usage {
            prompt_tokens: read,
            completion_tokens: output,
            cached_tokens: cache_read,
            cache_write_tokens: cache_write,
            cost_usd: claude.cost_usd,
        };
        if !usage.is_unknown() {
            sink.hear(Event::Total(usage));
        }
        if let Some(id) = claude.session_id {
            sink.hear(Event::Elsewhere(Elsewhere { part: Part::Subagent, path: None, id: Some(id) }));
        }
    }
    let error = progress.blockers.into_iter().next();
    let status = match (&error, progress.tests_passing_after) {
        (Some(_), _) => EpisodeStatus::Partial,
        (None, Some(true)) => EpisodeStatus::Success,
        (None, _) => return,
    };
    sink.hear(Event::Outcome(Outcome { status, reward: None, error, from: "progress.md".to_owned() }));
}

/// The notes in words, without what is told apart.
fn work_done(progress: &Progress) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |label: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("{label}: {value}"));
        }
    };
    let said = |answer: Option<bool>| answer.map_or("", |yes| if yes { "yes" } else { "no" });
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    add("Repository", &text(&progress.repo_state));
    add("Tests passing at start", said(progress.tests_passing_at_start));
    add("Init script", &text(&progress.init_script));
    add("Init output", &text(&progress.init_output));
    if let Some(previous) = &progress.previous_session {
        add("Previous task", &text(&previous.task));
        add("Previously completed", &previous.completed.join(", "));
        add("Previously in progress", &previous.in_progress.join(", "));
        add("Previous blockers", &previous.blockers.join("; "));
        add("Previous next steps", &previous.next_steps.join("; "));
    }
    add("Subtasks completed", &progress.subtasks_completed.join(", "));
    add("Subtasks in progress", &progress.subtasks_in_progress.join(", "));
    add("Files modified", &progress.files_modified.join(", "));
    add("Tests run", said(progress.tests_run));
    add("Tests passing after work", said(progress.tests_passing_after));
    add("End-to-end tests run", said(progress.e2e_run));
    add("End-to-end tests passing after work", said(progress.e2e_passing_after));
    if let Some(claude) = &progress.claude_session {
        add("Tools used", &claude.tools_used.join(", "));
        add("Summary", &text(&claude.summary));
    }
    add("Next steps", &progress.next_steps.join("; "));
    add("Notes", &progress.notes);
    lines.join("\n")
}
