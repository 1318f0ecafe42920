//! Where the rooms come together: a trigger becomes a reflection, a reflection becomes a commit.
//!
//! `archivist.rs` is the flow, on one screen. `sources.rs` finds logs and `logs.rs` reads them, `adviser.rs` asks a model,
//! `judging.rs` and `plan.rs` make a commit of candidates. `batch.rs` does it for many sessions, `queue/` and `worker.rs`
//! for those that cannot wait for it.

mod adviser;
mod archivist;
mod audit;
mod batch;
mod clock;
mod copying;
mod decide;
mod effects;
mod feedback;
mod giving;
mod import;
mod journal;
mod judging;
mod known;
mod labour;
mod logs;
mod meaning;
mod notes;
mod outcome;
mod patterns;
mod plan;
mod policy;
mod project;
mod queue;
mod sources;
#[cfg(feature = "postgres")]
mod spending;
mod standing;
mod tend;
mod worker;

#[cfg(test)]
mod test_support;

pub use adviser::{Advice, Adviser};
pub use archivist::{Anew, ArchivistService, Habits};
pub use audit::{Audit, Audited, Reading};
pub use batch::{BatchPlan, Finished, Planned};
pub use clock::Clock;
pub use copying::{Copied, copy, differences};
pub use decide::{Decision, Undecidable, decide, unmerge};
pub use feedback::{JudgedLesson, Judgement, OUTCOME_ROLE, episode_of, judge_lessons, shown_to};
pub use giving::{Block, Choice, Chosen, Giving};
pub use import::{Fate, Import, Imported, Taken};
pub use journal::Journal;
pub use known::KnownLessons;
pub use labour::{Labour, log_bytes};
pub use logs::{Log, Logs, Progress, inspect};
pub use meaning::{Unmeasured, cosines};
pub use outcome::{Effort, Learned, Skip};
pub use patterns::PatternRules;
pub use project::{Owner, Project, documents};
pub use queue::{
    Attempt, Beat, Claimed, Enqueued, Errand, Held, Intake, Job, JobName, JobSource, Lease, Listed, Place, Post, Queue,
    QueueError, Settled, Token, Urgency,
};
#[cfg(feature = "postgres")]
pub use queue::{FleetQueue, FleetSource, Reach};
pub use sources::Sources;
#[cfg(feature = "postgres")]
pub use spending::FleetLedger;
pub use worker::{Ended, Handled, Handler, Pace, Until, Worked, Worker};
