//! Connections to the server, and retries when one breaks.
//!
//! Any operation may have to be repeated: the server restarts, a standby takes over, a transaction loses against
//! another. [`PostgresServer::run_with_retries`] repeats it for as long as the patience lasts, so the work must be safe
//! to repeat.

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

use super::database_error::PostgresFailure;
use super::migrations;
use crate::memory::MemoryError;

/// The first and the longest pause before a retry.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// The time limit for connecting to one host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The least time limit for connecting, however short the patience is.
const LEAST_CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// The idle time before a keepalive probe is sent, and the time between two probes.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));

/// The time after which unacknowledged data means that the peer is gone. Otherwise the system retries for a quarter of
/// an hour, and no statement timeout applies where no server is.
const UNACKNOWLEDGED: Duration = Duration::from_secs(15);

/// An expression for a query's select list that makes its transaction durable before it is acknowledged, whatever the
/// server's setting: what others have seen or acted on must survive a crash.
pub(super) const DURABLY: &str =
    "CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END";

/// The settings of the connection to a server. The fields are configuration keys of `[memory.postgres]`.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresServerSettings {
    /// The address, as libpq writes it.
    pub url: String,
    /// The address of a standby for reads that may be slightly old; `None` uses the server itself.
    pub read_url: Option<String>,
    /// A file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The most connections of one process to one server.
    pub connections: usize,
    /// The time limit of one statement.
    pub statement_timeout: Duration,
    /// The time for which failed work is retried.
    pub patience: Duration,
}

impl std::fmt::Debug for PostgresServerSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a password.
        let Self { url: _, read_url, ca_file, connections, statement_timeout, patience } = self;
        f.debug_struct("PostgresServerSettings")
            .field("read_url", &read_url.is_some())
            .field("ca_file", ca_file)
            .field("connections", connections)
            .field("statement_timeout", statement_timeout)
            .field("patience", patience)
            .finish_non_exhaustive()
    }
}

/// A server and the connections to it. It connects only when needed.
#[derive(Debug)]
pub struct PostgresServer {
    settings: PostgresServerSettings,
    writer: OnceLock<Pool>,
    reader: OnceLock<Pool>,
    schema: OnceCell<SchemaMatch>,
    /// The numbers of banks, which never change.
    banks: Mutex<HashMap<String, i64>>,
    /// The values that users of this server share, one of each type.
    memos: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

/// The relation of the server's schema to the one that this program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaMatch {
    /// The schema is the known one.
    Known,
    /// The schema is newer, and is only read.
    Newer(i32),
}

/// The server that a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerRole {
    /// The server that is written to.
    Writer,
    /// The standby, where there is one.
    Reader,
}

impl PostgresServer {
    /// Creates a handle to a server. It connects only when needed.
    pub fn new(settings: PostgresServerSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            writer: OnceLock::new(),
            reader: OnceLock::new(),
            schema: OnceCell::new(),
            banks: Mutex::default(),
            memos: Mutex::default(),
        })
    }

    /// Returns a handle to the same server with one connection of its own.
    pub(super) fn with_own_connection(&self) -> Arc<Self> {
        Self::new(PostgresServerSettings { connections: 1, ..self.settings.clone() })
    }

    /// Returns the value of this type that all users of the server in this process share. It is created when it is
    /// first requested.
    pub fn shared_memo<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut memos = self.memos.lock().unwrap_or_else(PoisonError::into_inner);
        let memo = memos.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The value under a type id always has that type.
        Arc::clone(memo).downcast().unwrap_or_default()
    }

    /// Returns true if another handle has the same settings.
    pub fn has_same_settings(&self, other: &Self) -> bool {
        self.settings == other.settings
    }

    /// Returns the server's address without the password.
    pub fn display_address(&self) -> String {
        parse_url(&self.settings.url).map_or_else(|_| "the server".to_owned(), |config| describe_hosts(&config))
    }

    /// Runs some work, and retries it while its failures are transient.
    pub(super) async fn run_with_retries<'w, T>(
        &self,
        doing: &'static str,
        work: impl Fn() -> BoxFuture<'w, Result<T, PostgresFailure>> + Send,
    ) -> Result<T, MemoryError> {
        self.run_with_retries_for(self.settings.patience, doing, work).await
    }

    /// Runs some work with retries for at most `patience`.
    pub(super) async fn run_with_retries_for<'w, T>(
        &self,
        patience: Duration,
        doing: &'static str,
        work: impl Fn() -> BoxFuture<'w, Result<T, PostgresFailure>> + Send,
    ) -> Result<T, MemoryError> {
        let (began, mut pause) = (Instant::now(), PAUSE.0);
        loop {
            match work().await {
                Ok(done) => return Ok(done),
                Err(error) if error.is_transient() && began.elapsed() + pause < patience => {
                    tracing::debug!(%error, doing, "tried again");
                    // Clients that failed together must not retry together.
                    sleep(pause.mul_f64(0.5 + random_fraction())).await;
                    pause = (pause * 2).min(PAUSE.1);
                }
                Err(error) => return Err(error.into_error(doing, &self.display_address())),
            }
        }
    }

    /// Returns a connection for reading.
    pub(super) async fn read_connection(&self, role: ServerRole) -> Result<Object, PostgresFailure> {
        if role == ServerRole::Reader && self.settings.read_url.is_some() {
            match self.checked_connection(ServerRole::Reader).await {
                Ok(client) => return Ok(client),
                Err(error) => tracing::debug!(%error, "the standby cannot be asked; the server itself is"),
            }
        }
        self.checked_connection(ServerRole::Writer).await
    }

    /// Returns a connection for writing; fails if the schema is newer.
    pub(super) async fn write_connection(&self) -> Result<Object, PostgresFailure> {
        let client = self.checked_connection(ServerRole::Writer).await?;
        match self.schema.get() {
            Some(SchemaMatch::Newer(found)) => {
                Err(MemoryError::SchemaNewer { found: *found, known: migrations::newest_version() }.into())
            }
            _ => Ok(client),
        }
    }

    /// Returns a connection without checking the schema, for migrations.
    pub(super) async fn unchecked_connection(&self) -> Result<Object, PostgresFailure> {
        Ok(self.connection_pool(ServerRole::Writer)?.get().await?)
    }

    /// Returns the configuration of a connection outside the pool, for listening.
    pub(super) fn direct_config(&self) -> Result<(Config, Option<MakeRustlsConnect>), MemoryError> {
        self.build_config(&self.settings.url, TargetSessionAttrs::ReadWrite)
    }

    pub(super) fn cached_bank(&self, key: &str) -> Option<i64> {
        self.banks.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Remembers the number of a bank, which must be committed.
    pub(super) fn cache_bank(&self, key: &str, bank: i64) {
        self.banks.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), bank);
    }

    async fn checked_connection(&self, role: ServerRole) -> Result<Object, PostgresFailure> {
        let client = self.connection_pool(role)?.get().await?;
        self.schema.get_or_try_init(|| migrations::check_schema(&client)).await?;
        Ok(client)
    }

    fn connection_pool(&self, role: ServerRole) -> Result<&Pool, MemoryError> {
        let (cell, url, attributes) = match (role, &self.settings.read_url) {
            (ServerRole::Reader, Some(url)) => (&self.reader, url, TargetSessionAttrs::Any),
            _ => (&self.writer, &self.settings.url, TargetSessionAttrs::ReadWrite),
        };
        if let Some(pool) = cell.get() {
            return Ok(pool);
        }
        let made = self.build_pool(url, attributes)?;
        Ok(cell.get_or_init(|| made))
    }

    fn build_pool(&self, url: &str, attributes: TargetSessionAttrs) -> Result<Pool, MemoryError> {
        let (config, tls) = self.build_config(url, attributes)?;
        let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match tls {
            Some(tls) => Manager::from_config(config, tls, manager_config),
            None => Manager::from_config(config, NoTls, manager_config),
        };
        let greeting = session_setup_sql(self.settings.statement_timeout);
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

    fn build_config(
        &self,
        url: &str,
        attributes: TargetSessionAttrs,
    ) -> Result<(Config, Option<MakeRustlsConnect>), MemoryError> {
        let bad = |why: String| MemoryError::Settings { key: "memory.postgres.url", why };
        if url.is_empty() {
            return Err(bad("neither it nor the variable of `memory.postgres.urlVariable` is set".to_owned()));
        }
        let mut config = parse_url(url).map_err(|error| {
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
        Ok((config, Some(self.build_tls()?)))
    }

    fn build_tls(&self) -> Result<MakeRustlsConnect, MemoryError> {
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

impl From<PoolError> for PostgresFailure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => Self::Server(error),
            PoolError::Timeout(_) => Self::Busy("no connection was free, or none could be made in time".to_owned()),
            other => Self::Busy(other.to_string()),
        }
    }
}

/// Returns the SQL that sets up every connection. It bounds statements, locks and idle transactions, and disables JIT
/// compilation, which takes longer than any of our statements.
fn session_setup_sql(statement_timeout: Duration) -> String {
    let milliseconds = statement_timeout.as_millis();
    format!(
        "SET statement_timeout = {milliseconds}; SET lock_timeout = {milliseconds}; \
         SET idle_in_transaction_session_timeout = {}; \
         SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'",
        milliseconds.saturating_mul(2)
    )
}

/// Parses an address. Every certificate is verified in full, so libpq's verifying modes become `require`.
fn parse_url(url: &str) -> Result<Config, tokio_postgres::Error> {
    url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require").parse()
}

/// Returns the hosts and the database of a configuration.
fn describe_hosts(config: &Config) -> String {
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

/// Returns a random number from 0 to 1.
pub(super) fn random_fraction() -> f64 {
    use std::hash::{BuildHasher, Hasher};
    let dice = std::hash::RandomState::new().build_hasher().finish();
    (dice >> 11) as f64 / (1_u64 << 53) as f64
}
