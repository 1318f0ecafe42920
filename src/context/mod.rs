//! What was read, made ready to reflect on. Pure: events in, values out.

mod action;
mod clip;
mod digest;
mod episode;
mod failure;
mod gather;
mod injected;
mod keep;
mod mine;
mod reflection;
mod related;
mod settle;
mod signal;
mod survey;
mod tokens;
mod trust;

#[cfg(test)]
mod test_support;

pub use digest::{Digest, Material, digest, texts};
pub use episode::{Outline, Run, episode, outline};
pub use gather::{Gathered, Gathering};
pub use reflection::{Inputs, ReflectionContext, SessionSummary};
pub use related::related;
pub use signal::{Signal, SignalKind};
pub use survey::{Counts, Survey};
pub use tokens::Tokenizer;
