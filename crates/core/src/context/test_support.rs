//! Small sessions, told in a few words.

use serde_json::json;

use super::trajectory_collector::{GatheredLogs, LogGatherer};
use crate::domain::{EventSink, Happening, OutputOwner, Speaker, Step, ToolCall, ToolOutput, TrajectoryEvent};
use crate::redact::Redactor;

/// One thing that happens in a session.
pub(super) enum Does<'a> {
    /// A person speaks.
    User(&'a str),
    /// The agent speaks.
    Agent(&'a str),
    /// The harness speaks.
    System(&'a str),
    /// A person presses the stop key.
    Stop,
    /// A command passes.
    Runs(&'a str, &'a str),
    /// A command fails, and the log says so.
    Fails(&'a str, &'a str),
    /// A passage of a file is replaced.
    Edits(&'a str, &'a str, &'a str),
    /// Another tool is called, without arguments.
    Calls(&'a str, &'a str),
    /// A file is read.
    Reads(&'a str),
    /// Another trajectory begins.
    Begin,
}

/// The events of a session.
pub(super) fn events(session: &[Does<'_>]) -> Vec<TrajectoryEvent> {
    let mut events = Vec::new();
    let mut number = 0;
    for does in session {
        let (speaker, text) = match does {
            Does::User(text) => (Speaker::User, *text),
            Does::System(text) => (Speaker::System, *text),
            Does::Agent(text) => (Speaker::Agent, *text),
            Does::Stop => {
                events.push(TrajectoryEvent::Happened(number, Happening::Interrupted, String::new()));
                continue;
            }
            Does::Begin => {
                events.push(TrajectoryEvent::Begin);
                number = 0;
                continue;
            }
            _ => (Speaker::Agent, ""),
        };
        number += 1;
        events.push(TrajectoryEvent::Step(Box::new(Step {
            number,
            speaker,
            text: text.to_owned(),
            ..Step::default()
        })));
        let (tool, arguments, output, failed) = match does {
            Does::Runs(command, output) => ("Bash", json!({"command": command}), *output, false),
            Does::Fails(command, output) => ("Bash", json!({"command": command}), *output, true),
            Does::Edits(path, old, new) => {
                ("Edit", json!({"file_path": path, "old_string": old, "new_string": new}), "edited", false)
            }
            Does::Calls(tool, output) => (*tool, json!({}), *output, false),
            Does::Reads(path) => ("Read", json!({"file_path": path}), "fn main() {}", false),
            _ => continue,
        };
        let id = format!("call-{number}");
        events.push(TrajectoryEvent::Call(
            number,
            ToolCall { id: id.clone(), tool: tool.to_owned(), arguments, output: None },
        ));
        let output = ToolOutput { text: output.to_owned(), failed: failed.then_some(true), ..ToolOutput::default() };
        events.push(TrajectoryEvent::Output(OutputOwner::Call(id), output));
    }
    events
}

/// What is gathered from a session.
pub(super) fn gather(session: &[Does<'_>]) -> GatheredLogs {
    gather_events(events(session))
}

/// What is gathered from events.
pub(super) fn gather_events(events: Vec<TrajectoryEvent>) -> GatheredLogs {
    let redactor = Redactor::new();
    let mut gathering = LogGatherer::new(&redactor);
    for event in events {
        gathering.receive_event(event);
    }
    gathering.finish()
}
