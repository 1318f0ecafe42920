//! One command at work: which project, which memory, what time it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::Globals;
use super::failure::Failure;
use crate::config::{self, LoadRequest, Loaded, Surroundings};
use crate::desk::Desk;
use crate::domain::{IdSource, Timestamp};
use crate::service::Clock;

/// The project and the configuration that holds in it.
#[derive(Debug)]
pub(super) struct Workplace {
    pub(super) root: PathBuf,
    pub(super) loaded: Loaded,
}

impl Workplace {
    /// Finds the project and reads its configuration.
    pub(super) fn find(globals: &Globals, surroundings: &Surroundings) -> anyhow::Result<Self> {
        let here = &surroundings.current_dir;
        if !here.is_absolute() {
            let hint = "change to a directory that exists";
            return Err(Failure::user("the current directory is gone").with_hint(hint).into());
        }
        let root = match &globals.project {
            Some(given) => given_root(given, here)?,
            None => config::find_project_root(here, surroundings.home.as_deref()),
        };
        let request = LoadRequest {
            surroundings: surroundings.clone(),
            project_root: root.clone(),
            config_file: globals.config.clone(),
            flags: flags(globals, here)?,
        };
        Ok(Self { loaded: config::load(&request)?, root })
    }
}

/// A workplace with its desk open.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) desk: Desk,
    pub(super) now: Timestamp,
    pub(super) ids: IdSource,
    pub(super) seed: u64,
    pub(super) clock: Clock,
}

impl Session {
    /// Opens the memory that the configuration names. Nothing is read or written yet.
    pub(super) fn open(
        globals: &Globals,
        surroundings: &Surroundings,
        now: Timestamp,
        seed: u64,
    ) -> anyhow::Result<Self> {
        Self::at(Workplace::find(globals, surroundings)?, globals, surroundings, (now, seed), None)
    }

    /// The same for whoever cannot wait long for other writers.
    pub(super) fn open_in_haste(
        globals: &Globals,
        surroundings: &Surroundings,
        now: Timestamp,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        Self::at(Workplace::find(globals, surroundings)?, globals, surroundings, (now, 0), Some(patience))
    }

    /// The same moment at another desk.
    pub(super) fn elsewhere(&self, desk: Desk) -> Self {
        Self { desk, now: self.now, ids: IdSource::new(self.seed), seed: self.seed, clock: self.clock.clone() }
    }

    fn at(
        workplace: Workplace,
        globals: &Globals,
        surroundings: &Surroundings,
        (now, seed): (Timestamp, u64),
        patience: Option<Duration>,
    ) -> anyhow::Result<Self> {
        let Workplace { root, loaded } = workplace;
        Ok(Self {
            desk: Desk::open(root, loaded.config, surroundings, patience),
            now,
            ids: IdSource::new(seed),
            seed,
            clock: globals.now.map_or_else(Clock::of_the_system, Clock::fixed),
        })
    }
}

fn given_root(given: &Path, here: &Path) -> Result<PathBuf, Failure> {
    let path = here.join(given);
    match path.canonicalize() {
        Ok(root) if root.is_dir() => Ok(root),
        Ok(_) => Err(Failure::user(format!("--project {} is not a directory", given.display()))),
        Err(error) => Err(Failure::user(format!("--project {} cannot be used: {error}", given.display()))
            .with_hint("give the root directory of the project")),
    }
}

/// The flags that set a key. A path on the command line starts where the person is, not at the project's root.
fn flags(globals: &Globals, here: &Path) -> Result<Vec<(String, String)>, Failure> {
    let Some(given) = &globals.memory_dir else {
        return Ok(Vec::new());
    };
    let keeps_its_meaning = given.as_os_str().is_empty() || given.starts_with("~");
    let path = if keeps_its_meaning { given.clone() } else { here.join(given) };
    match path.into_os_string().into_string() {
        Ok(path) => Ok(vec![("memory.dir".to_owned(), path)]),
        Err(_) => Err(Failure::user(format!("--memory-dir {} is not Unicode", given.display()))),
    }
}
