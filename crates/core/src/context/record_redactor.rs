//! Redacts the records of a memory, without touching what they refer to each other by.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::redact_gathered::redact_record;
use crate::domain::{AgentMemory, Episode, Fact};
use crate::redact::Redactor;

/// A redactor of lessons, episodes and facts. Ids and the names of projects stay as they are. A record that is invalid
/// without its secrets gives `None`.
#[derive(Debug, Default)]
pub struct RecordRedactor {
    redactor: Redactor,
}

impl RecordRedactor {
    /// Creates a redactor; its tables are built with the first record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the lesson without secrets.
    pub fn redact_lesson(&self, lesson: AgentMemory) -> Option<AgentMemory> {
        let (id, project_root, repo_id) = (lesson.id.clone(), lesson.project_root.clone(), lesson.repo_id.clone());
        let evidence = lesson.evidence.clone();
        let mut clean = self.redact_texts(lesson)?;
        clean.evidence.episode_ids = evidence.episode_ids;
        clean.evidence.session_ids = evidence.session_ids;
        clean.evidence.trajectory_ids = evidence.trajectory_ids;
        Some(AgentMemory { id, project_root, repo_id, ..clean })
    }

    /// Returns the episode without secrets.
    pub fn redact_episode(&self, episode: Episode) -> Option<Episode> {
        let (id, session_id) = (episode.id.clone(), episode.session_id.clone());
        let (project_root, repo_id) = (episode.project_root.clone(), episode.repo_id.clone());
        let clean = self.redact_texts(episode)?;
        Some(Episode { id, session_id, project_root, repo_id, ..clean })
    }

    /// Returns the fact without secrets. Injections and effects have no words of anybody and are written while a
    /// session waits, so they are looked at only if there are unknown fields in them.
    pub fn redact_fact(&self, fact: Fact) -> Option<Fact> {
        let has_words = match &fact {
            Fact::Sighting { .. } => true,
            Fact::Feedback { extra, role, .. } => role.is_some() || !extra.is_empty(),
            Fact::Injection { extra, .. } | Fact::Effect { extra, .. } => !extra.is_empty(),
        };
        if !has_words {
            return Some(fact);
        }
        let key = fact.key();
        self.redact_texts(fact).filter(|clean| clean.key() == key)
    }

    fn redact_texts<T: Serialize + DeserializeOwned>(&self, record: T) -> Option<T> {
        redact_record(record, &self.redactor)
    }
}
