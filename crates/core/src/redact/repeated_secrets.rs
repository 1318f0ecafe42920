//! The other occurrences of a secret that was found once.
//!
//! A text may contain ten thousand secrets, so it is not searched for each of them: the first eight bytes at every
//! position are looked up in a small filter, and only matches are compared.

use std::collections::HashMap;

use super::SecretFinding;
use super::value_shape;

/// The fewest bytes of a secret that is searched in the rest of the text: a shorter one may be an ordinary word.
const MIN_BYTES: usize = 8;

/// The most bytes of such a secret: a longer one is found by its own shape everywhere.
const MAX_BYTES: usize = 512;

/// The logarithm to base two of the number of bits of the filter.
const FILTER_POWER: u32 = 16;

/// Returns a finding for each occurrence of a secret that was found.
pub(super) fn find_repeats(text: &str, found: &[SecretFinding]) -> Vec<SecretFinding> {
    let mut secrets: Vec<FoundSecret<'_>> = found
        .iter()
        .filter_map(|finding| Some(FoundSecret { bytes: text.get(finding.span.clone())?, kind: finding.kind }))
        .filter(|secret| is_unmistakable(secret.bytes))
        .collect();
    secrets.sort_unstable_by_key(|secret| secret.bytes);
    secrets.dedup_by_key(|secret| secret.bytes);
    if secrets.is_empty() {
        return Vec::new();
    }
    let table = SecretTable::new(&secrets);
    let mut repeats = Vec::new();
    let mut head = 0u64;
    for (place, byte) in text.bytes().enumerate() {
        head = head << 8 | u64::from(byte);
        let Some(start) = (place + 1).checked_sub(MIN_BYTES) else { continue };
        if !table.may_hold(head) {
            continue;
        }
        let Some(rest) = text.get(start..) else { continue };
        if let Some(secret) = table.longest_match(head, rest) {
            repeats.push(SecretFinding { kind: secret.kind, span: start..start + secret.bytes.len() });
        }
    }
    repeats
}

/// Returns true if a secret found once may be removed wherever it occurs.
fn is_unmistakable(secret: &str) -> bool {
    (MIN_BYTES..=MAX_BYTES).contains(&secret.len()) && value_shape::is_random(secret)
}

#[derive(Debug, Clone, Copy)]
struct FoundSecret<'t> {
    bytes: &'t str,
    kind: &'static str,
}

/// The secrets in sorted order, indexed by their first bytes.
struct SecretTable<'s, 't> {
    secrets: &'s [FoundSecret<'t>],
    /// The index of the longest other secret that each secret begins with.
    shorter: Vec<Option<usize>>,
    /// The range of secrets that share the same first eight bytes.
    by_head: HashMap<u64, (usize, usize)>,
    filter: Vec<u64>,
}

impl<'s, 't> SecretTable<'s, 't> {
    fn new(secrets: &'s [FoundSecret<'t>]) -> Self {
        let mut table = Self {
            secrets,
            shorter: Vec::with_capacity(secrets.len()),
            by_head: HashMap::with_capacity(secrets.len()),
            filter: vec![0; (1 << FILTER_POWER) / 64],
        };
        // The prefix of a secret comes right before it in the order, or is a prefix of that one.
        let mut open: Vec<usize> = Vec::new();
        for (place, secret) in secrets.iter().enumerate() {
            let begins = |other: &usize| secrets.get(*other).is_some_and(|other| secret.bytes.starts_with(other.bytes));
            while open.last().is_some_and(|last| !begins(last)) {
                open.pop();
            }
            table.shorter.push(open.last().copied());
            open.push(place);
            let head = secret.bytes.bytes().take(MIN_BYTES).fold(0, |head, byte| head << 8 | u64::from(byte));
            table.by_head.entry(head).or_insert((place, place)).1 = place + 1;
            let (word, bit) = filter_slot(head);
            if let Some(word) = table.filter.get_mut(word) {
                *word |= bit;
            }
        }
        table
    }

    fn may_hold(&self, head: u64) -> bool {
        let (word, bit) = filter_slot(head);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns the longest secret that the text begins with.
    fn longest_match(&self, head: u64, text: &str) -> Option<&FoundSecret<'t>> {
        let (from, to) = *self.by_head.get(&head)?;
        let group = self.secrets.get(from..to)?;
        let above = from + group.partition_point(|secret| secret.bytes <= text);
        let mut place = above.checked_sub(1).filter(|place| *place >= from);
        while let Some(secret) = place.and_then(|place| self.secrets.get(place)) {
            if text.starts_with(secret.bytes) {
                return Some(secret);
            }
            place = place.and_then(|place| self.shorter.get(place).copied().flatten());
        }
        None
    }
}

/// Returns the word and the bit of the filter for the first eight bytes.
fn filter_slot(head: u64) -> (usize, u64) {
    let hash = head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - FILTER_POWER);
    (usize::try_from(hash / 64).unwrap_or(0), 1 << (hash % 64))
}
