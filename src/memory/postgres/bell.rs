//! Rings when there is something to look at.
//!
//! It only saves looking: what happened is in tables, and whoever waits for the bell looks now and then all the same. A
//! connection that was lost is made anew, and the bell rings once it is, for nobody knows what was missed meanwhile.

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

use super::server::{Role, Server};
use super::trouble::Trouble;

/// First and longest pause before the server is called again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How often it is looked whether a bank was made that was not there.
const UNMADE: Duration = Duration::from_millis(500);

/// Rings when there is something to look at. Silent once it is dropped.
#[derive(Debug)]
pub struct Bell {
    rung: watch::Receiver<u64>,
    ringer: JoinHandle<()>,
}

impl Bell {
    pub(super) fn hang(server: Arc<Server>, bank: Arc<str>) -> Self {
        let (ring, rung) = watch::channel(0);
        Self { rung, ringer: tokio::spawn(listen(server, bank, ring)) }
    }

    /// Done when it has rung since the last time, however often.
    pub async fn rung(&mut self) {
        if self.rung.changed().await.is_err() {
            // Nobody rings any more; nor does anybody wait in vain for long, for they look now and then.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.ringer.abort();
    }
}

/// Listens until nobody wants to hear.
async fn listen(server: Arc<Server>, bank: Arc<str>, ring: watch::Sender<u64>) {
    let mut pause = PAUSE.0;
    loop {
        let before = *ring.borrow();
        match channel(&server, &bank).await {
            Ok(Some(channel)) => {
                if let Err(trouble) = hear(&server, &channel, &ring).await {
                    tracing::debug!(%trouble, "nobody listens to the server just now");
                }
            }
            Ok(None) => {
                sleep(UNMADE).await;
                continue;
            }
            Err(trouble) => tracing::debug!(%trouble, "nobody listens to the server just now"),
        }
        if *ring.borrow() != before {
            pause = PAUSE.0;
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE.1);
    }
}

/// Where the news of a bank are told; `None` while there is no such bank.
async fn channel(server: &Server, bank: &str) -> Result<Option<String>, Trouble> {
    let client = server.reading(Role::Writer).await?;
    let select = client.prepare_cached("SELECT channel FROM archivist.banks WHERE key = $1").await?;
    let row = client.query_opt(&select, &[&bank]).await?;
    row.map(|row| Ok(row.try_get(0)?)).transpose()
}

/// Listens on a connection of its own until that breaks.
async fn hear(server: &Server, channel: &str, ring: &watch::Sender<u64>) -> Result<(), Trouble> {
    let (config, tls) = server.direct()?;
    match tls {
        Some(tls) => {
            let (client, connection) = config.connect(tls).await?;
            follow(client, connection, channel, ring).await
        }
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            follow(client, connection, channel, ring).await
        }
    }
}

async fn follow<S, T>(
    client: Client,
    mut connection: Connection<S, T>,
    channel: &str,
    ring: &watch::Sender<u64>,
) -> Result<(), Trouble>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let order = format!("LISTEN \"{}\"", channel.replace('"', "\"\""));
    let asked = async {
        client.batch_execute(&order).await?;
        // What was told before this moment rang for nobody.
        ring.send_modify(|count| *count += 1);
        // The connection ends when its client is dropped.
        std::future::pending::<Result<(), Trouble>>().await
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
