//! Access control for banks, where a team does not rely on the program alone to keep banks apart.

use deadpool_postgres::Object;
use futures_util::FutureExt;

use super::bank::GLOBAL;
use super::database_error::PostgresFailure;
use super::server::PostgresServer;
use super::transaction::OpenTransaction;
use crate::memory::MemoryError;

/// The server's own separation of banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSecurity {
    /// A role sees only the banks that it was granted.
    On,
    /// Every role that may read the tables may read all banks.
    Off,
}

/// Switches row security on or off, for all tables at once.
pub async fn set_row_security(server: &PostgresServer, wanted: RowSecurity) -> Result<(), MemoryError> {
    server.run_with_retries("change row security", || try_set_row_security(server, wanted).boxed()).await
}

/// Grants a role access to a bank and to the global bank.
pub async fn grant_access(server: &PostgresServer, role: &str, bank: &str) -> Result<(), MemoryError> {
    server.run_with_retries("let a role in", || try_grant(server, role, bank).boxed()).await
}

/// Revokes a role's access to a bank; returns true if it had access.
pub async fn revoke_access(server: &PostgresServer, role: &str, bank: &str) -> Result<bool, MemoryError> {
    server.run_with_retries("take a role out", || try_revoke(server, role, bank).boxed()).await
}

async fn try_set_row_security(server: &PostgresServer, wanted: RowSecurity) -> Result<(), PostgresFailure> {
    let work = OpenTransaction::begin(server.write_connection().await?).await?;
    let client = work.client()?;
    let verb = match wanted {
        RowSecurity::On => "ENABLE",
        RowSecurity::Off => "DISABLE",
    };
    for table in
        list_tables(client, "SELECT DISTINCT tablename FROM pg_policies WHERE schemaname = 'archivist'").await?
    {
        client
            .batch_execute(&format!("ALTER TABLE archivist.{} {verb} ROW LEVEL SECURITY", quote_identifier(&table)))
            .await?;
    }
    work.commit().await
}

async fn try_grant(server: &PostgresServer, role: &str, bank: &str) -> Result<(), PostgresFailure> {
    let client = server.write_connection().await?;
    let mut banks = Vec::new();
    for key in [bank, GLOBAL] {
        banks.push(server.ensure_bank(&client, key).await?);
    }
    let work = OpenTransaction::begin(client).await?;
    let client = work.client()?;
    let name = quote_identifier(role);
    client.batch_execute(&format!("GRANT USAGE ON SCHEMA archivist TO {name}")).await?;
    let all = "SELECT tablename FROM pg_tables WHERE schemaname = 'archivist'";
    for table in list_tables(client, all).await? {
        let rights = match table.as_str() {
            "members" | "schema_versions" => "SELECT",
            _ => "SELECT, INSERT, UPDATE, DELETE",
        };
        client.batch_execute(&format!("GRANT {rights} ON archivist.{} TO {name}", quote_identifier(&table))).await?;
    }
    client.batch_execute(&format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA archivist TO {name}")).await?;
    for number in banks {
        let insert = "INSERT INTO archivist.members (bank, role) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        client.execute(insert, &[&number, &role]).await?;
    }
    work.commit().await
}

async fn try_revoke(server: &PostgresServer, role: &str, bank: &str) -> Result<bool, PostgresFailure> {
    let client = server.write_connection().await?;
    let delete = "DELETE FROM archivist.members WHERE role = $2 \
         AND bank = (SELECT bank FROM archivist.banks WHERE key = $1)";
    Ok(client.execute(delete, &[&bank, &role]).await? > 0)
}

async fn list_tables(client: &Object, select: &str) -> Result<Vec<String>, PostgresFailure> {
    let mut names = Vec::new();
    for row in client.query(select, &[]).await? {
        names.push(row.try_get(0)?);
    }
    Ok(names)
}

/// Quotes an identifier for SQL, whatever characters it has.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
