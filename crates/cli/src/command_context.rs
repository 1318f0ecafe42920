//! The context of one command: its project, its memory and its time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::GlobalFlags;
use super::cli_error::CliError;
use super::console::Console;
use archivist_core::config::{self, Config, ConfigLoadRequest, ConfigProblem, LoadedConfig, ProcessEnvironment};
use archivist_core::domain::Timestamp;
use archivist_core::service::{Archivist, ArchivistBuilder, ServiceClock};

/// The project and its effective configuration.
#[derive(Debug)]
pub(super) struct LoadedProject {
    pub(super) root: PathBuf,
    pub(super) loaded: LoadedConfig,
}

impl LoadedProject {
    /// Finds the project and loads its configuration.
    pub(super) fn find_and_load(globals: &GlobalFlags, environment: &ProcessEnvironment) -> anyhow::Result<Self> {
        let here = &environment.current_dir;
        let root = find_project_root(globals, environment)?;
        let request = ConfigLoadRequest {
            environment: environment.clone(),
            project_root: root.clone(),
            config_file: globals.config.clone(),
            flags: config_overrides(globals, here)?,
        };
        Ok(Self { loaded: config::load_config(&request)?, root })
    }
}

/// The context of a command, with the memory opened.
#[derive(Debug)]
pub(super) struct CommandContext {
    pub(super) archivist: Archivist,
    /// What the project's settings say without effect.
    pub(super) ignored_settings: Vec<ConfigProblem>,
    pub(super) now: Timestamp,
    pub(super) seed: u64,
}

impl CommandContext {
    /// Opens the memory that the configuration names. Nothing is read or written yet.
    pub(super) fn open(
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        seed: u64,
    ) -> anyhow::Result<Self> {
        Self::open_with(globals, environment, (now, seed), |builder| builder)
    }

    /// Opens the memory for a command that answers the person who gave it. Who names the directory on the command line
    /// answers for what is in it.
    pub(super) fn open_for_person(
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        seed: u64,
    ) -> anyhow::Result<Self> {
        Self::open_with(globals, environment, (now, seed), |builder| match &globals.memory_dir {
            Some(_) => builder.vouch_for_memory(),
            None => builder,
        })
    }

    /// Opens the memory, and waits at most this long for other writers.
    pub(super) fn open_with_patience(
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        Self::open_with(globals, environment, (now, 0), |builder| builder.lock_timeout(patience))
    }

    fn open_with(
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        (now, seed): (Timestamp, u64),
        adapt: impl FnOnce(ArchivistBuilder) -> ArchivistBuilder,
    ) -> anyhow::Result<Self> {
        let LoadedProject { root, loaded } = LoadedProject::find_and_load(globals, environment)?;
        let builder = Archivist::builder(root)
            .config(loaded.config)
            .environment(environment.clone())
            .clock(globals.now.map_or_else(ServiceClock::from_system_time, ServiceClock::fixed_at))
            .seed(seed);
        Ok(Self { archivist: adapt(builder).build()?, ignored_settings: loaded.ignored, now, seed })
    }
}

/// Returns the root of the project that the flags name, or of the one around the current directory.
pub(super) fn find_project_root(globals: &GlobalFlags, environment: &ProcessEnvironment) -> Result<PathBuf, CliError> {
    let here = &environment.current_dir;
    if !here.is_absolute() {
        let hint = "change to a directory that exists";
        return Err(CliError::user_error("the current directory is gone").with_hint(hint));
    }
    match &globals.project {
        Some(given) => resolve_project_flag(given, here),
        None => Ok(config::find_project_root(here, environment.home.as_deref())),
    }
}

/// Warns that the memory is a stranger's, if it is.
pub(super) fn warn_about_strange_memory(archivist: &Archivist, console: &mut Console) {
    if archivist.is_memory_strange() {
        console.print_warning(&format!(
            "the memory in {} was not begun on this machine and here, so no agent is given its lessons",
            archivist.memory_dir().display()
        ));
        console.print_hint("look at it with `archivist list`; `archivist trust` trusts this repository");
    }
}

/// Prints what the project's settings say without effect.
pub(super) fn warn_about_ignored(ignored: &[ConfigProblem], console: &mut Console) {
    for ConfigProblem { message, hint } in ignored {
        console.print_warning(&format!("ignored: {message}"));
        if let Some(hint) = hint {
            console.print_hint(hint);
        }
    }
}

impl CommandContext {
    /// Refuses what a person decides where no person is at a terminal.
    pub(super) fn require_person(&self, console: &Console) -> Result<(), CliError> {
        require_person(self.archivist.config(), console)
    }
}

/// Refuses what a person decides where no person is at a terminal: an agent that runs commands has none.
pub(super) fn require_person(config: &Config, console: &Console) -> Result<(), CliError> {
    if console.is_person_there() || config.decisions.without_terminal {
        return Ok(());
    }
    Err(CliError::user_error("this is for a person to decide, and no person is at a terminal")
        .with_hint("run it in a terminal; for scripts set `decisions.withoutTerminal` in your own settings file"))
}

fn resolve_project_flag(given: &Path, here: &Path) -> Result<PathBuf, CliError> {
    let path = here.join(given);
    match path.canonicalize() {
        Ok(root) if root.is_dir() => Ok(root),
        Ok(_) => Err(CliError::user_error(format!("--project {} is not a directory", given.display()))),
        Err(error) => Err(CliError::user_error(format!("--project {} cannot be used: {error}", given.display()))
            .with_hint("give the root directory of the project")),
    }
}

/// Returns the settings that flags override. A relative path starts at the current directory, not at the project's
/// root.
fn config_overrides(globals: &GlobalFlags, here: &Path) -> Result<Vec<(String, String)>, CliError> {
    let Some(given) = &globals.memory_dir else {
        return Ok(Vec::new());
    };
    let keeps_its_meaning = given.as_os_str().is_empty() || given.starts_with("~");
    let path = if keeps_its_meaning { given.clone() } else { here.join(given) };
    match path.into_os_string().into_string() {
        Ok(path) => Ok(vec![("memory.dir".to_owned(), path)]),
        Err(_) => Err(CliError::user_error(format!("--memory-dir {} is not Unicode", given.display()))),
    }
}
