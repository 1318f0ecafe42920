//! What was told in a bank, in the order in which it can be seen: a feed that machines share.
//!
//! The table is the truth, and a notification only says that there is something to look at. So whoever was cut off reads
//! on behind the last number they saw, and has missed nothing.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::GenericClient;
use futures_util::FutureExt;

use super::bell::Bell;
use super::server::{DURABLY, Role, Server};
use super::trouble::Trouble;
use crate::memory::MemoryError;

/// So many are read at once.
const AT_ONCE: i64 = 1_000;

/// So many are taken out at once: whoever tells waits no longer than that takes.
const PRUNED_AT_ONCE: i64 = 1_000;

/// The feed of one bank.
#[derive(Debug, Clone)]
pub struct Events {
    server: Arc<Server>,
    bank: Arc<str>,
}

/// Something to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Nothing else that is told has it. What is told twice under one key is there once.
    pub key: String,
    /// What is told.
    pub record: String,
}

/// Something that was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Those of what is told later are greater, and it is seen later.
    pub number: u64,
    /// What was told.
    pub record: String,
}

/// A piece of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The first ones behind the number that was asked for.
    pub events: Vec<StoredEvent>,
    /// The last number that was given out.
    pub last: u64,
}

impl Events {
    /// The feed of the bank of this name. Nothing is asked yet.
    pub fn new(server: Arc<Server>, bank: &str) -> Self {
        Self { server, bank: bank.into() }
    }

    /// Tells all of these in one go, in their order. What is known by its key is left alone.
    pub async fn append(&self, events: &[NewEvent]) -> Result<(), MemoryError> {
        self.server.persist("tell what happens", || self.try_append(events).boxed()).await
    }

    /// The same for whoever does not want to wait longer than this for a server that is away.
    pub async fn append_within(&self, patience: Duration, events: &[NewEvent]) -> Result<(), MemoryError> {
        self.server.persist_for(patience, "tell what happens", || self.try_append(events).boxed()).await
    }

    async fn try_append(&self, events: &[NewEvent]) -> Result<(), Trouble> {
        if events.is_empty() {
            return Ok(());
        }
        let mut client = self.server.writing().await?;
        let bank = self.server.make_bank(&client, &self.bank).await?;
        let transaction = client.transaction().await?;
        // From here on nobody else tells in this bank. Statements that follow see everything that was told before.
        let last = locked(&transaction, bank).await?;
        let keys: Vec<&str> = events.iter().map(|event| event.key.as_str()).collect();
        let records: Vec<&str> = events.iter().map(|event| event.record.as_str()).collect();
        let insert = transaction.prepare_cached(INSERT).await?;
        transaction.execute(&insert, &[&bank, &last, &keys, &records]).await?;
        Ok(transaction.commit().await?)
    }

    /// What was told behind this number, as far as it fits on a page. A number that was never given out counts as the
    /// last one: it is from a server whose last moments are lost.
    pub async fn after(&self, number: u64) -> Result<Page, MemoryError> {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.server.persist("read what happened", || self.try_after(number).boxed()).await
    }

    async fn try_after(&self, number: i64) -> Result<Page, Trouble> {
        // A standby may not have yet what a notification speaks of.
        let client = self.server.reading(Role::Writer).await?;
        let Some(bank) = self.server.bank(&client, &self.bank).await? else { return Ok(Page::default()) };
        let select = client.prepare_cached(SELECT).await?;
        let mut page = Page::default();
        for row in client.query(&select, &[&bank, &number, &AT_ONCE]).await? {
            page.last = unsigned(row.try_get(0)?);
            if let Some(number) = row.try_get::<_, Option<i64>>(1)? {
                page.events.push(StoredEvent { number: unsigned(number), record: row.try_get(2)? });
            }
        }
        Ok(page)
    }

    /// The last number that was given out; 0 before the first.
    pub async fn last(&self) -> Result<u64, MemoryError> {
        // Nothing comes behind this one, so that only the number is read.
        let page = self.server.persist("read what happened", || self.try_after(i64::MAX).boxed()).await?;
        Ok(page.last)
    }

    /// Rings whenever something is told, until it is dropped. Must be called where there is a runtime.
    pub fn listen(&self) -> Bell {
        Bell::hang(Arc::clone(&self.server), Arc::clone(&self.bank))
    }

    /// Takes out some of what was told longer ago than this, the oldest first, and says how many that were. It did its
    /// part when it says 0.
    pub async fn prune(&self, age: Duration) -> Result<u64, MemoryError> {
        self.server.persist("forget what happened long ago", || self.try_prune(age).boxed()).await
    }

    async fn try_prune(&self, age: Duration) -> Result<u64, Trouble> {
        let client = self.server.writing().await?;
        let Some(bank) = self.server.bank(&client, &self.bank).await? else { return Ok(0) };
        let delete = client.prepare_cached(PRUNE).await?;
        Ok(client.execute(&delete, &[&bank, &PRUNED_AT_ONCE, &age.as_secs_f64()]).await?)
    }
}

/// Numbers those that are new, counts them, and says that there is news. Whoever may not read the bank does not know the
/// channel, and on the channel nothing is said but that.
const INSERT: &str = "
    WITH told AS (
        SELECT key, record, place FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS told (key, record, place)
        WHERE NOT EXISTS (SELECT 1 FROM archivist.events known WHERE known.bank = $1 AND known.key = told.key)
    ), fresh AS (
        INSERT INTO archivist.events (bank, number, key, record)
        SELECT $1, $2 + row_number() OVER (ORDER BY place), key, record FROM told
        ON CONFLICT (bank, key) DO NOTHING
        RETURNING number
    ), counted AS (
        UPDATE archivist.feeds SET last = greatest(last, (SELECT max(number) FROM fresh)) WHERE bank = $1
    )
    SELECT pg_notify(channel, '') FROM archivist.banks WHERE bank = $1 AND EXISTS (SELECT 1 FROM fresh)";

const SELECT: &str = "
    SELECT feed.last, event.number, event.record
    FROM archivist.feeds feed LEFT JOIN LATERAL (
        SELECT number, record FROM archivist.events
        WHERE bank = feed.bank AND number > $2 ORDER BY number LIMIT $3
    ) event ON true
    WHERE feed.bank = $1 ORDER BY event.number";

/// Only the oldest are looked at: where they are young, so are all.
const PRUNE: &str = "
    DELETE FROM archivist.events WHERE bank = $1 AND number IN (
        SELECT number FROM (
            SELECT number, at FROM archivist.events WHERE bank = $1 ORDER BY number LIMIT $2
        ) oldest WHERE at < now() - make_interval(secs => $3)
    )";

/// Locks the count of a bank's messages until the transaction ends.
async fn locked(client: &impl GenericClient, bank: i64) -> Result<i64, Trouble> {
    let lock = format!("SELECT last, {DURABLY} FROM archivist.feeds WHERE bank = $1 FOR UPDATE");
    let lock = client.prepare_cached(&lock).await?;
    if let Some(row) = client.query_opt(&lock, &[&bank]).await? {
        return Ok(row.try_get(0)?);
    }
    client.execute("INSERT INTO archivist.feeds (bank) VALUES ($1) ON CONFLICT (bank) DO NOTHING", &[&bank]).await?;
    Ok(client.query_one(&lock, &[&bank]).await?.try_get(0)?)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
