//! A worker that outlives this process and whoever called it.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::arguments::Globals;
use super::session::Session;
use crate::config::Surroundings;
use crate::hooks::GUARD_VARIABLE;

#[cfg(windows)]
const DETACHED: u32 = 0x0000_0008 | 0x0000_0200;

/// How a worker for this memory is started.
#[derive(Debug, Clone)]
pub(super) struct WorkerStart {
    root: PathBuf,
    flags: Vec<(&'static str, PathBuf)>,
}

impl WorkerStart {
    pub(super) fn new(session: &Session, globals: &Globals, surroundings: &Surroundings) -> Self {
        let given = [("--memory-dir", &globals.memory_dir), ("--config", &globals.config)];
        let flags = given
            .into_iter()
            .filter_map(|(flag, path)| path.as_ref().map(|path| (flag, surroundings.current_dir.join(path))));
        Self { root: session.desk.project().root.clone(), flags: flags.collect() }
    }

    /// Starts one. It ends by itself when nothing is left to do.
    pub(super) fn start(&self) -> io::Result<()> {
        let mut worker = Command::new(std::env::current_exe()?);
        worker.args(["worker", "--once", "--linger", "--quiet", "--project"]).arg(&self.root);
        for (flag, path) in &self.flags {
            worker.arg(flag).arg(path);
        }
        worker.current_dir(&self.root).env(GUARD_VARIABLE, "1");
        worker.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // An agent that is interrupted, or that gives up on its hook, ends the hook's group of processes.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut worker, 0);
        #[cfg(windows)]
        std::os::windows::process::CommandExt::creation_flags(&mut worker, DETACHED);
        let mut child = worker.spawn()?;
        // Whoever stays must not leave what it started unburied.
        std::thread::Builder::new().name("worker".to_owned()).spawn(move || child.wait())?;
        Ok(())
    }
}
