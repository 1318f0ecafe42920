//! Reads OpenCode's sessions as `opencode export` writes them: one document.

use serde_json::Value;

use super::LogReader;
use super::json_fields;
use super::json_fields::Object;
use crate::domain::EventSink;
use crate::domain::Happening;
use crate::domain::LogReference;
use crate::domain::OutputOwner;
use crate::domain::Part;
use crate::domain::SessionDetails;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Timestamp;
use crate::domain::TokenUsage;
use crate::domain::ToolCall;
use crate::domain::ToolOutput;
use crate::domain::TrajectoryEvent;

#[cfg(test)]
#[path = "opencode_tests.rs"]
mod tests;

/// Reads an exported session of OpenCode.
#[derive(Debug, Default)]
pub(super) struct OpenCodeReader {
    last: u32,
    model: Option<String>,
    is_subagent: bool,
    /// True if a compaction was requested and its summary has not followed yet.
    is_compacting: bool,
}

/// A step of a message that is still being read.
#[derive(Debug, Default)]
struct OpenCodeStepDraft {
    text: Vec<String>,
    thoughts: Vec<String>,
    calls: Vec<(ToolCall, Option<ToolOutput>)>,
    at: Option<Timestamp>,
    spent: TokenUsage,
}

impl OpenCodeStepDraft {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thoughts.is_empty() && self.calls.is_empty()
    }
}

impl LogReader for OpenCodeReader {
    fn read_log_line(&mut self, _number: u64, line: Value, sink: &mut dyn EventSink) {
        let mut document = json_fields::into_object(line);
        let mut info = json_fields::take_object(&mut document, "info").unwrap_or_default();
        self.read_session_info(&mut info, sink);
        for message in json_fields::take_array(&mut document, "messages") {
            let mut message = json_fields::into_object(message);
            let info = json_fields::take_object(&mut message, "info").unwrap_or_default();
            let parts = json_fields::take_array(&mut message, "parts");
            if json_fields::get_str(&info, "role") == Some("user") {
                self.read_user_message(info, parts, sink);
            } else {
                self.read_assistant_message(info, parts, sink);
            }
        }
        if info.get("revert").is_some_and(Value::is_object) {
            sink.receive_event(TrajectoryEvent::Happened(self.last, Happening::RolledBack, String::new()));
        }
    }
}

impl OpenCodeReader {
    fn read_session_info(&mut self, info: &mut Object, sink: &mut dyn EventSink) {
        let time = json_fields::take_object(info, "time").unwrap_or_default();
        self.is_subagent = json_fields::get_str(info, "parentID").is_some();
        let mut about = SessionDetails {
            session_id: json_fields::get_string(info, "id"),
            agent: Some("opencode".to_owned()),
            agent_version: json_fields::get_string(info, "version"),
            directory: json_fields::get_string(info, "directory"),
            parent_session_id: json_fields::get_string(info, "parentID"),
            title: json_fields::get_string(info, "title"),
            ..SessionDetails::default()
        };
        about.extend_time_span(json_fields::get_time(&time, "created"));
        about.extend_time_span(json_fields::get_time(&time, "updated"));
        sink.receive_event(TrajectoryEvent::About(Box::new(about)));
    }

    fn read_user_message(&mut self, mut info: Object, parts: Vec<Value>, sink: &mut dyn EventSink) {
        let time = json_fields::take_object(&mut info, "time").unwrap_or_default();
        let at = json_fields::get_time(&time, "created");
        let mut own: Vec<String> = Vec::new();
        let mut added: Vec<String> = Vec::new();
        for part in parts {
            let mut part = json_fields::into_object(part);
            let is_added = json_fields::get_flag(&part, "synthetic") == Some(true)
                || json_fields::get_flag(&part, "ignored") == Some(true);
            match json_fields::get_str(&part, "type").unwrap_or_default() {
                "text" if is_added => added.extend(take_text(&mut part, "text")),
                "text" => own.extend(take_text(&mut part, "text")),
                "file" => own.push(format!("[{}]", file_label(json_fields::get_str(&part, "filename")))),
                "subtask" => added.extend(take_text(&mut part, "prompt")),
                "compaction" => {
                    self.is_compacting = true;
                    sink.receive_event(TrajectoryEvent::Happened(self.last, Happening::Compacted, String::new()));
                }
                _ => {}
            }
        }
        let speaker = if self.is_subagent { Speaker::OtherAgent } else { Speaker::User };
        for (speaker, texts) in [(speaker, own), (Speaker::System, added)] {
            if !texts.is_empty() {
                self.emit_step(Step { speaker, text: texts.join("\n"), at, ..Step::default() }, sink);
            }
        }
    }

    fn read_assistant_message(&mut self, mut info: Object, parts: Vec<Value>, sink: &mut dyn EventSink) {
        let time = json_fields::take_object(&mut info, "time").unwrap_or_default();
        let at = json_fields::get_time(&time, "created");
        let is_summary = json_fields::get_flag(&info, "summary") == Some(true);
        if is_summary && !std::mem::take(&mut self.is_compacting) {
            sink.receive_event(TrajectoryEvent::Happened(self.last, Happening::Compacted, String::new()));
        }
        let step = Step {
            speaker: if is_summary { Speaker::System } else { Speaker::Agent },
            model: self.resolve_step_model(json_fields::get_string(&info, "modelID"), sink),
            ..Step::default()
        };
        let mut draft = OpenCodeStepDraft { at, ..OpenCodeStepDraft::default() };
        let mut steps: Vec<OpenCodeStepDraft> = Vec::new();
        for part in parts {
            let mut part = json_fields::into_object(part);
            match json_fields::get_str(&part, "type").unwrap_or_default() {
                "text" => draft.text.extend(take_text(&mut part, "text")),
                "reasoning" => draft.thoughts.extend(take_text(&mut part, "text")),
                "tool" => {
                    draft.at = draft.at.or_else(|| tool_start_time(&part));
                    draft.calls.push(read_tool_part(part, sink));
                }
                "step-start" if !draft.is_empty() => steps.push(std::mem::take(&mut draft)),
                "step-finish" => {
                    draft.spent = parse_usage(&mut part);
                    steps.push(std::mem::take(&mut draft));
                }
                "retry" => {
                    let error = part.get_mut("error").map(Value::take).unwrap_or_default();
                    sink.receive_event(TrajectoryEvent::Happened(self.last, Happening::ApiError, parse_error(error).1));
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
            last.spent = parse_usage(&mut info);
        }
        for draft in steps {
            self.emit_draft(draft, step.clone(), sink);
        }
        if let Some(error) = info.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
            let (happening, text) = parse_error(error);
            sink.receive_event(TrajectoryEvent::Happened(self.last, happening, text));
        }
    }

    /// Returns the model of a step if it differs from the session's; the first model becomes the session's.
    fn resolve_step_model(&mut self, model: Option<String>, sink: &mut dyn EventSink) -> Option<String> {
        if self.model.is_none() && model.is_some() {
            self.model.clone_from(&model);
            sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                model: model.clone(),
                ..SessionDetails::default()
            })));
        }
        model.filter(|model| Some(model) != self.model.as_ref())
    }

    fn emit_draft(&mut self, draft: OpenCodeStepDraft, step: Step, sink: &mut dyn EventSink) {
        let reasoning = (!draft.thoughts.is_empty()).then(|| draft.thoughts.join("\n\n"));
        let number = self.emit_step(Step { text: draft.text.join("\n"), reasoning, at: draft.at, ..step }, sink);
        for (call, output) in draft.calls {
            let id = call.id.clone();
            sink.receive_event(TrajectoryEvent::Call(number, call));
            if let Some(output) = output {
                sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
            }
        }
        if !draft.spent.is_unknown() {
            sink.receive_event(TrajectoryEvent::Spent(number, draft.spent));
        }
    }

    fn emit_step(&mut self, mut step: Step, sink: &mut dyn EventSink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.receive_event(TrajectoryEvent::Step(Box::new(step)));
        self.last
    }
}

/// Returns the name of an attached file, unless it holds blanks: it may be a sentence that nobody typed.
fn file_label(name: Option<&str>) -> &str {
    name.filter(|name| !name.is_empty() && !name.contains(char::is_whitespace)).unwrap_or("file")
}

/// Takes the text under a key, if it is not empty.
fn take_text(part: &mut Object, key: &str) -> Option<String> {
    part.get_mut(key).map(Value::take).map(json_fields::content_text).filter(|text| !text.is_empty())
}

/// Returns the time when a tool started.
fn tool_start_time(part: &Object) -> Option<Timestamp> {
    json_fields::parse_time(part.get("state")?.get("time")?.get("start")?)
}

fn read_tool_part(mut part: Object, sink: &mut dyn EventSink) -> (ToolCall, Option<ToolOutput>) {
    let mut state = json_fields::take_object(&mut part, "state").unwrap_or_default();
    let metadata = json_fields::take_object(&mut state, "metadata").unwrap_or_default();
    let time = json_fields::take_object(&mut state, "time").unwrap_or_default();
    let id =
        json_fields::get_string(&part, "callID").or_else(|| json_fields::get_string(&part, "id")).unwrap_or_default();
    let tool = json_fields::get_string(&part, "tool").unwrap_or_default();
    let arguments = state.get_mut("input").map(Value::take).unwrap_or_default();
    if tool == "task"
        && let Some(session) =
            json_fields::get_string(&metadata, "sessionId").or_else(|| json_fields::get_string(&metadata, "sessionID"))
    {
        sink.receive_event(TrajectoryEvent::Elsewhere(LogReference {
            part: Part::Subagent,
            path: None,
            id: Some(session),
        }));
    }
    // Between its start and its end a call may have waited for a person's permission, so its duration is not reported.
    let over = ToolOutput {
        exit_code: json_fields::get_integer(&metadata, "exit"),
        at: json_fields::get_time(&time, "end"),
        ..ToolOutput::default()
    };
    let output = match json_fields::get_str(&state, "status").unwrap_or_default() {
        "completed" => {
            let failed = Some(over.exit_code.is_some_and(|code| code != 0));
            Some(ToolOutput { text: take_text(&mut state, "output").unwrap_or_default(), failed, ..over })
        }
        "error" => {
            let text = take_text(&mut state, "error").unwrap_or_default();
            let interrupted = text.contains("aborted") || json_fields::get_flag(&metadata, "interrupted") == Some(true);
            Some(ToolOutput { text, failed: Some(true), interrupted, ..over })
        }
        _ => None,
    };
    (ToolCall { id, tool, arguments, output: None }, output)
}

/// Parses tokens and cost. Input excludes cached tokens, and output excludes reasoning.
fn parse_usage(of: &mut Object) -> TokenUsage {
    let cost_usd = json_fields::get_amount(of, "cost");
    let Some(mut tokens) = json_fields::take_object(of, "tokens") else {
        return TokenUsage { cost_usd, ..TokenUsage::default() };
    };
    let cache = json_fields::take_object(&mut tokens, "cache").unwrap_or_default();
    let (read, write) = (json_fields::get_count(&cache, "read"), json_fields::get_count(&cache, "write"));
    let known = |count: Option<u64>| count.unwrap_or_default();
    let input = json_fields::get_count(&tokens, "input");
    let output = json_fields::get_count(&tokens, "output");
    TokenUsage {
        prompt_tokens: input.map(|input| input.saturating_add(known(read)).saturating_add(known(write))),
        completion_tokens: output
            .map(|output| output.saturating_add(known(json_fields::get_count(&tokens, "reasoning")))),
        cached_tokens: read,
        cache_write_tokens: write,
        cost_usd,
    }
}

/// Returns the kind of an error and its text.
fn parse_error(error: Value) -> (Happening, String) {
    let mut error = json_fields::into_object(error);
    let name = json_fields::get_string(&error, "name").unwrap_or_default();
    let mut data = json_fields::take_object(&mut error, "data").unwrap_or_default();
    let text =
        take_text(&mut data, "message").or_else(|| take_text(&mut error, "message")).unwrap_or_else(|| name.clone());
    let happening = if name == "MessageAbortedError" { Happening::Interrupted } else { Happening::ApiError };
    (happening, text)
}
