//! Erasing for good: what goes is planned, written to a journal, erased everywhere, and noted without its content.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::{Archivist, RequestError};
use crate::domain::{Alias, EpisodeId, HudMessage, MemoryId, SessionId, StableHash};
use crate::memory::{
    EpisodeFilter, ErasureCounts, ErasureNote, ErasurePlan, ErasureSelection, LessonName, LessonStateFilter,
    MemoryError,
};
use crate::service::project_context::PROGRESS_NOTES;
use crate::service::purge::{
    PurgeJournal, PurgeLock, PurgePlaces, erase_kept_files, is_purge_pending, journal_path, plan_kept_files,
};
use crate::text::SearchedText;

/// The number of times that a memory is looked through: what is written while it is purged is found by the next look.
const MAX_ROUNDS: usize = 5;

/// The longest wait for displays to hear that something was erased.
const DISPLAY_PATIENCE: Duration = Duration::from_secs(2);

/// The fewest characters of the beginning of an id.
const MIN_PREFIX: usize = 6;

/// A person's choice of what to purge.
#[derive(Debug, Clone, Default)]
pub struct PurgeSelector {
    /// Short names, ids, or unambiguous beginnings of ids, of lessons and episodes.
    pub names: Vec<String>,
    /// A session, with all that rests on it alone.
    pub session: Option<SessionId>,
    /// A text, with every record that it is in.
    pub text: Option<SearchedText>,
}

/// What a purge would erase.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PurgePlan {
    /// The numbers of records, by what they are.
    pub erased: ErasureCounts,
    /// The logs of the sessions, which their agents keep.
    pub agent_logs: Vec<String>,
    #[serde(skip)]
    selection: ErasureSelection,
    #[serde(skip)]
    plan: ErasurePlan,
}

/// What a purge has erased.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PurgeReport {
    /// The numbers of records, by what they were.
    pub erased: ErasureCounts,
    /// The logs of the sessions, which their agents keep.
    pub agent_logs: Vec<String>,
}

impl PurgePlan {
    /// Returns true if nothing would go.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }
}

impl Archivist {
    /// Plans a purge. Changes nothing.
    pub async fn plan_purge(&self, selector: &PurgeSelector) -> Result<PurgePlan, RequestError> {
        let selection = self.resolve_purge(selector).await?;
        self.plan_selection(selection).await
    }

    /// Erases what was planned, and what was written meanwhile that it also covers. If it is interrupted at any moment,
    /// [`resume_purge`](Self::resume_purge) finishes it.
    pub async fn purge(
        &self,
        plan: PurgePlan,
        asked_by: &str,
        mut report_step: impl FnMut(&str),
    ) -> Result<PurgeReport, RequestError> {
        let _lock = self.lock_purge(self.purge_patience())?;
        self.finish_interrupted_purge().await?;
        let mut note = ErasureNote {
            id: new_note_id()?,
            at: self.now(),
            asked_by: asked_by.to_owned(),
            erased: ErasureCounts::new(),
            sessions: Vec::new(),
        };
        let PurgePlan { agent_logs, selection, plan: mut left, .. } = plan;
        let mut names = ErasurePlan::default();
        for _ in 0..MAX_ROUNDS {
            for (kind, number) in &left.counts {
                *note.erased.entry(kind.clone()).or_default() += number;
            }
            let hashes: BTreeSet<String> = left.sessions.iter().map(|session| note.hash_session(session)).collect();
            note.sessions.extend(hashes.into_iter().filter(|hash| !note.sessions.contains(hash)).collect::<Vec<_>>());
            names.extend_hashes(&left);
            let journal = PurgeJournal { note: note.clone(), plan: names.clone() };
            self.carry_out_purge(&journal, &mut report_step).await?;
            report_step("looking through everything again");
            left = self.plan_selection(selection.clone()).await?.plan;
            if left.is_empty() {
                break;
            }
        }
        self.finish_purge(&note).await?;
        if !left.is_empty() {
            return Err(RequestError::impossible_request(
                "other programs keep writing what is to be erased",
                "wait until their sessions have ended, and purge again",
            ));
        }
        Ok(PurgeReport { erased: note.erased, agent_logs })
    }

    /// Returns true if a purge of this memory was interrupted, or is under way.
    pub fn is_purge_interrupted(&self) -> bool {
        is_purge_pending(&self.memory_dir)
    }

    /// Finishes a purge that was interrupted. Returns what it erased, or `None` if there was none, or if another process
    /// is at it.
    pub async fn resume_purge(&self) -> Result<Option<PurgeReport>, RequestError> {
        if !is_purge_pending(&self.memory_dir) {
            return Ok(None);
        }
        match PurgeLock::acquire(&self.memory_dir, Duration::ZERO).map_err(self.journal_error("lock"))? {
            Some(_lock) => self.finish_interrupted_purge().await,
            None => Ok(None),
        }
    }

    async fn finish_interrupted_purge(&self) -> Result<Option<PurgeReport>, RequestError> {
        let journal = PurgeJournal::load(&self.memory_dir, &self.machine_key).map_err(self.journal_error("read"))?;
        let Some(journal) = journal else { return Ok(None) };
        self.carry_out_purge(&journal, &mut |_| {}).await?;
        self.finish_purge(&journal.note).await?;
        Ok(Some(PurgeReport { erased: journal.note.erased, agent_logs: Vec::new() }))
    }

    /// Erases what a journal says, after it is on the disk.
    async fn carry_out_purge(
        &self,
        journal: &PurgeJournal,
        report_step: &mut impl FnMut(&str),
    ) -> Result<(), RequestError> {
        journal.save(&self.memory_dir, &self.machine_key).map_err(self.journal_error("write"))?;
        // The note comes first: from now on no worker begins with these sessions again.
        self.memory.record_erasure(&journal.note).await?;
        report_step("erasing from jobs, displays and logs");
        self.erase_beside_memory(&journal.plan).await?;
        report_step("erasing from the memory");
        self.memory.erase_records(&journal.plan).await?;
        Ok(())
    }

    async fn finish_purge(&self, note: &ErasureNote) -> Result<(), RequestError> {
        self.memory.record_erasure(note).await?;
        let count = note.erased.values().fold(0, |sum, number| sum + u64::try_from(*number).unwrap_or_default());
        // A display that cannot be reached misses a message, as always.
        if let Ok(hud) = self.build_hud() {
            hud.send_message(&HudMessage::ArchivistRecordsErased { count, ts: self.now() });
            hud.flush_messages(DISPLAY_PATIENCE).await;
        }
        PurgeJournal::remove(&self.memory_dir).map_err(self.journal_error("remove"))?;
        Ok(())
    }

    async fn erase_beside_memory(&self, plan: &ErasurePlan) -> Result<(), RequestError> {
        let (places, plan) = (self.purge_places(), plan.clone());
        let done = tokio::task::spawn_blocking(move || erase_kept_files(&places, &plan)).await;
        done.map_err(|error| MemoryError::Interrupted(error.to_string()))??;
        Ok(())
    }

    async fn plan_selection(&self, selection: ErasureSelection) -> Result<PurgePlan, RequestError> {
        let mut plan = self.memory.plan_erasure(&selection).await?;
        let places = self.purge_places();
        let planned = tokio::task::spawn_blocking(move || {
            plan_kept_files(&places, &selection, &mut plan).map(|()| (plan, selection))
        });
        let (plan, selection) = planned.await.map_err(|error| MemoryError::Interrupted(error.to_string()))??;
        let agent_logs = plan.logs.iter().filter(|path| std::path::Path::new(path).exists()).cloned().collect();
        Ok(PurgePlan { erased: plan.counts.clone(), agent_logs, selection, plan })
    }

    /// Resolves the names of a selector.
    async fn resolve_purge(&self, selector: &PurgeSelector) -> Result<ErasureSelection, RequestError> {
        let mut selection = ErasureSelection { text: selector.text.clone(), ..ErasureSelection::default() };
        selection.sessions.extend(selector.session.clone());
        if selector.names.is_empty() {
            return Ok(selection);
        }
        let lessons = self.memory.list_lessons(LessonStateFilter::All).await?;
        let lessons: Vec<&MemoryId> = lessons
            .iter()
            .map(|lesson| &lesson.memory)
            .filter(|one| self.sees_lesson(one))
            .map(|one| &one.id)
            .collect();
        let episodes = self.memory.list_episodes(&EpisodeFilter::default()).await?;
        let episodes: Vec<&EpisodeId> = episodes
            .iter()
            .filter(|one| self.owns_episode(&one.project_root, one.repo_id.as_deref()))
            .map(|one| &one.id)
            .collect();
        for name in &selector.names {
            if let Ok(alias) = Alias::parse(name) {
                selection.lessons.insert(self.get_lesson(&LessonName::Alias(alias)).await?.memory.id);
                continue;
            }
            let fits = |id: &str| id == name || (name.chars().count() >= MIN_PREFIX && id.starts_with(name.as_str()));
            let exact = lessons.iter().any(|id| id.as_str() == name) || episodes.iter().any(|id| id.as_str() == name);
            let is_meant = |id: &str| if exact { id == name } else { fits(id) };
            let of_lessons: Vec<&MemoryId> = lessons.iter().copied().filter(|id| is_meant(id.as_str())).collect();
            let of_episodes: Vec<&EpisodeId> = episodes.iter().copied().filter(|id| is_meant(id.as_str())).collect();
            match (of_lessons.as_slice(), of_episodes.as_slice()) {
                ([id], []) => drop(selection.lessons.insert((*id).clone())),
                ([], [id]) => drop(selection.episodes.insert((*id).clone())),
                ([], []) => {
                    return Err(RequestError::impossible_request(
                        format!("there is no lesson and no episode `{name}`"),
                        "`archivist list --all` and `archivist episodes` show their names",
                    ));
                }
                (lessons, episodes) => {
                    let count = lessons.len() + episodes.len();
                    return Err(RequestError::impossible_request(
                        format!("`{name}` is the beginning of {count} ids"),
                        "give more of the id",
                    ));
                }
            }
        }
        Ok(selection)
    }

    fn purge_places(&self) -> PurgePlaces {
        let home = self.environment.home.as_deref();
        PurgePlaces {
            memory: self.memory_dir.clone(),
            state: self.environment.state_dir(),
            hud_file: self.config.hud.file_path(home),
            recordings: self.config.model.cassette_path(home),
            progress: self.project.root.join(PROGRESS_NOTES),
        }
    }

    fn lock_purge(&self, patience: Duration) -> Result<PurgeLock, RequestError> {
        let lock = PurgeLock::acquire(&self.memory_dir, patience).map_err(self.journal_error("lock"))?;
        lock.ok_or_else(|| {
            RequestError::impossible_request("another purge of this memory is under way", "wait until it has ended")
        })
    }

    fn purge_patience(&self) -> Duration {
        Duration::from_secs(self.config.memory.lock_timeout_seconds)
    }

    fn journal_error(&self, doing: &'static str) -> impl FnOnce(std::io::Error) -> RequestError {
        let path = journal_path(&self.memory_dir);
        move |error| RequestError::Memory(MemoryError::io_error(doing, &path)(error))
    }
}

/// Returns a random id, which nobody can guess: it is the key of the hashes in its note.
fn new_note_id() -> Result<String, RequestError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| MemoryError::Interrupted(error.to_string()))?;
    Ok(StableHash::from_bytes(&bytes).to_digits(32))
}
