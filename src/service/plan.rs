//! What a reflection is going to write: lessons as they will be, what was seen of them, and the run's own record. Pure.

use std::collections::BTreeMap;

use super::archivist::Scene;
use super::outcome::{Effort, Learned};
use super::patterns::Cause;
use super::project::Project;
use super::standing::standing;
use crate::context::ReflectionContext;
use crate::domain::{
    AgentMemory, Alias, Candidate, Distilled, Dropped, Effect, Episode, EpisodeId, EvidenceLevel, Extra, Fact,
    Importance, Link, MemoryId, MemorySource, MemoryState, Quote, Reflected, Relation, RunId, Speaker, Timestamp,
};
use crate::judge::{self, Runs, Verdict};
use crate::memory::{Batch, Lesson};

/// Quotes that a sighting keeps; the lesson has its own.
const SIGHTING_QUOTES: usize = 3;

/// As much is kept of what was asked for first, and of what was said last before something was learned.
const SITUATION_CHARACTERS: usize = 150;

/// A greeting asks for nothing.
const MIN_REQUEST_WORDS: usize = 4;

/// What a reflection is going to write.
#[derive(Debug)]
pub(super) struct Plan<'s> {
    scene: &'s Scene,
    /// Every run that is known, this one as it was before.
    episodes: &'s [Episode],
    project: &'s Project,
    source: MemorySource,
    now: Timestamp,
    /// Lessons as they will be, and the version that they must still be at; none for a new one.
    lessons: BTreeMap<MemoryId, (AgentMemory, Option<u64>)>,
    /// Those that only have new facts so far.
    unchanged: Vec<MemoryId>,
    facts: Vec<Fact>,
    created: Vec<MemoryId>,
    updated: Vec<MemoryId>,
    seen: Vec<MemoryId>,
    pub(super) dropped: Vec<Dropped>,
}

impl<'s> Plan<'s> {
    pub(super) fn new(
        scene: &'s Scene,
        episodes: &'s [Episode],
        project: &'s Project,
        source: MemorySource,
        now: Timestamp,
    ) -> Self {
        Self {
            scene,
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

    pub(super) fn carry_out(&mut self, candidate: &Candidate, verdict: Verdict, known: &[&Lesson]) {
        let of = |id: &MemoryId| known.iter().copied().find(|lesson| lesson.memory.id == *id);
        match verdict {
            Verdict::Create { links } => {
                let mut memory = self.lesson(candidate);
                memory.links = links;
                self.create(candidate, memory);
            }
            Verdict::Sight(id) => {
                of(&id).into_iter().for_each(|lesson| self.know(lesson));
                self.sight(candidate, &id);
                note(&mut self.seen, id);
            }
            Verdict::Merge(id) => {
                let Some(lesson) = of(&id) else { return self.sight(candidate, &id) };
                self.know(lesson);
                let absorbed = self.lesson(candidate);
                let now = self.now;
                self.change(&id, |kept| *kept = judge::merge(kept, absorbed, now));
                self.sight(candidate, &id);
                note(&mut self.updated, id);
            }
            Verdict::Supersede(id) => {
                let Some(lesson) = of(&id) else { return self.create(candidate, self.lesson(candidate)) };
                self.know(lesson);
                let old = lesson.memory.clone();
                let mut memory = judge::refined(&old, self.lesson(candidate));
                memory.links.push(Link { to: id.clone(), relation: Relation::Refines });
                let new = memory.id.clone();
                self.change(&id, |old| {
                    old.state = Some(MemoryState::Superseded);
                    old.state_reason = None;
                    old.superseded_by = Some(new.clone());
                });
                self.inherit(&old, &new);
                self.lessons.insert(new.clone(), (memory, None));
                self.sight(candidate, &new);
                note(&mut self.updated, new);
            }
            Verdict::Contradicts { with } => {
                let mut memory = self.lesson(candidate);
                memory.links.push(Link { to: with.clone(), relation: Relation::Contradicts });
                let back = Link { to: memory.id.clone(), relation: Relation::Contradicts };
                of(&with).into_iter().for_each(|lesson| self.know(lesson));
                self.change(&with, |old| {
                    if !old.links.contains(&back) {
                        old.links.push(back.clone());
                    }
                });
                self.create(candidate, memory);
            }
            Verdict::Drop(why) => {
                self.dropped.push(Dropped { summary: candidate.summary.clone(), why, detail: String::new() });
            }
        }
    }

    /// The lesson that a candidate would be.
    fn lesson(&self, candidate: &Candidate) -> AgentMemory {
        let episode = &self.scene.context.episode;
        let rule = candidate.rule.as_deref();
        let id = MemoryId::of_lesson(&episode.id, episode.finished_at, &candidate.summary, rule);
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
        memory.situation = situation(&self.scene.context, candidate);
        memory.evidence = candidate.evidence.clone();
        memory.source = self.source.clone();
        if let Some(why) = &candidate.quarantine {
            memory.state = Some(MemoryState::Quarantined);
            memory.state_reason = Some(why.clone());
        }
        self.project.sign(&mut memory);
        memory
    }

    fn create(&mut self, candidate: &Candidate, memory: AgentMemory) {
        let id = memory.id.clone();
        self.lessons.insert(id.clone(), (memory, None));
        self.sight(candidate, &id);
        note(&mut self.created, id);
    }

    /// Notes a lesson as it stands in the memory.
    pub(super) fn know(&mut self, lesson: &Lesson) {
        let id = &lesson.memory.id;
        self.lessons.entry(id.clone()).or_insert_with(|| {
            self.unchanged.push(id.clone());
            (lesson.memory.clone(), Some(lesson.version))
        });
    }

    fn change(&mut self, id: &MemoryId, change: impl FnOnce(&mut AgentMemory)) {
        if let Some((memory, version)) = self.lessons.get_mut(id) {
            change(memory);
            memory.restored_from = None;
            if version.is_some() {
                memory.updated_at = Some(self.now);
            }
            self.unchanged.retain(|unchanged| unchanged != id);
        }
    }

    /// Notes that a candidate shows a lesson, in every run that it names.
    fn sight(&mut self, candidate: &Candidate, id: &MemoryId) {
        let level = candidate.evidence.quotes.iter().map(|quote| quote.level.clone()).min().unwrap_or_default();
        for episode in &candidate.evidence.episode_ids {
            let (at, context) = self.about(episode);
            let is_this = *episode == self.scene.context.episode.id;
            let quotes: Vec<Quote> = match is_this {
                true => candidate.evidence.quotes.iter().take(SIGHTING_QUOTES).cloned().collect(),
                false => Vec::new(),
            };
            let level = if is_this { level.clone() } else { EvidenceLevel::Reasoning };
            let (memory, episode) = (id.clone(), episode.clone());
            self.facts.push(Fact::Sighting { memory, episode, at, level, context, quotes, extra: Extra::new() });
        }
    }

    /// The words of this run that taught a lesson.
    pub(super) fn seen_here(&self, id: &MemoryId) -> Vec<Quote> {
        let this = &self.scene.context.episode.id;
        let quotes = self.facts.iter().filter_map(|fact| match fact {
            Fact::Sighting { memory, episode, quotes, .. } if memory == id && episode == this => Some(quotes),
            _ => None,
        });
        quotes.flatten().cloned().collect()
    }

    /// Notes what became of a lesson's matter in a run.
    pub(super) fn weigh(&mut self, run: &RunId, id: &MemoryId, effect: Effect) {
        let (run, memory, at) = (run.clone(), id.clone(), self.now);
        self.facts.push(Fact::Effect { run, memory, effect, at, extra: Extra::new() });
    }

    /// What showed the old lesson shows the one that refines it.
    fn inherit(&mut self, old: &AgentMemory, new: &MemoryId) {
        for episode in &old.evidence.episode_ids {
            let (at, context) = self.about(episode);
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

    /// When a run was, and in what circumstances.
    fn about(&self, id: &EpisodeId) -> (Timestamp, Option<String>) {
        let this = &self.scene.context.episode;
        let known = self.episodes.iter().find(|episode| episode.id == *id && episode.id != this.id);
        let episode = known.unwrap_or(this);
        let is_known = known.is_some() || this.id == *id;
        (episode.finished_at, is_known.then(|| circumstances(episode)).flatten())
    }

    /// Lessons that are named and not known yet.
    pub(super) fn missing(&self) -> Vec<MemoryId> {
        let named = self.facts.iter().map(Fact::memory).filter(|id| !self.lessons.contains_key(*id));
        let mut missing: Vec<MemoryId> = named.cloned().collect();
        missing.sort();
        missing.dedup();
        missing
    }

    pub(super) fn touched(&self) -> Vec<MemoryId> {
        self.lessons.keys().cloned().collect()
    }

    /// Works out where a lesson stands, with what the memory and this reflection know of it.
    pub(super) fn stand(&mut self, id: &MemoryId, stored: &[Fact], runs: &Runs, rules: &judge::Lifecycle) {
        let Some((memory, _)) = self.lessons.get(id) else { return };
        let own = self.facts.iter().filter(|fact| fact.memory() == id);
        let stands = standing(memory, stored.iter().chain(own), runs, rules);
        if memory.state.as_ref() != Some(&stands.state) {
            self.change(id, |memory| {
                memory.state = Some(stands.state);
                memory.state_reason = stands.reason;
            });
        }
    }

    /// Everything that is written, in one commit.
    pub(super) fn batch(&self, distilled: &Distilled, candidates: &[Candidate]) -> Batch {
        let changed = self.lessons.iter().filter(|(id, _)| !self.unchanged.contains(id));
        // What matters most comes first, and gets the first short name.
        let place = |memory: &AgentMemory| self.created.iter().chain(&self.updated).position(|id| *id == memory.id);
        let mut memories: Vec<AgentMemory> = changed.clone().map(|(_, (memory, _))| memory.clone()).collect();
        memories.sort_by_key(|memory| place(memory).unwrap_or(usize::MAX));
        let expected = changed.filter_map(|(id, (_, version))| Some((id.clone(), (*version)?))).collect();
        let episodes = match &self.scene.pattern {
            None => vec![reflected(self.scene, self.episodes, distilled, candidates)],
            Some(_) => marked(self.scene, self.episodes),
        };
        Batch { episodes, memories, facts: self.facts.clone(), expected, ..Batch::default() }
    }

    /// Gives lessons the short names that the memory gave them.
    pub(super) fn name(&mut self, names: &[(MemoryId, Alias)]) {
        for (id, alias) in names {
            if let Some((memory, _)) = self.lessons.get_mut(id) {
                memory.alias = Some(alias.clone());
            }
        }
    }

    pub(super) fn learned(self, effort: Effort, dropped: Vec<Dropped>) -> Learned {
        let all = |ids: &[MemoryId]| -> Vec<AgentMemory> {
            ids.iter().filter_map(|id| self.lessons.get(id)).map(|(memory, _)| memory.clone()).collect()
        };
        let episode = &self.scene.context.episode;
        Learned {
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

fn note(list: &mut Vec<MemoryId>, id: MemoryId) {
    if !list.contains(&id) {
        list.push(id);
    }
}

/// What a person asked for first, and what they said last before it was learned, on one line. In a log that holds nobody's
/// request, as an agent prints it while it works, the agent's first words say what it set out to do. Trajectories hold no
/// secrets any more.
fn situation(context: &ReflectionContext, candidate: &Candidate) -> Option<String> {
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
    let asked = [Some(first), said.next_back()].into_iter().flatten().map(cut);
    Some(asked.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}

/// A text on one line, cut where a word ends.
fn cut(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|c| !c.is_control());
    if let Some((end, _)) = line.char_indices().nth(SITUATION_CHARACTERS) {
        line.truncate(end);
        // Not in the middle of a word, in scripts that have spaces.
        if let Some(space) = line.rfind(' ').filter(|space| *space * 2 > end) {
            line.truncate(space);
        }
    }
    line
}

/// The run's record with what was read of it.
fn reflected(scene: &Scene, episodes: &[Episode], distilled: &Distilled, candidates: &[Candidate]) -> Episode {
    let mut episode = scene.context.episode.clone();
    let before = episodes.iter().find(|one| one.id == episode.id).and_then(|one| one.reflected.clone());
    let importance =
        candidates.iter().map(|candidate| candidate.importance).max_by(|a, b| a.value().total_cmp(&b.value()));
    episode.reflected = Some(Reflected {
        logs: scene.stamps.clone(),
        engine: distilled.engine.clone(),
        importance: importance.unwrap_or(Importance::NONE),
        reflection: distilled.reflection.clone(),
        patterns: before.as_ref().map(|before| before.patterns.clone()).unwrap_or_default(),
        pondered_with: before.and_then(|before| before.pondered_with),
        extra: Extra::new(),
    });
    episode
}

/// The records of runs that were looked at together, so that it happens once.
fn marked(scene: &Scene, episodes: &[Episode]) -> Vec<Episode> {
    let Some(pattern) = &scene.pattern else { return Vec::new() };
    let this = &scene.context.episode.id;
    let mut marked = Vec::new();
    for episode in episodes.iter().filter(|one| pattern.marked.contains(&one.id) || one.id == *this) {
        let mut episode = episode.clone();
        let Some(reflected) = &mut episode.reflected else { continue };
        match &pattern.cause {
            Cause::Family(family) if episode.id == *this => reflected.patterns.push(family.clone()),
            Cause::Family(_) => continue,
            Cause::Weight => reflected.pondered_with = Some(this.clone()),
        }
        marked.push(episode);
    }
    marked
}

/// The task, and who worked on it; nothing where neither is known.
fn circumstances(episode: &Episode) -> Option<String> {
    let parts: Vec<&str> =
        episode.task_id.as_deref().into_iter().chain(episode.tags.first().map(String::as_str)).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}
