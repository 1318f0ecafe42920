//! `archivist why`: what a lesson rests on, where it was seen and given, and what came of that.

mod page;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::console::Console;
use super::effect::Measured;
use super::failure::Exit;
use super::session::Session;
use crate::domain::{
    Alias, Effect, Episode, EpisodeId, EpisodeStatus, EvidenceLevel, Exposure, Fact, FeedbackVerdict, MemoryId,
    MemoryState, Quote, RunId, SessionId, Timestamp,
};
use crate::memory::{EpisodeFilter, FactFilter, Lesson, LessonName, MemoryService, Which};

const EXAMPLES: &str = "\
Examples:
  archivist why m-001
  archivist why m-001 --json | jq '.given[] | select(.effect == \"recurred\")'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Why {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Everything that is known about a lesson besides what it says.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Grounds {
    lesson: Lesson,
    /// The words that it rests on.
    quotes: Vec<Quote>,
    /// The runs that showed it, the last first.
    seen: Vec<Seen>,
    /// What it took in.
    merged: Vec<Merged>,
    /// Lessons that it is tied to.
    related: Vec<Related>,
    /// The runs that it was chosen for, the last first.
    given: Vec<Given>,
    /// What was said of it, the last first.
    feedback: Vec<Judged>,
    effect: Measured,
}

/// A run that showed the lesson.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    at: Timestamp,
    episode: EpisodeId,
    level: EvidenceLevel,
    session: Option<SessionId>,
    status: Option<EpisodeStatus>,
    summary: Option<String>,
}

/// Another lesson, in brief.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Other {
    id: MemoryId,
    alias: Option<Alias>,
    summary: Option<String>,
    state: Option<MemoryState>,
}

/// A lesson that was taken in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Merged {
    at: Timestamp,
    #[serde(flatten)]
    absorbed: Other,
}

/// A lesson that this one is tied to, and how.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Related {
    relation: String,
    #[serde(flatten)]
    other: Other,
}

/// A run that the lesson was chosen for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    at: Timestamp,
    run: RunId,
    point: String,
    rank: u32,
    exposure: Exposure,
    /// What became of it, as far as that is known.
    effect: Option<Effect>,
}

/// What somebody said of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Judged {
    at: Timestamp,
    episode: EpisodeId,
    session: Option<SessionId>,
    verdict: FeedbackVerdict,
    weight: f64,
    role: Option<String>,
    level: EvidenceLevel,
    regression: bool,
}

impl Why {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let lesson = session.lesson(&self.name).await?;
        let grounds = Grounds::of(lesson, session).await?;
        if self.json {
            console.json(&grounds)?;
        } else {
            page::print(&grounds, console)?;
        }
        Ok(Exit::Done)
    }
}

impl Grounds {
    async fn of(lesson: Lesson, session: &Session) -> Result<Self> {
        let id = lesson.memory.id.clone();
        let facts = session.memory.facts(&FactFilter { memory: Some(id.clone()), run: None }).await?;
        let episodes = session.memory.episodes(&EpisodeFilter::default()).await?;
        let mut others = session.memory.lessons(Which::All).await?;
        others.retain(|other| session.sees(&other.memory));
        let mut grounds = Self {
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
        grounds.seen.sort_by_key(|seen| std::cmp::Reverse(seen.at));
        grounds.given.sort_by_key(|given| std::cmp::Reverse(given.at));
        grounds.feedback.sort_by_key(|judged| std::cmp::Reverse(judged.at));
        Ok(grounds)
    }

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
    let of = |merge: &crate::domain::Merge| {
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
