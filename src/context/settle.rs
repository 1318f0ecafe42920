//! Secrets out of everything that was gathered, whatever corner they stand in.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::action::Action;
use super::clip;
use super::gather::Gathered;
use super::reflection::SessionSummary;
use super::signal::Signal;
use super::survey::Survey;
use crate::domain::{About, Call, EpisodeStatus, Outcome, Output, Part, Speaker, Step, Trajectory};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;

/// A longer value is not judged by its name; it has a shape of its own or is no secret.
const MAX_NAMED_BYTES: usize = 2048;

/// As much of one word of a command line as is looked at.
const MAX_WORD_BYTES: usize = 1024;

/// What is shorter is no word with a secret glued to it.
const MIN_GLUED_BYTES: usize = 20;

/// So many joints of a name are tried.
const MAX_JOINTS: usize = 16;

/// Names that are remembered.
const MAX_NAMES: usize = 4096;

/// A command of about this length was cut, see [`Action`].
const CUT_COMMAND_BYTES: usize = 4092;

/// Any name that promises a secret makes one of this.
const PROBE: &str = "q7Rk2vXw9ZtB4mLs8NcD";

/// Keys that say nothing of their values but that they are some: they go by the name of what is above them.
const PLAIN_KEYS: &[&str] = &["value", "values", "val", "data", "default", "current", "raw", "plain", "text", "string"];

/// Keys whose values name the value beside them, and the keys of that.
const NAMING_KEYS: &[&str] = &["name", "key", "variable", "var", "env", "header", "field", "param"];
const NAMED_KEYS: &[&str] = &["value", "values", "val", "data", "default", "current"];

/// Everything that was gathered.
pub(super) fn gathered(gathered: &mut Gathered, redactor: &Redactor) {
    let mut settling = Settling::new(redactor);
    gathered.trajectories.iter_mut().for_each(|one| settling.trajectory(one));
    gathered.signals.iter_mut().for_each(|one| settling.signal(one));
    settling.survey(&mut gathered.survey);
    gathered.given.iter_mut().for_each(|one| settling.text(one));
}

/// One log in brief.
pub(super) fn summary(summary: &mut SessionSummary, redactor: &Redactor) {
    let settling = Settling::new(redactor);
    settling.some(&mut summary.session_id);
    settling.text(&mut summary.format);
    settling.text(&mut summary.path);
    settling.some(&mut summary.agent);
    settling.some(&mut summary.model);
    if let Some(outcome) = &mut summary.outcome {
        settling.outcome(outcome);
    }
}

/// What a call does, fit to be shown in a few words: whoever shortens it may cut through a secret.
pub(super) fn action(mut action: Action, redactor: &Redactor) -> Action {
    let clean = |text: &mut String| *text = clip::clean(std::mem::take(text), redactor);
    match &mut action {
        Action::Run { command } => {
            let is_cut = command.len() >= CUT_COMMAND_BYTES;
            clean(command);
            if is_cut {
                let whole = command.trim_end_matches(|c: char| !c.is_whitespace()).len();
                command.truncate(whole);
            }
        }
        Action::Edit(changes) => changes.iter_mut().for_each(|change| clean(&mut change.path)),
        Action::Read { path: Some(path) } => clean(path),
        _ => {}
    }
    action
}

/// A value that nobody clipped, such as settings.
pub(super) fn value(value: &mut Value, redactor: &Redactor) {
    Values::new(redactor, clip::clean).value(value, None);
}

/// The fields of such a value.
pub(super) fn fields(fields: &mut Map<String, Value>, redactor: &Redactor) {
    Values::new(redactor, clip::clean).fields(fields, None);
}

/// One of our own records. `None` if it makes no sense without what was taken out.
pub(super) fn record<T: Serialize + DeserializeOwned>(record: T, redactor: &Redactor) -> Option<T> {
    let before = serde_json::to_value(&record).ok()?;
    let mut after = before.clone();
    let mut values = Values::new(redactor, clip::clean);
    values.has_ids = true;
    values.value(&mut after, None);
    if before == after { Some(record) } else { serde_json::from_value(after).ok() }
}

/// Walks through what was gathered.
struct Settling<'r> {
    redactor: &'r Redactor,
    /// Arguments, whose strings were clipped.
    arguments: Values<'r>,
    /// Values that were not.
    values: Values<'r>,
}

impl<'r> Settling<'r> {
    fn new(redactor: &'r Redactor) -> Self {
        Self { redactor, arguments: Values::new(redactor, clip::settled), values: Values::new(redactor, clip::clean) }
    }

    fn text(&self, text: &mut String) {
        *text = label(std::mem::take(text), self.redactor);
    }

    fn some(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// A text that was clipped when it came.
    fn clipped(&self, text: &mut String) {
        *text = clip::settled(std::mem::take(text), self.redactor);
    }

    fn trajectory(&mut self, trajectory: &mut Trajectory) {
        let Trajectory { about, steps, outcome, usage: _ } = trajectory;
        self.about(about);
        if let Some(outcome) = outcome {
            self.outcome(outcome);
        }
        steps.iter_mut().for_each(|step| self.step(step));
    }

    fn about(&self, about: &mut About) {
        let About {
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
            self.some(text);
        }
        for text in [branch, repository, parent_session_id, task_id, subtask_id, title] {
            self.some(text);
        }
    }

    fn outcome(&self, outcome: &mut Outcome) {
        let Outcome { status, reward: _, error, from } = outcome;
        if let EpisodeStatus::Other(word) = status {
            self.text(word);
        }
        self.some(error);
        self.text(from);
    }

    fn step(&mut self, step: &mut Step) {
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
            self.text(word);
        }
        self.clipped(text);
        if let Some(reasoning) = reasoning {
            self.clipped(reasoning);
        }
        self.some(model);
        self.some(subagent);
        for Call { id, tool, arguments, output } in calls {
            self.text(id);
            self.text(tool);
            self.arguments.value(arguments, None);
            if let Some(Output { text, .. }) = output {
                self.clipped(text);
            }
        }
        for Output { text, .. } in outputs {
            self.clipped(text);
        }
        self.values.fields(extra, None);
    }

    fn signal(&mut self, signal: &mut Signal) {
        self.some(&mut signal.tool);
        self.text(&mut signal.text);
        self.some(&mut signal.quote);
        self.values.fields(&mut signal.extra, None);
    }

    fn survey(&self, survey: &mut Survey) {
        let happenings = std::mem::take(&mut survey.happenings);
        survey.happenings = happenings.into_iter().fold(BTreeMap::new(), |mut counted, (what, times)| {
            *counted.entry(label(what, self.redactor)).or_default() += times;
            counted
        });
        survey.skipped.iter_mut().for_each(|skipped| self.text(&mut skipped.why));
        for breach in &mut survey.findings {
            self.text(&mut breach.path);
            self.text(&mut breach.problem);
        }
        for elsewhere in &mut survey.elsewhere {
            if let Part::Other(word) = &mut elsewhere.part {
                self.text(word);
            }
            self.some(&mut elsewhere.path);
            self.some(&mut elsewhere.id);
        }
    }
}

/// What a value is called.
#[derive(Debug, Clone)]
struct Name {
    /// By its key, or by the one above it if that says more.
    own: String,
    /// By all keys above it.
    path: String,
}

impl Name {
    /// The name of what stands under a key of something that may have a name itself.
    fn under(key: &str, above: Option<&Self>) -> Self {
        match above {
            None => Self { own: key.to_owned(), path: key.to_owned() },
            Some(above) if PLAIN_KEYS.contains(&key) => above.clone(),
            Some(above) => Self { own: key.to_owned(), path: format!("{}_{key}", above.path) },
        }
    }
}

/// What is known about a key.
#[derive(Debug, Clone)]
struct Known {
    /// Whether its value may be a secret for its name alone.
    promises: bool,
    /// The key without the secret that it is itself.
    clean: Option<String>,
}

/// Walks through JSON values.
struct Values<'r> {
    redactor: &'r Redactor,
    settle: fn(String, &Redactor) -> String,
    names: HashMap<String, Known>,
    /// Whether what is called an id is one of ours, and no name makes a secret of it.
    has_ids: bool,
}

impl<'r> Values<'r> {
    fn new(redactor: &'r Redactor, settle: fn(String, &Redactor) -> String) -> Self {
        Self { redactor, settle, names: HashMap::new(), has_ids: false }
    }

    fn value(&mut self, value: &mut Value, name: Option<&Name>) {
        match value {
            Value::String(text) => {
                *text = (self.settle)(std::mem::take(text), self.redactor);
                if let Some(clean) = name.and_then(|name| self.named(name, text)) {
                    *text = clean;
                }
            }
            Value::Number(number) => {
                if let Some(clean) = name.and_then(|name| self.named(name, &number.to_string())) {
                    *value = Value::String(clean);
                }
            }
            Value::Array(values) => {
                values.iter_mut().for_each(|value| self.value(value, name));
                self.words(values);
            }
            Value::Object(fields) => self.fields(fields, name),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, above: Option<&Name>) {
        let called = NAMING_KEYS
            .iter()
            .find_map(|key| fields.get(*key)?.as_str())
            .filter(|name| name.len() <= MAX_WORD_BYTES && !name.contains(char::is_whitespace))
            .map(|name| Name::under(name, above));
        let mut has_secret_keys = false;
        for (key, field) in fields.iter_mut() {
            has_secret_keys |= self.known(key).clean.is_some();
            let name = match &called {
                Some(called) if NAMED_KEYS.contains(&key.as_str()) => called.clone(),
                _ => Name::under(key, above),
            };
            if self.has_ids && is_id(key) {
                self.ids(field);
            } else {
                self.value(field, Some(&name));
            }
        }
        if has_secret_keys {
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().map(|(key, field)| (self.known(&key).clean.unwrap_or(key), field)));
        }
    }

    /// Ids, which may not hold the brackets of a mark.
    fn ids(&self, value: &mut Value) {
        match value {
            Value::String(id) => {
                let clean = label(id.clone(), self.redactor);
                if clean != *id {
                    *id = clean.replace(['[', ']'], "");
                }
            }
            Value::Array(ids) => ids.iter_mut().for_each(|id| self.ids(id)),
            _ => {}
        }
    }

    fn known(&mut self, key: &str) -> Known {
        if let Some(known) = self.names.get(key) {
            return known.clone();
        }
        let clean = Some(label(key.to_owned(), self.redactor)).filter(|clean| clean != key);
        let lower = key.to_ascii_lowercase();
        let promises = clean.is_none()
            && (lower.contains("authorization")
                || lower.contains("cookie")
                || !self.redactor.redact(&pair(key, PROBE)).found.is_empty());
        if self.names.len() >= MAX_NAMES {
            self.names.clear();
        }
        let known = Known { promises, clean };
        self.names.insert(key.to_owned(), known.clone());
        known
    }

    /// The value without what its name makes a secret, if there is such a thing.
    fn named(&mut self, name: &Name, text: &str) -> Option<String> {
        if text.is_empty() || text.len() > MAX_NAMED_BYTES {
            return None;
        }
        if self.known(&name.own).promises {
            let by_pair = self.after(&pair(&name.own, ""), &pair(&name.own, text), true);
            let by_line = |sign: &str| {
                let opening = format!("{}{sign}", name.own);
                self.after(&opening, &format!("{opening}{text}"), false)
            };
            return by_pair.or_else(|| by_line("=")).or_else(|| by_line(": "));
        }
        if name.path != name.own && self.known(&name.path).promises {
            let opening = format!("{}=", name.path);
            return self.after(&opening, &format!("{opening}{text}"), false);
        }
        None
    }

    /// What is left of a line after its opening, if something was taken out there.
    fn after(&self, opening: &str, line: &str, is_json: bool) -> Option<String> {
        // The opening of a pair ends with the quotes of nothing.
        let opening = if is_json { opening.strip_suffix("\"\"")? } else { opening };
        let redacted = self.redactor.redact(line);
        let (span, _, mark) = clip::marks(&redacted).into_iter().find(|(span, ..)| span.end > opening.len())?;
        if span.start <= opening.len() + usize::from(is_json) {
            // Blanks and quotes are as good as letters in a password.
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

    /// The words of a command line, each of which may be the secret of the one before.
    fn words(&self, words: &mut [Value]) {
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
        let marks = clip::marks(&redacted);
        for (word, span) in words.iter_mut().zip(spans) {
            let inside = marks.iter().filter(|(found, ..)| found.start < span.end && found.end > span.start);
            let mut clean = String::new();
            let mut from = span.start;
            for (found, _, mark) in inside {
                clean.push_str(line.get(from..found.start.max(from)).unwrap_or_default());
                clean.push_str(mark);
                // A word that begins with a secret is one to its end, blanks or not.
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

/// An id, a name or another short text without secrets, not even one that is glued to a word: `tool_…`, `s-…`.
pub(super) fn label(text: String, redactor: &Redactor) -> String {
    let clean = clip::clean(text, redactor);
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

/// `"name": "text"`.
fn pair(name: &str, text: &str) -> String {
    format!("{}: {}", Value::from(name), Value::from(text))
}

/// `id`, `sessionId`, `episodeIds`.
fn is_id(key: &str) -> bool {
    key == "id" || key.ends_with("Id") || key.ends_with("Ids")
}
