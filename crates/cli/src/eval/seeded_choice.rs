//! Reproducible random choices: the same seed names always give the same choices.

use archivist_core::domain::StableHash;

/// A seeded stream of pseudo-random numbers.
#[derive(Debug, Clone)]
pub(super) struct SeededRandom(u64);

impl SeededRandom {
    /// Creates the stream that is seeded by these names.
    pub(super) fn new(names: &[&str]) -> Self {
        Self(u64::from_be_bytes(StableHash::from_parts(names.iter().copied()).to_bytes()))
    }

    /// Returns the next number of the stream (SplitMix64).
    pub(super) fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number from `least` to `most`, both included.
    pub(super) fn number_between(&mut self, least: u64, most: u64) -> u64 {
        let width = most.saturating_sub(least).saturating_add(1).max(1);
        least.saturating_add(self.next_number() % width)
    }

    /// Returns a number from 0 up to, but not including, 1.
    pub(super) fn next_fraction(&mut self) -> f64 {
        // A float holds 53 bits exactly.
        (self.next_number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns one of several items, or `None` if there are none.
    pub(super) fn pick_one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let last = u64::try_from(of.len()).ok()?.checked_sub(1)?;
        of.get(usize::try_from(self.number_between(0, last)).ok()?)
    }

    /// Removes one of several items and returns it, or `None` if there are none.
    pub(super) fn remove_one<T>(&mut self, of: &mut Vec<T>) -> Option<T> {
        let last = u64::try_from(of.len()).ok()?.checked_sub(1)?;
        let at = usize::try_from(self.number_between(0, last)).ok()?;
        Some(of.swap_remove(at))
    }
}
