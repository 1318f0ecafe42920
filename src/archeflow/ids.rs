//! `m-NNN`: names that only go up.

use std::collections::HashSet;

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;

/// A number with more digits is somebody else's.
const MAX_DIGITS: usize = 9;

/// Names that are taken, now or once.
#[derive(Debug, Default)]
pub(super) struct Ids {
    highest: u64,
    taken: HashSet<String>,
}

impl Ids {
    /// All of these are taken.
    pub(super) fn of<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all = Self::default();
        for id in ids {
            all.highest = all.highest.max(number(id).unwrap_or_default());
            all.taken.insert(id.to_owned());
        }
        all
    }

    /// The next name, which is taken from now on.
    pub(super) fn next(&mut self) -> String {
        loop {
            self.highest += 1;
            let id = format!("m-{:03}", self.highest);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

fn number(id: &str) -> Option<u64> {
    let digits = id.strip_prefix("m-")?;
    let is_ours = digits.len() <= MAX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| digits.parse().ok()).flatten()
}
