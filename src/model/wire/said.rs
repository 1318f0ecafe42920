//! Words from outside, fit to be shown.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

/// The most that is kept of what an endpoint said.
const MAX_SAID: usize = 300;

/// A shorter key is a placeholder, and taking it out would take words apart.
const MIN_KEY: usize = 4;

/// Makes words from outside fit to be shown: one line, short, without the key.
#[derive(Debug)]
pub(in crate::model) struct Mask {
    key: Option<SecretString>,
}

impl Mask {
    pub(in crate::model) fn new(key: Option<SecretString>) -> Self {
        Self { key: key.filter(|key| key.expose_secret().len() >= MIN_KEY) }
    }

    /// At most 300 characters in one line.
    pub(in crate::model) fn said(&self, text: &str) -> String {
        let masked = self.masked(text);
        let visible = |word: &str| word.chars().filter(|c| !is_unseen(*c)).collect::<String>();
        let words = masked.split_whitespace().map(visible).filter(|word| !word.is_empty());
        let line = words.collect::<Vec<_>>().join(" ");
        // What was taken out may have stood in the middle of the key.
        let line = self.masked(&line);
        if self.is_spaced_out_in(&line) {
            return "words with the key in them".to_owned();
        }
        match line.char_indices().nth(MAX_SAID) {
            None => line.into_owned(),
            Some(_) => line.chars().take(MAX_SAID - 1).chain(['…']).collect(),
        }
    }

    /// Whether the key is there, but for the space in it.
    fn is_spaced_out_in(&self, line: &str) -> bool {
        let compact = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        self.key.as_ref().is_some_and(|key| compact(line).contains(&compact(key.expose_secret())))
    }

    fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.key {
            Some(key) if text.contains(key.expose_secret()) => {
                Cow::Owned(text.replace(key.expose_secret(), "[the key]"))
            }
            _ => Cow::Borrowed(text),
        }
    }
}

/// Characters that steer a terminal, turn a line around or stand between letters unseen.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
#[path = "said_tests.rs"]
mod tests;
