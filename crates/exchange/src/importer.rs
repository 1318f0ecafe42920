//! Imports lessons from other memories: redacted, compared with known lessons, in one commit.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use crate::{ImportBundle, IncomingLesson, MemoryFormat, SkippedRecord};
use archivist_core::distill;
use archivist_core::domain::{
    AgentMemory, Candidate, DropReason, Episode, EpisodeId, Fact, LessonLink, MemoryId, MemoryState, Relation,
    Timestamp,
};
use archivist_core::judge::{
    self, CandidateVerdict, DedupRules, KnownNeighbour, LifecycleRules, Opinions, SessionEnds, SimilarityThresholds,
    WordFrequencies,
};
use archivist_core::memory::{CommitBatch, EpisodeFilter, LessonName, MemoryError, MemoryService};
use archivist_core::redact::Redactor;
use archivist_core::service::{ProjectContext, lifecycle_state, summary_with_rule};

/// Imports lessons from other memories.
#[derive(Debug, Clone)]
pub struct LessonImporter<'i> {
    /// The memory to import into.
    pub memory: &'i dyn MemoryService,
    /// The project that will own the lessons.
    pub project: &'i ProjectContext,
    /// The thresholds at which an imported lesson counts as a known one.
    pub thresholds: SimilarityThresholds,
    /// The rules of a lesson's lifecycle.
    pub lifecycle: LifecycleRules,
    /// The number of nearest lessons that each is compared with.
    pub neighbours: usize,
    /// True if a person vouches for all of them.
    pub is_vouched_for: bool,
    /// True if nothing is to be written.
    pub is_rehearsal: bool,
}

/// What became of a lesson from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Fate")]
pub enum ImportFate {
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
#[schemars(rename = "Taken")]
pub struct ImportedLesson {
    /// What it was called there.
    pub name: String,
    /// What it says.
    pub summary: String,
    /// What became of it.
    pub fate: ImportFate,
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
#[schemars(rename = "Imported")]
pub struct ImportReport {
    /// Out of which memory.
    pub format: &'static str,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Every lesson, in the order it was found.
    pub lessons: Vec<ImportedLesson>,
    /// Runs that are new here.
    pub episodes: usize,
    /// Runs that were here before.
    pub known_episodes: usize,
    /// Secrets that were masked on the way.
    pub secrets: usize,
    /// What could not be read.
    pub skipped: Vec<SkippedRecord>,
}

impl ImportReport {
    /// Returns the number of lessons with this fate.
    pub fn count_fate(&self, fate: ImportFate) -> usize {
        self.lessons.iter().filter(|taken| taken.fate == fate).count()
    }
}

/// Masks secrets in records, and counts them.
struct ImportRedactor {
    redactor: Redactor,
    found: usize,
}

impl ImportRedactor {
    fn redact_value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let redacted = self.redactor.redact(text);
                if !redacted.found.is_empty() {
                    self.found += redacted.found.len();
                    *text = redacted.text.into_owned();
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.redact_value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns the record with its secrets masked, or unchanged if there are none.
    fn redact_record<T: Serialize + serde::de::DeserializeOwned>(&mut self, record: T) -> T {
        let before = self.found;
        let Ok(mut value) = serde_json::to_value(&record) else { return record };
        self.redact_value(&mut value);
        if self.found == before { record } else { serde_json::from_value(value).unwrap_or(record) }
    }
}

impl LessonImporter<'_> {
    /// Imports a parcel completely or not at all.
    pub async fn import_bundle(
        &self,
        format: MemoryFormat,
        bundle: ImportBundle,
        now: Timestamp,
    ) -> Result<ImportReport, MemoryError> {
        let turn = if self.is_rehearsal { None } else { Some(self.memory.acquire_turn().await?) };
        let mut mask = ImportRedactor { redactor: Redactor::new(), found: 0 };
        let mut batch = CommitBatch::default();
        let (episodes, known_episodes) = self.import_episodes(bundle.episodes, &mut mask, &mut batch).await?;
        let finished = self.memory.list_episodes(&EpisodeFilter::default()).await?;
        let runs = SessionEnds::new(finished.iter().chain(&batch.episodes).map(|episode| episode.finished_at));
        let mut lessons = Vec::new();
        let mut said: HashMap<String, MemoryId> = HashMap::new();
        for brought in bundle.lessons {
            let brought = IncomingLesson {
                versions: brought.versions.into_iter().map(|version| mask.redact_record(version)).collect(),
                facts: brought.facts.into_iter().map(|fact| mask.redact_record(fact)).collect(),
                ..brought
            };
            lessons.extend(self.import_lesson(format, brought, &runs, &mut said, &mut batch).await?);
        }
        if let Some(turn) = turn {
            let receipt = self.memory.commit_in_turn(turn, batch, now).await?;
            for taken in &mut lessons {
                let named = receipt.lessons.iter().find(|(id, _)| taken.lesson.as_deref() == Some(id.as_str()));
                taken.lesson = named.map(|(_, alias)| alias.to_string()).or(taken.lesson.take());
            }
        }
        let (format, dry_run) = (format.as_str(), self.is_rehearsal);
        let secrets = mask.found;
        Ok(ImportReport { format, dry_run, lessons, episodes, known_episodes, secrets, skipped: bundle.skipped })
    }

    /// Imports episodes; those without a project become this project's.
    async fn import_episodes(
        &self,
        brought: Vec<Episode>,
        mask: &mut ImportRedactor,
        batch: &mut CommitBatch,
    ) -> Result<(usize, usize), MemoryError> {
        let stored = self.memory.list_episodes(&EpisodeFilter::default()).await?;
        let mut met: HashSet<EpisodeId> = stored.into_iter().map(|episode| episode.id).collect();
        let mut known = 0;
        for episode in brought {
            let mut episode = mask.redact_record(episode);
            if episode.project_root.is_empty() {
                episode.project_root = self.project.root_text();
                episode.repo_id.clone_from(&self.project.repo_id);
                let project = episode.repo_id.as_deref().unwrap_or(&episode.project_root);
                episode.id = EpisodeId::for_session(project, episode.session_id.as_str());
            }
            if met.insert(episode.id.clone()) {
                batch.episodes.push(episode);
            } else {
                known += 1;
            }
        }
        Ok((batch.episodes.len(), known))
    }

    async fn import_lesson(
        &self,
        format: MemoryFormat,
        brought: IncomingLesson,
        runs: &SessionEnds,
        said: &mut HashMap<String, MemoryId>,
        batch: &mut CommitBatch,
    ) -> Result<Option<ImportedLesson>, MemoryError> {
        let IncomingLesson { name, mut versions, mut facts, .. } = brought;
        let Some(mut memory) = versions.pop() else { return Ok(None) };
        let taken = |fate, memory: &AgentMemory, lesson: &MemoryId| ImportedLesson {
            name: name.clone(),
            summary: memory.summary.clone(),
            fate,
            lesson: Some(lesson.to_string()),
            state: memory.state.clone(),
            why: memory.state_reason.clone().filter(|_| fate == ImportFate::Quarantined),
        };
        if let Some(known) = self.memory.get_lesson(&LessonName::Id(memory.id.clone())).await? {
            // New facts may have been added to it since.
            batch.facts.append(&mut facts);
            let mut taken = taken(ImportFate::Known, &known.memory, &memory.id);
            taken.lesson = known.memory.alias.map(|alias| alias.to_string()).or(taken.lesson);
            return Ok(Some(taken));
        }
        if format == MemoryFormat::Jsonl {
            // Our own records were judged when they were made.
            batch.memories.append(&mut versions);
            let taken = taken(ImportFate::New, &memory, &memory.id);
            batch.memories.push(memory);
            batch.facts.append(&mut facts);
            return Ok(Some(taken));
        }
        let words = summary_with_rule(&memory.summary, memory.rule.as_deref()).to_lowercase();
        if let Some(first) = said.get(&words) {
            batch.facts.extend(facts.into_iter().map(|fact| retarget_fact(fact, first)));
            return Ok(Some(taken(ImportFate::Repeated, &memory, first)));
        }
        self.project.assign_owner(&mut memory);
        let order = distill::find_forbidden_order(&words)
            .or_else(|| distill::find_forbidden_order(memory.detail.as_deref().unwrap_or_default()));
        if let Some(order) = order {
            memory.state = Some(MemoryState::Quarantined);
            memory.state_reason = Some(format!("it tells its reader {order}"));
        }
        let fate = match self.judge_lesson(&memory).await? {
            CandidateVerdict::Sight(id) | CandidateVerdict::Merge(id) if order.is_none() => {
                said.insert(words, id.clone());
                batch.facts.extend(facts.into_iter().map(|fact| retarget_fact(fact, &id)));
                let mut seen = taken(ImportFate::Seen, &memory, &id);
                let here = self.memory.get_lesson(&LessonName::Id(id)).await?;
                seen.lesson = here.and_then(|here| here.memory.alias).map(|alias| alias.to_string()).or(seen.lesson);
                return Ok(Some(seen));
            }
            CandidateVerdict::Drop(DropReason::Rejected) => {
                return Ok(Some(ImportedLesson { lesson: None, ..taken(ImportFate::Rejected, &memory, &memory.id) }));
            }
            CandidateVerdict::Create { links } => {
                memory.links = links;
                ImportFate::New
            }
            // The existing lesson stays in use: a person decides which of the two is right.
            CandidateVerdict::Supersede(id) => add_link(&mut memory, id, Relation::Refines),
            CandidateVerdict::Contradicts { with } => add_link(&mut memory, with, Relation::Contradicts),
            CandidateVerdict::Sight(_) | CandidateVerdict::Merge(_) | CandidateVerdict::Drop(_) => ImportFate::New,
        };
        if memory.state == Some(MemoryState::Observed) {
            let stands = lifecycle_state(&memory, &facts, runs, &self.lifecycle);
            memory.state = Some(if self.is_vouched_for { MemoryState::Active } else { stands.state });
        }
        let fate = if memory.state == Some(MemoryState::Quarantined) { ImportFate::Quarantined } else { fate };
        said.insert(words, memory.id.clone());
        batch.facts.append(&mut facts);
        let taken = taken(fate, &memory, &memory.id);
        batch.memories.push(memory);
        Ok(Some(taken))
    }

    /// Returns the judge's verdict on a lesson, compared with the stored ones.
    async fn judge_lesson(&self, memory: &AgentMemory) -> Result<CandidateVerdict, MemoryError> {
        let mut question = self.project.new_query();
        question.text = Some(summary_with_rule(&memory.summary, memory.rule.as_deref()));
        let near = self.memory.find_neighbours(&question, self.neighbours).await?;
        let known: Vec<KnownNeighbour<'_>> =
            near.iter().map(|near| KnownNeighbour { memory: &near.lesson.memory, cosine: None }).collect();
        let rules = DedupRules { thresholds: self.thresholds, background: WordFrequencies::default() };
        let verdicts =
            judge::judge_candidates(&[candidate_from_lesson(memory)], &[known], &rules, &Opinions::default());
        Ok(verdicts.into_iter().next().unwrap_or(CandidateVerdict::Create { links: Vec::new() }))
    }
}

fn add_link(memory: &mut AgentMemory, to: MemoryId, relation: Relation) -> ImportFate {
    memory.links.push(LessonLink { to, relation });
    ImportFate::New
}

/// Returns the fact with its lesson replaced by another.
fn retarget_fact(mut fact: Fact, lesson: &MemoryId) -> Fact {
    match &mut fact {
        Fact::Sighting { memory, .. }
        | Fact::Injection { memory, .. }
        | Fact::Feedback { memory, .. }
        | Fact::Effect { memory, .. } => memory.clone_from(lesson),
    }
    fact
}

/// Returns the candidate that corresponds to a lesson.
fn candidate_from_lesson(memory: &AgentMemory) -> Candidate {
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
