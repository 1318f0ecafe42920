//! Sends spans of reflections and metrics of the pipeline to an OpenTelemetry collector. It is off unless configured.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_opentelemetry::{MetricsLayer, OpenTelemetryLayer};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use super::cli_error::CliError;
use crate::tracing_setup::OWN_TARGETS;
use archivist_core::config::TelemetrySettings;

/// The service name under which a collector stores everything.
const SERVICE: &str = "archivist";

/// The longest wait for a collector.
const PATIENCE: Duration = Duration::from_secs(3);

/// The exporters of spans and metrics, until they are closed.
#[derive(Debug)]
pub(super) struct TelemetryExporter {
    spans: SdkTracerProvider,
    figures: SdkMeterProvider,
}

impl TelemetryExporter {
    /// Opens the exporters, or returns `None` if no collector is configured.
    pub(super) fn open(settings: &TelemetrySettings) -> Result<Option<Self>, CliError> {
        let base = settings.otlp.trim().trim_end_matches('/');
        if base.is_empty() {
            return Ok(None);
        }
        // The client needs a crypto provider even without TLS. One that is already installed is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let refused = |error: opentelemetry_otlp::ExporterBuildError| {
            CliError::user_error(format!("`telemetry.otlp` cannot be used: {error}"))
                .with_hint("write it like http://localhost:4318")
        };
        let spans = SpanExporter::builder()
            .with_http()
            .with_endpoint(format!("{base}/v1/traces"))
            .with_timeout(PATIENCE)
            .build()
            .map_err(refused)?;
        let figures = MetricExporter::builder()
            .with_http()
            .with_endpoint(format!("{base}/v1/metrics"))
            .with_timeout(PATIENCE)
            .build()
            .map_err(refused)?;
        let resource = Resource::builder().with_service_name(SERVICE).build();
        Ok(Some(Self {
            spans: SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.clone()).build(),
            figures: SdkMeterProvider::builder().with_periodic_exporter(figures).with_resource(resource).build(),
        }))
    }

    /// Returns the layer that records this crate's events. Events of other crates are not sent.
    pub(super) fn tracing_layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        let own = || Targets::new().with_target(OWN_TARGETS, tracing::Level::TRACE);
        let spans = OpenTelemetryLayer::new(self.spans.tracer(SERVICE)).with_filter(own());
        let figures = MetricsLayer::new(self.figures.clone()).with_filter(own());
        spans.and_then(figures)
    }

    /// Sends the remaining data. An unreachable collector is no error.
    pub(super) fn close(self) {
        for sent in [self.spans.shutdown_with_timeout(PATIENCE), self.figures.shutdown_with_timeout(PATIENCE)] {
            if let Err(error) = sent {
                tracing::debug!(%error, "a collector did not take everything");
            }
        }
    }
}
