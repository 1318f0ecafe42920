//! Ids. Each one is made by `parse`, so a value of these types is safe to print and to use in a path.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::{InvalidValue, StableHash, Timestamp};

/// The maximum length of an id, longer than any id seen in real logs.
const MAX_ID_CHARACTERS: usize = 128;

macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $what:literal, $check:path) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks the text and makes an id of it.
            pub fn parse(text: &str) -> Result<Self, InvalidValue> {
                match $check(text) {
                    Ok(()) => Ok(Self(text.to_owned())),
                    Err(why) => Err(InvalidValue::new($what, text, why)),
                }
            }

            /// Returns the id as it is written in files.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidValue;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidValue;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_ID_CHARACTERS })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

id!(
    /// The id of a lesson, the same through all its versions.
    MemoryId, "a memory id", check_plain_name);
id!(
    /// The id of an episode.
    EpisodeId, "an episode id", check_plain_name);
id!(
    /// The id of a session, as assigned by the agent that ran it.
    SessionId, "a session id", check_plain_name);
id!(
    /// The id of the session that lessons are injected into.
    RunId, "a run id", check_plain_name);
id!(
    /// A short name for people, `m-001` in a project's memory and `g-001` in the global one. It is never used twice.
    Alias, "an alias", check_alias);
id!(
    /// The fingerprint that equal failures share: 16 hexadecimal digits.
    ErrorFamily, "an error family", check_error_family);

impl EpisodeId {
    /// Returns the id of one session in one project. It is always the same, so that reflecting again updates the
    /// episode.
    pub fn for_session(project: &str, session: &str) -> Self {
        let hash = StableHash::default().with_part(project).with_text(session);
        Self(format!("ep-{}", hash.to_digits(20)))
    }
}

impl MemoryId {
    /// Returns the id of a lesson from a reflection on an episode. It is the same for the same words, so that
    /// reflecting twice makes one lesson, and it sorts by the time of the session.
    pub fn for_lesson(episode: &EpisodeId, at: Timestamp, summary: &str, rule: Option<&str>) -> Self {
        let hash = StableHash::from_parts([episode.as_str(), summary, rule.unwrap_or_default()]);
        Self(format_timed_id("mem", at, &hash))
    }
}

impl ErrorFamily {
    /// Returns the fingerprint of the parts that identify a failure.
    pub fn from_parts(parts: &[&str]) -> Self {
        Self(StableHash::from_parts(parts.iter().copied()).to_digits(16))
    }
}

impl Alias {
    /// The highest alias number. A higher number in a record is ignored, because no store assigns one.
    pub const LAST: u64 = 999_999_999;

    /// Returns the alias with this number, padded to at least three digits so that tables line up.
    pub fn from_number(prefix: char, number: u64) -> Result<Self, InvalidValue> {
        Self::parse(&format!("{prefix}-{number:03}"))
    }

    /// Returns the number after the prefix.
    pub fn number(&self) -> u64 {
        self.0.split_once('-').and_then(|(_, digits)| digits.parse().ok()).unwrap_or_default()
    }
}

/// Makes ids that sort by time and are reproducible under a given seed.
///
/// The part after the time is a hash of seed, content and a running number, not a random number: two processes with one
/// seed and one clock still give different lessons different ids.
#[derive(Debug)]
pub struct IdSource {
    seed: u64,
    made: AtomicU64,
}

impl IdSource {
    /// Creates a source with this seed, which the caller takes from `--seed` or from the operating system.
    pub fn new(seed: u64) -> Self {
        Self { seed, made: AtomicU64::new(0) }
    }

    /// Returns the id of a new lesson.
    pub fn new_memory_id(&self, at: Timestamp, content: &str) -> MemoryId {
        MemoryId(self.next_id("mem", at, content))
    }

    /// Returns the id of a new episode.
    pub fn new_episode_id(&self, at: Timestamp, content: &str) -> EpisodeId {
        EpisodeId(self.next_id("ep", at, content))
    }

    /// Returns an id for a session that has none of its own.
    pub fn new_run_id(&self, at: Timestamp, content: &str) -> RunId {
        RunId(self.next_id("run", at, content))
    }

    fn next_id(&self, prefix: &str, at: Timestamp, content: &str) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let hash = StableHash::from_bytes(&self.seed.to_le_bytes()).with_bytes(&number.to_le_bytes());
        let hash = hash.with_part(prefix).with_text(content);
        format_timed_id(prefix, at, &hash)
    }
}

/// Returns an id that sorts by time and ends in a hash.
fn format_timed_id(prefix: &str, at: Timestamp, hash: &StableHash) -> String {
    let milliseconds = u128::try_from(at.timestamp_millis()).unwrap_or_default();
    let bits = (milliseconds << 80) | (u128::from_le_bytes(hash.to_bytes()) >> 48);
    format!("{prefix}-{}", encode_base32(bits))
}

/// Returns 26 characters that sort like the numbers, without letters that look like digits.
fn encode_base32(bits: u128) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    (0..26)
        .rev()
        .filter_map(|place| LETTERS.get(usize::try_from((bits >> (5 * place)) & 31).ok()?))
        .map(|&letter| char::from(letter))
        .collect()
}

fn check_plain_name(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > MAX_ID_CHARACTERS {
        return Err("it is longer than 128 characters");
    }
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err("it must begin with a letter or a digit");
    }
    if !text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':')) {
        return Err("only letters, digits and . _ - : may stand in it");
    }
    if text.contains("..") {
        return Err("it may not hold two dots in a row");
    }
    Ok(())
}

fn check_alias(text: &str) -> Result<(), &'static str> {
    const SHAPE: &str = "it is m- or g- and a number, as in m-001";
    let digits = text.strip_prefix("m-").or_else(|| text.strip_prefix("g-")).ok_or(SHAPE)?;
    let plain = (3..=18).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { Ok(()) } else { Err(SHAPE) }
}

fn check_error_family(text: &str) -> Result<(), &'static str> {
    let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
    if hex { Ok(()) } else { Err("it is 16 hexadecimal digits in lower case") }
}
