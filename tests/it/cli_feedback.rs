//! What is said about lessons after a run: feedback, audit-check, decay.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli_effect::{episode, lesson, run, write_memory};
use crate::support::{World, text};

const OUTPUT: &str = "$ pytest tests/billing -q\n3 passed in 1.97s\n";

fn world() -> World {
    let world = World::new();
    let lessons =
        [lesson(1, "Start the cache before the tests"), lesson(2, "Retry the upload"), lesson(3, "Sleep more")];
    let facts = [
        run(1, "s-1", "exposed", Some("prevented")),
        run(2, "s-1", "exposed", Some("recurred")),
        run(3, "s-1", "withheld", Some("prevented")),
        run(1, "s-2", "exposed", None),
        run(1, "s-3", "exposed", Some("unknown")),
    ];
    write_memory(&world, &lessons, &[episode("s-1", 20), episode("s-3", 21)], &facts.concat());
    world
}

fn counters(world: &World, name: &str) -> (f64, f64) {
    let shown: Value = serde_json::from_str(&world.ok(&["show", name, "--json"])).unwrap();
    let number = |key: &str| shown["counters"][key].as_f64().unwrap();
    (number("validated"), number("ignored"))
}

#[test]
fn output_validates_and_saying_it_twice_changes_nothing() {
    let world = world();
    let arguments = ["feedback", "validate", "m-001", "--run", "s-1", "--evidence", "-"];
    assert_snapshot!(world.run_with(&arguments, &[], OUTPUT), @"m-001  Start the cache before the tests  (validated, weight 1)");
    assert_snapshot!(world.run_with(&arguments, &[], OUTPUT), @"
    m-001  Start the cache before the tests  (validated, weight 1)
    ! m-001: that was noted before
    ");
    assert_eq!(counters(&world, "m-001"), (1.0, 0.0));
}

#[test]
fn a_citation_validates_only_if_it_is_true() {
    let world = world();
    std::fs::write(world.project().join("cart.rs"), "fn a() {}\nlet coupon = check(query);\n").unwrap();
    let arguments = ["feedback", "validate", "m-001", "--run", "s-1", "--json", "--evidence", "-"];
    let cited = world.run_with(&arguments, &[], "cart.rs:2 has `let coupon = check(query);`");
    let noted: Value = serde_json::from_str(&cited.stdout).unwrap();
    assert_eq!((&noted[0]["level"], &noted[0]["written"]), (&json!("citation"), &json!(true)));
    for false_one in [
        "cart.rs:2 has `let coupon = query;`",
        "cart.rs:99 has `let coupon = check(query);`",
        "basket.rs:2 has `let coupon = check(query);`",
        "../../../etc/passwd:1 has `root`",
    ] {
        let arguments = ["feedback", "validate", "m-002", "--run", "s-1", "--evidence", "-"];
        assert_eq!(world.run_with(&arguments, &[], false_one).status, 1, "{false_one}");
    }
    assert_eq!(counters(&world, "m-002"), (0.0, 0.0));
}

#[test]
fn reasoning_is_refused() {
    let world = world();
    let say =
        |words: &str| world.run_with(&["feedback", "validate", "m-001", "--run", "s-1", "--evidence", "-"], &[], words);
    assert_snapshot!(say("This should work."), @"
    ! error: the evidence shows no output and cites no line that is there: reasoning does not validate a lesson
    ! hint: give --evidence with a command and what it printed, or a file:line with words of that line
    exit 1
    ");
    for disguise in
        ["I ran it and everything passed.", "$ pytest\nI ran this, 3 passed", "src/cart.rs is right now", ""]
    {
        assert_eq!(say(disguise).status, 1, "{disguise}");
    }
    assert_snapshot!(world.run(&["feedback", "validate", "m-001", "--run", "s-1"]), @"
    ! error: there is no evidence: reasoning does not validate a lesson
    ! hint: give --evidence with a command and what it printed, or a file:line with words of that line
    exit 1
    ");
    assert_snapshot!(world.run(&["feedback", "validate", "m-001", "--run", "s-1", "--level", "3"]), @"
    ! error: there is no evidence: reasoning does not validate a lesson
    ! hint: give --evidence with a command and what it printed, or a file:line with words of that line
    exit 1
    ");
    // One's own word does not lift what is shown.
    let lifted = ["feedback", "validate", "m-001", "--run", "s-1", "--level", "1", "--evidence", "-"];
    assert_eq!(world.run_with(&lifted, &[], "trust me").status, 1);
    assert_eq!(counters(&world, "m-001"), (0.0, 0.0));
}

#[test]
fn what_validators_call_noise_counts_more() {
    let world = world();
    world.ok(&["feedback", "ignore", "m-002", "--run", "s-1", "--role", "Sentinel"]);
    world.ok(&["feedback", "ignore", "m-002", "--run", "s-1", "--role", "inspector"]);
    world.ok(&["feedback", "ignore", "m-002", "--run", "s-1", "--role", "builder"]);
    world.ok(&["feedback", "ignore", "m-002", "--run", "s-1"]);
    assert_eq!(counters(&world, "m-002"), (0.0, 5.0));
    let heavy = [("ARCHIVIST__FEEDBACK__WEIGHTS__OTHER", "3")];
    world.run_with(&["feedback", "ignore", "m-003", "--run", "s-1"], &heavy, "");
    assert_eq!(counters(&world, "m-003"), (0.0, 3.0));
}

#[test]
fn a_lesson_that_had_held_is_a_regression_when_it_is_noise() {
    let world = world();
    world.ok(&["feedback", "validate", "m-001", "m-002", "--run", "s-1", "--level", "1"]);
    assert_snapshot!(world.run(&["feedback", "ignore", "m-001", "m-003", "--run", "s-2", "--role", "sentinel"]), @"
    m-001  Start the cache before the tests  (ignored, weight 1.5)
    m-003  Sleep more  (ignored, weight 1.5)
    ! warning: m-001 had held before: this is a regression
    ");
    let ledger = std::fs::read_to_string(world.memory().join("ledger.jsonl")).unwrap();
    assert_eq!(ledger.matches("\"regression\":true").count(), 1);
}

#[test]
fn how_a_run_ended_grades_every_lesson_that_it_saw() {
    let world = world();
    assert_snapshot!(world.run(&["feedback", "outcome", "--run", "s-1", "--passed", "true"]), @"
    ! error: there is no evidence: reasoning does not validate a lesson
    ! hint: give --evidence with a command and what it printed, or a file:line with words of that line
    exit 1
    ");
    assert_snapshot!(world.run_with(&["feedback", "outcome", "--run", "s-1", "--passed", "true", "--evidence", "-"], &[], OUTPUT), @"
    m-001  Start the cache before the tests  (validated, weight 1)
    m-002  Retry the upload  (validated, weight 1)
    ");
    assert_eq!(counters(&world, "m-003"), (0.0, 0.0), "it was held back");
    assert_snapshot!(world.run(&["feedback", "outcome", "--run", "s-1", "--passed", "false"]), @"
    ! error: run s-1 is noted as one that passed
    ! hint: a run ends once; nothing was noted
    exit 1
    ");
    assert_snapshot!(world.run(&["feedback", "outcome", "--run", "s-2", "--passed", "false"]), @"m-001  Start the cache before the tests  (ignored, weight 0.25)");
    assert_eq!(counters(&world, "m-001"), (1.0, 0.25));
    assert_snapshot!(world.run(&["feedback", "outcome", "--run", "s-9", "--passed", "false"]), @"! run s-9 was given no lessons");
}

#[test]
fn feedback_that_makes_no_sense_is_refused() {
    let world = world();
    assert_snapshot!(world.run(&["feedback", "ignore", "m-001", "m-009", "--run", "s-1"]), @"
    ! error: there is no lesson `m-009`
    ! hint: `archivist list --all` shows every lesson
    exit 1
    ");
    assert_eq!(counters(&world, "m-001"), (0.0, 0.0), "a misspelt name changes nothing");
    assert_snapshot!(world.run(&["feedback", "ignore", "m-001", "--run", "../s"]), @"
    ! error: invalid value '../s' for '--run <ID>': `../s` is not a run id: it must begin with a letter or a digit
    !
    ! For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(world.run(&["feedback", "ignore", "m-001"]), @"
    ! error: the following required arguments were not provided:
    !   --run <ID>
    !
    ! Usage: archivist feedback ignore --run <ID> --now <RFC3339> --seed <N> <ID>...
    !
    ! For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(world.run(&["feedback", "ignore", "m-001", "--run", "s-1", "--role", "the boss"]), @"
    ! error: invalid value 'the boss' for '--role <NAME>': a role is one word, as in sentinel
    !
    ! For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(world.run(&["feedback", "validate", "m-001", "--run", "s-1", "--evidence", "gone.txt"]), @"
    ! error: cannot read evidence gone.txt: No such file or directory (os error 2)
    exit 1
    ");
}

#[test]
fn an_audit_says_what_helped() {
    let world = world();
    assert_snapshot!(world.run(&["audit-check", "--run", "s-1"]), @"
    ID     Verdict      Summary
    m-001  helpful      Start the cache before the tests
    m-002  ineffective  Retry the upload

    2 lessons: 1 helpful, 1 ineffective
    ! 1 lesson was held back from it
    ");
    assert_eq!(world.ok(&["audit-check", "--run", "s-1"]), world.ok(&["audit-check", "--run", "ep-s-1"]));
    assert_snapshot!(world.run(&["audit-check", "--run", "s-1", "--json"]), @r#"
    {
      "run": "s-1",
      "reflected": true,
      "lessons": [
        {
          "id": "mem-1",
          "alias": "m-001",
          "summary": "Start the cache before the tests",
          "verdict": "helpful",
          "effect": "prevented"
        },
        {
          "id": "mem-2",
          "alias": "m-002",
          "summary": "Retry the upload",
          "verdict": "ineffective",
          "effect": "recurred"
        }
      ],
      "heldBack": [
        "mem-3"
      ]
    }
    "#);
    assert_snapshot!(world.run(&["audit-check", "--run", "s-2"]), @"
    ID     Verdict  Summary
    m-001  unknown  Start the cache before the tests

    1 lesson: 1 unknown
    ! run s-2 was not reflected on yet; `archivist reflect --session s-2` does
    ");
    assert_snapshot!(world.run(&["audit-check", "--run", "s-3"]), @"
    ID     Verdict  Summary
    m-001  unknown  Start the cache before the tests

    1 lesson: 1 unknown
    ");
    assert_snapshot!(world.run(&["audit-check", "--run", "s-1", "--threshold", "50"]), @"
    ID     Verdict      Summary
    m-001  helpful      Start the cache before the tests
    m-002  ineffective  Retry the upload

    2 lessons: 1 helpful, 1 ineffective
    ! 1 lesson was held back from it
    ! warning: the logs of the run are gone; the verdicts are those noted when it was reflected on
    ");
    assert_snapshot!(world.run(&["audit-check", "--run", "s-9"]), @"! run s-9 was given no lessons");
    assert_snapshot!(World::new().run(&["audit-check", "--run", "s-9", "--json"]), @r#"
    {
      "run": "s-9",
      "reflected": false,
      "lessons": [],
      "heldBack": []
    }
    "#);
}

/// A run with a review is reflected on, and held against another threshold.
#[test]
fn an_audit_reads_the_findings_again_with_another_threshold() {
    let world = World::new();
    let facts = [run(1, "2026-02-20-cart", "exposed", None)].concat();
    write_memory(&world, &[lesson(1, "Check the coupon before the discount is taken")], &[], &facts);
    let event = |kind: &str, data: Value| {
        json!({"run_id": "2026-02-20-cart", "ts": "2026-02-20T10:00:00Z", "type": kind, "phase": "check", "data": data})
            .to_string()
    };
    let finding = "The coupon of the basket is taken without a check of its owner";
    let log = [
        event("run.start", json!({"task": "Keep the discount"})),
        event(
            "review.verdict",
            json!({"archetype": "guardian", "verdict": "needs_changes",
            "findings": [{"severity": "WARNING", "description": finding, "category": "security"}]}),
        ),
        event("run.complete", json!({"status": "completed"})),
    ];
    let path = world.project().join("run.jsonl");
    std::fs::write(&path, log.join("\n") + "\n").unwrap();
    world.ok(&["reflect", "--file", text(&path)]);
    let verdict = |arguments: &[&str]| -> Value {
        let arguments: Vec<&str> =
            ["audit-check", "--run", "2026-02-20-cart", "--json"].iter().chain(arguments).copied().collect();
        let told: Value = serde_json::from_str(&world.ok(&arguments)).unwrap();
        told["lessons"][0]["verdict"].clone()
    };
    assert_eq!(verdict(&[]), "ineffective");
    assert_eq!(verdict(&["--threshold", "90"]), "helpful");
    assert_eq!(verdict(&["--threshold", "50"]), "ineffective");
    assert_eq!(verdict(&[]), "ineffective", "asking changes nothing");
    std::fs::remove_file(&path).unwrap();
    let gone = world.run(&["audit-check", "--run", "2026-02-20-cart", "--threshold", "90"]);
    assert_snapshot!(gone, @"
    ID     Verdict      Summary
    m-001  ineffective  Check the coupon before the discount is taken

    1 lesson: 1 ineffective
    ! warning: the logs of the run are gone; the verdicts are those noted when it was reflected on
    ");
}

#[test]
fn decay_ends_what_runs_no_longer_show() {
    let world = World::new();
    let mut request = lesson(2, "Write short sentences");
    request["kind"] = json!("preference");
    let seen = |number: u32, session: &str| {
        json!({"fact": "sighting", "memory": format!("mem-{number}"), "episode": format!("ep-{session}"),
            "at": "2026-02-01T10:00:00Z", "level": "execution"})
    };
    let mut episodes: Vec<Value> = (2..=11).map(|day| episode(&format!("run-{day}"), day)).collect();
    episodes.push(episode("first", 1));
    let lessons = [lesson(1, "Start the cache before the tests"), request, lesson(3, "Sleep more")];
    let facts = [seen(1, "first"), seen(2, "first"), seen(3, "first"), seen(3, "run-11")];
    write_memory(&world, &lessons, &episodes, &facts);
    // By default nothing ends within a month.
    let in_haste = [("ARCHIVIST__LIFECYCLE__GRACE_DAYS", "0")];
    let decay = |arguments: &[&str]| world.run_with(&[&["decay"], arguments].concat(), &in_haste, "");
    assert_snapshot!(world.run(&["decay", "--run", "run-11"]), @"! no lesson ends with this run");
    assert_snapshot!(decay(&["--run", "first"]), @"! no lesson ends with this run");
    assert_snapshot!(decay(&["--run", "run-11"]), @"m-001  Start the cache before the tests  (deprecated: not seen in 10 runs)");
    assert_snapshot!(decay(&["--run", "run-11"]), @"! no lesson ends with this run");
    assert_snapshot!(decay(&["--run", "run-12"]), @"
    ! no lesson ends with this run
    ! run run-12 was not reflected on; it counts as over now
    ");
    assert_snapshot!(decay(&["--run", "run-12", "--json"]), @"[]");
    assert_snapshot!(World::new().run(&["decay", "--run", "run-1"]), @"
    ! no lesson ends with this run
    ! run run-1 was not reflected on; it counts as over now
    ");
    assert_snapshot!(world.run(&["decay"]).to_string().lines().next().unwrap_or_default(), @"! error: the following required arguments were not provided:");
}
