//! The token that identifies a worker, so that it can tell its own jobs from those of others.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde::Serialize;

use crate::domain::InvalidValue;

/// The most characters of a token, more than we ever generate.
const MAX_CHARACTERS: usize = 40;

/// The identity of one worker. It is appended to the file name of every job that the worker has claimed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct WorkerToken(String);

impl WorkerToken {
    /// Generates a unique token from the process id and a random number.
    pub fn new_unique() -> Self {
        let chance = RandomState::new().build_hasher().finish();
        Self(format!("{}-{chance:016x}", std::process::id()))
    }

    /// Parses a token from a file name.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '-';
        if text.is_empty() || text.len() > MAX_CHARACTERS || !text.chars().all(is_plain) {
            let why = format!("it is letters, digits and `-`, {MAX_CHARACTERS} of them at most");
            return Err(InvalidValue::new("a worker's token", text, why));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the token as used in file names.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for WorkerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}
