//! A memory in plain files: readable with `cat`, mergeable in git, safe under many processes.
//!
//! `episodes.jsonl`, `lessons.jsonl`, `lessons-archive.jsonl` and `ledger.jsonl` are the truth. Each line is one whole
//! record; the last line of an id wins. `redo.log` holds the commits
//! that may not be in them yet; `index/` can be deleted at any time.

// The files, and writing to them.
mod disk;
mod layout;
mod lines;
mod recovery;
mod redo;

// Reading them.
mod index;
mod snapshot;
mod state;
mod view;

// One directory, and what is done to it.
mod bank;
mod compact;
mod doctor;
mod fold;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::bank::{Bank, Options, Prepared};
use super::answers::{self, Best};
use super::search::Ask;
use super::{
    Answer, BankStatus, Batch, Compaction, EpisodeFilter, FactFilter, Finding, Lesson, LessonName, MemoryError,
    MemoryService, Neighbour, Receipt, Revision, Stamp, Tenancy, Turn, Which,
};
use crate::domain::{AgentMemory, Episode, Fact, MemoryId, MemoryQuery, MemoryScope, Timestamp};
use crate::recall::Ranking;

pub use self::bank::Sync;
pub use self::disk::{Disk, RealDisk};
pub use self::index::is_shielded;
pub use self::layout::{Layout, Part};

/// Where the files lie and how they are treated. Every field is a configuration key of `[memory]`.
#[derive(Debug, Clone)]
pub struct JsonlSettings {
    /// The project's directory.
    pub project: PathBuf,
    /// Whose lessons the project's directory holds.
    pub tenancy: Tenancy,
    /// The directory of lessons that hold everywhere, if there is to be one.
    pub global: Option<PathBuf>,
    /// Whether a commit is on disk when it returns.
    pub sync: Sync,
    /// How long to wait for another writer.
    pub lock_timeout: Duration,
    /// How many versions of a lesson compaction leaves in place.
    pub versions_kept: usize,
    /// Longer lines are kept but not read, and never written.
    pub max_line_bytes: usize,
    /// How much may be searched from memory before the index catches up.
    pub fold_in_bytes: u64,
}

/// The memory of one project, and the lessons that hold everywhere.
#[derive(Debug, Clone)]
pub struct JsonlMemory {
    project: Arc<Bank>,
    tenancy: Tenancy,
    global: Option<Arc<Bank>>,
}

impl JsonlMemory {
    /// Touches nothing: files are opened when they are needed, and made when something is written.
    pub fn open(settings: JsonlSettings) -> Self {
        Self::open_on(settings, Arc::new(RealDisk))
    }

    /// The same on a disk of the caller's choice.
    pub fn open_on(settings: JsonlSettings, disk: Arc<dyn Disk>) -> Self {
        let options = Options {
            sync: settings.sync,
            lock_timeout: settings.lock_timeout,
            versions_kept: settings.versions_kept,
            max_line_bytes: settings.max_line_bytes,
            fold_in_bytes: settings.fold_in_bytes,
        };
        let bank = |layout| Arc::new(Bank::new(layout, options.clone(), Arc::clone(&disk)));
        Self {
            project: bank(Layout::project(settings.project)),
            tenancy: settings.tenancy,
            global: settings.global.map(|directory| bank(Layout::global(directory))),
        }
    }

    /// The banks that exist, the project's first.
    fn banks(&self) -> impl Iterator<Item = &Arc<Bank>> {
        std::iter::once(&self.project).chain(&self.global).filter(|bank| bank.layout.directory().exists())
    }

    /// Each bank's best answers.
    async fn best(
        &self,
        query: &MemoryQuery,
        ask: fn(&MemoryQuery, Tenancy) -> Ask,
        ranking: &Ranking,
        limit: usize,
        at: Timestamp,
    ) -> Result<Vec<Best>, MemoryError> {
        let (query, ranking, tenancy, own) = (query.clone(), *ranking, self.tenancy, Arc::clone(&self.project));
        let found = self.in_each(move |bank| {
            let tenancy = if std::ptr::eq(bank, &*own) { tenancy } else { Tenancy::Shared };
            bank.read()?.answer(&ask(&query, tenancy), &ranking, limit, at)
        });
        found.await
    }

    async fn in_each<T: Send + 'static>(
        &self,
        work: impl Fn(&Bank) -> Result<T, MemoryError> + Send + Clone + 'static,
    ) -> Result<Vec<T>, MemoryError> {
        let mut results = Vec::new();
        for bank in self.banks() {
            results.push(blocking(bank, work.clone()).await?);
        }
        Ok(results)
    }
}

#[async_trait]
impl MemoryService for JsonlMemory {
    async fn turn(&self) -> Result<Turn, MemoryError> {
        blocking(&self.project, |bank| bank.turn().map(Turn::held)).await
    }

    /// All or nothing. Where a batch has something for both directories, both commits are durable before either is
    /// made; only a crash in between can leave the global one without the project's.
    async fn commit(&self, batch: Batch, _at: Timestamp) -> Result<Receipt, MemoryError> {
        let global = self.global.clone();
        blocking(&self.project, move |project| {
            let order: Vec<MemoryId> = batch.memories.iter().map(|memory| memory.id.clone()).collect();
            let (for_global, for_project) = match &global {
                Some(global) => divide(batch, project, global)?,
                None => (Batch::default(), batch),
            };
            // The global lock always comes first, so that two of us cannot wait for each other.
            let mut prepared = Vec::new();
            for (bank, part) in [(global.as_deref(), for_global), (Some(project), for_project)] {
                if let Some(bank) = bank.filter(|_| !part.is_empty()) {
                    prepared.push(bank.prepare(part)?);
                }
            }
            let mut durable: Vec<Prepared<'_>> = Vec::new();
            for mut commit in prepared {
                if let Err(error) = commit.make_durable() {
                    durable.into_iter().for_each(Prepared::withdraw);
                    return Err(error);
                }
                durable.push(commit);
            }
            let mut receipt = Receipt::default();
            for done in durable.into_iter().map(Prepared::apply) {
                receipt.lessons.extend(done.lessons);
                receipt.written += done.written;
                receipt.known += done.known;
            }
            receipt.lessons.sort_by_key(|(id, _)| order.iter().position(|known| known == id));
            Ok(receipt)
        })
        .await
    }

    async fn query(&self, query: &MemoryQuery, ranking: &Ranking, at: Timestamp) -> Result<Answer, MemoryError> {
        let limit = query.max_results.unwrap_or(ranking.max_results);
        Ok(answers::joined(self.best(query, Ask::query, ranking, limit, at).await?, query, ranking, limit))
    }

    async fn neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<Neighbour>, MemoryError> {
        let found = self.best(near, Ask::neighbours, &Ranking::BY_RELEVANCE, limit, Timestamp::default()).await?;
        Ok(answers::nearest(found, limit))
    }

    async fn get(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError> {
        for bank in self.banks() {
            let name = name.clone();
            let found = blocking(bank, move |bank| {
                let mut state = bank.read()?;
                let id = match name {
                    LessonName::Id(id) => Some(id),
                    LessonName::Alias(alias) => state.with_alias(&alias)?,
                };
                id.map_or(Ok(None), |id| state.lesson(&id))
            });
            if let Some(lesson) = found.await? {
                return Ok(Some(lesson));
            }
        }
        Ok(None)
    }

    async fn lessons(&self, which: Which) -> Result<Vec<Lesson>, MemoryError> {
        let lessons = self.in_each(move |bank| {
            let state = bank.read_apart()?;
            let view = state.read_all(&[Part::Archive, Part::Lessons])?;
            Ok(view.into_lessons(which, state.tally()?))
        });
        let lessons: Vec<Vec<Lesson>> = lessons.await?;
        let mut lessons: Vec<Lesson> = lessons.into_iter().flatten().collect();
        lessons.sort_by(|a, b| {
            a.memory.version_at().cmp(&b.memory.version_at()).then_with(|| a.memory.id.cmp(&b.memory.id))
        });
        Ok(lessons)
    }

    async fn history(&self, id: &MemoryId) -> Result<Vec<Revision>, MemoryError> {
        let wanted = id.clone();
        let histories = self.in_each(move |bank| {
            let state = bank.read_apart()?;
            let limit = bank.options.max_line_bytes;
            let mut memories: Vec<AgentMemory> = Vec::new();
            for part in [Part::Archive, Part::Lessons] {
                let bytes = state.bytes_of(part)?;
                let finder = memchr::memmem::Finder::new(wanted.as_str());
                let near = lines::lines(&bytes, 0).filter(|line| finder.find(line.bytes).is_some());
                let read = near.filter_map(|line| lines::parse::<AgentMemory>(line.bytes, limit).ok());
                memories.extend(read.filter(|memory| memory.id == wanted));
            }
            Ok((1..).zip(memories).map(|(version, memory)| Revision { version, memory }).collect())
        });
        let histories: Vec<Vec<Revision>> = histories.await?;
        let history = histories.into_iter().find(|history| !history.is_empty());
        history.ok_or_else(|| MemoryError::NoSuchLesson { name: LessonName::Id(id.clone()) })
    }

    async fn revisions(&self) -> Result<Vec<Revision>, MemoryError> {
        let revisions = self.in_each(|bank| {
            let state = bank.read_apart()?;
            let limit = bank.options.max_line_bytes;
            let mut versions: HashMap<MemoryId, u64> = HashMap::new();
            let mut revisions: Vec<Revision> = Vec::new();
            for part in [Part::Archive, Part::Lessons] {
                let bytes = state.bytes_of(part)?;
                for line in lines::lines(&bytes, 0) {
                    let Ok(memory) = lines::parse::<AgentMemory>(line.bytes, limit) else { continue };
                    let version = versions.entry(memory.id.clone()).or_default();
                    *version += 1;
                    revisions.push(Revision { version: *version, memory });
                }
            }
            Ok(revisions)
        });
        Ok(revisions.await?.into_iter().flatten().collect())
    }

    async fn episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        let filter = filter.clone();
        blocking(&self.project, move |bank| {
            let mut state = bank.read()?;
            let view = state.episodes()?;
            let mut episodes: Vec<_> = view.episodes.values().filter(|(_, episode)| filter.admits(episode)).collect();
            episodes.sort_unstable_by_key(|(place, _)| *place);
            Ok(episodes.into_iter().map(|(_, episode)| episode.clone()).collect())
        })
        .await
    }

    /// The lengths and times of the files, without a look into them.
    async fn stamp(&self) -> Result<Stamp, MemoryError> {
        let stamps = self.in_each(|bank| Ok(bank.layout.stamp())).await?;
        let mut hash = blake3::Hasher::new();
        for stamp in stamps {
            hash.update(stamp.as_bytes());
        }
        Ok(Stamp(hash.finalize().to_hex().chars().take(16).collect()))
    }

    async fn status(&self) -> Result<Vec<BankStatus>, MemoryError> {
        self.in_each(doctor::status).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, MemoryError> {
        Ok(self.in_each(doctor::examine).await?.into_iter().flatten().collect())
    }

    async fn repair(&self, at: Timestamp) -> Result<Vec<Finding>, MemoryError> {
        Ok(self.in_each(move |bank| doctor::repair(bank, at)).await?.into_iter().flatten().collect())
    }

    async fn compact(&self) -> Result<Vec<Compaction>, MemoryError> {
        self.in_each(compact::compact).await
    }

    async fn maintain(&self) {
        let folded = self.in_each(Bank::fold).await;
        if let Err(error) = folded {
            tracing::debug!(%error, "index not brought up to date");
        }
    }

    async fn facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        let filter = filter.clone();
        let facts = self.in_each(move |bank| bank.read()?.facts(&filter)).await?;
        Ok(facts.into_iter().flatten().collect())
    }
}

/// Which part of a batch goes where: a lesson that is known stays where it is, a new one goes by its scope, and
/// everything about a lesson goes with it.
fn divide(batch: Batch, project: &Bank, global: &Bank) -> Result<(Batch, Batch), MemoryError> {
    let share = Batch { records: batch.records, ..Batch::default() };
    let (mut for_global, mut for_project) = (share.clone(), share);
    for_project.episodes = batch.episodes;
    let mut is_global: HashMap<MemoryId, bool> = HashMap::new();
    let mut lives_in_global = |id: &MemoryId, scope: Option<&MemoryScope>| {
        if let Some(known) = is_global.get(id) {
            return Ok::<bool, MemoryError>(*known);
        }
        let holds = |bank: &Bank| Ok::<bool, MemoryError>(bank.read()?.lesson(id)?.is_some());
        let found = holds(global)? || (scope == Some(&MemoryScope::Global) && !holds(project)?);
        is_global.insert(id.clone(), found);
        Ok(found)
    };
    for memory in batch.memories {
        let found = lives_in_global(&memory.id, Some(&memory.scope))?;
        if found { &mut for_global } else { &mut for_project }.memories.push(memory);
    }
    for fact in batch.facts {
        let found = lives_in_global(fact.memory(), None)?;
        if found { &mut for_global } else { &mut for_project }.facts.push(fact);
    }
    for (id, version) in batch.expected {
        let found = lives_in_global(&id, None)?;
        if found { &mut for_global } else { &mut for_project }.expected.push((id, version));
    }
    Ok((for_global, for_project))
}

/// Files block, and an executor must not.
async fn blocking<T: Send + 'static>(
    bank: &Arc<Bank>,
    work: impl FnOnce(&Bank) -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    let bank = Arc::clone(bank);
    let done = tokio::task::spawn_blocking(move || work(&bank)).await;
    done.map_err(|error| MemoryError::Interrupted(error.to_string()))?
}
