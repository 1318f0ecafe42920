//! Finds episodes of other sessions with the same task, failures or tags.

use crate::domain::Episode;

#[cfg(test)]
#[path = "related_episodes_tests.rs"]
mod tests;

/// The number of related episodes that are returned.
const MAX_RELATED: usize = 10;

/// The number of shared tags that make two episodes related.
const SHARED_TAGS: usize = 3;

/// Returns episodes of the same task, with the same failure or with several shared tags; closest first, then newest.
pub fn find_related_episodes(episode: &Episode, others: Vec<Episode>) -> Vec<Episode> {
    let mut close: Vec<(usize, Episode)> = others
        .into_iter()
        .filter(|other| other.id != episode.id && other.session_id != episode.session_id)
        .map(|other| (rate_closeness(episode, &other), other))
        .filter(|(closeness, _)| *closeness > 0)
        .collect();
    close.sort_by(|(a, left), (b, right)| {
        b.cmp(a).then_with(|| right.finished_at.cmp(&left.finished_at)).then_with(|| left.id.cmp(&right.id))
    });
    close.into_iter().take(MAX_RELATED).map(|(_, other)| other).collect()
}

fn rate_closeness(episode: &Episode, other: &Episode) -> usize {
    let is_same_task = episode.task_id.is_some() && episode.task_id == other.task_id;
    let families = episode.error_families.iter().filter(|family| other.error_families.contains(family)).count();
    let tags = episode.tags.iter().filter(|tag| other.tags.contains(tag)).count();
    let by_tags = if tags >= SHARED_TAGS { 1 } else { 0 };
    usize::from(is_same_task) * 4 + families.min(3) * 3 + by_tags
}
