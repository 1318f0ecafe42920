//! Reads the events that Codex records for its user interface.

use serde_json::Value;

use super::CodexRolloutReader;
use super::event_dedup::CodexRecordKind;
use super::token_totals::TokenCountOwner;
use super::turn_items;
use crate::domain::EventSink;
use crate::domain::Happening;
use crate::domain::SessionDetails;
use crate::domain::TrajectoryEvent;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

impl CodexRolloutReader {
    /// Reads an event of the user interface.
    pub(super) fn read_event(&mut self, mut event: Object, sink: &mut dyn EventSink) {
        let kind = json_fields::get_string(&event, "type").unwrap_or_default();
        let mut text =
            |key: &str| event.get_mut(key).map(Value::take).map(json_fields::content_text).unwrap_or_default();
        match kind.as_str() {
            "token_count" => self.read_token_count(event, sink),
            "user_message" => {
                let message = text("message");
                // Some versions report what the harness adds in the same way.
                if matches!(json_fields::get_str(&event, "kind"), None | Some("plain")) {
                    self.read_prompt_event(Value::String(message), CodexRecordKind::Event, sink);
                }
            }
            "agent_message" => {
                let message = text("message");
                self.emit_agent_text(message, CodexRecordKind::Event, sink);
            }
            "agent_reasoning" => {
                let thought = text("text");
                self.emit_reasoning(vec![thought], CodexRecordKind::Event, sink);
            }
            "item_completed" => {
                if let Some(item) = json_fields::take_object(&mut event, "item") {
                    let is_search = turn_items::item_kind(&item) == "websearch";
                    if is_search {
                        self.read_search(item, CodexRecordKind::Typed, sink);
                    } else {
                        self.read_typed_item(item, CodexRecordKind::Typed, sink);
                    }
                }
            }
            "web_search_end" => self.read_search(event, CodexRecordKind::Event, sink),
            "exec_command_end"
            | "patch_apply_end"
            | "mcp_tool_call_end"
            | "dynamic_tool_call_response"
            | "view_image_tool_call"
            | "image_generation_end"
            | "sub_agent_activity" => {
                self.read_typed_item(event, CodexRecordKind::Event, sink);
            }
            "turn_aborted" => {
                let reason = text("reason");
                self.flush_pending(sink);
                self.emit_session_event(Happening::Interrupted, reason, sink);
            }
            "thread_rolled_back" => {
                self.flush_pending(sink);
                let turns = json_fields::get_count(&event, "num_turns")
                    .map(|turns| format!("{turns} turns"))
                    .unwrap_or_default();
                self.emit_session_event(Happening::RolledBack, turns, sink);
            }
            "context_compacted" => self.emit_compaction(CodexRecordKind::Event, String::new(), sink),
            "error" | "stream_error" => {
                let message = text("message");
                self.emit_session_event(Happening::ApiError, message, sink);
            }
            "collab_agent_spawn_end" => {
                if let Some(thread) = json_fields::get_string(&event, "new_thread_id") {
                    self.emit_subagent(thread, sink);
                }
            }
            "thread_name_updated" => {
                let title = json_fields::get_string(&event, "thread_name").filter(|_| !self.copied);
                self.emit_about(SessionDetails { title, ..SessionDetails::default() }, sink);
            }
            "task_started" | "turn_started" | "task_complete" | "turn_complete" => self.flush_pending(sink),
            kind if is_known_event(kind) => {}
            kind => self.unknown.report_once(kind, self.line, sink),
        }
    }

    pub(super) fn read_token_count(&mut self, mut event: Object, sink: &mut dyn EventSink) {
        self.emit_known_prompts(sink);
        let Some(info) = json_fields::take_object(&mut event, "info") else {
            self.steps.close_step();
            return;
        };
        if !self.copied && self.model.is_none() {
            self.model = json_fields::get_string(&info, "model");
            self.emit_about(SessionDetails { model: self.model.clone(), ..SessionDetails::default() }, sink);
        }
        let owner = match (self.copied, self.origin.is_fork()) {
            (true, _) => TokenCountOwner::Parent,
            (false, true) => TokenCountOwner::Fork,
            (false, false) => TokenCountOwner::This,
        };
        let Some(spent) = self.meter.record_count(info, owner) else { return };
        self.steps.close_step();
        if let Some(step) = self.steps.take_unpaid_step().filter(|_| !self.copied) {
            sink.receive_event(TrajectoryEvent::Spent(step, spent));
        }
    }
}

/// Returns true for events that add nothing to what items say.
fn is_known_event(kind: &str) -> bool {
    let endings = ["_begin", "_delta", "_request", "_started", "_updated", "_update", "_response", "_mode", "_diff"];
    endings.iter().any(|ending| kind.ends_with(ending))
        || kind.starts_with("collab_")
        || kind.starts_with("realtime_")
        || kind.starts_with("hook_")
        || kind.starts_with("mcp_")
        || matches!(
            kind,
            "agent_reasoning_raw_content"
                | "agent_reasoning_section_break"
                | "background_event"
                | "deprecation_notice"
                | "guardian_assessment"
                | "guardian_warning"
                | "model_reroute"
                | "model_verification"
                | "session_configured"
                | "shutdown_complete"
                | "skills_update_available"
                | "terminal_interaction"
                | "thread_goal_updated"
                | "undo_completed"
                | "warning"
        )
}
