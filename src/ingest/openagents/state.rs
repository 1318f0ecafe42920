//! Small documents: a run's metadata, the index of a stream, what the Healer tried, and HUD messages about speed and use.

use serde_json::Value;

use super::AGENT;
use crate::domain::{About, Call, Event, Extra, Output, OutputOf, Sink, Speaker, Step, Usage};
use crate::ingest::Reader;
use crate::ingest::chat::{self, Teller};
use crate::ingest::pick::{self, Object};
use crate::ingest::unknown::Unknown;

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;

/// What stands where a model's name should, when the orchestrator itself ran.
const NO_MODEL: &str = "orchestrator";

/// Reads one document, or one a line.
#[derive(Debug, Default)]
pub(in crate::ingest) struct State {
    teller: Teller,
    unknown: Unknown,
    has_told: bool,
    session: Option<u64>,
}

impl Reader for State {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let document = pick::object(line);
        let has = |key: &str| document.contains_key(key);
        let kind = pick::str(&document, "type").unwrap_or_default();
        if has("attempts") {
            self.healer(document, sink);
        } else if kind == "usage_update" {
            self.usage(document, sink);
        } else if matches!(kind, "apm_snapshot" | "apm_update") || (has("combined") && has("comparison")) {
            self.speed(document, sink);
        } else if has("session_id") && (has("checkpoint") || has("final_metrics")) {
            self.index(document, sink);
        } else if has("taskId") || has("logFilePath") || has("sessionFilePath") || has("totalTurns") {
            self.run(document, sink);
        } else {
            self.unknown.report(kind, number, sink);
        }
    }
}

impl State {
    fn begin(&mut self, sink: &mut dyn Sink) {
        if std::mem::replace(&mut self.has_told, true) {
            self.teller.begin(sink);
        }
    }

    fn run(&mut self, mut run: Object, sink: &mut dyn Sink) {
        self.begin(sink);
        let id = pick::string(&run, "id");
        let session_id = pick::str(&run, "sessionFilePath").and_then(stem).or_else(|| id.clone());
        let finished_at = pick::time(&run, "finishedAt");
        sink.hear(Event::About(Box::new(About {
            session_id,
            trajectory_id: id,
            agent: Some(AGENT.to_owned()),
            directory: pick::string(&run, "workDir"),
            task_id: pick::string(&run, "taskId"),
            title: pick::string(&run, "taskTitle"),
            started_at: pick::time(&run, "startedAt"),
            finished_at,
            ..About::default()
        })));
        let mut parts = vec![chat::take_words(&mut run, &["finalMessage"])];
        let commits = chat::strings(&mut run, "commits");
        if !commits.is_empty() {
            parts.push(format!("Commits: {}", commits.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        if !parts.is_empty() {
            self.teller.said(Speaker::System, parts.join("\n"), finished_at, sink);
        }
        let error = Some(chat::take_words(&mut run, &["error"])).filter(|error| !error.is_empty());
        if let Some(outcome) = super::outcome(pick::str(&run, "status"), error, "run metadata") {
            sink.hear(Event::Outcome(outcome));
        }
    }

    /// Its status says whether the stream was closed, not how the session ended.
    fn index(&mut self, mut index: Object, sink: &mut dyn Sink) {
        self.begin(sink);
        let agent = pick::take_object(&mut index, "agent").unwrap_or_default();
        let checkpoint = pick::take_object(&mut index, "checkpoint").unwrap_or_default();
        sink.hear(Event::About(Box::new(About {
            session_id: pick::string(&index, "session_id"),
            agent: pick::string(&agent, "name").or_else(|| Some(AGENT.to_owned())),
            agent_version: pick::string(&agent, "version"),
            model: pick::string(&agent, "model_name").filter(|model| model != NO_MODEL),
            parent_session_id: pick::string(&index, "parent_session_id"),
            started_at: pick::time(&index, "created_at"),
            finished_at: pick::time(&checkpoint, "timestamp"),
            ..About::default()
        })));
        let Some(metrics) = index.get("final_metrics").and_then(Value::as_object) else { return };
        total(
            Usage {
                prompt_tokens: pick::count(metrics, "total_prompt_tokens"),
                completion_tokens: pick::count(metrics, "total_completion_tokens"),
                cached_tokens: pick::count(metrics, "total_cached_tokens"),
                cache_write_tokens: None,
                cost_usd: pick::amount(metrics, "total_cost_usd"),
            },
            sink,
        );
    }

    fn healer(&mut self, mut state: Object, sink: &mut dyn Sink) {
        for attempt in pick::take_array(&mut state, "attempts") {
            let mut attempt = pick::object(attempt);
            let at = pick::time(&attempt, "timestamp");
            self.begin(sink);
            sink.hear(Event::About(Box::new(About {
                trajectory_id: pick::str(&attempt, "key")
                    .map(|key| format!("{key}@{}", pick::str(&attempt, "timestamp").unwrap_or_default())),
                agent: Some("healer".to_owned()),
                task_id: pick::string(&attempt, "taskId"),
                subtask_id: pick::string(&attempt, "subtaskId"),
                title: pick::string(&attempt, "scenario"),
                started_at: at,
                ..About::default()
            })));
            let tried = chat::strings(&mut attempt, "spellsTried");
            let succeeded = chat::strings(&mut attempt, "spellsSucceeded");
            let extra: Extra =
                attempt.remove("errorHash").map(|hash| ("errorHash".to_owned(), hash)).into_iter().collect();
            let step = Step {
                speaker: Speaker::Agent,
                text: chat::take_words(&mut attempt, &["summary"]),
                at,
                extra,
                ..Step::default()
            };
            let step = self.teller.step(step, sink);
            for (place, spell) in tried.into_iter().enumerate() {
                let id = format!("spell-{}", place + 1);
                let failed = !succeeded.contains(&spell);
                let text = format!("{spell} {}", if failed { "failed" } else { "succeeded" });
                sink.hear(Event::Call(step, Call { id: id.clone(), tool: spell, ..Call::default() }));
                let output = Output { text, failed: Some(failed), at, ..Output::default() };
                sink.hear(Event::Output(OutputOf::Call(id), output));
            }
            if let Some(outcome) = super::outcome(pick::str(&attempt, "outcome"), None, "healer-state") {
                sink.hear(Event::Outcome(outcome));
            }
        }
    }

    fn usage(&mut self, mut message: Object, sink: &mut dyn Sink) {
        let usage = pick::take_object(&mut message, "usage").unwrap_or(message);
        self.session(pick::string(&usage, "sessionId"), sink);
        sink.hear(Event::About(Box::new(About {
            session_id: pick::string(&usage, "sessionId"),
            agent: pick::string(&usage, "agent").or_else(|| Some(AGENT.to_owned())),
            repository: pick::string(&usage, "projectId"),
            finished_at: pick::time(&usage, "timestamp"),
            ..About::default()
        })));
        total(chat::usage(&usage), sink);
    }

    /// Actions a minute. They say nothing about tokens.
    fn speed(&mut self, message: Object, sink: &mut dyn Sink) {
        let session_id = pick::string(&message, "sessionId");
        self.session(session_id.clone(), sink);
        let agent = Some(AGENT.to_owned());
        sink.hear(Event::About(Box::new(About { session_id, agent, ..About::default() })));
        let mut figures = Vec::new();
        collect(&message, &mut figures);
        let at = pick::time(&message, "timestamp");
        self.teller.said(Speaker::System, format!("Actions per minute: {}", figures.join(", ")), at, sink);
    }

    /// Messages about one session are one trajectory.
    fn session(&mut self, id: Option<String>, sink: &mut dyn Sink) {
        let known = id.as_deref().map(chat::fingerprint);
        if !self.has_told || (known.is_some() && self.session.is_some() && known != self.session) {
            self.begin(sink);
        }
        self.session = known.or(self.session);
    }
}

/// The numbers of a message, each with its name, parts before wholes as they stand.
fn collect(message: &Object, figures: &mut Vec<String>) {
    for (name, value) in message {
        match value {
            Value::Number(number) => figures.push(format!("{name} {number}")),
            Value::Object(inner) => {
                let numbers = inner.iter().filter(|(_, value)| value.is_number());
                figures.extend(numbers.map(|(name, value)| format!("{name} {value}")));
            }
            _ => {}
        }
    }
}

/// Figures that are all zero were never counted.
fn total(usage: Usage, sink: &mut dyn Sink) {
    let is_any = [usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens].iter().any(|n| n.unwrap_or(0) > 0);
    if is_any || usage.cost_usd.unwrap_or_default() > 0.0 {
        sink.hear(Event::Total(usage));
    }
}

/// A file's name without folders and extension.
fn stem(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    Some(stem.to_owned()).filter(|stem| !stem.is_empty())
}
