//! Whatever breaks, no session is lost and none counts twice.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use archivist_core::service::{Job, JobQueue};
use archivist_core::trust::MachineKey;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::endpoint::{Endpoint, Wire, head};
use crate::sessions::{FAILURES, Met, write};
use crate::support::{Output, World, text};

const QUIET: [(&str, &str); 5] = [
    // Ids are made from what a project is known by.
    ("ARCHIVIST__PROJECT__KEY", "shop"),
    ("ARCHIVIST__HOOKS__START_WORKER", "false"),
    ("ARCHIVIST__WORKER__SETTLE_SECONDS", "0"),
    ("ARCHIVIST__WORKER__RETRY_SECONDS", "0"),
    ("ARCHIVIST__MEMORY__GLOBAL_DIR", ""),
];

fn enqueue(world: &World, session: &str, log: &str, more: &[(&str, &str)]) -> Output {
    let payload = json!({"sessionId": session, "cwd": world.project(), "logPaths": [log]});
    let variables: Vec<(&str, &str)> = QUIET.iter().chain(more).copied().collect();
    world.run_with(&["hook", "generic", "session-end"], &variables, &payload.to_string())
}

fn work(world: &World, more: &[(&str, &str)]) -> Output {
    let variables: Vec<(&str, &str)> = QUIET.iter().chain(more).copied().collect();
    world.run_with(&["worker", "--once"], &variables, "")
}

/// Where the job of a session lies, and what was last said of it.
fn job(world: &World, session: &str) -> (String, String) {
    let status: Value = serde_json::from_str(&world.ok(&["status", "--json"])).unwrap();
    let jobs = status["jobs"].as_array().unwrap();
    let job =
        jobs.iter().find(|job| job["session"] == session).unwrap_or_else(|| panic!("{session} is lost: {status}"));
    (job["place"].as_str().unwrap().to_owned(), job["note"].as_str().unwrap_or_default().to_owned())
}

fn lessons(world: &World) -> usize {
    serde_json::from_str::<Value>(&world.ok(&["list", "--all", "--json"])).unwrap().as_array().unwrap().len()
}

#[test]
fn a_log_that_cannot_be_read_ends_among_the_dead_with_the_reason() {
    let world = World::new();
    let check = |session: &str, log: &str, expected: &str| {
        let hook = enqueue(&world, session, log, &[]);
        assert_eq!((hook.status, hook.stdout.as_str(), hook.stderr.as_str()), (0, "", ""), "{session}");
        work(&world, &[]);
        let (place, note) = job(&world, session);
        assert_eq!(place, "dead", "{session}: {note}");
        assert!(note.contains(expected), "{session}: {note}");
    };
    std::fs::create_dir(world.project().join("folder")).unwrap();
    std::fs::write(world.project().join("poem.txt"), "Roses are red,\nviolets are blue.\n").unwrap();
    std::fs::write(world.project().join("empty.jsonl"), "").unwrap();
    check("gone", "gone.jsonl", "no log of session `gone` was found");
    check("folder", "folder", "no log of session `folder` was found");
    check("poem", "poem.txt", "it is in no format that is known here");
    check("empty", "empty.jsonl", "it is empty");
}

#[test]
fn a_model_that_fails_or_hangs_costs_no_session() {
    let check = |url: &str, why: &str| {
        let world = World::new();
        let (session, path) = write(&world, 1, Met::Failure(0));
        let model = [
            ("ARCHIVIST__MODEL__BASE_URL", url),
            ("ARCHIVIST__MODEL__NAME", "tiny"),
            ("ARCHIVIST__MODEL__FORM", "text"),
            ("ARCHIVIST__MODEL__MAX_ATTEMPTS", "1"),
            ("ARCHIVIST__MODEL__ATTEMPT_TIMEOUT_SECONDS", "1"),
            ("ARCHIVIST__MODEL__REFLECTION_TIMEOUT_SECONDS", "2"),
        ];
        assert_eq!(enqueue(&world, &session, text(&path), &model).status, 0);
        work(&world, &model);
        let (place, note) = job(&world, &session);
        assert_eq!(place, "done", "{why}: {note}");
        assert!(note.starts_with("1 lesson learned; without the model: "), "{why}: {note}");
        assert_eq!(lessons(&world), 1, "{why}");
    };
    check(&Endpoint::answering([ResponseTemplate::new(500)]).url(), "500 for ever");
    let hang = Wire::answering(|stream| {
        head(stream, 1000);
        std::thread::sleep(Duration::from_secs(5));
    });
    check(&hang.url(), "a hang");
    check("http://127.0.0.1:9/v1", "nobody there");
}

#[test]
fn a_memory_that_is_locked_or_full_is_tried_again() {
    let world = World::new();
    let (session, path) = write(&world, 1, Met::Failure(0));
    world.ok(&["add", "Something to begin with"]);
    let patience = [("ARCHIVIST__MEMORY__LOCK_TIMEOUT_SECONDS", "1"), ("ARCHIVIST__WORKER__RETRY_SECONDS", "3600")];
    for name in ["lock", "judge.lock"] {
        let lock = std::fs::File::options().create(true).append(true).open(world.memory().join(name)).unwrap();
        lock.lock().unwrap();
        // A hook has no need of it.
        assert_eq!(enqueue(&world, &session, text(&path), &patience).status, 0);
        work(&world, &patience);
        let (place, note) = job(&world, &session);
        assert_eq!(place, "new", "{name}: {note}");
        assert!(note.contains("another process has held"), "{name}: {note}");
        drop(lock);
        due_now(&world);
    }
    work(&world, &[]);
    assert_eq!(job(&world, &session).0, "done");
    assert_eq!(lessons(&world), 2);
}

/// Lets jobs that wait for their next try be due.
fn due_now(world: &World) {
    let folder = world.memory().join("queue/new");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let lines = std::fs::read_to_string(&path).unwrap();
        // The first line is the job as it was asked for; what happened since stands below it.
        std::fs::write(&path, lines.lines().next().unwrap().to_owned() + "\n").unwrap();
    }
}

/// No room on the disk: whatever the step, the session is reflected on once there is.
#[test]
fn a_full_disk_costs_no_session() {
    for blocks in [1, 2, 4, 8] {
        let world = World::new();
        let (session, path) = write(&world, 1, Met::Failure(0));
        let limited = |arguments: &[&str], input: &str| {
            let mut command = std::process::Command::new("sh");
            let script = format!("ulimit -f {blocks}; exec {} \"$@\"", env!("CARGO_BIN_EXE_archivist"));
            command.args(["-c", &script, "sh"]).args(arguments).args(["--now", crate::support::NOW]);
            command.current_dir(world.project()).env_clear().env("HOME", world.home()).envs(QUIET);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            use std::io::Write;
            let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
            child.wait_with_output().unwrap()
        };
        let payload = json!({"sessionId": session, "cwd": world.project(), "logPaths": [text(&path)]}).to_string();
        let hook = limited(&["hook", "generic", "session-end"], &payload);
        assert!(hook.status.success() && hook.stdout.is_empty(), "{blocks}: {hook:?}");
        limited(&["worker", "--once"], "");
        enqueue(&world, &session, text(&path), &[]);
        due_now(&world);
        // A worker that the system ended left its job behind; the next one takes it over when its lease is out.
        let deadline = Instant::now() + Duration::from_secs(20);
        while job(&world, &session).0 != "done" && Instant::now() < deadline {
            work(&world, &[("ARCHIVIST__WORKER__LEASE_SECONDS", "2")]);
            std::thread::sleep(Duration::from_millis(200));
        }
        assert_eq!(job(&world, &session).0, "done", "{blocks}");
        assert_eq!(lessons(&world), 1, "{blocks}");
    }
}

/// What a memory holds, by what it says: short names and the order of arrival do not matter.
fn content(world: &World) -> (BTreeSet<String>, BTreeMap<String, BTreeSet<String>>) {
    let read = |arguments: &[&str]| serde_json::from_str::<Value>(&world.ok(arguments)).unwrap();
    let episodes = read(&["episodes", "--json"]);
    let sessions: Vec<String> =
        episodes.as_array().unwrap().iter().map(|one| one["sessionId"].as_str().unwrap().to_owned()).collect();
    let unique: BTreeSet<String> = sessions.iter().cloned().collect();
    assert_eq!(sessions.len(), unique.len(), "no session has two episodes");
    let lessons = read(&["list", "--all", "--json"]);
    let mut by_summary = BTreeMap::new();
    for lesson in lessons.as_array().unwrap() {
        let ledger = std::fs::read_to_string(world.memory().join("ledger.jsonl")).unwrap();
        let facts = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let seen: BTreeSet<String> = facts
            .filter(|fact| fact["fact"] == "sighting" && fact["memory"] == lesson["id"])
            .map(|fact| fact["episode"].as_str().unwrap().to_owned())
            .collect();
        let key = format!("{} [{}]", lesson["summary"].as_str().unwrap(), lesson["state"].as_str().unwrap());
        assert!(by_summary.insert(key, seen).is_none(), "a lesson is there twice: {}", lesson["summary"]);
    }
    (unique, by_summary)
}

/// A thousand sessions, eight workers that are killed again and again: the memory is that of an undisturbed run.
#[test]
fn workers_killed_at_random_lose_nothing_and_count_nothing_twice() {
    const SESSIONS: usize = 1000;
    const WORKERS: usize = 8;
    let met = |number: usize| match number % 4 {
        0 => Met::Failure((number / 4) % FAILURES.len()),
        _ => Met::Routine,
    };
    let variables: Vec<(&str, &str)> = QUIET
        .iter()
        .copied()
        .chain([
            ("ARCHIVIST__WORKER__PROCESSES", "8"),
            ("ARCHIVIST__WORKER__LEASE_SECONDS", "2"),
            ("ARCHIVIST__WORKER__MAX_ATTEMPTS", "100"),
            ("ARCHIVIST__MEMORY__SYNC", "lazy"),
        ])
        .collect();
    let filled = || {
        let world = World::new();
        for number in 0..SESSIONS {
            let (session, path) = write(&world, number, met(number));
            put_in_queue(&world, &session, text(&path));
        }
        world
    };

    let undisturbed = filled();
    let calm = undisturbed.run_with(&["worker", "--once"], &variables, "");
    assert_eq!(calm.status, 0, "{calm}");

    let world = filled();
    let start = || -> Child {
        let mut command = world.command(&["worker", "--once"]);
        command.envs(variables.iter().copied()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| start()).collect();
    let (mut kills, mut random) = (0_u32, 0x5eed_u64);
    let deadline = Instant::now() + Duration::from_secs(900);
    while open_jobs(&world) > 0 {
        assert!(Instant::now() < deadline, "{} jobs are left", open_jobs(&world));
        std::thread::sleep(Duration::from_millis(150));
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let chosen = usize::try_from(random >> 33).unwrap() % WORKERS;
        if kills < 60 {
            let _ = workers[chosen].kill();
            kills += 1;
        }
        for worker in &mut workers {
            if worker.try_wait().unwrap().is_some() {
                *worker = start();
            }
        }
    }
    for worker in &mut workers {
        let _ = worker.kill();
        let _ = worker.wait();
    }
    let (sessions, lessons) = content(&world);
    assert_eq!(sessions.len(), SESSIONS);
    assert_eq!(lessons.len(), FAILURES.len(), "{:#?}", lessons.keys());
    let (calm_sessions, calm_lessons) = content(&undisturbed);
    assert!(sessions == calm_sessions, "other sessions than in an undisturbed run");
    for (summary, seen) in &lessons {
        let calm = calm_lessons.get(summary).unwrap();
        // What waits for a person keeps the session that told it first, whichever that was.
        if summary.ends_with("[quarantined]") {
            assert_eq!(seen.len(), calm.len(), "{summary}");
        } else {
            assert_eq!(seen, calm, "{summary}");
        }
    }
    println!("{SESSIONS} sessions, {WORKERS} workers, {kills} kills");
    assert_eq!(world.run(&["doctor"]).status, 0);
}

/// A job as a hook writes it; a thousand processes would take longer than what is to be shown.
fn put_in_queue(world: &World, session: &str, log: &str) {
    let state = world.home().join(".local/state/archivist");
    let queue = JobQueue::for_memory(&world.memory(), MachineKey::in_state_dir(Some(&state)));
    let job = json!({
        "errand": {"reflect": {"scenario": "session_complete", "projectRoot": world.project(), "sessionId": session,
            "logPaths": [log]}},
        "agent": "generic", "event": "session-end", "urgency": "over", "enqueuedAt": "2026-03-01T11:00:00Z",
    });
    queue.enqueue(&serde_json::from_value::<Job>(job).unwrap()).unwrap();
}

fn open_jobs(world: &World) -> usize {
    let count = |place: &str| std::fs::read_dir(world.memory().join("queue").join(place)).map_or(0, Iterator::count);
    count("new") + count("claimed")
}
