//! What the screen was told.

use serde_json::Value;

use super::Codex;
use super::items;
use super::tokens::Owner;
use super::twins::Source;
use crate::domain::About;
use crate::domain::Event;
use crate::domain::Happening;
use crate::domain::Sink;
use crate::ingest::pick;
use crate::ingest::pick::Object;

impl Codex {
    /// Something the screen was told.
    pub(super) fn event(&mut self, mut event: Object, sink: &mut dyn Sink) {
        let kind = pick::string(&event, "type").unwrap_or_default();
        let mut text = |key: &str| event.get_mut(key).map(Value::take).map(pick::words).unwrap_or_default();
        match kind.as_str() {
            "token_count" => self.tokens(event, sink),
            "user_message" => {
                let message = text("message");
                self.prompt(Value::String(message), Source::Event, sink);
            }
            "agent_message" => {
                let message = text("message");
                self.words(message, Source::Event, sink);
            }
            "agent_reasoning" => {
                let thought = text("text");
                self.thoughts(vec![thought], Source::Event, sink);
            }
            "item_completed" => {
                if let Some(item) = pick::take_object(&mut event, "item") {
                    let is_search = items::kind(&item) == "websearch";
                    if is_search {
                        self.search(item, Source::Typed, sink);
                    } else {
                        self.work(item, Source::Typed, sink);
                    }
                }
            }
            "web_search_end" => self.search(event, Source::Event, sink),
            "exec_command_end"
            | "patch_apply_end"
            | "mcp_tool_call_end"
            | "dynamic_tool_call_response"
            | "view_image_tool_call"
            | "image_generation_end"
            | "sub_agent_activity" => {
                self.work(event, Source::Event, sink);
            }
            "turn_aborted" => {
                let reason = text("reason");
                self.settle(sink);
                self.happened(Happening::Interrupted, reason, sink);
            }
            "thread_rolled_back" => {
                self.settle(sink);
                let turns = pick::count(&event, "num_turns").map(|turns| format!("{turns} turns")).unwrap_or_default();
                self.happened(Happening::RolledBack, turns, sink);
            }
            "context_compacted" => self.compacted(Source::Event, String::new(), sink),
            "error" | "stream_error" => {
                let message = text("message");
                self.happened(Happening::ApiError, message, sink);
            }
            "collab_agent_spawn_end" => {
                if let Some(thread) = pick::string(&event, "new_thread_id") {
                    self.agent(thread, sink);
                }
            }
            "thread_name_updated" => {
                let title = pick::string(&event, "thread_name").filter(|_| !self.copied);
                self.learn(About { title, ..About::default() }, sink);
            }
            "task_started" | "turn_started" | "task_complete" | "turn_complete" => self.settle(sink),
            kind if is_known_event(kind) => {}
            kind => self.unknown.report(kind, self.line, sink),
        }
    }

    pub(super) fn tokens(&mut self, mut event: Object, sink: &mut dyn Sink) {
        self.hear_prompts(sink);
        let Some(info) = pick::take_object(&mut event, "info") else {
            self.steps.close();
            return;
        };
        if !self.copied && self.model.is_none() {
            self.model = pick::string(&info, "model");
            self.learn(About { model: self.model.clone(), ..About::default() }, sink);
        }
        let owner = match (self.copied, self.origin.is_fork()) {
            (true, _) => Owner::Parent,
            (false, true) => Owner::Fork,
            (false, false) => Owner::This,
        };
        let Some(spent) = self.meter.hear(info, owner) else { return };
        self.steps.close();
        if let Some(step) = self.steps.pay().filter(|_| !self.copied) {
            sink.hear(Event::Spent(step, spent));
        }
    }
}

/// Events that tell nothing beyond what items tell.
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
