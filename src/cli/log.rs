//! What the library has to say while it works, on stderr.

use std::fmt;
use std::io;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::console::{Paint, Style};

/// Shows what the library says. Without `-v` that is warnings alone, as any other warning is told.
pub(super) fn to_stderr(verbosity: u8, paint: Paint) {
    let level = match verbosity {
        0 => Level::WARN,
        1 => Level::INFO,
        2 => Level::DEBUG,
        _ => Level::TRACE,
    };
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(paint == Paint::Colour)
        .with_max_level(level)
        .without_time();
    // A program that calls `run` twice keeps its first subscriber.
    let _ = if verbosity == 0 {
        tracing::subscriber::set_global_default(lines.event_format(Warnings(paint)).finish())
    } else {
        tracing::subscriber::set_global_default(lines.finish())
    };
}

/// One line a warning, of ours only.
struct Warnings(Paint);

impl<S, N> FormatEvent<S, N> for Warnings
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if !event.metadata().target().starts_with(env!("CARGO_CRATE_NAME")) {
            return Ok(());
        }
        write!(line, "{} ", self.0.apply(Style::Yellow, "warning:"))?;
        context.format_fields(line.by_ref(), event)?;
        writeln!(line)
    }
}
