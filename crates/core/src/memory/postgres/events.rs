//! The events of a bank, in the order in which they become visible: a feed that machines share.
//!
//! The table is the source of truth, and a notification only says that there may be new events. A reader that was
//! disconnected continues after the last number it saw, and misses nothing.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::GenericClient;
use futures_util::FutureExt;

use super::database_error::PostgresFailure;
use super::notifications::PostgresListener;
use super::server::{DURABLY, PostgresServer, ServerRole};
use crate::memory::MemoryError;

/// The most events that one read returns.
const AT_ONCE: i64 = 1_000;

/// The most events that one delete removes, which bounds how long appends wait for it.
const PRUNED_AT_ONCE: i64 = 1_000;

/// The event feed of one bank.
#[derive(Debug, Clone)]
pub struct EventFeed {
    server: Arc<PostgresServer>,
    bank: Arc<str>,
}

/// An event to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The unique key of the event. An event that is appended twice under one key is stored once.
    pub key: String,
    /// The content of the event.
    pub record: String,
}

/// An event that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The event's number. Later events have greater numbers and become visible later.
    pub number: u64,
    /// The content of the event.
    pub record: String,
}

/// A page of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPage {
    /// The first events after the requested number.
    pub events: Vec<StoredEvent>,
    /// The last number that was assigned.
    pub last: u64,
}

impl EventFeed {
    /// Creates the feed of the bank with this key. Connects only when it is used.
    pub fn new(server: Arc<PostgresServer>, bank: &str) -> Self {
        Self { server, bank: bank.into() }
    }

    /// Appends all events in one transaction, in their order. Events whose key is known are left out.
    pub async fn append_events(&self, events: &[NewEvent]) -> Result<(), MemoryError> {
        self.server.run_with_retries("tell what happens", || self.try_append(events).boxed()).await
    }

    /// Appends all events, but retries a server that does not respond for no longer than `patience`.
    pub async fn append_within(&self, patience: Duration, events: &[NewEvent]) -> Result<(), MemoryError> {
        self.server.run_with_retries_for(patience, "tell what happens", || self.try_append(events).boxed()).await
    }

    async fn try_append(&self, events: &[NewEvent]) -> Result<(), PostgresFailure> {
        if events.is_empty() {
            return Ok(());
        }
        let mut client = self.server.write_connection().await?;
        let bank = self.server.ensure_bank(&client, &self.bank).await?;
        let transaction = client.transaction().await?;
        // From here on nobody else appends to this bank. Later statements see all earlier events.
        let last = lock_feed(&transaction, bank).await?;
        let keys: Vec<&str> = events.iter().map(|event| event.key.as_str()).collect();
        let records: Vec<&str> = events.iter().map(|event| event.record.as_str()).collect();
        let insert = transaction.prepare_cached(INSERT).await?;
        transaction.execute(&insert, &[&bank, &last, &keys, &records]).await?;
        Ok(transaction.commit().await?)
    }

    /// Returns the events after this number that fit on a page. A number that was never assigned, as after a server
    /// lost its last commits, yields no events.
    pub async fn read_after(&self, number: u64) -> Result<EventPage, MemoryError> {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.server.run_with_retries("read what happened", || self.try_read_after(number).boxed()).await
    }

    async fn try_read_after(&self, number: i64) -> Result<EventPage, PostgresFailure> {
        // A standby may not have the notified events yet.
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let Some(bank) = self.server.find_bank(&client, &self.bank).await? else { return Ok(EventPage::default()) };
        let select = client.prepare_cached(SELECT).await?;
        let mut page = EventPage::default();
        for row in client.query(&select, &[&bank, &number, &AT_ONCE]).await? {
            page.last = to_unsigned(row.try_get(0)?);
            if let Some(number) = row.try_get::<_, Option<i64>>(1)? {
                page.events.push(StoredEvent { number: to_unsigned(number), record: row.try_get(2)? });
            }
        }
        Ok(page)
    }

    /// Returns the last number that was assigned; 0 before the first.
    pub async fn last_number(&self) -> Result<u64, MemoryError> {
        // No event has a greater number, so that only the last number is read.
        let page = self.server.run_with_retries("read what happened", || self.try_read_after(i64::MAX).boxed()).await?;
        Ok(page.last)
    }

    /// Starts a listener that signals new events until it is dropped. Must be called within a runtime.
    pub fn start_listener(&self) -> PostgresListener {
        PostgresListener::start_listening(Arc::clone(&self.server), Arc::clone(&self.bank))
    }

    /// Deletes a bounded number of events older than `age`, the oldest first, and returns how many; 0 means that none
    /// are left.
    pub async fn prune_events(&self, age: Duration) -> Result<u64, MemoryError> {
        self.server.run_with_retries("forget what happened long ago", || self.try_prune(age).boxed()).await
    }

    async fn try_prune(&self, age: Duration) -> Result<u64, PostgresFailure> {
        let client = self.server.write_connection().await?;
        let Some(bank) = self.server.find_bank(&client, &self.bank).await? else { return Ok(0) };
        let delete = client.prepare_cached(PRUNE).await?;
        Ok(client.execute(&delete, &[&bank, &PRUNED_AT_ONCE, &age.as_secs_f64()]).await?)
    }
}

/// Numbers and stores the events that are new, and notifies the bank's channel. Roles that may not read the bank do not
/// know the channel, and the notification has no content.
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

/// Only the oldest events are examined: if they are young, all are.
const PRUNE: &str = "
    DELETE FROM archivist.events WHERE bank = $1 AND number IN (
        SELECT number FROM (
            SELECT number, at FROM archivist.events WHERE bank = $1 ORDER BY number LIMIT $2
        ) oldest WHERE at < now() - make_interval(secs => $3)
    )";

/// Locks the event counter of a bank until the transaction ends, and returns its value.
async fn lock_feed(client: &impl GenericClient, bank: i64) -> Result<i64, PostgresFailure> {
    let lock = format!("SELECT last, {DURABLY} FROM archivist.feeds WHERE bank = $1 FOR UPDATE");
    let lock = client.prepare_cached(&lock).await?;
    if let Some(row) = client.query_opt(&lock, &[&bank]).await? {
        return Ok(row.try_get(0)?);
    }
    client.execute("INSERT INTO archivist.feeds (bank) VALUES ($1) ON CONFLICT (bank) DO NOTHING", &[&bank]).await?;
    Ok(client.query_one(&lock, &[&bank]).await?.try_get(0)?)
}

fn to_unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
