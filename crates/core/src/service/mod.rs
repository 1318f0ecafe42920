//! Where the rooms come together: a trigger becomes a reflection, a reflection becomes a commit.
//!
//! `archivist/` is the façade. `reflection_service.rs` is the flow of a reflection: `log_sources.rs` finds logs and
//! `session_logs.rs` reads them, `model_client.rs` asks a model,
//! `candidate_judging.rs` and `reflection_plan.rs` make a commit of candidates.
//! `batch_reflection.rs` does it for many sessions, `queue/` and `queue_worker.rs`
//! for those that cannot wait for it.

mod archivist;
mod batch_journal;
mod batch_reflection;
mod candidate_judging;
mod configured;
mod effect_recorder;
mod embedder_choice;
mod episode_patterns;
mod feedback;
#[cfg(feature = "postgres")]
mod fleet_ledger;
mod injection_effects;
mod job_handler;
mod known_lessons;
mod lesson_decisions;
mod lesson_selector;
mod lifecycle_state;
mod log_sources;
mod memory_copy;
mod model_client;
mod progress_writer;
mod project_context;
mod purge;
mod queue;
mod queue_worker;
mod redacting_memory;
mod reflection_outcome;
mod reflection_plan;
mod reflection_policy;
mod reflection_service;
mod semantic_search;
mod service_clock;
mod session_logs;
mod state_refresh;

#[cfg(test)]
mod test_support;

pub use archivist::{
    Archivist, ArchivistBuilder, BankKind, DaySpend, EpisodeListFilter, EpisodeSteps, FeedbackEvidence,
    ForgottenLesson, JobQueueStatus, JobReport, LessonAuthor, LessonBrief, LessonEffectRow, LessonEvidenceReport,
    LessonFeedback, LessonFilter, LessonInjection, LessonOpinion, LessonSighting, LessonVersion, MeasuredEffect,
    MemoryStats, MemoryStatus, MergedLesson, NewLesson, ProjectFileProbe, PurgePlan, PurgeReport, PurgeSelector,
    QueuedJob, RecallLevel, RecallReply, RecallReplyItem, RecallRequest, RecallResult, RecordedFeedback, RelatedLesson,
    RequestError, RequestFault, SpendReport, StepView, last_confirmed_at, load_prompts, parse_role,
};
pub use batch_journal::BatchJournal;
pub use batch_reflection::{BatchPlan, FinishedSession, PlannedSession};
pub use candidate_judging::summary_with_rule;
pub use episode_patterns::PatternRules;
pub use feedback::{
    JudgedLesson, LessonJudgement, OUTCOME_ROLE, find_episode_by_run, list_shown_lessons, record_judgement,
};
#[cfg(feature = "postgres")]
pub use fleet_ledger::FleetLedger;
pub use injection_effects::{EffectBasis, InjectionEffect, InjectionEffectReport};
pub use job_handler::{OpenProject, ReflectionJobHandler, total_log_bytes};
pub use known_lessons::KnownLessons;
pub use lesson_decisions::{DecisionError, LessonDecision, apply_decision, unmerge_lesson};
pub use lesson_selector::{InjectionBlock, LessonSelection, LessonSelector, SelectedLesson};
pub use lifecycle_state::lifecycle_state;
pub use log_sources::LogSources;
pub use memory_copy::{MemoryCopyReport, compare_memories, copy_memory};
pub use model_client::{ModelClient, ModelSession};
pub use project_context::{LessonOwner, ProjectContext, read_documents};
pub use queue::{
    ClaimedJob, ClaimedJobFile, EnqueueResult, FailedAttempt, Heartbeat, Job, JobAuthor, JobFolder, JobKind, JobName,
    JobOwnership, JobQueue, JobSource, JobSubmitter, JobUrgency, LeaseState, ListedJob, QueueError, WorkerSlot,
    WorkerToken,
};
#[cfg(feature = "postgres")]
pub use queue::{FleetJobSource, FleetQueue, WorkerReach};
pub use queue_worker::{
    JobHandler, JobOutcome, QueueWorker, WorkerEndReason, WorkerLifetime, WorkerPace, WorkerReport,
};
pub use reflection_outcome::{DistillationEffort, ReflectionReport, SkipReason};
pub use reflection_service::{ArchivistService, ReflectionSettings, RepeatPolicy};
pub use semantic_search::{SimilarityError, find_closest_lessons};
pub use service_clock::ServiceClock;
pub use session_logs::{CombinedLogs, InspectedLog, ReadProgress, inspect_log};
