//! Settings of the HTTP server and of telemetry.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_settings::user_path;

/// The time that running requests get after the server was asked to stop.
const PARTING: Duration = Duration::from_secs(10);

/// The time for the head of a request, which is short: a slower client would block a connection that others could use.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// How the memory is served over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServeSettings {
    /// Where the server listens: an address and a port. Off this machine it gives nothing without a token.
    #[schemars(extend("x-set-by" = "user"))]
    pub address: String,
    /// Further names that the server goes by, separated by commas.
    #[schemars(extend("x-set-by" = "user"))]
    pub names: String,
    /// A file that holds the token, absolute or below `~/`; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub token_file: String,
    /// The environment variable that holds the token, where no file does.
    #[schemars(extend("x-set-by" = "user"))]
    pub token_variable: String,
    /// Who may change anything.
    #[schemars(extend("x-set-by" = "user"))]
    pub writes: WriteAccessChoice,
    /// Requests that one address may make in a second, twice as many at once; 0: as many as it likes.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-set-by" = "user"))]
    pub requests_per_second: u32,
    /// Connections at once.
    #[schemars(range(min = 1, max = 100_000), extend("x-set-by" = "user"))]
    pub max_connections: u32,
    /// Listeners to events at once.
    #[schemars(range(min = 1, max = 100_000), extend("x-set-by" = "user"))]
    pub max_listeners: u32,
    /// The longest body of a request.
    #[schemars(range(min = 1_024, max = 1_073_741_824_u64), extend("x-set-by" = "user"))]
    pub max_body_bytes: u64,
    /// How many seconds a request may take.
    #[schemars(range(min = 1, max = 3_600), extend("x-set-by" = "user"))]
    pub timeout_seconds: u64,
}

/// Who may change anything over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WritesChoice")]
pub enum WriteAccessChoice {
    /// Whoever may read.
    Open,
    /// Whoever has the token.
    Token,
    /// Nobody may write.
    Closed,
}

impl ServeSettings {
    /// Returns the path of the file that holds the token, if there is one.
    pub fn token_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.token_file, home)
    }

    /// Returns the additional host names of the server.
    pub fn other_names(&self) -> Vec<String> {
        let names = self.names.split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Returns the time limits of a request, of its head, and of the last requests after a stop.
    pub fn request_timeouts(&self) -> (Duration, Duration, Duration) {
        (Duration::from_secs(self.timeout_seconds), HEAD_PATIENCE, PARTING)
    }
}

/// What is told of the work to an observer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TelemetrySettings {
    /// The address of an OpenTelemetry collector (OTLP over HTTP), such as "http://localhost:4318"; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub otlp: String,
}
