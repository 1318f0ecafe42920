//! Where the rooms come together: logs are found, read, redacted and gathered here, and held against what is known.

mod adviser;
mod known;
mod logs;
mod project;

pub use adviser::Adviser;
pub use known::KnownLessons;
pub use logs::{Log, Logs, Progress, inspect};
pub use project::{documents, notes, settings};
