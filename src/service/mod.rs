//! Where the rooms come together: logs are found, read, redacted and gathered here.

mod logs;

pub use logs::{Log, Logs, Progress, inspect};
