//! Listens for notifications from the server.
//!
//! Notifications only save polling: events are in tables, and those who wait for a notification poll now and then as
//! well. A lost connection is made again, and then a notification is signalled, because some may have been missed.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::GenericClient;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls};

use super::database_error::PostgresFailure;
use super::server::{PostgresServer, ServerRole};

/// The first and the longest pause before connecting again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The interval at which a missing bank is looked for.
const UNMADE: Duration = Duration::from_millis(500);

/// Signals that there may be new events. Stops listening when it is dropped.
#[derive(Debug)]
pub struct PostgresListener {
    answer_format: watch::Receiver<u64>,
    ringer: JoinHandle<()>,
}

impl PostgresListener {
    pub(super) fn start_listening(server: Arc<PostgresServer>, bank: Arc<str>) -> Self {
        let (ring, answer_format) = watch::channel(0);
        Self { answer_format, ringer: tokio::spawn(keep_listening(server, bank, ring)) }
    }

    /// Completes once a notification has arrived since the last call; several notifications count as one.
    pub async fn wait_for_notification(&mut self) {
        if self.answer_format.changed().await.is_err() {
            // The sender is gone. Callers poll now and then, so they do not wait for this alone.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for PostgresListener {
    fn drop(&mut self) {
        self.ringer.abort();
    }
}

/// Keeps listening and reconnecting until the task is aborted.
async fn keep_listening(server: Arc<PostgresServer>, bank: Arc<str>, ring: watch::Sender<u64>) {
    let mut pause = PAUSE.0;
    loop {
        let before = *ring.borrow();
        match find_channel(&server, &bank).await {
            Ok(Some(channel)) => {
                if let Err(error) = listen_on_connection(&server, &channel, &ring).await {
                    tracing::debug!(%error, "nobody listens to the server just now");
                }
            }
            Ok(None) => {
                sleep(UNMADE).await;
                continue;
            }
            Err(error) => tracing::debug!(%error, "nobody listens to the server just now"),
        }
        if *ring.borrow() != before {
            pause = PAUSE.0;
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE.1);
    }
}

/// Returns the notification channel of a bank; `None` while there is no such bank.
async fn find_channel(server: &PostgresServer, bank: &str) -> Result<Option<String>, PostgresFailure> {
    let client = server.read_connection(ServerRole::Writer).await?;
    let select = client.prepare_cached("SELECT channel FROM archivist.banks WHERE key = $1").await?;
    let row = client.query_opt(&select, &[&bank]).await?;
    row.map(|row| Ok(row.try_get(0)?)).transpose()
}

/// Listens on a separate connection until it breaks.
async fn listen_on_connection(
    server: &PostgresServer,
    channel: &str,
    ring: &watch::Sender<u64>,
) -> Result<(), PostgresFailure> {
    let (config, tls) = server.direct_config()?;
    match tls {
        Some(tls) => {
            let (client, connection) = config.connect(tls).await?;
            forward_notifications(client, connection, channel, ring).await
        }
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            forward_notifications(client, connection, channel, ring).await
        }
    }
}

async fn forward_notifications<S, T>(
    client: Client,
    mut connection: Connection<S, T>,
    channel: &str,
    ring: &watch::Sender<u64>,
) -> Result<(), PostgresFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let order = format!("LISTEN \"{}\"", channel.replace('"', "\"\""));
    let asked = async {
        client.batch_execute(&order).await?;
        // Events before this point were not notified.
        ring.send_modify(|count| *count += 1);
        // The connection ends when its client is dropped.
        std::future::pending::<Result<(), PostgresFailure>>().await
    };
    let heard = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message? {
                ring.send_modify(|count| *count += 1);
            }
        }
        Ok(())
    };
    let (mut asked, mut heard) = (pin!(asked), pin!(heard));
    tokio::select! {
        done = &mut asked => done,
        done = &mut heard => done,
    }
}
