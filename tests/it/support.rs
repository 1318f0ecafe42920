//! A small world for the real binary: a home, a project and a clock that stands still.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What time it is, unless a test says otherwise.
pub(crate) const NOW: &str = "2026-03-01T12:00:00Z";

/// A home directory and a project in it, gone when the test ends.
#[derive(Debug)]
pub(crate) struct World {
    root: TempDir,
}

/// What a run of the binary left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let world = Self { root };
        std::fs::create_dir_all(world.project().join(".openagents")).expect("a project");
        world
    }

    /// The home directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().canonicalize().expect("a home")
    }

    /// The project's root, which is also where commands run.
    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// The directory of the project's memory.
    pub(crate) fn memory(&self) -> PathBuf {
        self.project().join(".openagents/memory")
    }

    /// Lets commands decide what takes a person at a terminal otherwise.
    pub(crate) fn let_scripts_decide(&self) {
        let folder = self.home().join(".config/archivist");
        std::fs::create_dir_all(&folder).expect("a folder for settings");
        std::fs::write(folder.join("config.toml"), "[decisions]\nwithoutTerminal = true\n").expect("settings");
    }

    /// Runs a command that takes a person, gives its stdout, and leaves the settings as they were.
    pub(crate) fn decide(&self, arguments: &[&str]) -> String {
        let settings = self.home().join(".config/archivist/config.toml");
        let before = std::fs::read(&settings).ok();
        self.let_scripts_decide();
        let said = self.ok(arguments);
        match before {
            Some(before) => std::fs::write(&settings, before).expect("settings"),
            None => std::fs::remove_file(&settings).expect("settings"),
        }
        said
    }

    /// Runs a command in the project.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[], "")
    }

    /// Runs a command that must succeed, and gives its stdout.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status, 0, "{arguments:?} failed:\n{output}");
        output.stdout
    }

    /// Trusts the project's repository, as a person does who has looked at what it brings along.
    pub(crate) fn trust(&self) {
        self.decide(&["trust", "--quiet"]);
    }

    /// Runs a command with these variables set and this text on stdin.
    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)], input: &str) -> Output {
        self.finish(self.command(arguments).envs(variables.iter().copied()), input)
    }

    /// The command as [`run`](Self::run) would start it: the project's directory, an empty environment but for the
    /// home, a fixed clock and a fixed seed.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_archivist"));
        command.args(arguments).current_dir(self.project()).env_clear().env("HOME", self.home());
        if arguments.first() == Some(&"hook") {
            // A machine under load must not make hooks silent.
            let patient = ["START_DEADLINE_MILLIS", "DEADLINE_MILLIS"];
            command.envs(patient.map(|name| (format!("ARCHIVIST__HOOKS__{name}"), "60000")));
        }
        if !arguments.contains(&"--now") {
            command.args(["--now", NOW]);
        }
        if !arguments.contains(&"--seed") {
            command.args(["--seed", "7"]);
        }
        command
    }

    fn finish(&self, command: &mut Command, input: &str) -> Output {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        // A command that does not read its stdin may be gone by now.
        let _ = child.stdin.take().expect("a stdin").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("the binary ends");
        Output {
            status: output.status.code().expect("an exit code"),
            stdout: self.without_paths(&output.stdout),
            stderr: self.without_paths(&output.stderr),
        }
    }

    /// The text with the temporary directory called `~`.
    fn without_paths(&self, bytes: &[u8]) -> String {
        let home = self.home();
        String::from_utf8(bytes.to_vec()).expect("text").replace(text(&home), "~")
    }
}

/// The path as text.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// Stdout, then stderr line by line behind `!`, then the exit code if it is not 0.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        for line in self.stderr.lines() {
            writeln!(f, "{}", format!("! {line}").trim_end())?;
        }
        if self.status != 0 {
            writeln!(f, "exit {}", self.status)?;
        }
        Ok(())
    }
}
