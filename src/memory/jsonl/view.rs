//! What a piece of the files says, in memory: everything when there is no index, else what came after it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use super::layout::{Part, Place};
use super::lines::{self, Line, to_u64};
use crate::domain::{AgentMemory, Alias, Counters, Episode, EpisodeId, Fact, FactKey, MemoryId};
use crate::memory::{Lesson, Which};
use crate::recall::{self, Terms};
use crate::text::Cutter;

/// The records read so far.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) lessons: HashMap<MemoryId, Row>,
    pub(super) episodes: HashMap<EpisodeId, (Place, Episode)>,
    pub(super) facts: BTreeMap<Place, Fact>,
    keys: HashSet<FactKey>,
    facts_of: HashMap<MemoryId, Vec<Place>>,
    pub(super) highest_alias: u64,
    /// Lines that could not be read. They stay where they are.
    pub(super) damaged: usize,
}

/// A lesson's newest version.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) memory: AgentMemory,
    pub(super) place: Place,
    /// How many lines this view has read of it.
    pub(super) versions: u64,
    terms: OnceLock<Terms>,
}

impl Row {
    pub(super) fn terms(&self, cutter: &mut Cutter) -> &Terms {
        self.terms.get_or_init(|| recall::terms_of(cutter, &self.memory))
    }
}

/// What facts add up to, lesson by lesson.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counters: HashMap<MemoryId, Counters>,
    /// The facts that were added, by the fingerprints of their keys.
    added: HashSet<[u8; 16]>,
}

impl Tally {
    /// Adds the facts of whole lines. Those that cannot be read say nothing.
    pub(super) fn read(&mut self, piece: &[u8], limit: usize) {
        for fact in lines::lines(piece, 0).filter_map(|line| lines::parse::<Fact>(line.bytes, limit).ok()) {
            let print = blake3::hash(fact.key().as_str().as_bytes());
            let short = print.as_bytes().first_chunk().copied().unwrap_or_default();
            if self.added.insert(short) {
                self.counters.entry(fact.memory().clone()).or_default().absorb(&fact);
            }
        }
    }
}

impl View {
    /// Reads on. Pieces of one file come in order, and the archive before the lessons.
    pub(super) fn read(&mut self, part: Part, piece: &[u8], base: u64, limit: usize) {
        for line in lines::lines(piece, base) {
            let read = match part {
                Part::Lessons | Part::Archive => self.lesson(part, line, limit),
                Part::Ledger => self.fact(line, limit),
                Part::Episodes => self.episode(line, limit),
            };
            if let Err(why) = read {
                self.damaged += 1;
                tracing::debug!(?part, at = line.start, why, "line kept but not read");
            }
        }
    }

    /// The lessons that are wanted, with what the ledger says of each.
    pub(super) fn into_lessons(self, which: Which, mut tally: Tally) -> Vec<Lesson> {
        let wanted = self.lessons.into_values().filter(|row| which.includes(row.memory.standing()));
        let counted = wanted.map(|row| {
            let counters = tally.counters.remove(&row.memory.id).unwrap_or_default();
            Lesson::new(row.memory, row.versions, counters)
        });
        counted.collect()
    }

    pub(super) fn knows_fact(&self, key: &FactKey) -> bool {
        self.keys.contains(key)
    }

    pub(super) fn facts_of(&self, memory: &MemoryId) -> impl Iterator<Item = &Fact> {
        let places = self.facts_of.get(memory).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| self.facts.get(place))
    }

    /// The lessons that facts read here speak of.
    pub(super) fn lessons_with_facts(&self) -> impl Iterator<Item = &MemoryId> {
        self.facts_of.keys()
    }

    pub(super) fn with_alias<'a>(&'a self, alias: &'a Alias) -> impl Iterator<Item = &'a MemoryId> {
        let named = move |row: &&Row| row.memory.alias.as_ref() == Some(alias);
        self.lessons.values().filter(named).map(|row| &row.memory.id)
    }

    fn lesson(&mut self, part: Part, line: Line<'_>, limit: usize) -> Result<(), String> {
        let memory: AgentMemory = lines::parse(line.bytes, limit)?;
        let place = place(part, line);
        let number = memory.alias.as_ref().map_or(0, Alias::number);
        if number <= Alias::LAST {
            self.highest_alias = self.highest_alias.max(number);
        }
        let versions = self.lessons.get(&memory.id).map_or(0, |row| row.versions) + 1;
        self.lessons.insert(memory.id.clone(), Row { memory, place, versions, terms: OnceLock::new() });
        Ok(())
    }

    fn fact(&mut self, line: Line<'_>, limit: usize) -> Result<(), String> {
        let fact: Fact = lines::parse(line.bytes, limit)?;
        if self.keys.insert(fact.key()) {
            let place = place(Part::Ledger, line);
            self.facts_of.entry(fact.memory().clone()).or_default().push(place);
            self.facts.insert(place, fact);
        }
        Ok(())
    }

    fn episode(&mut self, line: Line<'_>, limit: usize) -> Result<(), String> {
        let episode: Episode = lines::parse(line.bytes, limit)?;
        self.episodes.insert(episode.id.clone(), (place(Part::Episodes, line), episode));
        Ok(())
    }
}

fn place(part: Part, line: Line<'_>) -> Place {
    Place { part, start: line.start, length: to_u64(line.bytes.len()) }
}
