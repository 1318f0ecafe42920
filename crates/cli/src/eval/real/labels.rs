//! Real sessions, labelled with the lessons that a strict reader found in them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::cli_error::CliError;
use archivist_core::context::ReflectionContext;
use archivist_core::domain::Timestamp;
use archivist_core::redact::Redactor;

use super::super::planted::build_log_context;

/// The file of a set that labels its sessions.
const LABELS_FILE: &str = "labels.jsonl";

/// A real session with its gold lessons.
#[derive(Debug, Deserialize)]
pub(super) struct GoldSession {
    /// The path of the log, relative to the set's folder.
    pub(super) path: PathBuf,
    /// The lessons that the session teaches.
    pub(super) gold: Vec<GoldLesson>,
    /// The reply of a strong model, whose candidates are the gold lessons in the same order.
    #[serde(default)]
    pub(super) reply: Value,
}

/// A lesson that the next agent in the project would want.
#[derive(Debug, Deserialize)]
pub(super) struct GoldLesson {
    pub(super) id: String,
    pub(super) grade: GoldGrade,
    pub(super) summary: String,
    /// The full text of the lesson: its summary, and the texts of the reply's candidate.
    #[serde(skip)]
    pub(super) matter: String,
    /// The names of the steps that prove it, such as `s12`.
    pub(super) steps: Vec<String>,
}

/// The grade of how much a gold lesson is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum GoldGrade {
    /// A lesson that is certainly wanted.
    A,
    /// A lesson that would be nice to have.
    B,
}

/// Words of a step that a gold lesson rests on.
#[derive(Debug)]
pub(super) struct GoldQuote {
    /// The index of the gold lesson in the session.
    pub(super) lesson: usize,
    pub(super) step: String,
    pub(super) text: String,
}

impl GoldLesson {
    /// Tells whether a step of the main trajectory is among those that prove the lesson.
    pub(super) fn rests_on_step(&self, step: u32) -> bool {
        self.steps.iter().filter_map(|name| name.trim_start_matches('s').parse::<u32>().ok()).any(|own| own == step)
    }
}

impl GoldSession {
    /// Returns the name of the session, which is the file name of its log without the extension.
    pub(super) fn name(&self) -> String {
        self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the words that the reply quotes for its gold lessons.
    pub(super) fn gold_quotes(&self) -> Vec<GoldQuote> {
        let candidates = self.reply.get("candidates").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut quotes = Vec::new();
        for (lesson, candidate) in candidates.iter().enumerate() {
            let cited = candidate.get("quotes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            for quote in cited {
                let text = |key: &str| quote.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
                quotes.push(GoldQuote { lesson, step: text("step"), text: text("text") });
            }
        }
        quotes
    }

    /// Collects the full text of each gold lesson from its summary and the reply.
    fn collect_gold_texts(&mut self) {
        let candidates = self.reply.get("candidates").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (gold, candidate) in self.gold.iter_mut().zip(candidates) {
            let texts = ["/summary", "/rule/if", "/rule/then", "/rule", "/detail"].map(|path| candidate.pointer(path));
            let texts = texts.into_iter().flatten().filter_map(Value::as_str);
            gold.matter = std::iter::once(gold.summary.as_str()).chain(texts).collect::<Vec<_>>().join("\n");
        }
    }

    /// Reads the log and builds the context of a reflection on it.
    pub(super) fn read_context(
        &self,
        folder: &Path,
        redactor: &Redactor,
        now: Timestamp,
    ) -> Result<ReflectionContext, CliError> {
        let path = folder.join(&self.path);
        let shown = path.display();
        let log = fs::read(&path).map_err(|error| CliError::user_error(format!("{shown} cannot be read: {error}")))?;
        build_log_context(&self.name(), &log, redactor, now)
            .map_err(|error| CliError::user_error(format!("{shown}: {error}")))
    }
}

/// Reads the labels of a set.
pub(super) fn read_labels(folder: &Path) -> Result<Vec<GoldSession>, CliError> {
    let path = folder.join(LABELS_FILE);
    let shown = path.display();
    let text = fs::read_to_string(&path).map_err(|error| {
        CliError::user_error(format!(
            "{shown} cannot be read: {error}; --data names a folder with {LABELS_FILE} and its logs"
        ))
    })?;
    let mut sessions = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut session: GoldSession = serde_json::from_str(line)
            .map_err(|error| CliError::user_error(format!("{shown}, line {}: {error}", number + 1)))?;
        let replied = session.reply.get("candidates").and_then(Value::as_array).map_or(0, Vec::len);
        if replied != session.gold.len() {
            let counts = format!("{replied} candidates in its reply and {} gold lessons", session.gold.len());
            return Err(CliError::user_error(format!("{shown}, line {}: {counts}; they must pair up", number + 1)));
        }
        session.collect_gold_texts();
        sessions.push(session);
    }
    Ok(sessions)
}
