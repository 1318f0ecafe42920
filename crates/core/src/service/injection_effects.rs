//! Reports which of the lessons that a session was given helped it.

use std::sync::Arc;

use super::effect_recorder::{episode_run_ids, list_first_injections, strongest_effect, summarize_course};
use super::feedback::find_episode_by_run;
use super::reflection_outcome::SkipReason;
use super::reflection_service::{ArchivistService, SessionLogs, existing_log_paths, run_blocking};
use super::session_logs::CombinedLogs;
use crate::domain::{
    AgentMemory, Effect, Episode, Exposure, Extra, Fact, Quote, ReflectionScenario, ReflectionTrigger, RunId,
};
use crate::memory::{EpisodeFilter, FactFilter, LessonName};
use crate::recall::{self, ObservedSession};

/// The basis of an effect report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EffectBasis {
    /// The effects recorded when the session was reflected on.
    Recorded,
    /// The session's logs, read again with this threshold for the share of a finding's words.
    Anew(f64),
}

/// The effects of the lessons that were selected for a session.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectionEffectReport {
    /// True if the session was reflected on.
    pub is_known: bool,
    /// The basis of the effects; logs that are gone cannot be read again.
    pub reading: EffectBasis,
    /// The lessons in the order of their selection.
    pub lessons: Vec<InjectionEffect>,
}

/// The effect of a lesson that was selected for a session.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectionEffect {
    /// The affected lesson.
    pub memory: AgentMemory,
    /// Tells whether the session saw it or it was withheld.
    pub exposure: Exposure,
    /// The effect of the lesson on the session.
    pub effect: Effect,
}

impl ArchivistService {
    /// Reports the effect of each lesson that was selected for a session. Nothing is written.
    pub async fn report_injection_effects(
        &self,
        run: &RunId,
        reading: EffectBasis,
    ) -> Result<InjectionEffectReport, SkipReason> {
        let episode = find_episode_by_run(&*self.memory, run).await?;
        let names = episode.as_ref().map_or_else(|| vec![run.clone()], episode_run_ids);
        let course = match (&episode, reading) {
            (Some(episode), EffectBasis::Anew(_)) => self.reread_session_course(episode).await?,
            _ => None,
        };
        let mut lessons: Vec<InjectionEffect> = Vec::new();
        for name in names {
            let facts = self.memory.list_facts(&FactFilter { memory: None, run: Some(name) }).await?;
            for (id, given) in list_first_injections(&facts) {
                let Some(lesson) = self.memory.get_lesson(&LessonName::Id(id.clone())).await? else { continue };
                let own = facts.iter().filter(|fact| *fact.memory_id() == id);
                let is_shown = |fact: &Fact| matches!(fact, Fact::Injection { exposure: Exposure::Exposed, .. });
                let exposure = if own.clone().any(is_shown) { Exposure::Exposed } else { Exposure::Withheld };
                let effect = match (&course, reading, &episode) {
                    (Some(course), EffectBasis::Anew(threshold), Some(episode)) => {
                        let seen = self.load_sighting_quotes(&lesson.memory, episode).await?;
                        recall::judge_lesson_effect(&lesson.memory, given, course, &seen, threshold)
                    }
                    _ => strongest_effect(own.filter_map(|fact| match fact {
                        Fact::Effect { effect, .. } => Some(effect),
                        _ => None,
                    })),
                };
                if !lessons.iter().any(|known| known.memory.id == id) {
                    lessons.push(InjectionEffect { memory: lesson.memory, exposure, effect });
                }
            }
        }
        let reading = if course.is_some() { reading } else { EffectBasis::Recorded };
        Ok(InjectionEffectReport { is_known: episode.is_some(), reading, lessons })
    }

    /// Loads the quotes of a session's sightings of a lesson.
    async fn load_sighting_quotes(&self, memory: &AgentMemory, run: &Episode) -> Result<Vec<Quote>, SkipReason> {
        let facts = self.memory.list_facts(&FactFilter { memory: Some(memory.id.clone()), run: None }).await?;
        let quotes = facts.into_iter().filter_map(|fact| match fact {
            Fact::Sighting { episode, quotes, .. } if episode == run.id => Some(quotes),
            _ => None,
        });
        Ok(quotes.flatten().collect())
    }

    /// Summarizes a session from its logs again; `None` if they are gone.
    async fn reread_session_course(&self, episode: &Episode) -> Result<Option<ObservedSession>, SkipReason> {
        let episodes = self
            .memory
            .list_episodes(&EpisodeFilter { id: Some(episode.id.clone()), ..EpisodeFilter::default() })
            .await?;
        let Some(files) = existing_log_paths(&episode.id, &episodes) else { return Ok(None) };
        let redactor = Arc::clone(&self.redactor);
        let Ok(logs) = run_blocking(move || CombinedLogs::read_session(&files, &[], &redactor)).await? else {
            return Ok(None);
        };
        let trigger = ReflectionTrigger {
            scenario: ReflectionScenario::Manual,
            project_root: episode.project_root.clone(),
            session_id: episode.session_id.clone(),
            main_task_id: episode.task_id.clone(),
            subtask_id: episode.subtask_id.clone(),
            log_paths: Vec::new(),
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        };
        let prepared = self.prepare_reflection(&trigger, SessionLogs { logs, stamps: Vec::new() }).await?;
        Ok(Some(summarize_course(&prepared.context)))
    }
}
