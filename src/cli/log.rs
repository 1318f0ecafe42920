//! What the library has to say while it works, on stderr.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use super::console::{Paint, Style, Talk};
use super::telemetry::Telemetry;

/// Shows what the library says, and lets a collector know. Without `-v` that is warnings alone, as any other warning is
/// told.
pub(super) fn observe(talk: Talk, verbosity: u8, paint: Paint, telemetry: Option<&Telemetry>) {
    let level = match verbosity {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let level = if talk == Talk::Normal { level } else { LevelFilter::OFF };
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(paint == Paint::Colour).without_time();
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match verbosity {
        0 => Box::new(lines.event_format(Warnings(paint)).with_filter(level)),
        _ => Box::new(lines.with_filter(level)),
    };
    let all = tracing_subscriber::registry().with(lines);
    // A program that calls `run` twice keeps its first subscriber.
    let _ = match telemetry {
        Some(telemetry) => tracing::subscriber::set_global_default(all.with(telemetry.layer())),
        None => tracing::subscriber::set_global_default(all),
    };
}

/// One line a warning, of ours only.
struct Warnings(Paint);

impl<S, N> FormatEvent<S, N> for Warnings
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
        if !event.metadata().target().starts_with(env!("CARGO_CRATE_NAME")) {
            return Ok(());
        }
        write!(line, "{} ", self.0.apply(Style::Yellow, "warning:"))?;
        context.format_fields(line.by_ref(), event)?;
        writeln!(line)
    }
}
