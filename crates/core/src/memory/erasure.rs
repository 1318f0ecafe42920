//! What is erased for good, and what becomes of each stored record because of it: it stays, it goes, or it loses its
//! mention of what goes.
//!
//! Both stores ask these rules, and so do the files beside the store. A plan holds hashes of names and of whole
//! records, never their texts, because it lies on the disk while an erasure is under way.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{
    AgentMemory, Episode, EpisodeId, Fact, MemoryId, MemorySource, MemoryState, SessionId, StableHash, Timestamp,
};
use crate::text::SearchedText;

#[cfg(test)]
#[path = "erasure_tests.rs"]
mod tests;

/// The number of digits of the hashes in a plan.
const HASH_DIGITS: usize = 32;

/// The number of characters from which the words of an erased record are searched for outside of the store. Shorter
/// ones are nobody's in particular.
const MIN_OWN_WORDS: usize = 24;

/// The choice of what is erased.
#[derive(Debug, Clone, Default)]
pub struct ErasureSelection {
    /// The lessons to erase, with all their versions and facts.
    pub lessons: BTreeSet<MemoryId>,
    /// The episodes to erase, with what rests on them alone.
    pub episodes: BTreeSet<EpisodeId>,
    /// The sessions to erase, with their episodes.
    pub sessions: BTreeSet<SessionId>,
    /// The text whose every record is erased.
    pub text: Option<SearchedText>,
}

/// The numbers of erased records, by what they are.
pub type ErasureCounts = BTreeMap<String, usize>;

/// What is to be erased, in a form that says nothing of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasurePlan {
    /// The hashes of the names of what goes: ids, and what episodes are known by.
    names: BTreeSet<String>,
    /// The hashes of whole records that go.
    records: BTreeSet<String>,
    /// The numbers of records that go, by what they are.
    pub counts: ErasureCounts,
    /// The sessions whose episodes go. They are not written to the disk.
    #[serde(skip)]
    pub sessions: BTreeSet<SessionId>,
    /// The logs of these sessions, which belong to their agents.
    #[serde(skip)]
    pub logs: BTreeSet<String>,
    /// Texts of what goes, by which it is found outside of the store.
    #[serde(skip)]
    own_words: Vec<SearchedText>,
}

/// A record as a store holds it.
#[derive(Debug, Clone)]
pub struct StoredRecord {
    /// What the record should be.
    pub kind: RecordKind,
    /// The record's JSON.
    pub bytes: Vec<u8>,
}

/// The kind of a stored record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// A version of a lesson.
    Lesson,
    /// A form of an episode.
    Episode,
    /// A fact about a lesson.
    Fact,
}

/// What becomes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordFate {
    /// It is kept, unchanged.
    Kept,
    /// It is erased as a whole.
    Erased,
    /// It stays in this form, which no longer mentions what goes.
    Rewritten(String),
}

/// The kind of a name.
#[derive(Debug, Clone, Copy)]
enum NameKind {
    Lesson,
    Episode,
    Session,
    Trajectory,
    Log,
}

impl NameKind {
    fn hash_name(self, name: &str) -> String {
        let kind = match self {
            Self::Lesson => "lesson",
            Self::Episode => "episode",
            Self::Session => "session",
            Self::Trajectory => "trajectory",
            Self::Log => "log",
        };
        StableHash::from_parts([kind, name]).to_digits(HASH_DIGITS)
    }
}

/// A note that something was erased, without what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErasureNote {
    /// A random id, which is also the key of the session hashes.
    pub id: String,
    /// The time at which it was erased.
    pub at: Timestamp,
    /// Who asked for it, such as `person`.
    pub asked_by: String,
    /// The numbers of records, by what they were.
    pub erased: ErasureCounts,
    /// Keyed hashes of the erased sessions, which are not to be learned from again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
}

impl ErasureNote {
    /// Returns the hash by which this note remembers a session.
    pub fn hash_session(&self, session: &SessionId) -> String {
        StableHash::from_parts([self.id.as_str(), session.as_str()]).to_digits(HASH_DIGITS)
    }

    /// Returns true if the session was erased with this note.
    pub fn covers_session(&self, session: &SessionId) -> bool {
        !self.sessions.is_empty() && self.sessions.contains(&self.hash_session(session))
    }
}

/// Everything that a store holds, parsed.
#[derive(Debug, Default)]
struct ParsedRecords {
    /// Every version of each lesson, the newest last.
    lessons: BTreeMap<MemoryId, Vec<AgentMemory>>,
    episodes: Vec<Episode>,
    facts: Vec<Fact>,
}

impl ErasurePlan {
    /// Plans what goes from the records of all banks of a memory, the older versions of a record first.
    pub fn from_records(records: &[StoredRecord], selection: &ErasureSelection) -> Self {
        let mut plan = Self::default();
        let mut parsed = ParsedRecords::default();
        let (mut lessons, mut episodes) = (selection.lessons.clone(), BTreeSet::new());
        for record in records {
            let is_hit = selection.text.as_ref().is_some_and(|text| text.is_in(&record.bytes));
            match record.kind {
                RecordKind::Lesson => {
                    if let Ok(memory) = serde_json::from_slice::<AgentMemory>(&record.bytes) {
                        lessons.extend(is_hit.then(|| memory.id.clone()));
                        parsed.lessons.entry(memory.id.clone()).or_default().push(memory);
                        continue;
                    }
                }
                RecordKind::Episode => {
                    if let Ok(episode) = serde_json::from_slice::<Episode>(&record.bytes) {
                        episodes.extend(is_hit.then(|| episode.id.clone()));
                        parsed.episodes.push(episode);
                        continue;
                    }
                }
                RecordKind::Fact => {
                    if let Ok(fact) = serde_json::from_slice::<Fact>(&record.bytes) {
                        if is_hit {
                            plan.add_record(&record.bytes);
                        }
                        parsed.facts.push(fact);
                        continue;
                    }
                }
            }
            if is_hit && plan.add_record(&record.bytes) {
                plan.count("damaged lines");
            }
        }
        let chosen = plan.add_episodes(&parsed, selection, &episodes);
        lessons.extend(parsed.find_groundless_lessons(&chosen, &lessons));
        parsed.add_merged_lessons(&mut lessons);
        for id in lessons {
            plan.names.insert(NameKind::Lesson.hash_name(id.as_str()));
            for memory in parsed.lessons.get(&id).into_iter().flatten() {
                plan.add_lesson_words(memory);
            }
        }
        plan.count_records(records);
        plan
    }

    /// Adds the names of the episodes that go, and returns those whose evidence goes with them. An episode that only
    /// holds the searched text takes no lesson along.
    fn add_episodes(
        &mut self,
        parsed: &ParsedRecords,
        selection: &ErasureSelection,
        hit: &BTreeSet<EpisodeId>,
    ) -> ErasureSelection {
        let mut chosen = ErasureSelection {
            episodes: selection.episodes.clone(),
            sessions: selection.sessions.clone(),
            ..ErasureSelection::default()
        };
        for episode in &parsed.episodes {
            if selection.sessions.contains(&episode.session_id) {
                chosen.episodes.insert(episode.id.clone());
            }
        }
        let stays = |episode: &&Episode| !chosen.episodes.contains(&episode.id) && !hit.contains(&episode.id);
        let kept: BTreeSet<&SessionId> = parsed.episodes.iter().filter(stays).map(|one| &one.session_id).collect();
        let kept_names: BTreeSet<&str> = parsed
            .episodes
            .iter()
            .filter(stays)
            .flat_map(|one| one.trajectories.iter().map(String::as_str).chain(log_paths(one)))
            .collect();
        for episode in &parsed.episodes {
            if stays(&episode) {
                continue;
            }
            self.names.insert(NameKind::Episode.hash_name(episode.id.as_str()));
            self.own_words.extend(episode.request.as_deref().and_then(long_words));
            if kept.contains(&episode.session_id) {
                continue;
            }
            self.sessions.insert(episode.session_id.clone());
            self.logs.extend(log_paths(episode).filter(|path| !kept_names.contains(path)).map(str::to_owned));
            if chosen.episodes.contains(&episode.id) {
                chosen.sessions.insert(episode.session_id.clone());
                for name in episode.trajectories.iter().filter(|name| !kept_names.contains(name.as_str())) {
                    self.names.insert(NameKind::Trajectory.hash_name(name));
                }
                for path in log_paths(episode).filter(|path| !kept_names.contains(path)) {
                    self.names.insert(NameKind::Log.hash_name(path));
                }
            }
        }
        for id in &chosen.episodes {
            self.names.insert(NameKind::Episode.hash_name(id.as_str()));
        }
        for session in &chosen.sessions {
            self.names.insert(NameKind::Session.hash_name(session.as_str()));
        }
        self.sessions.extend(chosen.sessions.iter().cloned());
        chosen
    }

    fn add_lesson_words(&mut self, memory: &AgentMemory) {
        let texts = [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref(), memory.situation.as_ref()];
        let quotes = memory.evidence.quotes.iter().map(|quote| &quote.text);
        for text in texts.into_iter().flatten().chain(quotes) {
            let words = long_words(text).filter(|words| !self.own_words.contains(words));
            self.own_words.extend(words);
        }
    }

    /// Counts what goes, each record by what it is.
    fn count_records(&mut self, records: &[StoredRecord]) {
        let mut lessons = BTreeSet::new();
        let mut episodes = BTreeSet::new();
        for record in records {
            match (record.kind, self.judge_record(record.kind, &record.bytes)) {
                (_, RecordFate::Kept) => {}
                (_, RecordFate::Rewritten(_)) => self.count("records without their mention of it"),
                (RecordKind::Lesson, RecordFate::Erased) => {
                    if let Some(id) = record_id(&record.bytes) {
                        self.count("versions");
                        lessons.insert(id);
                    }
                }
                (RecordKind::Episode, RecordFate::Erased) => episodes.extend(record_id(&record.bytes)),
                (RecordKind::Fact, RecordFate::Erased) => {
                    if serde_json::from_slice::<Fact>(&record.bytes).is_ok() {
                        self.count("facts");
                    }
                }
            }
        }
        for (kind, number) in [("lessons", lessons.len()), ("episodes", episodes.len())] {
            if number > 0 {
                self.counts.insert(kind.to_owned(), number);
            }
        }
    }

    /// Adds a record from outside of the store if it holds the searched text, names what goes, or holds its words.
    /// Returns true if it goes.
    pub fn plan_other_record(&mut self, selection: &ErasureSelection, kind: &str, bytes: &[u8]) -> bool {
        let is_hit = selection.text.as_ref().is_some_and(|text| text.is_in(bytes))
            || self.erases_other_record(bytes)
            || self.own_words.iter().any(|words| words.is_in(bytes));
        if is_hit {
            self.add_record(bytes);
            self.count(kind);
        }
        is_hit
    }

    /// Returns true if a record from outside of the store goes.
    pub fn erases_other_record(&self, bytes: &[u8]) -> bool {
        self.records.contains(&hash_record(bytes)) || (!self.names.is_empty() && self.is_name_in(bytes))
    }

    /// Adds what another plan erases, but for its counts.
    pub fn extend_hashes(&mut self, other: &Self) {
        self.names.extend(other.names.iter().cloned());
        self.records.extend(other.records.iter().cloned());
    }

    /// Returns true if nothing goes.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Says what becomes of a record of the store.
    pub fn judge_record(&self, kind: RecordKind, bytes: &[u8]) -> RecordFate {
        if self.records.contains(&hash_record(bytes)) {
            return RecordFate::Erased;
        }
        if self.names.is_empty() {
            return RecordFate::Kept;
        }
        match kind {
            RecordKind::Lesson => match serde_json::from_slice::<AgentMemory>(bytes) {
                Ok(memory) if self.has_name(NameKind::Lesson, memory.id.as_str()) => RecordFate::Erased,
                Ok(mut memory) => {
                    if self.strip_lesson(&mut memory) {
                        render_record(&memory)
                    } else {
                        RecordFate::Kept
                    }
                }
                Err(_) => RecordFate::Kept,
            },
            RecordKind::Episode => match serde_json::from_slice::<Episode>(bytes) {
                Ok(episode) if self.has_name(NameKind::Episode, episode.id.as_str()) => RecordFate::Erased,
                Ok(mut episode) => {
                    if self.strip_episode(&mut episode) {
                        render_record(&episode)
                    } else {
                        RecordFate::Kept
                    }
                }
                Err(_) => RecordFate::Kept,
            },
            RecordKind::Fact => match serde_json::from_slice::<Fact>(bytes) {
                Ok(fact) if self.erases_fact(&fact) => RecordFate::Erased,
                _ => RecordFate::Kept,
            },
        }
    }

    fn erases_fact(&self, fact: &Fact) -> bool {
        let is_about = match fact {
            Fact::Sighting { episode, .. } | Fact::Feedback { episode, .. } => {
                self.has_name(NameKind::Episode, episode.as_str())
            }
            Fact::Injection { run, .. } | Fact::Effect { run, .. } => {
                [NameKind::Session, NameKind::Episode, NameKind::Trajectory]
                    .into_iter()
                    .any(|kind| self.has_name(kind, run.as_str()))
            }
        };
        is_about || self.has_name(NameKind::Lesson, fact.memory_id().as_str())
    }

    /// Takes every mention of what goes out of a lesson; returns true if there was one.
    fn strip_lesson(&self, memory: &mut AgentMemory) -> bool {
        let mut is_changed = false;
        if memory.superseded_by.as_ref().is_some_and(|id| self.has_name(NameKind::Lesson, id.as_str())) {
            memory.superseded_by = None;
            // What took its place is gone, and it stays out of use all the same.
            memory.state.get_or_insert(MemoryState::Superseded);
            is_changed = true;
        }
        is_changed |= retain_others(&mut memory.links, |link| self.has_name(NameKind::Lesson, link.to.as_str()));
        is_changed |= retain_others(&mut memory.merges, |merge| {
            [&merge.absorbed, &merge.kept]
                .into_iter()
                .any(|part| part.id != memory.id && self.has_name(NameKind::Lesson, part.id.as_str()))
        });
        for merge in &mut memory.merges {
            is_changed |= self.strip_lesson(&mut merge.absorbed) | self.strip_lesson(&mut merge.kept);
        }
        let evidence = &mut memory.evidence;
        is_changed |= retain_others(&mut evidence.episode_ids, |id| self.has_name(NameKind::Episode, id.as_str()));
        is_changed |= retain_others(&mut evidence.session_ids, |id| self.has_name(NameKind::Session, id.as_str()));
        let is_trajectory = |name: &str| {
            self.has_name(NameKind::Trajectory, name)
                || self.has_name(NameKind::Session, name)
                || self.has_name(NameKind::Log, name)
        };
        is_changed |= retain_others(&mut evidence.trajectory_ids, |name| is_trajectory(name));
        is_changed |= retain_others(&mut evidence.run_log_paths, |path| self.has_name(NameKind::Log, path));
        is_changed |= retain_others(&mut evidence.quotes, |quote| is_trajectory(&quote.trajectory_id));
        is_changed
    }

    fn strip_episode(&self, episode: &mut Episode) -> bool {
        let Some(reflected) = &mut episode.reflected else { return false };
        let is_named = reflected.pondered_with.as_ref().is_some_and(|id| self.has_name(NameKind::Episode, id.as_str()));
        if is_named {
            reflected.pondered_with = None;
        }
        is_named
    }

    fn has_name(&self, kind: NameKind, name: &str) -> bool {
        self.names.contains(&kind.hash_name(name))
    }

    /// Returns true if JSON names what goes: one value, or one on each line.
    fn is_name_in(&self, bytes: &[u8]) -> bool {
        match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => self.is_name_in_value(&value, ""),
            Err(_) => bytes
                .split(|&byte| byte == b'\n')
                .any(|line| serde_json::from_slice::<Value>(line).is_ok_and(|value| self.is_name_in_value(&value, ""))),
        }
    }

    fn is_name_in_value(&self, value: &Value, member: &str) -> bool {
        match value {
            Value::String(text) => {
                let kinds: &[NameKind] = match member.to_ascii_lowercase() {
                    name if name.contains("session") || name.contains("run") => {
                        &[NameKind::Lesson, NameKind::Episode, NameKind::Session]
                    }
                    _ => &[NameKind::Lesson, NameKind::Episode],
                };
                kinds.iter().any(|kind| self.has_name(*kind, text))
            }
            Value::Array(items) => items.iter().any(|item| self.is_name_in_value(item, member)),
            Value::Object(members) => members.iter().any(|(name, value)| self.is_name_in_value(value, name)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn add_record(&mut self, bytes: &[u8]) -> bool {
        self.records.insert(hash_record(bytes))
    }

    fn count(&mut self, kind: &str) {
        *self.counts.entry(kind.to_owned()).or_default() += 1;
    }
}

impl ParsedRecords {
    /// Returns the learned lessons that rest on these episodes and sessions, and on nothing else.
    fn find_groundless_lessons(&self, chosen: &ErasureSelection, gone: &BTreeSet<MemoryId>) -> BTreeSet<MemoryId> {
        if chosen.episodes.is_empty() && chosen.sessions.is_empty() {
            return BTreeSet::new();
        }
        let mut sightings: BTreeMap<&MemoryId, BTreeSet<&EpisodeId>> = BTreeMap::new();
        for fact in &self.facts {
            if let Fact::Sighting { memory, episode, .. } = fact {
                sightings.entry(memory).or_default().insert(episode);
            }
        }
        let is_groundless = |memory: &AgentMemory| {
            let seen = sightings.get(&memory.id).into_iter().flatten().copied();
            let episodes: BTreeSet<&EpisodeId> = memory.evidence.episode_ids.iter().chain(seen).collect();
            let (from_chosen, others): (Vec<_>, Vec<_>) =
                episodes.into_iter().partition(|id| chosen.episodes.contains(*id));
            let sessions = &memory.evidence.session_ids;
            let rests_on_chosen = !from_chosen.is_empty() || sessions.iter().any(|id| chosen.sessions.contains(id));
            rests_on_chosen && others.is_empty() && sessions.iter().all(|id| chosen.sessions.contains(id))
        };
        let newest = self.lessons.values().filter_map(|versions| versions.last());
        newest
            .filter(|memory| !gone.contains(&memory.id) && is_learned(memory) && is_groundless(memory))
            .map(|memory| memory.id.clone())
            .collect()
    }

    /// Adds the lessons that were merged into those that go, and so say the same.
    fn add_merged_lessons(&self, lessons: &mut BTreeSet<MemoryId>) {
        let mut open: Vec<MemoryId> = lessons.iter().cloned().collect();
        while let Some(id) = open.pop() {
            let versions = self.lessons.get(&id).into_iter().flatten();
            for absorbed in versions.flat_map(|memory| &memory.merges).map(|merge| &merge.absorbed.id) {
                let newest = self.lessons.get(absorbed).and_then(|versions| versions.last());
                if newest.is_some_and(|newest| newest.superseded_by.as_ref() == Some(&id))
                    && lessons.insert(absorbed.clone())
                {
                    open.push(absorbed.clone());
                }
            }
        }
    }
}

/// Returns true if the lesson was learned from sessions, and not told by a person or another program.
fn is_learned(memory: &AgentMemory) -> bool {
    matches!(memory.source, MemorySource::Archivist | MemorySource::Healer)
}

fn log_paths(episode: &Episode) -> impl Iterator<Item = &str> {
    episode.reflected.iter().flat_map(|reflected| &reflected.logs).map(|log| log.path.as_str())
}

fn long_words(text: &str) -> Option<SearchedText> {
    if text.chars().count() < MIN_OWN_WORDS { None } else { SearchedText::new(text) }
}

/// Removes the items that match; returns true if there was one.
fn retain_others<T>(items: &mut Vec<T>, goes: impl Fn(&T) -> bool) -> bool {
    let before = items.len();
    items.retain(|item| !goes(item));
    items.len() < before
}

fn render_record(record: &impl Serialize) -> RecordFate {
    // A record that cannot be written without what goes must not stay with it.
    serde_json::to_string(record).map_or(RecordFate::Erased, RecordFate::Rewritten)
}

fn hash_record(bytes: &[u8]) -> String {
    StableHash::from_bytes(bytes.trim_ascii()).to_digits(HASH_DIGITS)
}

fn record_id(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct RecordId {
        id: String,
    }
    serde_json::from_slice::<RecordId>(bytes).ok().map(|record| record.id)
}
