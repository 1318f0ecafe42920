//! Names of things. Every one is made by `parse`, so a value of these types is safe to print and to use in a path.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::{Invalid, Timestamp};

/// Longer than any id seen in real logs; short enough that a name stays a name.
const MAX_ID_CHARACTERS: usize = 128;

macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $what:literal, $check:path) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The only way in.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                match $check(text) {
                    Ok(()) => Ok(Self(text.to_owned())),
                    Err(why) => Err(Invalid::new($what, text, why)),
                }
            }

            /// The name as it stands in files.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;
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
            type Err = Invalid;
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
    /// Names one lesson through all its versions.
    MemoryId, "a memory id", plain_name);
id!(
    /// Names one normalised run.
    EpisodeId, "an episode id", plain_name);
id!(
    /// Names a session as the agent that ran it does.
    SessionId, "a session id", plain_name);
id!(
    /// Names the run that a lesson was given to.
    RunId, "a run id", plain_name);
id!(
    /// A short name for people, `m-001` in a project's memory and `g-001` in the global one. Never used twice.
    Alias, "an alias", alias_name);
id!(
    /// The fingerprint of "the same failure": 16 hexadecimal digits.
    ErrorFamily, "an error family", family_name);

impl EpisodeId {
    /// The id of what happened in one session of one project: always the same, so that reflecting again updates it.
    pub fn of_session(project: &str, session: &str) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(project.as_bytes()).update(&[0]).update(session.as_bytes());
        Self(format!("ep-{}", hash.finalize().to_hex().chars().take(20).collect::<String>()))
    }
}

impl MemoryId {
    /// The id of what a reflection on a run made of it: always the same for the same words, so that doing it twice
    /// makes one lesson. It sorts by the time of the run.
    pub fn of_lesson(episode: &EpisodeId, at: Timestamp, summary: &str, rule: Option<&str>) -> Self {
        let mut hash = blake3::Hasher::new();
        for part in [episode.as_str(), summary, rule.unwrap_or_default()] {
            hash.update(part.as_bytes()).update(&[0]);
        }
        Self(timed("mem", at, &hash))
    }
}

impl ErrorFamily {
    /// The fingerprint of everything that makes a failure the same.
    pub fn of(parts: &[&str]) -> Self {
        let mut hash = blake3::Hasher::new();
        for part in parts {
            hash.update(part.as_bytes()).update(&[0]);
        }
        Self(hash.finalize().to_hex().chars().take(16).collect())
    }
}

impl Alias {
    /// No store counts further. A higher number was not given by one, and counting on from it would soon be the end.
    pub const LAST: u64 = 999_999_999;

    /// The alias with this number; three digits at least, so that a table lines up.
    pub fn numbered(prefix: char, number: u64) -> Result<Self, Invalid> {
        Self::parse(&format!("{prefix}-{number:03}"))
    }

    /// The number behind the prefix.
    pub fn number(&self) -> u64 {
        self.0.split_once('-').and_then(|(_, digits)| digits.parse().ok()).unwrap_or_default()
    }
}

/// Makes ids that sort by time and repeat under a given seed.
///
/// The part after the time is a hash of seed, content and a running number rather than a random draw: two
/// processes with one seed and one clock still name different lessons differently.
#[derive(Debug)]
pub struct IdSource {
    seed: u64,
    made: AtomicU64,
}

impl IdSource {
    /// The seed comes from `--seed`, or from the operating system by way of the edge.
    pub fn new(seed: u64) -> Self {
        Self { seed, made: AtomicU64::new(0) }
    }

    /// A new lesson's id.
    pub fn memory(&self, at: Timestamp, content: &str) -> MemoryId {
        MemoryId(self.next("mem", at, content))
    }

    /// A new episode's id.
    pub fn episode(&self, at: Timestamp, content: &str) -> EpisodeId {
        EpisodeId(self.next("ep", at, content))
    }

    /// An id for a run that has none of its own.
    pub fn run(&self, at: Timestamp, content: &str) -> RunId {
        RunId(self.next("run", at, content))
    }

    fn next(&self, prefix: &str, at: Timestamp, content: &str) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let mut hash = blake3::Hasher::new();
        hash.update(&self.seed.to_le_bytes()).update(&number.to_le_bytes());
        hash.update(prefix.as_bytes()).update(&[0]).update(content.as_bytes());
        timed(prefix, at, &hash)
    }
}

/// A name that sorts by time and ends in a hash.
fn timed(prefix: &str, at: Timestamp, hash: &blake3::Hasher) -> String {
    let mut low = [0; 16];
    hash.finalize_xof().fill(&mut low);
    let milliseconds = u128::try_from(at.timestamp_millis()).unwrap_or_default();
    let bits = (milliseconds << 80) | (u128::from_le_bytes(low) >> 48);
    format!("{prefix}-{}", base32(bits))
}

/// 26 characters whose order is the order of the numbers; no letter that reads like a digit.
fn base32(bits: u128) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    (0..26)
        .rev()
        .filter_map(|place| LETTERS.get(usize::try_from((bits >> (5 * place)) & 31).ok()?))
        .map(|&letter| char::from(letter))
        .collect()
}

fn plain_name(text: &str) -> Result<(), &'static str> {
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

fn alias_name(text: &str) -> Result<(), &'static str> {
    const SHAPE: &str = "it is m- or g- and a number, as in m-001";
    let digits = text.strip_prefix("m-").or_else(|| text.strip_prefix("g-")).ok_or(SHAPE)?;
    let plain = (3..=18).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { Ok(()) } else { Err(SHAPE) }
}

fn family_name(text: &str) -> Result<(), &'static str> {
    let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
    if hex { Ok(()) } else { Err("it is 16 hexadecimal digits in lower case") }
}
