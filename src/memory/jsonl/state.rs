//! What one process knows of a bank: the index for the beginning of the files, and a view of the rest.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::fold::{Current, INDEXED, News};
use super::index::{Broken, DocAddress, Entry, FactsOf, Index, Seal};
use super::layout::{Layout, Part, Place};
use super::lines;
use super::snapshot::{Change, Snapshot};
use super::view::{Tally, View};
use crate::domain::{AgentMemory, Alias, Counters, Episode, EpisodeId, Fact, MemoryId, Timestamp};
use crate::memory::answers::{Answers, Best, Selection};
use crate::memory::plan::Known;
use crate::memory::search::{Ask, Card, Common, Worth};
use crate::memory::{FactFilter, Hit, Lesson, MemoryError, Method};
use crate::recall::{Ranking, Terms, Vocabulary, terms_of};
use crate::text::Cutter;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) files: Snapshot,
    pub(super) index: Option<Index>,
    pub(super) view: View,
    /// How far each file is known, by the index or the view.
    read: BTreeMap<Part, u64>,
    limit: usize,
}

/// So much of the ledger is added up at once.
const TALLY_BYTES: u64 = 1024 * 1024;

/// Why something could not be found out: the system said no, or the index did.
#[derive(Debug)]
enum Trouble {
    Memory(MemoryError),
    Index,
}

impl From<MemoryError> for Trouble {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<Broken> for Trouble {
    fn from(_: Broken) -> Self {
        Self::Index
    }
}

/// Where to find a lesson once it has proved to be an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spot {
    /// In the index, which knows its place and its worth.
    Indexed(DocAddress),
    /// In a file.
    Written(Place, Worth),
}

impl Known for State {
    fn lesson(&mut self, id: &MemoryId) -> Result<Option<(AgentMemory, u64)>, MemoryError> {
        Ok(Self::lesson(self, id)?.map(|lesson| (lesson.memory, lesson.version)))
    }

    fn episode(&mut self, id: &EpisodeId) -> Result<Option<&Episode>, MemoryError> {
        Ok(self.episodes()?.episodes.get(id).map(|(_, episode)| episode))
    }

    fn has_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError> {
        self.knows_fact(fact)
    }
}

/// A lesson of the view, held against a question.
struct Row {
    spot: Spot,
    card: Card,
    common: Common,
    counts: Vec<u32>,
}

impl State {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Takes in what has happened since the last look.
    pub(super) fn refresh(&mut self, layout: &Layout) -> Result<(), MemoryError> {
        let change = self.files.refresh(layout);
        if change.is_err() {
            // Whatever the look had found out by then, it is not known whether the view still fits it.
            self.forget();
        }
        if change? == Change::Upheaval {
            self.forget_what_was_read();
            self.index = Index::open(&layout.index()).filter(|index| self.is_true(index));
            self.read = self.index.as_ref().map(|index| index.covered.ends.clone()).unwrap_or_default();
        }
        Ok(())
    }

    /// Looks at everything anew next time.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Everything the files say, without the index.
    pub(super) fn read_all(&self, parts: &[Part]) -> Result<View, MemoryError> {
        let mut view = View::default();
        for part in parts {
            view.read(*part, &self.bytes_of(*part)?, 0, self.limit);
        }
        Ok(view)
    }

    /// What the ledger says of each lesson, added up fact by fact: a long ledger takes no room.
    pub(super) fn tally(&self) -> Result<Tally, MemoryError> {
        let mut tally = Tally::default();
        let mut start = 0;
        let end = self.files.end(Part::Ledger);
        // No line that is read is longer than a piece.
        let step = TALLY_BYTES.max(lines::to_u64(self.limit).saturating_add(1));
        while start < end {
            let piece = self.files.bytes(Part::Ledger, start, end.min(start.saturating_add(step)))?;
            // A line that is not whole in this piece begins the next one.
            let whole = memchr::memrchr(b'\n', &piece).map_or(piece.len(), |last| last + 1);
            tally.read(piece.get(..whole).unwrap_or(&piece), self.limit);
            start = start.saturating_add(lines::to_u64(whole));
        }
        Ok(tally)
    }

    /// The bytes of a whole file.
    pub(super) fn bytes_of(&self, part: Part) -> Result<Vec<u8>, MemoryError> {
        self.files.bytes(part, 0, self.files.end(part))
    }

    /// How far the index reaches into a file.
    pub(super) fn covered(&self, part: Part) -> u64 {
        self.index.as_ref().and_then(|index| index.covered.ends.get(&part)).copied().unwrap_or_default()
    }

    /// How many bytes of the files the index does not know.
    pub(super) fn uncovered(&self) -> u64 {
        INDEXED.into_iter().map(|part| self.files.end(part).saturating_sub(self.covered(part))).sum()
    }

    /// Whether the index must prove itself every time it is opened, for it is of another epoch.
    pub(super) fn index_is_dated(&self) -> bool {
        let epoch = self.files.applied.as_ref().map(|applied| applied.epoch);
        self.index.as_ref().is_some_and(|index| Some(index.covered.epoch) != epoch)
    }

    /// The highest number of any short name there is.
    pub(super) fn highest_alias(&mut self) -> Result<u64, MemoryError> {
        self.load(Part::Lessons)?;
        let indexed = self.index.as_ref().map_or(0, |index| index.covered.highest_alias);
        Ok(indexed.max(self.view.highest_alias))
    }

    /// The episodes in the view, all of them.
    pub(super) fn episodes(&mut self) -> Result<&View, MemoryError> {
        self.load(Part::Episodes)?;
        Ok(&self.view)
    }

    /// One lesson as it stands now.
    pub(super) fn lesson(&mut self, id: &MemoryId) -> Result<Option<Lesson>, MemoryError> {
        self.without_broken_index(|state| state.try_lesson(id))
    }

    /// The lesson that people call so.
    pub(super) fn with_alias(&mut self, alias: &Alias) -> Result<Option<MemoryId>, MemoryError> {
        let mut ids = self.without_broken_index(|state| {
            let indexed = state.index.as_ref().map_or(Ok(Vec::new()), |index| index.with_alias(alias))?;
            let mut ids = BTreeSet::new();
            for entry in indexed {
                // A lesson that was given another name since is not called so any more.
                if !state.view.lessons.contains_key(&entry.id) {
                    let memory: AgentMemory = state.record(entry.place)?;
                    if memory.id != entry.id || memory.alias.as_ref() != Some(alias) {
                        return Err(Trouble::Index);
                    }
                    ids.insert(memory.id);
                }
            }
            ids.extend(state.view.with_alias(alias).cloned());
            Ok(ids)
        })?;
        if ids.len() > 1 {
            return Err(MemoryError::Ambiguous { alias: alias.clone(), ids: ids.into_iter().collect() });
        }
        Ok(ids.pop_first())
    }

    /// Whether the ledger has this fact already.
    pub(super) fn knows_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError> {
        self.without_broken_index(|state| Ok(state.view.knows_fact(&fact.key()) || !state.is_new(fact)?))
    }

    /// The facts that a filter admits, in the order of writing.
    pub(super) fn facts(&mut self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        let of = match (&filter.memory, &filter.run) {
            (Some(memory), _) => FactsOf::Lesson(memory),
            (None, Some(run)) => FactsOf::Run(run),
            (None, None) => return Ok(self.read_all(&[Part::Ledger])?.facts.into_values().collect()),
        };
        self.without_broken_index(|state| {
            let mut facts = state.indexed_facts(of)?;
            facts.extend(state.new_facts()?.into_iter().map(|(_, fact)| fact.clone()));
            facts.retain(|fact| filter.admits(fact));
            Ok(facts)
        })
    }

    /// The best answers to a question, with their lessons.
    pub(super) fn answer(
        &mut self,
        ask: &Ask,
        ranking: &Ranking,
        limit: usize,
        at: Timestamp,
    ) -> Result<Best, MemoryError> {
        self.without_broken_index(|state| {
            let method = if state.index.is_some() { Method::Index } else { Method::FullRead };
            let Selection { best, met, .. } = state.select(ask, ranking, limit, at)?;
            let mut hits = Vec::new();
            for (spot, score) in best {
                let id = state.check(spot)?;
                hits.extend(state.try_lesson(&id)?.map(|lesson| Hit { lesson, score }));
            }
            Ok(Best { hits, met, method })
        })
    }

    /// What the index does not know as it stands now: lessons, and facts in the order of writing.
    pub(super) fn news(&mut self) -> Result<News, MemoryError> {
        self.without_broken_index(|state| {
            let facts: Vec<(Place, Fact)> =
                state.new_facts()?.into_iter().map(|(place, fact)| (place, fact.clone())).collect();
            let about: HashSet<&MemoryId> = facts.iter().map(|(_, fact)| fact.memory()).collect();
            let ids: BTreeSet<&MemoryId> = state.view.lessons.keys().chain(about).collect();
            let mut changed = Vec::new();
            for id in ids {
                changed.extend(state.current(id)?);
            }
            Ok(News { lessons: changed, facts })
        })
    }

    /// Does the work with everything loaded; if the index fails, once more without it.
    fn without_broken_index<T>(&mut self, work: impl Fn(&Self) -> Result<T, Trouble>) -> Result<T, MemoryError> {
        loop {
            self.load(Part::Lessons)?;
            self.load(Part::Ledger)?;
            match work(self) {
                Ok(value) => return Ok(value),
                Err(Trouble::Memory(error)) => return Err(error),
                Err(Trouble::Index) if self.index.is_some() => self.forget_what_was_read(),
                Err(Trouble::Index) => {
                    return Err(MemoryError::Interrupted("the files changed while they were read".to_owned()));
                }
            }
        }
    }

    /// Goes back to the files alone.
    pub(super) fn forget_what_was_read(&mut self) {
        self.index = None;
        self.view = View::default();
        self.read.clear();
    }

    /// Reads `part` up to the end that the last refresh found.
    fn load(&mut self, part: Part) -> Result<(), MemoryError> {
        if part == Part::Lessons {
            self.load(Part::Archive)?;
        }
        let (start, end) = (self.read.get(&part).copied().unwrap_or_default(), self.files.end(part));
        if start < end {
            self.view.read(part, &self.files.bytes(part, start, end)?, start, self.limit);
            self.read.insert(part, end);
        }
        Ok(())
    }

    /// Whether the files still begin with what the index read: known from the epoch, else shown by the seals.
    fn is_true(&self, index: &Index) -> bool {
        let covered = &index.covered;
        let fits =
            covered.line_limit == self.limit && covered.ends.iter().all(|(part, end)| *end <= self.files.end(*part));
        let same_epoch = self.files.applied.as_ref().is_some_and(|applied| applied.epoch == covered.epoch);
        fits && (same_epoch || covered.seals.iter().all(|(part, seal)| self.holds(*part, seal).unwrap_or(false)))
    }

    fn holds(&self, part: Part, seal: &Seal) -> Result<bool, MemoryError> {
        let mut again = Seal::default();
        let mut start = 0;
        for &end in &seal.links {
            again.extend(&self.files.bytes(part, start, end)?, end);
            start = end;
        }
        Ok(again == *seal)
    }

    fn try_lesson(&self, id: &MemoryId) -> Result<Option<Lesson>, Trouble> {
        let current = self.current(id)?;
        Ok(current.map(|current| Lesson::new(current.memory, current.version, current.counters)))
    }

    /// A lesson as the index and the view together know it.
    fn current(&self, id: &MemoryId) -> Result<Option<Current>, Trouble> {
        let entry = self.entry(id)?;
        let (memory, place, versions) = match (self.view.lessons.get(id), &entry) {
            (Some(row), _) => (row.memory.clone(), row.place, row.versions),
            (None, Some(entry)) => (self.record(entry.place)?, entry.place, 0),
            (None, None) => return Ok(None),
        };
        let version = versions + entry.as_ref().map_or(0, |entry| entry.version);
        Ok(Some(Current { memory, place, version, counters: self.counters(id, entry.as_ref())? }))
    }

    fn select(&self, ask: &Ask, ranking: &Ranking, limit: usize, at: Timestamp) -> Result<Selection<Spot>, Trouble> {
        let known_better = self.known_better()?;
        let rows = self.rows(ask, &known_better)?;
        let mut vocabulary = match &self.index {
            Some(index) => index.vocabulary(ask, &known_better)?,
            None => Vocabulary::empty(&ask.question),
        };
        for row in &rows {
            vocabulary.documents += 1;
            vocabulary.length += u64::from(row.card.length);
            let counts = vocabulary.holders.iter_mut().zip(&row.counts);
            counts.for_each(|(holders, count)| *holders += u64::from(*count > 0));
        }
        let broken = Cell::new(false);
        let worth = |spot| match spot {
            Spot::Written(_, worth) => Some(worth),
            Spot::Indexed(address) => {
                let worth = self.index.as_ref().and_then(|index| index.worth_of(address).ok());
                broken.set(broken.get() || worth.is_none());
                worth
            }
        };
        let mut answers = Answers::new(ask, &vocabulary, ranking, limit, at, &worth);
        if let Some(index) = &self.index {
            index.walk(ask, &known_better, &mut answers)?;
            self.offer_close(ask, &known_better, index, &mut answers)?;
        }
        for row in &rows {
            answers.offer(row.spot, &row.card, &row.common, &row.counts);
        }
        let selection = answers.finish();
        if broken.get() { Err(Trouble::Index) } else { Ok(selection) }
    }

    /// Offers the lessons that are close in meaning and that no word brought up.
    fn offer_close(
        &self,
        ask: &Ask,
        known_better: &[Entry],
        index: &Index,
        answers: &mut Answers<'_, Spot>,
    ) -> Result<(), Trouble> {
        for id in ask.close.iter().filter(|id| !known_better.iter().any(|entry| entry.id == **id)) {
            let Some((entry, card)) = index.lesson_and_card(id)? else { continue };
            let memory: AgentMemory = self.record(entry.place)?;
            let terms = terms_of(&mut Cutter::default(), &memory);
            let counts: Vec<u32> = ask.counts_in(&terms);
            let common = ask.common_with(&memory);
            // Those that share a word or a topic passed by already.
            if !answers.is_brought_up(&counts, &common) {
                answers.offer(Spot::Indexed(entry.address()), &card, &common, &counts);
            }
        }
        Ok(())
    }

    /// The lesson that an answer points to, if it is where it should be.
    fn check(&self, spot: Spot) -> Result<MemoryId, Trouble> {
        let (place, id) = match (spot, &self.index) {
            (Spot::Written(place, _), _) => (place, None),
            (Spot::Indexed(address), Some(index)) => {
                let entry = index.entry_of(address)?;
                (entry.place, Some(entry.id))
            }
            (Spot::Indexed(_), None) => return Err(Trouble::Index),
        };
        let memory: AgentMemory = self.record(place)?;
        if id.is_none_or(|id| id == memory.id) { Ok(memory.id) } else { Err(Trouble::Index) }
    }

    /// The index's entries for lessons that have changed since, in text or in rank.
    fn known_better(&self) -> Result<Vec<Entry>, Trouble> {
        let moved = |id: &&MemoryId| self.view.facts_of(id).any(Fact::moves_rank);
        let ids: HashSet<&MemoryId> =
            self.view.lessons.keys().chain(self.view.lessons_with_facts().filter(moved)).collect();
        let mut entries = Vec::new();
        for id in ids {
            entries.extend(self.entry(id)?);
        }
        Ok(entries)
    }

    /// The lessons that are not the index's to speak of, as far as they are meant.
    fn rows(&self, ask: &Ask, known_better: &[Entry]) -> Result<Vec<Row>, Trouble> {
        let entries: BTreeMap<&MemoryId, &Entry> = known_better.iter().map(|entry| (&entry.id, entry)).collect();
        let mut cutter = Cutter::default();
        let mut rows = Vec::new();
        for row in self.view.lessons.values().filter(|row| ask.which.includes(row.memory.standing())) {
            let entry = entries.get(&row.memory.id).copied();
            rows.push(self.row(ask, &row.memory, row.place, row.terms(&mut cutter), entry)?);
        }
        for entry in known_better.iter().filter(|entry| !self.view.lessons.contains_key(&entry.id)) {
            let memory: AgentMemory = self.record(entry.place)?;
            if ask.which.includes(memory.standing()) {
                rows.push(self.row(ask, &memory, entry.place, &terms_of(&mut cutter, &memory), Some(entry))?);
            }
        }
        Ok(rows)
    }

    fn row(
        &self,
        ask: &Ask,
        memory: &AgentMemory,
        place: Place,
        terms: &Terms,
        entry: Option<&Entry>,
    ) -> Result<Row, Trouble> {
        let counters = self.counters(&memory.id, entry)?;
        Ok(Row {
            spot: Spot::Written(place, Worth::of(memory, &counters)),
            card: Card::of(memory, terms.length),
            common: ask.common_with(memory),
            counts: ask
                .question
                .terms()
                .iter()
                .map(|word| terms.counts.get(word).copied().unwrap_or_default())
                .collect(),
        })
    }

    fn entry(&self, id: &MemoryId) -> Result<Option<Entry>, Trouble> {
        Ok(self.index.as_ref().map_or(Ok(None), |index| index.lesson(id))?)
    }

    /// What the ledger says about one lesson.
    fn counters(&self, id: &MemoryId, entry: Option<&Entry>) -> Result<Counters, Trouble> {
        let mut counters = match entry {
            Some(entry) => entry.counters.clone(),
            // The facts may have come before the lesson: then nobody has added them up yet.
            None => Counters::of(&self.indexed_facts(FactsOf::Lesson(id))?),
        };
        for fact in self.view.facts_of(id) {
            if self.is_new(fact)? {
                counters.absorb(fact);
            }
        }
        Ok(counters)
    }

    fn indexed_facts(&self, of: FactsOf<'_>) -> Result<Vec<Fact>, Trouble> {
        let places = self.index.as_ref().map_or(Ok(Vec::new()), |index| index.facts(of))?;
        places.into_iter().map(|place| self.record(place)).collect()
    }

    fn new_facts(&self) -> Result<Vec<(Place, &Fact)>, Trouble> {
        let mut facts = Vec::new();
        for (place, fact) in &self.view.facts {
            if self.is_new(fact)? {
                facts.push((*place, fact));
            }
        }
        Ok(facts)
    }

    /// Whether the index does not know a fact.
    fn is_new(&self, fact: &Fact) -> Result<bool, Trouble> {
        Ok(!self.index.as_ref().map_or(Ok(false), |index| index.knows_fact(&fact.key()))?)
    }

    /// The record that the view or the index saw at this place. If it is not there, the index was wrong.
    fn record<T: serde::de::DeserializeOwned>(&self, place: Place) -> Result<T, Trouble> {
        let end = place.start.checked_add(place.length).ok_or(Trouble::Index)?;
        let bytes = self.files.bytes(place.part, place.start, end)?;
        lines::parse(&bytes, self.limit).map_err(|_| Trouble::Index)
    }
}
