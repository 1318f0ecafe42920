//! Banks and their numbers.

use deadpool_postgres::GenericClient;

use super::server::Server;
use super::trouble::Trouble;

/// The bank of the lessons that hold everywhere.
pub const GLOBAL: &str = "global";

impl Server {
    /// The number of a bank; `None` where nobody wrote to it yet.
    pub(super) async fn bank(&self, client: &impl GenericClient, key: &str) -> Result<Option<i64>, Trouble> {
        if let Some(known) = self.known_bank(key) {
            return Ok(Some(known));
        }
        let select = client.prepare_cached("SELECT bank FROM archivist.banks WHERE key = $1").await?;
        let Some(row) = client.query_opt(&select, &[&key]).await? else { return Ok(None) };
        let bank = row.try_get(0)?;
        self.know_bank(key, bank);
        Ok(Some(bank))
    }

    /// The number of a bank, which is made where there is none. Outside of any transaction: a bank that is being made
    /// would keep everybody waiting who needs it, too.
    pub(super) async fn make_bank(&self, client: &impl GenericClient, key: &str) -> Result<i64, Trouble> {
        if let Some(known) = self.bank(client, key).await? {
            return Ok(known);
        }
        let insert = "WITH new AS (INSERT INTO archivist.banks (key, channel) \
             VALUES ($1, 'archivist_' || replace(gen_random_uuid()::text, '-', '')) \
             ON CONFLICT (key) DO NOTHING RETURNING bank) \
             INSERT INTO archivist.turns (bank) SELECT bank FROM new";
        client.execute(insert, &[&key]).await?;
        let bank: i64 =
            client.query_one("SELECT bank FROM archivist.banks WHERE key = $1", &[&key]).await?.try_get(0)?;
        self.know_bank(key, bank);
        Ok(bank)
    }
}
