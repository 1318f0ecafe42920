//! The stores under test, each in a place of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archivist::config::{self, LoadRequest};
use archivist::memory::MemoryService;
use archivist::memory::jsonl::{JsonlMemory, JsonlSettings, Tenancy};
use tempfile::TempDir;

/// A place for a memory that several handles can open.
pub(crate) trait Store {
    async fn fresh() -> Self;
    async fn open(&self) -> Arc<dyn MemoryService>;
}

/// A directory of files.
pub(crate) struct Jsonl {
    directory: TempDir,
}

impl Store for Jsonl {
    async fn fresh() -> Self {
        Self { directory: TempDir::new().unwrap() }
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
}

/// The built-in settings, for a directory that several projects may share and no global one.
pub(crate) fn settings(directory: &Path) -> JsonlSettings {
    let built_in = config::load(&LoadRequest::default()).unwrap().config;
    JsonlSettings {
        project: directory.to_owned(),
        tenancy: Tenancy::Shared,
        global: None,
        ..built_in.memory.jsonl(directory, None)
    }
}
