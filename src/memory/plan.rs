//! What a batch comes to: which records are new, and which short name each lesson gets. Every store decides it here.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{Batch, MemoryError, Receipt, Records};
use crate::domain::{AgentMemory, Alias, Episode, EpisodeId, Fact, MemoryId};

/// What a bank knows, as far as a batch asks.
pub(super) trait Known {
    /// A lesson's newest version, and its number.
    fn lesson(&mut self, id: &MemoryId) -> Result<Option<(AgentMemory, u64)>, MemoryError>;

    /// A run.
    fn episode(&mut self, id: &EpisodeId) -> Result<Option<&Episode>, MemoryError>;

    /// Whether a fact was told before.
    fn has_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError>;
}

/// What a bank goes by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// The first letter of its short names.
    pub(super) alias_prefix: char,
    /// The highest number that was ever given.
    pub(super) highest_alias: u64,
    /// No record is longer.
    pub(super) max_bytes: usize,
}

/// A record that is to be written, as JSON.
#[derive(Debug)]
pub(super) struct Written<T> {
    pub(super) record: T,
    pub(super) json: String,
}

/// The records that are new, each kind in the batch's order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) episodes: Vec<Written<Episode>>,
    pub(super) memories: Vec<Written<AgentMemory>>,
    pub(super) facts: Vec<Written<Fact>>,
    pub(super) receipt: Receipt,
    /// The highest number of any short name, once this is done.
    pub(super) highest_alias: u64,
}

/// Works out what a batch adds. What the bank has already adds nothing.
pub(super) fn plan(rules: &Rules, known: &mut impl Known, batch: Batch) -> Result<Plan, MemoryError> {
    let mut plan = Plan { highest_alias: rules.highest_alias, ..Plan::default() };
    for (id, expected) in batch.expected {
        let found = known.lesson(&id)?.map_or(0, |(_, version)| version);
        if found != expected {
            return Err(MemoryError::Conflict { id, expected, found });
        }
    }
    // Where the newest of each stands among those that are to be written.
    let mut planned: HashMap<EpisodeId, usize> = HashMap::new();
    for episode in batch.episodes {
        let last = match planned.get(&episode.id).and_then(|place| plan.episodes.get(*place)) {
            Some(last) => Some(&last.record),
            None => known.episode(&episode.id)?,
        };
        if last == Some(&episode) {
            plan.receipt.known += 1;
            continue;
        }
        let json = json(rules, episode.id.as_str(), &episode)?;
        planned.insert(episode.id.clone(), plan.episodes.len());
        plan.episodes.push(Written { record: episode, json });
    }
    plan.add_lessons(rules, known, batch.memories, batch.records)?;
    let mut new = HashSet::new();
    for fact in batch.facts {
        if known.has_fact(&fact)? || !new.insert(fact.key()) {
            plan.receipt.known += 1;
            continue;
        }
        let json = json(rules, fact.memory().as_str(), &fact)?;
        plan.facts.push(Written { record: fact, json });
    }
    plan.receipt.written = plan.episodes.len() + plan.memories.len() + plan.facts.len();
    Ok(plan)
}

impl Plan {
    fn add_lessons(
        &mut self,
        rules: &Rules,
        known: &mut impl Known,
        memories: Vec<AgentMemory>,
        records: Records,
    ) -> Result<(), MemoryError> {
        // Where the newest version of each stands among those that are to be written.
        let mut planned: HashMap<MemoryId, usize> = HashMap::new();
        for mut memory in memories {
            let last = match planned.get(&memory.id).and_then(|place| self.memories.get(*place)) {
                Some(last) => Some(last.record.clone()),
                None => known.lesson(&memory.id)?.map(|(memory, _)| memory),
            };
            let alias = match (last.as_ref().and_then(|last| last.alias.clone()), &memory.alias) {
                (_, Some(brought)) if records == Records::Copied => {
                    let number = Some(brought.number()).filter(|number| *number <= Alias::LAST);
                    self.highest_alias = self.highest_alias.max(number.unwrap_or_default());
                    brought.clone()
                }
                (Some(alias), _) => alias,
                (None, Some(brought)) if self.is_free(rules, brought) => {
                    self.highest_alias = brought.number();
                    brought.clone()
                }
                (None, _) => self.next_alias(rules)?,
            };
            self.receipt.lessons.push((memory.id.clone(), alias.clone()));
            memory.alias = Some(alias);
            if records == Records::New {
                memory.usage_count = last.as_ref().map_or(0, |last| last.usage_count);
                memory.last_used_at = last.as_ref().and_then(|last| last.last_used_at);
            }
            if last.as_ref() == Some(&memory) {
                self.receipt.known += 1;
            } else {
                let json = json(rules, memory.id.as_str(), &memory)?;
                planned.insert(memory.id.clone(), self.memories.len());
                self.memories.push(Written { record: memory, json });
            }
        }
        Ok(())
    }

    /// Whether a lesson from elsewhere may keep its short name: nobody had it, and nobody will.
    fn is_free(&self, rules: &Rules, alias: &Alias) -> bool {
        let is_ours = Alias::numbered(rules.alias_prefix, alias.number()).is_ok_and(|ours| ours == *alias);
        is_ours && alias.number() > self.highest_alias && alias.number() <= Alias::LAST
    }

    fn next_alias(&mut self, rules: &Rules) -> Result<Alias, MemoryError> {
        self.highest_alias += 1;
        Alias::numbered(rules.alias_prefix, self.highest_alias).map_err(MemoryError::NoMoreAliases)
    }
}

fn json(rules: &Rules, id: &str, record: &impl Serialize) -> Result<String, MemoryError> {
    let json = serde_json::to_string(record).map_err(|source| MemoryError::Encode { id: id.to_owned(), source })?;
    if json.len() > rules.max_bytes {
        return Err(MemoryError::TooLarge { id: id.to_owned(), size: json.len(), limit: rules.max_bytes });
    }
    Ok(json)
}
