//! Enums of words that travel in files.
//!
//! A log or a store may hold a word from a newer version or from another tool. Reading keeps such a word as `Other`,
//! so that nothing is lost on the way back; `parse` is for what people and models say now, and refuses it.

use super::Invalid;

/// An enum of words that travel in files.
pub trait Word: Sized {
    /// Every word this version knows.
    const ALL: &'static [&'static str];

    /// Accepts the known words only.
    fn known(word: &str) -> Result<Self, Invalid>;
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
            /// A word this version does not know, kept as it was written.
            Other(String),
        }

        impl $name {
            /// Every word this version knows.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as it stands in files.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }

            /// Accepts the known words only.
            pub fn parse(word: &str) -> Result<Self, $crate::domain::Invalid> {
                match Self::from(word.to_owned()) {
                    Self::Other(word) => Err($crate::domain::words::unknown($what, &word, Self::WORDS)),
                    known => Ok(known),
                }
            }
        }

        impl $crate::domain::Word for $name {
            const ALL: &'static [&'static str] = Self::WORDS;

            fn known(word: &str) -> Result<Self, $crate::domain::Invalid> {
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
            type Err = $crate::domain::Invalid;
            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::parse(word)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            /// A known word, or one from another version.
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

pub(crate) fn unknown(what: &'static str, word: &str, known: &[&str]) -> Invalid {
    Invalid::new(what, word, format!("it is one of {}", known.join(", ")))
}
