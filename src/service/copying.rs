//! One memory copied into another, record by record, and two memories held against each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::domain::{Episode, EpisodeId, Fact, MemoryId, Timestamp};
use crate::memory::{Batch, EpisodeFilter, FactFilter, MemoryError, MemoryService, Records, Revision};

/// So many records are written at once.
const AT_ONCE: usize = 500;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Copied {
    /// Runs.
    pub episodes: usize,
    /// Versions of lessons.
    pub versions: usize,
    /// Ledger facts.
    pub facts: usize,
    /// Records that were there already.
    pub known: usize,
    /// Lessons that have gone another way there, and were left as they are.
    pub differing: Vec<MemoryId>,
}

/// Copies everything that is in one memory into another. What is there stays; doing it again adds what is new. Broken off,
/// it goes on where it was.
pub async fn copy(from: &dyn MemoryService, to: &dyn MemoryService, at: Timestamp) -> Result<Copied, MemoryError> {
    let mut copied = Copied::default();
    let of = |batch| Batch { records: Records::Copied, ..batch };
    let known: HashMap<EpisodeId, Episode> =
        to.episodes(&EpisodeFilter::default()).await?.into_iter().map(|one| (one.id.clone(), one)).collect();
    let episodes = from.episodes(&EpisodeFilter::default()).await?;
    let (there, new): (Vec<_>, Vec<_>) = episodes.into_iter().partition(|one| known.get(&one.id) == Some(one));
    copied.known += there.len();
    for episodes in new.chunks(AT_ONCE) {
        let batch = Batch { episodes: episodes.to_vec(), ..Batch::default() };
        copied.episodes += to.commit(of(batch), at).await?.written;
    }
    let (theirs, ours) = (from.revisions().await?, histories(to.revisions().await?));
    let of_theirs = histories(theirs.clone());
    let differs = |id: &MemoryId, own: &[Revision]| !of_theirs.get(id).is_some_and(|their| their.starts_with(own));
    copied.differing =
        of_theirs.keys().filter(|id| ours.get(*id).is_some_and(|own| differs(id, own))).cloned().collect();
    // In the order in which they were written there, so that a directory is again what it was.
    let is_new = |revision: &Revision| {
        let id = &revision.memory.id;
        let known = ours.get(id).map_or(0, Vec::len);
        !copied.differing.contains(id) && revision.version > u64::try_from(known).unwrap_or(u64::MAX)
    };
    let new: Vec<_> = theirs.iter().filter(|revision| is_new(revision)).map(|one| one.memory.clone()).collect();
    copied.known += theirs.len() - new.len();
    for memories in new.chunks(AT_ONCE) {
        let batch = Batch { memories: memories.to_vec(), ..Batch::default() };
        copied.versions += to.commit(of(batch), at).await?.written;
    }
    let differing: BTreeSet<&MemoryId> = copied.differing.iter().collect();
    let facts: Vec<Fact> = from.facts(&FactFilter::default()).await?;
    let facts: Vec<Fact> = facts.into_iter().filter(|fact| !differing.contains(fact.memory())).collect();
    for facts in facts.chunks(AT_ONCE) {
        let receipt = to.commit(of(Batch { facts: facts.to_vec(), ..Batch::default() }), at).await?;
        copied.facts += receipt.written;
        copied.known += receipt.known;
    }
    Ok(copied)
}

/// In what two memories differ, in words; nothing if they hold the same.
pub async fn differences(ours: &dyn MemoryService, theirs: &dyn MemoryService) -> Result<Vec<String>, MemoryError> {
    let mut differences = Vec::new();
    let by_id = |episodes: Vec<Episode>| -> BTreeMap<EpisodeId, Episode> {
        episodes.into_iter().map(|episode| (episode.id.clone(), episode)).collect()
    };
    let all = EpisodeFilter::default();
    tell(&mut differences, "run", &by_id(ours.episodes(&all).await?), &by_id(theirs.episodes(&all).await?));
    let (own, other) = (histories(ours.revisions().await?), histories(theirs.revisions().await?));
    tell(&mut differences, "lesson", &own, &other);
    let by_key = |facts: Vec<Fact>| -> BTreeMap<String, Fact> {
        facts.into_iter().map(|fact| (fact.key().as_str().to_owned(), fact)).collect()
    };
    let all = FactFilter::default();
    tell(&mut differences, "fact", &by_key(ours.facts(&all).await?), &by_key(theirs.facts(&all).await?));
    Ok(differences)
}

fn tell<K: Ord + std::fmt::Display, V: PartialEq>(
    differences: &mut Vec<String>,
    what: &str,
    ours: &BTreeMap<K, V>,
    theirs: &BTreeMap<K, V>,
) {
    for (key, own) in ours {
        match theirs.get(key) {
            None => differences.push(format!("{what} `{key}` is here and not there")),
            Some(other) if own != other => differences.push(format!("{what} `{key}` is not the same here and there")),
            Some(_) => {}
        }
    }
    let missing = theirs.keys().filter(|key| !ours.contains_key(key));
    differences.extend(missing.map(|key| format!("{what} `{key}` is there and not here")));
}

/// The versions of each lesson, oldest first.
fn histories(revisions: Vec<Revision>) -> BTreeMap<MemoryId, Vec<Revision>> {
    let mut histories: BTreeMap<MemoryId, Vec<Revision>> = BTreeMap::new();
    for revision in revisions {
        histories.entry(revision.memory.id.clone()).or_default().push(revision);
    }
    histories
}
