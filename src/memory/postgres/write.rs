//! The rows that a commit adds, each table in one statement, however many there are.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Object;
use futures_util::future::try_join;
use tokio_postgres::types::ToSql;

use super::commit::fact_key;
use super::rows::{ageing_number, standing_number, tell};
use super::trouble::Trouble;
use super::words::{counts_of, kept, plain, vector};
use crate::domain::{self, AgentMemory, Counters, Episode, Fact};
use crate::memory::plan::Written;
use crate::memory::search::{Card, Worth, is_topic_term, terms_of_traits};
use crate::memory::{MemoryError, Which};
use crate::recall::terms_of;
use crate::text::Cutter;

/// What no trait holds; it stands between them.
const BETWEEN: char = '\u{1f}';

/// A bank whose row is locked.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) bank: i64,
    /// How many records were ever written to it.
    pub(super) written: i64,
    pub(super) highest_alias: u64,
}

/// A lesson that gets new versions or new facts.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) memory: AgentMemory,
    pub(super) version: u64,
    pub(super) counters: Counters,
    /// How it stood before, which words it was found by, and how long it was; `None` if it is new.
    pub(super) before: Option<(domain::Standing, Vec<String>, i64)>,
    pub(super) is_revised: bool,
}

impl Change {
    /// The same with one more version.
    pub(super) fn revised(self, memory: &AgentMemory) -> Self {
        Self { memory: memory.clone(), version: self.version + 1, is_revised: true, ..self }
    }
}

/// What the lessons of a bank say, and by how much that changes.
#[derive(Debug, Default)]
struct Drift {
    /// For each word: in how many lessons more it stands, of those that may be given and of all.
    words: BTreeMap<String, (i64, i64)>,
    given: (i64, i64),
    all: (i64, i64),
}

impl Drift {
    fn count<'w>(&mut self, standing: domain::Standing, words: impl Iterator<Item = &'w str>, length: i64, sign: i64) {
        let given = if Which::Given.includes(standing) { sign } else { 0 };
        for word in words {
            let (of_given, of_all) = self.words.entry(word.to_owned()).or_default();
            *of_given += given;
            *of_all += sign;
        }
        self.given = (self.given.0 + given, self.given.1 + given * length);
        self.all = (self.all.0 + sign, self.all.1 + sign * length);
    }
}

/// Writes everything.
pub(super) async fn write_changes(
    client: &Object,
    bank: &mut Standing,
    episodes: &[Written<Episode>],
    memories: &[Written<AgentMemory>],
    facts: &[Written<Fact>],
    changes: Vec<Change>,
) -> Result<(), Trouble> {
    if episodes.is_empty() && memories.is_empty() && facts.is_empty() {
        return Ok(());
    }
    let versions = versions(memories, &changes);
    write_episodes(client, bank, episodes).await?;
    write_revisions(client, bank, memories, &versions).await?;
    write_facts(client, bank, facts).await?;
    let mut drift = Drift::default();
    write_lessons(client, bank.bank, &changes, &mut drift).await?;
    write_vocabulary(client, bank.bank, &drift).await?;
    let highest_alias = i64::try_from(bank.highest_alias).unwrap_or(i64::MAX);
    let update = "UPDATE archivist.banks SET written = $2, highest_alias = $3, \
         given_lessons = given_lessons + $4, given_length = given_length + $5, \
         all_lessons = all_lessons + $6, all_length = all_length + $7 WHERE bank = $1";
    let (given, all) = (drift.given, drift.all);
    let values: [&(dyn ToSql + Sync); 7] =
        [&bank.bank, &bank.written, &highest_alias, &given.0, &given.1, &all.0, &all.1];
    // What a lesson meant before is no longer what it means.
    let revised = changes.iter().filter(|change| change.is_revised && change.before.is_some());
    let revised: Vec<&str> = revised.map(|change| change.memory.id.as_str()).collect();
    if revised.is_empty() {
        tell(client, update, &values).await?;
    } else {
        let delete = "DELETE FROM archivist.vectors WHERE bank = $1 AND lesson = ANY($2)";
        try_join(tell(client, update, &values), tell(client, delete, &[&bank.bank, &revised])).await?;
    }
    Ok(())
}

/// Writes everything that is derived in a bank anew.
pub(super) async fn rewrite(client: &Object, bank: i64, lessons: Vec<Change>) -> Result<(), Trouble> {
    tell(client, "DELETE FROM archivist.lessons WHERE bank = $1", &[&bank]).await?;
    tell(client, "DELETE FROM archivist.vocabulary WHERE bank = $1", &[&bank]).await?;
    tell(client, "DELETE FROM archivist.vectors WHERE bank = $1", &[&bank]).await?;
    let mut drift = Drift::default();
    write_lessons(client, bank, &lessons, &mut drift).await?;
    write_vocabulary(client, bank, &drift).await?;
    let update = "UPDATE archivist.banks SET given_lessons = $2, given_length = $3, all_lessons = $4, all_length = $5 \
         WHERE bank = $1";
    tell(client, update, &[&bank, &drift.given.0, &drift.given.1, &drift.all.0, &drift.all.1]).await?;
    Ok(())
}

/// The number of each new version, in the order in which they are written.
fn versions(memories: &[Written<AgentMemory>], changes: &[Change]) -> Vec<i64> {
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

/// Places in the order of writing for so many records.
fn places(bank: &mut Standing, count: usize) -> Vec<i64> {
    let first = bank.written;
    bank.written = first.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
    (first + 1..=bank.written).collect()
}

async fn write_episodes(client: &Object, bank: &mut Standing, episodes: &[Written<Episode>]) -> Result<(), Trouble> {
    if episodes.is_empty() {
        return Ok(());
    }
    let places = places(bank, episodes.len());
    // One statement cannot write one row twice: of several forms of a run the last one counts.
    let mut last: BTreeMap<&str, (i64, &Written<Episode>)> = BTreeMap::new();
    for (place, written) in places.into_iter().zip(episodes) {
        last.insert(written.record.id.as_str(), (place, written));
    }
    let ids: Vec<&str> = last.keys().copied().collect();
    let places: Vec<i64> = last.values().map(|(place, _)| *place).collect();
    let of = |(_, written): &(i64, &Written<Episode>)| plain(written.record.session_id.as_str());
    let sessions: Vec<String> = last.values().map(of).collect();
    let tasks: Vec<Option<String>> =
        last.values().map(|(_, written)| written.record.task_id.as_deref().map(plain)).collect();
    let finished: Vec<_> = last.values().map(|(_, written)| written.record.finished_at).collect();
    let records: Vec<&str> = last.values().map(|(_, written)| written.json.as_str()).collect();
    let insert = "INSERT INTO archivist.episodes (bank, id, written, session, task, finished_at, record) \
         SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::text[]) \
         ON CONFLICT (bank, id) DO UPDATE SET written = excluded.written, session = excluded.session, \
         task = excluded.task, finished_at = excluded.finished_at, record = excluded.record";
    tell(client, insert, &[&bank.bank, &ids, &places, &sessions, &tasks, &finished, &records]).await?;
    Ok(())
}

async fn write_revisions(
    client: &Object,
    bank: &mut Standing,
    memories: &[Written<AgentMemory>],
    versions: &[i64],
) -> Result<(), Trouble> {
    if memories.is_empty() {
        return Ok(());
    }
    let places = places(bank, memories.len());
    let ids: Vec<&str> = memories.iter().map(|written| written.record.id.as_str()).collect();
    let records: Vec<&str> = memories.iter().map(|written| written.json.as_str()).collect();
    let insert = "INSERT INTO archivist.revisions (bank, lesson, version, written, record) \
         SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[])";
    tell(client, insert, &[&bank.bank, &ids, &versions, &places, &records]).await?;
    Ok(())
}

async fn write_facts(client: &Object, bank: &mut Standing, facts: &[Written<Fact>]) -> Result<(), Trouble> {
    if facts.is_empty() {
        return Ok(());
    }
    let places = places(bank, facts.len());
    let keys: Vec<[u8; 16]> = facts.iter().map(|written| fact_key(&written.record.key())).collect();
    let keys: Vec<&[u8]> = keys.iter().map(<[u8; 16]>::as_slice).collect();
    let lessons: Vec<String> = facts.iter().map(|written| kept(written.record.memory().as_str())).collect();
    let runs: Vec<Option<String>> = facts
        .iter()
        .map(|written| match &written.record {
            Fact::Injection { run, .. } | Fact::Effect { run, .. } => Some(kept(run.as_str())),
            Fact::Sighting { .. } | Fact::Feedback { .. } => None,
        })
        .collect();
    let records: Vec<&str> = facts.iter().map(|written| written.json.as_str()).collect();
    let insert = "INSERT INTO archivist.facts (bank, key, written, lesson, run, record) \
         SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::text[], $5::text[], $6::text[])";
    tell(client, insert, &[&bank.bank, &keys, &places, &lessons, &runs, &records]).await?;
    Ok(())
}

async fn write_lessons(client: &Object, bank: i64, changes: &[Change], drift: &mut Drift) -> Result<(), Trouble> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut cutter = Cutter::default();
    let (mut ids, mut versions, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    let (mut standings, mut ageings, mut bindings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut globals, mut repos, mut roots, mut lengths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut importances, mut signs, mut all_traits) = (Vec::new(), Vec::new(), Vec::new());
    let (mut vectors, mut counters) = (Vec::new(), Vec::new());
    for change in changes {
        let memory = &change.memory;
        let terms = terms_of(&mut cutter, memory);
        let (card, worth) = (Card::of(memory, terms.length), Worth::of(memory, &change.counters));
        let counts = counts_of(&terms);
        let length = i64::from(terms.length);
        if let Some((standing, words, length)) = &change.before {
            drift.count(*standing, words.iter().map(String::as_str), *length, -1);
        }
        drift.count(card.standing, counts.keys().map(String::as_str), length, 1);
        let traits: BTreeSet<String> = terms_of_traits(memory).into_iter().collect();
        ids.push(memory.id.as_str());
        versions.push(i64::try_from(change.version).unwrap_or(i64::MAX));
        aliases.push(memory.alias.as_ref().map(ToString::to_string).unwrap_or_default());
        standings.push(standing_number(card.standing));
        ageings.push(ageing_number(card.ageing));
        bindings.push(i32::from(card.binding.bits()));
        globals.push(card.global);
        repos.push(card.has_repo);
        roots.push(card.has_root);
        lengths.push(length);
        importances.push(worth.importance);
        signs.push(worth.last_sign);
        let topics: BTreeSet<String> = traits.iter().filter(|one| is_topic_term(one)).map(|one| kept(one)).collect();
        vectors.push(vector(bank, &counts, topics.iter().map(String::as_str)));
        let traits: Vec<String> = traits.into_iter().map(|one| plain(&one).replace(BETWEEN, " ")).collect();
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
    tell(
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

async fn write_vocabulary(client: &Object, bank: i64, drift: &Drift) -> Result<(), Trouble> {
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
    tell(client, upsert, &[&bank, &words, &given, &all]).await?;
    Ok(())
}
