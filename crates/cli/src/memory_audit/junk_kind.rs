//! The kinds of junk.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

/// A sort of junk. An entry may be of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Sort")]
pub(crate) enum JunkKind {
    /// The same words as an earlier entry, but for case and blanks.
    ExactDuplicates,
    /// Other words for what an earlier entry says.
    NearDuplicates,
    /// Memory that was given to a session and stored again.
    RecallLoop,
    /// A key, a password or a token.
    Secrets,
    /// A file that the project does not have.
    StalePaths,
    /// Never given to anybody, where the store tells.
    NeverUsed,
    /// Nothing that a document of the project does not say.
    RestatedDocumentation,
    /// More words than a lesson needs.
    OverLong,
    /// What happened once, and nothing to learn from it.
    Incidents,
}

impl JunkKind {
    /// All kinds, in the order in which they are shown.
    pub(crate) const ALL: [Self; 9] = [
        Self::ExactDuplicates,
        Self::NearDuplicates,
        Self::RecallLoop,
        Self::Secrets,
        Self::StalePaths,
        Self::NeverUsed,
        Self::RestatedDocumentation,
        Self::OverLong,
        Self::Incidents,
    ];

    /// Returns the word for it in files and on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ExactDuplicates => "exactDuplicates",
            Self::NearDuplicates => "nearDuplicates",
            Self::RecallLoop => "recallLoop",
            Self::Secrets => "secrets",
            Self::StalePaths => "stalePaths",
            Self::NeverUsed => "neverUsed",
            Self::RestatedDocumentation => "restatedDocumentation",
            Self::OverLong => "overLong",
            Self::Incidents => "incidents",
        }
    }

    /// Returns a short description of the kind.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::ExactDuplicates => "the same words as an earlier entry",
            Self::NearDuplicates => "other words for what an earlier entry says",
            Self::RecallLoop => "memory that was given to a session and stored again",
            Self::Secrets => "keys, passwords, tokens",
            Self::StalePaths => "names a file that is not in the project",
            Self::NeverUsed => "was never given to anybody",
            Self::RestatedDocumentation => "says what a document of the project says",
            Self::OverLong => "longer than a lesson needs to be",
            Self::Incidents => "tells what happened once and advises nothing",
        }
    }
}

impl fmt::Display for JunkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for JunkKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|sort| sort.as_str() == word);
        known.ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no sort of junk called `{word}`; there are {words}")
        })
    }
}
