//! Which of the lessons that a run was given helped it.

use std::sync::Arc;

use super::archivist::{ArchivistService, Material, blocking, logs_of};
use super::effects::{chosen, course_of, names_of, strongest};
use super::feedback::episode_of;
use super::logs::Logs;
use super::outcome::Skip;
use crate::domain::{
    AgentMemory, Effect, Episode, Exposure, Extra, Fact, Quote, ReflectionScenario, ReflectionTrigger, RunId,
};
use crate::memory::{EpisodeFilter, FactFilter, LessonName};
use crate::recall::{self, Course};

/// On what a verdict rests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// On what was noted when the run was reflected on.
    Recorded,
    /// On the run's logs, read again with this share of a finding's words.
    Anew(f64),
}

/// What became of the lessons that were chosen for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Whether the run was reflected on.
    pub is_known: bool,
    /// On what the verdicts rest; logs that are gone cannot be read again.
    pub reading: Reading,
    /// In the order in which they were chosen.
    pub lessons: Vec<Audited>,
}

/// A lesson that was chosen for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// Which.
    pub memory: AgentMemory,
    /// Whether the run saw it.
    pub exposure: Exposure,
    /// What became of its matter.
    pub effect: Effect,
}

impl ArchivistService {
    /// Says of each lesson that was chosen for a run what became of its matter. Nothing is written.
    pub async fn audit(&self, run: &RunId, reading: Reading) -> Result<Audit, Skip> {
        let episode = episode_of(&*self.memory, run).await?;
        let names = episode.as_ref().map_or_else(|| vec![run.clone()], names_of);
        let course = match (&episode, reading) {
            (Some(episode), Reading::Anew(_)) => self.course_again(episode).await?,
            _ => None,
        };
        let mut lessons: Vec<Audited> = Vec::new();
        for name in names {
            let facts = self.memory.facts(&FactFilter { memory: None, run: Some(name) }).await?;
            for (id, given) in chosen(&facts) {
                let Some(lesson) = self.memory.get(&LessonName::Id(id.clone())).await? else { continue };
                let own = facts.iter().filter(|fact| *fact.memory() == id);
                let is_shown = |fact: &Fact| matches!(fact, Fact::Injection { exposure: Exposure::Exposed, .. });
                let exposure = if own.clone().any(is_shown) { Exposure::Exposed } else { Exposure::Withheld };
                let effect = match (&course, reading, &episode) {
                    (Some(course), Reading::Anew(threshold), Some(episode)) => {
                        let seen = self.seen_in(&lesson.memory, episode).await?;
                        recall::outcome(&lesson.memory, given, course, &seen, threshold)
                    }
                    _ => strongest(own.filter_map(|fact| match fact {
                        Fact::Effect { effect, .. } => Some(effect),
                        _ => None,
                    })),
                };
                if !lessons.iter().any(|known| known.memory.id == id) {
                    lessons.push(Audited { memory: lesson.memory, exposure, effect });
                }
            }
        }
        let reading = if course.is_some() { reading } else { Reading::Recorded };
        Ok(Audit { is_known: episode.is_some(), reading, lessons })
    }

    /// The words of a run that taught a lesson.
    async fn seen_in(&self, memory: &AgentMemory, run: &Episode) -> Result<Vec<Quote>, Skip> {
        let facts = self.memory.facts(&FactFilter { memory: Some(memory.id.clone()), run: None }).await?;
        let quotes = facts.into_iter().filter_map(|fact| match fact {
            Fact::Sighting { episode, quotes, .. } if episode == run.id => Some(quotes),
            _ => None,
        });
        Ok(quotes.flatten().collect())
    }

    /// What a run shows, from its logs; nothing if they are gone.
    async fn course_again(&self, episode: &Episode) -> Result<Option<Course>, Skip> {
        let episodes = self.memory.episodes(&EpisodeFilter::default()).await?;
        let Some(files) = logs_of(&episode.id, &episodes) else { return Ok(None) };
        let redactor = Arc::clone(&self.redactor);
        let Ok(logs) = blocking(move || Logs::read(&files, &[], &redactor)).await? else { return Ok(None) };
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
        let scene = self.scene(&trigger, Material { logs, stamps: Vec::new() }).await?;
        Ok(Some(course_of(&scene.context)))
    }
}
