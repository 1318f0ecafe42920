//! The endpoints for episodes, their steps, and the job queue.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::routing::get;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ServerState;
use crate::endpoint::ApiEndpoint;
use crate::extractors::{JsonAnswer, QueryParams, check_range};
use crate::problem_response::HttpProblem;
use archivist_core::domain::{Episode, EpisodeId, SessionId};
use archivist_core::service::{EpisodeListFilter, EpisodeSteps, JobQueueStatus};

/// The most episodes that one answer lists.
const MAX_LISTED: u32 = 5_000;

/// The most steps on either side of the requested one.
const MAX_AROUND: u32 = 20;

pub(super) fn episode_endpoints() -> Vec<ApiEndpoint> {
    vec![
        ApiEndpoint::new(
            Method::GET,
            "/v1/episodes",
            "Runs that lessons were learned from, the last first",
            get(list_episodes),
        )
        .with_query::<EpisodesQuery>()
        .with_json_response::<Vec<Episode>>(200, "Runs"),
        ApiEndpoint::new(Method::GET, "/v1/episodes/{id}", "One run", get(get_episode))
            .with_json_response::<Episode>(200, "The run"),
        ApiEndpoint::new(Method::GET, "/v1/episodes/{id}/steps", "The log of a run around one step", get(get_steps))
            .with_query::<StepsQuery>()
            .with_json_response::<EpisodeSteps>(200, "Steps, without secrets"),
        ApiEndpoint::new(Method::GET, "/v1/jobs", "What waits to be reflected on", get(list_jobs))
            .with_json_response::<JobQueueStatus>(200, "Jobs, those that are done among them"),
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

fn parse_episode_id(id: &str) -> Result<EpisodeId, HttpProblem> {
    EpisodeId::parse(id).map_err(|invalid| HttpProblem::new(StatusCode::NOT_FOUND, invalid.to_string()))
}

async fn list_episodes(
    State(served): State<Arc<ServerState>>,
    QueryParams(query): QueryParams<EpisodesQuery>,
) -> Result<JsonAnswer<Vec<Episode>>, HttpProblem> {
    check_range("days", query.days, 0..=36_500)?;
    check_range("limit", query.limit, 1..=MAX_LISTED)?;
    check_range("offset", query.offset, 0..=1_000_000)?;
    let session = query.session.as_deref().map(SessionId::parse).transpose();
    let session = session.map_err(|invalid| HttpProblem::bad_request(invalid.to_string()))?;
    let asked = EpisodeListFilter { session, task: query.task, days: query.days };
    let episodes = served.archivist.list_episodes(&asked).await?;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let (limit, offset) = (query.limit.unwrap_or(MAX_LISTED), query.offset.unwrap_or_default());
    Ok(JsonAnswer(episodes.into_iter().skip(count(offset)).take(count(limit)).collect()))
}

async fn get_episode(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<JsonAnswer<Episode>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.get_episode(&parse_episode_id(&id)?).await?))
}

async fn get_steps(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
    QueryParams(query): QueryParams<StepsQuery>,
) -> Result<JsonAnswer<EpisodeSteps>, HttpProblem> {
    check_range("step", Some(query.step), 1..=u32::MAX)?;
    check_range("around", query.around, 0..=MAX_AROUND)?;
    let around = query.around.unwrap_or(3);
    Ok(JsonAnswer(
        served
            .archivist
            .read_steps_around(&parse_episode_id(&id)?, query.trajectory.as_deref(), query.step, around)
            .await?,
    ))
}

async fn list_jobs(State(served): State<Arc<ServerState>>) -> Result<JsonAnswer<JobQueueStatus>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.queue_status().await?))
}
