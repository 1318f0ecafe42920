//! In place of telemetry, where the feature `otel` is off: a collector that is configured is refused.

use tracing_subscriber::layer::Identity;

use super::cli_error::CliError;
use archivist_core::config::TelemetrySettings;

/// The exporters of spans and metrics. There are none.
#[derive(Debug)]
pub(super) struct TelemetryExporter;

impl TelemetryExporter {
    /// Returns an error if a collector is configured.
    pub(super) fn open(settings: &TelemetrySettings) -> Result<Option<Self>, CliError> {
        if settings.otlp.trim().is_empty() {
            return Ok(None);
        }
        Err(CliError::user_error("`telemetry.otlp` is set, and this program was built without the feature `otel`")
            .with_hint("leave the setting empty, or build the program with the feature"))
    }

    pub(super) fn tracing_layer(&self) -> Identity {
        Identity::new()
    }

    pub(super) fn close(self) {}
}
