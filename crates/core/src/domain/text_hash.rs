//! Hashes of texts: one that may be stored, and one for comparing texts within a process.
//!
//! Ids, keys and checksums in files and tables are made of [`StableHash`], so its values must never change. Contents of
//! large files and tokens of visitors are hashed where they are read, and not here.

use std::hash::{DefaultHasher, Hasher};

#[cfg(test)]
#[path = "text_hash_tests.rs"]
mod tests;

/// A hash that is the same on every machine and in every version, of texts that are added one after another.
#[derive(Debug, Clone, Default)]
pub struct StableHash(blake3::Hasher);

impl StableHash {
    /// Returns the hash of one text.
    pub fn from_text(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }

    /// Returns the hash of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::default().with_bytes(bytes)
    }

    /// Returns the hash of several parts, each with an end mark, so that no part can pass into the next.
    pub fn from_parts<'p>(parts: impl IntoIterator<Item = &'p str>) -> Self {
        parts.into_iter().fold(Self::default(), Self::with_part)
    }

    /// Adds a text with an end mark.
    #[must_use]
    pub fn with_part(self, part: &str) -> Self {
        self.with_text(part).with_bytes(&[0])
    }

    /// Adds a text without an end mark.
    #[must_use]
    pub fn with_text(self, text: &str) -> Self {
        self.with_bytes(text.as_bytes())
    }

    /// Adds bytes without an end mark.
    #[must_use]
    pub fn with_bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    /// Returns the first hexadecimal digits, at most 64.
    pub fn to_digits(&self, count: usize) -> String {
        self.0.finalize().to_hex().chars().take(count).collect()
    }

    /// Returns the first bytes.
    pub fn to_bytes<const COUNT: usize>(&self) -> [u8; COUNT] {
        let mut bytes = [0; COUNT];
        self.0.finalize_xof().fill(&mut bytes);
        bytes
    }
}

/// Returns a number by which texts are compared within a process. It is never stored: another version may give another.
pub fn fingerprint_text(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}
