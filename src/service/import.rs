//! Lessons from other memories are taken in: without secrets, held against what is known, in one commit.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use super::judging::saying;
use super::project::Project;
use super::standing::standing;
use crate::distill;
use crate::domain::{
    AgentMemory, Candidate, DropReason, Episode, EpisodeId, Fact, Link, MemoryId, MemoryState, Relation, Timestamp,
};
use crate::exchange::{Brought, Format, Parcel, Skipped};
use crate::judge::{self, Background, Known, Lifecycle, Opinions, Rules, Runs, Thresholds, Verdict};
use crate::memory::{Batch, EpisodeFilter, LessonName, MemoryError, MemoryService};
use crate::redact::Redactor;

/// How lessons from elsewhere are taken in.
#[derive(Debug, Clone)]
pub struct Import<'i> {
    /// Where to.
    pub memory: &'i dyn MemoryService,
    /// Whose they are from now on.
    pub project: &'i Project,
    /// When one of them is a lesson that is known.
    pub thresholds: Thresholds,
    /// How a lesson rises and ends.
    pub lifecycle: Lifecycle,
    /// How many of the nearest lessons each is held against.
    pub neighbours: usize,
    /// Whether a person stands behind all of them.
    pub is_vouched_for: bool,
    /// Whether nothing is to be written.
    pub is_rehearsal: bool,
}

/// What became of a lesson from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// It is a new lesson here.
    New,
    /// It is a new lesson that a person must look at first.
    Quarantined,
    /// It was taken in before.
    Known,
    /// A lesson here says it; it counts as seen again.
    Seen,
    /// Another one of the same memory says it, word for word.
    Repeated,
    /// A person took a lesson out of use that says it.
    Rejected,
}

/// One lesson from elsewhere, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taken {
    /// What it was called there.
    pub name: String,
    /// What it says.
    pub summary: String,
    /// What became of it.
    pub fate: Fate,
    /// What it is called here, where it is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lesson: Option<String>,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<MemoryState>,
    /// Why, where there is something to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// Out of which memory.
    pub format: &'static str,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Every lesson, in the order it was found.
    pub lessons: Vec<Taken>,
    /// Runs that are new here.
    pub episodes: usize,
    /// Runs that were here before.
    pub known_episodes: usize,
    /// Secrets that were masked on the way.
    pub secrets: usize,
    /// What could not be read.
    pub skipped: Vec<Skipped>,
}

impl Imported {
    /// How many lessons met this fate.
    pub fn count(&self, fate: Fate) -> usize {
        self.lessons.iter().filter(|taken| taken.fate == fate).count()
    }
}

/// Takes secrets out of records, and counts them.
struct Mask {
    redactor: Redactor,
    found: usize,
}

impl Mask {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let redacted = self.redactor.redact(text);
                if !redacted.found.is_empty() {
                    self.found += redacted.found.len();
                    *text = redacted.text.into_owned();
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The record without its secrets; as it is where there are none.
    fn record<T: Serialize + serde::de::DeserializeOwned>(&mut self, record: T) -> T {
        let before = self.found;
        let Ok(mut value) = serde_json::to_value(&record) else { return record };
        self.value(&mut value);
        if self.found == before { record } else { serde_json::from_value(value).unwrap_or(record) }
    }
}

impl Import<'_> {
    /// Takes a parcel in, all of it or nothing.
    pub async fn take_in(&self, format: Format, parcel: Parcel, now: Timestamp) -> Result<Imported, MemoryError> {
        let turn = if self.is_rehearsal { None } else { Some(self.memory.turn().await?) };
        let mut mask = Mask { redactor: Redactor::new(), found: 0 };
        let mut batch = Batch::default();
        let (episodes, known_episodes) = self.episodes(parcel.episodes, &mut mask, &mut batch).await?;
        let finished = self.memory.episodes(&EpisodeFilter::default()).await?;
        let runs = Runs::new(finished.iter().chain(&batch.episodes).map(|episode| episode.finished_at));
        let mut lessons = Vec::new();
        let mut said: HashMap<String, MemoryId> = HashMap::new();
        for brought in parcel.lessons {
            let brought = Brought {
                versions: brought.versions.into_iter().map(|version| mask.record(version)).collect(),
                facts: brought.facts.into_iter().map(|fact| mask.record(fact)).collect(),
                ..brought
            };
            lessons.extend(self.lesson(format, brought, &runs, &mut said, &mut batch).await?);
        }
        if let Some(turn) = turn {
            let receipt = self.memory.commit_in(turn, batch, now).await?;
            for taken in &mut lessons {
                let named = receipt.lessons.iter().find(|(id, _)| taken.lesson.as_deref() == Some(id.as_str()));
                taken.lesson = named.map(|(_, alias)| alias.to_string()).or(taken.lesson.take());
            }
        }
        let (format, dry_run) = (format.as_str(), self.is_rehearsal);
        let secrets = mask.found;
        Ok(Imported { format, dry_run, lessons, episodes, known_episodes, secrets, skipped: parcel.skipped })
    }

    /// Runs become this project's, unless they say whose they are.
    async fn episodes(
        &self,
        brought: Vec<Episode>,
        mask: &mut Mask,
        batch: &mut Batch,
    ) -> Result<(usize, usize), MemoryError> {
        let stored = self.memory.episodes(&EpisodeFilter::default()).await?;
        let mut met: HashSet<EpisodeId> = stored.into_iter().map(|episode| episode.id).collect();
        let mut known = 0;
        for episode in brought {
            let mut episode = mask.record(episode);
            if episode.project_root.is_empty() {
                episode.project_root = self.project.root_text();
                episode.repo_id.clone_from(&self.project.repo_id);
                let project = episode.repo_id.as_deref().unwrap_or(&episode.project_root);
                episode.id = EpisodeId::of_session(project, episode.session_id.as_str());
            }
            if met.insert(episode.id.clone()) {
                batch.episodes.push(episode);
            } else {
                known += 1;
            }
        }
        Ok((batch.episodes.len(), known))
    }

    async fn lesson(
        &self,
        format: Format,
        brought: Brought,
        runs: &Runs,
        said: &mut HashMap<String, MemoryId>,
        batch: &mut Batch,
    ) -> Result<Option<Taken>, MemoryError> {
        let Brought { name, mut versions, mut facts, .. } = brought;
        let Some(mut memory) = versions.pop() else { return Ok(None) };
        let taken = |fate, memory: &AgentMemory, lesson: &MemoryId| Taken {
            name: name.clone(),
            summary: memory.summary.clone(),
            fate,
            lesson: Some(lesson.to_string()),
            state: memory.state.clone(),
            why: memory.state_reason.clone().filter(|_| fate == Fate::Quarantined),
        };
        if let Some(known) = self.memory.get(&LessonName::Id(memory.id.clone())).await? {
            // More may have happened to it since.
            batch.facts.append(&mut facts);
            let mut taken = taken(Fate::Known, &known.memory, &memory.id);
            taken.lesson = known.memory.alias.map(|alias| alias.to_string()).or(taken.lesson);
            return Ok(Some(taken));
        }
        if format == Format::Jsonl {
            // Our own records were judged when they were made.
            batch.memories.append(&mut versions);
            let taken = taken(Fate::New, &memory, &memory.id);
            batch.memories.push(memory);
            batch.facts.append(&mut facts);
            return Ok(Some(taken));
        }
        let words = saying(&memory.summary, memory.rule.as_deref()).to_lowercase();
        if let Some(first) = said.get(&words) {
            batch.facts.extend(facts.into_iter().map(|fact| about(fact, first)));
            return Ok(Some(taken(Fate::Repeated, &memory, first)));
        }
        self.project.sign(&mut memory);
        let order =
            distill::order_in(&words).or_else(|| distill::order_in(memory.detail.as_deref().unwrap_or_default()));
        if let Some(order) = order {
            memory.state = Some(MemoryState::Quarantined);
            memory.state_reason = Some(format!("it tells its reader {order}"));
        }
        let fate = match self.verdict(&memory).await? {
            Verdict::Sight(id) | Verdict::Merge(id) if order.is_none() => {
                said.insert(words, id.clone());
                batch.facts.extend(facts.into_iter().map(|fact| about(fact, &id)));
                let mut seen = taken(Fate::Seen, &memory, &id);
                let here = self.memory.get(&LessonName::Id(id)).await?;
                seen.lesson = here.and_then(|here| here.memory.alias).map(|alias| alias.to_string()).or(seen.lesson);
                return Ok(Some(seen));
            }
            Verdict::Drop(DropReason::Rejected) => {
                return Ok(Some(Taken { lesson: None, ..taken(Fate::Rejected, &memory, &memory.id) }));
            }
            Verdict::Create { links } => {
                memory.links = links;
                Fate::New
            }
            // What is here stays in use: a person decides which of the two is right.
            Verdict::Supersede(id) => tied(&mut memory, id, Relation::Refines),
            Verdict::Contradicts { with } => tied(&mut memory, with, Relation::Contradicts),
            Verdict::Sight(_) | Verdict::Merge(_) | Verdict::Drop(_) => Fate::New,
        };
        if memory.state == Some(MemoryState::Observed) {
            let stands = standing(&memory, &facts, runs, &self.lifecycle);
            memory.state = Some(if self.is_vouched_for { MemoryState::Active } else { stands.state });
        }
        let fate = if memory.state == Some(MemoryState::Quarantined) { Fate::Quarantined } else { fate };
        said.insert(words, memory.id.clone());
        batch.facts.append(&mut facts);
        let taken = taken(fate, &memory, &memory.id);
        batch.memories.push(memory);
        Ok(Some(taken))
    }

    /// What the judge says of it, beside what was here before.
    async fn verdict(&self, memory: &AgentMemory) -> Result<Verdict, MemoryError> {
        let mut question = self.project.question();
        question.text = Some(saying(&memory.summary, memory.rule.as_deref()));
        let near = self.memory.neighbours(&question, self.neighbours).await?;
        let known: Vec<Known<'_>> =
            near.iter().map(|near| Known { memory: &near.lesson.memory, cosine: None }).collect();
        let rules = Rules { thresholds: self.thresholds, background: Background::default() };
        let verdicts = judge::judge(&[candidate(memory)], &[known], &rules, &Opinions::default());
        Ok(verdicts.into_iter().next().unwrap_or(Verdict::Create { links: Vec::new() }))
    }
}

fn tied(memory: &mut AgentMemory, to: MemoryId, relation: Relation) -> Fate {
    memory.links.push(Link { to, relation });
    Fate::New
}

/// The same fact about another lesson.
fn about(mut fact: Fact, lesson: &MemoryId) -> Fact {
    match &mut fact {
        Fact::Sighting { memory, .. }
        | Fact::Injection { memory, .. }
        | Fact::Feedback { memory, .. }
        | Fact::Effect { memory, .. } => memory.clone_from(lesson),
    }
    fact
}

/// A lesson as the claim that it was.
fn candidate(memory: &AgentMemory) -> Candidate {
    Candidate {
        summary: memory.summary.clone(),
        rule: memory.rule.clone(),
        detail: memory.detail.clone(),
        kind: memory.kind.clone(),
        category: memory.category.clone(),
        scope: memory.scope.clone(),
        facets: memory.facets.clone(),
        tags: memory.tags.clone(),
        importance: memory.importance,
        importance_reason: None,
        severity: memory.severity.clone(),
        evidence: memory.evidence.clone(),
        quarantine: None,
        near: Vec::new(),
        mended: Vec::new(),
    }
}
