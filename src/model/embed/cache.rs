//! A text is embedded once: vectors by what they were made from, in memory and, if wanted, in a file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use super::cache_file::{Added, CacheFile, Key};
use super::{EmbedError, Embedder, Vector, beginning};

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;

/// Numbers kept in memory: fifty thousand vectors of a small model, eighty megabytes.
const MAX_NUMBERS: usize = 20_000_000;

/// Texts with their keys.
type Asked<'t> = Vec<(Key, &'t String)>;

/// An embedder that remembers.
#[derive(Debug)]
pub struct Cached<E> {
    inner: E,
    kept: Arc<Mutex<Kept>>,
    file: Option<PathBuf>,
    loaded: OnceCell<()>,
}

impl<E: Embedder> Cached<E> {
    /// Remembers as long as it lives.
    pub fn new(inner: E) -> Self {
        let kept = Kept { by_key: BTreeMap::new(), order: VecDeque::new(), numbers: 0, max_numbers: MAX_NUMBERS };
        Self { inner, kept: Arc::new(Mutex::new(kept)), file: None, loaded: OnceCell::new() }
    }

    /// Remembers in a file too. It is for this model alone; any number of processes may share it.
    pub fn with_file(mut self, path: &Path) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    /// The file. A model is asked for its name when it is asked for vectors, and not before: that may take a moment.
    fn file(&self) -> Option<CacheFile> {
        self.file.as_deref().map(|path| CacheFile::new(path, self.inner.name()))
    }

    /// Reads the file, once. A cache that cannot be read is an empty one.
    async fn load(&self) {
        let Some(file) = self.file() else { return };
        let load = async || {
            let kept = Arc::clone(&self.kept);
            let read = spawn_blocking(move || file.load(|key, vector| lock(&kept).keep(key, vector))).await;
            match read {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "the file of known vectors cannot be read"),
                Err(_) => tracing::warn!("reading the file of known vectors broke off"),
            }
        };
        self.loaded.get_or_init(load).await;
    }

    /// Adds to the file. A cache that cannot be written only costs time.
    async fn store(&self, fresh: Vec<(Key, Vector)>) {
        let Some(file) = self.file() else { return };
        let kept = Arc::clone(&self.kept);
        match spawn_blocking(move || file.add(&fresh, || lock(&kept).all())).await {
            Ok(Ok(Added::Appended)) => {}
            Ok(Ok(Added::Rebuilt)) => tracing::debug!("the file of known vectors was written anew"),
            Ok(Ok(Added::Busy)) => tracing::debug!("the file of known vectors is busy; nothing was added"),
            Ok(Err(error)) => tracing::warn!(%error, "the file of known vectors cannot be written"),
            Err(_) => tracing::warn!("writing the file of known vectors broke off"),
        }
    }

    /// What is known already.
    fn known(&self, keys: &[Key]) -> BTreeMap<Key, Vector> {
        let dimensions = self.inner.dimensions();
        let kept = lock(&self.kept);
        let found = keys.iter().filter_map(|key| Some((*key, kept.by_key.get(key)?.clone())));
        found.filter(|(_, vector)| dimensions.is_none_or(|count| count == vector.dimensions())).collect()
    }

    /// Embeds and makes sure that every text got its vector.
    async fn ask(&self, texts: Asked<'_>) -> Result<Vec<(Key, Vector)>, EmbedError> {
        let (keys, texts): (Vec<Key>, Vec<String>) = texts.into_iter().map(|(key, text)| (key, text.clone())).unzip();
        let vectors = self.inner.embed(&texts).await?;
        if vectors.len() != texts.len() {
            let why = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(EmbedError::BrokeOff { source_name: self.inner.name().to_owned(), why });
        }
        Ok(keys.into_iter().zip(vectors).collect())
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Cached<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> Option<usize> {
        self.inner.dimensions()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError> {
        self.load().await;
        let keys: Vec<Key> = texts.iter().map(|text| key(self.inner.name(), text)).collect();
        let mut known = self.known(&keys);
        let (missing, kept) = split(&keys, texts, &known);
        if !missing.is_empty() {
            let mut fresh = self.ask(missing).await?;
            // Another model goes by the old name: what was known is of no use beside what comes now.
            let dimensions = fresh.first().map(|(_, vector)| vector.dimensions());
            if known.values().any(|vector| Some(vector.dimensions()) != dimensions) {
                lock(&self.kept).forget();
                fresh.extend(self.ask(kept).await?);
            }
            {
                let mut kept = lock(&self.kept);
                fresh.iter().for_each(|(key, vector)| kept.keep(*key, vector.clone()));
            }
            known.extend(fresh.iter().cloned());
            self.store(fresh).await;
        }
        let vectors = keys.iter().map(|key| known.get(key).cloned()).collect::<Option<Vec<_>>>();
        vectors.ok_or_else(|| EmbedError::BrokeOff {
            source_name: self.inner.name().to_owned(),
            why: "a text was left without a vector".to_owned(),
        })
    }
}

/// The texts that are not known yet, and those that are. Each once, in their order.
fn split<'t>(keys: &[Key], texts: &'t [String], known: &BTreeMap<Key, Vector>) -> (Asked<'t>, Asked<'t>) {
    let mut seen = BTreeSet::new();
    let once = keys.iter().copied().zip(texts).filter(|(key, _)| seen.insert(*key));
    once.partition(|(key, _)| !known.contains_key(key))
}

/// The same model and the same words have the same key.
fn key(model: &str, text: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(blake3::hash(model.as_bytes()).as_bytes());
    hasher.update(beginning(text).as_bytes());
    *hasher.finalize().as_bytes()
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known, and in which order it came.
#[derive(Debug)]
struct Kept {
    by_key: BTreeMap<Key, Vector>,
    order: VecDeque<Key>,
    numbers: usize,
    max_numbers: usize,
}

impl Kept {
    /// Keeps a vector; the oldest make room.
    fn keep(&mut self, key: Key, vector: Vector) {
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

    fn forget(&mut self) {
        self.by_key.clear();
        self.order.clear();
        self.numbers = 0;
    }

    /// The oldest first.
    fn all(&self) -> Vec<(Key, Vector)> {
        self.order.iter().filter_map(|key| Some((*key, self.by_key.get(key)?.clone()))).collect()
    }
}
