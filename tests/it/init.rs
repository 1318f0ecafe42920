//! Hooks in the settings of agents: put there, shown, and taken out again without a trace.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{World, text};

/// Settings as they grow over a year: odd indentation, hooks of others, comments, no line break at the end.
const SETTINGS: &str = include_str!("../../fixtures/hooks/settings/claude-code.json");

fn with_settings(text: &str) -> World {
    let world = World::new();
    fs::create_dir(world.project().join(".claude")).unwrap();
    fs::write(settings(&world), text).unwrap();
    world
}

fn settings(world: &World) -> std::path::PathBuf {
    world.project().join(".claude/settings.json")
}

/// Every file below a directory with its content, but for records.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => {
                    found.push((text(&path).to_owned(), Vec::new()));
                    open.push(path);
                }
                false => found.push((text(&path).to_owned(), fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn settings_with_hooks_of_others_survive_init_twice_and_its_removal() {
    let world = with_settings(SETTINGS);
    fs::create_dir(world.project().join(".git")).unwrap();
    let before = files(&world.project());
    world.ok(&["init"]);
    let once = files(&world.project());
    assert_ne!(once, before);
    let again = world.run(&["init"]);
    assert!(again.stdout.is_empty() && again.stderr.starts_with("everything is in place already"), "{again}");
    assert_eq!(files(&world.project()), once);
    world.ok(&["init", "--prompts", "--program", "/opt/my tools/archivist"]);
    assert_ne!(files(&world.project()), once);
    world.ok(&["init", "--remove"]);
    assert_eq!(files(&world.project()), before);
    assert_snapshot!(world.run(&["init", "--remove"]), @"! there was nothing to take back");
}

#[test]
fn every_change_is_shown_and_a_dry_run_makes_none() {
    let world = with_settings(SETTINGS);
    fs::create_dir(world.project().join(".git")).unwrap();
    let before = files(&world.project());
    assert_snapshot!(world.run(&["init", "--dry-run"]));
    assert_eq!(files(&world.project()), before);
    let shown = world.run(&["init", "--dry-run"]).stdout;
    assert_eq!(world.ok(&["init"]), shown);
}

#[test]
fn what_was_not_there_is_made_and_goes_again() {
    let world = World::new();
    let before = files(&world.project());
    assert_snapshot!(world.run(&["init", "--agent", "codex"]));
    assert!(world.project().join(".codex/hooks.json").is_file());
    assert_snapshot!(world.run(&["init", "--remove"]));
    assert_eq!(files(&world.project()), before);
}

#[test]
fn empty_and_strange_settings_come_back_to_the_byte() {
    for text in
        ["", "\n", "{}", "{ }", "{\n}", "{\"hooks\":{}}", "{\"hooks\":{\"SessionEnd\":[]}}", "\u{feff}{\"a\":1}\r\n"]
    {
        let world = with_settings(text);
        world.ok(&["init"]);
        assert_ne!(fs::read_to_string(settings(&world)).unwrap(), text);
        world.ok(&["init", "--prompts"]);
        world.ok(&["init", "--remove"]);
        assert_eq!(fs::read_to_string(settings(&world)).unwrap(), text);
    }
}

#[test]
fn settings_that_were_edited_since_keep_the_edits() {
    let world = with_settings("{\n  \"hooks\": {},\n  \"a\": 1\n}\n");
    world.ok(&["init"]);
    let edited = fs::read_to_string(settings(&world)).unwrap().replace("\"a\": 1", "\"a\": 2");
    fs::write(settings(&world), edited).unwrap();
    world.ok(&["init", "--remove"]);
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), "{\n  \"a\": 2\n}\n");
}

#[test]
fn hooks_that_came_with_a_clone_can_be_removed_too() {
    let world = with_settings("{}\n");
    world.ok(&["init"]);
    // Somebody else's machine knows nothing of what was there before.
    fs::remove_dir_all(world.home().join(".local")).unwrap();
    world.ok(&["init", "--program", "/opt/archivist"]);
    world.ok(&["init", "--remove"]);
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), "{}\n");
}

#[test]
fn the_record_holds_nothing_of_what_was_there_and_the_diff_no_secret() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let world = with_settings(&format!("{{\n  \"env\": {{\n    \"GITHUB_TOKEN\": \"{secret}\"\n  }}\n}}\n"));
    let shown = world.run(&["init"]);
    assert!(shown.stdout.contains("GITHUB_TOKEN") && !shown.stdout.contains(secret), "{shown}");
    for (path, bytes) in files(&world.home().join(".local")) {
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{path}");
    }
    assert!(fs::read_to_string(settings(&world)).unwrap().contains(secret));
}

#[test]
fn agents_are_found_by_their_folders() {
    let agents = |world: &World, arguments: &[&str]| -> Vec<String> {
        let arguments: Vec<&str> = ["init", "--dry-run", "--json"].iter().chain(arguments).copied().collect();
        let report: Value = serde_json::from_str(&world.ok(&arguments)).unwrap();
        report["agents"].as_array().unwrap().iter().map(|agent| agent.as_str().unwrap().to_owned()).collect()
    };
    let world = World::new();
    assert_eq!(agents(&world, &[]), ["claude-code"]);
    fs::create_dir(world.home().join(".gemini")).unwrap();
    assert_eq!(agents(&world, &[]), ["gemini"]);
    fs::create_dir(world.project().join(".codex")).unwrap();
    assert_eq!(agents(&world, &[]), ["codex"]);
    assert_eq!(agents(&world, &["--user"]), ["gemini"]);
    assert_eq!(agents(&world, &["--agent", "gemini", "--agent", "claude-code"]), ["claude-code", "gemini"]);
}

#[test]
fn the_users_settings_are_those_of_the_agents_home() {
    let world = World::new();
    let elsewhere = world.home().join("elsewhere");
    let variables = [("CLAUDE_CONFIG_DIR", text(&elsewhere))];
    let output = world.run_with(&["init", "--user"], &variables, "");
    assert_eq!(output.status, 0, "{output}");
    assert!(elsewhere.join("settings.json").is_file());
    assert!(!world.project().join(".claude").exists() && !world.project().join(".openagents/archivist.toml").exists());
    world.run_with(&["init", "--user", "--remove"], &variables, "");
    assert!(!elsewhere.exists());
}

#[test]
fn a_file_that_cannot_be_edited_is_named_and_nothing_is_written() {
    let check = |text: &str, expected: &str| {
        let world = with_settings(text);
        fs::create_dir(world.project().join(".git")).unwrap();
        let before = files(&world.project());
        let output = world.run(&["init"]);
        assert_eq!((output.status, output.stdout.as_str()), (1, ""), "{output}");
        assert!(output.stderr.contains(expected), "{output}");
        assert_eq!(files(&world.project()), before);
    };
    check("{\n  \"a\": 1,\n  oops\n}\n", "error: .claude/settings.json: line 3, column 3 is not JSON");
    check("{\n  \"hooks\": \"none\"\n}\n", "error: .claude/settings.json: line 2: `hooks` should be an object");
    let world = World::new();
    fs::create_dir_all(settings(&world)).unwrap();
    assert_snapshot!(world.run(&["init"]), @"
    ! error: .claude/settings.json is no file
    exit 1
    ");
    let world = with_settings("");
    fs::write(settings(&world), b"{\"a\": \"\xff\"}").unwrap();
    assert_snapshot!(world.run(&["init"]), @"
    ! error: .claude/settings.json is not UTF-8 text
    ! hint: convert it to UTF-8 first
    exit 1
    ");
}

#[test]
fn a_program_that_no_shell_reads_is_refused() {
    assert_snapshot!(World::new().run(&["init", "--program", "$(curl x)"]), @"
    ! error: --program is no path that a shell reads as one word
    ! hint: use a path without quotes, $, `, % and !
    exit 2
    ");
}

#[cfg(unix)]
#[test]
fn a_read_only_file_stays_and_permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let world = with_settings("{}\n");
    fs::set_permissions(settings(&world), fs::Permissions::from_mode(0o444)).unwrap();
    let output = world.run(&["init"]);
    assert!(output.status == 1 && output.stderr.starts_with("error: .claude/settings.json is read-only\n"), "{output}");
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), "{}\n");
    assert!(!world.project().join(".openagents/archivist.toml").exists());
    fs::set_permissions(settings(&world), fs::Permissions::from_mode(0o600)).unwrap();
    // One file that may not be written keeps all others from being written.
    fs::create_dir(world.project().join(".git")).unwrap();
    fs::write(world.project().join(".gitattributes"), "").unwrap();
    fs::set_permissions(world.project().join(".gitattributes"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(world.run(&["init"]).status, 1);
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), "{}\n");
    fs::remove_file(world.project().join(".gitattributes")).unwrap();
    world.ok(&["init"]);
    assert_eq!(fs::metadata(settings(&world)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_within_the_project_and_no_further() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    fs::create_dir(world.project().join(".claude")).unwrap();
    fs::create_dir(world.project().join("dotfiles")).unwrap();
    let inside = world.project().join("dotfiles/claude.json");
    fs::write(&inside, "{}\n").unwrap();
    symlink(&inside, settings(&world)).unwrap();
    world.ok(&["init"]);
    assert!(settings(&world).is_symlink() && fs::read_to_string(&inside).unwrap().contains("archivist hook"));
    world.ok(&["init", "--remove"]);
    assert!(settings(&world).is_symlink());
    assert_eq!(fs::read_to_string(&inside).unwrap(), "{}\n");

    let outside = world.home().join("outside.json");
    fs::write(&outside, "{}\n").unwrap();
    fs::remove_file(settings(&world)).unwrap();
    symlink(&outside, settings(&world)).unwrap();
    assert_snapshot!(world.run(&["init"]), @"
    ! error: .claude/settings.json is a link to ~/outside.json, which lies elsewhere
    ! hint: edit that file by hand: docs/hooks.md shows what belongs there
    exit 1
    ");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}\n");
    fs::remove_file(&outside).unwrap();
    assert_snapshot!(world.run(&["init"]), @"
    ! error: .claude/settings.json is a link that leads nowhere
    ! hint: mend the link, or remove it
    exit 1
    ");
    fs::remove_dir_all(world.project().join(".claude")).unwrap();
    fs::create_dir(world.home().join("shared")).unwrap();
    symlink(world.home().join("shared"), world.project().join(".claude")).unwrap();
    assert_eq!(world.run(&["init"]).status, 1);
    assert!(!world.home().join("shared/settings.json").exists());
}

#[test]
fn what_a_hook_gave_is_known_again_in_the_log() {
    let world = World::new();
    world.ok(&["add", "Start redis before the billing tests"]);
    let payload = r#"{"sessionId": "s-1"}"#;
    let block = world.run_with(&["hook", "generic", "session-start"], &[], payload).stdout;
    assert!(block.contains("Start redis"), "{block}");
    let log = world.project().join("run.jsonl");
    let told = |content: &str| {
        fs::write(&log, format!("{}\n", serde_json::json!({"role": "user", "content": content}))).unwrap();
        world.ok(&["inspect", text(&log), "--digest"])
    };
    assert!(told("Start redis before the billing tests, please").contains("Start redis"));
    let digest = told(&format!("{block}\nThe cart loses its discount."));
    assert!(digest.contains("The cart loses its discount") && !digest.contains("Start redis"), "{digest}");
}
