//! Where it is told what happens.

use super::Desk;
use crate::hud::Feed;

impl Desk {
    /// The feed of this memory: on the server that machines share, or else in a file beside the memory.
    pub fn feed(&self) -> Feed {
        #[cfg(feature = "postgres")]
        if let Some(server) = self.server() {
            return Feed::of_fleet(crate::memory::postgres::Events::new(server.clone(), &self.bank()));
        }
        Feed::in_files(self.memory_dir())
    }
}
