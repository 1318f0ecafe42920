//! From a batch to the lines it adds.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::bank::Bank;
use super::layout::Part;
use super::state::State;
use crate::domain::{AgentMemory, Alias, MemoryId};
use crate::memory::{Batch, MemoryError, Receipt};

/// What a commit is going to add.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) lines: BTreeMap<Part, String>,
    pub(super) receipt: Receipt,
    /// The highest number of any short name, once this is done.
    pub(super) highest_alias: u64,
}

/// Works out the lines of a batch. What the bank has already gives none.
pub(super) fn plan(bank: &Bank, state: &mut State, highest_ever: u64, batch: Batch) -> Result<Plan, MemoryError> {
    let highest_alias = state.highest_alias()?.max(highest_ever);
    let mut plan = Plan { highest_alias, ..Plan::default() };
    for (id, expected) in batch.expected {
        let found = state.lesson(&id)?.map_or(0, |lesson| lesson.version);
        if found != expected {
            return Err(MemoryError::Conflict { id, expected, found });
        }
    }
    let mut planned = HashMap::new();
    for episode in batch.episodes {
        let stored = || Ok(state.episodes()?.episodes.get(&episode.id).is_some_and(|(_, known)| *known == episode));
        let known = planned.get(&episode.id).map_or_else(stored, |last| Ok(*last == episode))?;
        plan.add(bank, Part::Episodes, episode.id.as_str(), &episode, known)?;
        planned.insert(episode.id.clone(), episode);
    }
    plan.add_lessons(bank, state, batch.memories)?;
    let mut new = HashSet::new();
    for fact in batch.facts {
        let known = state.knows_fact(&fact)? || !new.insert(fact.key());
        plan.add(bank, Part::Ledger, fact.memory().as_str(), &fact, known)?;
    }
    Ok(plan)
}

impl Plan {
    fn add_lessons(&mut self, bank: &Bank, state: &mut State, memories: Vec<AgentMemory>) -> Result<(), MemoryError> {
        let mut planned: HashMap<MemoryId, AgentMemory> = HashMap::new();
        for mut memory in memories {
            let last = match planned.remove(&memory.id) {
                Some(last) => Some(last),
                None => state.lesson(&memory.id)?.map(|lesson| lesson.memory),
            };
            let alias = match (last.as_ref().and_then(|last| last.alias.clone()), &memory.alias) {
                (Some(alias), _) => alias,
                (None, Some(brought)) if self.is_free(bank, brought) => {
                    self.highest_alias = brought.number();
                    brought.clone()
                }
                (None, _) => self.next_alias(bank)?,
            };
            self.receipt.lessons.push((memory.id.clone(), alias.clone()));
            memory.alias = Some(alias);
            memory.usage_count = last.as_ref().map_or(0, |last| last.usage_count);
            memory.last_used_at = last.as_ref().and_then(|last| last.last_used_at);
            self.add(bank, Part::Lessons, memory.id.as_str(), &memory, last.as_ref() == Some(&memory))?;
            planned.insert(memory.id.clone(), memory);
        }
        Ok(())
    }

    /// Whether a lesson from elsewhere may keep its short name: nobody had it, and nobody will.
    fn is_free(&self, bank: &Bank, alias: &Alias) -> bool {
        let is_ours = Alias::numbered(bank.layout.alias_prefix(), alias.number()).is_ok_and(|ours| ours == *alias);
        is_ours && alias.number() > self.highest_alias && alias.number() <= Alias::LAST
    }

    fn next_alias(&mut self, bank: &Bank) -> Result<Alias, MemoryError> {
        self.highest_alias += 1;
        Alias::numbered(bank.layout.alias_prefix(), self.highest_alias).map_err(MemoryError::NoMoreAliases)
    }

    fn add(
        &mut self,
        bank: &Bank,
        part: Part,
        id: &str,
        record: &impl Serialize,
        is_known: bool,
    ) -> Result<(), MemoryError> {
        if is_known {
            self.receipt.known += 1;
            return Ok(());
        }
        let line = serde_json::to_string(record).map_err(|source| MemoryError::Encode { id: id.to_owned(), source })?;
        let limit = bank.options.max_line_bytes;
        if line.len() > limit {
            return Err(MemoryError::TooLarge { id: id.to_owned(), size: line.len(), limit });
        }
        let lines = self.lines.entry(part).or_default();
        lines.push_str(&line);
        lines.push('\n');
        self.receipt.written += 1;
        Ok(())
    }
}
