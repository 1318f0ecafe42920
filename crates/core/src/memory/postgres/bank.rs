//! Banks and their numbers.

use deadpool_postgres::GenericClient;

use super::database_error::PostgresFailure;
use super::server::PostgresServer;

/// The key of the global bank.
pub const GLOBAL: &str = "global";

impl PostgresServer {
    /// Returns the number of a bank; `None` if it was not created yet.
    pub(super) async fn find_bank(
        &self,
        client: &impl GenericClient,
        key: &str,
    ) -> Result<Option<i64>, PostgresFailure> {
        if let Some(known) = self.cached_bank(key) {
            return Ok(Some(known));
        }
        let select = client.prepare_cached("SELECT bank FROM archivist.banks WHERE key = $1").await?;
        let Some(row) = client.query_opt(&select, &[&key]).await? else { return Ok(None) };
        let bank = row.try_get(0)?;
        self.cache_bank(key, bank);
        Ok(Some(bank))
    }

    /// Returns the number of a bank, and creates the bank if there is none. Runs outside of any transaction: an
    /// uncommitted bank would block all who need it.
    pub(super) async fn ensure_bank(&self, client: &impl GenericClient, key: &str) -> Result<i64, PostgresFailure> {
        if let Some(known) = self.find_bank(client, key).await? {
            return Ok(known);
        }
        let insert = "WITH new AS (INSERT INTO archivist.banks (key, channel) \
             VALUES ($1, 'archivist_' || replace(gen_random_uuid()::text, '-', '')) \
             ON CONFLICT (key) DO NOTHING RETURNING bank) \
             INSERT INTO archivist.turns (bank) SELECT bank FROM new";
        client.execute(insert, &[&key]).await?;
        let bank: i64 =
            client.query_one("SELECT bank FROM archivist.banks WHERE key = $1", &[&key]).await?.try_get(0)?;
        self.cache_bank(key, bank);
        Ok(bank)
    }
}
