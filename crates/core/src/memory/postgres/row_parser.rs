//! Parses the rows that the server returns.

use deadpool_postgres::Object;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::database_error::PostgresFailure;
use super::lexemes::TsVector;
use crate::domain::{AgentMemory, FacetSet, LessonAvailability, LessonCounters, MemoryId};
use crate::memory::lesson_matching::{LessonCard, LessonWorth, tie_break_hash};
use crate::memory::{Lesson, MemoryError};
use crate::recall::AgeingClass;

/// The beginning of a query for lessons with their newest version.
pub(super) const LESSON: &str = "SELECT l.id, l.version, l.counters, r.record FROM archivist.lessons l \
     JOIN archivist.revisions r ON r.bank = l.bank AND r.lesson = l.id AND r.version = l.version";

/// Runs a query through a cached prepared statement.
pub(super) async fn query_cached(
    client: &Object,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, PostgresFailure> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, values).await?)
}

/// Executes a command through a cached prepared statement, and returns the number of changed rows.
pub(super) async fn execute_cached(
    client: &Object,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, PostgresFailure> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, values).await?)
}

/// Parses a JSON record from a column; fails if it cannot be read.
pub(super) fn parse_record<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, PostgresFailure> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| {
        MemoryError::Interrupted(format!("a record on the server cannot be read ({error}): {}", shorten_text(text)))
            .into()
    })
}

fn shorten_text(text: &str) -> String {
    const SHOWN: usize = 80;
    text.chars().take(SHOWN).collect()
}

/// Parses a lesson from a row of a [`LESSON`] query.
pub(super) fn parse_lesson(row: &Row) -> Result<Lesson, PostgresFailure> {
    let memory: AgentMemory = parse_record(row, "record")?;
    let counters: LessonCounters = parse_record(row, "counters")?;
    Ok(Lesson::new(memory, parse_version(row)?, counters))
}

/// Parses the version in a row.
pub(super) fn parse_version(row: &Row) -> Result<u64, PostgresFailure> {
    Ok(u64::try_from(row.try_get::<_, i64>("version")?).unwrap_or_default())
}

/// The columns of a lesson that are needed to rank it.
#[derive(Debug)]
pub(super) struct NearbyLesson {
    pub(super) id: MemoryId,
    pub(super) card: LessonCard,
    pub(super) worth: LessonWorth,
}

/// The columns of a [`NearbyLesson`].
pub(super) const NEAR: &str = "id, standing, ageing, binding, is_global, has_repo, has_root, length, importance, \
     last_sign, traits";

impl NearbyLesson {
    pub(super) fn from_row(row: &Row) -> Result<Self, PostgresFailure> {
        let id: &str = row.try_get("id")?;
        let id = MemoryId::parse(id).map_err(|invalid| MemoryError::Interrupted(invalid.to_string()))?;
        let card = LessonCard {
            availability: state_from_number(row.try_get("standing")?),
            binding: FacetSet::from_bits(u8::try_from(row.try_get::<_, i32>("binding")?).unwrap_or_default()),
            ageing: ageing_from_number(row.try_get("ageing")?),
            global: row.try_get("is_global")?,
            has_repo: row.try_get("has_repo")?,
            has_root: row.try_get("has_root")?,
            length: u32::try_from(row.try_get::<_, i64>("length")?).unwrap_or(u32::MAX),
        };
        let worth = LessonWorth {
            importance: row.try_get("importance")?,
            last_sign: row.try_get("last_sign")?,
            lot: tie_break_hash(&id),
        };
        Ok(Self { id, card, worth })
    }
}

/// Returns the words of a lesson with their counts.
pub(super) fn word_vector(row: &Row) -> Result<TsVector<'_>, PostgresFailure> {
    Ok(row.try_get("words")?)
}

/// Returns the number that stands for a lesson's state.
pub(super) fn state_to_number(availability: LessonAvailability) -> i16 {
    match availability {
        LessonAvailability::Live => 0,
        LessonAvailability::Waiting => 1,
        LessonAvailability::Retired => 2,
    }
}

pub(super) fn state_from_number(number: i16) -> LessonAvailability {
    match number {
        0 => LessonAvailability::Live,
        1 => LessonAvailability::Waiting,
        _ => LessonAvailability::Retired,
    }
}

/// Returns the number that stands for a kind of ageing.
pub(super) fn ageing_to_number(ageing: AgeingClass) -> i16 {
    match ageing {
        AgeingClass::Lesson => 0,
        AgeingClass::Decision => 1,
        AgeingClass::Never => 2,
    }
}

fn ageing_from_number(number: i16) -> AgeingClass {
    match number {
        0 => AgeingClass::Lesson,
        1 => AgeingClass::Decision,
        _ => AgeingClass::Never,
    }
}
