//! Writes the rows of a commit, each table in one statement, however many rows there are.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Object;
use futures_util::future::try_join;
use tokio_postgres::types::ToSql;

use super::commit::fact_key;
use super::database_error::PostgresFailure;
use super::lexemes::{count_stored_terms, render_tsvector, to_stored_term, to_stored_text};
use super::row_parser::{ageing_to_number, execute_cached, state_to_number};
use crate::domain::{self, AgentMemory, Episode, Fact, LessonCounters};
use crate::memory::commit_plan::EncodedRecord;
use crate::memory::lesson_matching::{LessonCard, LessonWorth, is_topic_term, trait_terms};
use crate::memory::{LessonStateFilter, MemoryError};
use crate::recall::collect_lesson_terms;
use crate::text::WordSplitter;

/// The separator between traits, which no trait contains.
const BETWEEN: char = '\u{1f}';

/// A bank whose row is locked.
#[derive(Debug)]
pub(super) struct LockedBank {
    pub(super) bank: i64,
    /// The number of records ever written to it.
    pub(super) written: i64,
    pub(super) highest_alias: u64,
}

/// A lesson that gets new versions or new facts.
#[derive(Debug)]
pub(super) struct ChangedLesson {
    pub(super) memory: AgentMemory,
    pub(super) version: u64,
    pub(super) counters: LessonCounters,
    /// The state, words and length before the change; `None` if the lesson is new.
    pub(super) before: Option<(domain::LessonAvailability, Vec<String>, i64)>,
    pub(super) is_revised: bool,
}

impl ChangedLesson {
    /// Adds one more version.
    pub(super) fn with_new_version(self, memory: &AgentMemory) -> Self {
        Self { memory: memory.clone(), version: self.version + 1, is_revised: true, ..self }
    }
}

/// The change in the word statistics of a bank's lessons.
#[derive(Debug, Default)]
struct VocabularyDelta {
    /// The change for each word in the number of lessons that hold it, among those that may be injected and among all.
    words: BTreeMap<String, (i64, i64)>,
    given: (i64, i64),
    all: (i64, i64),
}

impl VocabularyDelta {
    fn count_lesson<'w>(
        &mut self,
        availability: domain::LessonAvailability,
        words: impl Iterator<Item = &'w str>,
        length: i64,
        sign: i64,
    ) {
        let given = if LessonStateFilter::Given.includes_state(availability) { sign } else { 0 };
        for word in words {
            let (of_given, of_all) = self.words.entry(word.to_owned()).or_default();
            *of_given += given;
            *of_all += sign;
        }
        self.given = (self.given.0 + given, self.given.1 + given * length);
        self.all = (self.all.0 + sign, self.all.1 + sign * length);
    }
}

/// Writes all rows of a commit to one bank.
pub(super) async fn write_changes(
    client: &Object,
    bank: &mut LockedBank,
    episodes: &[EncodedRecord<Episode>],
    memories: &[EncodedRecord<AgentMemory>],
    facts: &[EncodedRecord<Fact>],
    changes: Vec<ChangedLesson>,
) -> Result<(), PostgresFailure> {
    if episodes.is_empty() && memories.is_empty() && facts.is_empty() {
        return Ok(());
    }
    let versions = number_versions(memories, &changes);
    write_episodes(client, bank, episodes).await?;
    write_revisions(client, bank, memories, &versions).await?;
    write_facts(client, bank, facts).await?;
    let mut drift = VocabularyDelta::default();
    write_lessons(client, bank.bank, &changes, &mut drift).await?;
    write_vocabulary(client, bank.bank, &drift).await?;
    let highest_alias = i64::try_from(bank.highest_alias).unwrap_or(i64::MAX);
    let update = "UPDATE archivist.banks SET written = $2, highest_alias = $3, \
         given_lessons = given_lessons + $4, given_length = given_length + $5, \
         all_lessons = all_lessons + $6, all_length = all_length + $7 WHERE bank = $1";
    let (given, all) = (drift.given, drift.all);
    let values: [&(dyn ToSql + Sync); 7] =
        [&bank.bank, &bank.written, &highest_alias, &given.0, &given.1, &all.0, &all.1];
    // The vectors of revised lessons are outdated.
    let revised = changes.iter().filter(|change| change.is_revised && change.before.is_some());
    let revised: Vec<&str> = revised.map(|change| change.memory.id.as_str()).collect();
    if revised.is_empty() {
        execute_cached(client, update, &values).await?;
    } else {
        let delete = "DELETE FROM archivist.vectors WHERE bank = $1 AND lesson = ANY($2)";
        try_join(execute_cached(client, update, &values), execute_cached(client, delete, &[&bank.bank, &revised]))
            .await?;
    }
    Ok(())
}

/// Rewrites all derived data of a bank but the vectors.
pub(super) async fn rewrite_derived(
    client: &Object,
    bank: i64,
    lessons: Vec<ChangedLesson>,
) -> Result<(), PostgresFailure> {
    execute_cached(client, "DELETE FROM archivist.lessons WHERE bank = $1", &[&bank]).await?;
    execute_cached(client, "DELETE FROM archivist.vocabulary WHERE bank = $1", &[&bank]).await?;
    let mut drift = VocabularyDelta::default();
    write_lessons(client, bank, &lessons, &mut drift).await?;
    write_vocabulary(client, bank, &drift).await?;
    let update = "UPDATE archivist.banks SET given_lessons = $2, given_length = $3, all_lessons = $4, all_length = $5 \
         WHERE bank = $1";
    execute_cached(client, update, &[&bank, &drift.given.0, &drift.given.1, &drift.all.0, &drift.all.1]).await?;
    Ok(())
}

/// Returns the number of each new version, in the order in which they are written.
fn number_versions(memories: &[EncodedRecord<AgentMemory>], changes: &[ChangedLesson]) -> Vec<i64> {
    let mut left: BTreeMap<&str, u64> = BTreeMap::new();
    for written in memories {
        *left.entry(written.record.id.as_str()).or_default() += 1;
    }
    let mut next: BTreeMap<&str, u64> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.is_revised) {
        let id = change.memory.id.as_str();
        next.insert(id, change.version.saturating_sub(left.get(id).copied().unwrap_or_default()));
    }
    let mut versions = Vec::new();
    for written in memories {
        let next = next.entry(written.record.id.as_str()).or_default();
        *next += 1;
        versions.push(i64::try_from(*next).unwrap_or(i64::MAX));
    }
    versions
}

/// Assigns the next places in the order of writing to `count` records.
fn allot_places(bank: &mut LockedBank, count: usize) -> Vec<i64> {
    let first = bank.written;
    bank.written = first.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
    (first + 1..=bank.written).collect()
}

async fn write_episodes(
    client: &Object,
    bank: &mut LockedBank,
    episodes: &[EncodedRecord<Episode>],
) -> Result<(), PostgresFailure> {
    if episodes.is_empty() {
        return Ok(());
    }
    let places = allot_places(bank, episodes.len());
    // One statement cannot write a row twice: of several forms of an episode the last one counts.
    let mut last: BTreeMap<&str, (i64, &EncodedRecord<Episode>)> = BTreeMap::new();
    for (place, written) in places.into_iter().zip(episodes) {
        last.insert(written.record.id.as_str(), (place, written));
    }
    let ids: Vec<&str> = last.keys().copied().collect();
    let places: Vec<i64> = last.values().map(|(place, _)| *place).collect();
    let of = |(_, written): &(i64, &EncodedRecord<Episode>)| to_stored_text(written.record.session_id.as_str());
    let sessions: Vec<String> = last.values().map(of).collect();
    let tasks: Vec<Option<String>> =
        last.values().map(|(_, written)| written.record.task_id.as_deref().map(to_stored_text)).collect();
    let finished: Vec<_> = last.values().map(|(_, written)| written.record.finished_at).collect();
    let records: Vec<&str> = last.values().map(|(_, written)| written.json.as_str()).collect();
    let insert = "INSERT INTO archivist.episodes (bank, id, written, session, task, finished_at, record) \
         SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::text[]) \
         ON CONFLICT (bank, id) DO UPDATE SET written = excluded.written, session = excluded.session, \
         task = excluded.task, finished_at = excluded.finished_at, record = excluded.record";
    execute_cached(client, insert, &[&bank.bank, &ids, &places, &sessions, &tasks, &finished, &records]).await?;
    Ok(())
}

async fn write_revisions(
    client: &Object,
    bank: &mut LockedBank,
    memories: &[EncodedRecord<AgentMemory>],
    versions: &[i64],
) -> Result<(), PostgresFailure> {
    if memories.is_empty() {
        return Ok(());
    }
    let places = allot_places(bank, memories.len());
    let ids: Vec<&str> = memories.iter().map(|written| written.record.id.as_str()).collect();
    let records: Vec<&str> = memories.iter().map(|written| written.json.as_str()).collect();
    let insert = "INSERT INTO archivist.revisions (bank, lesson, version, written, record) \
         SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[])";
    execute_cached(client, insert, &[&bank.bank, &ids, &versions, &places, &records]).await?;
    Ok(())
}

async fn write_facts(
    client: &Object,
    bank: &mut LockedBank,
    facts: &[EncodedRecord<Fact>],
) -> Result<(), PostgresFailure> {
    if facts.is_empty() {
        return Ok(());
    }
    let places = allot_places(bank, facts.len());
    let keys: Vec<[u8; 16]> = facts.iter().map(|written| fact_key(&written.record.key())).collect();
    let keys: Vec<&[u8]> = keys.iter().map(<[u8; 16]>::as_slice).collect();
    let lessons: Vec<String> =
        facts.iter().map(|written| to_stored_term(written.record.memory_id().as_str())).collect();
    let runs: Vec<Option<String>> = facts
        .iter()
        .map(|written| match &written.record {
            Fact::Injection { run, .. } | Fact::Effect { run, .. } => Some(to_stored_term(run.as_str())),
            Fact::Sighting { .. } | Fact::Feedback { .. } => None,
        })
        .collect();
    let records: Vec<&str> = facts.iter().map(|written| written.json.as_str()).collect();
    let insert = "INSERT INTO archivist.facts (bank, key, written, lesson, run, record) \
         SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::text[], $5::text[], $6::text[])";
    execute_cached(client, insert, &[&bank.bank, &keys, &places, &lessons, &runs, &records]).await?;
    Ok(())
}

async fn write_lessons(
    client: &Object,
    bank: i64,
    changes: &[ChangedLesson],
    drift: &mut VocabularyDelta,
) -> Result<(), PostgresFailure> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut cutter = WordSplitter::default();
    let (mut ids, mut versions, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    let (mut standings, mut ageings, mut bindings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut globals, mut repos, mut roots, mut lengths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut importances, mut signs, mut all_traits) = (Vec::new(), Vec::new(), Vec::new());
    let (mut vectors, mut counters) = (Vec::new(), Vec::new());
    for change in changes {
        let memory = &change.memory;
        let terms = collect_lesson_terms(&mut cutter, memory);
        let (card, worth) =
            (LessonCard::from_memory(memory, terms.length), LessonWorth::from_memory(memory, &change.counters));
        let counts = count_stored_terms(&terms);
        let length = i64::from(terms.length);
        if let Some((availability, words, length)) = &change.before {
            drift.count_lesson(*availability, words.iter().map(String::as_str), *length, -1);
        }
        drift.count_lesson(card.availability, counts.keys().map(String::as_str), length, 1);
        let traits: BTreeSet<String> = trait_terms(memory).into_iter().collect();
        ids.push(memory.id.as_str());
        versions.push(i64::try_from(change.version).unwrap_or(i64::MAX));
        aliases.push(memory.alias.as_ref().map(ToString::to_string).unwrap_or_default());
        standings.push(state_to_number(card.availability));
        ageings.push(ageing_to_number(card.ageing));
        bindings.push(i32::from(card.binding.to_bits()));
        globals.push(card.global);
        repos.push(card.has_repo);
        roots.push(card.has_root);
        lengths.push(length);
        importances.push(worth.importance);
        signs.push(worth.last_sign);
        let topics: BTreeSet<String> =
            traits.iter().filter(|one| is_topic_term(one)).map(|one| to_stored_term(one)).collect();
        vectors.push(render_tsvector(bank, &counts, topics.iter().map(String::as_str)));
        let traits: Vec<String> = traits.into_iter().map(|one| to_stored_text(&one).replace(BETWEEN, " ")).collect();
        all_traits.push(traits.join(&BETWEEN.to_string()));
        counters.push(
            serde_json::to_string(&change.counters)
                .map_err(|source| MemoryError::Encode { id: memory.id.as_str().to_owned(), source })?,
        );
    }
    let insert = "INSERT INTO archivist.lessons (bank, id, version, alias, standing, ageing, binding, is_global, \
         has_repo, has_root, length, importance, last_sign, traits, words, counters) \
         SELECT $1, id, version, alias, standing, ageing, binding, is_global, has_repo, has_root, length, importance, \
         last_sign, string_to_array(traits, chr(31)), words::tsvector, counters \
         FROM unnest($2::text[], $3::bigint[], $4::text[], $5::smallint[], $6::smallint[], $7::integer[], \
         $8::boolean[], $9::boolean[], $10::boolean[], $11::bigint[], $12::double precision[], $13::bigint[], \
         $14::text[], $15::text[], $16::text[]) AS new (id, version, alias, standing, ageing, binding, is_global, \
         has_repo, has_root, length, importance, last_sign, traits, words, counters) \
         ON CONFLICT (bank, id) DO UPDATE SET version = excluded.version, alias = excluded.alias, \
         standing = excluded.standing, ageing = excluded.ageing, binding = excluded.binding, \
         is_global = excluded.is_global, has_repo = excluded.has_repo, has_root = excluded.has_root, \
         length = excluded.length, importance = excluded.importance, last_sign = excluded.last_sign, \
         traits = excluded.traits, words = excluded.words, counters = excluded.counters";
    execute_cached(
        client,
        insert,
        &[
            &bank,
            &ids,
            &versions,
            &aliases,
            &standings,
            &ageings,
            &bindings,
            &globals,
            &repos,
            &roots,
            &lengths,
            &importances,
            &signs,
            &all_traits,
            &vectors,
            &counters,
        ],
    )
    .await?;
    Ok(())
}

async fn write_vocabulary(client: &Object, bank: i64, drift: &VocabularyDelta) -> Result<(), PostgresFailure> {
    let changed: Vec<(&String, &(i64, i64))> = drift.words.iter().filter(|(_, change)| **change != (0, 0)).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let words: Vec<&str> = changed.iter().map(|(word, _)| word.as_str()).collect();
    let given: Vec<i64> = changed.iter().map(|(_, (given, _))| *given).collect();
    let all: Vec<i64> = changed.iter().map(|(_, (_, all))| *all).collect();
    let upsert = "INSERT INTO archivist.vocabulary AS v (bank, word, given, total) \
         SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[]) \
         ON CONFLICT (bank, word) DO UPDATE SET given = v.given + excluded.given, total = v.total + excluded.total";
    execute_cached(client, upsert, &[&bank, &words, &given, &all]).await?;
    Ok(())
}
