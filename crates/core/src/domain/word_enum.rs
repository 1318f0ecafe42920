//! Enums whose values are written as words in files.
//!
//! A log or a store may hold a word from a newer version or from another tool. Reading keeps such a word as `Other`, so
//! that nothing is lost when it is written again; `parse` is for new input from people and models, and refuses it.

use super::InvalidValue;

/// An enum whose values are written as words in files.
pub trait WordEnum: Sized {
    /// Every word that this version knows.
    const ALL: &'static [&'static str];

    /// Parses a word and refuses unknown ones.
    fn parse_word(word: &str) -> Result<Self, InvalidValue>;
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
            /// A word that this version does not know, kept as it was written.
            Other(String),
        }

        impl $name {
            /// Every word that this version knows.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the word as it is written in files.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }

            /// Parses a word and refuses unknown ones.
            pub fn parse(word: &str) -> Result<Self, $crate::domain::InvalidValue> {
                match Self::from(word.to_owned()) {
                    Self::Other(word) => Err($crate::domain::word_enum::unknown_word_error($what, &word, Self::WORDS)),
                    known => Ok(known),
                }
            }
        }

        impl $crate::domain::WordEnum for $name {
            const ALL: &'static [&'static str] = Self::WORDS;

            fn parse_word(word: &str) -> Result<Self, $crate::domain::InvalidValue> {
                Self::parse(word)
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)+
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.as_str().to_owned()
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::domain::InvalidValue;
            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::parse(word)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            /// Describes any string, with the words of this version as examples.
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "examples": Self::WORDS })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use words;

/// Returns the error for a word that is none of the known ones.
pub fn unknown_word_error(what: &'static str, word: &str, known: &[&str]) -> InvalidValue {
    InvalidValue::new(what, word, format!("it is one of {}", known.join(", ")))
}
