//! `archivist archeflow`: replaces the script with which ArcheFlow keeps its memory.
//!
//! Arguments, messages and exit codes are the script's, so everything after `archeflow` is parsed here and not by clap.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Parser};

use crate::arguments::GlobalFlags;
use crate::cli_error::CommandExit;
use crate::console::Console;
use crate::text_format::one_line;
use archivist_core::config::ProcessEnvironment;
use archivist_core::domain::Timestamp;
use archivist_exchange::archeflow_store::{
    ArcheFlowError, ArcheFlowFolder, ArcheFlowLessonKind, add_lesson, build_injection, decay_lessons, extract_lessons,
    forget_lesson, list_lessons, record_injection, run_audit_check, run_regression_check,
};

macro_rules! commands {
    () => {
        "\
Commands:
  extract <events.jsonl>       Extract lessons from a completed run
  inject [<domain>] [<archetype>] [--audit <run_id>]  Output relevant lessons for injection
  add [<type>] <description>   Manually add a lesson
  list                         List all active lessons
  decay [<run_id>]             Apply decay to all lessons
  forget <id>                  Archive a lesson by ID
  audit-check <run_id>         Check lesson effectiveness for a run
  regression-check <events.jsonl>  Detect regressions from previously fixed findings"
    };
}

const USAGE: &str = concat!("Usage: archivist archeflow <command> [args...]\n\n", commands!());

const HELP: &str = concat!(
    commands!(),
    "

Examples:
  archivist archeflow extract .archeflow/events/run-7.jsonl
  archivist archeflow decay
  archivist archeflow inject code guardian --audit run-8
  archivist archeflow add preference \"One bundled pull request, not many small ones\"

Everything lies in .archeflow below the current directory, or below --project, and stays as ArcheFlow's own script reads
and writes it. See docs/archeflow.md."
);

const TYPES: &str = "Types: pattern, preference, archetype_hint, anti_pattern";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ArcheFlowCommand {
    /// A command of archeflow-memory.sh, and its words
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Words behind a command, among which global flags may stand.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct TrailingArguments {
    #[command(flatten)]
    globals: GlobalFlags,
    #[arg(allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// One call of an ArcheFlow command: its place, its time and its words.
struct ArcheFlowInvocation<'a> {
    folder: ArcheFlowFolder,
    /// The current directory, and the directory that holds the ArcheFlow folder.
    places: [PathBuf; 2],
    now: Timestamp,
    words: Vec<OsString>,
    console: &'a mut Console,
}

impl ArcheFlowCommand {
    /// Returns the command for these words, none of which is a flag.
    pub(crate) fn from_words(words: Vec<OsString>) -> Self {
        Self { words }
    }

    pub(crate) fn run(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let Some((command, words)) = self.words.split_first() else {
            return Ok(refuse_command(console, USAGE));
        };
        let command = command.to_string_lossy();
        let asks_for_help = matches!(words, [only] if only == "-h" || only == "--help");
        if asks_for_help && command_usage(&command).is_some() {
            console.print_line(&format!("Usage: archivist archeflow <command> [args...]\n\n{HELP}"))?;
            return Ok(CommandExit::Done);
        }
        let (words, tail) = split_global_flags(&command, words);
        let tail = tail.as_ref();
        let here = environment.current_dir.clone();
        let project = tail.and_then(|tail| tail.project.as_ref()).or(globals.project.as_ref());
        let root = project.map_or_else(|| here.clone(), |project| here.join(project));
        if !root.is_dir() {
            let place = project.map_or_else(|| "the current directory".into(), |project| project.to_string_lossy());
            return Ok(refuse_command(console, &format!("Error: {} is no directory", one_line(&place))));
        }
        let now = tail.and_then(|tail| tail.now).unwrap_or(now);
        let mut call = ArcheFlowInvocation {
            folder: ArcheFlowFolder::in_directory(&root),
            places: [here, root],
            now,
            words,
            console,
        };
        let done = match &*command {
            "extract" => call.extract_lessons(),
            "inject" => call.inject_lessons(),
            "add" => call.add_lesson(),
            "list" => call.list_lessons(),
            "decay" => call.decay_lessons(),
            "forget" => call.forget_lesson(),
            "audit-check" => call.audit_check(),
            "regression-check" => call.regression_check(),
            unknown => return Ok(refuse_command(console, &format!("Unknown command: {}", one_line(unknown)))),
        };
        match done.map_err(anyhow::Error::downcast::<ArcheFlowError>) {
            Ok(exit) => Ok(exit),
            Err(Ok(problem)) => Ok(refuse_command(console, &problem.to_string())),
            Err(Err(other)) => Err(other),
        }
    }
}

/// Returns the usage line of a command, or `None` if there is no such command.
fn command_usage(command: &str) -> Option<&'static str> {
    Some(match command {
        "extract" => "extract <events.jsonl>",
        "inject" => "inject [<domain>] [<archetype>] [--audit <run_id>]",
        "add" => "add <type> <description>",
        "list" => "list",
        "decay" => "decay [<run_id>]",
        "forget" => "forget <id>",
        "audit-check" => "audit-check <run_id>",
        "regression-check" => "regression-check <events.jsonl>",
        _ => return None,
    })
}

/// Separates a command's words from the global flags among them. The texts of `add` are never parsed as flags.
fn split_global_flags(command: &str, words: &[OsString]) -> (Vec<OsString>, Option<GlobalFlags>) {
    let has_type =
        words.first().and_then(|word| word.to_str()).is_some_and(|word| ArcheFlowLessonKind::from_word(word).is_some());
    let texts = match command {
        "add" if has_type => 2,
        "add" => 1,
        _ => 0,
    };
    let (texts, rest) = words.split_at(texts.min(words.len()));
    if !rest.iter().any(|word| word.to_string_lossy().starts_with('-')) {
        return (words.to_vec(), None);
    }
    match TrailingArguments::try_parse_from(rest) {
        Ok(tail) => ([texts, &tail.words].concat(), Some(tail.globals)),
        Err(_) => (words.to_vec(), None),
    }
}

/// Prints why the command was refused, even with `--quiet`, and returns the exit for that.
fn refuse_command(console: &mut Console, text: &str) -> CommandExit {
    console.print_refusal(text);
    CommandExit::Refused
}

impl ArcheFlowInvocation<'_> {
    fn extract_lessons(&mut self) -> Result<CommandExit> {
        let Some((path, shown)) = self.find_log() else { return Ok(self.refuse_misuse("extract")) };
        let done = extract_lessons(&self.folder, &path, &shown, self.now)?;
        self.print_notes(&done.message_lines());
        Ok(CommandExit::Done)
    }

    fn inject_lessons(&mut self) -> Result<CommandExit> {
        let mut plain: Vec<String> = Vec::new();
        let mut run = None;
        let mut words = std::mem::take(&mut self.words).into_iter();
        while let Some(word) = words.next() {
            let word = word.to_string_lossy().into_owned();
            if word == "--audit" {
                let Some(named) = words.next() else { return Ok(self.refuse_misuse("inject")) };
                run = Some(named.to_string_lossy().into_owned());
            } else if let Some(named) = word.strip_prefix("--audit=") {
                run = Some(named.to_owned());
            } else {
                plain.push(word);
            }
        }
        let word = |number: usize| plain.get(number).map_or("", String::as_str);
        let given = build_injection(&self.folder, word(0), word(1))?;
        self.console.print_bytes(given.block.as_bytes())?;
        // The caller gets the lessons before this process waits for a lock.
        self.console.flush()?;
        self.print_notes(&given.message_lines());
        if let Some(run) = run.filter(|run| !run.is_empty()) {
            record_injection(&self.folder, &run, (word(0), word(1)), &given, self.now)?;
        }
        Ok(CommandExit::Done)
    }

    fn add_lesson(&mut self) -> Result<CommandExit> {
        let words: Option<Vec<&str>> = self.words.iter().map(|word| word.to_str()).collect();
        let (kind, text, more) = match words.as_deref() {
            Some([text]) if ArcheFlowLessonKind::from_word(text).is_none() => {
                (Some(ArcheFlowLessonKind::Preference), (*text).to_owned(), 0)
            }
            Some([kind, text, more @ ..]) => (ArcheFlowLessonKind::from_word(kind), (*text).to_owned(), more.len()),
            _ => (None, String::new(), 0),
        };
        let Some(kind) = kind.filter(|_| !text.trim().is_empty()) else {
            let exit = self.refuse_misuse("add");
            self.console.print_refusal(TYPES);
            return Ok(exit);
        };
        let done = add_lesson(&self.folder, kind, &text, self.now)?;
        self.print_notes(&done.message_lines());
        if more > 0 {
            self.print_notes(&[format!(
                "[archeflow-memory] Ignored {more} more word(s): put the description in quotes"
            )]);
        }
        Ok(CommandExit::Done)
    }

    fn list_lessons(&mut self) -> Result<CommandExit> {
        let Some(listing) = list_lessons(&self.folder)? else {
            self.print_notes(&["No lessons stored yet.".to_owned()]);
            return Ok(CommandExit::Done);
        };
        for row in &listing.rows {
            self.console.print_line(row)?;
        }
        self.console.flush()?;
        self.print_notes(&listing.message_lines());
        Ok(CommandExit::Done)
    }

    fn decay_lessons(&mut self) -> Result<CommandExit> {
        let words: Vec<String> = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = match words.as_slice() {
            ["--run"] => return Ok(self.refuse_misuse("decay")),
            ["--run", run, ..] => Some(*run),
            [run, ..] => Some(run.strip_prefix("--run=").unwrap_or(run)),
            [] => None,
        };
        if let Some(done) = decay_lessons(&self.folder, run.filter(|run| !run.is_empty()), self.now)? {
            self.print_notes(&done.message_lines());
        }
        Ok(CommandExit::Done)
    }

    fn forget_lesson(&mut self) -> Result<CommandExit> {
        let Some(id) = self.first_word() else { return Ok(self.refuse_misuse("forget")) };
        let talk = forget_lesson(&self.folder, &id)?;
        self.print_notes(&talk);
        Ok(CommandExit::Done)
    }

    fn audit_check(&mut self) -> Result<CommandExit> {
        let Some(run) = self.first_word() else { return Ok(self.refuse_misuse("audit-check")) };
        let done = run_audit_check(&self.folder, &run, self.now)?;
        self.print_notes(&done.message_lines());
        Ok(CommandExit::Done)
    }

    fn regression_check(&mut self) -> Result<CommandExit> {
        let Some((path, shown)) = self.find_log() else { return Ok(self.refuse_misuse("regression-check")) };
        let done = run_regression_check(&self.folder, &path, &shown)?;
        for regression in &done.regressions {
            self.console.print_line(&regression.to_message())?;
        }
        self.console.flush()?;
        self.print_notes(&done.message_lines());
        Ok(if done.regressions.is_empty() { CommandExit::Done } else { CommandExit::Refused })
    }

    fn first_word(&self) -> Option<String> {
        self.words.first().map(|word| word.to_string_lossy().into_owned()).filter(|word| !word.is_empty())
    }

    /// Returns the path of the named log and its name for messages. The current directory is searched before the
    /// project.
    fn find_log(&self) -> Option<(PathBuf, String)> {
        let named = self.words.first().filter(|word| !word.is_empty())?;
        let [here, root] = &self.places;
        let at = |place: &Path| place.join(AsRef::<OsStr>::as_ref(named));
        let path = Some(at(here)).filter(|path| path.is_file()).unwrap_or_else(|| at(root));
        Some((path, one_line(&named.to_string_lossy())))
    }

    fn refuse_misuse(&mut self, command: &str) -> CommandExit {
        let usage = command_usage(command).unwrap_or_default();
        refuse_command(self.console, &format!("Usage: archivist archeflow {usage}"))
    }

    fn print_notes(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.console.print_note(line));
    }
}
