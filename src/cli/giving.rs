//! Lessons for a prompt, as the configuration and whoever asks want them.

use std::collections::BTreeMap;

use anyhow::Result;

use super::console::Console;
use super::failure::Failure;
use super::project_look::ProjectLook;
use super::reply::{Level, method};
use super::session::Session;
use crate::domain::{MemoryId, MemoryQuery, RunId};
use crate::model::embed::{Cached, LocalEmbedder};
use crate::recall::{Caps, Frame, Point, Profile, Reach, Style};
use crate::service::{Block, Giving, cosines};

/// Who asks for what; what is not said the configuration says.
pub(super) struct Asked<'a> {
    pub(super) query: MemoryQuery,
    /// Where in the run. Without one whatever fits the question may come.
    pub(super) point: Option<Point>,
    pub(super) style: Style,
    pub(super) role: Option<&'a str>,
    pub(super) profile: Option<Profile>,
    pub(super) items: Option<usize>,
    pub(super) tokens: Option<usize>,
    pub(super) characters: Option<usize>,
    pub(super) run: Option<&'a RunId>,
    pub(super) by_meaning: bool,
}

/// What was found, and how.
pub(super) struct Found {
    pub(super) block: Block,
    pub(super) level: Level,
}

/// Finds lessons and fits them into a prompt.
pub(super) async fn give(session: &Session, asked: Asked<'_>, console: &mut Console) -> Result<Found> {
    let recall = &session.config().recall;
    let rule = asked.point.as_ref().map(|point| *recall.point_rules().of(point));
    let budget = recall.token_budget();
    let caps = Caps {
        items: asked
            .items
            .or(asked.query.max_results)
            .or(rule.map(|rule| rule.max_items))
            .unwrap_or(recall.ranking().max_results),
        tokens: asked.tokens.unwrap_or_else(|| budget.tokens(asked.role, asked.query.kind.as_ref())),
        characters: asked.characters.unwrap_or(usize::MAX),
        preference_places: budget.preference_places,
        min_space: budget.min_space,
    };
    let mut query = MemoryQuery { max_results: Some(caps.items), ..asked.query };
    query.cosines = meaning(session, &query, asked.by_meaning, console).await?;
    let has_meaning = !query.cosines.is_empty();
    let giving = Giving {
        ranking: recall.ranking(),
        profile: asked.profile.unwrap_or(recall.profile),
        profile_rules: session.config().profile_rules(),
        budget,
        reach: rule.map_or(Reach::Any, |rule| rule.reach),
        holdout: recall.holdout,
        seed: recall.seed,
    };
    let project = std::sync::Mutex::new(ProjectLook::new(&session.project().root));
    let look = |anchor: &_| match project.lock() {
        Ok(project) => project.at(anchor),
        Err(_) => crate::recall::Presence::Unknown,
    };
    let choice = giving.choose(&session.memory, &query, asked.run, &look, session.now).await?;
    let block = giving.fit(choice, &Frame::new(asked.style, asked.role), &caps);
    let level = if has_meaning { Level::Meaning } else { Level::of(block.method) };
    tracing::info!(
        given = block.lessons.len(),
        dropped = block.dropped,
        level = u8::from(level),
        method = method(block.method),
        "recalled"
    );
    Ok(Found { block, level })
}

/// How close lessons are in meaning, where that is wanted. Where it cannot be told, words have to do.
async fn meaning(
    session: &Session,
    query: &MemoryQuery,
    by_meaning: bool,
    console: &mut Console,
) -> Result<BTreeMap<MemoryId, f64>> {
    let config = session.config();
    let Some(text) = query.text.as_deref().filter(|text| !text.trim().is_empty()) else { return Ok(BTreeMap::new()) };
    let folder = config.embeddings.path(session.project().home.as_deref());
    let folder = match folder {
        Some(folder) if by_meaning || config.recall.by_meaning => folder,
        None if by_meaning => {
            let hint = "set `embeddings.dir` to the folder of a sentence model";
            return Err(Failure::user("there is no model to tell meanings by").with_hint(hint).into());
        }
        _ => return Ok(BTreeMap::new()),
    };
    let cache = session.memory_dir().join("index").join("vectors");
    let embedder = Cached::new(LocalEmbedder::new(&folder)).with_file(&cache);
    match cosines(&session.memory, &embedder, text).await {
        Ok(cosines) => Ok(cosines),
        Err(error) => {
            console.warn(&format!("lessons are found by their words alone: {error}"));
            Ok(BTreeMap::new())
        }
    }
}
