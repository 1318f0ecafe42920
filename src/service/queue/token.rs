//! What a worker calls itself, so that it can tell its own jobs from those of others.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde::Serialize;

use crate::domain::Invalid;

/// Long enough for anything that we make.
const MAX_CHARACTERS: usize = 40;

/// Names one worker. It stands behind the name of every job that the worker has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// One that nobody else has: the number of the process, and chance.
    pub fn fresh() -> Self {
        let chance = RandomState::new().build_hasher().finish();
        Self(format!("{}-{chance:016x}", std::process::id()))
    }

    /// Reads one off the name of a file.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '-';
        if text.is_empty() || text.len() > MAX_CHARACTERS || !text.chars().all(is_plain) {
            let why = format!("it is letters, digits and `-`, {MAX_CHARACTERS} of them at most");
            return Err(Invalid::new("a worker's token", text, why));
        }
        Ok(Self(text.to_owned()))
    }

    /// The token as it stands in names of files.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}
