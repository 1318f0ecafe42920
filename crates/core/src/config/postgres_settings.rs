//! Settings of a PostgreSQL server that many machines share.

use std::path::{Path, PathBuf};
#[cfg(feature = "postgres")]
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProcessEnvironment;
use super::model_settings::user_path;
#[cfg(feature = "postgres")]
use super::settings::MemorySettings;
#[cfg(feature = "postgres")]
use crate::memory::BankTenancy;
#[cfg(feature = "postgres")]
use crate::memory::postgres::{GLOBAL, PostgresBankSettings as BankSettings, PostgresServerSettings};

/// How a PostgreSQL server is reached. None of it may be set by a project: a repository does not decide where lessons go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostgresSettings {
    /// Where the server is, such as "postgres://user@host/database"; several hosts may be named; empty: see `urlVariable`.
    #[schemars(extend("x-set-by" = "user", "writeOnly" = true))]
    pub url: String,
    /// The environment variable that holds the address, where `url` is empty.
    #[schemars(extend("x-set-by" = "user"))]
    pub url_variable: String,
    /// Where a standby is that is asked for lessons, whose answers may be a moment old; empty: the server itself is asked.
    #[schemars(extend("x-set-by" = "user", "writeOnly" = true))]
    pub read_url: String,
    /// A file of certificates that are trusted beside the system's, absolute or below `~/`; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub ca_file: String,
    /// The most connections of one process.
    #[schemars(range(min = 1, max = 1000), extend("x-set-by" = "user"))]
    pub connections: u32,
    /// The most seconds that one statement may take.
    #[schemars(range(min = 1, max = 3600), extend("x-set-by" = "user"))]
    pub statement_timeout_seconds: u64,
    /// For how many seconds something is tried again while the server restarts or another takes its place.
    #[schemars(range(min = 0, max = 3600), extend("x-set-by" = "user"))]
    pub patience_seconds: u64,
}

impl PostgresSettings {
    /// Returns the URL of the server from the setting or from its variable, or `None` if neither has one.
    pub fn server_url(&self, environment: &ProcessEnvironment) -> Option<String> {
        let set = Some(self.url.clone()).filter(|url| !url.is_empty());
        set.or_else(|| {
            environment.environment_variable(&self.url_variable).map(str::to_owned).filter(|url| !url.is_empty())
        })
    }

    /// Returns the path of the certificate file, if there is one.
    pub fn ca_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.ca_file, home)
    }

    /// Returns the settings of the connection to the server. A given `patience` replaces the configured retry time.
    #[cfg(feature = "postgres")]
    pub fn server_settings(
        &self,
        environment: &ProcessEnvironment,
        patience: Option<Duration>,
    ) -> PostgresServerSettings {
        PostgresServerSettings {
            url: self.server_url(environment).unwrap_or_default(),
            read_url: Some(self.read_url.clone()).filter(|url| !url.is_empty()),
            ca_file: self.ca_path(environment.home.as_deref()),
            connections: usize::try_from(self.connections).unwrap_or(usize::MAX),
            statement_timeout: Duration::from_secs(self.statement_timeout_seconds),
            patience: patience.unwrap_or(Duration::from_secs(self.patience_seconds)),
        }
    }
}

#[cfg(feature = "postgres")]
impl MemorySettings {
    /// Returns the settings of the bank of the project with this key.
    pub fn bank_settings(&self, key: String) -> BankSettings {
        BankSettings {
            bank: key,
            tenancy: BankTenancy::Own,
            global: (!self.global_dir.is_empty()).then(|| GLOBAL.to_owned()),
            max_record_bytes: usize::try_from(self.max_line_bytes).unwrap_or(usize::MAX),
        }
    }
}
