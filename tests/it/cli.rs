//! The binary as people and programs meet it: exit codes, errors with hints, pipes, upkeep and configuration.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Output, World, text};

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn the_program_loads_no_shared_libgcc_where_the_linker_has_the_other() {
    let answer = std::process::Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let has_archive = answer.is_ok_and(|answer| answer.stdout.starts_with(b"/"));
    let program = fs::read(env!("CARGO_BIN_EXE_archivist")).unwrap();
    let name = b"libgcc_s.so";
    let loads_shared = program.windows(name.len()).any(|bytes| bytes == name);
    assert!(!has_archive || !loads_shared, "see build.rs: nothing of the façade is linked");
}

#[test]
fn errors_say_what_to_do_next() {
    let world = World::new();
    assert_snapshot!(world.run(&["show", "m-404"]), @"
    ! error: there is no lesson `m-404`
    ! hint: `archivist list --all` shows every lesson
    exit 1
    ");
    assert_snapshot!(world.run(&["show", "../etc"]), @"
    ! error: invalid value '../etc' for '[ID]': `../etc` is not a memory id: it must begin with a letter or a digit
    !
    ! For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(world.run(&["histroy", "m-001"]), @"
    ! error: unrecognized subcommand 'histroy'
    !
    !   tip: some similar subcommands exist: 'list', 'history'
    !
    ! Usage: archivist [OPTIONS] <COMMAND>
    !
    ! For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(world.run(&["list", "--now", "yesterday"]), @"
    ! error: invalid value 'yesterday' for '--now <RFC3339>': a moment is written like 2026-01-31T12:00:00Z
    !
    ! For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(world.run(&["list", "--project", "nowhere"]), @"
    ! error: --project nowhere cannot be used: No such file or directory (os error 2)
    ! hint: give the root directory of the project
    exit 1
    ");
    assert_snapshot!(world.run(&["list", "--config", "nowhere.toml"]), @"
    ! error: cannot read given file ~/project/nowhere.toml: No such file or directory (os error 2)
    exit 1
    ");
    let variables = [("ARCHIVIST__MEMORY__DIRR", "x"), ("ARCHIVIST__RECALL__FLOOR", "7")];
    assert_snapshot!(world.run_with(&["list"], &variables, ""), @"
    ! error: unknown key `memory.dirr` in environment variable ARCHIVIST__MEMORY__DIRR
    ! hint: did you mean `ARCHIVIST__MEMORY__DIR`?
    ! error: `recall.floor` must be a number from 0 to 1, found the number 7.0 in environment variable ARCHIVIST__RECALL__FLOOR
    exit 1
    ");
}

#[test]
fn errors_are_coloured_only_on_demand() {
    let world = World::new();
    assert!(
        world.run(&["show", "m-404", "--color", "always"]).stderr.starts_with("\u{1b}[1;31merror:\u{1b}[0m there is")
    );
    assert!(!world.run(&["show", "m-404"]).stderr.contains('\u{1b}'));
    assert!(world.run(&["--color", "always", "no-such-command"]).stderr.contains('\u{1b}'));
    assert!(!world.run(&["--color=never", "--help"]).stdout.contains('\u{1b}'));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep"]);
    for arguments in
        [&["list"][..], &["list", "--json"], &["recall", "rg"], &["--help"], &["completions", "bash"], &["man"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = world.command(arguments).stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = world.command(&["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write to stdout: "));
}

#[test]
fn logging_is_off_until_asked_for_and_never_on_stdout() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep"]);
    let [silent, talking] = [&["recall", "grep"][..], &["recall", "grep", "-v"]].map(|arguments| world.run(arguments));
    assert_eq!(silent.stderr, "");
    assert!(talking.stderr.contains("recalled given=1"), "{talking}");
    assert_eq!(silent.stdout, talking.stdout);
}

#[test]
fn every_command_has_help_with_an_example() {
    let world = World::new();
    let mut commands = subcommands(&world.ok(&["--help"]));
    let config = commands.iter().position(|name| name == "config").unwrap();
    commands.splice(config..=config, ["config show".to_owned(), "config schema".to_owned()]);
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = world.ok(&words);
        let example = format!("archivist {command}");
        assert!(help.split("Examples:").nth(1).is_some_and(|examples| examples.contains(&example)), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(world.ok(&["completions", shell]).contains("recall"), "{shell}");
    }
    assert!(world.ok(&["man"]).contains(".TH archivist 1"));
    let dir = world.home().join("man/man1");
    world.ok(&["man", "--dir", text(&dir)]);
    assert!(dir.join("archivist.1").exists() && dir.join("archivist-recall.1").exists());
}

#[test]
fn the_configuration_says_where_it_comes_from() {
    let world = World::new();
    fs::write(world.project().join(".openagents/archivist.toml"), "[recall]\nmaxResults = 3\n").unwrap();
    let output = world.run_with(&["config", "show", "--origin"], &[("ARCHIVIST__RECALL__GATE", "30")], "");
    let is_of_recall = |line: &&str| {
        line.split(' ').next().is_some_and(|key| key.starts_with("recall.") && key.matches('.').count() == 1)
    };
    let recall: Vec<&str> = output.stdout.lines().filter(is_of_recall).collect();
    assert_snapshot!(recall.join("\n"), @r#"
    recall.byMeaning = false                                # built-in default
    recall.far = 0.7                                        # built-in default
    recall.floor = 0.55                                     # built-in default
    recall.gate = 30                                        # environment variable ARCHIVIST__RECALL__GATE
    recall.holdout = 0.1                                    # built-in default
    recall.maxResults = 3                                   # project file ~/project/.openagents/archivist.toml
    recall.minScore = 0.1                                   # built-in default
    recall.near = 0.92                                      # built-in default
    recall.profile = "balanced"                             # built-in default
    recall.seed = 0                                         # built-in default
    "#);
    let shown: Value = serde_json::from_str(&world.ok(&["config", "show", "--json"])).unwrap();
    assert_eq!(shown["recall.maxResults"], 3);
    let schema: Value = serde_json::from_str(&world.ok(&["config", "schema"])).unwrap();
    assert_eq!(schema["title"], "Archivist configuration");
}

#[test]
fn status_counts_and_doctor_looks() {
    let world = World::new();
    assert_snapshot!(world.run(&["status"]), @"! there is no memory here yet; `archivist add` begins one");
    world.ok(&["add", "Prefer rg over grep"]);
    world.ok(&["add", "Quote paths"]);
    world.ok(&["forget", "m-002"]);
    assert_snapshot!(world.run(&["doctor"]), @"! nothing is wrong");
    let path = world.memory().join("lessons.jsonl");
    let mut lines = fs::read_to_string(&path).unwrap();
    lines.push_str("not a record\n");
    fs::write(&path, &lines).unwrap();
    assert_snapshot!(without_sizes(&world.run(&["status"])), @"
    ~/project/.openagents/memory
      lessons   1, 1 retired
      episodes  0
      ledger    0
      damaged   1 line
      index     none; small memories need none
      files     lessons.jsonl 1.0 B
    ! hint: `archivist doctor` shows the damaged lines
    ");
    assert_snapshot!(world.run(&["doctor"]), @"
    File           Line  Remedy       Problem
    lessons.jsonl     4  none needed  not read: expected ident
    ");
    fs::write(&path, format!("{lines}{{\"id\":")).unwrap();
    assert_snapshot!(world.run(&["doctor"]), @"
    File           Line  Remedy       Problem
    lessons.jsonl     4  none needed  not read: expected ident
    lessons.jsonl     5  none needed  not read: EOF while parsing a value
    lessons.jsonl     -  repairable   the last line has no newline
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    ");
    assert_snapshot!(world.run(&["doctor", "--repair"]), @"
    File           Line  Remedy       Problem
    lessons.jsonl     -  mended       the last line has no newline
    lessons.jsonl     4  none needed  not read: expected ident
    lessons.jsonl     5  none needed  not read: EOF while parsing a value
    ");
    let report: Value = serde_json::from_str(&world.ok(&["doctor", "--json"])).unwrap();
    assert_eq!(report["mended"], Value::Array(Vec::new()));
    let compacted = without_sizes(&world.run(&["compact"]));
    assert_snapshot!(compacted, @"~/project/.openagents/memory: 1 retired lesson and 2 old versions moved, # B before, # B after");
    assert!(world.ok(&["list", "--all"]).contains("Quote paths"));
}

#[test]
fn episodes_are_listed() {
    let world = World::new();
    assert_snapshot!(world.run(&["episodes"]), @"! no episodes");
    let episode = |id: &str, finished: &str, summary: &str| {
        json!({
            "id": id, "projectRoot": "/elsewhere", "taskId": "auth-42", "sessionId": format!("s-{id}"),
            "kind": "subagent_run", "status": "failed", "summary": summary,
            "startedAt": "2026-01-01T00:00:00Z", "finishedAt": finished,
        })
    };
    let old = episode("ep-1", "2026-01-02T00:00:00Z", "Tried to log in");
    let new = episode("ep-2", "2026-02-28T12:00:00Z", "Logged in\nat last");
    fs::create_dir_all(world.memory()).unwrap();
    fs::write(world.memory().join("episodes.jsonl"), format!("{old}\n{new}\n")).unwrap();
    world.trust();
    assert_snapshot!(world.run(&["episodes"]), @"
    Session  Task     Kind          Status  Age  Summary
    s-ep-2   auth-42  subagent_run  failed  24h  Logged in at last
    s-ep-1   auth-42  subagent_run  failed  58d  Tried to log in
    ");
    assert_snapshot!(world.run(&["episodes", "--days", "7", "--task", "auth-42"]), @"
    Session  Task     Kind          Status  Age  Summary
    s-ep-2   auth-42  subagent_run  failed  24h  Logged in at last
    ");
    assert_snapshot!(world.run(&["episodes", "--session", "s-ep-3"]), @"! no episodes");
    let listed: Value = serde_json::from_str(&world.ok(&["episodes", "--json"])).unwrap();
    assert_eq!(listed[0]["id"], "ep-2");
}

#[test]
fn the_version_needs_nothing() {
    let world = World::new();
    assert_eq!(world.ok(&["--version"]), concat!("archivist ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(!world.memory().exists());
}

fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The output without sizes, which follow from what a record holds.
fn without_sizes(output: &Output) -> String {
    let words: Vec<String> = output.to_string().split(' ').map(str::to_owned).collect();
    let is_unit = |word: &str| matches!(word.trim_end_matches([',', '\n']), "B" | "KiB" | "MiB");
    let shown = |(at, word): (usize, &String)| match words.get(at + 1) {
        Some(next) if is_unit(next) => "#".to_owned(),
        _ => word.replace("KiB", "B"),
    };
    words.iter().enumerate().map(shown).collect::<Vec<_>>().join(" ")
}
