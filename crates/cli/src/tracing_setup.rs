//! Sends the program's tracing events to stderr and to a telemetry collector.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use super::console::{ColorMode, StderrVerbosity, TextStyle};
use super::telemetry::TelemetryExporter;

/// The beginning of the targets of events of our own crates.
pub(super) const OWN_TARGETS: &str = "archivist";

/// Installs the tracing subscriber for stderr and the collector. Without `-v` only warnings are printed, in the form of
/// the console's warnings.
pub(super) fn install_subscriber(
    talk: StderrVerbosity,
    verbosity: u8,
    paint: ColorMode,
    telemetry: Option<&TelemetryExporter>,
) {
    let level = match verbosity {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let level = if talk == StderrVerbosity::Normal { level } else { LevelFilter::OFF };
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(paint == ColorMode::Colour).without_time();
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match verbosity {
        0 => Box::new(lines.event_format(WarningFormat(paint)).with_filter(level)),
        _ => Box::new(lines.with_filter(level)),
    };
    let all = tracing_subscriber::registry().with(lines);
    // A program that calls `run` twice keeps its first subscriber.
    let _ = match telemetry {
        Some(telemetry) => tracing::subscriber::set_global_default(all.with(telemetry.tracing_layer())),
        None => tracing::subscriber::set_global_default(all),
    };
}

/// Formats each warning of our own crates on one line, and drops those of others.
struct WarningFormat(ColorMode);

impl<S, N> FormatEvent<S, N> for WarningFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        if !event.metadata().target().starts_with(OWN_TARGETS) {
            return Ok(());
        }
        write!(line, "{} ", self.0.apply_style(TextStyle::Yellow, "warning:"))?;
        context.format_fields(line.by_ref(), event)?;
        writeln!(line)
    }
}
