//! Who may use which bank, where a team does not trust the program alone to keep banks apart.

use deadpool_postgres::Object;
use futures_util::FutureExt;

use super::bank::GLOBAL;
use super::server::Server;
use super::trouble::Trouble;
use super::work::Work;
use crate::memory::MemoryError;

/// Whether the server itself keeps banks apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSecurity {
    /// It does: a role sees the banks that it was let into.
    On,
    /// It does not: whoever may read the tables may read all banks.
    Off,
}

/// Switches row security on or off, for all tables at once.
pub async fn set_row_security(server: &Server, wanted: RowSecurity) -> Result<(), MemoryError> {
    server.persist("change row security", || try_set(server, wanted).boxed()).await
}

/// Lets a role into a bank, and into the bank of lessons that hold everywhere.
pub async fn grant(server: &Server, role: &str, bank: &str) -> Result<(), MemoryError> {
    server.persist("let a role in", || try_grant(server, role, bank).boxed()).await
}

/// Takes a role out of a bank; says whether it was in.
pub async fn revoke(server: &Server, role: &str, bank: &str) -> Result<bool, MemoryError> {
    server.persist("take a role out", || try_revoke(server, role, bank).boxed()).await
}

async fn try_set(server: &Server, wanted: RowSecurity) -> Result<(), Trouble> {
    let work = Work::begin(server.writing().await?).await?;
    let client = work.client()?;
    let verb = match wanted {
        RowSecurity::On => "ENABLE",
        RowSecurity::Off => "DISABLE",
    };
    for table in tables(client, "SELECT DISTINCT tablename FROM pg_policies WHERE schemaname = 'archivist'").await? {
        client.batch_execute(&format!("ALTER TABLE archivist.{} {verb} ROW LEVEL SECURITY", quoted(&table))).await?;
    }
    work.commit().await
}

async fn try_grant(server: &Server, role: &str, bank: &str) -> Result<(), Trouble> {
    let client = server.writing().await?;
    let mut banks = Vec::new();
    for key in [bank, GLOBAL] {
        banks.push(server.make_bank(&client, key).await?);
    }
    let work = Work::begin(client).await?;
    let client = work.client()?;
    let name = quoted(role);
    client.batch_execute(&format!("GRANT USAGE ON SCHEMA archivist TO {name}")).await?;
    let all = "SELECT tablename FROM pg_tables WHERE schemaname = 'archivist'";
    for table in tables(client, all).await? {
        let rights = match table.as_str() {
            "members" | "schema_versions" => "SELECT",
            _ => "SELECT, INSERT, UPDATE, DELETE",
        };
        client.batch_execute(&format!("GRANT {rights} ON archivist.{} TO {name}", quoted(&table))).await?;
    }
    client.batch_execute(&format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA archivist TO {name}")).await?;
    for number in banks {
        let insert = "INSERT INTO archivist.members (bank, role) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        client.execute(insert, &[&number, &role]).await?;
    }
    work.commit().await
}

async fn try_revoke(server: &Server, role: &str, bank: &str) -> Result<bool, Trouble> {
    let client = server.writing().await?;
    let delete = "DELETE FROM archivist.members WHERE role = $2 \
         AND bank = (SELECT bank FROM archivist.banks WHERE key = $1)";
    Ok(client.execute(delete, &[&bank, &role]).await? > 0)
}

async fn tables(client: &Object, select: &str) -> Result<Vec<String>, Trouble> {
    let mut names = Vec::new();
    for row in client.query(select, &[]).await? {
        names.push(row.try_get(0)?);
    }
    Ok(names)
}

/// A name as the server reads it, whatever stands in it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
