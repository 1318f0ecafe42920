//! `archivist archeflow`: stands in for the script by which ArcheFlow keeps its memory.
//!
//! Words, messages and exit codes are the script's, so everything behind `archeflow` is read here and not by clap.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Parser};

use super::arguments::Globals;
use super::console::Console;
use super::failure::Exit;
use super::prose::one_line;
use crate::archeflow::{
    Folder, Kind, Trouble, add, audit_check, decay, extract, forget, inject, list, note_injection, regression_check,
};
use crate::config::Surroundings;
use crate::domain::Timestamp;

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
pub(super) struct ArcheFlow {
    /// A command of archeflow-memory.sh, and its words
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Words behind a command, among which global flags may stand.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Tail {
    #[command(flatten)]
    globals: Globals,
    #[arg(allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Where and when a command runs, and what is said to it.
struct Call<'a> {
    folder: Folder,
    /// Where the person stands, and where the folder is.
    places: [PathBuf; 2],
    now: Timestamp,
    words: Vec<OsString>,
    console: &'a mut Console,
}

impl ArcheFlow {
    /// These words, none of which is a flag.
    pub(super) fn of(words: Vec<OsString>) -> Self {
        Self { words }
    }

    pub(super) fn run(
        &self,
        globals: &Globals,
        surroundings: &Surroundings,
        now: Timestamp,
        console: &mut Console,
    ) -> Result<Exit> {
        let Some((command, words)) = self.words.split_first() else {
            return Ok(refuse(console, USAGE));
        };
        let command = command.to_string_lossy();
        let asks_for_help = matches!(words, [only] if only == "-h" || only == "--help");
        if asks_for_help && usage(&command).is_some() {
            console.line(&format!("Usage: archivist archeflow <command> [args...]\n\n{HELP}"))?;
            return Ok(Exit::Done);
        }
        let (words, tail) = told(&command, words);
        let tail = tail.as_ref();
        let here = surroundings.current_dir.clone();
        let project = tail.and_then(|tail| tail.project.as_ref()).or(globals.project.as_ref());
        let root = project.map_or_else(|| here.clone(), |project| here.join(project));
        if !root.is_dir() {
            let place = project.map_or_else(|| "the current directory".into(), |project| project.to_string_lossy());
            return Ok(refuse(console, &format!("Error: {} is no directory", one_line(&place))));
        }
        let now = tail.and_then(|tail| tail.now).unwrap_or(now);
        let mut call = Call { folder: Folder::below(&root), places: [here, root], now, words, console };
        let done = match &*command {
            "extract" => call.extract(),
            "inject" => call.inject(),
            "add" => call.add(),
            "list" => call.list(),
            "decay" => call.decay(),
            "forget" => call.forget(),
            "audit-check" => call.audit_check(),
            "regression-check" => call.regression_check(),
            unknown => return Ok(refuse(console, &format!("Unknown command: {}", one_line(unknown)))),
        };
        match done.map_err(anyhow::Error::downcast::<Trouble>) {
            Ok(exit) => Ok(exit),
            Err(Ok(trouble)) => Ok(refuse(console, &trouble.to_string())),
            Err(Err(other)) => Err(other),
        }
    }
}

/// How a command is called, if there is such a command.
fn usage(command: &str) -> Option<&'static str> {
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

/// A command's words, and the global flags among them. What `add` is to write down is a text, whatever it looks like.
fn told(command: &str, words: &[OsString]) -> (Vec<OsString>, Option<Globals>) {
    let has_type = words.first().and_then(|word| word.to_str()).is_some_and(|word| Kind::of(word).is_some());
    let texts = match command {
        "add" if has_type => 2,
        "add" => 1,
        _ => 0,
    };
    let (texts, rest) = words.split_at(texts.min(words.len()));
    if !rest.iter().any(|word| word.to_string_lossy().starts_with('-')) {
        return (words.to_vec(), None);
    }
    match Tail::try_parse_from(rest) {
        Ok(tail) => ([texts, &tail.words].concat(), Some(tail.globals)),
        Err(_) => (words.to_vec(), None),
    }
}

/// Says why not, also to those who want errors only.
fn refuse(console: &mut Console, text: &str) -> Exit {
    console.refusal(text);
    Exit::Refused
}

impl Call<'_> {
    fn extract(&mut self) -> Result<Exit> {
        let Some((path, shown)) = self.log() else { return Ok(self.misuse("extract")) };
        let done = extract(&self.folder, &path, &shown, self.now)?;
        self.say(&done.talk());
        Ok(Exit::Done)
    }

    fn inject(&mut self) -> Result<Exit> {
        let mut plain: Vec<String> = Vec::new();
        let mut run = None;
        let mut words = std::mem::take(&mut self.words).into_iter();
        while let Some(word) = words.next() {
            let word = word.to_string_lossy().into_owned();
            if word == "--audit" {
                let Some(named) = words.next() else { return Ok(self.misuse("inject")) };
                run = Some(named.to_string_lossy().into_owned());
            } else if let Some(named) = word.strip_prefix("--audit=") {
                run = Some(named.to_owned());
            } else {
                plain.push(word);
            }
        }
        let word = |number: usize| plain.get(number).map_or("", String::as_str);
        let given = inject(&self.folder, word(0), word(1))?;
        self.console.print(given.block.as_bytes())?;
        // Whoever asked has the lessons before anybody waits for a lock.
        self.console.flush()?;
        self.say(&given.talk());
        if let Some(run) = run.filter(|run| !run.is_empty()) {
            note_injection(&self.folder, &run, (word(0), word(1)), &given, self.now)?;
        }
        Ok(Exit::Done)
    }

    fn add(&mut self) -> Result<Exit> {
        let words: Option<Vec<&str>> = self.words.iter().map(|word| word.to_str()).collect();
        let (kind, text, more) = match words.as_deref() {
            Some([text]) if Kind::of(text).is_none() => (Some(Kind::Preference), (*text).to_owned(), 0),
            Some([kind, text, more @ ..]) => (Kind::of(kind), (*text).to_owned(), more.len()),
            _ => (None, String::new(), 0),
        };
        let Some(kind) = kind.filter(|_| !text.trim().is_empty()) else {
            let exit = self.misuse("add");
            self.console.refusal(TYPES);
            return Ok(exit);
        };
        let done = add(&self.folder, kind, &text, self.now)?;
        self.say(&done.talk());
        if more > 0 {
            self.say(&[format!("[archeflow-memory] Ignored {more} more word(s): put the description in quotes")]);
        }
        Ok(Exit::Done)
    }

    fn list(&mut self) -> Result<Exit> {
        let Some(listing) = list(&self.folder)? else {
            self.say(&["No lessons stored yet.".to_owned()]);
            return Ok(Exit::Done);
        };
        for row in &listing.rows {
            self.console.line(row)?;
        }
        self.console.flush()?;
        self.say(&listing.talk());
        Ok(Exit::Done)
    }

    fn decay(&mut self) -> Result<Exit> {
        let words: Vec<String> = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = match words.as_slice() {
            ["--run"] => return Ok(self.misuse("decay")),
            ["--run", run, ..] => Some(*run),
            [run, ..] => Some(run.strip_prefix("--run=").unwrap_or(run)),
            [] => None,
        };
        if let Some(done) = decay(&self.folder, run.filter(|run| !run.is_empty()), self.now)? {
            self.say(&done.talk());
        }
        Ok(Exit::Done)
    }

    fn forget(&mut self) -> Result<Exit> {
        let Some(id) = self.first() else { return Ok(self.misuse("forget")) };
        let talk = forget(&self.folder, &id)?;
        self.say(&talk);
        Ok(Exit::Done)
    }

    fn audit_check(&mut self) -> Result<Exit> {
        let Some(run) = self.first() else { return Ok(self.misuse("audit-check")) };
        let done = audit_check(&self.folder, &run, self.now)?;
        self.say(&done.talk());
        Ok(Exit::Done)
    }

    fn regression_check(&mut self) -> Result<Exit> {
        let Some((path, shown)) = self.log() else { return Ok(self.misuse("regression-check")) };
        let done = regression_check(&self.folder, &path, &shown)?;
        for regression in &done.regressions {
            self.console.line(&regression.line())?;
        }
        self.console.flush()?;
        self.say(&done.talk());
        Ok(if done.regressions.is_empty() { Exit::Done } else { Exit::Refused })
    }

    fn first(&self) -> Option<String> {
        self.words.first().map(|word| word.to_string_lossy().into_owned()).filter(|word| !word.is_empty())
    }

    /// The log that is meant, and how it was named: it is looked for where the person stands, then in the project.
    fn log(&self) -> Option<(PathBuf, String)> {
        let named = self.words.first().filter(|word| !word.is_empty())?;
        let [here, root] = &self.places;
        let at = |place: &Path| place.join(AsRef::<OsStr>::as_ref(named));
        let path = Some(at(here)).filter(|path| path.is_file()).unwrap_or_else(|| at(root));
        Some((path, one_line(&named.to_string_lossy())))
    }

    fn misuse(&mut self, command: &str) -> Exit {
        let usage = usage(command).unwrap_or_default();
        refuse(self.console, &format!("Usage: archivist archeflow {usage}"))
    }

    fn say(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.console.note(line));
    }
}
