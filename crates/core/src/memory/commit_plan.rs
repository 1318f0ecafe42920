//! Plans a commit: which records of a batch are new, and which short name each lesson gets. Every store plans here.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{CommitBatch, CommitReceipt, MemoryError, RecordOrigin};
use crate::domain::{AgentMemory, Alias, Episode, EpisodeId, Fact, MemoryId};

/// The stored records of a bank that a batch refers to.
pub(super) trait ExistingRecords {
    /// Returns the newest version of a lesson, and its number.
    fn newest_lesson(&mut self, id: &MemoryId) -> Result<Option<(AgentMemory, u64)>, MemoryError>;

    /// Returns an episode by its id.
    fn find_episode(&mut self, id: &EpisodeId) -> Result<Option<Episode>, MemoryError>;

    /// Returns true if a fact is already stored.
    fn has_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError>;
}

/// The settings of a bank that a plan follows.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitRules {
    /// The first letter of its short names.
    pub(super) alias_prefix: char,
    /// The highest number of any short name that was ever given.
    pub(super) highest_alias: u64,
    /// The length of the longest record that is accepted.
    pub(super) max_bytes: usize,
}

/// A record that is to be written, with its JSON.
#[derive(Debug)]
pub(super) struct EncodedRecord<T> {
    pub(super) record: T,
    pub(super) json: String,
}

/// The records that are new, each kind in the batch's order.
#[derive(Debug, Default)]
pub(super) struct CommitPlan {
    pub(super) episodes: Vec<EncodedRecord<Episode>>,
    pub(super) memories: Vec<EncodedRecord<AgentMemory>>,
    pub(super) facts: Vec<EncodedRecord<Fact>>,
    pub(super) receipt: CommitReceipt,
    /// The highest number of any short name after the commit.
    pub(super) highest_alias: u64,
}

/// Plans what a batch adds. Records that the bank already has add nothing.
pub(super) fn plan_commit(
    rules: &CommitRules,
    known: &mut impl ExistingRecords,
    batch: CommitBatch,
) -> Result<CommitPlan, MemoryError> {
    let mut plan = CommitPlan { highest_alias: rules.highest_alias, ..CommitPlan::default() };
    for (id, expected) in batch.expected {
        let found = known.newest_lesson(&id)?.map_or(0, |(_, version)| version);
        if found != expected {
            return Err(MemoryError::Conflict { id, expected, found });
        }
    }
    // The position of each episode's newest form among those to be written.
    let mut planned: HashMap<EpisodeId, usize> = HashMap::new();
    for episode in batch.episodes {
        let is_known = match planned.get(&episode.id).and_then(|place| plan.episodes.get(*place)) {
            Some(last) => last.record == episode,
            None => known.find_episode(&episode.id)?.as_ref() == Some(&episode),
        };
        if is_known {
            plan.receipt.known += 1;
            continue;
        }
        let json = encode_record(rules, episode.id.as_str(), &episode)?;
        planned.insert(episode.id.clone(), plan.episodes.len());
        plan.episodes.push(EncodedRecord { record: episode, json });
    }
    plan.add_lessons(rules, known, batch.memories, batch.records)?;
    let mut new = HashSet::new();
    for fact in batch.facts {
        if known.has_fact(&fact)? || !new.insert(fact.key()) {
            plan.receipt.known += 1;
            continue;
        }
        let json = encode_record(rules, fact.memory_id().as_str(), &fact)?;
        plan.facts.push(EncodedRecord { record: fact, json });
    }
    plan.receipt.written = plan.episodes.len() + plan.memories.len() + plan.facts.len();
    Ok(plan)
}

impl CommitPlan {
    fn add_lessons(
        &mut self,
        rules: &CommitRules,
        known: &mut impl ExistingRecords,
        memories: Vec<AgentMemory>,
        records: RecordOrigin,
    ) -> Result<(), MemoryError> {
        // The position of each lesson's newest version among those to be written.
        let mut planned: HashMap<MemoryId, usize> = HashMap::new();
        for mut memory in memories {
            let last = match planned.get(&memory.id).and_then(|place| self.memories.get(*place)) {
                Some(last) => Some(last.record.clone()),
                None => known.newest_lesson(&memory.id)?.map(|(memory, _)| memory),
            };
            let alias = match (last.as_ref().and_then(|last| last.alias.clone()), &memory.alias) {
                (_, Some(brought)) if records == RecordOrigin::Copied => {
                    let number = Some(brought.number()).filter(|number| *number <= Alias::LAST);
                    self.highest_alias = self.highest_alias.max(number.unwrap_or_default());
                    brought.clone()
                }
                (Some(alias), _) => alias,
                (None, Some(brought)) if self.is_alias_free(rules, brought) => {
                    self.highest_alias = brought.number();
                    brought.clone()
                }
                (None, _) => self.next_alias(rules)?,
            };
            self.receipt.lessons.push((memory.id.clone(), alias.clone()));
            memory.alias = Some(alias);
            if records == RecordOrigin::New {
                memory.usage_count = last.as_ref().map_or(0, |last| last.usage_count);
                memory.last_used_at = last.as_ref().and_then(|last| last.last_used_at);
            }
            if last.as_ref() == Some(&memory) {
                self.receipt.known += 1;
            } else {
                let json = encode_record(rules, memory.id.as_str(), &memory)?;
                planned.insert(memory.id.clone(), self.memories.len());
                self.memories.push(EncodedRecord { record: memory, json });
            }
        }
        Ok(())
    }

    /// Returns true if a lesson from another memory may keep its short name: no other lesson had it or will get it.
    fn is_alias_free(&self, rules: &CommitRules, alias: &Alias) -> bool {
        let is_ours = Alias::from_number(rules.alias_prefix, alias.number()).is_ok_and(|ours| ours == *alias);
        is_ours && alias.number() > self.highest_alias && alias.number() <= Alias::LAST
    }

    fn next_alias(&mut self, rules: &CommitRules) -> Result<Alias, MemoryError> {
        self.highest_alias += 1;
        Alias::from_number(rules.alias_prefix, self.highest_alias).map_err(MemoryError::NoMoreAliases)
    }
}

fn encode_record(rules: &CommitRules, id: &str, record: &impl Serialize) -> Result<String, MemoryError> {
    let json = serde_json::to_string(record).map_err(|source| MemoryError::Encode { id: id.to_owned(), source })?;
    if json.len() > rules.max_bytes {
        return Err(MemoryError::TooLarge { id: id.to_owned(), size: json.len(), limit: rules.max_bytes });
    }
    Ok(json)
}
