//! A memory in plain files: readable with `cat`, mergeable in git, safe with many processes.
//!
//! `episodes.jsonl`, `lessons.jsonl`, `lessons-archive.jsonl` and `ledger.jsonl` are the source of truth. Each line is
//! one whole record; the last line of an id wins. `redo.log` holds the commits that may not be in them yet; `index/`
//! can be deleted at any time.

// The files, and writing to them.
mod bank_files;
mod disk;
mod json_lines;
mod recovery;
mod redo_log;

// Reading the files.
mod bank_state;
mod episode_reader;
#[cfg_attr(not(feature = "index"), path = "absent_index.rs")]
mod index;
#[cfg_attr(not(feature = "index"), allow(dead_code, reason = "an index would use the rest"))]
mod index_types;
mod newest_lessons;
mod record_count;
mod record_view;
mod snapshot;

// One directory, and the operations on it.
mod bank;
mod compact;
mod doctor;
mod erase;
mod index_update;
mod lost_lines;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::bank::{BankOptions, JsonlBank, PreparedCommit};
use super::answer_collector::{self, BankAnswer};
use super::lesson_matching::PreparedQuery;
use super::{
    BankFinding, BankStatus, BankTenancy, CommitBatch, CommitReceipt, CompactionReport, EpisodeFilter, ErasureNote,
    ErasurePlan, ErasureSelection, FactFilter, JudgingTurn, Lesson, LessonName, LessonNeighbour, LessonRevision,
    LessonStateFilter, MemoryAnswer, MemoryError, MemoryService, MemoryStamp,
};
use crate::domain::{AgentMemory, Episode, Fact, MemoryId, MemoryQuery, MemoryScope, StableHash, Timestamp};
use crate::recall::RankingSettings;
use crate::trust::MachineKey;

pub use self::bank::SyncPolicy;
pub use self::bank_files::{BankLayout, StoreFile};
pub use self::disk::{Disk, RealDisk};
pub use self::index::is_shielded;

/// The location of the files and the settings of the store. Every field is a configuration key of `[memory]`.
#[derive(Debug, Clone)]
pub struct JsonlSettings {
    /// The project's directory.
    pub project: PathBuf,
    /// The tenancy of the project's directory.
    pub tenancy: BankTenancy,
    /// The directory of the global lessons, if there is one.
    pub global: Option<PathBuf>,
    /// The durability of a commit when it returns.
    pub sync: SyncPolicy,
    /// The longest time to wait for another writer.
    pub lock_timeout: Duration,
    /// The number of versions of a lesson that compaction leaves in place.
    pub versions_kept: usize,
    /// The length beyond which lines are kept but not read, and never written.
    pub max_line_bytes: usize,
    /// The number of bytes that may be searched in memory before the index is updated.
    pub fold_in_bytes: u64,
}

/// The memory of one project, and the global lessons.
#[derive(Debug, Clone)]
pub struct JsonlMemory {
    project: Arc<JsonlBank>,
    tenancy: BankTenancy,
    global: Option<Arc<JsonlBank>>,
    /// False if the project's records are not read.
    reads_project: bool,
}

impl JsonlMemory {
    /// Opens the memory without touching anything: files are opened when needed, and created when something is written.
    pub fn open(settings: JsonlSettings) -> Self {
        Self::open_on_disk(settings, Arc::new(RealDisk))
    }

    /// Opens the memory of a project. Its directory gets a seal of this machine before its first record.
    pub fn open_sealed(settings: JsonlSettings, key: MachineKey) -> Self {
        Self::open_banks(settings, Arc::new(RealDisk), Some(key))
    }

    /// Opens the global lessons alone: reading finds nothing of the project's.
    pub fn open_without_project(settings: JsonlSettings) -> Self {
        Self { reads_project: false, ..Self::open(settings) }
    }

    /// Opens the memory on a disk of the caller's choice.
    pub fn open_on_disk(settings: JsonlSettings, disk: Arc<dyn Disk>) -> Self {
        Self::open_banks(settings, disk, None)
    }

    fn open_banks(settings: JsonlSettings, disk: Arc<dyn Disk>, key: Option<MachineKey>) -> Self {
        let options = BankOptions {
            sync: settings.sync,
            lock_timeout: settings.lock_timeout,
            versions_kept: settings.versions_kept,
            max_line_bytes: settings.max_line_bytes,
            fold_in_bytes: settings.fold_in_bytes,
        };
        let bank = |layout, key| Arc::new(JsonlBank::new(layout, options.clone(), Arc::clone(&disk), key));
        Self {
            project: bank(BankLayout::for_project(settings.project), key),
            tenancy: settings.tenancy,
            global: settings.global.map(|directory| bank(BankLayout::for_global(directory), None)),
            reads_project: true,
        }
    }

    /// Returns the banks that exist, the project's first.
    fn existing_banks(&self) -> impl Iterator<Item = &Arc<JsonlBank>> {
        let project = self.reads_project.then_some(&self.project);
        project.into_iter().chain(&self.global).filter(|bank| bank.layout.directory().exists())
    }

    /// Returns each bank's best answers.
    async fn find_best(
        &self,
        query: &MemoryQuery,
        ask: fn(&MemoryQuery, BankTenancy) -> PreparedQuery,
        ranking: &RankingSettings,
        limit: usize,
        at: Timestamp,
    ) -> Result<Vec<BankAnswer>, MemoryError> {
        let (query, ranking, tenancy, own) = (query.clone(), *ranking, self.tenancy, Arc::clone(&self.project));
        let found = self.run_in_each_bank(move |bank| {
            let tenancy = if std::ptr::eq(bank, &*own) { tenancy } else { BankTenancy::Shared };
            bank.read_state()?.find_answers(&ask(&query, tenancy), &ranking, limit, at)
        });
        found.await
    }

    async fn run_in_each_bank<T: Send + 'static>(
        &self,
        work: impl Fn(&JsonlBank) -> Result<T, MemoryError> + Send + Clone + 'static,
    ) -> Result<Vec<T>, MemoryError> {
        let mut results = Vec::new();
        for bank in self.existing_banks() {
            results.push(run_blocking(bank, work.clone()).await?);
        }
        Ok(results)
    }
}

#[async_trait]
impl MemoryService for JsonlMemory {
    async fn acquire_turn(&self) -> Result<JudgingTurn, MemoryError> {
        run_blocking(&self.project, |bank| bank.acquire_turn().map(JudgingTurn::from_guard)).await
    }

    /// Commits all or nothing. If a batch concerns both directories, both commits are durable before either is applied;
    /// only a crash in between can leave the global one without the project's.
    async fn commit_batch(&self, batch: CommitBatch, _at: Timestamp) -> Result<CommitReceipt, MemoryError> {
        let global = self.global.clone();
        run_blocking(&self.project, move |project| {
            let order: Vec<MemoryId> = batch.memories.iter().map(|memory| memory.id.clone()).collect();
            let (for_global, for_project) = match &global {
                Some(global) => divide_batch(batch, project, global)?,
                None => (CommitBatch::default(), batch),
            };
            // The global lock always comes first, so that two processes cannot wait for each other.
            let mut prepared = Vec::new();
            for (bank, part) in [(global.as_deref(), for_global), (Some(project), for_project)] {
                if let Some(bank) = bank.filter(|_| !part.is_empty()) {
                    prepared.push(bank.prepare_commit(part)?);
                }
            }
            let mut durable: Vec<PreparedCommit<'_>> = Vec::new();
            for mut commit in prepared {
                if let Err(error) = commit.make_durable() {
                    durable.into_iter().for_each(PreparedCommit::withdraw_commit);
                    return Err(error);
                }
                durable.push(commit);
            }
            let mut receipt = CommitReceipt::default();
            for done in durable.into_iter().map(PreparedCommit::apply_commit) {
                receipt.lessons.extend(done.lessons);
                receipt.written += done.written;
                receipt.known += done.known;
            }
            receipt.lessons.sort_by_key(|(id, _)| order.iter().position(|known| known == id));
            Ok(receipt)
        })
        .await
    }

    async fn query_lessons(
        &self,
        query: &MemoryQuery,
        ranking: &RankingSettings,
        at: Timestamp,
    ) -> Result<MemoryAnswer, MemoryError> {
        let limit = query.max_results.unwrap_or(ranking.max_results);
        Ok(answer_collector::join_answers(
            self.find_best(query, PreparedQuery::for_query, ranking, limit, at).await?,
            query,
            ranking,
            limit,
        ))
    }

    async fn find_neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<LessonNeighbour>, MemoryError> {
        let found = self
            .find_best(near, PreparedQuery::for_neighbours, &RankingSettings::BY_RELEVANCE, limit, Timestamp::default())
            .await?;
        Ok(answer_collector::join_neighbours(found, limit))
    }

    async fn get_lesson(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError> {
        for bank in self.existing_banks() {
            let name = name.clone();
            let found = run_blocking(bank, move |bank| {
                let mut state = bank.read_state()?;
                let id = match name {
                    LessonName::Id(id) => Some(id),
                    LessonName::Alias(alias) => state.find_by_alias(&alias)?,
                };
                id.map_or(Ok(None), |id| state.find_lesson(&id))
            });
            if let Some(lesson) = found.await? {
                return Ok(Some(lesson));
            }
        }
        Ok(None)
    }

    async fn list_lessons(&self, which: LessonStateFilter) -> Result<Vec<Lesson>, MemoryError> {
        let lessons = self.run_in_each_bank(move |bank| {
            let state = bank.read_separate_state()?;
            let view = state.read_whole_files(&[StoreFile::Archive, StoreFile::Lessons])?;
            Ok(view.into_lessons(which, state.tally_ledger()?))
        });
        let lessons: Vec<Vec<Lesson>> = lessons.await?;
        let mut lessons: Vec<Lesson> = lessons.into_iter().flatten().collect();
        lessons.sort_by(|a, b| {
            a.memory.version_at().cmp(&b.memory.version_at()).then_with(|| a.memory.id.cmp(&b.memory.id))
        });
        Ok(lessons)
    }

    async fn newest_lessons(&self, which: LessonStateFilter, count: usize) -> Result<Vec<Lesson>, MemoryError> {
        let lessons = self.run_in_each_bank(move |bank| bank.read_state()?.newest_lessons(which, count)).await?;
        Ok(lessons.into_iter().flatten().collect())
    }

    async fn lesson_history(&self, id: &MemoryId) -> Result<Vec<LessonRevision>, MemoryError> {
        let wanted = id.clone();
        let histories = self.run_in_each_bank(move |bank| {
            let state = bank.read_separate_state()?;
            let limit = bank.options.max_line_bytes;
            let mut memories: Vec<AgentMemory> = Vec::new();
            for part in [StoreFile::Archive, StoreFile::Lessons] {
                let bytes = state.file_bytes(part)?;
                let finder = memchr::memmem::Finder::new(wanted.as_str());
                let near = json_lines::split_lines(&bytes, 0).filter(|line| finder.find(line.bytes).is_some());
                let read = near.filter_map(|line| json_lines::parse_line::<AgentMemory>(line.bytes, limit).ok());
                memories.extend(read.filter(|memory| memory.id == wanted));
            }
            Ok((1..).zip(memories).map(|(version, memory)| LessonRevision { version, memory }).collect())
        });
        let histories: Vec<Vec<LessonRevision>> = histories.await?;
        let history = histories.into_iter().find(|history| !history.is_empty());
        history.ok_or_else(|| MemoryError::NoSuchLesson { name: LessonName::Id(id.clone()) })
    }

    async fn list_revisions(&self) -> Result<Vec<LessonRevision>, MemoryError> {
        let revisions = self.run_in_each_bank(|bank| {
            let state = bank.read_separate_state()?;
            let limit = bank.options.max_line_bytes;
            let mut versions: HashMap<MemoryId, u64> = HashMap::new();
            let mut revisions: Vec<LessonRevision> = Vec::new();
            for part in [StoreFile::Archive, StoreFile::Lessons] {
                let bytes = state.file_bytes(part)?;
                for line in json_lines::split_lines(&bytes, 0) {
                    let Ok(memory) = json_lines::parse_line::<AgentMemory>(line.bytes, limit) else { continue };
                    let version = versions.entry(memory.id.clone()).or_default();
                    *version += 1;
                    revisions.push(LessonRevision { version: *version, memory });
                }
            }
            Ok(revisions)
        });
        Ok(revisions.await?.into_iter().flatten().collect())
    }

    async fn list_episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        if !self.reads_project {
            return Ok(Vec::new());
        }
        let filter = filter.clone();
        run_blocking(&self.project, move |bank| bank.read_state()?.find_episodes(&filter)).await
    }

    /// Hashes the lengths and times of the files, without reading them.
    async fn memory_stamp(&self) -> Result<MemoryStamp, MemoryError> {
        let stamps = self.run_in_each_bank(|bank| Ok(bank.layout.change_stamp())).await?;
        let hash = stamps.iter().fold(StableHash::default(), |hash, stamp| hash.with_text(stamp));
        Ok(MemoryStamp(hash.to_digits(16)))
    }

    async fn bank_statuses(&self) -> Result<Vec<BankStatus>, MemoryError> {
        self.run_in_each_bank(doctor::bank_status).await
    }

    async fn find_problems(&self) -> Result<Vec<BankFinding>, MemoryError> {
        Ok(self.run_in_each_bank(doctor::examine_bank).await?.into_iter().flatten().collect())
    }

    async fn repair_problems(&self, at: Timestamp) -> Result<Vec<BankFinding>, MemoryError> {
        Ok(self.run_in_each_bank(move |bank| doctor::repair_bank(bank, at)).await?.into_iter().flatten().collect())
    }

    async fn compact_banks(&self) -> Result<Vec<CompactionReport>, MemoryError> {
        self.run_in_each_bank(compact::compact_bank).await
    }

    async fn plan_erasure(&self, selection: &ErasureSelection) -> Result<ErasurePlan, MemoryError> {
        let records = self.run_in_each_bank(erase::list_stored_records).await?;
        Ok(ErasurePlan::from_records(&records.concat(), selection))
    }

    async fn erase_records(&self, plan: &ErasurePlan) -> Result<(), MemoryError> {
        let plan = Arc::new(plan.clone());
        self.run_in_each_bank(move |bank| erase::erase_from_bank(bank, &plan)).await.map(drop)
    }

    async fn record_erasure(&self, note: &ErasureNote) -> Result<(), MemoryError> {
        let note = note.clone();
        run_blocking(&self.project, move |bank| erase::record_note(bank, &note)).await
    }

    async fn list_erasures(&self) -> Result<Vec<ErasureNote>, MemoryError> {
        run_blocking(&self.project, |bank| erase::list_notes(&bank.layout)).await
    }

    async fn run_maintenance(&self) {
        let folded = self.run_in_each_bank(JsonlBank::update_index_if_due).await;
        if let Err(error) = folded {
            tracing::debug!(%error, "index not brought up to date");
        }
    }

    async fn list_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        let filter = filter.clone();
        let facts = self.run_in_each_bank(move |bank| bank.read_state()?.find_facts(&filter)).await?;
        Ok(facts.into_iter().flatten().collect())
    }
}

/// Divides a batch between the banks: a known lesson stays where it is, a new one goes by its scope, and everything
/// about a lesson goes with it.
fn divide_batch(
    batch: CommitBatch,
    project: &JsonlBank,
    global: &JsonlBank,
) -> Result<(CommitBatch, CommitBatch), MemoryError> {
    let share = CommitBatch { records: batch.records, ..CommitBatch::default() };
    let (mut for_global, mut for_project) = (share.clone(), share);
    for_project.episodes = batch.episodes;
    let mut is_global: HashMap<MemoryId, bool> = HashMap::new();
    let mut lives_in_global = |id: &MemoryId, scope: Option<&MemoryScope>| {
        if let Some(known) = is_global.get(id) {
            return Ok::<bool, MemoryError>(*known);
        }
        let holds = |bank: &JsonlBank| Ok::<bool, MemoryError>(bank.read_state()?.find_lesson(id)?.is_some());
        let found = holds(global)? || (scope == Some(&MemoryScope::Global) && !holds(project)?);
        is_global.insert(id.clone(), found);
        Ok(found)
    };
    for memory in batch.memories {
        let found = lives_in_global(&memory.id, Some(&memory.scope))?;
        if found { &mut for_global } else { &mut for_project }.memories.push(memory);
    }
    for fact in batch.facts {
        let found = lives_in_global(fact.memory_id(), None)?;
        if found { &mut for_global } else { &mut for_project }.facts.push(fact);
    }
    for (id, version) in batch.expected {
        let found = lives_in_global(&id, None)?;
        if found { &mut for_global } else { &mut for_project }.expected.push((id, version));
    }
    Ok((for_global, for_project))
}

/// Runs file work on a blocking thread, because an executor must not block.
async fn run_blocking<T: Send + 'static>(
    bank: &Arc<JsonlBank>,
    work: impl FnOnce(&JsonlBank) -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    let bank = Arc::clone(bank);
    let done = tokio::task::spawn_blocking(move || work(&bank)).await;
    done.map_err(|error| MemoryError::Interrupted(error.to_string()))?
}
