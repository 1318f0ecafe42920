//! What was read, made ready to reflect on. Pure: events in, values out.

mod action;
mod clip;
mod complaint;
mod digest;
mod ended;
mod episode;
mod failure;
mod gather;
mod injected;
mod keep;
mod mine;
mod passage;
mod reflection;
mod related;
mod settle;
mod signal;
mod status;
mod survey;
mod trust;

#[cfg(test)]
mod test_support;

pub(crate) use action::{ShellCommand, ToolAction, is_read_only_command, parse_shell_commands};
pub(crate) use ended::{CallFailure, CallOutcome, read_call_outcome};
pub(crate) use failure::is_verification;
pub(crate) use trust::fetches_remote_text;

pub use complaint::{IdentifiedError, identify_error};
pub use digest::{Digest, DigestInput, render_digest, shown_texts};
pub use episode::{EpisodeOutline, SessionDescription, build_episode, outline_episode};
pub use gather::{GatheredLogs, LogGatherer};
pub use passage::{QuotableText, quotable_texts, step_text};
pub use reflection::{ReflectionContext, ReflectionInputs, SessionSummary};
pub use related::find_related_episodes;
pub use signal::{Signal, SignalKind, SignalPlace};
pub use status::{JudgedStatus, judge_status};
pub use survey::{LogStatistics, TrajectoryCounts};
