//! The feed of events that displays follow.

use super::Archivist;
use crate::hud::MemoryFeed;

impl Archivist {
    /// Returns the event feed of this memory: on the shared server if there is one, else in a file next to the memory.
    pub fn event_feed(&self) -> MemoryFeed {
        #[cfg(feature = "postgres")]
        if let Some(server) = self.server() {
            return MemoryFeed::from_fleet(crate::memory::postgres::EventFeed::new(server.clone(), &self.bank_key()));
        }
        MemoryFeed::from_directory(self.memory_dir())
    }
}
