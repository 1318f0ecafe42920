//! Runs, their logs around a quotation, and the queue of those that wait.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::routing::get;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{EpisodeQuestion, Jobs, Steps};
use crate::domain::{Episode, EpisodeId, SessionId};
use crate::serve::Served;
use crate::serve::endpoint::Endpoint;
use crate::serve::extract::{Answer, Asked, within};
use crate::serve::problem::Problem;

/// The most that one answer lists.
const MAX_LISTED: u32 = 5_000;

/// The most steps on either side of one that is asked for.
const MAX_AROUND: u32 = 20;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/episodes", "Runs that lessons were learned from, the last first", get(list))
            .asks::<EpisodesQuery>()
            .answers::<Vec<Episode>>(200, "Runs"),
        Endpoint::new(Method::GET, "/v1/episodes/{id}", "One run", get(show)).answers::<Episode>(200, "The run"),
        Endpoint::new(Method::GET, "/v1/episodes/{id}/steps", "The log of a run around one step", get(steps))
            .asks::<StepsQuery>()
            .answers::<Steps>(200, "Steps, without secrets"),
        Endpoint::new(Method::GET, "/v1/jobs", "What waits to be reflected on", get(jobs))
            .answers::<Jobs>(200, "Jobs, those that are done among them"),
    ]
}

/// Which runs are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EpisodesQuery {
    /// Only of this session.
    session: Option<String>,
    /// Only on this task.
    task: Option<String>,
    /// Only those that ended in the last so many days.
    #[schemars(range(min = 0, max = 36_500))]
    days: Option<u32>,
    /// At most this many.
    #[schemars(range(min = 1, max = 5_000))]
    limit: Option<u32>,
    /// Leave out so many first.
    #[schemars(range(min = 0, max = 1_000_000))]
    offset: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StepsQuery {
    /// Which step, from 1.
    #[schemars(range(min = 1, max = 4_000_000_000_u32))]
    step: u32,
    /// So many before and behind it; 3 otherwise.
    #[schemars(range(min = 0, max = 20))]
    around: Option<u32>,
    /// Of this trajectory alone.
    trajectory: Option<String>,
}

fn named(id: &str) -> Result<EpisodeId, Problem> {
    EpisodeId::parse(id).map_err(|invalid| Problem::new(StatusCode::NOT_FOUND, invalid.to_string()))
}

async fn list(
    State(served): State<Arc<Served>>,
    Asked(query): Asked<EpisodesQuery>,
) -> Result<Answer<Vec<Episode>>, Problem> {
    within("days", query.days, 0..=36_500)?;
    within("limit", query.limit, 1..=MAX_LISTED)?;
    within("offset", query.offset, 0..=1_000_000)?;
    let session = query.session.as_deref().map(SessionId::parse).transpose();
    let session = session.map_err(|invalid| Problem::question(invalid.to_string()))?;
    let asked = EpisodeQuestion { session, task: query.task, days: query.days };
    let episodes = served.desk.episodes(&asked, served.now()).await?;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let (limit, offset) = (query.limit.unwrap_or(MAX_LISTED), query.offset.unwrap_or_default());
    Ok(Answer(episodes.into_iter().skip(count(offset)).take(count(limit)).collect()))
}

async fn show(State(served): State<Arc<Served>>, Path(id): Path<String>) -> Result<Answer<Episode>, Problem> {
    Ok(Answer(served.desk.episode(&named(&id)?).await?))
}

async fn steps(
    State(served): State<Arc<Served>>,
    Path(id): Path<String>,
    Asked(query): Asked<StepsQuery>,
) -> Result<Answer<Steps>, Problem> {
    within("step", Some(query.step), 1..=u32::MAX)?;
    within("around", query.around, 0..=MAX_AROUND)?;
    let around = query.around.unwrap_or(3);
    Ok(Answer(served.desk.steps(&named(&id)?, query.trajectory.as_deref(), query.step, around).await?))
}

async fn jobs(State(served): State<Arc<Served>>) -> Result<Answer<Jobs>, Problem> {
    let now = served.now();
    Ok(Answer(served.desk.jobs(now).await?))
}
