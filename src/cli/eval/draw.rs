//! Choices that a seed makes: the same names, the same choices.

/// A stream of choices.
#[derive(Debug, Clone)]
pub(super) struct Draw(u64);

impl Draw {
    /// The stream that belongs to these names.
    pub(super) fn new(names: &[&str]) -> Self {
        let mut hash = blake3::Hasher::new();
        for name in names {
            hash.update(name.as_bytes()).update(&[0]);
        }
        let bytes = hash.finalize();
        Self(bytes.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Any number (SplitMix64).
    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number from `least` to `most`.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        let width = most.saturating_sub(least).saturating_add(1).max(1);
        least.saturating_add(self.number() % width)
    }

    /// A number from 0 up to 1.
    pub(super) fn share(&mut self) -> f64 {
        // As many bits as a float holds exactly.
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of several.
    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let last = u64::try_from(of.len()).ok()?.checked_sub(1)?;
        of.get(usize::try_from(self.between(0, last)).ok()?)
    }

    /// Takes one out of several.
    pub(super) fn take<T>(&mut self, of: &mut Vec<T>) -> Option<T> {
        let last = u64::try_from(of.len()).ok()?.checked_sub(1)?;
        let at = usize::try_from(self.between(0, last)).ok()?;
        Some(of.swap_remove(at))
    }
}
