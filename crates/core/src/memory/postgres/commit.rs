//! One commit: it locks the rows of its banks, plans what it adds as every store does, and writes all of it in one
//! transaction.
//!
//! Each commit has a name, which is written along with it. A client that loses the connection before the answer arrives
//! asks again under the same name: the lock makes it wait until the first try has ended, and then the name is stored or
//! it is not.

use std::collections::{BTreeSet, HashMap, HashSet};

use deadpool_postgres::Object;

use super::PostgresMemory;
use super::database_error::PostgresFailure;
use super::lexemes::{to_stored_term, to_stored_text};
use super::row_parser::{self, execute_cached, query_cached};
use super::row_writer::{ChangedLesson, LockedBank, write_changes};
use super::transaction::OpenTransaction;
use crate::domain::{
    AgentMemory, Episode, EpisodeId, Fact, FactKey, LessonCounters, MemoryId, MemoryScope, StableHash,
};
use crate::memory::commit_plan::{CommitPlan, CommitRules, ExistingRecords, plan_commit};
use crate::memory::{CommitBatch, CommitReceipt, Lesson, MemoryError};

/// The part of a batch that belongs to one bank.
struct BatchShare {
    bank: i64,
    alias_prefix: char,
    batch: CommitBatch,
}

/// Writes a commit within an open transaction. It takes effect only when the transaction is committed.
pub(super) async fn write_commit(
    memory: &PostgresMemory,
    work: &OpenTransaction,
    name: &str,
    is_repeated: bool,
    batch: CommitBatch,
) -> Result<CommitReceipt, PostgresFailure> {
    let client = work.client()?;
    let order: Vec<MemoryId> = batch.memories.iter().map(|memory| memory.id.clone()).collect();
    let shares = divide_batch(memory, client, batch).await?;
    // Banks are locked in the order of their numbers, so that two commits cannot wait for each other.
    let banks: BTreeSet<i64> = shares.iter().map(|share| share.bank).collect();
    let mut availability = lock_banks(client, &banks).await?;
    let first = banks.first().copied().unwrap_or_default();
    if is_repeated && let Some(receipt) = find_receipt(client, first, name).await? {
        return Ok(receipt);
    }
    let mut receipt = CommitReceipt::default();
    for share in shares {
        let Some(bank) = availability.get_mut(&share.bank) else { continue };
        let done = write_share(memory, client, bank, share).await?;
        receipt.lessons.extend(done.lessons);
        receipt.written += done.written;
        receipt.known += done.known;
    }
    receipt.lessons.sort_by_key(|(id, _)| order.iter().position(|known| known == id));
    let json = serde_json::to_string(&receipt).map_err(|source| MemoryError::Encode { id: name.to_owned(), source })?;
    let insert = "INSERT INTO archivist.commits (bank, id, receipt) VALUES ($1, $2, $3)";
    execute_cached(client, insert, &[&first, &name, &json]).await?;
    Ok(receipt)
}

/// Returns the receipt of the commit with this name, if it was written.
async fn find_receipt(client: &Object, bank: i64, name: &str) -> Result<Option<CommitReceipt>, PostgresFailure> {
    let select = "SELECT receipt AS record FROM archivist.commits WHERE bank = $1 AND id = $2";
    query_cached(client, select, &[&bank, &name])
        .await?
        .first()
        .map(|row| row_parser::parse_record(row, "record"))
        .transpose()
}

/// Returns the receipt of an earlier commit after waiting for any try of it that may still be running.
pub(super) async fn find_commit_outcome(
    memory: &PostgresMemory,
    name: &str,
) -> Result<Option<CommitReceipt>, PostgresFailure> {
    let work = OpenTransaction::begin(memory.server.write_connection().await?).await?;
    let client = work.client()?;
    let mut found = None;
    let mut banks = BTreeSet::new();
    for key in std::iter::once(&memory.bank).chain(&memory.global) {
        banks.extend(memory.server.find_bank(client, key).await?);
    }
    lock_banks(client, &banks).await?;
    for bank in banks {
        found = found.or(find_receipt(client, bank, name).await?);
    }
    work.roll_back().await?;
    Ok(found)
}

/// Locks the rows of banks and reads them.
async fn lock_banks(client: &Object, banks: &BTreeSet<i64>) -> Result<HashMap<i64, LockedBank>, PostgresFailure> {
    let banks: Vec<i64> = banks.iter().copied().collect();
    let select =
        "SELECT bank, written, highest_alias FROM archivist.banks WHERE bank = ANY($1) ORDER BY bank FOR UPDATE";
    let mut availability = HashMap::new();
    for row in query_cached(client, select, &[&banks]).await? {
        let bank: i64 = row.try_get("bank")?;
        let highest: i64 = row.try_get("highest_alias")?;
        let highest_alias = u64::try_from(highest).unwrap_or_default();
        availability.insert(bank, LockedBank { bank, written: row.try_get("written")?, highest_alias });
    }
    Ok(availability)
}

/// Divides a batch between the banks: a known lesson stays where it is, a new one goes by its scope, and everything
/// about a lesson goes with it.
async fn divide_batch(
    memory: &PostgresMemory,
    client: &Object,
    batch: CommitBatch,
) -> Result<Vec<BatchShare>, PostgresFailure> {
    let number = async |key: &str| -> Result<i64, PostgresFailure> {
        let gone = || MemoryError::Interrupted(format!("the bank {key} is gone"));
        Ok(memory.server.find_bank(client, key).await?.ok_or_else(gone)?)
    };
    let project = number(&memory.bank).await?;
    let own = |batch| BatchShare { bank: project, alias_prefix: 'm', batch };
    let Some(key) = &memory.global else { return Ok(vec![own(batch)]) };
    let mut ids: BTreeSet<&str> = batch.memories.iter().map(|memory| memory.id.as_str()).collect();
    ids.extend(batch.facts.iter().map(|fact| fact.memory_id().as_str()));
    ids.extend(batch.expected.iter().map(|(id, _)| id.as_str()));
    if ids.is_empty() {
        return Ok(vec![own(batch)]);
    }
    let global = number(key).await?;
    let ids: Vec<&str> = ids.into_iter().collect();
    let select = "SELECT bank, id FROM archivist.lessons WHERE bank = ANY($1) AND id = ANY($2)";
    let (mut held_here, mut held_there) = (HashSet::new(), HashSet::new());
    for row in query_cached(client, select, &[&vec![project, global], &ids]).await? {
        let bank: i64 = row.try_get("bank")?;
        if bank == global { &mut held_there } else { &mut held_here }.insert(row.try_get::<_, String>("id")?);
    }
    let mut goes_there = held_there;
    for memory in batch.memories.iter().filter(|memory| memory.scope == MemoryScope::Global) {
        if !held_here.contains(memory.id.as_str()) {
            goes_there.insert(memory.id.as_str().to_owned());
        }
    }
    let is_there = |id: &MemoryId| goes_there.contains(id.as_str());
    let share = CommitBatch { records: batch.records, ..CommitBatch::default() };
    let (mut here, mut there) = (CommitBatch { episodes: batch.episodes, ..share.clone() }, share);
    (there.memories, here.memories) = batch.memories.into_iter().partition(|memory| is_there(&memory.id));
    (there.facts, here.facts) = batch.facts.into_iter().partition(|fact| is_there(fact.memory_id()));
    (there.expected, here.expected) = batch.expected.into_iter().partition(|(id, _)| is_there(id));
    let mut shares = vec![own(here), BatchShare { bank: global, alias_prefix: 'g', batch: there }];
    shares.retain(|share| share.bank == project || !share.batch.is_empty());
    Ok(shares)
}

/// Plans what a share adds to its bank, and writes it.
async fn write_share(
    memory: &PostgresMemory,
    client: &Object,
    bank: &mut LockedBank,
    share: BatchShare,
) -> Result<CommitReceipt, PostgresFailure> {
    let mut stored = StoredRecords::read_for_batch(client, share.bank, &share.batch).await?;
    let rules = CommitRules {
        alias_prefix: share.alias_prefix,
        highest_alias: bank.highest_alias,
        max_bytes: memory.max_record_bytes,
    };
    let CommitPlan { episodes, memories, facts, receipt, highest_alias } =
        plan_commit(&rules, &mut stored, share.batch)?;
    bank.highest_alias = highest_alias;
    let mut changes: HashMap<MemoryId, ChangedLesson> = HashMap::new();
    for written in &memories {
        let id = &written.record.id;
        let change = match changes.remove(id) {
            Some(change) => change,
            None => stored.begin_change(client, share.bank, id).await?,
        };
        changes.insert(id.clone(), change.with_new_version(&written.record));
    }
    for fact in facts.iter().map(|written| &written.record) {
        let id = fact.memory_id();
        if !changes.contains_key(id) && stored.lessons.contains_key(id) {
            changes.insert(id.clone(), stored.begin_change(client, share.bank, id).await?);
        }
        if let Some(change) = changes.get_mut(id) {
            change.counters.add_fact(fact);
        }
    }
    write_changes(client, bank, &episodes, &memories, &facts, changes.into_values().collect()).await?;
    Ok(receipt)
}

/// The stored records of a bank that a batch refers to.
struct StoredRecords {
    lessons: HashMap<MemoryId, StoredLesson>,
    episodes: HashMap<EpisodeId, Episode>,
    facts: HashSet<[u8; 16]>,
}

/// A lesson that is already stored.
struct StoredLesson {
    memory: AgentMemory,
    version: u64,
    counters: LessonCounters,
    /// The words it is found by.
    words: Vec<String>,
    length: i64,
}

impl StoredRecords {
    async fn read_for_batch(client: &Object, bank: i64, batch: &CommitBatch) -> Result<Self, PostgresFailure> {
        let mut ids: BTreeSet<&str> = batch.memories.iter().map(|memory| memory.id.as_str()).collect();
        ids.extend(batch.facts.iter().map(|fact| fact.memory_id().as_str()));
        ids.extend(batch.expected.iter().map(|(id, _)| id.as_str()));
        let ids: Vec<String> = ids.into_iter().map(to_stored_text).collect();
        let select = "SELECT l.version, l.counters, l.words, l.length, r.record FROM archivist.lessons l \
             JOIN archivist.revisions r ON r.bank = l.bank AND r.lesson = l.id AND r.version = l.version \
             WHERE l.bank = $1 AND l.id = ANY($2)";
        let mut lessons = HashMap::new();
        if !ids.is_empty() {
            for row in query_cached(client, select, &[&bank, &ids]).await? {
                let memory: AgentMemory = row_parser::parse_record(&row, "record")?;
                let lesson = StoredLesson {
                    version: row_parser::parse_version(&row)?,
                    counters: row_parser::parse_record(&row, "counters")?,
                    words: row_parser::word_vector(&row)?.term_counts(bank).map(|(word, _)| word.to_owned()).collect(),
                    length: row.try_get("length")?,
                    memory,
                };
                lessons.insert(lesson.memory.id.clone(), lesson);
            }
        }
        let mut episodes = HashMap::new();
        if !batch.episodes.is_empty() {
            let ids: Vec<&str> = batch.episodes.iter().map(|episode| episode.id.as_str()).collect();
            let select = "SELECT record FROM archivist.episodes WHERE bank = $1 AND id = ANY($2)";
            for row in query_cached(client, select, &[&bank, &ids]).await? {
                let episode: Episode = row_parser::parse_record(&row, "record")?;
                episodes.insert(episode.id.clone(), episode);
            }
        }
        let mut facts = HashSet::new();
        if !batch.facts.is_empty() {
            let keys: Vec<[u8; 16]> = batch.facts.iter().map(|fact| fact_key(&fact.key())).collect();
            let keys: Vec<&[u8]> = keys.iter().map(<[u8; 16]>::as_slice).collect();
            let select = "SELECT key FROM archivist.facts WHERE bank = $1 AND key = ANY($2)";
            for row in query_cached(client, select, &[&bank, &keys]).await? {
                facts.extend(row.try_get::<_, &[u8]>("key")?.first_chunk().copied());
            }
        }
        Ok(Self { lessons, episodes, facts })
    }

    /// Returns a lesson as it is before the change. Facts about a new lesson may already be stored.
    async fn begin_change(&self, client: &Object, bank: i64, id: &MemoryId) -> Result<ChangedLesson, PostgresFailure> {
        if let Some(lesson) = self.lessons.get(id) {
            return Ok(ChangedLesson {
                memory: lesson.memory.clone(),
                version: lesson.version,
                counters: lesson.counters.clone(),
                before: Some((lesson.memory.availability(), lesson.words.clone(), lesson.length)),
                is_revised: false,
            });
        }
        let select = "SELECT record FROM archivist.facts WHERE bank = $1 AND lesson = $2 ORDER BY written";
        let mut facts: Vec<Fact> = Vec::new();
        for row in query_cached(client, select, &[&bank, &to_stored_term(id.as_str())]).await? {
            facts.push(row_parser::parse_record(&row, "record")?);
        }
        let memory = AgentMemory::new(id.clone(), Default::default(), "");
        Ok(ChangedLesson {
            memory,
            version: 0,
            counters: LessonCounters::from_facts(&facts),
            before: None,
            is_revised: false,
        })
    }
}

impl ExistingRecords for StoredRecords {
    fn newest_lesson(&mut self, id: &MemoryId) -> Result<Option<(AgentMemory, u64)>, MemoryError> {
        // The lesson is compared as readers see it, with its usage fields from the ledger.
        let read = |lesson: &StoredLesson| {
            let read = Lesson::new(lesson.memory.clone(), lesson.version, lesson.counters.clone());
            (read.memory, read.version)
        };
        Ok(self.lessons.get(id).map(read))
    }

    fn find_episode(&mut self, id: &EpisodeId) -> Result<Option<Episode>, MemoryError> {
        Ok(self.episodes.get(id).cloned())
    }

    fn has_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError> {
        Ok(self.facts.contains(&fact_key(&fact.key())))
    }
}

/// Returns a fact's key, hashed to a length that fits into any index.
pub(super) fn fact_key(key: &FactKey) -> [u8; 16] {
    StableHash::from_text(key.as_str()).to_bytes()
}
