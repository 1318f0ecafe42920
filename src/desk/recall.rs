//! Lessons for a prompt, as the configuration and whoever asks want them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::look::ProjectLook;
use super::reply::{Level, method};
use super::{Desk, Refusal};
use crate::domain::{MemoryId, MemoryQuery, RunId, Timestamp};
use crate::recall::{Caps, Frame, Point, Presence, Profile, Reach, Style};
use crate::service::{Block, Giving, cosines};

/// Who asks for what; what is not said the configuration says.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What it is about.
    pub query: MemoryQuery,
    /// Where in the run. Without one whatever fits the question may come.
    pub point: Option<Point>,
    /// How the block is written.
    pub style: Style,
    /// By what lessons are put in order.
    pub profile: Option<Profile>,
    /// At most this many.
    pub items: Option<usize>,
    /// At most this many tokens, heading and all.
    pub tokens: Option<usize>,
    /// At most this many characters.
    pub characters: Option<usize>,
    /// The run that is to get them; now and then a lesson is held back from it.
    pub run: Option<RunId>,
    /// Whether lessons must be found by their meaning as well.
    pub by_meaning: bool,
}

impl Asked {
    /// A question and nothing else.
    pub fn about(query: MemoryQuery) -> Self {
        Self {
            query,
            point: None,
            style: Style::ProjectLessons,
            profile: None,
            items: None,
            tokens: None,
            characters: None,
            run: None,
            by_meaning: false,
        }
    }
}

/// What was found, and how.
#[derive(Debug, Clone)]
pub struct Found {
    /// The lessons, and the block that a prompt gets.
    pub block: Block,
    /// How they were found.
    pub level: Level,
    /// Why they were not found by their meaning, where that was wanted.
    pub unmeasured: Option<String>,
}

impl Desk {
    /// Finds lessons and fits them into a prompt. Nothing is noted of it: see [`note`](Self::note).
    pub async fn recall(&self, asked: Asked, now: Timestamp) -> Result<Found, Refusal> {
        let recall = &self.config().recall;
        let rule = asked.point.as_ref().map(|point| *recall.point_rules().of(point));
        let budget = recall.token_budget();
        let role = asked.query.facets.role.clone();
        let caps = Caps {
            items: asked
                .items
                .or(asked.query.max_results)
                .or(rule.map(|rule| rule.max_items))
                .unwrap_or(recall.ranking().max_results),
            tokens: asked.tokens.unwrap_or_else(|| budget.tokens(role.as_deref(), asked.query.kind.as_ref())),
            characters: asked.characters.unwrap_or(usize::MAX),
            preference_places: budget.preference_places,
            min_space: budget.min_space,
        };
        let mut query = MemoryQuery { max_results: Some(caps.items), ..asked.query };
        let unmeasured = match self.meaning(&query, asked.by_meaning).await? {
            Ok(cosines) => {
                query.cosines = cosines;
                None
            }
            Err(why) => Some(why),
        };
        let has_meaning = !query.cosines.is_empty();
        let giving = Giving {
            ranking: recall.ranking(),
            profile: asked.profile.unwrap_or(recall.profile),
            profile_rules: self.config().profile_rules(),
            budget,
            reach: rule.map_or(Reach::Any, |rule| rule.reach),
            holdout: recall.holdout,
            seed: recall.seed,
        };
        let project = Mutex::new(ProjectLook::new(&self.project().root));
        let look = |anchor: &_| match project.lock() {
            Ok(project) => project.at(anchor),
            Err(_) => Presence::Unknown,
        };
        let choice = giving.choose(&*self.memory, &query, asked.run.as_ref(), &look, now).await?;
        let block = giving.fit(choice, &Frame::new(asked.style, role.as_deref()), &caps);
        let level = if has_meaning { Level::Meaning } else { Level::of(block.method) };
        tracing::info!(
            given = block.lessons.len(),
            dropped = block.dropped,
            level = u8::from(level),
            method = method(block.method),
            "recalled"
        );
        Ok(Found { block, level, unmeasured })
    }

    /// Notes that a run was given these lessons. It comes after they are out: a run that did not get them was not
    /// exposed to them.
    pub async fn note(&self, found: &Found, run: &RunId, point: Option<&Point>, now: Timestamp) -> Result<(), Refusal> {
        let point = point.map_or(Point::Orchestrator.as_str(), Point::as_str);
        Ok(found.block.note(&*self.memory, run, point, now).await?)
    }

    /// How close lessons are in meaning, where that is wanted. Where it cannot be told, words have to do, and the
    /// reason comes back.
    async fn meaning(
        &self,
        query: &MemoryQuery,
        is_demanded: bool,
    ) -> Result<Result<BTreeMap<MemoryId, f64>, String>, Refusal> {
        let Some(text) = query.text.as_deref().filter(|text| !text.trim().is_empty()) else {
            return Ok(Ok(BTreeMap::new()));
        };
        let embedder = match self.embedder() {
            Some(embedder) if is_demanded || self.config().recall.by_meaning => embedder,
            None if is_demanded => {
                let hint = "set `embeddings.dir` to the folder of a sentence model";
                return Err(Refusal::impossible("there is no model to tell meanings by", hint));
            }
            _ => return Ok(Ok(BTreeMap::new())),
        };
        Ok(cosines(&*self.memory, embedder.as_ref(), text).await.map_err(|error| error.to_string()))
    }
}
