//! The stores under test, each in a place of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::memory::jsonl::{JsonlMemory, JsonlSettings};
use archivist_core::memory::{BankTenancy, MemoryService};
use tempfile::TempDir;

/// A place for a memory that several handles can open.
pub(crate) trait Store: Sized {
    /// `None`, and said so, where this machine has no such store.
    async fn fresh() -> Option<Self>;
    async fn open(&self) -> Arc<dyn MemoryService>;
}

/// A directory of files.
pub(crate) struct Jsonl {
    directory: TempDir,
}

impl Store for Jsonl {
    async fn fresh() -> Option<Self> {
        Some(Self { directory: TempDir::new().unwrap() })
    }

    async fn open(&self) -> Arc<dyn MemoryService> {
        Arc::new(self.memory())
    }
}

impl Jsonl {
    /// Where the project's files lie.
    pub(crate) fn project(&self) -> PathBuf {
        self.directory.path().join("memory")
    }

    pub(crate) fn settings(&self) -> JsonlSettings {
        JsonlSettings { global: Some(self.directory.path().join("global")), ..settings(&self.project()) }
    }

    pub(crate) fn memory(&self) -> JsonlMemory {
        JsonlMemory::open(self.settings())
    }

    /// The same without waiting for the disk.
    #[cfg(feature = "postgres")]
    pub(crate) fn lazy_memory(&self) -> JsonlMemory {
        JsonlMemory::open(JsonlSettings { sync: archivist_core::memory::jsonl::SyncPolicy::Lazy, ..self.settings() })
    }
}

/// The built-in settings, for a directory that several projects may share and no global one.
pub(crate) fn settings(directory: &Path) -> JsonlSettings {
    let built_in = config::load_config(&ConfigLoadRequest::default()).unwrap().config;
    JsonlSettings {
        project: directory.to_owned(),
        tenancy: BankTenancy::Shared,
        global: None,
        ..built_in.memory.jsonl_settings(directory, None)
    }
}

#[cfg(all(unix, feature = "postgres"))]
pub(crate) use fleet::{Postgres, server_at};

#[cfg(all(unix, feature = "postgres"))]
mod fleet {
    use std::sync::Arc;
    use std::time::Duration;

    use archivist_core::memory::postgres::{
        PostgresBankSettings, PostgresMemory, PostgresServer, PostgresServerSettings, migrate_schema,
    };
    use archivist_core::memory::{BankTenancy, MemoryService};
    use tokio::sync::OnceCell;

    use super::Store;
    use crate::postgres_server::{database, shared, unique};

    /// Two banks of a server.
    pub(crate) struct Postgres {
        pub(crate) url: String,
        pub(crate) bank: String,
    }

    /// The way to the server at this address.
    pub(crate) fn server_at(url: &str) -> Arc<PostgresServer> {
        PostgresServer::new(PostgresServerSettings {
            url: url.to_owned(),
            read_url: None,
            ca_file: None,
            connections: 4,
            statement_timeout: Duration::from_secs(30),
            patience: Duration::from_secs(60),
        })
    }

    impl Store for Postgres {
        async fn fresh() -> Option<Self> {
            static MIGRATED: OnceCell<String> = OnceCell::const_new();
            let shared = shared()?;
            let made = MIGRATED.get_or_init(|| async {
                let url = database(shared, "archivist").await;
                migrate_schema(&server_at(&url)).await.unwrap();
                url
            });
            Some(Self { url: made.await.clone(), bank: unique("bank") })
        }

        async fn open(&self) -> Arc<dyn MemoryService> {
            Arc::new(self.memory())
        }
    }

    impl Postgres {
        pub(crate) fn memory(&self) -> PostgresMemory {
            let settings = PostgresBankSettings {
                bank: self.bank.clone(),
                tenancy: BankTenancy::Shared,
                global: Some(format!("{} everywhere", self.bank)),
                max_record_bytes: 4 * 1024 * 1024,
            };
            PostgresMemory::open(server_at(&self.url), settings)
        }
    }
}
