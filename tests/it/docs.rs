//! Documents that say what the program does are made by the program, or run.
//!
//! `ARCHIVIST_UPDATE_DOCS=1` writes the generated ones anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{NOW, World};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The file must hold this text; with `ARCHIVIST_UPDATE_DOCS` it gets it.
fn hold(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("ARCHIVIST_UPDATE_DOCS").is_some() {
        std::fs::write(&file, expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{path} is out of date: run ARCHIVIST_UPDATE_DOCS=1 ./scripts/test docs");
}

#[test]
fn the_command_reference_is_current() {
    let world = World::new();
    let help = world.ok(&["--help"]);
    let mut reference = format!(
        "# The command line\n\nWritten by the program itself: see `CONTRIBUTING.md`.\n\n```text\n{}```\n",
        trimmed(&help)
    );
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in listed.filter_map(|line| line.split_whitespace().next()).filter(|command| *command != "help") {
        let text = world.ok(&[command, "--help"]);
        reference.push_str(&format!("\n## archivist {command}\n\n```text\n{}```\n", trimmed(&text)));
        let parts: &[&str] = match command {
            "config" => &["show", "schema"],
            "eval" => &["audit", "dedup", "distill", "effect", "errors", "recall", "redact"],
            "feedback" => &["ignore", "outcome", "validate"],
            "prompt" => &["show"],
            _ => &[],
        };
        for part in parts {
            let text = world.ok(&[command, part, "--help"]);
            reference.push_str(&format!("\n### archivist {command} {part}\n\n```text\n{}```\n", trimmed(&text)));
        }
    }
    hold("docs/cli.md", &reference);
}

fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn the_configuration_schema_is_current() {
    hold("config/schema.json", &World::new().ok(&["config", "schema"]));
}

#[test]
fn transcripts_run_as_they_stand() {
    let mut ran = 0;
    for name in ["README.md", "docs/formats.md", "docs/operations.md", "docs/decisions.md", "docs/archeflow.md"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        ran += run_transcripts(name, &text);
    }
    assert!(ran > 5, "only {ran} commands in all documents");
}

/// Runs every `console` block of a document, in order, in one world of its own; counts the commands.
fn run_transcripts(name: &str, document: &str) -> usize {
    let world = World::new();
    let tools = world.home().join("bin");
    std::fs::create_dir(&tools).unwrap();
    // Documents speak of files of the repository as a reader sees them from its root.
    #[cfg(unix)]
    std::os::unix::fs::symlink(root().join("fixtures"), world.project().join("fixtures")).unwrap();
    let script = format!("#!/bin/sh\nexec {:?} \"$@\" --now {NOW} --seed 7\n", env!("CARGO_BIN_EXE_archivist"));
    write_script(&tools.join("archivist"), &script);
    let mut ran = 0;
    for block in document.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        for step in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, expected) = step.split_once('\n').unwrap_or((step, ""));
            let path = format!("{}:/usr/local/bin:/usr/bin:/bin", tools.display());
            let output = Command::new("sh")
                .args(["-c", &format!("{{ {command}\n}} 2>&1")])
                .current_dir(world.project())
                .env_clear()
                .env("HOME", world.home())
                .env("PATH", path)
                .output()
                .unwrap();
            let found = String::from_utf8(output.stdout).unwrap().replace(world.home().to_str().unwrap(), "~");
            assert_eq!(trimmed(found.trim_end()), trimmed(expected.trim_end()), "{name}: $ {command}");
            ran += 1;
        }
    }
    ran
}

fn write_script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The commands in the examples of a fleet are commands of this program, and the files are what they say they are.
#[test]
fn examples_of_a_fleet_name_commands_that_there_are() {
    let world = World::new();
    let folder = root().join("examples/fleet");
    let compose = std::fs::read_to_string(folder.join("docker-compose.yml")).unwrap();
    assert!(!compose.contains('\t'), "YAML knows no tabs");
    let mut commands: Vec<Vec<String>> = compose
        .lines()
        .filter_map(|line| line.trim().strip_prefix("command: "))
        .map(|list| serde_json::from_str(list).unwrap())
        .collect();
    assert_eq!(commands.len(), 3);
    for unit in ["archivist-worker.service", "archivist-serve.service"] {
        let text = std::fs::read_to_string(folder.join(unit)).unwrap();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let is_section = line.starts_with('[') && line.ends_with(']');
            assert!(is_section || line.split_once('=').is_some_and(|(key, _)| !key.contains(' ')), "{unit}: {line}");
        }
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/archivist ")).unwrap();
        commands.push(start.split(' ').map(str::to_owned).collect());
    }
    for command in commands {
        let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        world.ok(&words);
    }
}
