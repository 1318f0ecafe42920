//! Whether what a lesson names is still there.

use super::Anchor;

#[cfg(test)]
#[path = "stale_tests.rs"]
mod tests;

/// So many missing things are named in a mark.
const MAX_MARKED: usize = 2;

/// What came of looking for an anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It is where the lesson says.
    Here,
    /// It is somewhere else.
    Moved(String),
    /// It is not in the project.
    Gone,
    /// Nobody can tell.
    Unknown,
}

/// Whether what a lesson names is still there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Staleness {
    /// All of it is.
    Fresh,
    /// Some of it is not, or stands elsewhere.
    Drifted {
        /// What, as in "src/x.rs is gone".
        missing: Vec<String>,
    },
    /// None of it is.
    Orphaned {
        /// What, as in "src/x.rs is gone".
        missing: Vec<String>,
    },
    /// It names nothing that could be looked for, or nobody looked.
    #[default]
    Unknown,
}

impl Staleness {
    /// What a reader has to know, as in "unverified: src/x.rs is gone".
    pub fn mark(&self) -> Option<String> {
        let (Self::Drifted { missing } | Self::Orphaned { missing }) = self else {
            return None;
        };
        let named = missing.iter().take(MAX_MARKED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = missing.len().saturating_sub(MAX_MARKED);
        Some(if more > 0 { format!("unverified: {named} and {more} more") } else { format!("unverified: {named}") })
    }

    /// Whether nothing that the lesson speaks of is left, so that it is better not given.
    pub fn is_orphaned(&self) -> bool {
        matches!(self, Self::Orphaned { .. })
    }
}

/// What of a lesson is still there, `look` telling it of each anchor.
///
/// Only what was looked for in vain counts as missing, and a lesson is an orphan only if that is all that it names. A
/// name in the code never makes one by itself: it may belong to something that the project uses.
pub fn judge(anchors: &[Anchor], look: impl Fn(&Anchor) -> Presence) -> Staleness {
    let mut missing = Vec::new();
    let (mut here, mut gone, mut doubtful) = (0_usize, 0_usize, 0_usize);
    for anchor in anchors {
        match look(anchor) {
            Presence::Here => here += 1,
            Presence::Moved(to) => {
                here += 1;
                missing.push(format!("{} is now {to}", anchor.described()));
            }
            Presence::Gone => {
                gone += usize::from(!matches!(anchor, Anchor::Symbol(_)));
                missing.push(format!("{} is gone", anchor.described()));
            }
            Presence::Unknown => doubtful += 1,
        }
    }
    match (missing.is_empty(), here) {
        (true, 0) => Staleness::Unknown,
        (true, _) => Staleness::Fresh,
        (false, 0) if gone > 0 && doubtful == 0 => Staleness::Orphaned { missing },
        (false, _) => Staleness::Drifted { missing },
    }
}
