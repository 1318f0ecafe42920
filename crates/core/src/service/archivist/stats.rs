//! Counts of lessons, episodes and jobs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Archivist, EpisodeListFilter, LessonFilter, RequestError};
use crate::memory::LessonStateFilter;

/// How many of what there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Stats")]
pub struct MemoryStats {
    /// Lessons, retired ones among them.
    pub lessons: LessonCounts,
    /// Tools that lessons in use are about, the most often named first.
    pub tools: Vec<NamedCount>,
    /// Providers by the number of their lessons.
    pub providers: Vec<NamedCount>,
    /// Tools and providers together; what a lesson does not name is null.
    pub pairs: Vec<PairCount>,
    /// The number of episodes.
    pub episodes: EpisodeCounts,
    /// Jobs by where they lie.
    pub jobs: BTreeMap<String, usize>,
    /// Whether a worker runs.
    pub is_worked: bool,
}

/// The number of lessons, by state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LessonCounts {
    /// All of them.
    pub total: usize,
    /// By how they stand.
    pub by_state: BTreeMap<String, usize>,
    /// By what sort of statement they are.
    pub by_kind: BTreeMap<String, usize>,
    /// By what they are about.
    pub by_category: BTreeMap<String, usize>,
}

/// The number of episodes, by status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpisodeCounts {
    /// All of them.
    pub total: usize,
    /// By how they ended.
    pub by_status: BTreeMap<String, usize>,
}

/// How many lessons are about something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedCount {
    /// The name that is counted.
    pub name: String,
    /// The number of lessons.
    pub lessons: usize,
}

/// How many lessons are about a tool under a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PairCount {
    /// The name of the tool.
    pub tool: Option<String>,
    /// The name of the provider.
    pub provider: Option<String>,
    /// The number of lessons.
    pub lessons: usize,
}

impl Archivist {
    /// Counts lessons, episodes and jobs.
    pub async fn collect_stats(&self) -> Result<MemoryStats, RequestError> {
        let mut lessons = LessonCounts::default();
        let mut pairs: BTreeMap<(Option<String>, Option<String>), usize> = BTreeMap::new();
        for lesson in self.list_lessons(&LessonFilter::from_selection(LessonStateFilter::All)).await? {
            let memory = lesson.memory;
            let state = memory.state.as_ref().map_or("unknown", |state| state.as_str());
            lessons.total += 1;
            *lessons.by_state.entry(state.to_owned()).or_default() += 1;
            *lessons.by_kind.entry(memory.kind.to_string()).or_default() += 1;
            *lessons.by_category.entry(memory.category.to_string()).or_default() += 1;
            let is_in_use = LessonStateFilter::Live.includes_state(memory.availability());
            if is_in_use && (memory.facets.tool.is_some() || memory.facets.provider.is_some()) {
                *pairs.entry((memory.facets.tool, memory.facets.provider)).or_default() += 1;
            }
        }
        let mut episodes = EpisodeCounts::default();
        for episode in self.list_episodes(&EpisodeListFilter::default()).await? {
            episodes.total += 1;
            *episodes.by_status.entry(episode.status.to_string()).or_default() += 1;
        }
        let queue = self.queue_status().await?;
        let mut jobs: BTreeMap<String, usize> = BTreeMap::new();
        for job in &queue.jobs {
            *jobs.entry(job.place.as_str().to_owned()).or_default() += 1;
        }
        Ok(MemoryStats {
            tools: count_by_name(pairs.iter().map(|((tool, _), lessons)| (tool.as_ref(), *lessons))),
            providers: count_by_name(pairs.iter().map(|((_, provider), lessons)| (provider.as_ref(), *lessons))),
            pairs: pairs.into_iter().map(|((tool, provider), lessons)| PairCount { tool, provider, lessons }).collect(),
            lessons,
            episodes,
            jobs,
            is_worked: queue.is_worked,
        })
    }
}

fn count_by_name<'n>(counts: impl Iterator<Item = (Option<&'n String>, usize)>) -> Vec<NamedCount> {
    let mut sums: BTreeMap<&String, usize> = BTreeMap::new();
    for (name, lessons) in counts {
        if let Some(name) = name {
            *sums.entry(name).or_default() += lessons;
        }
    }
    let mut named: Vec<NamedCount> =
        sums.into_iter().map(|(name, lessons)| NamedCount { name: name.clone(), lessons }).collect();
    named.sort_by(|one, other| other.lessons.cmp(&one.lessons).then_with(|| one.name.cmp(&other.name)));
    named
}
