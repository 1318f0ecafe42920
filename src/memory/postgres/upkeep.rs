//! How a bank on a server is, and whether what is derived in it still agrees with what it is derived from.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deadpool_postgres::Object;

use super::PostgresMemory;
use super::rows::{self, ask, tell};
use super::server::Role;
use super::trouble::Trouble;
use super::words::{counts_of, kept};
use super::work::Work;
use super::write::{Change, rewrite};
use crate::domain::{AgentMemory, Counters, Fact, MemoryId};
use crate::memory::search::Worth;
use crate::memory::{BankStatus, Finding, IndexStatus, Remedy, Site, Which};
use crate::recall::terms_of;
use crate::text::Cutter;

/// For how many days a commit can be asked for by its name.
const COMMITS_KEPT_DAYS: i32 = 7;

/// Two sums of the same numbers in another order differ by no more.
const ROUNDING: f64 = 1e-9;

impl PostgresMemory {
    pub(super) async fn try_status(&self) -> Result<Vec<BankStatus>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let mut banks = Vec::new();
        for (key, _) in self.keys() {
            let Some(bank) = self.server.bank(&client, key).await? else { continue };
            let select = "SELECT (SELECT count(*) FROM archivist.lessons WHERE bank = $1 AND standing < 2), \
                 (SELECT count(*) FROM archivist.lessons WHERE bank = $1 AND standing = 2), \
                 (SELECT count(*) FROM archivist.episodes WHERE bank = $1), \
                 (SELECT count(*) FROM archivist.facts WHERE bank = $1)";
            let rows = ask(&client, select, &[&bank]).await?;
            let number = |column: usize| -> Result<usize, Trouble> {
                let found: i64 = rows.first().map_or(Ok(0), |row| row.try_get(column))?;
                Ok(usize::try_from(found).unwrap_or_default())
            };
            banks.push(BankStatus {
                site: Site::Server { server: self.server.place(), bank: key.to_owned() },
                files: Vec::new(),
                lessons: number(0)?,
                retired: number(1)?,
                episodes: number(2)?,
                facts: number(3)?,
                damaged_lines: 0,
                index: IndexStatus::Current,
            });
        }
        Ok(banks)
    }

    pub(super) async fn try_examine(&self) -> Result<Vec<Finding>, Trouble> {
        let work = Work::begin(self.server.writing().await?).await?;
        let mut findings = Vec::new();
        for (key, _) in self.keys() {
            if let Some(bank) = self.server.bank(work.client()?, key).await? {
                findings.extend(examine(work.client()?, bank).await?);
            }
        }
        work.undo().await?;
        Ok(findings)
    }

    /// Derives everything anew, in one transaction.
    pub(super) async fn try_repair(&self) -> Result<Vec<Finding>, Trouble> {
        let work = Work::begin(self.server.writing().await?).await?;
        let client = work.client()?;
        let mut mended = Vec::new();
        for (key, _) in self.keys() {
            let Some(bank) = self.server.bank(client, key).await? else { continue };
            let found: Vec<Finding> = examine(client, bank).await?;
            if !found.is_empty() {
                let truth = Truth::read(client, bank).await?;
                rewrite(client, bank, truth.into_changes()).await?;
                mended.extend(found);
            }
        }
        work.commit().await?;
        Ok(mended)
    }

    /// Forgets the names of old commits.
    pub(super) async fn try_prune(&self) -> Result<u64, Trouble> {
        let client = self.server.writing().await?;
        let Some(bank) = self.server.bank(&client, &self.bank).await? else { return Ok(0) };
        let delete = "DELETE FROM archivist.commits WHERE bank = $1 AND at < now() - make_interval(days => $2)";
        tell(&client, delete, &[&bank, &COMMITS_KEPT_DAYS]).await
    }
}

/// What a bank's lessons are derived from.
struct Truth {
    lessons: BTreeMap<MemoryId, (AgentMemory, u64)>,
    facts: HashMap<String, Vec<Fact>>,
}

impl Truth {
    async fn read(client: &Object, bank: i64) -> Result<Self, Trouble> {
        let select = "SELECT DISTINCT ON (lesson) version, record FROM archivist.revisions WHERE bank = $1 \
             ORDER BY lesson, version DESC";
        let mut lessons = BTreeMap::new();
        for row in ask(client, select, &[&bank]).await? {
            let memory: AgentMemory = rows::record(&row, "record")?;
            lessons.insert(memory.id.clone(), (memory, rows::version(&row)?));
        }
        let mut facts: HashMap<String, Vec<Fact>> = HashMap::new();
        let select = "SELECT record FROM archivist.facts WHERE bank = $1 ORDER BY written";
        for row in ask(client, select, &[&bank]).await? {
            let fact: Fact = rows::record(&row, "record")?;
            facts.entry(kept(fact.memory().as_str())).or_default().push(fact);
        }
        Ok(Self { lessons, facts })
    }

    fn into_changes(self) -> Vec<Change> {
        let Self { lessons, facts } = self;
        let counters = |id: &MemoryId| facts.get(&kept(id.as_str())).map(Counters::of).unwrap_or_default();
        let change = |(memory, version): (AgentMemory, u64)| {
            let counters = counters(&memory.id);
            Change { memory, version, counters, before: None, is_revised: false }
        };
        lessons.into_values().map(change).collect()
    }
}

/// Holds what is derived against what it is derived from, while nobody writes.
async fn examine(client: &Object, bank: i64) -> Result<Vec<Finding>, Trouble> {
    ask(client, "SELECT bank FROM archivist.banks WHERE bank = $1 FOR UPDATE", &[&bank]).await?;
    let truth = Truth::read(client, bank).await?;
    let mut findings = Vec::new();
    let mut find = |table: &str, problem: String| {
        findings.push(Finding { file: table.to_owned(), line: None, problem, remedy: Remedy::Repairable });
    };
    let mut left: BTreeSet<MemoryId> = truth.lessons.keys().cloned().collect();
    let mut vocabulary: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut cutter = Cutter::default();
    let expected: HashMap<MemoryId, Change> =
        truth.into_changes().into_iter().map(|change| (change.memory.id.clone(), change)).collect();
    for change in expected.values() {
        let given = i64::from(Which::Given.includes(change.memory.standing()));
        for word in counts_of(&terms_of(&mut cutter, &change.memory)).into_keys() {
            let (of_given, of_all) = vocabulary.entry(word).or_default();
            *of_given += given;
            *of_all += 1;
        }
    }
    let select = "SELECT id, version, standing, importance, last_sign, counters, words FROM archivist.lessons \
         WHERE bank = $1 ORDER BY id";
    for row in ask(client, select, &[&bank]).await? {
        let id: &str = row.try_get("id")?;
        let Some(change) = MemoryId::parse(id).ok().and_then(|id| expected.get(&id)) else {
            find("lessons", format!("`{id}` has no version"));
            continue;
        };
        left.remove(&change.memory.id);
        let counters: Counters = rows::record(&row, "counters")?;
        let worth = Worth::of(&change.memory, &change.counters);
        let words: BTreeMap<String, u32> =
            rows::words(&row)?.counts(bank).map(|(word, count)| (word.to_owned(), count)).collect();
        let importance: f64 = row.try_get("importance")?;
        let agrees = rows::version(&row)? == change.version
            && rows::standing_of(row.try_get("standing")?) == change.memory.standing()
            && (importance - worth.importance).abs() < ROUNDING
            && row.try_get::<_, i64>("last_sign")? == worth.last_sign
            && agree(&counters, &change.counters)
            && words == counts_of(&terms_of(&mut cutter, &change.memory));
        if !agrees {
            find("lessons", format!("`{id}` is not as its versions and facts say"));
        }
    }
    for id in left {
        find("lessons", format!("`{id}` has versions but cannot be found"));
    }
    let select = "SELECT word, given, total FROM archivist.vocabulary WHERE bank = $1 AND (given <> 0 OR total <> 0)";
    let mut kept_words: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in ask(client, select, &[&bank]).await? {
        kept_words.insert(row.try_get("word")?, (row.try_get("given")?, row.try_get("total")?));
    }
    if kept_words != vocabulary {
        find("vocabulary", "it is not what the words of the lessons add up to".to_owned());
    }
    let select = "SELECT count(*) FROM archivist.vectors v WHERE v.bank = $1 AND NOT EXISTS (SELECT FROM \
         archivist.lessons l WHERE l.bank = v.bank AND l.id = v.lesson AND l.version = v.version AND l.standing = 0)";
    let strange: i64 = ask(client, select, &[&bank]).await?.first().map_or(Ok(0), |row| row.try_get(0))?;
    if strange > 0 {
        find("vectors", format!("{strange} of them are not of what may be given"));
    }
    Ok(findings)
}

/// Whether two counts of the same facts agree. Weights are added up in the order in which they came.
fn agree(one: &Counters, other: &Counters) -> bool {
    let rounded = Counters { validated: other.validated, ignored: other.ignored, ..one.clone() };
    rounded == *other
        && (one.validated - other.validated).abs() < ROUNDING
        && (one.ignored - other.ignored).abs() < ROUNDING
}
