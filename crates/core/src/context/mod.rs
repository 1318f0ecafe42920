//! What was read, made ready to reflect on. Pure: events in, values out.

mod call_ending;
mod clipped_words;
mod command_prefixes;
mod digest;
mod episode;
mod error_identity;
mod failure;
mod failure_record;
mod injection_removal;
mod log_statistics;
mod quotable_passage;
mod record_redactor;
mod redact_gathered;
mod reflection;
mod related_episodes;
mod signal;
mod signal_mining;
mod status;
mod step_buffer;
mod text_clipping;
mod tool_action;
mod trajectory_collector;
mod trust_class;

#[cfg(test)]
mod test_support;

pub(crate) use call_ending::{CallFailure, CallOutcome, read_call_outcome};
pub(crate) use command_prefixes::strip_runners;
pub(crate) use failure::is_verification;
pub(crate) use tool_action::{ShellCommand, ToolAction, is_read_only_command, parse_shell_commands};
pub(crate) use trust_class::fetches_remote_text;

pub use clipped_words::ClippedWords;
pub use digest::{Digest, DigestInput, render_digest, shown_texts};
pub use episode::{EpisodeOutline, SessionDescription, build_episode, outline_episode};
pub use error_identity::{IdentifiedError, identify_error};
pub use log_statistics::{LogStatistics, TrajectoryCounts};
pub use quotable_passage::{QuotableText, quotable_texts, step_text};
pub use record_redactor::RecordRedactor;
pub use redact_gathered::{redact_label, redact_record};
pub use reflection::{ReflectionContext, ReflectionInputs, SessionSummary};
pub use related_episodes::find_related_episodes;
pub use signal::{Signal, SignalKind, SignalPlace};
pub use status::{JudgedStatus, judge_status};
pub use trajectory_collector::{GatheredLogs, LogGatherer};
