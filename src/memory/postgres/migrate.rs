//! The tables, and how they came to be: each step once, in order, for ever.

use deadpool_postgres::Object;
use futures_util::FutureExt;
use serde::Serialize;
use tokio_postgres::error::SqlState;

use super::server::{Schema, Server};
use super::trouble::Trouble;
use crate::memory::MemoryError;

/// One step. What was released is never changed; what comes is added behind.
struct Migration {
    version: i32,
    name: &'static str,
    sql: &'static str,
}

macro_rules! migrations {
    ($($version:literal $name:literal),+ $(,)?) => {
        &[$(Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../../../migrations/", $name, ".sql")),
        }),+]
    };
}

const MIGRATIONS: &[Migration] = migrations![
    1 "0001_memory",
    2 "0002_jobs",
    3 "0003_events",
    4 "0004_spend",
    5 "0005_row_security",
    6 "0006_vectors",
    7 "0007_waiting",
];

/// Held while the tables change, so that two who start at once do not both change them.
const LOCK: i64 = 0x6172_6368_6976_6973;

const LEDGER: &str = "
    CREATE SCHEMA IF NOT EXISTS archivist;
    CREATE TABLE IF NOT EXISTS archivist.schema_versions (
        version integer PRIMARY KEY,
        name text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    );";

/// One step, and whether it was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its number.
    pub version: i32,
    /// What it is called.
    pub name: String,
    /// How it stands.
    pub state: StepState,
}

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It was taken before.
    Applied,
    /// It was taken now.
    New,
    /// It is still to be taken.
    Pending,
    /// A newer program took it.
    Unknown,
}

/// The newest schema that this program knows.
pub(super) fn newest() -> i32 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

/// Brings the tables up to date.
pub async fn migrate(server: &Server) -> Result<Vec<Step>, MemoryError> {
    server.persist("change the tables", || apply(server).boxed()).await
}

/// How the tables stand. Changes nothing.
pub async fn steps(server: &Server) -> Result<Vec<Step>, MemoryError> {
    server.persist("look at the tables", || pending(server).boxed()).await
}

/// How the schema stands to this program.
pub(super) async fn check(client: &Object) -> Result<Schema, Trouble> {
    let found = version(client).await?;
    if found > newest() {
        tracing::warn!(found, known = newest(), "the tables were made by a newer archivist; they are only read");
        return Ok(Schema::Newer(found));
    }
    if found < newest() {
        return Err(MemoryError::SchemaOlder { found, needed: newest() }.into());
    }
    Ok(Schema::Known)
}

async fn version(client: &Object) -> Result<i32, Trouble> {
    let row = client.query_one("SELECT coalesce(max(version), 0) FROM archivist.schema_versions", &[]).await?;
    Ok(row.try_get(0)?)
}

async fn apply(server: &Server) -> Result<Vec<Step>, Trouble> {
    let mut client = server.bare().await?;
    // It may take longer than a statement otherwise may.
    client.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").await?;
    let taken = apply_with(&mut client).await;
    // A connection without its bounds does not go back.
    drop(Object::take(client));
    taken
}

async fn apply_with(client: &mut Object) -> Result<Vec<Step>, Trouble> {
    let mut steps = Vec::new();
    for migration in MIGRATIONS {
        let transaction = client.transaction().await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.batch_execute(LEDGER).await?;
        let known = transaction
            .query_opt("SELECT 1 FROM archivist.schema_versions WHERE version = $1", &[&migration.version])
            .await?;
        let state = if known.is_some() {
            StepState::Applied
        } else {
            transaction.batch_execute(migration.sql).await?;
            transaction
                .execute(
                    "INSERT INTO archivist.schema_versions (version, name) VALUES ($1, $2)",
                    &[&migration.version, &migration.name],
                )
                .await?;
            StepState::New
        };
        transaction.commit().await?;
        steps.push(Step { version: migration.version, name: migration.name.to_owned(), state });
    }
    steps.extend(newer(client).await?);
    Ok(steps)
}

async fn pending(server: &Server) -> Result<Vec<Step>, Trouble> {
    let client = server.bare().await?;
    let found = match version(&client).await {
        Ok(found) => found,
        Err(Trouble::Server(error))
            if matches!(error.code(), Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME)) =>
        {
            0
        }
        Err(trouble) => return Err(trouble),
    };
    let state = |version: i32| if version <= found { StepState::Applied } else { StepState::Pending };
    let known = MIGRATIONS.iter().map(|migration| Step {
        version: migration.version,
        name: migration.name.to_owned(),
        state: state(migration.version),
    });
    let mut steps: Vec<Step> = known.collect();
    if found > newest() {
        steps.extend(newer(&client).await?);
    }
    Ok(steps)
}

/// Steps that this program does not know.
async fn newer(client: &Object) -> Result<Vec<Step>, Trouble> {
    let select = "SELECT version, name FROM archivist.schema_versions WHERE version > $1 ORDER BY version";
    let mut steps = Vec::new();
    for row in client.query(select, &[&newest()]).await? {
        steps.push(Step { version: row.try_get(0)?, name: row.try_get(1)?, state: StepState::Unknown });
    }
    Ok(steps)
}
