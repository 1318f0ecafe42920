//! Checks whether the things a lesson names still exist.

use super::LessonAnchor;

#[cfg(test)]
#[path = "staleness_tests.rs"]
mod tests;

/// The most missing things that a warning names.
const MAX_MARKED: usize = 2;

/// The result of searching for an anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnchorPresence {
    /// The anchor is where the lesson says.
    Here,
    /// The anchor has moved to this place.
    Moved(String),
    /// The anchor is not in the project.
    Gone,
    /// The presence of the anchor cannot be determined.
    Unknown,
}

/// The result of checking the anchors of a lesson.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LessonStaleness {
    /// All of its anchors exist.
    Fresh,
    /// Some of its anchors are missing or have moved.
    Drifted {
        /// The missing anchors, as in "src/x.rs is gone".
        missing: Vec<String>,
    },
    /// None of its anchors exists.
    Orphaned {
        /// The missing anchors, as in "src/x.rs is gone".
        missing: Vec<String>,
    },
    /// The lesson has no anchors, or they were not checked.
    #[default]
    Unknown,
}

impl LessonStaleness {
    /// Returns a warning for the reader, as in "unverified: src/x.rs is gone".
    pub fn warning_text(&self) -> Option<String> {
        let (Self::Drifted { missing } | Self::Orphaned { missing }) = self else {
            return None;
        };
        let named = missing.iter().take(MAX_MARKED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = missing.len().saturating_sub(MAX_MARKED);
        Some(if more > 0 { format!("unverified: {named} and {more} more") } else { format!("unverified: {named}") })
    }

    /// Returns true if nothing that the lesson names exists any more, so that it is better not injected.
    pub fn is_orphaned(&self) -> bool {
        matches!(self, Self::Orphaned { .. })
    }
}

/// Judges the staleness of a lesson by the result of `look` for each anchor.
///
/// Only what was searched for in vain counts as missing, and a lesson is orphaned only if that is all that it names. A
/// name in the code never orphans it by itself: it may belong to a dependency of the project.
pub fn judge_staleness(anchors: &[LessonAnchor], look: impl Fn(&LessonAnchor) -> AnchorPresence) -> LessonStaleness {
    let mut missing = Vec::new();
    let (mut here, mut gone, mut doubtful) = (0_usize, 0_usize, 0_usize);
    for anchor in anchors {
        match look(anchor) {
            AnchorPresence::Here => here += 1,
            AnchorPresence::Moved(to) => {
                here += 1;
                missing.push(format!("{} is now {to}", anchor.describe()));
            }
            AnchorPresence::Gone => {
                gone += usize::from(!matches!(anchor, LessonAnchor::Symbol(_)));
                missing.push(format!("{} is gone", anchor.describe()));
            }
            AnchorPresence::Unknown => doubtful += 1,
        }
    }
    match (missing.is_empty(), here) {
        (true, 0) => LessonStaleness::Unknown,
        (true, _) => LessonStaleness::Fresh,
        (false, 0) if gone > 0 && doubtful == 0 => LessonStaleness::Orphaned { missing },
        (false, _) => LessonStaleness::Drifted { missing },
    }
}
