//! One commit: the rows of its banks are locked, what it adds is worked out as every store does, and all of it is written
//! in one transaction.
//!
//! Each commit has a name, which is written along with it. Whoever loses the connection before the answer comes asks
//! again under the same name: the lock makes the question wait until the first try has ended, and then the name is there
//! or it is not.

use std::collections::{BTreeSet, HashMap, HashSet};

use deadpool_postgres::Object;

use super::PostgresMemory;
use super::rows::{self, ask, tell};
use super::trouble::Trouble;
use super::words::{kept, plain};
use super::work::Work;
use super::write::{Change, Standing, write_changes};
use crate::domain::{AgentMemory, Counters, Episode, EpisodeId, Fact, FactKey, MemoryId, MemoryScope};
use crate::memory::plan::{Known, Plan, Rules, plan};
use crate::memory::{Batch, Lesson, MemoryError, Receipt};

/// The part of a batch that is one bank's.
struct Share {
    bank: i64,
    alias_prefix: char,
    batch: Batch,
}

/// Carries out a commit in a transaction that has begun. Nothing stands before that is committed.
pub(super) async fn carry_out(
    memory: &PostgresMemory,
    work: &Work,
    name: &str,
    is_repeated: bool,
    batch: Batch,
) -> Result<Receipt, Trouble> {
    let client = work.client()?;
    let order: Vec<MemoryId> = batch.memories.iter().map(|memory| memory.id.clone()).collect();
    let shares = shares(memory, client, batch).await?;
    // In the order of their numbers, so that two commits cannot wait for each other.
    let banks: BTreeSet<i64> = shares.iter().map(|share| share.bank).collect();
    let mut standing = lock(client, &banks).await?;
    let first = banks.first().copied().unwrap_or_default();
    if is_repeated && let Some(receipt) = receipt_of(client, first, name).await? {
        return Ok(receipt);
    }
    let mut receipt = Receipt::default();
    for share in shares {
        let Some(bank) = standing.get_mut(&share.bank) else { continue };
        let done = write(memory, client, bank, share).await?;
        receipt.lessons.extend(done.lessons);
        receipt.written += done.written;
        receipt.known += done.known;
    }
    receipt.lessons.sort_by_key(|(id, _)| order.iter().position(|known| known == id));
    let json = serde_json::to_string(&receipt).map_err(|source| MemoryError::Encode { id: name.to_owned(), source })?;
    let insert = "INSERT INTO archivist.commits (bank, id, receipt) VALUES ($1, $2, $3)";
    tell(client, insert, &[&first, &name, &json]).await?;
    Ok(receipt)
}

/// What became of a commit of this name.
async fn receipt_of(client: &Object, bank: i64, name: &str) -> Result<Option<Receipt>, Trouble> {
    let select = "SELECT receipt AS record FROM archivist.commits WHERE bank = $1 AND id = $2";
    ask(client, select, &[&bank, &name]).await?.first().map(|row| rows::record(row, "record")).transpose()
}

/// The same from outside: waits until whoever may still be at it has ended.
pub(super) async fn outcome(memory: &PostgresMemory, name: &str) -> Result<Option<Receipt>, Trouble> {
    let work = Work::begin(memory.server.writing().await?).await?;
    let client = work.client()?;
    let mut found = None;
    let mut banks = BTreeSet::new();
    for key in std::iter::once(&memory.bank).chain(&memory.global) {
        banks.extend(memory.server.bank(client, key).await?);
    }
    lock(client, &banks).await?;
    for bank in banks {
        found = found.or(receipt_of(client, bank, name).await?);
    }
    work.undo().await?;
    Ok(found)
}

/// Locks the rows of banks, and reads them.
async fn lock(client: &Object, banks: &BTreeSet<i64>) -> Result<HashMap<i64, Standing>, Trouble> {
    let banks: Vec<i64> = banks.iter().copied().collect();
    let select =
        "SELECT bank, written, highest_alias FROM archivist.banks WHERE bank = ANY($1) ORDER BY bank FOR UPDATE";
    let mut standing = HashMap::new();
    for row in ask(client, select, &[&banks]).await? {
        let bank: i64 = row.try_get("bank")?;
        let highest: i64 = row.try_get("highest_alias")?;
        let highest_alias = u64::try_from(highest).unwrap_or_default();
        standing.insert(bank, Standing { bank, written: row.try_get("written")?, highest_alias });
    }
    Ok(standing)
}

/// Which part of a batch goes where: a lesson that is known stays where it is, a new one goes by its scope, and
/// everything about a lesson goes with it.
async fn shares(memory: &PostgresMemory, client: &Object, batch: Batch) -> Result<Vec<Share>, Trouble> {
    let number = async |key: &str| -> Result<i64, Trouble> {
        let gone = || MemoryError::Interrupted(format!("the bank {key} is gone"));
        Ok(memory.server.bank(client, key).await?.ok_or_else(gone)?)
    };
    let project = number(&memory.bank).await?;
    let own = |batch| Share { bank: project, alias_prefix: 'm', batch };
    let Some(key) = &memory.global else { return Ok(vec![own(batch)]) };
    let mut ids: BTreeSet<&str> = batch.memories.iter().map(|memory| memory.id.as_str()).collect();
    ids.extend(batch.facts.iter().map(|fact| fact.memory().as_str()));
    ids.extend(batch.expected.iter().map(|(id, _)| id.as_str()));
    if ids.is_empty() {
        return Ok(vec![own(batch)]);
    }
    let global = number(key).await?;
    let ids: Vec<&str> = ids.into_iter().collect();
    let select = "SELECT bank, id FROM archivist.lessons WHERE bank = ANY($1) AND id = ANY($2)";
    let (mut held_here, mut held_there) = (HashSet::new(), HashSet::new());
    for row in ask(client, select, &[&vec![project, global], &ids]).await? {
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
    let share = Batch { records: batch.records, ..Batch::default() };
    let (mut here, mut there) = (Batch { episodes: batch.episodes, ..share.clone() }, share);
    (there.memories, here.memories) = batch.memories.into_iter().partition(|memory| is_there(&memory.id));
    (there.facts, here.facts) = batch.facts.into_iter().partition(|fact| is_there(fact.memory()));
    (there.expected, here.expected) = batch.expected.into_iter().partition(|(id, _)| is_there(id));
    let mut shares = vec![own(here), Share { bank: global, alias_prefix: 'g', batch: there }];
    shares.retain(|share| share.bank == project || !share.batch.is_empty());
    Ok(shares)
}

/// Works out what a share adds to its bank, and writes it.
async fn write(
    memory: &PostgresMemory,
    client: &Object,
    bank: &mut Standing,
    share: Share,
) -> Result<Receipt, Trouble> {
    let mut stored = Stored::read(client, share.bank, &share.batch).await?;
    let rules = Rules {
        alias_prefix: share.alias_prefix,
        highest_alias: bank.highest_alias,
        max_bytes: memory.max_record_bytes,
    };
    let Plan { episodes, memories, facts, receipt, highest_alias } = plan(&rules, &mut stored, share.batch)?;
    bank.highest_alias = highest_alias;
    let mut changes: HashMap<MemoryId, Change> = HashMap::new();
    for written in &memories {
        let id = &written.record.id;
        let change = match changes.remove(id) {
            Some(change) => change,
            None => stored.change(client, share.bank, id).await?,
        };
        changes.insert(id.clone(), change.revised(&written.record));
    }
    for fact in facts.iter().map(|written| &written.record) {
        let id = fact.memory();
        if !changes.contains_key(id) && stored.lessons.contains_key(id) {
            changes.insert(id.clone(), stored.change(client, share.bank, id).await?);
        }
        if let Some(change) = changes.get_mut(id) {
            change.counters.absorb(fact);
        }
    }
    write_changes(client, bank, &episodes, &memories, &facts, changes.into_values().collect()).await?;
    Ok(receipt)
}

/// What a bank has of what a batch speaks of.
struct Stored {
    lessons: HashMap<MemoryId, Stand>,
    episodes: HashMap<EpisodeId, Episode>,
    facts: HashSet<[u8; 16]>,
}

/// A lesson that is there.
struct Stand {
    memory: AgentMemory,
    version: u64,
    counters: Counters,
    /// The words it is found by, and how much each counts.
    words: Vec<String>,
    length: i64,
}

impl Stored {
    async fn read(client: &Object, bank: i64, batch: &Batch) -> Result<Self, Trouble> {
        let mut ids: BTreeSet<&str> = batch.memories.iter().map(|memory| memory.id.as_str()).collect();
        ids.extend(batch.facts.iter().map(|fact| fact.memory().as_str()));
        ids.extend(batch.expected.iter().map(|(id, _)| id.as_str()));
        let ids: Vec<String> = ids.into_iter().map(plain).collect();
        let select = "SELECT l.version, l.counters, l.words, l.length, r.record FROM archivist.lessons l \
             JOIN archivist.revisions r ON r.bank = l.bank AND r.lesson = l.id AND r.version = l.version \
             WHERE l.bank = $1 AND l.id = ANY($2)";
        let mut lessons = HashMap::new();
        if !ids.is_empty() {
            for row in ask(client, select, &[&bank, &ids]).await? {
                let memory: AgentMemory = rows::record(&row, "record")?;
                let lesson = Stand {
                    version: rows::version(&row)?,
                    counters: rows::record(&row, "counters")?,
                    words: rows::words(&row)?.counts(bank).map(|(word, _)| word.to_owned()).collect(),
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
            for row in ask(client, select, &[&bank, &ids]).await? {
                let episode: Episode = rows::record(&row, "record")?;
                episodes.insert(episode.id.clone(), episode);
            }
        }
        let mut facts = HashSet::new();
        if !batch.facts.is_empty() {
            let keys: Vec<[u8; 16]> = batch.facts.iter().map(|fact| fact_key(&fact.key())).collect();
            let keys: Vec<&[u8]> = keys.iter().map(<[u8; 16]>::as_slice).collect();
            let select = "SELECT key FROM archivist.facts WHERE bank = $1 AND key = ANY($2)";
            for row in ask(client, select, &[&bank, &keys]).await? {
                facts.extend(row.try_get::<_, &[u8]>("key")?.first_chunk().copied());
            }
        }
        Ok(Self { lessons, episodes, facts })
    }

    /// A lesson before it changes. Of one that is new, facts may have been told already.
    async fn change(&self, client: &Object, bank: i64, id: &MemoryId) -> Result<Change, Trouble> {
        if let Some(lesson) = self.lessons.get(id) {
            return Ok(Change {
                memory: lesson.memory.clone(),
                version: lesson.version,
                counters: lesson.counters.clone(),
                before: Some((lesson.memory.standing(), lesson.words.clone(), lesson.length)),
                is_revised: false,
            });
        }
        let select = "SELECT record FROM archivist.facts WHERE bank = $1 AND lesson = $2 ORDER BY written";
        let mut facts: Vec<Fact> = Vec::new();
        for row in ask(client, select, &[&bank, &kept(id.as_str())]).await? {
            facts.push(rows::record(&row, "record")?);
        }
        let memory = AgentMemory::new(id.clone(), Default::default(), "");
        Ok(Change { memory, version: 0, counters: Counters::of(&facts), before: None, is_revised: false })
    }
}

impl Known for Stored {
    fn lesson(&mut self, id: &MemoryId) -> Result<Option<(AgentMemory, u64)>, MemoryError> {
        // As everybody reads it: with what the ledger says of its use.
        let read = |lesson: &Stand| {
            let read = Lesson::new(lesson.memory.clone(), lesson.version, lesson.counters.clone());
            (read.memory, read.version)
        };
        Ok(self.lessons.get(id).map(read))
    }

    fn episode(&mut self, id: &EpisodeId) -> Result<Option<&Episode>, MemoryError> {
        Ok(self.episodes.get(id))
    }

    fn has_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError> {
        Ok(self.facts.contains(&fact_key(&fact.key())))
    }
}

/// The key of a fact at a length that fits into any index.
pub(super) fn fact_key(key: &FactKey) -> [u8; 16] {
    blake3::hash(key.as_str().as_bytes()).as_bytes().first_chunk().copied().unwrap_or_default()
}
