//! Whether a memory is given to agents and models: it began here, or the user trusts its repository.
//!
//! Everything that a prompt gets passes [`Archivist::given_memory`]. A person may read all there is.

use std::sync::Arc;

use super::Archivist;
use crate::config::find_trust_key;
use crate::memory::MemoryService;
use crate::memory::jsonl::JsonlMemory;
use crate::trust::{MemoryFolderOrigin, TrustedRepositories};

#[cfg(test)]
#[path = "memory_trust_tests.rs"]
mod tests;

impl Archivist {
    /// Returns true if the memory came with a clone or from another place, and its repository is not trusted. Nothing of
    /// the project's lessons is given then. A memory on a server, or in a directory outside of the project, is the
    /// user's own.
    pub fn is_memory_strange(&self) -> bool {
        let is_from_elsewhere =
            self.guarded_folder.as_ref().is_some_and(|folder| folder.find_origin() == MemoryFolderOrigin::Elsewhere);
        is_from_elsewhere && !self.is_repository_trusted()
    }

    /// Returns true if the user trusts the repository of this project.
    pub fn is_repository_trusted(&self) -> bool {
        find_trust_key(&self.project.root).is_some_and(|key| self.trusted_repositories().contains(&key))
    }

    /// Returns the list of the repositories that the user trusts.
    pub fn trusted_repositories(&self) -> TrustedRepositories {
        TrustedRepositories::in_state_dir(self.environment.state_dir().as_deref())
    }

    /// Returns what agents and models may be given of the memory: everything, or without the project's own lessons if
    /// they are a stranger's.
    pub fn given_memory(&self) -> Arc<dyn MemoryService> {
        if !self.is_memory_strange() {
            return Arc::clone(&self.memory);
        }
        let settings = self.config.memory.jsonl_settings(&self.project.root, self.project.home.as_deref());
        Arc::new(JsonlMemory::open_without_project(settings))
    }

    /// Returns this memory as agents see it: reading it finds nothing that they may not be given.
    pub fn for_agents(&self) -> Self {
        Self { memory: self.given_memory(), ..self.clone() }
    }
}
