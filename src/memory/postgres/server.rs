//! The way to the server: connections, and what is done when one breaks.
//!
//! Everything that is done here may be done again: a server that restarts, a standby that takes over, a transaction that
//! lost against another. [`Server::persist`] does so for as long as the patience lasts, and what it is handed must bear
//! being done twice.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use futures_util::future::BoxFuture;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::migrate;
use super::trouble::Trouble;
use crate::memory::MemoryError;

/// First and longest pause before something is tried again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// How long one host may take to answer a call.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Whoever is in a hurry gives it at least this long.
const LEAST_CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// How long a connection may be silent before the peer is asked whether it is still there, and how long between two
/// questions.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));

/// What was sent and not acknowledged for so long never will be: the peer is gone without a word. Otherwise the system
/// sends it again for a quarter of an hour before it says so, and no statement timeout counts where no server is.
const UNACKNOWLEDGED: Duration = Duration::from_secs(15);

/// Somewhere in the list of a query, sees to it that its transaction is on disk before anybody hears that it is through,
/// whatever the server is set to: what others have seen, or acted on, must not be gone after a crash.
pub(super) const DURABLY: &str =
    "CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END";

/// How the server is reached. Every field but the names is a configuration key of `[memory.postgres]`.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Where it is, as libpq writes it.
    pub url: String,
    /// A standby that answers what may be a moment old; none: the server itself does.
    pub read_url: Option<String>,
    /// Certificates that are trusted beside the system's.
    pub ca_file: Option<PathBuf>,
    /// The most connections of one process to one server.
    pub connections: usize,
    /// The longest that one statement may take.
    pub statement_timeout: Duration,
    /// How long something is tried again before it counts as failed.
    pub patience: Duration,
}

impl std::fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a password.
        let Self { url: _, read_url, ca_file, connections, statement_timeout, patience } = self;
        f.debug_struct("ServerSettings")
            .field("read_url", &read_url.is_some())
            .field("ca_file", ca_file)
            .field("connections", connections)
            .field("statement_timeout", statement_timeout)
            .field("patience", patience)
            .finish_non_exhaustive()
    }
}

/// A server, and the connections to it. Nothing is connected before it is needed.
#[derive(Debug)]
pub struct Server {
    settings: ServerSettings,
    writer: OnceLock<Pool>,
    reader: OnceLock<Pool>,
    schema: OnceCell<Schema>,
    /// Numbers of banks, which never change.
    banks: Mutex<HashMap<String, i64>>,
    /// What others remember of this server, one of each kind.
    memos: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

/// How the schema that was found stands to the one that this program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schema {
    /// It is the one.
    Known,
    /// It is newer, and only read.
    Newer(i32),
}

/// Which server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The one that is written to.
    Writer,
    /// The standby, where there is one.
    Reader,
}

impl Server {
    /// Touches nothing yet.
    pub fn new(settings: ServerSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            writer: OnceLock::new(),
            reader: OnceLock::new(),
            schema: OnceCell::new(),
            banks: Mutex::default(),
            memos: Mutex::default(),
        })
    }

    /// The same server over one connection that nobody else uses.
    pub(super) fn apart(&self) -> Arc<Self> {
        Self::new(ServerSettings { connections: 1, ..self.settings.clone() })
    }

    /// What everybody in this process who uses the server remembers together, by its kind. It is made when it is first
    /// asked for.
    pub fn memo<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut memos = self.memos.lock().unwrap_or_else(PoisonError::into_inner);
        let memo = memos.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // What stands under the number of a kind is of that kind.
        Arc::clone(memo).downcast().unwrap_or_default()
    }

    /// Whether another one is reached in the same way.
    pub fn is_same(&self, other: &Self) -> bool {
        self.settings == other.settings
    }

    /// Where it is, without the password.
    pub fn place(&self) -> String {
        parsed(&self.settings.url).map_or_else(|_| "the server".to_owned(), |config| place(&config))
    }

    /// Does some work, and does it again while its failures are such that may pass.
    pub(super) async fn persist<'w, T>(
        &self,
        doing: &'static str,
        work: impl Fn() -> BoxFuture<'w, Result<T, Trouble>> + Send,
    ) -> Result<T, MemoryError> {
        self.persist_for(self.settings.patience, doing, work).await
    }

    /// The same with a patience of its own.
    pub(super) async fn persist_for<'w, T>(
        &self,
        patience: Duration,
        doing: &'static str,
        work: impl Fn() -> BoxFuture<'w, Result<T, Trouble>> + Send,
    ) -> Result<T, MemoryError> {
        let (began, mut pause) = (Instant::now(), PAUSE.0);
        loop {
            match work().await {
                Ok(done) => return Ok(done),
                Err(trouble) if trouble.may_pass() && began.elapsed() + pause < patience => {
                    tracing::debug!(%trouble, doing, "tried again");
                    // Whoever lost together must not come back together.
                    sleep(pause.mul_f64(0.5 + jitter())).await;
                    pause = (pause * 2).min(PAUSE.1);
                }
                Err(trouble) => return Err(trouble.into_error(doing, &self.place())),
            }
        }
    }

    /// A connection to read from.
    pub(super) async fn reading(&self, role: Role) -> Result<Object, Trouble> {
        if role == Role::Reader && self.settings.read_url.is_some() {
            match self.connect(Role::Reader).await {
                Ok(client) => return Ok(client),
                Err(trouble) => tracing::debug!(%trouble, "the standby cannot be asked; the server itself is"),
            }
        }
        self.connect(Role::Writer).await
    }

    /// A connection to write to.
    pub(super) async fn writing(&self) -> Result<Object, Trouble> {
        let client = self.connect(Role::Writer).await?;
        match self.schema.get() {
            Some(Schema::Newer(found)) => {
                Err(MemoryError::SchemaNewer { found: *found, known: migrate::newest() }.into())
            }
            _ => Ok(client),
        }
    }

    /// A connection whatever the schema is: for whoever is about to change it.
    pub(super) async fn bare(&self) -> Result<Object, Trouble> {
        Ok(self.pool(Role::Writer)?.get().await?)
    }

    /// A connection of one's own, outside the pool: for whoever listens.
    pub(super) fn direct(&self) -> Result<(Config, Option<MakeRustlsConnect>), MemoryError> {
        self.config(&self.settings.url, TargetSessionAttrs::ReadWrite)
    }

    pub(super) fn known_bank(&self, key: &str) -> Option<i64> {
        self.banks.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Remembers a bank. One that was made counts only once its transaction is through.
    pub(super) fn know_bank(&self, key: &str, bank: i64) {
        self.banks.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), bank);
    }

    async fn connect(&self, role: Role) -> Result<Object, Trouble> {
        let client = self.pool(role)?.get().await?;
        self.schema.get_or_try_init(|| migrate::check(&client)).await?;
        Ok(client)
    }

    fn pool(&self, role: Role) -> Result<&Pool, MemoryError> {
        let (cell, url, attributes) = match (role, &self.settings.read_url) {
            (Role::Reader, Some(url)) => (&self.reader, url, TargetSessionAttrs::Any),
            _ => (&self.writer, &self.settings.url, TargetSessionAttrs::ReadWrite),
        };
        if let Some(pool) = cell.get() {
            return Ok(pool);
        }
        let made = self.make_pool(url, attributes)?;
        Ok(cell.get_or_init(|| made))
    }

    fn make_pool(&self, url: &str, attributes: TargetSessionAttrs) -> Result<Pool, MemoryError> {
        let (config, tls) = self.config(url, attributes)?;
        let habits = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match tls {
            Some(tls) => Manager::from_config(config, tls, habits),
            None => Manager::from_config(config, NoTls, habits),
        };
        let greeting = greeting(self.settings.statement_timeout);
        let pool = Pool::builder(manager)
            .max_size(self.settings.connections.max(1))
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(self.settings.patience))
            .create_timeout(Some(CONNECT_TIMEOUT.min(self.settings.patience.max(LEAST_CONNECT_TIMEOUT))))
            .post_create(Hook::async_fn(move |client, _| {
                let greeting = greeting.clone();
                Box::pin(async move { client.batch_execute(&greeting).await.map_err(HookError::Backend) })
            }));
        pool.build().map_err(|error| MemoryError::Settings { key: "memory.postgres", why: error.to_string() })
    }

    fn config(
        &self,
        url: &str,
        attributes: TargetSessionAttrs,
    ) -> Result<(Config, Option<MakeRustlsConnect>), MemoryError> {
        let bad = |why: String| MemoryError::Settings { key: "memory.postgres.url", why };
        if url.is_empty() {
            return Err(bad("neither it nor the variable of `memory.postgres.urlVariable` is set".to_owned()));
        }
        let mut config = parsed(url).map_err(|error| {
            bad(std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string))
        })?;
        if config.get_hosts().is_empty() {
            return Err(bad("it names no host".to_owned()));
        }
        config.target_session_attrs(attributes).connect_timeout(CONNECT_TIMEOUT);
        config.keepalives_idle(KEEPALIVE.0).keepalives_interval(KEEPALIVE.1).tcp_user_timeout(UNACKNOWLEDGED);
        if config.get_application_name().is_none() {
            config.application_name("archivist");
        }
        let is_local = |host: &Host| !matches!(host, Host::Tcp(_));
        if config.get_ssl_mode() == SslMode::Disable || config.get_hosts().iter().all(is_local) {
            return Ok((config, None));
        }
        Ok((config, Some(self.tls()?)))
    }

    fn tls(&self) -> Result<MakeRustlsConnect, MemoryError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let bad = |why: String| MemoryError::Settings { key: "memory.postgres.caFile", why };
        let mut roots: Vec<CertificateDer<'static>> = Vec::new();
        if let Some(path) = &self.settings.ca_file {
            let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            roots = read.map_err(|error| bad(format!("{}: {error}", path.display())))?;
            if roots.is_empty() {
                return Err(bad(format!("{} holds no certificate", path.display())));
            }
        }
        let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&provider)).map_err(|e| bad(e.to_string()))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(MakeRustlsConnect::new(config))
    }
}

impl From<PoolError> for Trouble {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => Self::Server(error),
            PoolError::Timeout(_) => Self::Busy("no connection was free, or none could be made in time".to_owned()),
            other => Self::Busy(other.to_string()),
        }
    }
}

/// What every connection is told first. A statement that hangs must not hang for ever, nor a transaction that was left.
/// And no statement of ours is worth being compiled: that takes longer than the longest of them.
fn greeting(statement_timeout: Duration) -> String {
    let milliseconds = statement_timeout.as_millis();
    format!(
        "SET statement_timeout = {milliseconds}; SET lock_timeout = {milliseconds}; \
         SET idle_in_transaction_session_timeout = {}; \
         SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'",
        milliseconds.saturating_mul(2)
    )
}

/// An address taken apart. What we verify at all we verify in full, so that libpq's finer words come to one.
fn parsed(url: &str) -> Result<Config, tokio_postgres::Error> {
    url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require").parse()
}

/// The hosts and the database of an address.
fn place(config: &Config) -> String {
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let port = config.get_ports().get(at).or(config.get_ports().first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    });
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("{}/{database}", hosts.collect::<Vec<_>>().join(","))
}

/// From 0 to 1, by chance.
pub(super) fn jitter() -> f64 {
    use std::hash::{BuildHasher, Hasher};
    let dice = std::hash::RandomState::new().build_hasher().finish();
    (dice >> 11) as f64 / (1_u64 << 53) as f64
}
