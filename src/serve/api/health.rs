//! Whether the server is alive, and how much there is.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::routing::get;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::desk::{Condition, Spend, Stats};
use crate::serve::Served;
use crate::serve::endpoint::Endpoint;
use crate::serve::extract::{Answer, Asked, within};
use crate::serve::problem::Problem;

const MAX_DAYS: u32 = 366;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/health", "Whether the server is alive", get(health))
            .answers::<Health>(200, "It is"),
        Endpoint::new(Method::GET, "/v1/stats", "How much there is of what", get(stats))
            .answers::<Overview>(200, "Counts"),
        Endpoint::new(Method::GET, "/v1/status", "How large and how healthy the memory is", get(status))
            .answers::<Condition>(200, "The memory and its queue"),
        Endpoint::new(Method::GET, "/v1/spend", "What models cost, day by day", get(spend))
            .asks::<SpendQuery>()
            .answers::<Spend>(200, "The last days, today included, the oldest first"),
    ]
}

/// Whether the server is alive.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    /// `ok`.
    status: &'static str,
    /// Archivist's version.
    version: &'static str,
    /// Who may change anything: `open`, `token` or `closed`.
    writes: &'static str,
}

/// How much there is of what.
#[derive(Debug, Serialize, JsonSchema)]
struct Overview {
    /// The name of the project's folder.
    project: String,
    #[serde(flatten)]
    stats: Stats,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpendQuery {
    /// How many days.
    #[schemars(range(min = 1, max = 366))]
    days: Option<u32>,
}

async fn health(State(served): State<Arc<Served>>) -> Answer<Health> {
    let writes = served.access.writes().as_str();
    Answer(Health { status: "ok", version: env!("CARGO_PKG_VERSION"), writes })
}

async fn stats(State(served): State<Arc<Served>>) -> Result<Answer<Overview>, Problem> {
    let stats = served.desk.stats(served.now()).await?;
    let root = &served.desk.project().root;
    let project = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Answer(Overview { project, stats }))
}

async fn status(State(served): State<Arc<Served>>) -> Result<Answer<Condition>, Problem> {
    Ok(Answer(served.desk.condition(served.now()).await?))
}

async fn spend(State(served): State<Arc<Served>>, Asked(query): Asked<SpendQuery>) -> Result<Answer<Spend>, Problem> {
    within("days", query.days, 1..=MAX_DAYS)?;
    let now = served.now();
    Ok(Answer(served.blocking(move |served| served.desk.spend(query.days.unwrap_or(30), now)).await??))
}
