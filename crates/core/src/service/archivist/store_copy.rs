//! Copies of whole memories, record by record, between files and the configured store.

use std::path::Path;

use super::{Archivist, RequestError};
use crate::memory::BankTenancy;
use crate::memory::jsonl::{JsonlMemory, JsonlSettings};
use crate::service::redacting_memory::RedactingMemory;
use crate::service::{MemoryCopyReport, compare_memories, copy_memory};

/// The kind of bank in a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankKind {
    /// The project's own bank.
    Project,
    /// The bank of global lessons.
    Global,
}

impl Archivist {
    /// Copies all records of a memory in files into this one, unchanged but for the secrets in them.
    pub async fn copy_from_directory(
        &self,
        directory: &Path,
        which: BankKind,
    ) -> Result<MemoryCopyReport, RequestError> {
        let now = self.now();
        if !directory.is_dir() {
            let message = format!("{} is no directory", directory.display());
            return Err(RequestError::impossible_request(
                message,
                "name the directory of a memory, such as .openagents/memory",
            ));
        }
        let own = RedactingMemory::wrap(self.open_single_bank(which));
        Ok(copy_memory(&self.open_directory_memory(directory, which), &*own, now).await?)
    }

    /// Copies all records of this memory into one in files, unchanged.
    pub async fn copy_to_directory(&self, directory: &Path, which: BankKind) -> Result<MemoryCopyReport, RequestError> {
        let now = self.now();
        Ok(copy_memory(&*self.open_single_bank(which), &self.open_directory_memory(directory, which), now).await?)
    }

    /// Describes the differences between this memory and one in files.
    pub async fn compare_with_directory(&self, directory: &Path, which: BankKind) -> Result<Vec<String>, RequestError> {
        Ok(compare_memories(&*self.open_single_bank(which), &self.open_directory_memory(directory, which)).await?)
    }

    /// Opens the memory in files in this directory.
    fn open_directory_memory(&self, directory: &Path, which: BankKind) -> JsonlMemory {
        let settings = self.config().memory.jsonl_settings(&self.project().root, None);
        let tenancy = BankTenancy::Own;
        JsonlMemory::open(match which {
            BankKind::Project => JsonlSettings { project: directory.to_owned(), global: None, tenancy, ..settings },
            // The files of global lessons have their own names, so no project files are read there.
            BankKind::Global => {
                let nowhere = directory.join("no-project");
                JsonlSettings { project: nowhere, global: Some(directory.to_owned()), tenancy, ..settings }
            }
        })
    }
}
