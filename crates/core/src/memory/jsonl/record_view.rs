//! An in-memory view of the records in the files: all of them if there is no index, else those after it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use super::bank_files::{RecordPlace, StoreFile};
use super::json_lines::{self, StoreLine, to_u64};
use crate::domain::{AgentMemory, Alias, Episode, EpisodeId, Fact, FactKey, LessonCounters, MemoryId, StableHash};
use crate::memory::{Lesson, LessonStateFilter};
use crate::recall::{self, LessonTerms};
use crate::text::WordSplitter;

/// The records read so far.
#[derive(Debug, Default)]
pub(super) struct RecordView {
    pub(super) lessons: HashMap<MemoryId, ViewedLesson>,
    pub(super) episodes: HashMap<EpisodeId, (RecordPlace, Episode)>,
    pub(super) facts: BTreeMap<RecordPlace, Fact>,
    keys: HashSet<FactKey>,
    facts_of: HashMap<MemoryId, Vec<RecordPlace>>,
    pub(super) highest_alias: u64,
    /// The number of lines of each file that could not be read. They stay in the files.
    damaged: BTreeMap<StoreFile, usize>,
}

/// The newest version of a lesson.
#[derive(Debug)]
pub(super) struct ViewedLesson {
    pub(super) memory: AgentMemory,
    pub(super) place: RecordPlace,
    /// The number of its lines that this view has read.
    pub(super) versions: u64,
    terms: OnceLock<LessonTerms>,
}

impl ViewedLesson {
    pub(super) fn lesson_terms(&self, cutter: &mut WordSplitter) -> &LessonTerms {
        self.terms.get_or_init(|| recall::collect_lesson_terms(cutter, &self.memory))
    }
}

/// The sums of the ledger's facts, lesson by lesson.
#[derive(Debug, Default)]
pub(super) struct LedgerTally {
    counters: HashMap<MemoryId, LessonCounters>,
    /// The facts that were added, by the fingerprints of their keys.
    added: HashSet<[u8; 16]>,
}

impl LedgerTally {
    /// Adds the facts of whole lines. Lines that cannot be read are skipped.
    pub(super) fn add_lines(&mut self, piece: &[u8], limit: usize) {
        for fact in
            json_lines::split_lines(piece, 0).filter_map(|line| json_lines::parse_line::<Fact>(line.bytes, limit).ok())
        {
            if self.added.insert(StableHash::from_text(fact.key().as_str()).to_bytes()) {
                self.counters.entry(fact.memory_id().clone()).or_default().add_fact(&fact);
            }
        }
    }
}

impl RecordView {
    /// Reads the next piece of a file. Pieces of one file come in order, and the archive before the lessons.
    pub(super) fn read_lines(&mut self, part: StoreFile, piece: &[u8], base: u64, limit: usize) {
        for line in json_lines::split_lines(piece, base) {
            let read = match part {
                StoreFile::Lessons | StoreFile::Archive => self.add_lesson(part, line, limit),
                StoreFile::Ledger => self.add_fact(line, limit),
                StoreFile::Episodes => self.add_episode(line, limit),
            };
            if let Err(why) = read {
                *self.damaged.entry(part).or_default() += 1;
                tracing::debug!(?part, at = line.start, why, "line kept but not read");
            }
        }
    }

    /// Returns the lessons whose state is included, with their counters from the ledger.
    pub(super) fn into_lessons(self, which: LessonStateFilter, mut tally: LedgerTally) -> Vec<Lesson> {
        let wanted = self.lessons.into_values().filter(|row| which.includes_state(row.memory.availability()));
        let counted = wanted.map(|row| {
            let counters = tally.counters.remove(&row.memory.id).unwrap_or_default();
            Lesson::new(row.memory, row.versions, counters)
        });
        counted.collect()
    }

    /// Returns the number of lines of a file that could not be read.
    pub(super) fn damaged_in(&self, part: StoreFile) -> usize {
        self.damaged.get(&part).copied().unwrap_or_default()
    }

    pub(super) fn has_fact(&self, key: &FactKey) -> bool {
        self.keys.contains(key)
    }

    pub(super) fn facts_about(&self, memory: &MemoryId) -> impl Iterator<Item = &Fact> {
        let places = self.facts_of.get(memory).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| self.facts.get(place))
    }

    /// Returns the lessons that have facts in this view.
    pub(super) fn lessons_with_facts(&self) -> impl Iterator<Item = &MemoryId> {
        self.facts_of.keys()
    }

    pub(super) fn lessons_with_alias<'a>(&'a self, alias: &'a Alias) -> impl Iterator<Item = &'a MemoryId> {
        let named = move |row: &&ViewedLesson| row.memory.alias.as_ref() == Some(alias);
        self.lessons.values().filter(named).map(|row| &row.memory.id)
    }

    fn add_lesson(&mut self, part: StoreFile, line: StoreLine<'_>, limit: usize) -> Result<(), String> {
        let memory: AgentMemory = json_lines::parse_line(line.bytes, limit)?;
        let place = record_place(part, line);
        let number = memory.alias.as_ref().map_or(0, Alias::number);
        if number <= Alias::LAST {
            self.highest_alias = self.highest_alias.max(number);
        }
        let versions = self.lessons.get(&memory.id).map_or(0, |row| row.versions) + 1;
        self.lessons.insert(memory.id.clone(), ViewedLesson { memory, place, versions, terms: OnceLock::new() });
        Ok(())
    }

    fn add_fact(&mut self, line: StoreLine<'_>, limit: usize) -> Result<(), String> {
        let fact: Fact = json_lines::parse_line(line.bytes, limit)?;
        if self.keys.insert(fact.key()) {
            let place = record_place(StoreFile::Ledger, line);
            self.facts_of.entry(fact.memory_id().clone()).or_default().push(place);
            self.facts.insert(place, fact);
        }
        Ok(())
    }

    fn add_episode(&mut self, line: StoreLine<'_>, limit: usize) -> Result<(), String> {
        let episode: Episode = json_lines::parse_line(line.bytes, limit)?;
        self.episodes.insert(episode.id.clone(), (record_place(StoreFile::Episodes, line), episode));
        Ok(())
    }
}

fn record_place(part: StoreFile, line: StoreLine<'_>) -> RecordPlace {
    RecordPlace { part, start: line.start, length: to_u64(line.bytes.len()) }
}
