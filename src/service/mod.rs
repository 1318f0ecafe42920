//! Where the rooms come together: logs are found, read, redacted and gathered here, and held against what is known.

mod adviser;
mod documents;
mod known;
mod logs;

pub use adviser::Adviser;
pub use documents::documents;
pub use known::KnownLessons;
pub use logs::{Log, Logs, Progress, inspect};
