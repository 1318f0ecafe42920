//! What happens, told to an OpenTelemetry collector: spans of reflections and figures of the pipeline. Off unless set.

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

use super::failure::Failure;
use crate::config::TelemetrySettings;

/// The name that a collector files everything under.
const SERVICE: &str = env!("CARGO_PKG_NAME");

/// A collector that does not answer holds nobody up for longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is sent to a collector, until it is closed.
#[derive(Debug)]
pub(super) struct Telemetry {
    spans: SdkTracerProvider,
    figures: SdkMeterProvider,
}

impl Telemetry {
    /// Nothing, unless a collector is set.
    pub(super) fn open(settings: &TelemetrySettings) -> Result<Option<Self>, Failure> {
        let base = settings.otlp.trim().trim_end_matches('/');
        if base.is_empty() {
            return Ok(None);
        }
        // Building a client asks for one, also where no TLS is spoken. If there is one already, that will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let refused = |error: opentelemetry_otlp::ExporterBuildError| {
            Failure::user(format!("`telemetry.otlp` cannot be used: {error}"))
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

    /// Takes in what the program says of itself. What libraries say of themselves stays here.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        let own = || Targets::new().with_target(env!("CARGO_CRATE_NAME"), tracing::Level::TRACE);
        let spans = OpenTelemetryLayer::new(self.spans.tracer(SERVICE)).with_filter(own());
        let figures = MetricsLayer::new(self.figures.clone()).with_filter(own());
        spans.and_then(figures)
    }

    /// Sends what is left. A collector that is not there is nobody's trouble.
    pub(super) fn close(self) {
        for sent in [self.spans.shutdown_with_timeout(PATIENCE), self.figures.shutdown_with_timeout(PATIENCE)] {
            if let Err(error) = sent {
                tracing::debug!(%error, "a collector did not take everything");
            }
        }
    }
}
