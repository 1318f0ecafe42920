//! Writes data to stdout and messages to stderr, with the colour and width that the reader wants.

use std::io::{self, BufWriter, Read, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::cli_error::CliError;
use super::process_context::{OutputTarget, ProcessContext};
use super::text_format::one_line;

/// The width if neither the terminal nor `COLUMNS` tells one.
const DEFAULT_COLUMNS: usize = 100;
/// The least width; no table is readable below it, so narrower terminals are treated as this wide.
const FEWEST_COLUMNS: usize = 20;

/// The most bytes that are read from stdin where its size is nobody's choice.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;

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

/// The kinds of messages that are printed on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StderrVerbosity {
    /// Errors, warnings and notes are printed.
    Normal,
    /// Only errors are printed.
    Quiet,
}

/// A way to highlight a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextStyle {
    Bold,
    Dim,
    Red,
    Yellow,
    Cyan,
}

impl TextStyle {
    fn ansi_code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "1;31",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

/// Tells whether text may carry colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColorMode {
    Colour,
    Plain,
}

impl ColorMode {
    /// Returns the colour mode for a stream, by the user's choice, the stream's reader and the environment.
    pub(super) fn for_stream(choice: ColorChoice, reader: OutputTarget, environment: &[(String, String)]) -> Self {
        let variable = |name: &str| environment.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty()) || variable("TERM") == Some("dumb");
        match (choice, reader) {
            (ColorChoice::Always, _) => Self::Colour,
            (ColorChoice::Auto, OutputTarget::Terminal(_)) if !refused => Self::Colour,
            _ => Self::Plain,
        }
    }

    /// Returns the text in this style, or unchanged where colour is off.
    pub(super) fn apply_style(self, style: TextStyle, text: &str) -> String {
        match self {
            Self::Colour if !text.is_empty() => format!("\u{1b}[{}m{text}\u{1b}[0m", style.ansi_code()),
            _ => text.to_owned(),
        }
    }
}

/// The input and output streams of one command.
pub(super) struct Console {
    input: Box<dyn Read + Send>,
    output: BufWriter<Box<dyn Write>>,
    errors: Box<dyn Write>,
    output_paint: ColorMode,
    errors_paint: ColorMode,
    columns: usize,
    talk: StderrVerbosity,
    /// True if a person is at both ends: stdin and stderr are terminals.
    is_attended: bool,
    /// These tell whether a person can answer questions, and whether one watches stderr.
    is_asked: bool,
    is_watched: bool,
    /// True if stdout is a terminal.
    has_screen: bool,
}

impl Console {
    /// Creates a console from the streams of a process.
    pub(super) fn new(process: ProcessContext, choice: ColorChoice, talk: StderrVerbosity) -> Self {
        let environment = &process.environment.variables;
        Self {
            output_paint: ColorMode::for_stream(choice, process.output.reader, environment),
            errors_paint: ColorMode::for_stream(choice, process.errors.reader, environment),
            columns: measure_columns(process.output.reader, environment),
            is_attended: process.is_interactive && matches!(process.errors.reader, OutputTarget::Terminal(_)),
            is_asked: process.is_interactive && talk == StderrVerbosity::Normal,
            is_watched: matches!(process.errors.reader, OutputTarget::Terminal(_)) && talk == StderrVerbosity::Normal,
            has_screen: matches!(process.output.reader, OutputTarget::Terminal(_)),
            input: process.input,
            output: BufWriter::new(process.output.bytes),
            errors: process.errors.bytes,
            talk,
        }
    }

    /// Returns the number of columns that a table may take.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns text for stdout in a style.
    pub(super) fn style_text(&self, style: TextStyle, text: &str) -> String {
        self.output_paint.apply_style(style, text)
    }

    /// Returns the colour mode of stdout.
    pub(super) fn stdout_color_mode(&self) -> ColorMode {
        self.output_paint
    }

    /// Returns true if stdout is a terminal.
    pub(super) fn is_stdout_terminal(&self) -> bool {
        self.has_screen
    }

    /// Returns the colour mode of stderr.
    pub(super) fn stderr_color_mode(&self) -> ColorMode {
        self.errors_paint
    }

    /// Writes data to stdout unchanged.
    pub(super) fn print_bytes(&mut self, data: &[u8]) -> Result<(), CliError> {
        self.output.write_all(data).map_err(CliError::Output)
    }

    /// Writes one line of data to stdout.
    pub(super) fn print_line(&mut self, text: &str) -> Result<(), CliError> {
        self.print_bytes(text.as_bytes())?;
        self.print_bytes(b"\n")
    }

    /// Writes a value to stdout as indented JSON.
    pub(super) fn print_json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(value).map_err(CliError::Encode)?;
        self.print_line(&text)
    }

    /// Flushes everything that was printed to stdout.
    pub(super) fn flush(&mut self) -> Result<(), CliError> {
        self.output.flush().map_err(CliError::Output)
    }

    /// Prints a note on stderr, unless `--quiet` is given.
    pub(super) fn print_note(&mut self, text: &str) {
        if self.talk == StderrVerbosity::Normal {
            self.write_stderr_line(text);
        }
    }

    /// Prints a warning on stderr, unless `--quiet` is given.
    pub(super) fn print_warning(&mut self, text: &str) {
        if self.talk == StderrVerbosity::Normal {
            let label = self.errors_paint.apply_style(TextStyle::Yellow, "warning:");
            self.write_stderr_line(&format!("{label} {}", one_line(text)));
        }
    }

    /// Prints an error in the words of the program that Archivist replaces.
    pub(super) fn print_refusal(&mut self, text: &str) {
        self.write_stderr_line(text);
    }

    /// Prints an error on stderr.
    pub(super) fn print_error(&mut self, message: &str) {
        let label = self.errors_paint.apply_style(TextStyle::Red, "error:");
        self.write_stderr_line(&format!("{label} {}", one_line(message)));
    }

    /// Prints on stderr what to do next.
    pub(super) fn print_hint(&mut self, text: &str) {
        let label = self.errors_paint.apply_style(TextStyle::Cyan, "hint:");
        self.write_stderr_line(&format!("{label} {}", one_line(text)));
    }

    /// Returns true if a person is at a terminal, whether or not messages are wanted.
    pub(super) fn is_person_there(&self) -> bool {
        self.is_attended
    }

    /// Returns true if a person watches stderr and did not give `--quiet`.
    pub(super) fn is_stderr_watched(&self) -> bool {
        self.is_watched
    }

    /// Returns true if there is a person who can answer questions.
    pub(super) fn is_person_asked(&self) -> bool {
        self.is_asked
    }

    /// Asks a yes-or-no question and returns the answer. Without a person to answer, it returns an error.
    pub(super) fn ask_confirmation(&mut self, question: &str) -> Result<bool, CliError> {
        if !self.is_asked {
            return Err(CliError::user_error("nobody is there to agree to this").with_hint("give --yes"));
        }
        let _ = write!(self.errors, "{question} [y/N] ");
        let _ = self.errors.flush();
        let mut answer = Vec::new();
        let mut byte = [0];
        while self.input.read(&mut byte).map_err(|error| CliError::user_error(format!("cannot read stdin: {error}")))?
            == 1
            && byte != [b'\n']
        {
            answer.extend(byte);
        }
        Ok(matches!(String::from_utf8_lossy(&answer).trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Returns stdin. The console reads nothing from it any more.
    pub(super) fn take_input(&mut self) -> Box<dyn Read + Send> {
        std::mem::replace(&mut self.input, Box::new(io::empty()))
    }

    /// Reads stdin up to 64 MiB, and replaces bytes that are not UTF-8.
    pub(super) fn read_input_lossily(&mut self) -> Result<String, CliError> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(MAX_INPUT_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| CliError::user_error(format!("cannot read stdin: {error}")))?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Reads all of stdin, which must be UTF-8.
    pub(super) fn read_input(&mut self) -> Result<String, CliError> {
        let mut bytes = Vec::new();
        self.input
            .read_to_end(&mut bytes)
            .map_err(|error| CliError::user_error(format!("cannot read stdin: {error}")))?;
        String::from_utf8(bytes)
            .map_err(|_| CliError::user_error("stdin is not UTF-8 text").with_hint("convert it to UTF-8 first"))
    }

    fn write_stderr_line(&mut self, line: &str) {
        // If stderr is closed, the message is dropped.
        let _ = writeln!(self.errors, "{line}");
        let _ = self.errors.flush();
    }
}

fn measure_columns(reader: OutputTarget, environment: &[(String, String)]) -> usize {
    let said = || {
        let value = environment.iter().find(|(name, _)| name == "COLUMNS").map(|(_, value)| value)?;
        value.trim().parse::<usize>().ok().filter(|&columns| columns > 0)
    };
    let measured = match reader {
        OutputTarget::Terminal(columns) => columns.filter(|&columns| columns > 0),
        OutputTarget::Program => None,
    };
    measured.or_else(said).unwrap_or(DEFAULT_COLUMNS).max(FEWEST_COLUMNS)
}

/// Returns true if the reader of a pipe closed it, which is no error.
pub(super) fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
