//! A cache that embeds each text once and keeps its vector in memory and, optionally, in a file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use super::cache_file::{CacheAppendOutcome, Key, VectorCacheFile};
use super::{EmbedError, Embedder, EmbeddingVector, truncate_text};
use crate::domain::StableHash;

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;

/// The numbers kept in memory: fifty thousand vectors of a small model, eighty megabytes.
const MAX_NUMBERS: usize = 20_000_000;

/// A list of texts with their keys.
type Asked<'t> = Vec<(Key, &'t String)>;

/// An embedder that caches the vectors of another embedder.
#[derive(Debug)]
pub struct CachedEmbedder<E> {
    inner: E,
    kept: Arc<Mutex<VectorCache>>,
    file: Option<PathBuf>,
    loaded: OnceCell<()>,
}

impl<E: Embedder> CachedEmbedder<E> {
    /// Creates a cache that lives in memory only.
    pub fn new(inner: E) -> Self {
        let kept =
            VectorCache { by_key: BTreeMap::new(), order: VecDeque::new(), numbers: 0, max_numbers: MAX_NUMBERS };
        Self { inner, kept: Arc::new(Mutex::new(kept)), file: None, loaded: OnceCell::new() }
    }

    /// Adds a cache file. It is for this model alone; any number of processes may share it.
    pub fn with_file(mut self, path: &Path) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    /// Returns the cache file, if there is one. The model's name is read only now, because that may take time.
    fn cache_file(&self) -> Option<VectorCacheFile> {
        self.file.as_deref().map(|path| VectorCacheFile::new(path, self.inner.name()))
    }

    /// Reads the file once. A cache file that cannot be read counts as empty.
    async fn load_file(&self) {
        let Some(file) = self.cache_file() else { return };
        let load = async || {
            let kept = Arc::clone(&self.kept);
            let read =
                spawn_blocking(move || file.read_records(|key, vector| lock_cache(&kept).insert_vector(key, vector)))
                    .await;
            match read {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "the file of known vectors cannot be read"),
                Err(_) => tracing::warn!("reading the file of known vectors broke off"),
            }
        };
        self.loaded.get_or_init(load).await;
    }

    /// Adds vectors to the file. A cache that cannot be written only costs time.
    async fn append_to_file(&self, fresh: Vec<(Key, EmbeddingVector)>) {
        let Some(file) = self.cache_file() else { return };
        let kept = Arc::clone(&self.kept);
        match spawn_blocking(move || file.add_records(&fresh, || lock_cache(&kept).all_vectors())).await {
            Ok(Ok(CacheAppendOutcome::Appended)) => {}
            Ok(Ok(CacheAppendOutcome::Rebuilt)) => tracing::debug!("the file of known vectors was written anew"),
            Ok(Ok(CacheAppendOutcome::Busy)) => tracing::debug!("the file of known vectors is busy; nothing was added"),
            Ok(Err(error)) => tracing::warn!(%error, "the file of known vectors cannot be written"),
            Err(_) => tracing::warn!("writing the file of known vectors broke off"),
        }
    }

    /// Returns the vectors that are cached for these keys.
    fn cached_vectors(&self, keys: &[Key]) -> BTreeMap<Key, EmbeddingVector> {
        let dimensions = self.inner.dimensions();
        let kept = lock_cache(&self.kept);
        let found = keys.iter().filter_map(|key| Some((*key, kept.by_key.get(key)?.clone())));
        found.filter(|(_, vector)| dimensions.is_none_or(|count| count == vector.dimensions())).collect()
    }

    /// Embeds texts with the inner embedder and checks that every text got its vector.
    async fn embed_with_inner(&self, texts: Asked<'_>) -> Result<Vec<(Key, EmbeddingVector)>, EmbedError> {
        let (keys, texts): (Vec<Key>, Vec<String>) = texts.into_iter().map(|(key, text)| (key, text.clone())).unzip();
        let vectors = self.inner.embed_texts(&texts).await?;
        if vectors.len() != texts.len() {
            let why = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(EmbedError::BrokeOff { source_name: self.inner.name().to_owned(), why });
        }
        Ok(keys.into_iter().zip(vectors).collect())
    }
}

#[async_trait]
impl<E: Embedder> Embedder for CachedEmbedder<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> Option<usize> {
        self.inner.dimensions()
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        self.load_file().await;
        let keys: Vec<Key> = texts.iter().map(|text| vector_key(self.inner.name(), text)).collect();
        let mut known = self.cached_vectors(&keys);
        let (missing, kept) = split_missing_texts(&keys, texts, &known);
        if !missing.is_empty() {
            let mut fresh = self.embed_with_inner(missing).await?;
            // Another model goes by the old name: the cached vectors cannot be mixed with the new ones.
            let dimensions = fresh.first().map(|(_, vector)| vector.dimensions());
            if known.values().any(|vector| Some(vector.dimensions()) != dimensions) {
                lock_cache(&self.kept).clear();
                fresh.extend(self.embed_with_inner(kept).await?);
            }
            {
                let mut kept = lock_cache(&self.kept);
                fresh.iter().for_each(|(key, vector)| kept.insert_vector(*key, vector.clone()));
            }
            known.extend(fresh.iter().cloned());
            self.append_to_file(fresh).await;
        }
        let vectors = keys.iter().map(|key| known.get(key).cloned()).collect::<Option<Vec<_>>>();
        vectors.ok_or_else(|| EmbedError::BrokeOff {
            source_name: self.inner.name().to_owned(),
            why: "a text was left without a vector".to_owned(),
        })
    }
}

/// Returns the texts without and the texts with a cached vector, each text once, in their order.
fn split_missing_texts<'t>(
    keys: &[Key],
    texts: &'t [String],
    known: &BTreeMap<Key, EmbeddingVector>,
) -> (Asked<'t>, Asked<'t>) {
    let mut seen = BTreeSet::new();
    let once = keys.iter().copied().zip(texts).filter(|(key, _)| seen.insert(*key));
    once.partition(|(key, _)| !known.contains_key(key))
}

/// Returns the cache key of a text: equal for the same model and the same words.
fn vector_key(model: &str, text: &str) -> Key {
    let model: Key = StableHash::from_text(model).to_bytes();
    StableHash::from_bytes(&model).with_text(truncate_text(text)).to_bytes()
}

fn lock_cache(kept: &Mutex<VectorCache>) -> MutexGuard<'_, VectorCache> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cached vectors, and the order in which they were inserted.
#[derive(Debug)]
struct VectorCache {
    by_key: BTreeMap<Key, EmbeddingVector>,
    order: VecDeque<Key>,
    numbers: usize,
    max_numbers: usize,
}

impl VectorCache {
    /// Inserts a vector and evicts the oldest ones beyond the limit.
    fn insert_vector(&mut self, key: Key, vector: EmbeddingVector) {
        self.numbers += vector.dimensions();
        match self.by_key.insert(key, vector) {
            Some(old) => self.numbers -= old.dimensions(),
            None => self.order.push_back(key),
        }
        while self.numbers > self.max_numbers {
            let Some(oldest) = self.order.pop_front() else { break };
            self.numbers -= self.by_key.remove(&oldest).map_or(0, |vector| vector.dimensions());
        }
    }

    fn clear(&mut self) {
        self.by_key.clear();
        self.order.clear();
        self.numbers = 0;
    }

    /// Returns all vectors, the oldest first.
    fn all_vectors(&self) -> Vec<(Key, EmbeddingVector)> {
        self.order.iter().filter_map(|key| Some((*key, self.by_key.get(key)?.clone()))).collect()
    }
}
