//! What time it is: the system's, or one that stands still.

use std::sync::Arc;

use crate::domain::Timestamp;

/// Tells the time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The clock on the wall.
    pub fn of_the_system() -> Self {
        Self(Arc::new(chrono::Utc::now))
    }

    /// A clock that stands still, for runs that must repeat exactly.
    pub fn fixed(at: Timestamp) -> Self {
        Self(Arc::new(move || at))
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}
