//! Assigns lesson ids of the form `m-NNN`, whose numbers only go up.

use std::collections::HashSet;

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;

/// The most digits of a number assigned here; ids with longer ones come from elsewhere.
const MAX_DIGITS: usize = 9;

/// The ids that are or were in use, and the highest number among them.
#[derive(Debug, Default)]
pub(super) struct LessonIdSequence {
    highest: u64,
    taken: HashSet<String>,
}

impl LessonIdSequence {
    /// Starts a sequence for which all of these ids are taken.
    pub(super) fn from_taken<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all = Self::default();
        for id in ids {
            all.highest = all.highest.max(parse_number(id).unwrap_or_default());
            all.taken.insert(id.to_owned());
        }
        all
    }

    /// Returns the next free id and marks it as taken.
    pub(super) fn next_id(&mut self) -> String {
        loop {
            self.highest += 1;
            let id = format!("m-{:03}", self.highest);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

fn parse_number(id: &str) -> Option<u64> {
    let digits = id.strip_prefix("m-")?;
    let is_ours = digits.len() <= MAX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| digits.parse().ok()).flatten()
}
