//! The status of a bank on a server, and checks that its derived data agree with the records.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deadpool_postgres::Object;

use super::PostgresMemory;
use super::database_error::PostgresFailure;
use super::lexemes::{count_stored_terms, to_stored_term};
use super::row_parser::{self, execute_cached, query_cached};
use super::row_writer::{ChangedLesson, rewrite_derived};
use super::server::ServerRole;
use super::transaction::OpenTransaction;
use crate::domain::{AgentMemory, Fact, LessonCounters, MemoryId};
use crate::memory::lesson_matching::LessonWorth;
use crate::memory::{BankFinding, BankSite, BankStatus, FindingRemedy, IndexStatus, LessonStateFilter};
use crate::recall::collect_lesson_terms;
use crate::text::WordSplitter;

/// The number of days for which a commit can be found by its name.
const COMMITS_KEPT_DAYS: i32 = 7;

/// The tolerance for sums of the same numbers in another order.
const ROUNDING: f64 = 1e-9;

impl PostgresMemory {
    pub(super) async fn try_bank_statuses(&self) -> Result<Vec<BankStatus>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let mut banks = Vec::new();
        for (key, _) in self.bank_keys() {
            let Some(bank) = self.server.find_bank(&client, key).await? else { continue };
            let select = "SELECT (SELECT count(*) FROM archivist.lessons WHERE bank = $1 AND standing < 2), \
                 (SELECT count(*) FROM archivist.lessons WHERE bank = $1 AND standing = 2), \
                 (SELECT count(*) FROM archivist.episodes WHERE bank = $1), \
                 (SELECT count(*) FROM archivist.facts WHERE bank = $1)";
            let rows = query_cached(&client, select, &[&bank]).await?;
            let number = |column: usize| -> Result<usize, PostgresFailure> {
                let found: i64 = rows.first().map_or(Ok(0), |row| row.try_get(column))?;
                Ok(usize::try_from(found).unwrap_or_default())
            };
            banks.push(BankStatus {
                site: BankSite::Server { server: self.server.display_address(), bank: key.to_owned() },
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

    pub(super) async fn try_find_problems(&self) -> Result<Vec<BankFinding>, PostgresFailure> {
        let work = OpenTransaction::begin(self.server.write_connection().await?).await?;
        let mut findings = Vec::new();
        for (key, _) in self.bank_keys() {
            if let Some(bank) = self.server.find_bank(work.client()?, key).await? {
                findings.extend(examine_bank(work.client()?, bank).await?);
            }
        }
        work.roll_back().await?;
        Ok(findings)
    }

    /// Derives everything again from the records, in one transaction.
    pub(super) async fn try_repair_problems(&self) -> Result<Vec<BankFinding>, PostgresFailure> {
        let work = OpenTransaction::begin(self.server.write_connection().await?).await?;
        let client = work.client()?;
        let mut mended = Vec::new();
        for (key, _) in self.bank_keys() {
            let Some(bank) = self.server.find_bank(client, key).await? else { continue };
            let found: Vec<BankFinding> = examine_bank(client, bank).await?;
            if !found.is_empty() {
                execute_cached(client, "DELETE FROM archivist.vectors WHERE bank = $1", &[&bank]).await?;
                rewrite_from_records(client, bank).await?;
                mended.extend(found);
            }
        }
        work.commit().await?;
        Ok(mended)
    }

    /// Deletes the names of old commits.
    pub(super) async fn try_prune_commits(&self) -> Result<u64, PostgresFailure> {
        let client = self.server.write_connection().await?;
        let Some(bank) = self.server.find_bank(&client, &self.bank).await? else { return Ok(0) };
        let delete = "DELETE FROM archivist.commits WHERE bank = $1 AND at < now() - make_interval(days => $2)";
        execute_cached(&client, delete, &[&bank, &COMMITS_KEPT_DAYS]).await
    }
}

/// Derives what is searched in a bank from its records again.
pub(super) async fn rewrite_from_records(client: &Object, bank: i64) -> Result<(), PostgresFailure> {
    let truth = SourceRecords::read_bank(client, bank).await?;
    rewrite_derived(client, bank, truth.into_changes()).await
}

/// The records that a bank's lessons are derived from.
struct SourceRecords {
    lessons: BTreeMap<MemoryId, (AgentMemory, u64)>,
    facts: HashMap<String, Vec<Fact>>,
}

impl SourceRecords {
    async fn read_bank(client: &Object, bank: i64) -> Result<Self, PostgresFailure> {
        let select = "SELECT DISTINCT ON (lesson) version, record FROM archivist.revisions WHERE bank = $1 \
             ORDER BY lesson, version DESC";
        let mut lessons = BTreeMap::new();
        for row in query_cached(client, select, &[&bank]).await? {
            let memory: AgentMemory = row_parser::parse_record(&row, "record")?;
            lessons.insert(memory.id.clone(), (memory, row_parser::parse_version(&row)?));
        }
        let mut facts: HashMap<String, Vec<Fact>> = HashMap::new();
        let select = "SELECT record FROM archivist.facts WHERE bank = $1 ORDER BY written";
        for row in query_cached(client, select, &[&bank]).await? {
            let fact: Fact = row_parser::parse_record(&row, "record")?;
            facts.entry(to_stored_term(fact.memory_id().as_str())).or_default().push(fact);
        }
        Ok(Self { lessons, facts })
    }

    fn into_changes(self) -> Vec<ChangedLesson> {
        let Self { lessons, facts } = self;
        let counters =
            |id: &MemoryId| facts.get(&to_stored_term(id.as_str())).map(LessonCounters::from_facts).unwrap_or_default();
        let change = |(memory, version): (AgentMemory, u64)| {
            let counters = counters(&memory.id);
            ChangedLesson { memory, version, counters, before: None, is_revised: false }
        };
        lessons.into_values().map(change).collect()
    }
}

/// Compares derived data with the records while the bank is locked.
async fn examine_bank(client: &Object, bank: i64) -> Result<Vec<BankFinding>, PostgresFailure> {
    query_cached(client, "SELECT bank FROM archivist.banks WHERE bank = $1 FOR UPDATE", &[&bank]).await?;
    let truth = SourceRecords::read_bank(client, bank).await?;
    let mut findings = Vec::new();
    let mut find = |table: &str, problem: String| {
        findings.push(BankFinding { file: table.to_owned(), line: None, problem, remedy: FindingRemedy::Repairable });
    };
    let mut left: BTreeSet<MemoryId> = truth.lessons.keys().cloned().collect();
    let mut vocabulary: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut cutter = WordSplitter::default();
    let expected: HashMap<MemoryId, ChangedLesson> =
        truth.into_changes().into_iter().map(|change| (change.memory.id.clone(), change)).collect();
    for change in expected.values() {
        let given = i64::from(LessonStateFilter::Given.includes_state(change.memory.availability()));
        for word in count_stored_terms(&collect_lesson_terms(&mut cutter, &change.memory)).into_keys() {
            let (of_given, of_all) = vocabulary.entry(word).or_default();
            *of_given += given;
            *of_all += 1;
        }
    }
    let select = "SELECT id, version, standing, importance, last_sign, counters, words FROM archivist.lessons \
         WHERE bank = $1 ORDER BY id";
    for row in query_cached(client, select, &[&bank]).await? {
        let id: &str = row.try_get("id")?;
        let Some(change) = MemoryId::parse(id).ok().and_then(|id| expected.get(&id)) else {
            find("lessons", format!("`{id}` has no version"));
            continue;
        };
        left.remove(&change.memory.id);
        let counters: LessonCounters = row_parser::parse_record(&row, "counters")?;
        let worth = LessonWorth::from_memory(&change.memory, &change.counters);
        let words: BTreeMap<String, u32> =
            row_parser::word_vector(&row)?.term_counts(bank).map(|(word, count)| (word.to_owned(), count)).collect();
        let importance: f64 = row.try_get("importance")?;
        let agrees = row_parser::parse_version(&row)? == change.version
            && row_parser::state_from_number(row.try_get("standing")?) == change.memory.availability()
            && (importance - worth.importance).abs() < ROUNDING
            && row.try_get::<_, i64>("last_sign")? == worth.last_sign
            && counters_agree(&counters, &change.counters)
            && words == count_stored_terms(&collect_lesson_terms(&mut cutter, &change.memory));
        if !agrees {
            find("lessons", format!("`{id}` is not as its versions and facts say"));
        }
    }
    for id in left {
        find("lessons", format!("`{id}` has versions but cannot be found"));
    }
    let select = "SELECT word, given, total FROM archivist.vocabulary WHERE bank = $1 AND (given <> 0 OR total <> 0)";
    let mut kept_words: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in query_cached(client, select, &[&bank]).await? {
        kept_words.insert(row.try_get("word")?, (row.try_get("given")?, row.try_get("total")?));
    }
    if kept_words != vocabulary {
        find("vocabulary", "it is not what the words of the lessons add up to".to_owned());
    }
    let select = "SELECT count(*) FROM archivist.vectors v WHERE v.bank = $1 AND NOT EXISTS (SELECT FROM \
         archivist.lessons l WHERE l.bank = v.bank AND l.id = v.lesson AND l.version = v.version AND l.standing = 0)";
    let strange: i64 = query_cached(client, select, &[&bank]).await?.first().map_or(Ok(0), |row| row.try_get(0))?;
    if strange > 0 {
        find("vectors", format!("{strange} of them are not of what may be given"));
    }
    Ok(findings)
}

/// Returns true if two counts of the same facts agree, with a tolerance for the order in which weights were added.
fn counters_agree(one: &LessonCounters, other: &LessonCounters) -> bool {
    let rounded = LessonCounters { validated: other.validated, ignored: other.ignored, ..one.clone() };
    rounded == *other
        && (one.validated - other.validated).abs() < ROUNDING
        && (one.ignored - other.ignored).abs() < ROUNDING
}
