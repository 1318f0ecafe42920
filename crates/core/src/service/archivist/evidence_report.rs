//! The evidence of a lesson: its quotes, its sightings, its injections and their effects.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;

use super::lesson_effect::MeasuredEffect;
use super::{Archivist, RequestError};
use crate::domain::{
    Alias, Effect, Episode, EpisodeId, EpisodeStatus, EvidenceLevel, Exposure, Fact, FeedbackVerdict, LessonMerge,
    MemoryId, MemoryState, Quote, RunId, SessionId, Timestamp,
};
use crate::memory::{EpisodeFilter, FactFilter, Lesson, LessonName, LessonStateFilter};

/// Everything that is known about a lesson besides what it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Grounds")]
pub struct LessonEvidenceReport {
    /// The lesson itself.
    pub lesson: Lesson,
    /// The words that it rests on.
    pub quotes: Vec<Quote>,
    /// The runs that showed it, the last first.
    pub seen: Vec<LessonSighting>,
    /// What it took in.
    pub merged: Vec<MergedLesson>,
    /// Lessons that it is tied to.
    pub related: Vec<RelatedLesson>,
    /// The runs that it was chosen for, the last first.
    pub given: Vec<LessonInjection>,
    /// What was said of it, the last first.
    pub feedback: Vec<LessonFeedback>,
    /// Whether it helps.
    pub effect: MeasuredEffect,
}

/// A run that showed the lesson.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Seen")]
pub struct LessonSighting {
    /// The time of the sighting.
    pub at: Timestamp,
    /// The episode of the session.
    pub episode: EpisodeId,
    /// How well it is proved.
    pub level: EvidenceLevel,
    /// Its session, where the run is known.
    pub session: Option<SessionId>,
    /// How it ended.
    pub status: Option<EpisodeStatus>,
    /// In short, where that is known.
    pub summary: Option<String>,
}

/// Another lesson, in brief.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Other")]
pub struct LessonBrief {
    /// The id of the lesson.
    pub id: MemoryId,
    /// What people call it.
    pub alias: Option<Alias>,
    /// In short, where that is known.
    pub summary: Option<String>,
    /// How it stands.
    pub state: Option<MemoryState>,
}

/// A lesson that was taken in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Merged")]
pub struct MergedLesson {
    /// The time of the merge.
    pub at: Timestamp,
    /// The other lesson.
    #[serde(flatten)]
    pub absorbed: LessonBrief,
}

/// A lesson that this one is tied to, and how.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Related")]
pub struct RelatedLesson {
    /// How: `replaces`, `contradicts` and so on.
    pub relation: String,
    /// The other lesson.
    #[serde(flatten)]
    pub other: LessonBrief,
}

/// A run that the lesson was chosen for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Given")]
pub struct LessonInjection {
    /// The time of the injection.
    pub at: Timestamp,
    /// The session that got it.
    pub run: RunId,
    /// Where in the run.
    pub point: String,
    /// Its place in the list, from 1.
    pub rank: u32,
    /// Whether the run really saw it.
    pub exposure: Exposure,
    /// What became of it, as far as that is known.
    pub effect: Option<Effect>,
}

/// What somebody said of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Judged")]
pub struct LessonFeedback {
    /// The time of the feedback.
    pub at: Timestamp,
    /// The episode of the session.
    pub episode: EpisodeId,
    /// Its session, where the run is known.
    pub session: Option<SessionId>,
    /// How it was judged.
    pub verdict: FeedbackVerdict,
    /// How much that counts.
    pub weight: f64,
    /// The role that judged it.
    pub role: Option<String>,
    /// How well it is proved.
    pub level: EvidenceLevel,
    /// Whether it had held before.
    pub regression: bool,
}

impl Archivist {
    /// Collects the evidence for a lesson.
    pub async fn explain_lesson(&self, name: &LessonName) -> Result<LessonEvidenceReport, RequestError> {
        let lesson = self.get_lesson(name).await?;
        let id = lesson.memory.id.clone();
        let facts = self.memory.list_facts(&FactFilter { memory: Some(id.clone()), run: None }).await?;
        let episodes = self.memory.list_episodes(&EpisodeFilter::default()).await?;
        let mut others = self.memory.list_lessons(LessonStateFilter::All).await?;
        others.retain(|other| self.sees_lesson(&other.memory));
        let mut report = LessonEvidenceReport {
            quotes: lesson.memory.evidence.quotes.clone(),
            merged: list_merged_lessons(&lesson),
            related: list_related_lessons(&lesson, &others),
            effect: MeasuredEffect::from_facts(&id, &facts),
            lesson,
            seen: Vec::new(),
            given: Vec::new(),
            feedback: Vec::new(),
        };
        facts.iter().for_each(|fact| report.add_fact(fact, &facts, &episodes));
        report.seen.sort_by_key(|seen| Reverse(seen.at));
        report.given.sort_by_key(|given| Reverse(given.at));
        report.feedback.sort_by_key(|judged| Reverse(judged.at));
        Ok(report)
    }
}

impl LessonEvidenceReport {
    fn add_fact(&mut self, fact: &Fact, all: &[Fact], episodes: &[Episode]) {
        let known = |id: &EpisodeId| episodes.iter().find(|episode| episode.id == *id);
        match fact {
            Fact::Sighting { episode, at, level, quotes, .. } => {
                let run = known(episode);
                self.seen.push(LessonSighting {
                    at: *at,
                    episode: episode.clone(),
                    level: level.clone(),
                    session: run.map(|run| run.session_id.clone()),
                    status: run.map(|run| run.status.clone()),
                    summary: run.map(|run| run.summary.clone()),
                });
                for quote in quotes {
                    let is_same = |own: &Quote| own.text == quote.text && own.trajectory_id == quote.trajectory_id;
                    if !self.quotes.iter().any(is_same) {
                        self.quotes.push(quote.clone());
                    }
                }
            }
            Fact::Injection { run, point, rank, exposure, at, .. } => {
                let effects = all.iter().filter_map(|other| match other {
                    Fact::Effect { run: other, effect, .. } if other == run => Some(effect),
                    _ => None,
                });
                self.given.push(LessonInjection {
                    at: *at,
                    run: run.clone(),
                    point: point.clone(),
                    rank: *rank,
                    exposure: exposure.clone(),
                    effect: effects.min().cloned(),
                });
            }
            Fact::Feedback { episode, verdict, weight, role, level, at, extra, .. } => {
                self.feedback.push(LessonFeedback {
                    at: *at,
                    episode: episode.clone(),
                    session: known(episode).map(|run| run.session_id.clone()),
                    verdict: verdict.clone(),
                    weight: *weight,
                    role: role.clone(),
                    level: level.clone(),
                    regression: extra.contains_key("regression"),
                });
            }
            Fact::Effect { .. } => {}
        }
    }
}

fn list_merged_lessons(lesson: &Lesson) -> Vec<MergedLesson> {
    let of = |merge: &LessonMerge| {
        let absorbed = &merge.absorbed;
        let (alias, state) = (absorbed.alias.clone(), absorbed.state.clone());
        let absorbed = LessonBrief { id: absorbed.id.clone(), alias, summary: Some(absorbed.summary.clone()), state };
        MergedLesson { at: merge.at, absorbed }
    };
    lesson.memory.merges.iter().map(of).collect()
}

/// Lists the related lessons: those that it links to, and those that link to it.
fn list_related_lessons(lesson: &Lesson, others: &[Lesson]) -> Vec<RelatedLesson> {
    let memory = &lesson.memory;
    let brief = |id: &MemoryId| {
        let other = others.iter().find(|other| other.memory.id == *id).map(|other| &other.memory);
        LessonBrief {
            id: id.clone(),
            alias: other.and_then(|other| other.alias.clone()),
            summary: other.map(|other| other.summary.clone()),
            state: other.and_then(|other| other.state.clone()),
        }
    };
    let mut related: Vec<RelatedLesson> = Vec::new();
    let mut tie = |relation: &str, id: &MemoryId| {
        if !related.iter().any(|known| known.other.id == *id && known.relation == relation) {
            related.push(RelatedLesson { relation: relation.to_owned(), other: brief(id) });
        }
    };
    memory.superseded_by.iter().for_each(|id| tie("replaced by", id));
    for other in others.iter().filter(|other| other.memory.superseded_by.as_ref() == Some(&memory.id)) {
        tie("replaces", &other.memory.id);
    }
    for link in &memory.links {
        tie(link.relation.as_str(), &link.to);
    }
    // A lesson that was replaced was also refined; one relation is enough.
    let replaced: Vec<MemoryId> =
        related.iter().filter(|one| one.relation == "replaces").map(|one| one.other.id.clone()).collect();
    related.retain(|one| one.relation != "refines" || !replaced.contains(&one.other.id));
    related
}
