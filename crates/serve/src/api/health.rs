//! The endpoints for health, statistics, status and spending.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::routing::get;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ServerState;
use crate::endpoint::ApiEndpoint;
use crate::extractors::{JsonAnswer, QueryParams, check_range};
use crate::problem_response::HttpProblem;
use archivist_core::service::{MemoryStats, MemoryStatus, SpendReport};

const MAX_DAYS: u32 = 366;

pub(super) fn health_endpoints() -> Vec<ApiEndpoint> {
    vec![
        ApiEndpoint::new(Method::GET, "/v1/health", "Whether the server is alive", get(get_health))
            .with_json_response::<HealthReport>(200, "It is"),
        ApiEndpoint::new(Method::GET, "/v1/stats", "How much there is of what", get(get_stats))
            .with_json_response::<StatsOverview>(200, "Counts"),
        ApiEndpoint::new(Method::GET, "/v1/status", "How large and how healthy the memory is", get(get_status))
            .with_json_response::<MemoryStatus>(200, "The memory and its queue"),
        ApiEndpoint::new(Method::GET, "/v1/spend", "What models cost, day by day", get(get_spend))
            .with_query::<SpendQuery>()
            .with_json_response::<SpendReport>(200, "The last days, today included, the oldest first"),
    ]
}

/// Whether the server is alive.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct HealthReport {
    /// Always the word `ok`.
    status: &'static str,
    /// The version of Archivist.
    version: &'static str,
    /// Who may change anything: `open`, `token` or `closed`.
    writes: &'static str,
}

/// How much there is of what.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Overview")]
struct StatsOverview {
    /// The name of the project's folder.
    project: String,
    #[serde(flatten)]
    stats: MemoryStats,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpendQuery {
    /// How many days.
    #[schemars(range(min = 1, max = 366))]
    days: Option<u32>,
}

async fn get_health(State(served): State<Arc<ServerState>>) -> JsonAnswer<HealthReport> {
    let writes = served.access.write_access().as_str();
    JsonAnswer(HealthReport { status: "ok", version: env!("CARGO_PKG_VERSION"), writes })
}

async fn get_stats(State(served): State<Arc<ServerState>>) -> Result<JsonAnswer<StatsOverview>, HttpProblem> {
    let stats = served.archivist.collect_stats().await?;
    let root = &served.archivist.project().root;
    let project = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(JsonAnswer(StatsOverview { project, stats }))
}

async fn get_status(State(served): State<Arc<ServerState>>) -> Result<JsonAnswer<MemoryStatus>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.memory_status().await?))
}

async fn get_spend(
    State(served): State<Arc<ServerState>>,
    QueryParams(query): QueryParams<SpendQuery>,
) -> Result<JsonAnswer<SpendReport>, HttpProblem> {
    check_range("days", query.days, 1..=MAX_DAYS)?;
    Ok(JsonAnswer(served.run_blocking(move |served| served.archivist.report_spend(query.days.unwrap_or(30))).await??))
}
