//! Prompts and other messages sent as the user's, whose speaker is certain only when an event repeats them.

use std::collections::VecDeque;

use serde_json::Value;

use super::event_dedup::CodexContentKind;
use super::event_dedup::CodexDeduplicator;
use super::event_dedup::CodexRecordKind;
use super::message_author;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::ingest::chat_messages::fingerprint_trimmed;
use crate::ingest::json_fields;

#[cfg(test)]
#[path = "user_prompts_tests.rs"]
mod tests;

/// The maximum number of messages that wait for an event; with one more, all speakers are decided.
const MAX_WAITING: usize = 16;

/// A step that waits for its speaker to be confirmed, or for the steps before it.
#[derive(Debug)]
struct QueuedPrompt {
    line: u64,
    /// The step, with the speaker that it has if no event shows another.
    step: Step,
    /// The fingerprints of the whole and of its parts, while the speaker is uncertain.
    prints: Vec<u64>,
}

impl QueuedPrompt {
    /// Decides the speaker without an event. If the log has prompt events, the step is not the user's.
    fn decide_speaker(&mut self, has_events: bool) {
        let is_in_doubt = !std::mem::take(&mut self.prints).is_empty();
        if is_in_doubt && has_events && self.step.speaker == Speaker::User {
            self.step.speaker = Speaker::System;
        }
    }
}

/// Keeps messages sent as the user's until their speakers are known.
#[derive(Debug, Default)]
pub(super) struct CodexPromptQueue {
    waiting: VecDeque<QueuedPrompt>,
    twins: CodexDeduplicator,
    /// True if events report what a person says; then nothing else is a person's.
    has_events: bool,
}

impl CodexPromptQueue {
    /// Returns the next step whose speaker is known.
    pub(super) fn next(&mut self) -> Option<Step> {
        if self.waiting.len() > MAX_WAITING {
            self.decide_speakers();
        }
        let is_known = self.waiting.front().is_some_and(|first| first.prints.is_empty());
        if is_known { self.waiting.pop_front().map(|first| first.step) } else { None }
    }

    /// Decides the speakers of all waiting steps, as no event will follow.
    pub(super) fn decide_speakers(&mut self) {
        for waiting in &mut self.waiting {
            waiting.decide_speaker(self.has_events);
        }
    }

    /// Adds a step whose speaker is known.
    pub(super) fn push_known_step(&mut self, step: Step) {
        self.waiting.push_back(QueuedPrompt { line: 0, step, prints: Vec::new() });
    }

    /// Adds a message that was sent to the model as the user's. Each of its parts may have another speaker.
    pub(super) fn add_item(&mut self, content: Value, line: u64, step: Step) {
        let parts = match content {
            Value::Array(parts) => parts,
            other => vec![other],
        };
        let mut own: Vec<String> = Vec::new();
        let mut doubtful: Vec<(Speaker, String)> = Vec::new();
        let mut has_media = false;
        let mut added: Vec<(Speaker, String)> = Vec::new();
        let mut whole = String::new();
        for part in parts {
            let is_text = part.is_string() || part.get("text").is_some_and(Value::is_string);
            let text = json_fields::content_text(if part.is_object() { Value::Array(vec![part]) } else { part });
            if !is_text {
                has_media |= !text.is_empty();
            } else if let Some(speaker) = message_author::find_sure_non_user_speaker(&text) {
                if self.twins.check_and_remember(
                    CodexContentKind::Prompt,
                    fingerprint_trimmed(&text),
                    CodexRecordKind::Item,
                    line,
                ) {
                    continue;
                }
                match added.last_mut().filter(|(last, _)| *last == speaker) {
                    Some((_, words)) => {
                        words.push('\n');
                        words.push_str(&text);
                    }
                    None => added.push((speaker, text)),
                }
            } else if !message_author::is_image_mark(&text) && !text.is_empty() {
                whole.push_str(&text);
                match message_author::find_non_user_speaker(&text) {
                    Some(speaker) => doubtful.push((speaker, text)),
                    None => own.push(text),
                }
            }
        }
        for (speaker, text) in added {
            self.push_known_step(Step { speaker, text, ..step.clone() });
        }
        let whole = fingerprint_trimmed(&whole);
        let has_own = !own.is_empty() || has_media;
        if (has_own || !doubtful.is_empty())
            && self.twins.check_duplicate(CodexContentKind::Prompt, whole, CodexRecordKind::Item, line)
        {
            return;
        }
        let mut heard = Vec::new();
        for (speaker, text) in doubtful {
            let prints = vec![fingerprint_trimmed(&text), whole];
            heard.extend(self.queue_unconfirmed(line, Step { speaker, ..step.clone() }, text, prints));
        }
        if has_own {
            let mut prints: Vec<u64> = own.iter().map(|text| fingerprint_trimmed(text)).collect();
            let text = own.join("\n");
            prints.extend([fingerprint_trimmed(&text), fingerprint_trimmed(&own.concat()), whole]);
            heard.extend(self.queue_unconfirmed(line, step, text, prints));
        }
        heard.sort_unstable();
        heard.dedup();
        for print in heard {
            self.twins.check_and_remember(CodexContentKind::Prompt, print, CodexRecordKind::Item, line);
        }
    }

    /// Adds a person's prompt that an event reports, or confirms the waiting one.
    pub(super) fn add_event(&mut self, content: Value, source: CodexRecordKind, line: u64, step: Step) {
        self.has_events = true;
        let text = match content {
            Value::Array(parts) => {
                let texts = parts.into_iter().filter(|part| part.get("text").is_some_and(Value::is_string));
                texts.map(|part| json_fields::content_text(Value::Array(vec![part]))).collect()
            }
            other => json_fields::content_text(other),
        };
        let print = fingerprint_trimmed(&text);
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.prints.contains(&print)) {
            self.twins.check_duplicate(CodexContentKind::Prompt, print, source, line);
            self.confirm_prompt(at, print);
            return;
        }
        if self.twins.check_and_remember(CodexContentKind::Prompt, print, source, line) {
            return;
        }
        self.decide_speakers();
        match message_author::find_sure_non_user_speaker(&text) {
            Some(speaker) => self.push_known_step(Step { speaker, text, ..step }),
            None => self.push_prompt(line, step, text, Vec::new()),
        }
    }

    /// Confirms as the user's the waiting step at this index, and those of the same line with this fingerprint.
    fn confirm_prompt(&mut self, at: usize, print: u64) {
        let Some(line) = self.waiting.get(at).map(|waiting| waiting.line) else { return };
        for (index, waiting) in self.waiting.iter_mut().enumerate() {
            if index >= at && waiting.line == line && waiting.prints.contains(&print) {
                waiting.step.speaker = Speaker::User;
                waiting.prints = Vec::new();
            } else if index < at {
                waiting.decide_speaker(true);
            }
        }
    }

    /// Keeps a text with an uncertain speaker, unless an event reported it. Returns the fingerprints to remember.
    fn queue_unconfirmed(&mut self, line: u64, step: Step, text: String, prints: Vec<u64>) -> Vec<u64> {
        if prints
            .iter()
            .any(|print| self.twins.check_duplicate(CodexContentKind::Prompt, *print, CodexRecordKind::Item, line))
        {
            return Vec::new();
        }
        self.push_prompt(line, step, text, prints.clone());
        prints
    }

    fn push_prompt(&mut self, line: u64, mut step: Step, text: String, prints: Vec<u64>) {
        let (request, context) = message_author::split_ide_context(text);
        step.text = if request.is_empty() { "[image]".to_owned() } else { request };
        step.extra.extend(context.map(|context| ("ide_context".to_owned(), Value::String(context))));
        self.waiting.push_back(QueuedPrompt { line, step, prints });
    }
}
