//! Prompts, and what else is sent as the user's: who said it is known for sure only when an event says it again.

use std::collections::VecDeque;

use serde_json::Value;

use super::twins::Said;
use super::twins::Source;
use super::twins::Twins;
use super::twins::fingerprint;
use super::voices;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::ingest::pick;

/// So many messages wait for an event; with one more, nobody waits longer.
const MAX_WAITING: usize = 16;

/// A step that waits, or that waits for those before it.
#[derive(Debug)]
struct Waiting {
    step: Step,
    /// Fingerprints of the whole and of its parts, while the speaker is in doubt.
    prints: Vec<u64>,
}

/// Keeps what is sent as the user's until its speaker is known.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    waiting: VecDeque<Waiting>,
    twins: Twins,
    /// Whether events say what a person says; then nothing else is a person's.
    has_events: bool,
}

impl Prompts {
    /// The next step whose speaker is known.
    pub(super) fn next(&mut self) -> Option<Step> {
        if self.waiting.len() > MAX_WAITING {
            self.decide();
        }
        let is_known = self.waiting.front().is_some_and(|first| first.prints.is_empty());
        if is_known { self.waiting.pop_front().map(|first| first.step) } else { None }
    }

    /// No event will come for what waits.
    pub(super) fn decide(&mut self) {
        for waiting in &mut self.waiting {
            if !waiting.prints.is_empty() {
                waiting.prints = Vec::new();
                if self.has_events {
                    waiting.step.speaker = Speaker::System;
                }
            }
        }
    }

    /// A step of somebody who is known.
    pub(super) fn beside(&mut self, step: Step) {
        self.waiting.push_back(Waiting { step, prints: Vec::new() });
    }

    /// A message that went to the model as the user's. Each of its parts may be somebody else's.
    pub(super) fn item(&mut self, content: Value, line: u64, step: Step) {
        let parts = match content {
            Value::Array(parts) => parts,
            other => vec![other],
        };
        let mut own: Vec<String> = Vec::new();
        let mut has_media = false;
        let mut added: Vec<(Speaker, String)> = Vec::new();
        for part in parts {
            let is_text = part.is_string() || part.get("text").is_some_and(Value::is_string);
            let text = pick::words(if part.is_object() { Value::Array(vec![part]) } else { part });
            if !is_text {
                has_media |= !text.is_empty();
            } else if let Some(speaker) = voices::stranger(&text) {
                match added.last_mut().filter(|(last, _)| *last == speaker) {
                    Some((_, words)) => {
                        words.push('\n');
                        words.push_str(&text);
                    }
                    None => added.push((speaker, text)),
                }
            } else if !voices::is_image_mark(&text) && !text.is_empty() {
                own.push(text);
            }
        }
        for (speaker, text) in added {
            self.beside(Step { speaker, text, ..step.clone() });
        }
        if own.is_empty() && !has_media {
            return;
        }
        let mut prints: Vec<u64> = own.iter().map(|text| fingerprint(text)).collect();
        let text = own.join("\n");
        prints.push(fingerprint(&text));
        prints.push(fingerprint(&own.concat()));
        prints.sort_unstable();
        prints.dedup();
        if prints.iter().any(|print| self.twins.answers(Said::Prompt, *print, Source::Item, line)) {
            return;
        }
        for print in &prints {
            self.twins.heard(Said::Prompt, *print, Source::Item, line);
        }
        self.wait(step, text, prints);
    }

    /// What an event says a person said.
    pub(super) fn event(&mut self, content: Value, source: Source, line: u64, step: Step) {
        self.has_events = true;
        let text = match content {
            Value::Array(parts) => {
                let texts = parts.into_iter().filter(|part| part.get("text").is_some_and(Value::is_string));
                texts.map(|part| pick::words(Value::Array(vec![part]))).collect()
            }
            other => pick::words(other),
        };
        let print = fingerprint(&text);
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.prints.contains(&print)) {
            self.twins.answers(Said::Prompt, print, source, line);
            for (index, waiting) in self.waiting.iter_mut().enumerate().take(at + 1) {
                if index < at && !waiting.prints.is_empty() {
                    waiting.step.speaker = Speaker::System;
                }
                waiting.prints = Vec::new();
            }
            return;
        }
        if self.twins.heard(Said::Prompt, print, source, line) {
            return;
        }
        self.decide();
        match voices::stranger(&text) {
            Some(speaker) => self.beside(Step { speaker, text, ..step }),
            None => self.wait(step, text, Vec::new()),
        }
    }

    fn wait(&mut self, mut step: Step, text: String, prints: Vec<u64>) {
        let (request, context) = voices::request(text);
        step.text = if request.is_empty() { "[image]".to_owned() } else { request };
        step.extra.extend(context.map(|context| ("ide_context".to_owned(), Value::String(context))));
        self.waiting.push_back(Waiting { step, prints });
    }
}
