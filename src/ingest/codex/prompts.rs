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

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;

/// So many messages wait for an event; with one more, nobody waits longer.
const MAX_WAITING: usize = 16;

/// A step that waits, or that waits for those before it.
#[derive(Debug)]
struct Waiting {
    line: u64,
    /// Its speaker, if no event tells otherwise.
    step: Step,
    /// Fingerprints of the whole and of its parts, while the speaker is in doubt.
    prints: Vec<u64>,
}

impl Waiting {
    /// No event will come for it. Where events tell what people say, it is nobody's then.
    fn decide(&mut self, has_events: bool) {
        let is_in_doubt = !std::mem::take(&mut self.prints).is_empty();
        if is_in_doubt && has_events && self.step.speaker == Speaker::User {
            self.step.speaker = Speaker::System;
        }
    }
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
            waiting.decide(self.has_events);
        }
    }

    /// A step of somebody who is known.
    pub(super) fn beside(&mut self, step: Step) {
        self.waiting.push_back(Waiting { line: 0, step, prints: Vec::new() });
    }

    /// A message that went to the model as the user's. Each of its parts may be somebody else's.
    pub(super) fn item(&mut self, content: Value, line: u64, step: Step) {
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
            let text = pick::words(if part.is_object() { Value::Array(vec![part]) } else { part });
            if !is_text {
                has_media |= !text.is_empty();
            } else if let Some(speaker) = voices::sure_stranger(&text) {
                if self.twins.heard(Said::Prompt, fingerprint(&text), Source::Item, line) {
                    continue;
                }
                match added.last_mut().filter(|(last, _)| *last == speaker) {
                    Some((_, words)) => {
                        words.push('\n');
                        words.push_str(&text);
                    }
                    None => added.push((speaker, text)),
                }
            } else if !voices::is_image_mark(&text) && !text.is_empty() {
                whole.push_str(&text);
                match voices::stranger(&text) {
                    Some(speaker) => doubtful.push((speaker, text)),
                    None => own.push(text),
                }
            }
        }
        for (speaker, text) in added {
            self.beside(Step { speaker, text, ..step.clone() });
        }
        let whole = fingerprint(&whole);
        let has_own = !own.is_empty() || has_media;
        if (has_own || !doubtful.is_empty()) && self.twins.answers(Said::Prompt, whole, Source::Item, line) {
            return;
        }
        let mut heard = Vec::new();
        for (speaker, text) in doubtful {
            let prints = vec![fingerprint(&text), whole];
            heard.extend(self.wait(line, Step { speaker, ..step.clone() }, text, prints));
        }
        if has_own {
            let mut prints: Vec<u64> = own.iter().map(|text| fingerprint(text)).collect();
            let text = own.join("\n");
            prints.extend([fingerprint(&text), fingerprint(&own.concat()), whole]);
            heard.extend(self.wait(line, step, text, prints));
        }
        heard.sort_unstable();
        heard.dedup();
        for print in heard {
            self.twins.heard(Said::Prompt, print, Source::Item, line);
        }
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
            self.confirm(at, print);
            return;
        }
        if self.twins.heard(Said::Prompt, print, source, line) {
            return;
        }
        self.decide();
        match voices::sure_stranger(&text) {
            Some(speaker) => self.beside(Step { speaker, text, ..step }),
            None => self.told(line, step, text, Vec::new()),
        }
    }

    /// A person said what waits at this place, and all that came with it and was meant too.
    fn confirm(&mut self, at: usize, print: u64) {
        let Some(line) = self.waiting.get(at).map(|waiting| waiting.line) else { return };
        for (index, waiting) in self.waiting.iter_mut().enumerate() {
            if index >= at && waiting.line == line && waiting.prints.contains(&print) {
                waiting.step.speaker = Speaker::User;
                waiting.prints = Vec::new();
            } else if index < at {
                waiting.decide(true);
            }
        }
    }

    /// Keeps words whose speaker is in doubt, unless an event told them already. Gives back what is to be remembered.
    fn wait(&mut self, line: u64, step: Step, text: String, prints: Vec<u64>) -> Vec<u64> {
        if prints.iter().any(|print| self.twins.answers(Said::Prompt, *print, Source::Item, line)) {
            return Vec::new();
        }
        self.told(line, step, text, prints.clone());
        prints
    }

    fn told(&mut self, line: u64, mut step: Step, text: String, prints: Vec<u64>) {
        let (request, context) = voices::request(text);
        step.text = if request.is_empty() { "[image]".to_owned() } else { request };
        step.extra.extend(context.map(|context| ("ide_context".to_owned(), Value::String(context))));
        self.waiting.push_back(Waiting { line, step, prints });
    }
}
