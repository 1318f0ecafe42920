//! Reads `progress.md`, the notes that one session leaves for the next.
//!
//! They are written for people and overwritten by every session, with labels in bold or plain, lists with commas or
//! bullets, and a summary of the previous session that spans several lines.

mod note_parser;
mod written_lessons;

use std::io::Read;

use serde::Serialize;

use crate::domain::{
    EpisodeStatus, EventSink, LogReference, OutputOwner, Part, SessionDetails, SessionOutcome, SkippedLogLine, Speaker,
    Timestamp, TokenUsage, ToolOutput, TrajectoryEvent,
};
use crate::ingest::chat_messages::ChatEventEmitter;

pub use note_parser::parse;
pub use written_lessons::{LessonSection, strip_lesson_sections};

#[cfg(test)]
#[path = "progress_notes_tests.rs"]
mod tests;

/// The number of bytes of the notes that are read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The parsed notes. What they do not state is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressNotes {
    /// The id of the orchestrator's session.
    pub session_id: Option<String>,
    /// The time when the session began.
    pub started_at: Option<Timestamp>,
    /// The id of the task that was worked on.
    pub task_id: Option<String>,
    /// The title of the task.
    pub task_title: Option<String>,
    /// The time when the work was completed; `None` while it is in progress.
    pub completed_at: Option<Timestamp>,
    /// The state of the repository at the start.
    pub repo_state: Option<String>,
    /// True if the tests passed before any work was done.
    pub tests_passing_at_start: Option<bool>,
    /// The result of the init script.
    pub init_script: Option<String>,
    /// The output of the init script.
    pub init_output: Option<String>,
    /// The summary of the previous session.
    pub previous_session: Option<PreviousSession>,
    /// The subtasks that were completed.
    pub subtasks_completed: Vec<String>,
    /// The subtasks that were begun.
    pub subtasks_in_progress: Vec<String>,
    /// The files that were modified.
    pub files_modified: Vec<String>,
    /// True if tests were run.
    pub tests_run: Option<bool>,
    /// True if the tests passed after the work.
    pub tests_passing_after: Option<bool>,
    /// True if end-to-end tests were run.
    pub e2e_run: Option<bool>,
    /// True if the end-to-end tests passed after the work.
    pub e2e_passing_after: Option<bool>,
    /// The Claude Code session that did the work.
    pub claude_session: Option<ClaudeSession>,
    /// The steps for the next session.
    pub next_steps: Vec<String>,
    /// The problems that blocked the work.
    pub blockers: Vec<String>,
    /// All other text, unchanged.
    pub notes: String,
}

/// The summary of the previous session, as far as the notes contain it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviousSession {
    /// The task with its id and title.
    pub task: Option<String>,
    /// The subtasks that it finished.
    pub completed: Vec<String>,
    /// The subtasks that it began.
    pub in_progress: Vec<String>,
    /// The problems that blocked it. Several are in one text, because commas between them and within them look alike.
    pub blockers: Vec<String>,
    /// The steps that it left to do.
    pub next_steps: Vec<String>,
}

/// The Claude Code session that did the work.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaudeSession {
    /// The session id in Claude Code's own logs.
    pub session_id: Option<String>,
    /// The session that it was forked from.
    pub forked_from: Option<String>,
    /// Tools with how often they were used, such as `Bash(3)`.
    pub tools_used: Vec<String>,
    /// The summary that the session wrote.
    pub summary: Option<String>,
    /// The token counts: new, written, read from and written to a cache.
    pub tokens: ProgressTokenCounts,
    /// The cost in US dollars.
    pub cost_usd: Option<f64>,
}

/// Token counts as the notes state them: input excludes cached tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressTokenCounts {
    /// The new input tokens.
    pub input: Option<u64>,
    /// The tokens that the model wrote.
    pub output: Option<u64>,
    /// The tokens that were read from a cache.
    pub cache_read: Option<u64>,
    /// The tokens that were written to a cache.
    pub cache_write: Option<u64>,
}

/// Reads the notes and emits their content as events.
pub(super) fn read_notes(input: &mut dyn Read, sink: &mut dyn EventSink) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    input.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let mut more = [0];
    if super::json_lines::read_some(input, &mut more)? > 0 {
        let why = format!("the notes are longer than {} MB", MAX_BYTES / 1024 / 1024);
        sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: 0, why }));
    }
    emit_notes(parse(&String::from_utf8_lossy(&bytes)), sink);
    Ok(())
}

fn emit_notes(progress: ProgressNotes, sink: &mut dyn EventSink) {
    let text = describe_work(&progress);
    let at = progress.completed_at.or(progress.started_at);
    sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
        session_id: progress.session_id,
        agent: Some("openagents".to_owned()),
        task_id: progress.task_id,
        title: progress.task_title,
        started_at: progress.started_at,
        finished_at: progress.completed_at,
        ..SessionDetails::default()
    })));
    let step = ChatEventEmitter::default().emit_message(Speaker::System, text, at, sink);
    let mut told: Vec<&str> = Vec::new();
    for blocker in &progress.blockers {
        // The same error often appears twice, the second time without its introduction.
        if !told.iter().any(|earlier| earlier.contains(blocker.as_str())) {
            let output = ToolOutput { text: blocker.clone(), failed: Some(true), at, ..ToolOutput::default() };
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(step), output));
            told.push(blocker);
        }
    }
    if let Some(claude) = progress.claude_session {
        let ProgressTokenCounts { input, output, cache_read, cache_write } = claude.tokens;
        let read = [input, cache_read, cache_write].into_iter().flatten().reduce(u64::saturating_add);
        let usage = TokenUsage {
            prompt_tokens: read,
            completion_tokens: output,
            cached_tokens: cache_read,
            cache_write_tokens: cache_write,
            cost_usd: claude.cost_usd,
        };
        if !usage.is_unknown() {
            sink.receive_event(TrajectoryEvent::Total(usage));
        }
        if let Some(id) = claude.session_id {
            sink.receive_event(TrajectoryEvent::Elsewhere(LogReference {
                part: Part::Subagent,
                path: None,
                id: Some(id),
            }));
        }
    }
    let error = progress.blockers.into_iter().next();
    let status = match (&error, progress.tests_passing_after) {
        (Some(_), _) => EpisodeStatus::Partial,
        (None, Some(true)) => EpisodeStatus::Success,
        (None, _) => return,
    };
    sink.receive_event(TrajectoryEvent::Outcome(SessionOutcome {
        status,
        reward: None,
        error,
        from: "progress.md".to_owned(),
    }));
}

/// Describes the notes as text, without the parts that have events of their own.
fn describe_work(progress: &ProgressNotes) -> String {
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
