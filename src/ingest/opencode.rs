//! OpenCode's sessions, as `opencode export` writes them: one document.

use serde_json::Value;

use super::Reader;
use super::pick;
use super::pick::Object;
use crate::domain::About;
use crate::domain::Call;
use crate::domain::Elsewhere;
use crate::domain::Event;
use crate::domain::Happening;
use crate::domain::Output;
use crate::domain::OutputOf;
use crate::domain::Part;
use crate::domain::Sink;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Timestamp;
use crate::domain::Usage;

#[cfg(test)]
#[path = "opencode_tests.rs"]
mod tests;

/// Reads an exported session.
#[derive(Debug, Default)]
pub(super) struct OpenCode {
    last: u32,
    model: Option<String>,
    is_subagent: bool,
    /// Whether a compaction was asked for, and its summary has not come yet.
    is_compacting: bool,
}

/// What is read of one message until one of its steps is whole.
#[derive(Debug, Default)]
struct Draft {
    text: Vec<String>,
    thoughts: Vec<String>,
    calls: Vec<(Call, Option<Output>)>,
    at: Option<Timestamp>,
    spent: Usage,
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thoughts.is_empty() && self.calls.is_empty()
    }
}

impl Reader for OpenCode {
    fn line(&mut self, _number: u64, line: Value, sink: &mut dyn Sink) {
        let mut document = pick::object(line);
        let mut info = pick::take_object(&mut document, "info").unwrap_or_default();
        self.about(&mut info, sink);
        for message in pick::take_array(&mut document, "messages") {
            let mut message = pick::object(message);
            let info = pick::take_object(&mut message, "info").unwrap_or_default();
            let parts = pick::take_array(&mut message, "parts");
            if pick::str(&info, "role") == Some("user") {
                self.user(info, parts, sink);
            } else {
                self.assistant(info, parts, sink);
            }
        }
        if info.get("revert").is_some_and(Value::is_object) {
            sink.hear(Event::Happened(self.last, Happening::RolledBack, String::new()));
        }
    }
}

impl OpenCode {
    fn about(&mut self, info: &mut Object, sink: &mut dyn Sink) {
        let time = pick::take_object(info, "time").unwrap_or_default();
        self.is_subagent = pick::str(info, "parentID").is_some();
        let mut about = About {
            session_id: pick::string(info, "id"),
            agent: Some("opencode".to_owned()),
            agent_version: pick::string(info, "version"),
            directory: pick::string(info, "directory"),
            parent_session_id: pick::string(info, "parentID"),
            title: pick::string(info, "title"),
            ..About::default()
        };
        about.lived(pick::time(&time, "created"));
        about.lived(pick::time(&time, "updated"));
        sink.hear(Event::About(Box::new(about)));
    }

    fn user(&mut self, mut info: Object, parts: Vec<Value>, sink: &mut dyn Sink) {
        let time = pick::take_object(&mut info, "time").unwrap_or_default();
        let at = pick::time(&time, "created");
        let mut own: Vec<String> = Vec::new();
        let mut added: Vec<String> = Vec::new();
        for part in parts {
            let mut part = pick::object(part);
            let is_added = pick::flag(&part, "synthetic") == Some(true) || pick::flag(&part, "ignored") == Some(true);
            match pick::str(&part, "type").unwrap_or_default() {
                "text" if is_added => added.extend(words(&mut part, "text")),
                "text" => own.extend(words(&mut part, "text")),
                "file" => own.push(format!("[{}]", pick::str(&part, "filename").unwrap_or("file"))),
                "subtask" => added.extend(words(&mut part, "prompt")),
                "compaction" => {
                    self.is_compacting = true;
                    sink.hear(Event::Happened(self.last, Happening::Compacted, String::new()));
                }
                _ => {}
            }
        }
        let speaker = if self.is_subagent { Speaker::OtherAgent } else { Speaker::User };
        for (speaker, texts) in [(speaker, own), (Speaker::System, added)] {
            if !texts.is_empty() {
                self.tell(Step { speaker, text: texts.join("\n"), at, ..Step::default() }, sink);
            }
        }
    }

    fn assistant(&mut self, mut info: Object, parts: Vec<Value>, sink: &mut dyn Sink) {
        let time = pick::take_object(&mut info, "time").unwrap_or_default();
        let at = pick::time(&time, "created");
        let is_summary = pick::flag(&info, "summary") == Some(true);
        if is_summary && !std::mem::take(&mut self.is_compacting) {
            sink.hear(Event::Happened(self.last, Happening::Compacted, String::new()));
        }
        let step = Step {
            speaker: if is_summary { Speaker::System } else { Speaker::Agent },
            model: self.model(pick::string(&info, "modelID"), sink),
            ..Step::default()
        };
        let mut draft = Draft { at, ..Draft::default() };
        let mut steps: Vec<Draft> = Vec::new();
        for part in parts {
            let mut part = pick::object(part);
            match pick::str(&part, "type").unwrap_or_default() {
                "text" => draft.text.extend(words(&mut part, "text")),
                "reasoning" => draft.thoughts.extend(words(&mut part, "text")),
                "tool" => {
                    draft.at = draft.at.or_else(|| begun(&part));
                    draft.calls.push(tool(part, sink));
                }
                "step-start" if !draft.is_empty() => steps.push(std::mem::take(&mut draft)),
                "step-finish" => {
                    draft.spent = spent(&mut part);
                    steps.push(std::mem::take(&mut draft));
                }
                "retry" => {
                    let error = part.get_mut("error").map(Value::take).unwrap_or_default();
                    sink.hear(Event::Happened(self.last, Happening::ApiError, trouble(error).1));
                }
                _ => {}
            }
        }
        if !draft.is_empty() {
            steps.push(draft);
        }
        if steps.iter().all(|step| step.spent.is_unknown())
            && let Some(last) = steps.last_mut()
        {
            last.spent = spent(&mut info);
        }
        for draft in steps {
            self.tell_draft(draft, step.clone(), sink);
        }
        if let Some(error) = info.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
            let (happening, text) = trouble(error);
            sink.hear(Event::Happened(self.last, happening, text));
        }
    }

    /// The model of a step, if it is not the session's.
    fn model(&mut self, model: Option<String>, sink: &mut dyn Sink) -> Option<String> {
        if self.model.is_none() && model.is_some() {
            self.model.clone_from(&model);
            sink.hear(Event::About(Box::new(About { model: model.clone(), ..About::default() })));
        }
        model.filter(|model| Some(model) != self.model.as_ref())
    }

    fn tell_draft(&mut self, draft: Draft, step: Step, sink: &mut dyn Sink) {
        let reasoning = (!draft.thoughts.is_empty()).then(|| draft.thoughts.join("\n\n"));
        let number = self.tell(Step { text: draft.text.join("\n"), reasoning, at: draft.at, ..step }, sink);
        for (call, output) in draft.calls {
            let id = call.id.clone();
            sink.hear(Event::Call(number, call));
            if let Some(output) = output {
                sink.hear(Event::Output(OutputOf::Call(id), output));
            }
        }
        if !draft.spent.is_unknown() {
            sink.hear(Event::Spent(number, draft.spent));
        }
    }

    fn tell(&mut self, mut step: Step, sink: &mut dyn Sink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.hear(Event::Step(Box::new(step)));
        self.last
    }
}

/// Words under a key, if there are any.
fn words(part: &mut Object, key: &str) -> Option<String> {
    part.get_mut(key).map(Value::take).map(pick::words).filter(|text| !text.is_empty())
}

/// When a tool began.
fn begun(part: &Object) -> Option<Timestamp> {
    pick::moment(part.get("state")?.get("time")?.get("start")?)
}

fn tool(mut part: Object, sink: &mut dyn Sink) -> (Call, Option<Output>) {
    let mut state = pick::take_object(&mut part, "state").unwrap_or_default();
    let metadata = pick::take_object(&mut state, "metadata").unwrap_or_default();
    let time = pick::take_object(&mut state, "time").unwrap_or_default();
    let id = pick::string(&part, "callID").or_else(|| pick::string(&part, "id")).unwrap_or_default();
    let tool = pick::string(&part, "tool").unwrap_or_default();
    let arguments = state.get_mut("input").map(Value::take).unwrap_or_default();
    if tool == "task"
        && let Some(session) = pick::string(&metadata, "sessionId").or_else(|| pick::string(&metadata, "sessionID"))
    {
        sink.hear(Event::Elsewhere(Elsewhere { part: Part::Subagent, path: None, id: Some(session) }));
    }
    // Between its start and its end a call may have waited for a person's permission: how long it took is not told.
    let over =
        Output { exit_code: pick::integer(&metadata, "exit"), at: pick::time(&time, "end"), ..Output::default() };
    let output = match pick::str(&state, "status").unwrap_or_default() {
        "completed" => {
            let failed = Some(over.exit_code.is_some_and(|code| code != 0));
            Some(Output { text: words(&mut state, "output").unwrap_or_default(), failed, ..over })
        }
        "error" => {
            let text = words(&mut state, "error").unwrap_or_default();
            let interrupted = text.contains("aborted") || pick::flag(&metadata, "interrupted") == Some(true);
            Some(Output { text, failed: Some(true), interrupted, ..over })
        }
        _ => None,
    };
    (Call { id, tool, arguments, output: None }, output)
}

/// What something cost. Input is new input only, and reasoning is no part of output.
fn spent(of: &mut Object) -> Usage {
    let cost_usd = pick::amount(of, "cost");
    let Some(mut tokens) = pick::take_object(of, "tokens") else { return Usage { cost_usd, ..Usage::default() } };
    let cache = pick::take_object(&mut tokens, "cache").unwrap_or_default();
    let (read, write) = (pick::count(&cache, "read"), pick::count(&cache, "write"));
    let known = |count: Option<u64>| count.unwrap_or_default();
    let input = pick::count(&tokens, "input");
    let output = pick::count(&tokens, "output");
    Usage {
        prompt_tokens: input.map(|input| input.saturating_add(known(read)).saturating_add(known(write))),
        completion_tokens: output.map(|output| output.saturating_add(known(pick::count(&tokens, "reasoning")))),
        cached_tokens: read,
        cache_write_tokens: write,
        cost_usd,
    }
}

/// What an error is, and its words.
fn trouble(error: Value) -> (Happening, String) {
    let mut error = pick::object(error);
    let name = pick::string(&error, "name").unwrap_or_default();
    let mut data = pick::take_object(&mut error, "data").unwrap_or_default();
    let text = words(&mut data, "message").or_else(|| words(&mut error, "message")).unwrap_or_else(|| name.clone());
    let happening = if name == "MessageAbortedError" { Happening::Interrupted } else { Happening::ApiError };
    (happening, text)
}
