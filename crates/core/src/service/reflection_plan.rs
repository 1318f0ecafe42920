//! The plan of what a reflection writes: changed lessons, their sightings, and the session's episode. It is pure.

use std::collections::BTreeMap;

use super::episode_patterns::PatternCause;
use super::lifecycle_state::lifecycle_state;
use super::project_context::ProjectContext;
use super::reflection_outcome::{DistillationEffort, ReflectionReport};
use super::reflection_service::PreparedReflection;
use crate::context::ReflectionContext;
use crate::domain::{
    AgentMemory, Alias, Candidate, DistillationResult, DroppedCandidate, Effect, Episode, EpisodeId, EvidenceLevel,
    Extra, Fact, Importance, LessonLink, MemoryId, MemorySource, MemoryState, Quote, ReflectionRecord, Relation, RunId,
    Speaker, Timestamp,
};
use crate::judge::{self, CandidateVerdict, SessionEnds};
use crate::memory::{CommitBatch, Lesson};
use crate::text::one_line;

/// The number of quotes that a sighting keeps; the lesson has its own.
const SIGHTING_QUOTES: usize = 3;

/// The most characters kept of the first and of the last request in a situation.
const SITUATION_CHARACTERS: usize = 150;

/// The fewest words of a request; shorter texts are greetings.
const MIN_REQUEST_WORDS: usize = 4;

/// The plan of what a reflection writes.
#[derive(Debug)]
pub(super) struct ReflectionPlan<'s> {
    prepared: &'s PreparedReflection,
    /// Every stored episode, this one in its previous version.
    episodes: &'s [Episode],
    project: &'s ProjectContext,
    source: MemorySource,
    now: Timestamp,
    /// The lessons in their new version, and the stored version that is expected; `None` for a new lesson.
    lessons: BTreeMap<MemoryId, (AgentMemory, Option<u64>)>,
    /// The lessons that only have new facts so far.
    unchanged: Vec<MemoryId>,
    facts: Vec<Fact>,
    created: Vec<MemoryId>,
    updated: Vec<MemoryId>,
    seen: Vec<MemoryId>,
    pub(super) dropped: Vec<DroppedCandidate>,
}

impl<'s> ReflectionPlan<'s> {
    pub(super) fn new(
        prepared: &'s PreparedReflection,
        episodes: &'s [Episode],
        project: &'s ProjectContext,
        source: MemorySource,
        now: Timestamp,
    ) -> Self {
        Self {
            prepared,
            episodes,
            project,
            source,
            now,
            lessons: BTreeMap::new(),
            unchanged: Vec::new(),
            facts: Vec::new(),
            created: Vec::new(),
            updated: Vec::new(),
            seen: Vec::new(),
            dropped: Vec::new(),
        }
    }

    pub(super) fn apply_verdict(&mut self, candidate: &Candidate, verdict: CandidateVerdict, known: &[&Lesson]) {
        let of = |id: &MemoryId| known.iter().copied().find(|lesson| lesson.memory.id == *id);
        match verdict {
            CandidateVerdict::Create { links } => {
                let mut memory = self.build_lesson(candidate);
                memory.links = links;
                self.create_lesson(candidate, memory);
            }
            CandidateVerdict::Sight(id) => {
                of(&id).into_iter().for_each(|lesson| self.track_lesson(lesson));
                self.record_sighting(candidate, &id);
                push_unique(&mut self.seen, id);
            }
            CandidateVerdict::Merge(id) => {
                let Some(lesson) = of(&id) else { return self.record_sighting(candidate, &id) };
                self.track_lesson(lesson);
                let absorbed = self.build_lesson(candidate);
                let now = self.now;
                self.change_lesson(&id, |kept| *kept = judge::merge_lessons(kept, absorbed, now));
                self.record_sighting(candidate, &id);
                push_unique(&mut self.updated, id);
            }
            CandidateVerdict::Supersede(id) => {
                let Some(lesson) = of(&id) else { return self.create_lesson(candidate, self.build_lesson(candidate)) };
                self.track_lesson(lesson);
                let old = lesson.memory.clone();
                let mut memory = judge::refine_lesson(&old, self.build_lesson(candidate));
                memory.links.push(LessonLink { to: id.clone(), relation: Relation::Refines });
                let new = memory.id.clone();
                self.change_lesson(&id, |old| {
                    old.state = Some(MemoryState::Superseded);
                    old.state_reason = None;
                    old.superseded_by = Some(new.clone());
                });
                self.inherit_sightings(&old, &new);
                self.lessons.insert(new.clone(), (memory, None));
                self.record_sighting(candidate, &new);
                push_unique(&mut self.updated, new);
            }
            CandidateVerdict::Contradicts { with } => {
                let mut memory = self.build_lesson(candidate);
                memory.links.push(LessonLink { to: with.clone(), relation: Relation::Contradicts });
                let back = LessonLink { to: memory.id.clone(), relation: Relation::Contradicts };
                of(&with).into_iter().for_each(|lesson| self.track_lesson(lesson));
                self.change_lesson(&with, |old| {
                    if !old.links.contains(&back) {
                        old.links.push(back.clone());
                    }
                });
                self.create_lesson(candidate, memory);
            }
            CandidateVerdict::Drop(why) => {
                self.dropped.push(DroppedCandidate { summary: candidate.summary.clone(), why, detail: String::new() });
            }
        }
    }

    /// Builds the lesson for a candidate.
    fn build_lesson(&self, candidate: &Candidate) -> AgentMemory {
        let episode = &self.prepared.context.episode;
        let rule = candidate.rule.as_deref();
        let id = MemoryId::for_lesson(&episode.id, episode.finished_at, &candidate.summary, rule);
        let mut memory = AgentMemory::new(id, self.now, candidate.summary.clone());
        memory.rule.clone_from(&candidate.rule);
        memory.detail.clone_from(&candidate.detail);
        memory.kind = candidate.kind.clone();
        memory.category = candidate.category.clone();
        memory.scope = candidate.scope.clone();
        memory.facets = candidate.facets.clone();
        memory.tags.clone_from(&candidate.tags);
        memory.importance = candidate.importance;
        memory.severity.clone_from(&candidate.severity);
        memory.situation = describe_situation(&self.prepared.context, candidate);
        memory.evidence = candidate.evidence.clone();
        memory.source = self.source.clone();
        if let Some(why) = &candidate.quarantine {
            memory.state = Some(MemoryState::Quarantined);
            memory.state_reason = Some(why.clone());
        }
        self.project.assign_owner(&mut memory);
        memory
    }

    fn create_lesson(&mut self, candidate: &Candidate, memory: AgentMemory) {
        let id = memory.id.clone();
        self.lessons.insert(id.clone(), (memory, None));
        self.record_sighting(candidate, &id);
        push_unique(&mut self.created, id);
    }

    /// Adds a stored lesson to the plan, unless it is there already.
    pub(super) fn track_lesson(&mut self, lesson: &Lesson) {
        let id = &lesson.memory.id;
        self.lessons.entry(id.clone()).or_insert_with(|| {
            self.unchanged.push(id.clone());
            (lesson.memory.clone(), Some(lesson.version))
        });
    }

    fn change_lesson(&mut self, id: &MemoryId, change: impl FnOnce(&mut AgentMemory)) {
        if let Some((memory, version)) = self.lessons.get_mut(id) {
            change(memory);
            memory.restored_from = None;
            if version.is_some() {
                memory.updated_at = Some(self.now);
            }
            self.unchanged.retain(|unchanged| unchanged != id);
        }
    }

    /// Records a sighting of a lesson in every episode that the candidate names.
    fn record_sighting(&mut self, candidate: &Candidate, id: &MemoryId) {
        let level = candidate.evidence.quotes.iter().map(|quote| quote.level.clone()).min().unwrap_or_default();
        for episode in &candidate.evidence.episode_ids {
            let (at, context) = self.describe_episode(episode);
            let is_this = *episode == self.prepared.context.episode.id;
            let quotes: Vec<Quote> = match is_this {
                true => candidate.evidence.quotes.iter().take(SIGHTING_QUOTES).cloned().collect(),
                false => Vec::new(),
            };
            let level = if is_this { level.clone() } else { EvidenceLevel::Reasoning };
            let (memory, episode) = (id.clone(), episode.clone());
            self.facts.push(Fact::Sighting { memory, episode, at, level, context, quotes, extra: Extra::new() });
        }
    }

    /// Returns the quotes of this session's sightings of a lesson.
    pub(super) fn sighting_quotes(&self, id: &MemoryId) -> Vec<Quote> {
        let this = &self.prepared.context.episode.id;
        let quotes = self.facts.iter().filter_map(|fact| match fact {
            Fact::Sighting { memory, episode, quotes, .. } if memory == id && episode == this => Some(quotes),
            _ => None,
        });
        quotes.flatten().cloned().collect()
    }

    /// Records the effect of a lesson on a session.
    pub(super) fn record_effect(&mut self, run: &RunId, id: &MemoryId, effect: Effect) {
        let (run, memory, at) = (run.clone(), id.clone(), self.now);
        self.facts.push(Fact::Effect { run, memory, effect, at, extra: Extra::new() });
    }

    /// Copies the sightings of the old lesson to the one that refines it.
    fn inherit_sightings(&mut self, old: &AgentMemory, new: &MemoryId) {
        for episode in &old.evidence.episode_ids {
            let (at, context) = self.describe_episode(episode);
            let (memory, episode, level) = (new.clone(), episode.clone(), EvidenceLevel::Reasoning);
            self.facts.push(Fact::Sighting {
                memory,
                episode,
                at,
                level,
                context,
                quotes: Vec::new(),
                extra: Extra::new(),
            });
        }
    }

    /// Returns when an episode ended, and its circumstances.
    fn describe_episode(&self, id: &EpisodeId) -> (Timestamp, Option<String>) {
        let this = &self.prepared.context.episode;
        let known = self.episodes.iter().find(|episode| episode.id == *id && episode.id != this.id);
        let episode = known.unwrap_or(this);
        let is_known = known.is_some() || this.id == *id;
        (episode.finished_at, is_known.then(|| describe_circumstances(episode)).flatten())
    }

    /// Returns the lessons that facts name and that are not in the plan yet.
    pub(super) fn missing_lessons(&self) -> Vec<MemoryId> {
        let named = self.facts.iter().map(Fact::memory_id).filter(|id| !self.lessons.contains_key(*id));
        let mut missing: Vec<MemoryId> = named.cloned().collect();
        missing.sort();
        missing.dedup();
        missing
    }

    pub(super) fn tracked_lessons(&self) -> Vec<MemoryId> {
        self.lessons.keys().cloned().collect()
    }

    /// Updates a lesson's state from the stored facts and those of this reflection.
    pub(super) fn update_state(
        &mut self,
        id: &MemoryId,
        stored: &[Fact],
        runs: &SessionEnds,
        rules: &judge::LifecycleRules,
    ) {
        let Some((memory, _)) = self.lessons.get(id) else { return };
        let own = self.facts.iter().filter(|fact| fact.memory_id() == id);
        let stands = lifecycle_state(memory, stored.iter().chain(own), runs, rules);
        if memory.state.as_ref() != Some(&stands.state) {
            self.change_lesson(id, |memory| {
                memory.state = Some(stands.state);
                memory.state_reason = stands.reason;
            });
        }
    }

    /// Builds the batch with everything to be written in one commit.
    pub(super) fn build_batch(&self, distilled: &DistillationResult, candidates: &[Candidate]) -> CommitBatch {
        let changed = self.lessons.iter().filter(|(id, _)| !self.unchanged.contains(id));
        // The most important lesson comes first, and gets the first alias.
        let place = |memory: &AgentMemory| self.created.iter().chain(&self.updated).position(|id| *id == memory.id);
        let mut memories: Vec<AgentMemory> = changed.clone().map(|(_, (memory, _))| memory.clone()).collect();
        memories.sort_by_key(|memory| place(memory).unwrap_or(usize::MAX));
        let expected = changed.filter_map(|(id, (_, version))| Some((id.clone(), (*version)?))).collect();
        let episodes = match &self.prepared.pattern {
            None => vec![build_reflected_episode(self.prepared, self.episodes, distilled, candidates)],
            Some(_) => mark_pattern_episodes(self.prepared, self.episodes),
        };
        CommitBatch { episodes, memories, facts: self.facts.clone(), expected, ..CommitBatch::default() }
    }

    /// Sets the aliases that the memory assigned.
    pub(super) fn assign_aliases(&mut self, names: &[(MemoryId, Alias)]) {
        for (id, alias) in names {
            if let Some((memory, _)) = self.lessons.get_mut(id) {
                memory.alias = Some(alias.clone());
            }
        }
    }

    pub(super) fn into_report(self, effort: DistillationEffort, dropped: Vec<DroppedCandidate>) -> ReflectionReport {
        let all = |ids: &[MemoryId]| -> Vec<AgentMemory> {
            ids.iter().filter_map(|id| self.lessons.get(id)).map(|(memory, _)| memory.clone()).collect()
        };
        let episode = &self.prepared.context.episode;
        ReflectionReport {
            episode: episode.id.clone(),
            session: episode.session_id.clone(),
            created: all(&self.created),
            updated: all(&self.updated),
            seen: all(&self.seen),
            dropped,
            effort,
        }
    }
}

fn push_unique(list: &mut Vec<MemoryId>, id: MemoryId) {
    if !list.contains(&id) {
        list.push(id);
    }
}

/// Returns the user's first request, and the last one before the lesson was learned, on one line. If the log has no
/// user, the agent's first text stands in. Trajectories are redacted already.
fn describe_situation(context: &ReflectionContext, candidate: &Candidate) -> Option<String> {
    let main = context.trajectories.first()?;
    let learned_at = candidate.evidence.quotes.iter().map(|quote| quote.step).max().unwrap_or(u32::MAX);
    let is_request = |text: &&str| text.split_whitespace().nth(MIN_REQUEST_WORDS - 1).is_some();
    let said = main.steps.iter().filter(|step| step.speaker == Speaker::User && step.number <= learned_at);
    let mut said = said.map(|step| step.text.as_str()).filter(is_request);
    let first = said.next().or(main.about.title.as_deref()).or_else(|| {
        let is_unasked = main.steps.iter().all(|step| step.speaker != Speaker::User);
        let mut agent = main.steps.iter().filter(|step| is_unasked && step.speaker == Speaker::Agent);
        agent.find_map(|step| Some(step.text.as_str()).filter(is_request))
    })?;
    let asked = [Some(first), said.next_back()].into_iter().flatten().map(shorten_to_line);
    Some(asked.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}

/// Returns a text on one line, shortened at a word boundary.
fn shorten_to_line(text: &str) -> String {
    let mut line = one_line(text);
    if let Some((end, _)) = line.char_indices().nth(SITUATION_CHARACTERS) {
        line.truncate(end);
        // Not in the middle of a word, in scripts that have spaces.
        if let Some(space) = line.rfind(' ').filter(|space| *space * 2 > end) {
            line.truncate(space);
        }
    }
    line
}

/// Builds the session's episode with the record of this reflection.
fn build_reflected_episode(
    prepared: &PreparedReflection,
    episodes: &[Episode],
    distilled: &DistillationResult,
    candidates: &[Candidate],
) -> Episode {
    let mut episode = prepared.context.episode.clone();
    let before = episodes.iter().find(|one| one.id == episode.id).and_then(|one| one.reflected.clone());
    let importance =
        candidates.iter().map(|candidate| candidate.importance).max_by(|a, b| a.value().total_cmp(&b.value()));
    episode.reflected = Some(ReflectionRecord {
        logs: prepared.stamps.clone(),
        engine: distilled.engine.clone(),
        importance: importance.unwrap_or(Importance::NONE),
        reflection: distilled.reflection.clone(),
        patterns: before.as_ref().map(|before| before.patterns.clone()).unwrap_or_default(),
        pondered_with: before.and_then(|before| before.pondered_with),
        extra: Extra::new(),
    });
    episode
}

/// Marks the episodes of a pattern, so that it is reflected on only once.
fn mark_pattern_episodes(prepared: &PreparedReflection, episodes: &[Episode]) -> Vec<Episode> {
    let Some(pattern) = &prepared.pattern else { return Vec::new() };
    let this = &prepared.context.episode.id;
    let mut marked = Vec::new();
    for episode in episodes.iter().filter(|one| pattern.marked.contains(&one.id) || one.id == *this) {
        let mut episode = episode.clone();
        let Some(reflected) = &mut episode.reflected else { continue };
        match &pattern.cause {
            PatternCause::Family(family) if episode.id == *this => reflected.patterns.push(family.clone()),
            PatternCause::Family(_) => continue,
            PatternCause::Weight => reflected.pondered_with = Some(this.clone()),
        }
        marked.push(episode);
    }
    marked
}

/// Returns the task and the first tag of an episode; `None` if neither is known.
fn describe_circumstances(episode: &Episode) -> Option<String> {
    let parts: Vec<&str> =
        episode.task_id.as_deref().into_iter().chain(episode.tags.first().map(String::as_str)).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}
