//! Reads stored records.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use deadpool_postgres::Object;
use tokio_postgres::Row;

use super::PostgresMemory;
use super::database_error::PostgresFailure;
use super::lexemes::{to_stored_term, to_stored_text};
use super::row_parser::{self, LESSON, query_cached};
use super::server::ServerRole;
use crate::domain::{AgentMemory, Episode, Fact, LessonAvailability, MemoryId};
use crate::memory::{
    EpisodeFilter, FactFilter, Lesson, LessonName, LessonRevision, LessonStateFilter, MemoryError, MemoryStamp,
};

/// The episodes read so far, in the order of writing, and the last place read.
#[derive(Debug, Default)]
pub(super) struct EpisodeCache {
    /// How often something was erased when they were read. An erasure takes episodes away.
    erasures: i64,
    upto: i64,
    by_place: BTreeMap<i64, Episode>,
}

impl EpisodeCache {
    /// Adds an episode. Its older form is removed.
    fn add_episode(&mut self, place: i64, episode: Episode) {
        self.by_place.retain(|_, known| known.id != episode.id);
        self.by_place.insert(place, episode);
        self.upto = self.upto.max(place);
    }
}

impl PostgresMemory {
    /// Returns the numbers of the banks that exist, the project's first.
    pub(super) async fn existing_banks(&self, client: &Object) -> Result<Vec<i64>, PostgresFailure> {
        let mut banks = Vec::new();
        for (key, _) in self.bank_keys() {
            banks.extend(self.server.find_bank(client, key).await?);
        }
        Ok(banks)
    }

    pub(super) async fn try_get_lesson(&self, name: &LessonName) -> Result<Option<Lesson>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        for bank in self.existing_banks(&client).await? {
            let rows = match name {
                LessonName::Id(id) => {
                    query_cached(&client, &format!("{LESSON} WHERE l.bank = $1 AND l.id = $2"), &[&bank, &id.as_str()])
                        .await?
                }
                LessonName::Alias(alias) => {
                    let select = format!("{LESSON} WHERE l.bank = $1 AND l.alias = $2 ORDER BY l.id");
                    query_cached(&client, &select, &[&bank, &alias.to_string()]).await?
                }
            };
            let mut lessons =
                rows.iter().map(row_parser::parse_lesson).collect::<Result<Vec<Lesson>, PostgresFailure>>()?;
            if let (LessonName::Alias(alias), true) = (name, lessons.len() > 1) {
                let ids = lessons.into_iter().map(|lesson| lesson.memory.id).collect();
                return Err(MemoryError::Ambiguous { alias: alias.clone(), ids }.into());
            }
            if let Some(lesson) = lessons.pop() {
                return Ok(Some(lesson));
            }
        }
        Ok(None)
    }

    pub(super) async fn try_list_lessons(&self, which: LessonStateFilter) -> Result<Vec<Lesson>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let wanted = state_numbers(which);
        let mut lessons: Vec<Lesson> = Vec::new();
        for bank in self.existing_banks(&client).await? {
            let select = format!("{LESSON} WHERE l.bank = $1 AND l.standing = ANY($2)");
            for row in query_cached(&client, &select, &[&bank, &wanted]).await? {
                lessons.push(row_parser::parse_lesson(&row)?);
            }
        }
        lessons.sort_by(|a, b| {
            a.memory.version_at().cmp(&b.memory.version_at()).then_with(|| a.memory.id.cmp(&b.memory.id))
        });
        Ok(lessons)
    }

    pub(super) async fn try_newest_lessons(
        &self,
        which: LessonStateFilter,
        count: usize,
    ) -> Result<Vec<Lesson>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let wanted = state_numbers(which);
        let limit = i64::try_from(count).unwrap_or(i64::MAX);
        let mut lessons: Vec<Lesson> = Vec::new();
        for bank in self.existing_banks(&client).await? {
            let select = format!(
                "{LESSON} WHERE l.bank = $1 AND l.standing = ANY($2) AND l.last_sign >= coalesce((SELECT min(last_sign) \
                 FROM (SELECT last_sign FROM archivist.lessons WHERE bank = $1 AND standing = ANY($2) \
                 ORDER BY last_sign DESC LIMIT $3) AS newest), 0)"
            );
            for row in query_cached(&client, &select, &[&bank, &wanted, &limit]).await? {
                lessons.push(row_parser::parse_lesson(&row)?);
            }
        }
        Ok(lessons)
    }

    pub(super) async fn try_lesson_history(&self, id: &MemoryId) -> Result<Vec<LessonRevision>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let select = "SELECT version, record FROM archivist.revisions WHERE bank = $1 AND lesson = $2 ORDER BY version";
        for bank in self.existing_banks(&client).await? {
            let rows = query_cached(&client, select, &[&bank, &id.as_str()]).await?;
            let revision = |row: &Row| {
                let memory: AgentMemory = row_parser::parse_record(row, "record")?;
                Ok(LessonRevision { version: row_parser::parse_version(row)?, memory })
            };
            if !rows.is_empty() {
                return rows.iter().map(revision).collect();
            }
        }
        Err(MemoryError::NoSuchLesson { name: LessonName::Id(id.clone()) }.into())
    }

    pub(super) async fn try_list_revisions(&self) -> Result<Vec<LessonRevision>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let select = "SELECT version, record FROM archivist.revisions WHERE bank = $1 ORDER BY written";
        let mut revisions = Vec::new();
        for bank in self.existing_banks(&client).await? {
            for row in query_cached(&client, select, &[&bank]).await? {
                revisions.push(LessonRevision {
                    version: row_parser::parse_version(&row)?,
                    memory: row_parser::parse_record(&row, "record")?,
                });
            }
        }
        Ok(revisions)
    }

    pub(super) async fn try_list_episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let Some(bank) = self.server.find_bank(&client, &self.bank).await? else { return Ok(Vec::new()) };
        if let Some(id) = &filter.id {
            let select = "SELECT record FROM archivist.episodes WHERE bank = $1 AND id = $2";
            return filter_episodes(&query_cached(&client, select, &[&bank, &id.as_str()]).await?, filter);
        }
        if let Some(session) = &filter.session {
            let select = "SELECT record FROM archivist.episodes WHERE bank = $1 AND session = $2 ORDER BY written";
            return filter_episodes(
                &query_cached(&client, select, &[&bank, &to_stored_text(session.as_str())]).await?,
                filter,
            );
        }
        let asks_only_newest = EpisodeFilter { newest: None, ..filter.clone() } == EpisodeFilter::default();
        if let Some(count) = filter.newest.filter(|_| asks_only_newest) {
            let select = "SELECT record FROM archivist.episodes WHERE bank = $1 ORDER BY written DESC LIMIT $2";
            let limit = i64::try_from(count).unwrap_or(i64::MAX);
            let mut rows = query_cached(&client, select, &[&bank, &limit]).await?;
            rows.reverse();
            return filter_episodes(&rows, filter);
        }
        // Callers that need all episodes ask often, so only newer ones are read. A commit assigns places while it
        // holds the bank's lock, so that no place before a visible one appears later.
        let erasures = "SELECT coalesce(sum(times), 0)::bigint FROM archivist.erasures WHERE bank = $1";
        let erasures: i64 =
            query_cached(&client, erasures, &[&bank]).await?.first().map_or(Ok(0), |row| row.try_get(0))?;
        let upto = {
            let mut known = self.episodes.lock().unwrap_or_else(PoisonError::into_inner);
            if known.erasures != erasures {
                *known = EpisodeCache { erasures, ..EpisodeCache::default() };
            }
            known.upto
        };
        let select = "SELECT written, record FROM archivist.episodes WHERE bank = $1 AND written > $2 ORDER BY written";
        let rows = query_cached(&client, select, &[&bank, &upto]).await?;
        let mut known = self.episodes.lock().unwrap_or_else(PoisonError::into_inner);
        for row in &rows {
            known.add_episode(row.try_get("written")?, row_parser::parse_record(row, "record")?);
        }
        let admitted = known.by_place.values().filter(|episode| filter.admits_episode(episode)).cloned();
        Ok(keep_newest(admitted.collect(), filter))
    }

    pub(super) async fn try_list_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let mut facts: Vec<Fact> = Vec::new();
        for bank in self.existing_banks(&client).await? {
            let rows = match (&filter.memory, &filter.run) {
                (Some(lesson), _) => {
                    let select = "SELECT record FROM archivist.facts WHERE bank = $1 AND lesson = $2 ORDER BY written";
                    query_cached(&client, select, &[&bank, &to_stored_term(lesson.as_str())]).await?
                }
                (None, Some(run)) => {
                    let select = "SELECT record FROM archivist.facts WHERE bank = $1 AND run = $2 ORDER BY written";
                    query_cached(&client, select, &[&bank, &to_stored_term(run.as_str())]).await?
                }
                (None, None) => {
                    let select = "SELECT record FROM archivist.facts WHERE bank = $1 ORDER BY written";
                    query_cached(&client, select, &[&bank]).await?
                }
            };
            for row in &rows {
                facts.push(row_parser::parse_record(row, "record")?);
            }
        }
        facts.retain(|fact| filter.admits_fact(fact));
        Ok(facts)
    }

    pub(super) async fn try_memory_stamp(&self) -> Result<MemoryStamp, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let keys: Vec<&str> = self.bank_keys().map(|(key, _)| key).collect();
        let select = "SELECT bank, written FROM archivist.banks WHERE key = ANY($1) ORDER BY bank";
        let mut stamp = String::new();
        for row in query_cached(&client, select, &[&keys]).await? {
            stamp.push_str(&format!("{:x}.", row.try_get::<_, i64>("written")?));
        }
        Ok(MemoryStamp(stamp))
    }
}

/// Returns the numbers of the included states.
fn state_numbers(which: LessonStateFilter) -> Vec<i16> {
    let included = LessonAvailability::ALL.into_iter().filter(|availability| which.includes_state(*availability));
    included.map(row_parser::state_to_number).collect()
}

fn filter_episodes(rows: &[Row], filter: &EpisodeFilter) -> Result<Vec<Episode>, PostgresFailure> {
    let mut episodes: Vec<Episode> = Vec::new();
    for row in rows {
        episodes.push(row_parser::parse_record(row, "record")?);
    }
    episodes.retain(|episode| filter.admits_episode(episode));
    Ok(keep_newest(episodes, filter))
}

fn keep_newest(mut episodes: Vec<Episode>, filter: &EpisodeFilter) -> Vec<Episode> {
    let surplus = filter.newest.map_or(0, |count| episodes.len().saturating_sub(count));
    episodes.drain(..surplus);
    episodes
}
