//! Lessons and episodes: listing, adding, archiving and restoring.

use std::cmp::Reverse;

use chrono::TimeDelta;

use super::{Archivist, RequestError};
use crate::domain::{
    AgentMemory, Alias, Episode, EpisodeId, FacetValues, Importance, MemoryCategory, MemoryId, MemoryKind, MemoryScope,
    MemorySource, MemoryState, SessionId, Severity, Timestamp,
};
use crate::memory::{EpisodeFilter, Lesson, LessonName, LessonRemoval, LessonStateFilter};
use crate::service::{LessonDecision, apply_decision, unmerge_lesson};
use crate::text::one_line;

/// A filter for lessons; a field that is not set matches everything.
#[derive(Debug, Clone)]
pub struct LessonFilter {
    /// Selects lessons in use only, or retired ones too.
    pub which: LessonStateFilter,
    /// The required state.
    pub state: Option<MemoryState>,
    /// The required scope.
    pub scope: Option<MemoryScope>,
    /// The required kind.
    pub kind: Option<MemoryKind>,
    /// The required category.
    pub category: Option<MemoryCategory>,
    /// Tags that must all be present.
    pub tags: Vec<String>,
    /// The required tool.
    pub tool: Option<String>,
    /// The required provider.
    pub provider: Option<String>,
    /// The required task.
    pub task: Option<String>,
    /// The session it must have been learned in.
    pub session: Option<SessionId>,
    /// Words that must all occur somewhere in the lesson.
    pub words: Vec<String>,
    /// The number of lessons at most; all if `None`.
    pub limit: Option<usize>,
}

impl LessonFilter {
    /// Makes a filter that matches every lesson of this selection.
    pub fn from_selection(which: LessonStateFilter) -> Self {
        Self {
            which,
            state: None,
            scope: None,
            kind: None,
            category: None,
            tags: Vec::new(),
            tool: None,
            provider: None,
            task: None,
            session: None,
            words: Vec::new(),
            limit: None,
        }
    }

    fn matches_lesson(&self, memory: &AgentMemory) -> bool {
        fn is_wanted<T: PartialEq>(wanted: Option<&T>, found: Option<&T>) -> bool {
            wanted.is_none() || wanted == found
        }
        is_wanted(self.state.as_ref(), memory.state.as_ref())
            && is_wanted(self.scope.as_ref(), Some(&memory.scope))
            && is_wanted(self.kind.as_ref(), Some(&memory.kind))
            && is_wanted(self.category.as_ref(), Some(&memory.category))
            && is_wanted(self.tool.as_ref(), memory.facets.tool.as_ref())
            && is_wanted(self.provider.as_ref(), memory.facets.provider.as_ref())
            && is_wanted(self.task.as_ref(), memory.facets.task_id.as_ref())
            && self.session.as_ref().is_none_or(|session| memory.evidence.session_ids.contains(session))
            && self.tags.iter().all(|tag| memory.tags.contains(tag))
            && (self.words.is_empty() || self.contains_all_words(memory))
    }

    fn contains_all_words(&self, memory: &AgentMemory) -> bool {
        let texts = [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()];
        let names = memory.alias.as_ref().map(Alias::as_str).into_iter().chain([memory.id.as_str()]);
        let texts = texts.into_iter().flatten().chain(&memory.tags).map(String::as_str).chain(names);
        let all = texts.collect::<Vec<_>>().join("\n").to_lowercase();
        self.words.iter().all(|word| all.contains(&word.to_lowercase()))
    }
}

/// A filter for the list of episodes.
#[derive(Debug, Clone, Default)]
pub struct EpisodeListFilter {
    /// The required session.
    pub session: Option<SessionId>,
    /// The required task.
    pub task: Option<String>,
    /// The number of days back within which it must have ended.
    pub days: Option<u32>,
}

/// A lesson to be added, as its author writes it.
#[derive(Debug, Clone)]
pub struct NewLesson {
    /// The statement to remember, in a sentence.
    pub text: String,
    /// The kind of statement.
    pub kind: MemoryKind,
    /// The category; derived from the kind if not given.
    pub category: Option<MemoryCategory>,
    /// The narrowest scope that it applies in.
    pub scope: MemoryScope,
    /// The importance of the lesson.
    pub importance: Importance,
    /// The lesson as a rule.
    pub rule: Option<String>,
    /// A short paragraph with details.
    pub detail: Option<String>,
    /// The severity of ignoring the lesson.
    pub severity: Option<Severity>,
    /// True if it never decays.
    pub evergreen: bool,
    /// The facets it applies to, such as tool or task.
    pub facets: FacetValues,
    /// Tags to find it by.
    pub tags: Vec<String>,
    /// The author, who decides its first state.
    pub author: LessonAuthor,
}

/// The author of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonAuthor {
    /// A person: the lesson becomes active at once.
    Person,
    /// An agent during its work: the lesson is quarantined until a person approves it.
    Agent,
}

/// The number of lessons from which reading all at once is faster than one after the other.
const MOST_READ_BY_AGE: usize = 10_000;

/// The factor by which more lessons are read when too few of them matched.
const READ_GROWTH: usize = 8;

/// The reason for quarantining an agent's own lessons.
const AGENTS_WORD: &str = "written by an agent, seen by nobody else";

impl Archivist {
    /// Lists the lessons that match the filter, the most recently confirmed first.
    pub async fn list_lessons(&self, filter: &LessonFilter) -> Result<Vec<Lesson>, RequestError> {
        let mut lessons = self.read_matching_lessons(filter).await?;
        lessons.sort_by_key(|lesson| {
            Reverse((last_confirmed_at(lesson), lesson.memory.alias.as_ref().map(Alias::number)))
        });
        lessons.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(lessons)
    }

    /// Reads the lessons that match the filter; if they are limited, only as many of the newest as that takes.
    async fn read_matching_lessons(&self, filter: &LessonFilter) -> Result<Vec<Lesson>, RequestError> {
        let matches = |lesson: &Lesson| self.sees_lesson(&lesson.memory) && filter.matches_lesson(&lesson.memory);
        let mut count = filter.limit.unwrap_or(usize::MAX).max(1);
        while count < MOST_READ_BY_AGE {
            let mut lessons = self.memory.newest_lessons(filter.which, count).await?;
            let read = lessons.len();
            lessons.retain(matches);
            if read < count || lessons.len() >= filter.limit.unwrap_or(usize::MAX) {
                return Ok(lessons);
            }
            count = count.saturating_mul(READ_GROWTH);
        }
        let mut lessons = self.memory.list_lessons(filter.which).await?;
        lessons.retain(matches);
        Ok(lessons)
    }

    /// Lists the episodes that match the filter, the latest first.
    pub async fn list_episodes(&self, asked: &EpisodeListFilter) -> Result<Vec<Episode>, RequestError> {
        let now = self.now();
        let filter = EpisodeFilter {
            id: None,
            session: asked.session.clone(),
            task: asked.task.clone(),
            newest: None,
            since: asked.days.and_then(|days| now.checked_sub_signed(TimeDelta::days(i64::from(days)))),
        };
        let mut episodes = self.memory.list_episodes(&filter).await?;
        episodes.retain(|episode| self.owns_episode(&episode.project_root, episode.repo_id.as_deref()));
        episodes.reverse();
        Ok(episodes)
    }

    /// Lists the lessons of this project that are in use.
    pub async fn lessons(&self) -> Result<Vec<Lesson>, RequestError> {
        self.list_lessons(&LessonFilter::from_selection(LessonStateFilter::Live)).await
    }

    /// Returns the episode with this id, or an error.
    pub async fn get_episode(&self, id: &EpisodeId) -> Result<Episode, RequestError> {
        let filter = EpisodeFilter { id: Some(id.clone()), ..EpisodeFilter::default() };
        let mut episodes = self.memory.list_episodes(&filter).await?;
        episodes.retain(|episode| self.owns_episode(&episode.project_root, episode.repo_id.as_deref()));
        episodes.pop().ok_or_else(|| RequestError::NoSuchEpisode { id: id.clone() })
    }

    /// Composes a lesson from the author's input, stores it, and returns it as it is stored.
    pub async fn add_lesson(&self, new: NewLesson) -> Result<AgentMemory, RequestError> {
        let now = self.now();
        let memory = self.compose_lesson(new, now)?;
        let id = memory.id.clone();
        self.memory.add_memories(vec![memory], now).await?;
        // Its author is shown what is stored: without secrets, and with its short name.
        Ok(self.get_lesson(&LessonName::Id(id)).await?.memory)
    }

    fn compose_lesson(&self, new: NewLesson, now: Timestamp) -> Result<AgentMemory, RequestError> {
        let summary = one_line(&new.text);
        if summary.is_empty() {
            return Err(RequestError::unclear_request(
                "there is nothing to remember: the text is empty",
                "say it in a sentence, as in `archivist add \"Prefer rg over grep\"`",
            ));
        }
        check_scope_has_facet(&new.scope, &new.facets)?;
        let mut memory = AgentMemory::new(self.ids.new_memory_id(now, &summary), now, summary);
        memory.category = new.category.unwrap_or_else(|| default_category(&new.kind));
        memory.kind = new.kind;
        memory.scope = new.scope;
        memory.importance = new.importance;
        memory.severity = new.severity;
        memory.rule = new.rule.as_deref().map(one_line).filter(|rule| !rule.is_empty());
        memory.detail = new.detail.as_deref().map(str::trim).filter(|detail| !detail.is_empty()).map(str::to_owned);
        memory.evergreen = new.evergreen;
        memory.facets = new.facets;
        memory.tags = new.tags;
        match new.author {
            LessonAuthor::Person => {
                memory.source = MemorySource::Manual;
                memory.state = Some(MemoryState::Active);
            }
            LessonAuthor::Agent => {
                memory.source = MemorySource::Archivist;
                memory.state = Some(MemoryState::Quarantined);
                memory.state_reason = Some(AGENTS_WORD.to_owned());
            }
        }
        self.project().assign_owner(&mut memory);
        Ok(memory)
    }

    /// Archives lessons. They stay stored; those that are archived already are not changed.
    pub async fn forget_lessons(
        &self,
        names: &[LessonName],
        reason: Option<&str>,
    ) -> Result<Vec<ForgottenLesson>, RequestError> {
        let now = self.now();
        let reason = reason.map(one_line).filter(|reason| !reason.is_empty());
        let mut forgotten = Vec::new();
        for Lesson { memory, .. } in self.get_lessons(names).await? {
            let was_forgotten =
                memory.state == Some(MemoryState::Archived) && (reason.is_none() || reason == memory.state_reason);
            if !was_forgotten {
                let removal = LessonRemoval::Forgotten { reason: reason.clone() };
                self.memory.archive_memory(&memory.id, removal, now).await?;
            }
            let lesson = self.get_lesson(&LessonName::Id(memory.id)).await?;
            forgotten.push(ForgottenLesson { lesson, was_forgotten });
        }
        Ok(forgotten)
    }

    /// Restores the content of an earlier version as a new version.
    pub async fn restore_version(&self, name: &LessonName, version: u64) -> Result<Lesson, RequestError> {
        let now = self.now();
        let id = self.get_lesson(name).await?.memory.id;
        self.memory.restore_version(&id, version, now).await?;
        Ok(self.get_lesson(&LessonName::Id(id)).await?)
    }

    /// Applies a person's decision to a lesson.
    pub async fn apply_decision(
        &self,
        name: &LessonName,
        decision: &LessonDecision,
    ) -> Result<AgentMemory, RequestError> {
        let now = self.now();
        let id = self.lesson_id(name).await?;
        Ok(apply_decision(&*self.memory, &id, decision, now).await?)
    }

    /// Undoes the last merge of a lesson.
    pub async fn unmerge_lesson(&self, name: &LessonName, now: Timestamp) -> Result<[AgentMemory; 2], RequestError> {
        let id = self.lesson_id(name).await?;
        let (kept, absorbed) = unmerge_lesson(&*self.memory, &id, now).await?;
        Ok([kept, absorbed])
    }

    async fn lesson_id(&self, name: &LessonName) -> Result<MemoryId, RequestError> {
        Ok(self.get_lesson(name).await?.memory.id)
    }
}

/// A lesson that is archived now.
#[derive(Debug)]
pub struct ForgottenLesson {
    /// The lesson in its current state.
    pub lesson: Lesson,
    /// True if it was archived before.
    pub was_forgotten: bool,
}

/// Returns the time at which the lesson was last confirmed.
pub fn last_confirmed_at(lesson: &Lesson) -> Timestamp {
    lesson.counters.last_confirmed_at().unwrap_or_else(|| lesson.memory.version_at())
}

fn default_category(kind: &MemoryKind) -> MemoryCategory {
    match kind {
        MemoryKind::Preference => MemoryCategory::Preference,
        MemoryKind::Decision => MemoryCategory::Decision,
        _ => MemoryCategory::Heuristic,
    }
}

/// Returns an error if the facet that the scope refers to is missing, such as the tool for the scope `tool`.
fn check_scope_has_facet(scope: &MemoryScope, facets: &FacetValues) -> Result<(), RequestError> {
    let (flag, value) = match scope {
        MemoryScope::Task => ("task ID", &facets.task_id),
        MemoryScope::Tool => ("tool NAME", &facets.tool),
        MemoryScope::Provider => ("provider NAME", &facets.provider),
        MemoryScope::Component => ("component PATH", &facets.component),
        MemoryScope::Role => ("role NAME", &facets.role),
        MemoryScope::Domain => ("domain NAME", &facets.domain),
        MemoryScope::Global | MemoryScope::Project | MemoryScope::Repo | MemoryScope::Other(_) => return Ok(()),
    };
    if value.is_some() {
        return Ok(());
    }
    Err(RequestError::unclear_request(
        format!("a lesson of scope {scope} must say which {scope}"),
        format!("add --{flag}"),
    ))
}
