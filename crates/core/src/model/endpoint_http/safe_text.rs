//! External messages made safe to show.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

use crate::text::{JoinerPolicy, strip_hidden_text};

/// The most characters that are kept of an endpoint's message.
const MAX_SAID: usize = 300;

/// The shortest key that is masked; a shorter one is a placeholder, and masking it would break words apart.
const MIN_KEY: usize = 4;

/// A filter that makes external messages safe to show: one line, short, without the key.
#[derive(Debug)]
pub(in crate::model) struct KeyMask {
    key: Option<SecretString>,
}

impl KeyMask {
    pub(in crate::model) fn new(key: Option<SecretString>) -> Self {
        Self { key: key.filter(|key| key.expose_secret().len() >= MIN_KEY) }
    }

    /// Returns the message on one line of at most 300 characters, without the key.
    pub(in crate::model) fn sanitize_message(&self, text: &str) -> String {
        let masked = self.mask_key(text);
        let visible = strip_hidden_text(&masked, JoinerPolicy::Remove);
        let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
        // Removed characters may have been in the middle of the key.
        let line = self.mask_key(&line);
        if self.contains_spaced_key(&line) {
            return "words with the key in them".to_owned();
        }
        match line.char_indices().nth(MAX_SAID) {
            None => line.into_owned(),
            Some(_) => line.chars().take(MAX_SAID - 1).chain(['…']).collect(),
        }
    }

    /// Returns true if the line contains the key with spaces inserted.
    fn contains_spaced_key(&self, line: &str) -> bool {
        let compact = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        self.key.as_ref().is_some_and(|key| compact(line).contains(&compact(key.expose_secret())))
    }

    fn mask_key<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.key {
            Some(key) if text.contains(key.expose_secret()) => {
                Cow::Owned(text.replace(key.expose_secret(), "[the key]"))
            }
            _ => Cow::Borrowed(text),
        }
    }
}

#[cfg(test)]
#[path = "safe_text_tests.rs"]
mod tests;
