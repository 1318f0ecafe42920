//! What a lesson rests on, where it was seen and given, and what came of that.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;

use super::effect::Measured;
use super::{Desk, Refusal};
use crate::domain::{
    Alias, Effect, Episode, EpisodeId, EpisodeStatus, EvidenceLevel, Exposure, Fact, FeedbackVerdict, MemoryId,
    MemoryState, Merge, Quote, RunId, SessionId, Timestamp,
};
use crate::memory::{EpisodeFilter, FactFilter, Lesson, LessonName, Which};

/// Everything that is known about a lesson besides what it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grounds {
    /// The lesson itself.
    pub lesson: Lesson,
    /// The words that it rests on.
    pub quotes: Vec<Quote>,
    /// The runs that showed it, the last first.
    pub seen: Vec<Seen>,
    /// What it took in.
    pub merged: Vec<Merged>,
    /// Lessons that it is tied to.
    pub related: Vec<Related>,
    /// The runs that it was chosen for, the last first.
    pub given: Vec<Given>,
    /// What was said of it, the last first.
    pub feedback: Vec<Judged>,
    /// Whether it helps.
    pub effect: Measured,
}

/// A run that showed the lesson.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// When.
    pub at: Timestamp,
    /// Which run.
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
pub struct Other {
    /// Which.
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
pub struct Merged {
    /// When.
    pub at: Timestamp,
    /// The other lesson.
    #[serde(flatten)]
    pub absorbed: Other,
}

/// A lesson that this one is tied to, and how.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// How: `replaces`, `contradicts` and so on.
    pub relation: String,
    /// The other lesson.
    #[serde(flatten)]
    pub other: Other,
}

/// A run that the lesson was chosen for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    /// When.
    pub at: Timestamp,
    /// Which run.
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
pub struct Judged {
    /// When.
    pub at: Timestamp,
    /// Which run.
    pub episode: EpisodeId,
    /// Its session, where the run is known.
    pub session: Option<SessionId>,
    /// How it was judged.
    pub verdict: FeedbackVerdict,
    /// How much that counts.
    pub weight: f64,
    /// By whom.
    pub role: Option<String>,
    /// How well it is proved.
    pub level: EvidenceLevel,
    /// Whether it had held before.
    pub regression: bool,
}

impl Desk {
    /// Why a lesson is believed.
    pub async fn why(&self, name: &LessonName) -> Result<Grounds, Refusal> {
        let lesson = self.lesson(name).await?;
        let id = lesson.memory.id.clone();
        let facts = self.memory.facts(&FactFilter { memory: Some(id.clone()), run: None }).await?;
        let episodes = self.memory.episodes(&EpisodeFilter::default()).await?;
        let mut others = self.memory.lessons(Which::All).await?;
        others.retain(|other| self.sees(&other.memory));
        let mut grounds = Grounds {
            quotes: lesson.memory.evidence.quotes.clone(),
            merged: merged(&lesson),
            related: related(&lesson, &others),
            effect: Measured::of(&id, &facts),
            lesson,
            seen: Vec::new(),
            given: Vec::new(),
            feedback: Vec::new(),
        };
        facts.iter().for_each(|fact| grounds.learn(fact, &facts, &episodes));
        grounds.seen.sort_by_key(|seen| Reverse(seen.at));
        grounds.given.sort_by_key(|given| Reverse(given.at));
        grounds.feedback.sort_by_key(|judged| Reverse(judged.at));
        Ok(grounds)
    }
}

impl Grounds {
    fn learn(&mut self, fact: &Fact, all: &[Fact], episodes: &[Episode]) {
        let known = |id: &EpisodeId| episodes.iter().find(|episode| episode.id == *id);
        match fact {
            Fact::Sighting { episode, at, level, quotes, .. } => {
                let run = known(episode);
                self.seen.push(Seen {
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
                self.given.push(Given {
                    at: *at,
                    run: run.clone(),
                    point: point.clone(),
                    rank: *rank,
                    exposure: exposure.clone(),
                    effect: effects.min().cloned(),
                });
            }
            Fact::Feedback { episode, verdict, weight, role, level, at, extra, .. } => self.feedback.push(Judged {
                at: *at,
                episode: episode.clone(),
                session: known(episode).map(|run| run.session_id.clone()),
                verdict: verdict.clone(),
                weight: *weight,
                role: role.clone(),
                level: level.clone(),
                regression: extra.contains_key("regression"),
            }),
            Fact::Effect { .. } => {}
        }
    }
}

fn merged(lesson: &Lesson) -> Vec<Merged> {
    let of = |merge: &Merge| {
        let absorbed = &merge.absorbed;
        let (alias, state) = (absorbed.alias.clone(), absorbed.state.clone());
        let absorbed = Other { id: absorbed.id.clone(), alias, summary: Some(absorbed.summary.clone()), state };
        Merged { at: merge.at, absorbed }
    };
    lesson.memory.merges.iter().map(of).collect()
}

/// The lessons that it is tied to: what it says itself, and what others say of it.
fn related(lesson: &Lesson, others: &[Lesson]) -> Vec<Related> {
    let memory = &lesson.memory;
    let brief = |id: &MemoryId| {
        let other = others.iter().find(|other| other.memory.id == *id).map(|other| &other.memory);
        Other {
            id: id.clone(),
            alias: other.and_then(|other| other.alias.clone()),
            summary: other.map(|other| other.summary.clone()),
            state: other.and_then(|other| other.state.clone()),
        }
    };
    let mut related: Vec<Related> = Vec::new();
    let mut tie = |relation: &str, id: &MemoryId| {
        if !related.iter().any(|known| known.other.id == *id && known.relation == relation) {
            related.push(Related { relation: relation.to_owned(), other: brief(id) });
        }
    };
    memory.superseded_by.iter().for_each(|id| tie("replaced by", id));
    for other in others.iter().filter(|other| other.memory.superseded_by.as_ref() == Some(&memory.id)) {
        tie("replaces", &other.memory.id);
    }
    for link in &memory.links {
        tie(link.relation.as_str(), &link.to);
    }
    // What is said to be replaced was refined; once is enough.
    let replaced: Vec<MemoryId> =
        related.iter().filter(|one| one.relation == "replaces").map(|one| one.other.id.clone()).collect();
    related.retain(|one| one.relation != "refines" || !replaced.contains(&one.other.id));
    related
}
