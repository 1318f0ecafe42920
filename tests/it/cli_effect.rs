//! Whether lessons help, and why they are believed.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::World;

/// Writes the files of a memory as another program would, and answers for them.
pub(crate) fn write_memory(world: &World, lessons: &[Value], episodes: &[Value], facts: &[Value]) {
    std::fs::create_dir_all(world.memory()).unwrap();
    for (name, records) in [("lessons.jsonl", lessons), ("episodes.jsonl", episodes), ("ledger.jsonl", facts)] {
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        std::fs::write(world.memory().join(name), text).unwrap();
    }
    world.trust();
}

pub(crate) fn lesson(number: u32, summary: &str) -> Value {
    json!({
        "id": format!("mem-{number}"), "alias": format!("m-00{number}"), "createdAt": "2026-02-01T08:00:00Z",
        "scope": "project", "category": "infra", "importance": 0.6, "summary": summary, "tags": [],
        "errorFamily": format!("{number}").repeat(16), "source": "archivist", "state": "candidate",
    })
}

pub(crate) fn episode(session: &str, day: u32) -> Value {
    let at = format!("2026-02-{day:02}T10:00:00Z");
    json!({
        "id": format!("ep-{session}"), "projectRoot": "/p", "sessionId": session, "kind": "subagent_run",
        "startedAt": at, "finishedAt": at, "status": "success", "summary": format!("Worked on {session}. Success."),
    })
}

/// A run that the lesson was chosen for, and what came of it.
pub(crate) fn run(number: u32, run: &str, exposure: &str, effect: Option<&str>) -> Vec<Value> {
    run_at(0, number, run, exposure, effect)
}

fn run_at(minute: u32, number: u32, run: &str, exposure: &str, effect: Option<&str>) -> Vec<Value> {
    let (memory, at) = (format!("mem-{number}"), format!("2026-02-20T09:{minute:02}:00Z"));
    let injected = json!({"fact": "injection", "run": run, "memory": memory, "point": "session-start", "rank": 1,
        "exposure": exposure, "at": at});
    let result =
        effect.map(|effect| json!({"fact": "effect", "run": run, "memory": memory, "effect": effect, "at": at}));
    std::iter::once(injected).chain(result).collect()
}

/// So many runs of a lesson, on one side, with one ending.
fn runs(number: u32, prefix: &str, count: u32, exposure: &str, effect: Option<&str>) -> Vec<Value> {
    (0..count).flat_map(|at| run_at(at, number, &format!("{prefix}-{number}-{at}"), exposure, effect)).collect()
}

/// A lesson that helps, one that harms, one of which little is known, and one that was never given.
fn on_trial(world: &World) {
    let lessons = [
        lesson(1, "Start the cache before the billing tests"),
        lesson(2, "Retry the upload until it works"),
        lesson(3, "Build with one job on the small machine, or the linker runs out of memory"),
        lesson(4, "Never given to anybody"),
    ];
    let facts = [
        runs(1, "a", 2, "exposed", Some("recurred")),
        runs(1, "b", 28, "exposed", Some("prevented")),
        runs(1, "c", 5, "withheld", Some("recurred")),
        runs(1, "d", 1, "withheld", Some("prevented")),
        runs(1, "e", 3, "exposed", Some("unknown")),
        runs(2, "a", 30, "exposed", Some("recurred")),
        runs(2, "b", 30, "withheld", Some("prevented")),
        runs(3, "a", 1, "exposed", Some("prevented")),
        runs(3, "b", 1, "exposed", None),
    ];
    write_memory(world, &lessons, &[], &facts.concat());
}

#[test]
fn effects_are_a_table_with_its_intervals_drawn() {
    let world = World::new();
    on_trial(&world);
    assert_snapshot!(world.run(&["effect"]), @"
    ID      With  Without  Difference, %       -100      0      +100  Says     Summary
    m-002  30/30     0/30  +100 (+84 to +100)  ··········│·······──●  harms    Retry the upload until i…
    m-001   2/30      5/6  -77 (-91 to -34)    ·─●─────··│··········  helps    Start the cache before t…
    m-003    0/1      0/0  -                                          unclear  Build with one job on th…

    3 lessons on trial: 1 harms, 1 helps, 1 unclear
    ");
    assert_snapshot!(world.run_with(&["effect"], &[("COLUMNS", "140")], ""), @"
    ID     Shown  Held   With  Without  Difference, %       -100      0      +100  Says     Summary
    m-002     30    30  30/30     0/30  +100 (+84 to +100)  ··········│·······──●  harms    Retry the upload until it works
    m-001     33     6   2/30      5/6  -77 (-91 to -34)    ·─●─────··│··········  helps    Start the cache before the billing tests
    m-003      2     0    0/1      0/0  -                                          unclear  Build with one job on the small machine, or the lin…

    3 lessons on trial: 1 harms, 1 helps, 1 unclear
    ");
    assert_snapshot!(world.run_with(&["effect", "m-004", "m-001", "mem-1"], &[("COLUMNS", "70")], ""), @"
    ID     With  Difference, %     Says     Summary
    m-004   0/0  -                 unclear  Never given to anybody
    m-001  2/30  -77 (-91 to -34)  helps    Start the cache before the bi…

    2 lessons on trial: 1 helps, 1 unclear
    ");
}

#[test]
fn effects_as_json_say_all_that_is_counted() {
    let world = World::new();
    on_trial(&world);
    let rows: Value = serde_json::from_str(&world.ok(&["effect", "--json"])).unwrap();
    let aliases: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["alias"].as_str().unwrap()).collect();
    assert_eq!(aliases, ["m-002", "m-001", "m-003"], "what harms comes first");
    assert_eq!(rows[1]["shown"], 33);
    assert_eq!(rows[1]["heldBack"], 6);
    assert_eq!(rows[1]["arms"]["exposed"], json!({"runs": 30, "recurred": 2}));
    assert_eq!(rows[1]["verdict"], "helps");
    assert_eq!(rows[1]["harm"], Value::Null);
    assert!(rows[0]["harm"]["exposed"]["runs"].as_u64().unwrap() < 30, "{rows}");
    assert_eq!(rows[2]["estimate"], Value::Null);
    assert_eq!(rows[2]["verdict"], "unclear");
}

#[test]
fn without_runs_there_is_nothing_to_say() {
    let world = World::new();
    assert_snapshot!(world.run(&["effect"]), @"! no lesson was given to a run yet; `archivist recall --run ID` and hooks give them");
    assert_snapshot!(world.run(&["effect", "--json"]), @"[]");
    assert_snapshot!(world.run(&["effect", "m-009"]), @"
    ! error: there is no lesson `m-009`
    ! hint: `archivist list --all` shows every lesson
    exit 1
    ");
    assert_snapshot!(world.run(&["effect", "what is that"]), @"
    ! error: invalid value 'what is that' for '[ID]...': `what is that` is not a memory id: only letters, digits and . _ - : may stand in it
    !
    ! For more information, try '--help'.
    exit 2
    ");
    world.ok(&["add", "Prefer rg"]);
    assert_snapshot!(world.run(&["effect", "m-001"]), @"
    ID     Shown  Held  With  Without  Difference, %  -100      0      +100  Says     Summary
    m-001      0     0   0/0      0/0  -                                     unclear  Prefer rg

    1 lesson on trial: 1 unclear
    ");
}

/// A lesson with a long life.
fn storied(world: &World) {
    let quote = |step: u32, text: &str, trust: &str| {
        json!({"trajectoryId": "s-1", "step": step, "start": 0, "end": text.len(), "text": text, "level": "execution",
            "trust": trust})
    };
    let mut old = lesson(2, "Start redis");
    old["state"] = json!("superseded");
    old["supersededBy"] = json!("mem-1");
    let mut absorbed = lesson(3, "The billing tests need redis");
    absorbed["state"] = json!("verified");
    let mut kept = lesson(1, "Start the cache before the billing tests");
    kept["state"] = json!("candidate");
    let mut memory =
        lesson(1, "Start the cache before the billing tests: they talk to it, and fail one by one without it");
    memory["rule"] = json!("IF `pytest tests/billing` is due THEN run `docker compose up -d redis` first");
    memory["state"] = json!("verified");
    memory["evidence"] = json!({"episodeIds": ["ep-s-1"], "quotes": [
        quote(2, "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", "build_output"),
        quote(3, "docker compose up -d redis", "agent"),
    ]});
    memory["links"] = json!([{"to": "mem-2", "relation": "refines"}, {"to": "mem-4", "relation": "contradicts"},
        {"to": "mem-gone", "relation": "similar"}]);
    memory["merges"] = json!([{"absorbed": absorbed, "kept": kept, "at": "2026-02-11T10:00:00Z"}]);
    let seen = |session: &str, day: u32| {
        json!({"fact": "sighting", "memory": "mem-1", "episode": format!("ep-{session}"), "level": "execution",
            "at": format!("2026-02-{day:02}T10:00:00Z")})
    };
    let judged = |verdict: &str, role: &str, weight: f64, regression: bool| {
        let mut fact = json!({"fact": "feedback", "memory": "mem-1", "episode": "ep-s-2", "verdict": verdict, "role": role,
            "weight": weight, "level": "execution", "at": "2026-02-21T10:00:00Z"});
        if regression {
            fact["regression"] = json!(true);
        }
        fact
    };
    let facts = [
        vec![seen("s-1", 10), seen("s-2", 12)],
        runs(1, "run", 9, "exposed", Some("prevented")),
        run(1, "s-7", "exposed", Some("recurred")),
        run(1, "s-8", "withheld", Some("recurred")),
        run(1, "s-9", "exposed", None),
        vec![judged("validated", "judge", 1.0, false), judged("ignored", "sentinel", 1.5, true)],
    ];
    let other = lesson(4, "The billing tests need no cache");
    write_memory(world, &[old, other, memory], &[episode("s-1", 10), episode("s-2", 12)], &facts.concat());
}

#[test]
fn why_tells_the_story_of_a_lesson() {
    let world = World::new();
    storied(&world);
    assert_snapshot!(world.run_with(&["why", "m-001"], &[("COLUMNS", "80")], ""), @"
    m-001  Start the cache before the billing tests: they talk to it, and fail one
           by one without it
           IF `pytest tests/billing` is due THEN run `docker compose up -d redis`
           first

    It is verified (lesson, importance 0.60, learned on 2026-02-01 08:00).

    It rests on
      “E redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379.
      Connection refused.”
        printed by a build or a test, step 2 of s-1
      “docker compose up -d redis”
        said or done by the agent, step 3 of s-1

    It was seen in 2 runs
      2026-02-12 10:00  s-2 (success, proved by output)
                        Worked on s-2. Success.
      2026-02-10 10:00  s-1 (success, proved by output)
                        Worked on s-1. Success.

    It took in
      2026-02-11 10:00  m-003: The billing tests need redis (verified)

    Beside others it
      replaces          m-002: Start redis (superseded)
      contradicts       m-004: The billing tests need no cache (candidate)
      is much like      mem-gone: (not here any more)

    It was chosen for
      2026-02-20 09:08  run-1-8: shown at session-start; the trouble was spared
      2026-02-20 09:07  run-1-7: shown at session-start; the trouble was spared
      2026-02-20 09:06  run-1-6: shown at session-start; the trouble was spared
      2026-02-20 09:05  run-1-5: shown at session-start; the trouble was spared
      2026-02-20 09:04  run-1-4: shown at session-start; the trouble was spared
      2026-02-20 09:03  run-1-3: shown at session-start; the trouble was spared
      2026-02-20 09:02  run-1-2: shown at session-start; the trouble was spared
      2026-02-20 09:01  run-1-1: shown at session-start; the trouble was spared
      and 4 more times; --json tells them all

    People and programs said
      2026-02-21 10:00  validated by judge in s-2, proved by output, weight 1
      2026-02-21 10:00  ignored by sentinel in s-2, proved by output, weight 1.5,
                        though it had held before
      It is trusted 57 %.

    Does it help? It does
      The trouble came back in 1 of 10 runs that had it, in 1 of 1 that had not.
      The difference is -90 %, hardly less than -98 % or more than -5 %.
    ");
}

#[test]
fn why_fits_a_narrow_terminal() {
    let world = World::new();
    storied(&world);
    let page = world.run_with(&["why", "m-001"], &[("COLUMNS", "44")], "").stdout;
    let too_wide: Vec<&str> = page.lines().filter(|line| line.chars().count() > 44).collect();
    // Only words that cannot be broken stand out.
    assert!(too_wide.iter().all(|line| line.split_whitespace().count() <= 2), "{too_wide:#?}");
}

#[test]
fn why_as_json_leaves_nothing_out() {
    let world = World::new();
    storied(&world);
    let told: Value = serde_json::from_str(&world.ok(&["why", "mem-1", "--json"])).unwrap();
    assert_eq!(told["lesson"]["id"], "mem-1");
    assert_eq!(told["quotes"].as_array().unwrap().len(), 2);
    assert_eq!(told["seen"][0]["session"], "s-2", "the last first");
    assert_eq!(told["merged"][0]["alias"], "m-003");
    let relations: Vec<&str> =
        told["related"].as_array().unwrap().iter().map(|one| one["relation"].as_str().unwrap()).collect();
    assert_eq!(relations, ["replaces", "contradicts", "similar"]);
    assert_eq!(told["given"].as_array().unwrap().len(), 12);
    assert_eq!(told["feedback"][0]["verdict"], "validated");
    assert_eq!(told["feedback"][1]["regression"], true);
    assert_eq!(told["effect"]["arms"]["exposed"], json!({"runs": 10, "recurred": 1}));
}

#[test]
fn why_of_a_lesson_that_nothing_is_known_of_and_of_none() {
    let world = World::new();
    assert_snapshot!(world.run(&["why", "m-001"]), @"
    ! error: there is no lesson `m-001`
    ! hint: `archivist list --all` shows every lesson
    exit 1
    ");
    world.ok(&["add", "Prefer rg"]);
    assert_snapshot!(world.run(&["why", "m-001"]), @"
    m-001  Prefer rg

    It is active (preference, importance 0.70, learned on 2026-03-01 12:00).

    It was not given to any run yet.
    ");
    assert_snapshot!(world.run(&["why"]).to_string().lines().next().unwrap_or_default(), @"! error: the following required arguments were not provided:");
}
