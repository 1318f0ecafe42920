//! A bounded memory of recent entries, keyed by hash.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::hash::Hasher;

/// A hasher that returns its key, which is a hash already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Generation<V> = HashMap<u64, V, BuildHasherDefault<IdentityHasher>>;

/// Keeps at least the last `size` entries, and at most twice as many.
#[derive(Debug)]
pub(super) struct RecentEntries<V> {
    newer: Generation<V>,
    older: Generation<V>,
    size: usize,
}

impl<V> RecentEntries<V> {
    pub(super) fn new(size: usize) -> Self {
        Self { newer: Generation::default(), older: Generation::default(), size }
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.newer.get(&key).or_else(|| self.older.get(&key))
    }

    /// Removes an entry, so that it can be changed and inserted again.
    pub(super) fn take_entry(&mut self, key: u64) -> Option<V> {
        self.newer.remove(&key).or_else(|| self.older.remove(&key))
    }

    /// Inserts an entry; returns true if the key is new.
    pub(super) fn insert(&mut self, key: u64, value: V) -> bool {
        if self.newer.len() >= self.size {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, value).is_none() && !self.older.contains_key(&key)
    }
}
