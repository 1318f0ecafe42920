//! Lessons and runs: listed, written, taken out of use, brought back.

use std::cmp::Reverse;

use chrono::TimeDelta;

use super::{Desk, Refusal};
use crate::domain::{
    AgentMemory, Alias, Episode, EpisodeId, Facets, IdSource, Importance, MemoryCategory, MemoryId, MemoryKind,
    MemoryScope, MemorySource, MemoryState, SessionId, Severity, Timestamp,
};
use crate::memory::{EpisodeFilter, Lesson, LessonName, Removal, Which};
use crate::service::{Decision, decide, unmerge};
use crate::text::one_line;

/// Which lessons are wanted; what is not said does not matter.
#[derive(Debug, Clone)]
pub struct LessonFilter {
    /// Those in use, or retired ones too.
    pub which: Which,
    /// Of this state.
    pub state: Option<MemoryState>,
    /// Of this scope.
    pub scope: Option<MemoryScope>,
    /// Of this kind.
    pub kind: Option<MemoryKind>,
    /// Of this category.
    pub category: Option<MemoryCategory>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// About this tool.
    pub tool: Option<String>,
    /// About this provider.
    pub provider: Option<String>,
    /// About this task.
    pub task: Option<String>,
    /// Learned in this session.
    pub session: Option<SessionId>,
    /// With each of these words somewhere in it.
    pub words: Vec<String>,
}

impl LessonFilter {
    /// All of these.
    pub fn of(which: Which) -> Self {
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
        }
    }

    fn admits(&self, memory: &AgentMemory) -> bool {
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
            && (self.words.is_empty() || self.words_stand_in(memory))
    }

    fn words_stand_in(&self, memory: &AgentMemory) -> bool {
        let texts = [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()];
        let names = memory.alias.as_ref().map(Alias::as_str).into_iter().chain([memory.id.as_str()]);
        let texts = texts.into_iter().flatten().chain(&memory.tags).map(String::as_str).chain(names);
        let all = texts.collect::<Vec<_>>().join("\n").to_lowercase();
        self.words.iter().all(|word| all.contains(&word.to_lowercase()))
    }
}

/// Which runs are wanted.
#[derive(Debug, Clone, Default)]
pub struct EpisodeQuestion {
    /// Of this session.
    pub session: Option<SessionId>,
    /// On this task.
    pub task: Option<String>,
    /// That ended in the last so many days.
    pub days: Option<u32>,
}

/// A lesson as somebody writes it.
#[derive(Debug, Clone)]
pub struct NewLesson {
    /// What is to be remembered, in a sentence.
    pub text: String,
    /// What sort of statement it is.
    pub kind: MemoryKind,
    /// What it is about; follows the kind if not given.
    pub category: Option<MemoryCategory>,
    /// The narrowest circumstance it holds in.
    pub scope: MemoryScope,
    /// How much it matters.
    pub importance: Importance,
    /// The lesson as a rule.
    pub rule: Option<String>,
    /// A short paragraph with nuance.
    pub detail: Option<String>,
    /// How bad it is when it is ignored.
    pub severity: Option<Severity>,
    /// Whether it never grows old.
    pub evergreen: bool,
    /// What it is about.
    pub facets: Facets,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who writes it, and whether they stand behind it.
    pub author: Author,
}

/// Who writes a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A person, who stands behind it: it is given from now on.
    Person,
    /// An agent, in the middle of its work: it waits for a person.
    Agent,
}

/// Why an agent's own lessons wait.
const AGENTS_WORD: &str = "written by an agent, seen by nobody else";

impl Desk {
    /// The lessons that are wanted, the one last known to hold first.
    pub async fn lessons(&self, filter: &LessonFilter) -> Result<Vec<Lesson>, Refusal> {
        let mut lessons = self.memory.lessons(filter.which).await?;
        lessons.retain(|lesson| self.sees(&lesson.memory) && filter.admits(&lesson.memory));
        lessons.sort_by_key(|lesson| Reverse((known_at(lesson), lesson.memory.alias.as_ref().map(Alias::number))));
        Ok(lessons)
    }

    /// The runs that are wanted, the last first.
    pub async fn episodes(&self, asked: &EpisodeQuestion, now: Timestamp) -> Result<Vec<Episode>, Refusal> {
        let filter = EpisodeFilter {
            id: None,
            session: asked.session.clone(),
            task: asked.task.clone(),
            since: asked.days.and_then(|days| now.checked_sub_signed(TimeDelta::days(i64::from(days)))),
        };
        let mut episodes = self.memory.episodes(&filter).await?;
        episodes.retain(|episode| self.owns(&episode.project_root, episode.repo_id.as_deref()));
        episodes.reverse();
        Ok(episodes)
    }

    /// One run.
    pub async fn episode(&self, id: &EpisodeId) -> Result<Episode, Refusal> {
        let filter = EpisodeFilter { id: Some(id.clone()), ..EpisodeFilter::default() };
        let mut episodes = self.memory.episodes(&filter).await?;
        episodes.retain(|episode| self.owns(&episode.project_root, episode.repo_id.as_deref()));
        episodes.pop().ok_or_else(|| Refusal::NoSuchEpisode { id: id.clone() })
    }

    /// Makes a lesson of what somebody wrote, and keeps it.
    pub async fn add(&self, new: NewLesson, ids: &IdSource, now: Timestamp) -> Result<AgentMemory, Refusal> {
        let mut memory = self.compose(new, ids, now)?;
        let receipt = self.memory.add_memories(vec![memory.clone()], now).await?;
        memory.alias = receipt.lessons.into_iter().next().map(|(_, alias)| alias);
        Ok(memory)
    }

    fn compose(&self, new: NewLesson, ids: &IdSource, now: Timestamp) -> Result<AgentMemory, Refusal> {
        let summary = one_line(&new.text);
        if summary.is_empty() {
            return Err(Refusal::unclear(
                "there is nothing to remember: the text is empty",
                "say it in a sentence, as in `archivist add \"Prefer rg over grep\"`",
            ));
        }
        says_where_it_holds(&new.scope, &new.facets)?;
        let mut memory = AgentMemory::new(ids.memory(now, &summary), now, summary);
        memory.category = new.category.unwrap_or_else(|| usual_category(&new.kind));
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
            Author::Person => {
                memory.source = MemorySource::Manual;
                memory.state = Some(MemoryState::Active);
            }
            Author::Agent => {
                memory.source = MemorySource::Archivist;
                memory.state = Some(MemoryState::Quarantined);
                memory.state_reason = Some(AGENTS_WORD.to_owned());
            }
        }
        self.project().sign(&mut memory);
        Ok(memory)
    }

    /// Takes lessons out of use. They are kept; those that were forgotten already stay as they are.
    pub async fn forget(
        &self,
        names: &[LessonName],
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<Forgotten>, Refusal> {
        let reason = reason.map(one_line).filter(|reason| !reason.is_empty());
        let mut forgotten = Vec::new();
        for Lesson { memory, .. } in self.lessons_named(names).await? {
            let was_forgotten =
                memory.state == Some(MemoryState::Archived) && (reason.is_none() || reason == memory.state_reason);
            if !was_forgotten {
                let removal = Removal::Forgotten { reason: reason.clone() };
                self.memory.archive_memory(&memory.id, removal, now).await?;
            }
            let lesson = self.lesson(&LessonName::Id(memory.id)).await?;
            forgotten.push(Forgotten { lesson, was_forgotten });
        }
        Ok(forgotten)
    }

    /// Brings back the content of an earlier version, as a new one.
    pub async fn restore(&self, name: &LessonName, version: u64, now: Timestamp) -> Result<Lesson, Refusal> {
        let id = self.lesson(name).await?.memory.id;
        self.memory.restore(&id, version, now).await?;
        Ok(self.lesson(&LessonName::Id(id)).await?)
    }

    /// Carries out what a person decides.
    pub async fn decide(&self, name: &LessonName, decision: &Decision, now: Timestamp) -> Result<AgentMemory, Refusal> {
        let id = self.id_of(name).await?;
        Ok(decide(&*self.memory, &id, decision, now).await?)
    }

    /// Takes the last merge of a lesson apart again.
    pub async fn unmerge(&self, name: &LessonName, now: Timestamp) -> Result<[AgentMemory; 2], Refusal> {
        let id = self.id_of(name).await?;
        let (kept, absorbed) = unmerge(&*self.memory, &id, now).await?;
        Ok([kept, absorbed])
    }

    async fn id_of(&self, name: &LessonName) -> Result<MemoryId, Refusal> {
        Ok(self.lesson(name).await?.memory.id)
    }
}

/// A lesson that is out of use now.
#[derive(Debug)]
pub struct Forgotten {
    /// The lesson as it stands.
    pub lesson: Lesson,
    /// Whether it was out of use before.
    pub was_forgotten: bool,
}

/// When the lesson was last known to hold.
pub fn known_at(lesson: &Lesson) -> Timestamp {
    lesson.counters.last_sign().unwrap_or_else(|| lesson.memory.version_at())
}

fn usual_category(kind: &MemoryKind) -> MemoryCategory {
    match kind {
        MemoryKind::Preference => MemoryCategory::Preference,
        MemoryKind::Decision => MemoryCategory::Decision,
        _ => MemoryCategory::Heuristic,
    }
}

/// A lesson that holds for one tool must say for which.
fn says_where_it_holds(scope: &MemoryScope, facets: &Facets) -> Result<(), Refusal> {
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
    Err(Refusal::unclear(format!("a lesson of scope {scope} must say which {scope}"), format!("add --{flag}")))
}
