//! The database schema and its migrations: each is applied once, in order.

use deadpool_postgres::Object;
use futures_util::FutureExt;
use serde::Serialize;
use tokio_postgres::error::SqlState;

use super::database_error::PostgresFailure;
use super::server::{PostgresServer, SchemaMatch};
use crate::memory::MemoryError;

/// One migration. Released ones never change; new ones are appended.
struct MigrationScript {
    version: i32,
    name: &'static str,
    sql: &'static str,
}

macro_rules! migrations {
    ($($version:literal $name:literal),+ $(,)?) => {
        &[$(MigrationScript {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../../../../../migrations/", $name, ".sql")),
        }),+]
    };
}

const MIGRATIONS: &[MigrationScript] = migrations![
    1 "0001_memory",
    2 "0002_jobs",
    3 "0003_events",
    4 "0004_spend",
    5 "0005_row_security",
    6 "0006_vectors",
    7 "0007_waiting",
    8 "0008_erasures",
];

/// The advisory lock that is held while the tables change, so that two processes do not both change them.
const LOCK: i64 = 0x6172_6368_6976_6973;

const LEDGER: &str = "
    CREATE SCHEMA IF NOT EXISTS archivist;
    CREATE TABLE IF NOT EXISTS archivist.schema_versions (
        version integer PRIMARY KEY,
        name text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    );";

/// One migration and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MigrationStep {
    /// The version it leads to.
    pub version: i32,
    /// The name of the migration.
    pub name: String,
    /// The state of the migration.
    pub state: MigrationStepState,
}

/// The state of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MigrationStepState {
    /// It was applied before.
    Applied,
    /// It was applied now.
    New,
    /// It is still to be applied.
    Pending,
    /// A newer program applied it.
    Unknown,
}

/// Returns the newest schema version that this program knows.
pub(super) fn newest_version() -> i32 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

/// Brings the tables up to date.
pub async fn migrate_schema(server: &PostgresServer) -> Result<Vec<MigrationStep>, MemoryError> {
    server.run_with_retries("change the tables", || try_migrate_schema(server).boxed()).await
}

/// Returns the migrations and their states. Changes nothing.
pub async fn list_migration_steps(server: &PostgresServer) -> Result<Vec<MigrationStep>, MemoryError> {
    server.run_with_retries("look at the tables", || try_list_steps(server).boxed()).await
}

/// Compares the schema of the server with the one that this program knows.
pub(super) async fn check_schema(client: &Object) -> Result<SchemaMatch, PostgresFailure> {
    let found = read_schema_version(client).await?;
    if found > newest_version() {
        tracing::warn!(
            found,
            known = newest_version(),
            "the tables were made by a newer archivist; they are only read"
        );
        return Ok(SchemaMatch::Newer(found));
    }
    if found < newest_version() {
        return Err(MemoryError::SchemaOlder { found, needed: newest_version() }.into());
    }
    Ok(SchemaMatch::Known)
}

async fn read_schema_version(client: &Object) -> Result<i32, PostgresFailure> {
    let row = client.query_one("SELECT coalesce(max(version), 0) FROM archivist.schema_versions", &[]).await?;
    Ok(row.try_get(0)?)
}

async fn try_migrate_schema(server: &PostgresServer) -> Result<Vec<MigrationStep>, PostgresFailure> {
    let mut client = server.unchecked_connection().await?;
    // A migration may take longer than other statements.
    client.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").await?;
    let taken = apply_migrations(&mut client).await;
    // A connection without timeouts must not return to the pool.
    drop(Object::take(client));
    taken
}

async fn apply_migrations(client: &mut Object) -> Result<Vec<MigrationStep>, PostgresFailure> {
    let mut steps = Vec::new();
    for migration in MIGRATIONS {
        let transaction = client.transaction().await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.batch_execute(LEDGER).await?;
        let known = transaction
            .query_opt("SELECT 1 FROM archivist.schema_versions WHERE version = $1", &[&migration.version])
            .await?;
        let state = if known.is_some() {
            MigrationStepState::Applied
        } else {
            transaction.batch_execute(migration.sql).await?;
            transaction
                .execute(
                    "INSERT INTO archivist.schema_versions (version, name) VALUES ($1, $2)",
                    &[&migration.version, &migration.name],
                )
                .await?;
            MigrationStepState::New
        };
        transaction.commit().await?;
        steps.push(MigrationStep { version: migration.version, name: migration.name.to_owned(), state });
    }
    steps.extend(list_unknown_steps(client).await?);
    Ok(steps)
}

async fn try_list_steps(server: &PostgresServer) -> Result<Vec<MigrationStep>, PostgresFailure> {
    let client = server.unchecked_connection().await?;
    let found = match read_schema_version(&client).await {
        Ok(found) => found,
        Err(PostgresFailure::Server(error))
            if matches!(error.code(), Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME)) =>
        {
            0
        }
        Err(error) => return Err(error),
    };
    let state = |version: i32| if version <= found { MigrationStepState::Applied } else { MigrationStepState::Pending };
    let known = MIGRATIONS.iter().map(|migration| MigrationStep {
        version: migration.version,
        name: migration.name.to_owned(),
        state: state(migration.version),
    });
    let mut steps: Vec<MigrationStep> = known.collect();
    if found > newest_version() {
        steps.extend(list_unknown_steps(&client).await?);
    }
    Ok(steps)
}

/// Lists the applied migrations that this program does not know.
async fn list_unknown_steps(client: &Object) -> Result<Vec<MigrationStep>, PostgresFailure> {
    let select = "SELECT version, name FROM archivist.schema_versions WHERE version > $1 ORDER BY version";
    let mut steps = Vec::new();
    for row in client.query(select, &[&newest_version()]).await? {
        steps.push(MigrationStep {
            version: row.try_get(0)?,
            name: row.try_get(1)?,
            state: MigrationStepState::Unknown,
        });
    }
    Ok(steps)
}
