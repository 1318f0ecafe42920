//! Starts a worker that outlives this process and its caller.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::arguments::GlobalFlags;
use super::command_context::CommandContext;
use crate::hooks::GUARD_VARIABLE;
use archivist_core::config::ProcessEnvironment;

#[cfg(windows)]
const DETACHED: u32 = 0x0000_0008 | 0x0000_0200;

/// Starts workers for one memory.
#[derive(Debug, Clone)]
pub(super) struct WorkerLauncher {
    root: PathBuf,
    flags: Vec<(&'static str, PathBuf)>,
}

impl WorkerLauncher {
    pub(super) fn new(session: &CommandContext, globals: &GlobalFlags, environment: &ProcessEnvironment) -> Self {
        let given = [("--memory-dir", &globals.memory_dir), ("--config", &globals.config)];
        let flags = given
            .into_iter()
            .filter_map(|(flag, path)| path.as_ref().map(|path| (flag, environment.current_dir.join(path))));
        Self { root: session.archivist.project().root.clone(), flags: flags.collect() }
    }

    /// Starts a worker, which ends by itself when nothing is left to do.
    pub(super) fn launch_worker(&self) -> io::Result<()> {
        let mut worker = Command::new(std::env::current_exe()?);
        worker.args(["worker", "--once", "--linger", "--quiet", "--project"]).arg(&self.root);
        for (flag, path) in &self.flags {
            worker.arg(flag).arg(path);
        }
        worker.current_dir(&self.root).env(GUARD_VARIABLE, "1");
        worker.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // An agent that is interrupted, or that gives up on its hook, kills the hook's process group.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut worker, 0);
        #[cfg(windows)]
        std::os::windows::process::CommandExt::creation_flags(&mut worker, DETACHED);
        let mut child = worker.spawn()?;
        // A caller that keeps running must reap the child process.
        std::thread::Builder::new().name("worker".to_owned()).spawn(move || child.wait())?;
        Ok(())
    }
}
