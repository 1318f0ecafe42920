//! The way out: data to stdout, talk to stderr, colour and width as the reader wants them.

use std::io::{self, BufWriter, Read, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::failure::Failure;
use super::process::{Process, Reader};
use super::prose::one_line;

/// The width when nobody says.
const DEFAULT_COLUMNS: usize = 100;
/// A narrower terminal is treated like this one; below it no table is readable.
const FEWEST_COLUMNS: usize = 20;

/// No agent tells a hook more.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Into files and pipes too.
    Always,
    /// Not at all.
    Never,
}

/// How much is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Talk {
    /// Errors, warnings and notes.
    Normal,
    /// Errors only.
    Quiet,
}

/// How a piece of text stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Bold,
    Dim,
    Red,
    Yellow,
    Cyan,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "1;31",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

/// Whether text may carry colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Colour,
    Plain,
}

impl Paint {
    /// What a reader gets to see.
    pub(super) fn of(choice: ColorChoice, reader: Reader, environment: &[(String, String)]) -> Self {
        let variable = |name: &str| environment.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty()) || variable("TERM") == Some("dumb");
        match (choice, reader) {
            (ColorChoice::Always, _) => Self::Colour,
            (ColorChoice::Auto, Reader::Terminal(_)) if !refused => Self::Colour,
            _ => Self::Plain,
        }
    }

    /// The text in this style, or as it is.
    pub(super) fn apply(self, style: Style, text: &str) -> String {
        match self {
            Self::Colour if !text.is_empty() => format!("\u{1b}[{}m{text}\u{1b}[0m", style.code()),
            _ => text.to_owned(),
        }
    }
}

/// The streams of one command.
pub(super) struct Console {
    input: Box<dyn Read>,
    output: BufWriter<Box<dyn Write>>,
    errors: Box<dyn Write>,
    output_paint: Paint,
    errors_paint: Paint,
    columns: usize,
    talk: Talk,
    /// Whether a person can answer, and whether one watches stderr.
    is_asked: bool,
    is_watched: bool,
    /// Whether stdout is a terminal.
    has_screen: bool,
}

impl Console {
    /// The streams of this process, and what is left of it.
    pub(super) fn new(process: Process, choice: ColorChoice, talk: Talk) -> Self {
        let environment = &process.surroundings.environment;
        Self {
            output_paint: Paint::of(choice, process.output.reader, environment),
            errors_paint: Paint::of(choice, process.errors.reader, environment),
            columns: columns(process.output.reader, environment),
            is_asked: process.is_interactive && talk == Talk::Normal,
            is_watched: matches!(process.errors.reader, Reader::Terminal(_)) && talk == Talk::Normal,
            has_screen: matches!(process.output.reader, Reader::Terminal(_)),
            input: process.input,
            output: BufWriter::new(process.output.bytes),
            errors: process.errors.bytes,
            talk,
        }
    }

    /// How wide a table may be.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Text for stdout in a style.
    pub(super) fn styled(&self, style: Style, text: &str) -> String {
        self.output_paint.apply(style, text)
    }

    /// Whether stdout may carry colour.
    pub(super) fn output_paint(&self) -> Paint {
        self.output_paint
    }

    /// Whether stdout is a terminal.
    pub(super) fn has_screen(&self) -> bool {
        self.has_screen
    }

    /// Whether stderr may carry colour.
    pub(super) fn errors_paint(&self) -> Paint {
        self.errors_paint
    }

    /// Data, as it is.
    pub(super) fn print(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.output.write_all(data).map_err(Failure::Output)
    }

    /// One line of data.
    pub(super) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.print(text.as_bytes())?;
        self.print(b"\n")
    }

    /// A value as JSON, for people and programs.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(Failure::Encode)?;
        self.line(&text)
    }

    /// Sees to it that everything printed is out.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.output.flush().map_err(Failure::Output)
    }

    /// Something good to know, and not an error.
    pub(super) fn note(&mut self, text: &str) {
        if self.talk == Talk::Normal {
            self.say(text);
        }
    }

    /// Something that may be a mistake.
    pub(super) fn warn(&mut self, text: &str) {
        if self.talk == Talk::Normal {
            let label = self.errors_paint.apply(Style::Yellow, "warning:");
            self.say(&format!("{label} {}", one_line(text)));
        }
    }

    /// What went wrong, in the words of a program that is stood in for.
    pub(super) fn refusal(&mut self, text: &str) {
        self.say(text);
    }

    /// What went wrong.
    pub(super) fn error(&mut self, message: &str) {
        let label = self.errors_paint.apply(Style::Red, "error:");
        self.say(&format!("{label} {}", one_line(message)));
    }

    /// What to do next.
    pub(super) fn hint(&mut self, text: &str) {
        let label = self.errors_paint.apply(Style::Cyan, "hint:");
        self.say(&format!("{label} {}", one_line(text)));
    }

    /// Whether a person watches stderr, and wants to.
    pub(super) fn watches_stderr(&self) -> bool {
        self.is_watched
    }

    /// Asks the person in front of it. Where there is none, that is an error: nobody agreed.
    pub(super) fn agrees(&mut self, question: &str) -> Result<bool, Failure> {
        if !self.is_asked {
            return Err(Failure::user("nobody is there to agree to this").with_hint("give --yes"));
        }
        let _ = write!(self.errors, "{question} [y/N] ");
        let _ = self.errors.flush();
        let mut answer = Vec::new();
        let mut byte = [0];
        while self.input.read(&mut byte).map_err(|error| Failure::user(format!("cannot read stdin: {error}")))? == 1
            && byte != [b'\n']
        {
            answer.extend(byte);
        }
        Ok(matches!(String::from_utf8_lossy(&answer).trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// All of stdin up to a limit that no honest caller comes near, whatever bytes it holds.
    pub(super) fn read_lossily(&mut self) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(MAX_PAYLOAD_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| Failure::user(format!("cannot read stdin: {error}")))?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// All of stdin.
    pub(super) fn read_input(&mut self) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        self.input.read_to_end(&mut bytes).map_err(|error| Failure::user(format!("cannot read stdin: {error}")))?;
        String::from_utf8(bytes)
            .map_err(|_| Failure::user("stdin is not UTF-8 text").with_hint("convert it to UTF-8 first"))
    }

    fn say(&mut self, line: &str) {
        // Whoever closed stderr does not want to hear it.
        let _ = writeln!(self.errors, "{line}");
        let _ = self.errors.flush();
    }
}

fn columns(reader: Reader, environment: &[(String, String)]) -> usize {
    let said = || {
        let value = environment.iter().find(|(name, _)| name == "COLUMNS").map(|(_, value)| value)?;
        value.trim().parse::<usize>().ok().filter(|&columns| columns > 0)
    };
    let measured = match reader {
        Reader::Terminal(columns) => columns.filter(|&columns| columns > 0),
        Reader::Program => None,
    };
    measured.or_else(said).unwrap_or(DEFAULT_COLUMNS).max(FEWEST_COLUMNS)
}

/// Whether the other end of a pipe went away, which is its right.
pub(super) fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
