//! `archivist archeflow` among other writers, links, kills and long logs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::archeflow::{ARCHIVE, AUDIT, LESSONS, RUNS, flow, lesson, records, write};
use crate::support::{NOW, World};

fn command(world: &World, words: &[&str]) -> Command {
    let mut command = world.command(&[&["--now", NOW, "--seed", "7", "archeflow"], words].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn ids(world: &World) -> BTreeSet<String> {
    records(world, LESSONS).iter().map(|lesson| lesson["id"].as_str().unwrap().to_owned()).collect()
}

/// What lies in the memory's folder besides the files that belong there.
fn strays(world: &World) -> Vec<String> {
    let known = ["lessons.jsonl", "archive.jsonl", "audit.jsonl", "runs.jsonl", "lessons.jsonl.lock"];
    let files = std::fs::read_dir(world.project().join(".archeflow/memory")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !known.contains(&name.as_str())).collect()
}

fn add_at_once(count: usize) {
    let world = World::new();
    let texts: Vec<String> = (0..count).map(|number| format!("distinct lesson {number} about topic{number}")).collect();
    let children: Vec<_> =
        texts.iter().map(|text| command(&world, &["add", "pattern", text]).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(records(&world, LESSONS).len(), count);
    assert_eq!(ids(&world).len(), count);
    assert!(ids(&world).contains(&format!("m-{count:03}")));
    assert_eq!(strays(&world), [""; 0]);
}

#[test]
fn ten_at_once_lose_nothing() {
    add_at_once(10);
}

#[test]
fn fifty_at_once_lose_nothing() {
    add_at_once(50);
}

#[test]
fn different_commands_at_once_lose_nothing() {
    let world = World::new();
    let old: String = (1..=8).map(|number| lesson(&format!("m-{number:03}"), "pattern", 9, "code")).collect();
    write(&world.project().join(LESSONS), &old);
    let logs: Vec<String> = (0..8).map(|number| format!("run-{number}.jsonl")).collect();
    for (number, log) in logs.iter().enumerate() {
        let event = verdict(&format!("run-{number}"), &[&format!("word{number} only{number} here{number}")]);
        write(&world.project().join(log), &event);
    }
    let gone: Vec<String> = (1..=4).map(|number| format!("m-{number:03}")).collect();
    let mut children = Vec::new();
    children.extend(logs.iter().map(|log| command(&world, &["extract", log]).spawn().unwrap()));
    children.extend(gone.iter().map(|id| command(&world, &["forget", id]).spawn().unwrap()));
    children.extend((0..4).map(|_| command(&world, &["decay", "one"]).spawn().unwrap()));
    children.extend((0..4).map(|_| command(&world, &["inject", "code", "", "--audit", "run-x"]).spawn().unwrap()));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!((records(&world, LESSONS).len(), records(&world, ARCHIVE).len()), (12, 4));
    assert_eq!(ids(&world).len(), 12);
    assert_eq!(records(&world, RUNS).iter().filter(|record| record["decayed"] == true).count(), 1);
    assert_eq!(records(&world, AUDIT).len(), 4);
    assert_eq!(strays(&world), [""; 0]);
}

#[test]
fn the_lock_is_the_scripts() {
    let world = World::new();
    write(&world.project().join(LESSONS), &lesson("m-001", "pattern", 2, "code"));
    let lock = std::fs::File::options()
        .create(true)
        .append(true)
        .open(world.project().join(format!("{LESSONS}.lock")))
        .unwrap();
    lock.lock().unwrap();
    let mut writer = command(&world, &["add", "Waits"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(150));
    assert!(writer.try_wait().unwrap().is_none(), "it did not wait");
    // Whoever only reads does not.
    assert_eq!(flow(&world, &["list"]).status, 0);
    assert_eq!(flow(&world, &["inject", "code"]).status, 0);
    lock.unlock().unwrap();
    assert!(writer.wait().unwrap().success());
    assert_eq!(records(&world, LESSONS).len(), 2);
}

fn verdict(run: &str, findings: &[&str]) -> String {
    let findings: Vec<Value> =
        findings.iter().map(|text| json!({"severity": "bug", "description": text, "category": "code"})).collect();
    let data = json!({"archetype": "guardian", "findings": findings});
    format!("{}\n", json!({"run_id": run, "type": "review.verdict", "data": data}))
}

/// A log of so many events with one finding in the middle and one at the end.
fn long_log(run: &str, events: usize) -> String {
    let mut log = String::new();
    for number in 0..events - 2 {
        if number == events / 2 {
            log.push_str(&verdict(run, &["Missing null check in response handler"]));
        }
        let noise = json!({"run_id": run, "seq": number, "type": "agent.complete", "data": {"summary": "did a thing", "tokens": number}});
        writeln!(log, "{noise}").unwrap();
    }
    log.push_str(&verdict(run, &["Timeline references contradict chapter three"]));
    log
}

#[test]
fn long_logs_are_read_to_the_end() {
    for (events, times) in [(200, 10), (2_000, 5), (40_001, 3)] {
        let log = long_log("run-1", events);
        for _ in 0..times {
            let world = World::new();
            write(&world.project().join("long.jsonl"), &log);
            let output = flow(&world, &["extract", "long.jsonl"]);
            assert_eq!(output.status, 0, "{output}");
            assert!(output.stderr.contains("0 updated, 2 new candidates"), "{output}");
            assert_eq!(records(&world, LESSONS).len(), 2);
        }
    }
}

#[test]
fn a_log_may_come_through_no_pipe() {
    let world = World::new();
    let output = flow(&world, &["extract", "/dev/null"]);
    assert_eq!((output.status, output.stderr.as_str()), (1, "Error: events file not found: /dev/null\n"));
}

/// What a killed writer may leave: all of a run's lessons, or none of them.
#[cfg(unix)]
#[test]
fn a_killed_writer_leaves_all_or_nothing() {
    use std::os::unix::process::ExitStatusExt;
    let world = World::new();
    let runs: Vec<String> = (0..12).map(|number| format!("run-{number}")).collect();
    for (number, run) in runs.iter().enumerate() {
        let own = format!("alone{number} only{number} here{number}");
        write(&world.project().join(format!("{run}.jsonl")), &verdict(run, &["Shared trouble everywhere", &own]));
    }
    let began = Instant::now();
    assert!(command(&world, &["list"]).status().unwrap().success());
    let usual = began.elapsed();
    let mut killed = 0;
    for (number, run) in runs.iter().enumerate() {
        let log = format!("{run}.jsonl");
        let before = records(&world, LESSONS);
        let mut child = command(&world, &["extract", &log]).spawn().unwrap();
        std::thread::sleep(usual.mul_f64(number as f64 / 8.0));
        let _ = child.kill();
        killed += usize::from(child.wait().unwrap().signal().is_some());
        let after = records(&world, LESSONS);
        let seen = |lessons: &[Value]| lessons.first().map_or(0, |lesson| lesson["frequency"].as_u64().unwrap());
        let text = std::fs::read_to_string(world.project().join(LESSONS)).unwrap_or_default();
        assert_eq!(text.lines().count(), after.len(), "a torn line");
        assert!(
            after == before || (seen(&after), after.len()) == (seen(&before) + 1, before.len().max(1) + 1),
            "half of {run} was counted:\n{text}"
        );
        // Trying again completes it, and counts nothing twice.
        for _ in 0..2 {
            assert!(command(&world, &["extract", &log]).status().unwrap().success());
            let whole = records(&world, LESSONS);
            assert_eq!((seen(&whole), whole.len()), (number as u64 + 1, number + 2), "after {run}");
        }
        assert_eq!(strays(&world), [""; 0]);
    }
    assert_eq!(ids(&world).len(), runs.len() + 1);
    println!("{killed} of {} were killed in time", runs.len());
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A world where this path of the project is a link to something outside, and what that is.
    fn linked(path: &str, content: Option<&str>) -> (World, std::path::PathBuf) {
        let world = World::new();
        let outside = world.home().join("outside");
        match content {
            Some(content) => std::fs::write(&outside, content).unwrap(),
            None => std::fs::create_dir(&outside).unwrap(),
        }
        let link = world.project().join(path);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, link).unwrap();
        (world, outside)
    }

    fn refused(world: &World, words: &[&str], message: &str) {
        let output = flow(world, words);
        assert_eq!(output.status, 1, "{words:?}\n{output}");
        assert!(output.stderr.contains(message), "{words:?}\n{output}");
    }

    #[test]
    fn lessons_are_not_written_through_a_link() {
        let line = lesson("m-001", "pattern", 2, "code");
        let (world, outside) = linked(LESSONS, Some(&line));
        write(&world.project().join("log.jsonl"), &verdict("run-1", &["Some trouble"]));
        let message = "Error: refusing to write through symlink: .archeflow/memory/lessons.jsonl\n";
        for words in [&["add", "pattern", "x"][..], &["extract", "log.jsonl"], &["decay"], &["forget", "m-001"]] {
            refused(&world, words, message);
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), line);
        // Reading is another matter.
        assert!(flow(&world, &["list"]).stdout.contains("m-001"));
        assert!(flow(&world, &["inject", "code"]).stdout.contains("m-001"));
    }

    #[test]
    fn neither_are_the_archive_the_audit_and_the_runs() {
        for (file, words) in [
            (ARCHIVE, &["decay"][..]),
            (ARCHIVE, &["forget", "m-001"]),
            (AUDIT, &["inject", "code", "", "--audit", "run-1"]),
            (RUNS, &["extract", "log.jsonl"]),
            (RUNS, &["decay", "run-1"]),
        ] {
            let (world, outside) = linked(file, Some("mine\n"));
            let line = lesson("m-001", "pattern", 2, "code");
            write(&world.project().join(LESSONS), &line);
            write(&world.project().join("log.jsonl"), &verdict("run-1", &["Some trouble"]));
            refused(&world, words, &format!("Error: refusing to write through symlink: {file}\n"));
            assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine\n");
            assert_eq!(std::fs::read_to_string(world.project().join(LESSONS)).unwrap(), line);
        }
    }

    #[test]
    fn nor_is_anything_through_a_linked_folder() {
        for folder in [".archeflow", ".archeflow/memory"] {
            let (world, outside) = linked(folder, None);
            refused(&world, &["add", "pattern", "code", "desc"], "symlink");
            assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{folder}");
        }
    }

    #[test]
    fn nor_does_a_link_serve_as_a_lock() {
        let (world, outside) = linked(&format!("{LESSONS}.lock"), Some("mine\n"));
        refused(
            &world,
            &["add", "pattern", "x"],
            "Error: refusing to use symlinked lock file: .archeflow/memory/lessons.jsonl.lock\n",
        );
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine\n");
        assert!(!world.project().join(LESSONS).exists());
    }

    #[test]
    fn a_link_that_leads_nowhere_is_not_followed() {
        let world = World::new();
        std::fs::create_dir_all(world.project().join(".archeflow/memory")).unwrap();
        symlink(world.home().join("nowhere"), world.project().join(LESSONS)).unwrap();
        refused(&world, &["add", "pattern", "x"], "refusing to write through symlink");
        assert!(!world.home().join("nowhere").exists());
    }
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn shell(directory: &Path, script: &str) -> String {
    let output = Command::new("bash").args(["-ec", script]).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The edits that ArcheFlow's own tests make between two commands.
#[test]
fn what_jq_writes_is_read() {
    if !has("jq") || !has("bash") {
        println!("skipped: no jq or no bash here");
        return;
    }
    let world = World::new();
    let edit = |filter: &str| {
        shell(&world.project(), &format!("jq -c '{filter}' {LESSONS} > {LESSONS}.tmp; mv {LESSONS}.tmp {LESSONS}"))
    };
    let field = |filter: &str| shell(&world.project(), &format!("jq -r '{filter}' {LESSONS}"));
    assert_eq!(flow(&world, &["add", "pattern", "Decay frequency test"]).status, 0);
    edit(".frequency = 3 | .runs_since_last_seen = 9");
    assert_eq!(flow(&world, &["decay"]).status, 0);
    assert_eq!(field(".frequency"), "2\n");
    edit(".extra = {\"a\": [1, 2]} | .frequency = 2");
    assert!(flow(&world, &["inject", "", ""]).stdout.contains("- Decay frequency test [seen 2x, user_feedback]"));
    edit(".runs_since_last_seen = 9 | .frequency = 1");
    assert_eq!(flow(&world, &["decay"]).status, 0);
    assert_eq!(field(".id"), "");
    assert_eq!(
        shell(&world.project(), &format!("jq -c '[.id, .frequency, .extra.a]' {ARCHIVE}")),
        "[\"m-001\",0,[1,2]]\n"
    );
    assert_eq!(
        shell(&world.project(), "ls .archeflow/memory | grep -cE 'lessons\\.jsonl\\.[A-Za-z0-9]{6}$' || true"),
        "0\n"
    );
}

/// How `docs/archeflow.md` says that one switches over.
#[cfg(unix)]
#[test]
fn it_stands_in_under_the_scripts_own_name() {
    let world = World::new();
    let script = format!("#!/bin/sh\nexec '{}' archeflow \"$@\"\n", env!("CARGO_BIN_EXE_archivist"));
    write(&world.project().join("lib/archeflow-memory.sh"), &script);
    let run = "sh lib/archeflow-memory.sh";
    shell(
        &world.project(),
        &format!(
            "{run} add preference 'Always validate inputs' 2>/dev/null; {run} list | grep -q 'm-001    1     preference'"
        ),
    );
    let block = shell(&world.project(), &format!("{run} inject '' ''"));
    assert_eq!(block, "## Known Issues (from past runs)\n- Always validate inputs [seen 1x, user_feedback]\n");
}
