//! A clock: the system's time, or a fixed time.

use std::sync::Arc;

use crate::domain::Timestamp;

/// A source of the current time.
#[derive(Clone)]
pub struct ServiceClock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl ServiceClock {
    /// Makes a clock of the system's time.
    pub fn from_system_time() -> Self {
        Self(Arc::new(chrono::Utc::now))
    }

    /// Makes a clock with a fixed time, for results that must repeat exactly.
    pub fn fixed_at(at: Timestamp) -> Self {
        Self(Arc::new(move || at))
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl std::fmt::Debug for ServiceClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}
