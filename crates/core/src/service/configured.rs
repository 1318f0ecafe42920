//! Converts the configuration into the settings of reflections and of workers.

use std::time::Duration;

use super::episode_patterns::PatternRules;
use super::queue_worker::WorkerPace;
use super::reflection_service::ReflectionSettings;
use crate::config::{Config, WorkerSettings};
use crate::judge::{LifecycleRules, SimilarityThresholds};

impl Config {
    /// Returns these settings in the types of the service that reflects.
    pub fn reflection_settings(&self) -> ReflectionSettings {
        let Self { judge, lifecycle, triggers, .. } = self;
        let thresholds = SimilarityThresholds { same_above: judge.same_above, different_below: judge.different_below };
        ReflectionSettings {
            archivist: self.archivist.clone(),
            leeway: judge.leeway,
            thresholds,
            neighbours: usize::try_from(judge.neighbours).unwrap_or(usize::MAX),
            lifecycle: LifecycleRules {
                candidate_sightings: lifecycle.candidate_sightings,
                candidate_importance: lifecycle.candidate_importance,
                verified_contexts: lifecycle.verified_contexts,
                decay_runs: lifecycle.decay_runs,
                grace_days: lifecycle.grace_days,
                deprecate_below: lifecycle.deprecate_below,
            },
            audit_threshold: self.audit.threshold / 100.0,
            patterns: PatternRules {
                episodes: usize::try_from(triggers.pattern_episodes).unwrap_or(usize::MAX),
                importance_sum: triggers.importance_sum,
            },
            highlight_min: self.hud.highlight_min,
            appends_lessons: self.progress.append_lessons,
        }
    }
}

impl WorkerSettings {
    /// Returns these settings in the types of the worker.
    pub fn worker_pace(&self) -> WorkerPace {
        const DAY: u64 = 24 * 60 * 60;
        WorkerPace {
            processes: self.processes,
            lease: Duration::from_secs(self.lease_seconds),
            max_attempts: self.max_attempts,
            retry: Duration::from_secs(self.retry_seconds),
            quiet: Duration::from_secs(self.quiet_seconds),
            after_end: Duration::from_secs(self.settle_seconds),
            linger: Duration::from_secs(self.linger_seconds),
            keep_done: Duration::from_secs(u64::from(self.keep_done_days).saturating_mul(DAY)),
        }
    }
}
