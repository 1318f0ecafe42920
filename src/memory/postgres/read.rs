//! Reading records back.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use deadpool_postgres::Object;
use tokio_postgres::Row;

use super::PostgresMemory;
use super::rows::{self, LESSON, ask};
use super::server::Role;
use super::trouble::Trouble;
use super::words::{kept, plain};
use crate::domain::{AgentMemory, Episode, Fact, MemoryId, Standing};
use crate::memory::{EpisodeFilter, FactFilter, Lesson, LessonName, MemoryError, Revision, Stamp, Which};

/// Runs that were read before, in the order of writing, and how far.
#[derive(Debug, Default)]
pub(super) struct Episodes {
    upto: i64,
    by_place: BTreeMap<i64, Episode>,
}

impl Episodes {
    /// Takes a run in. An older form of it is forgotten.
    fn take(&mut self, place: i64, episode: Episode) {
        self.by_place.retain(|_, known| known.id != episode.id);
        self.by_place.insert(place, episode);
        self.upto = self.upto.max(place);
    }
}

impl PostgresMemory {
    /// The numbers of the banks that exist, the project's first.
    pub(super) async fn banks(&self, client: &Object) -> Result<Vec<i64>, Trouble> {
        let mut banks = Vec::new();
        for (key, _) in self.keys() {
            banks.extend(self.server.bank(client, key).await?);
        }
        Ok(banks)
    }

    pub(super) async fn try_get(&self, name: &LessonName) -> Result<Option<Lesson>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        for bank in self.banks(&client).await? {
            let rows = match name {
                LessonName::Id(id) => {
                    ask(&client, &format!("{LESSON} WHERE l.bank = $1 AND l.id = $2"), &[&bank, &id.as_str()]).await?
                }
                LessonName::Alias(alias) => {
                    let select = format!("{LESSON} WHERE l.bank = $1 AND l.alias = $2 ORDER BY l.id");
                    ask(&client, &select, &[&bank, &alias.to_string()]).await?
                }
            };
            let mut lessons = rows.iter().map(rows::lesson).collect::<Result<Vec<Lesson>, Trouble>>()?;
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

    pub(super) async fn try_lessons(&self, which: Which) -> Result<Vec<Lesson>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let wanted: Vec<i16> =
            Standing::ALL.into_iter().filter(|standing| which.includes(*standing)).map(rows::standing_number).collect();
        let mut lessons: Vec<Lesson> = Vec::new();
        for bank in self.banks(&client).await? {
            let select = format!("{LESSON} WHERE l.bank = $1 AND l.standing = ANY($2)");
            for row in ask(&client, &select, &[&bank, &wanted]).await? {
                lessons.push(rows::lesson(&row)?);
            }
        }
        lessons.sort_by(|a, b| {
            a.memory.version_at().cmp(&b.memory.version_at()).then_with(|| a.memory.id.cmp(&b.memory.id))
        });
        Ok(lessons)
    }

    pub(super) async fn try_history(&self, id: &MemoryId) -> Result<Vec<Revision>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let select = "SELECT version, record FROM archivist.revisions WHERE bank = $1 AND lesson = $2 ORDER BY version";
        for bank in self.banks(&client).await? {
            let rows = ask(&client, select, &[&bank, &id.as_str()]).await?;
            let revision = |row: &Row| {
                let memory: AgentMemory = rows::record(row, "record")?;
                Ok(Revision { version: rows::version(row)?, memory })
            };
            if !rows.is_empty() {
                return rows.iter().map(revision).collect();
            }
        }
        Err(MemoryError::NoSuchLesson { name: LessonName::Id(id.clone()) }.into())
    }

    pub(super) async fn try_revisions(&self) -> Result<Vec<Revision>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let select = "SELECT version, record FROM archivist.revisions WHERE bank = $1 ORDER BY written";
        let mut revisions = Vec::new();
        for bank in self.banks(&client).await? {
            for row in ask(&client, select, &[&bank]).await? {
                revisions.push(Revision { version: rows::version(&row)?, memory: rows::record(&row, "record")? });
            }
        }
        Ok(revisions)
    }

    pub(super) async fn try_episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let Some(bank) = self.server.bank(&client, &self.bank).await? else { return Ok(Vec::new()) };
        if let Some(id) = &filter.id {
            let select = "SELECT record FROM archivist.episodes WHERE bank = $1 AND id = $2";
            return admitted(&ask(&client, select, &[&bank, &id.as_str()]).await?, filter);
        }
        if let Some(session) = &filter.session {
            let select = "SELECT record FROM archivist.episodes WHERE bank = $1 AND session = $2 ORDER BY written";
            return admitted(&ask(&client, select, &[&bank, &plain(session.as_str())]).await?, filter);
        }
        // Whoever asks for all of them asks often: only what was written since is read. A commit takes its places while
        // it holds the bank, so that none comes up later behind one that was seen.
        let upto = self.episodes.lock().unwrap_or_else(PoisonError::into_inner).upto;
        let select = "SELECT written, record FROM archivist.episodes WHERE bank = $1 AND written > $2 ORDER BY written";
        let rows = ask(&client, select, &[&bank, &upto]).await?;
        let mut known = self.episodes.lock().unwrap_or_else(PoisonError::into_inner);
        for row in &rows {
            known.take(row.try_get("written")?, rows::record(row, "record")?);
        }
        Ok(known.by_place.values().filter(|episode| filter.admits(episode)).cloned().collect())
    }

    pub(super) async fn try_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let mut facts: Vec<Fact> = Vec::new();
        for bank in self.banks(&client).await? {
            let rows = match (&filter.memory, &filter.run) {
                (Some(lesson), _) => {
                    let select = "SELECT record FROM archivist.facts WHERE bank = $1 AND lesson = $2 ORDER BY written";
                    ask(&client, select, &[&bank, &kept(lesson.as_str())]).await?
                }
                (None, Some(run)) => {
                    let select = "SELECT record FROM archivist.facts WHERE bank = $1 AND run = $2 ORDER BY written";
                    ask(&client, select, &[&bank, &kept(run.as_str())]).await?
                }
                (None, None) => {
                    let select = "SELECT record FROM archivist.facts WHERE bank = $1 ORDER BY written";
                    ask(&client, select, &[&bank]).await?
                }
            };
            for row in &rows {
                facts.push(rows::record(row, "record")?);
            }
        }
        facts.retain(|fact| filter.admits(fact));
        Ok(facts)
    }

    pub(super) async fn try_stamp(&self) -> Result<Stamp, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let keys: Vec<&str> = self.keys().map(|(key, _)| key).collect();
        let select = "SELECT bank, written FROM archivist.banks WHERE key = ANY($1) ORDER BY bank";
        let mut stamp = String::new();
        for row in ask(&client, select, &[&keys]).await? {
            stamp.push_str(&format!("{:x}.", row.try_get::<_, i64>("written")?));
        }
        Ok(Stamp(stamp))
    }
}

fn admitted(rows: &[Row], filter: &EpisodeFilter) -> Result<Vec<Episode>, Trouble> {
    let mut episodes: Vec<Episode> = Vec::new();
    for row in rows {
        episodes.push(rows::record(row, "record")?);
    }
    episodes.retain(|episode| filter.admits(episode));
    Ok(episodes)
}
