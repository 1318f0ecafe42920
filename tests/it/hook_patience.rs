//! A hook never makes its agent wait, whatever lies in its way, and what it was told is not lost.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sessions::{Met, write};
use crate::support::{World, text};

const ALONE: [(&str, &str); 2] =
    [("ARCHIVIST__HOOKS__START_WORKER", "false"), ("ARCHIVIST__WORKER__SETTLE_SECONDS", "0")];

fn payload(world: &World, session: &str) -> String {
    json!({"session_id": session, "cwd": world.project(), "prompt": "the billing tests fail", "source": "startup"})
        .to_string()
}

fn jobs(world: &World) -> Vec<Value> {
    let status: Value = serde_json::from_str(&world.ok(&["status", "--json"])).unwrap();
    status["jobs"].as_array().unwrap().clone()
}

fn hook_log(world: &World) -> String {
    std::fs::read_to_string(world.home().join(".local/state/archivist/hooks.log")).unwrap_or_default()
}

fn start(command: &mut Command) -> Child {
    command.envs(ALONE).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a process that must end although its stdin is still open, and returns its exit code and stdout.
fn finish(mut child: Child) -> (i32, String) {
    let stdin = child.stdin.take();
    let patience = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > patience {
            child.kill().unwrap();
            panic!("the hook waits for ever");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn make_pipe(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_payload_that_is_whole_is_not_waited_on() {
    let world = World::new();
    for (number, rest) in ["", "\n", "  \n\n"].iter().enumerate() {
        let mut child = start(&mut world.command(&["hook", "claude-code", "session-end"]));
        write!(child.stdin.as_mut().unwrap(), "{}{rest}", payload(&world, &format!("s-{number}"))).unwrap();
        assert_eq!(finish(child), (0, String::new()));
        assert_eq!(jobs(&world).len(), number + 1);
    }
    // Half a payload says nothing that could be queued.
    let mut child = start(&mut world.command(&["hook", "claude-code", "session-end"]));
    write!(child.stdin.as_mut().unwrap(), "{{\"session_id\": ").unwrap();
    assert_eq!(finish(child), (0, String::new()));
    assert!(hook_log(&world).contains("no whole payload came within 2 s"), "{}", hook_log(&world));
    assert_eq!(jobs(&world).len(), 3);
}

#[test]
fn settings_that_never_end_and_settings_that_never_begin_hold_nobody_up() {
    for place in ["project/.openagents/archivist.toml", ".config/archivist/config.toml"] {
        let world = World::new();
        let path = world.home().join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for kind in ["device", "pipe"] {
            let _ = std::fs::remove_file(&path);
            match kind {
                "device" => symlink("/dev/zero", &path).unwrap(),
                _ => make_pipe(&path),
            }
            for event in ["session-start", "session-end"] {
                let mut child = start(&mut world.command(&["hook", "claude-code", event]));
                write!(child.stdin.as_mut().unwrap(), "{}", payload(&world, "s-1")).unwrap();
                assert_eq!(finish(child), (0, String::new()), "{place} is a {kind}");
            }
            let refused = world.run(&["list"]);
            // What a project brings along stops nobody.
            let is_ignored = kind == "device" && place.starts_with("project");
            assert_eq!(refused.status == 0, is_ignored, "{refused}");
            assert!(refused.stderr.contains(if is_ignored { "link" } else { "it is not a regular file" }), "{refused}");
        }
    }
}

#[test]
fn git_files_that_never_end_hold_nobody_up() {
    let world = World::new();
    let git = world.project().join(".git");
    std::fs::create_dir_all(&git).unwrap();
    symlink("/dev/zero", git.join("config")).unwrap();
    make_pipe(&git.join("commondir"));
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let mut child = start(&mut world.command(&["hook", "claude-code", "session-end"]));
    write!(child.stdin.as_mut().unwrap(), "{}", payload(&world, "s-1")).unwrap();
    assert_eq!(finish(child), (0, String::new()));
    assert_eq!(jobs(&world).len(), 1, "{}", hook_log(&world));
}

#[test]
fn an_agent_whose_disk_is_full_sees_a_hook_end_well() {
    let world = World::new();
    world.ok(&["add", "We squash-merge, always"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = world.command(&["hook", "claude-code", "session-start"]);
    let mut child = command.envs(ALONE).stdin(Stdio::piped()).stdout(full).stderr(Stdio::null()).spawn().unwrap();
    write!(child.stdin.take().unwrap(), "{}", payload(&world, "s-1")).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(hook_log(&world).contains("No space left"), "{}", hook_log(&world));
    assert_eq!(jobs(&world).len(), 1, "the sweep is asked for all the same");
}

/// With one millisecond, nothing can be found in time.
#[test]
fn a_hook_that_would_be_late_is_silent_and_the_work_is_queued() {
    let world = World::new();
    world.ok(&["add", "The billing tests fail without redis"]);
    let variables = [
        ALONE[0],
        ALONE[1],
        ("ARCHIVIST__HOOKS__RECALL_ON_PROMPT", "true"),
        ("ARCHIVIST__HOOKS__START_DEADLINE_MILLIS", "1"),
        ("ARCHIVIST__HOOKS__DEADLINE_MILLIS", "1"),
    ];
    for event in ["session-start", "prompt-submit"] {
        let output = world.run_with(&["hook", "claude-code", event], &variables, &payload(&world, "s-1"));
        assert_eq!((output.status, output.stdout.as_str(), output.stderr.as_str()), (0, "", ""), "{event}");
        let said = hook_log(&world).lines().last().unwrap().to_owned();
        assert!(said.ends_with(&format!("claude-code {event}: silent: no answer was found in time")), "{said}");
    }
    assert_eq!(jobs(&world).len(), 1);
    let lessons: Value = serde_json::from_str(&world.ok(&["list", "--json"])).unwrap();
    assert_eq!(lessons[0]["usageCount"], 0, "what was not said is not counted: {lessons}");
    // With time, the same is said.
    let patient: Vec<_> = variables.iter().copied().take(3).collect();
    let output = world.run_with(&["hook", "claude-code", "session-start"], &patient, &payload(&world, "s-1"));
    assert!(output.stdout.contains("redis"), "{output}");
}

#[test]
fn a_newline_in_a_path_is_a_letter_like_any_other() {
    let world = World::new();
    let project = world.home().join("a\nproject");
    std::fs::create_dir_all(project.join(".openagents")).unwrap();
    let (session, log) = write(&world, 1, Met::Failure(0));
    let moved = project.join("a\nlog.jsonl");
    let told = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&moved, told.replace(text(&world.project()), text(&project).replace('\n', "\\n").as_str())).unwrap();
    let said = json!({"sessionId": session, "cwd": project, "logPaths": [text(&moved)]}).to_string();
    let mut child = start(&mut world.command(&["hook", "generic", "session-end"]));
    write!(child.stdin.as_mut().unwrap(), "{said}").unwrap();
    assert_eq!(finish(child).0, 0);
    let ask = |arguments: &[&str]| {
        let output = world.command(arguments).envs(ALONE).current_dir(&project).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    ask(&["worker", "--once"]);
    let lessons: Value = serde_json::from_str(&ask(&["list", "--json"])).unwrap();
    assert_eq!(lessons.as_array().unwrap().len(), 1, "{}{}", hook_log(&world), ask(&["status"]));
    ask(&["doctor"]);
}
