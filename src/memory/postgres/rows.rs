//! Records as they come from the server.

use deadpool_postgres::Object;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::trouble::Trouble;
use super::words::Vector;
use crate::domain::{AgentMemory, Counters, FacetSet, MemoryId, Standing};
use crate::memory::search::{Card, Worth, lot};
use crate::memory::{Lesson, MemoryError};
use crate::recall::Ageing;

/// A lesson with its newest version; every such question begins like this.
pub(super) const LESSON: &str = "SELECT l.id, l.version, l.counters, r.record FROM archivist.lessons l \
     JOIN archivist.revisions r ON r.bank = l.bank AND r.lesson = l.id AND r.version = l.version";

/// Asks a question that is asked often: the server remembers what it means.
pub(super) async fn ask(client: &Object, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Trouble> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, values).await?)
}

/// Carries out an order that is given often.
pub(super) async fn tell(client: &Object, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Trouble> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, values).await?)
}

/// A record of ours. What we cannot read was written by somebody else, and is not guessed at.
pub(super) fn record<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, Trouble> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| {
        MemoryError::Interrupted(format!("a record on the server cannot be read ({error}): {}", short(text))).into()
    })
}

fn short(text: &str) -> String {
    const SHOWN: usize = 80;
    text.chars().take(SHOWN).collect()
}

/// A lesson as it stands now, asked for by [`LESSON`].
pub(super) fn lesson(row: &Row) -> Result<Lesson, Trouble> {
    let memory: AgentMemory = record(row, "record")?;
    let counters: Counters = record(row, "counters")?;
    Ok(Lesson::new(memory, version(row)?, counters))
}

/// The version that a row tells of.
pub(super) fn version(row: &Row) -> Result<u64, Trouble> {
    Ok(u64::try_from(row.try_get::<_, i64>("version")?).unwrap_or_default())
}

/// What is looked at of every lesson that comes near a question.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) id: MemoryId,
    pub(super) card: Card,
    pub(super) worth: Worth,
}

/// The columns of a [`Near`].
pub(super) const NEAR: &str = "id, standing, ageing, binding, is_global, has_repo, has_root, length, importance, \
     last_sign, traits";

impl Near {
    pub(super) fn of(row: &Row) -> Result<Self, Trouble> {
        let id: &str = row.try_get("id")?;
        let id = MemoryId::parse(id).map_err(|invalid| MemoryError::Interrupted(invalid.to_string()))?;
        let card = Card {
            standing: standing_of(row.try_get("standing")?),
            binding: FacetSet::from_bits(u8::try_from(row.try_get::<_, i32>("binding")?).unwrap_or_default()),
            ageing: ageing_of(row.try_get("ageing")?),
            global: row.try_get("is_global")?,
            has_repo: row.try_get("has_repo")?,
            has_root: row.try_get("has_root")?,
            length: u32::try_from(row.try_get::<_, i64>("length")?).unwrap_or(u32::MAX),
        };
        let worth =
            Worth { importance: row.try_get("importance")?, last_sign: row.try_get("last_sign")?, lot: lot(&id) };
        Ok(Self { id, card, worth })
    }
}

/// The words of a lesson, and how much each counts.
pub(super) fn words(row: &Row) -> Result<Vector<'_>, Trouble> {
    Ok(row.try_get("words")?)
}

/// The number that stands for a standing.
pub(super) fn standing_number(standing: Standing) -> i16 {
    match standing {
        Standing::Live => 0,
        Standing::Waiting => 1,
        Standing::Retired => 2,
    }
}

pub(super) fn standing_of(number: i16) -> Standing {
    match number {
        0 => Standing::Live,
        1 => Standing::Waiting,
        _ => Standing::Retired,
    }
}

/// The number that stands for a way to grow old.
pub(super) fn ageing_number(ageing: Ageing) -> i16 {
    match ageing {
        Ageing::Lesson => 0,
        Ageing::Decision => 1,
        Ageing::Never => 2,
    }
}

fn ageing_of(number: i16) -> Ageing {
    match number {
        0 => Ageing::Lesson,
        1 => Ageing::Decision,
        _ => Ageing::Never,
    }
}
