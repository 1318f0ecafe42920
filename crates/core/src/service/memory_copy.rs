//! Copies one memory into another, record by record, and compares two memories.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::domain::{Episode, EpisodeId, Fact, MemoryId, Timestamp};
use crate::memory::{CommitBatch, EpisodeFilter, FactFilter, LessonRevision, MemoryError, MemoryService, RecordOrigin};

/// The number of records that are written at once.
const AT_ONCE: usize = 500;

/// The counts of copied records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryCopyReport {
    /// The number of episodes copied.
    pub episodes: usize,
    /// The number of lesson versions copied.
    pub versions: usize,
    /// The number of ledger facts copied.
    pub facts: usize,
    /// The number of records that existed already.
    pub known: usize,
    /// Lessons with a different history in the target, which were left unchanged.
    pub differing: Vec<MemoryId>,
}

/// Copies all records of one memory into another. Existing records stay, and repeating it adds only new ones, so an
/// interrupted copy can be resumed.
pub async fn copy_memory(
    from: &dyn MemoryService,
    to: &dyn MemoryService,
    at: Timestamp,
) -> Result<MemoryCopyReport, MemoryError> {
    let mut copied = MemoryCopyReport::default();
    let of = |batch| CommitBatch { records: RecordOrigin::Copied, ..batch };
    let known: HashMap<EpisodeId, Episode> =
        to.list_episodes(&EpisodeFilter::default()).await?.into_iter().map(|one| (one.id.clone(), one)).collect();
    let episodes = from.list_episodes(&EpisodeFilter::default()).await?;
    let (there, new): (Vec<_>, Vec<_>) = episodes.into_iter().partition(|one| known.get(&one.id) == Some(one));
    copied.known += there.len();
    for episodes in new.chunks(AT_ONCE) {
        let batch = CommitBatch { episodes: episodes.to_vec(), ..CommitBatch::default() };
        copied.episodes += to.commit_batch(of(batch), at).await?.written;
    }
    let (theirs, ours) = (from.list_revisions().await?, group_histories(to.list_revisions().await?));
    let of_theirs = group_histories(theirs.clone());
    let differs =
        |id: &MemoryId, own: &[LessonRevision]| !of_theirs.get(id).is_some_and(|their| their.starts_with(own));
    copied.differing =
        of_theirs.keys().filter(|id| ours.get(*id).is_some_and(|own| differs(id, own))).cloned().collect();
    // In their original order, so that the copied directory is identical.
    let is_new = |revision: &LessonRevision| {
        let id = &revision.memory.id;
        let known = ours.get(id).map_or(0, Vec::len);
        !copied.differing.contains(id) && revision.version > u64::try_from(known).unwrap_or(u64::MAX)
    };
    let new: Vec<_> = theirs.iter().filter(|revision| is_new(revision)).map(|one| one.memory.clone()).collect();
    copied.known += theirs.len() - new.len();
    for memories in new.chunks(AT_ONCE) {
        let batch = CommitBatch { memories: memories.to_vec(), ..CommitBatch::default() };
        copied.versions += to.commit_batch(of(batch), at).await?.written;
    }
    let differing: BTreeSet<&MemoryId> = copied.differing.iter().collect();
    let facts: Vec<Fact> = from.list_facts(&FactFilter::default()).await?;
    let facts: Vec<Fact> = facts.into_iter().filter(|fact| !differing.contains(fact.memory_id())).collect();
    for facts in facts.chunks(AT_ONCE) {
        let receipt = to.commit_batch(of(CommitBatch { facts: facts.to_vec(), ..CommitBatch::default() }), at).await?;
        copied.facts += receipt.written;
        copied.known += receipt.known;
    }
    Ok(copied)
}

/// Describes the differences between two memories; the list is empty if they are equal.
pub async fn compare_memories(
    ours: &dyn MemoryService,
    theirs: &dyn MemoryService,
) -> Result<Vec<String>, MemoryError> {
    let mut differences = Vec::new();
    let by_id = |episodes: Vec<Episode>| -> BTreeMap<EpisodeId, Episode> {
        episodes.into_iter().map(|episode| (episode.id.clone(), episode)).collect()
    };
    let all = EpisodeFilter::default();
    push_differences(
        &mut differences,
        "run",
        &by_id(ours.list_episodes(&all).await?),
        &by_id(theirs.list_episodes(&all).await?),
    );
    let (own, other) = (group_histories(ours.list_revisions().await?), group_histories(theirs.list_revisions().await?));
    push_differences(&mut differences, "lesson", &own, &other);
    let by_key = |facts: Vec<Fact>| -> BTreeMap<String, Fact> {
        facts.into_iter().map(|fact| (fact.key().as_str().to_owned(), fact)).collect()
    };
    let all = FactFilter::default();
    push_differences(
        &mut differences,
        "fact",
        &by_key(ours.list_facts(&all).await?),
        &by_key(theirs.list_facts(&all).await?),
    );
    Ok(differences)
}

fn push_differences<K: Ord + std::fmt::Display, V: PartialEq>(
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

/// Groups revisions by lesson, the oldest first.
fn group_histories(revisions: Vec<LessonRevision>) -> BTreeMap<MemoryId, Vec<LessonRevision>> {
    let mut histories: BTreeMap<MemoryId, Vec<LessonRevision>> = BTreeMap::new();
    for revision in revisions {
        histories.entry(revision.memory.id.clone()).or_default().push(revision);
    }
    histories
}
