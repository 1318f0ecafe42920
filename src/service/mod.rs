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

pub use adviser::{ModelClient, ModelSession};
pub use archivist::{ArchivistService, ReflectionSettings, RepeatPolicy};
pub use audit::{EffectBasis, InjectionEffect, InjectionEffectReport};
pub use batch::{BatchPlan, FinishedSession, PlannedSession};
pub use clock::ServiceClock;
pub use copying::{MemoryCopyReport, compare_memories, copy_memory};
pub use decide::{DecisionError, LessonDecision, apply_decision, unmerge_lesson};
pub use feedback::{
    JudgedLesson, LessonJudgement, OUTCOME_ROLE, find_episode_by_run, list_shown_lessons, record_judgement,
};
pub use giving::{InjectionBlock, LessonSelection, LessonSelector, SelectedLesson};
pub use import::{ImportFate, ImportReport, ImportedLesson, LessonImporter};
pub use journal::BatchJournal;
pub use known::KnownLessons;
pub use labour::{ReflectionJobHandler, total_log_bytes};
pub use logs::{CombinedLogs, InspectedLog, ReadProgress, inspect_log};
pub use meaning::{SimilarityError, find_closest_lessons};
pub use outcome::{DistillationEffort, ReflectionReport, SkipReason};
pub use patterns::PatternRules;
pub use project::{LessonOwner, ProjectContext, read_documents};
pub use queue::{
    ClaimedJob, ClaimedJobFile, EnqueueResult, FailedAttempt, Heartbeat, Job, JobFolder, JobKind, JobName,
    JobOwnership, JobQueue, JobSource, JobSubmitter, JobUrgency, LeaseState, ListedJob, QueueError, WorkerSlot,
    WorkerToken,
};
#[cfg(feature = "postgres")]
pub use queue::{FleetJobSource, FleetQueue, WorkerReach};
pub use sources::LogSources;
#[cfg(feature = "postgres")]
pub use spending::FleetLedger;
pub use worker::{JobHandler, JobOutcome, QueueWorker, WorkerEndReason, WorkerLifetime, WorkerPace, WorkerReport};
