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

pub(crate) use action::{Action, Part, is_look, parts};
pub(crate) use ended::{Ended, Fault, ended};
pub(crate) use failure::is_verification;
pub(crate) use trust::fetches;

pub use complaint::{Complaint, complaint};
pub use digest::{Digest, Material, digest, texts};
pub use episode::{Outline, Run, episode, outline};
pub use gather::{Gathered, Gathering};
pub use passage::{Passage, passages, step_text};
pub use reflection::{Inputs, ReflectionContext, SessionSummary};
pub use related::related;
pub use signal::{SeenAt, Signal, SignalKind};
pub use status::{JudgedStatus, judge_status};
pub use survey::{Counts, Survey};
