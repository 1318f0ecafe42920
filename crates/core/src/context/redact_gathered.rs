//! Redacts secrets from everything that was gathered, wherever they occur.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::log_statistics::LogStatistics;
use super::reflection::SessionSummary;
use super::signal::Signal;
use super::text_clipping;
use super::tool_action::ToolAction;
use super::trajectory_collector::GatheredLogs;
use crate::domain::{
    EpisodeStatus, Part, SessionDetails, SessionOutcome, Speaker, Step, ToolCall, ToolOutput, Trajectory,
};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "redact_gathered_tests.rs"]
mod tests;

/// The longest value that is judged by its name; a longer one is only judged by its own form.
const MAX_NAMED_BYTES: usize = 2048;

/// The number of bytes of one word of a command line that are checked.
const MAX_WORD_BYTES: usize = 1024;

/// The shortest text that may be a word with a secret attached to it.
const MIN_GLUED_BYTES: usize = 20;

/// The number of separators in a name after which a secret is searched.
const MAX_JOINTS: usize = 16;

/// The number of keys whose assessment is remembered.
const MAX_NAMES: usize = 4096;

/// The length from which on a command may have been cut, see [`ToolAction`].
const CUT_COMMAND_BYTES: usize = 4092;

/// A sample value that the redactor removes under any key that announces a secret.
const PROBE: &str = "q7Rk2vXw9ZtB4mLs8NcD";

/// Keys that say nothing about their values, which go by the name of the key above them.
const PLAIN_KEYS: &[&str] = &["value", "values", "val", "data", "default", "current", "raw", "plain", "text", "string"];

/// Keys whose values name the value next to them; `NAMED_KEYS` has the keys of the values so named.
const NAMING_KEYS: &[&str] = &["name", "key", "variable", "var", "env", "header", "field", "param"];
const NAMED_KEYS: &[&str] = &["value", "values", "val", "data", "default", "current"];

/// Redacts everything that was gathered.
pub(super) fn redact_logs(gathered: &mut GatheredLogs, redactor: &Redactor) {
    let mut settling = GatheredRedactor::new(redactor);
    gathered.trajectories.iter_mut().for_each(|one| settling.redact_trajectory(one));
    gathered.signals.iter_mut().for_each(|one| settling.redact_signal(one));
    settling.redact_statistics(&mut gathered.survey);
    gathered.given.iter_mut().for_each(|one| settling.redact_label(one));
}

/// Redacts the summary of one log.
pub(super) fn redact_summary(summary: &mut SessionSummary, redactor: &Redactor) {
    let settling = GatheredRedactor::new(redactor);
    settling.redact_optional(&mut summary.session_id);
    settling.redact_label(&mut summary.format);
    settling.redact_label(&mut summary.path);
    settling.redact_optional(&mut summary.agent);
    settling.redact_optional(&mut summary.model);
    if let Some(outcome) = &mut summary.outcome {
        settling.redact_outcome(outcome);
    }
}

/// Redacts the action of a call before anyone shortens it, because a cut may go through a secret.
pub(super) fn redact_action(mut action: ToolAction, redactor: &Redactor) -> ToolAction {
    let clean = |text: &mut String| *text = text_clipping::redact_text(std::mem::take(text), redactor);
    match &mut action {
        ToolAction::Run { command } => {
            let is_cut = command.len() >= CUT_COMMAND_BYTES;
            clean(command);
            if is_cut {
                let whole = command.trim_end_matches(|c: char| !c.is_whitespace()).len();
                command.truncate(whole);
            }
        }
        ToolAction::Edit(changes) => changes.iter_mut().for_each(|change| clean(&mut change.path)),
        ToolAction::Read { path: Some(path) } => clean(path),
        _ => {}
    }
    action
}

/// Redacts a value that was not clipped, such as settings.
pub(super) fn redact_value(value: &mut Value, redactor: &Redactor) {
    JsonRedactor::new(redactor, text_clipping::redact_text).redact_value(value, None);
}

/// Redacts the fields of a value that was not clipped.
pub(super) fn redact_fields(fields: &mut Map<String, Value>, redactor: &Redactor) {
    JsonRedactor::new(redactor, text_clipping::redact_text).redact_fields(fields, None);
}

/// Redacts a record of Archivist's own. Returns `None` if it is invalid without the removed text.
pub fn redact_record<T: Serialize + DeserializeOwned>(record: T, redactor: &Redactor) -> Option<T> {
    let before = serde_json::to_value(&record).ok()?;
    let mut after = before.clone();
    let mut values = JsonRedactor::new(redactor, text_clipping::redact_text);
    values.has_ids = true;
    values.redact_value(&mut after, None);
    if before == after { Some(record) } else { serde_json::from_value(after).ok() }
}

/// Redacts the parts of gathered logs.
struct GatheredRedactor<'r> {
    redactor: &'r Redactor,
    /// The redactor of arguments, whose strings were clipped.
    arguments: JsonRedactor<'r>,
    /// The redactor of values that were not clipped.
    values: JsonRedactor<'r>,
}

impl<'r> GatheredRedactor<'r> {
    fn new(redactor: &'r Redactor) -> Self {
        Self {
            redactor,
            arguments: JsonRedactor::new(redactor, text_clipping::redact_clipped),
            values: JsonRedactor::new(redactor, text_clipping::redact_text),
        }
    }

    fn redact_label(&self, text: &mut String) {
        *text = redact_label(std::mem::take(text), self.redactor);
    }

    fn redact_optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.redact_label(text);
        }
    }

    /// Redacts a text that was clipped when it was read.
    fn redact_clipped(&self, text: &mut String) {
        *text = text_clipping::redact_clipped(std::mem::take(text), self.redactor);
    }

    fn redact_trajectory(&mut self, trajectory: &mut Trajectory) {
        let Trajectory { about, steps, outcome, usage: _ } = trajectory;
        self.redact_about(about);
        if let Some(outcome) = outcome {
            self.redact_outcome(outcome);
        }
        steps.iter_mut().for_each(|step| self.redact_step(step));
    }

    fn redact_about(&self, about: &mut SessionDetails) {
        let SessionDetails {
            session_id,
            trajectory_id,
            schema_version,
            agent,
            agent_version,
            model,
            directory,
            branch,
            repository,
            parent_session_id,
            task_id,
            subtask_id,
            title,
            started_at: _,
            finished_at: _,
        } = about;
        for text in [session_id, trajectory_id, schema_version, agent, agent_version, model, directory] {
            self.redact_optional(text);
        }
        for text in [branch, repository, parent_session_id, task_id, subtask_id, title] {
            self.redact_optional(text);
        }
    }

    fn redact_outcome(&self, outcome: &mut SessionOutcome) {
        let SessionOutcome { status, reward: _, error, from } = outcome;
        if let EpisodeStatus::Other(word) = status {
            self.redact_label(word);
        }
        self.redact_optional(error);
        self.redact_label(from);
    }

    fn redact_step(&mut self, step: &mut Step) {
        let Step {
            number: _,
            speaker,
            text,
            trust: _,
            reasoning,
            model,
            at: _,
            copied: _,
            subagent,
            calls,
            outputs,
            extra,
        } = step;
        if let Speaker::Other(word) = speaker {
            self.redact_label(word);
        }
        self.redact_clipped(text);
        if let Some(reasoning) = reasoning {
            self.redact_clipped(reasoning);
        }
        self.redact_optional(model);
        self.redact_optional(subagent);
        for ToolCall { id, tool, arguments, output } in calls {
            self.redact_label(id);
            self.redact_label(tool);
            self.arguments.redact_value(arguments, None);
            if let Some(ToolOutput { text, .. }) = output {
                self.redact_clipped(text);
            }
        }
        for ToolOutput { text, .. } in outputs {
            self.redact_clipped(text);
        }
        self.values.redact_fields(extra, None);
    }

    fn redact_signal(&mut self, signal: &mut Signal) {
        self.redact_optional(&mut signal.tool);
        self.redact_label(&mut signal.text);
        self.redact_optional(&mut signal.quote);
        self.values.redact_fields(&mut signal.extra, None);
    }

    fn redact_statistics(&self, survey: &mut LogStatistics) {
        let happenings = std::mem::take(&mut survey.happenings);
        survey.happenings = happenings.into_iter().fold(BTreeMap::new(), |mut counted, (what, times)| {
            *counted.entry(redact_label(what, self.redactor)).or_default() += times;
            counted
        });
        survey.skipped.iter_mut().for_each(|skipped| self.redact_label(&mut skipped.why));
        for breach in &mut survey.findings {
            self.redact_label(&mut breach.path);
            self.redact_label(&mut breach.problem);
        }
        for elsewhere in &mut survey.elsewhere {
            if let Part::Other(word) = &mut elsewhere.part {
                self.redact_label(word);
            }
            self.redact_optional(&mut elsewhere.path);
            self.redact_optional(&mut elsewhere.id);
        }
    }
}

/// The name of a JSON value.
#[derive(Debug, Clone)]
struct ValueName {
    /// The key, or the one above it if that says more.
    own: String,
    /// The keys above it and its own, joined.
    path: String,
}

impl ValueName {
    /// Returns the name of a value under a key, given the name above it.
    fn for_key(key: &str, above: Option<&Self>) -> Self {
        match above {
            None => Self { own: key.to_owned(), path: key.to_owned() },
            Some(above) if PLAIN_KEYS.contains(&key) => above.clone(),
            Some(above) => Self { own: key.to_owned(), path: format!("{}_{key}", above.path) },
        }
    }
}

/// The redactor's assessment of a key.
#[derive(Debug, Clone)]
struct KeyAssessment {
    /// True if the name alone may make its value a secret.
    promises: bool,
    /// The redacted key, if the key itself contains a secret.
    clean: Option<String>,
}

/// Redacts JSON values.
struct JsonRedactor<'r> {
    redactor: &'r Redactor,
    redact_all: fn(String, &Redactor) -> String,
    names: HashMap<String, KeyAssessment>,
    /// True if ids are Archivist's own, so that their names do not make them secrets.
    has_ids: bool,
}

impl<'r> JsonRedactor<'r> {
    fn new(redactor: &'r Redactor, redact_all: fn(String, &Redactor) -> String) -> Self {
        Self { redactor, redact_all, names: HashMap::new(), has_ids: false }
    }

    fn redact_value(&mut self, value: &mut Value, name: Option<&ValueName>) {
        match value {
            Value::String(text) => {
                *text = (self.redact_all)(std::mem::take(text), self.redactor);
                if let Some(clean) = name.and_then(|name| self.redact_by_name(name, text)) {
                    *text = clean;
                }
            }
            Value::Number(number) => {
                if let Some(clean) = name.and_then(|name| self.redact_by_name(name, &number.to_string())) {
                    *value = Value::String(clean);
                }
            }
            Value::Array(values) => {
                values.iter_mut().for_each(|value| self.redact_value(value, name));
                self.redact_words(values);
            }
            Value::Object(fields) => self.redact_fields(fields, name),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn redact_fields(&mut self, fields: &mut Map<String, Value>, above: Option<&ValueName>) {
        let called = NAMING_KEYS
            .iter()
            .find_map(|key| fields.get(*key)?.as_str())
            .filter(|name| name.len() <= MAX_WORD_BYTES && !name.contains(char::is_whitespace))
            .map(|name| ValueName::for_key(name, above));
        let mut has_secret_keys = false;
        for (key, field) in fields.iter_mut() {
            has_secret_keys |= self.assess_key(key).clean.is_some();
            let name = match &called {
                Some(called) if NAMED_KEYS.contains(&key.as_str()) => called.clone(),
                _ => ValueName::for_key(key, above),
            };
            if self.has_ids && is_id_key(key) {
                self.redact_ids(field);
            } else {
                self.redact_value(field, Some(&name));
            }
        }
        if has_secret_keys {
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().map(|(key, field)| (self.assess_key(&key).clean.unwrap_or(key), field)));
        }
    }

    /// Redacts ids, which may not contain the brackets of a mark.
    fn redact_ids(&self, value: &mut Value) {
        match value {
            Value::String(id) => {
                let clean = redact_label(id.clone(), self.redactor);
                if clean != *id {
                    *id = clean.replace(['[', ']'], "");
                }
            }
            Value::Array(ids) => ids.iter_mut().for_each(|id| self.redact_ids(id)),
            _ => {}
        }
    }

    fn assess_key(&mut self, key: &str) -> KeyAssessment {
        if let Some(known) = self.names.get(key) {
            return known.clone();
        }
        let clean = Some(redact_label(key.to_owned(), self.redactor)).filter(|clean| clean != key);
        let lower = key.to_ascii_lowercase();
        let promises = clean.is_none()
            && (lower.contains("authorization")
                || lower.contains("cookie")
                || !self.redactor.redact(&json_pair(key, PROBE)).found.is_empty());
        if self.names.len() >= MAX_NAMES {
            self.names.clear();
        }
        let known = KeyAssessment { promises, clean };
        self.names.insert(key.to_owned(), known.clone());
        known
    }

    /// Returns a value without what its name makes a secret; `None` if nothing was removed.
    fn redact_by_name(&mut self, name: &ValueName, text: &str) -> Option<String> {
        if text.is_empty() || text.len() > MAX_NAMED_BYTES {
            return None;
        }
        if self.assess_key(&name.own).promises {
            let by_pair = self.redact_after(&json_pair(&name.own, ""), &json_pair(&name.own, text), true);
            let by_line = |sign: &str| {
                let opening = format!("{}{sign}", name.own);
                self.redact_after(&opening, &format!("{opening}{text}"), false)
            };
            return by_pair.or_else(|| by_line("=")).or_else(|| by_line(": "));
        }
        if name.path != name.own && self.assess_key(&name.path).promises {
            let opening = format!("{}=", name.path);
            return self.redact_after(&opening, &format!("{opening}{text}"), false);
        }
        None
    }

    /// Returns the redacted rest of a line after its opening; `None` if nothing was removed there.
    fn redact_after(&self, opening: &str, line: &str, is_json: bool) -> Option<String> {
        // The opening of a pair ends with the quotes of an empty string.
        let opening = if is_json { opening.strip_suffix("\"\"")? } else { opening };
        let redacted = self.redactor.redact(line);
        let (span, _, mark) =
            text_clipping::locate_marks(&redacted).into_iter().find(|(span, ..)| span.end > opening.len())?;
        if span.start <= opening.len() + usize::from(is_json) {
            // A password may contain blanks and quotes.
            return Some(mark.to_owned());
        }
        let rest = redacted.text.strip_prefix(opening);
        let clean = if is_json {
            rest.and_then(|rest| serde_json::from_str::<String>(rest).ok())
        } else {
            rest.map(str::to_owned)
        };
        Some(clean.unwrap_or_else(|| mark.to_owned()))
    }

    /// Redacts the words of a command line, each of which may be the secret of the one before.
    fn redact_words(&self, words: &mut [Value]) {
        if words.len() < 2 || !words.iter().any(Value::is_string) {
            return;
        }
        let mut line = String::new();
        let mut spans = Vec::with_capacity(words.len());
        for word in words.iter() {
            let start = line.len();
            match word {
                Value::String(text) => {
                    line.push_str(text.get(..text.floor_char_boundary(MAX_WORD_BYTES)).unwrap_or_default());
                }
                Value::Number(number) => line.push_str(&number.to_string()),
                _ => {}
            }
            spans.push(start..line.len());
            line.push(' ');
        }
        let redacted = self.redactor.redact(&line);
        let marks = text_clipping::locate_marks(&redacted);
        for (word, span) in words.iter_mut().zip(spans) {
            let inside = marks.iter().filter(|(found, ..)| found.start < span.end && found.end > span.start);
            let mut clean = String::new();
            let mut from = span.start;
            for (found, _, mark) in inside {
                clean.push_str(line.get(from..found.start.max(from)).unwrap_or_default());
                clean.push_str(mark);
                // A word that begins with a secret is secret to its end, blanks included.
                from = if found.start <= span.start { usize::MAX } else { found.end };
            }
            if clean.is_empty() {
                continue;
            }
            if let Some(rest) = line.get(from.min(span.end)..span.end) {
                clean.push_str(rest);
            }
            *word = Value::String(clean);
        }
    }
}

/// Redacts an id, a name or another short text, even if the secret is attached to a word: `tool_…`, `s-…`.
pub fn redact_label(text: String, redactor: &Redactor) -> String {
    let clean = text_clipping::redact_text(text, redactor);
    if clean.len() < MIN_GLUED_BYTES {
        return clean;
    }
    let rests = clean.match_indices(['_', '-', '.', ':']).take(MAX_JOINTS);
    let glued = rests.filter_map(|(at, _)| clean.split_at_checked(at + 1)).find_map(|(word, rest)| {
        let redacted = redactor.redact(rest);
        (!redacted.found.is_empty()).then(|| format!("{word}{}", redacted.text))
    });
    glued.unwrap_or(clean)
}

/// Renders a JSON pair: `"name": "text"`.
fn json_pair(name: &str, text: &str) -> String {
    format!("{}: {}", Value::from(name), Value::from(text))
}

/// Returns true for keys of ids: `id`, `sessionId`, `episodeIds`.
fn is_id_key(key: &str) -> bool {
    key == "id" || key.ends_with("Id") || key.ends_with("Ids")
}
