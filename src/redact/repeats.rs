//! The other places where a secret stands that was found once.
//!
//! A text may hold ten thousand secrets, so this is no search for each of them: the first eight bytes at every place are
//! looked up in a small filter, and only what passes is compared.

use std::collections::HashMap;

use super::Finding;
use super::value;

/// A secret shorter than this is not looked for in the rest of the text: it may be an ordinary word.
const MIN_BYTES: usize = 8;

/// A longer one is found by its own shape wherever it stands.
const MAX_BYTES: usize = 512;

/// The filter has two to this power bits.
const FILTER_POWER: u32 = 16;

/// The findings, of which each stands for one more place.
pub(super) fn find(text: &str, found: &[Finding]) -> Vec<Finding> {
    let mut secrets: Vec<Secret<'_>> = found
        .iter()
        .filter_map(|finding| Some(Secret { bytes: text.get(finding.span.clone())?, kind: finding.kind }))
        .filter(|secret| is_unmistakable(secret.bytes))
        .collect();
    secrets.sort_unstable_by_key(|secret| secret.bytes);
    secrets.dedup_by_key(|secret| secret.bytes);
    if secrets.is_empty() {
        return Vec::new();
    }
    let table = Table::new(&secrets);
    let mut repeats = Vec::new();
    let mut head = 0u64;
    for (place, byte) in text.bytes().enumerate() {
        head = head << 8 | u64::from(byte);
        let Some(start) = (place + 1).checked_sub(MIN_BYTES) else { continue };
        if !table.may_hold(head) {
            continue;
        }
        let Some(rest) = text.get(start..) else { continue };
        if let Some(secret) = table.longest(head, rest) {
            repeats.push(Finding { kind: secret.kind, span: start..start + secret.bytes.len() });
        }
    }
    repeats
}

/// Whether a secret found once may be taken out wherever it stands.
fn is_unmistakable(secret: &str) -> bool {
    (MIN_BYTES..=MAX_BYTES).contains(&secret.len()) && value::is_random(secret)
}

#[derive(Debug, Clone, Copy)]
struct Secret<'t> {
    bytes: &'t str,
    kind: &'static str,
}

/// Secrets in order, found by how they begin.
struct Table<'s, 't> {
    secrets: &'s [Secret<'t>],
    /// For each secret the longest other one that it begins with.
    shorter: Vec<Option<usize>>,
    /// Which secrets share their first eight bytes.
    by_head: HashMap<u64, (usize, usize)>,
    filter: Vec<u64>,
}

impl<'s, 't> Table<'s, 't> {
    fn new(secrets: &'s [Secret<'t>]) -> Self {
        let mut table = Self {
            secrets,
            shorter: Vec::with_capacity(secrets.len()),
            by_head: HashMap::with_capacity(secrets.len()),
            filter: vec![0; (1 << FILTER_POWER) / 64],
        };
        // What a secret begins with stands right before it in the order, or is what that one begins with.
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
            let (word, bit) = slot(head);
            if let Some(word) = table.filter.get_mut(word) {
                *word |= bit;
            }
        }
        table
    }

    fn may_hold(&self, head: u64) -> bool {
        let (word, bit) = slot(head);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The longest secret that the text begins with.
    fn longest(&self, head: u64, text: &str) -> Option<&Secret<'t>> {
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

/// Which bit of the filter stands for a beginning.
fn slot(head: u64) -> (usize, u64) {
    let hash = head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - FILTER_POWER);
    (usize::try_from(hash / 64).unwrap_or(0), 1 << (hash % 64))
}
