//! What is learned without a model.

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{World, text};

fn fixture(path: &str) -> String {
    text(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)).to_owned()
}

/// Each lesson in a few lines, without the words of the log.
fn told(outcome: &Value) -> String {
    let lessons = outcome["candidates"].as_array().unwrap().iter().map(|lesson| {
        let evidence = &lesson["evidence"];
        let runs = evidence["episodeIds"].as_array().unwrap().len();
        let quotes = evidence["quotes"].as_array().unwrap().len();
        assert!(quotes > 0, "{lesson}");
        format!(
            "{}\n  {}\n  {} · importance {} · {runs} runs · {quotes} quotes{}",
            lesson["summary"].as_str().unwrap(),
            lesson["rule"].as_str().unwrap_or("no rule"),
            lesson["category"].as_str().unwrap(),
            lesson["importance"],
            lesson["quarantine"].as_str().map(|why| format!("\n  quarantined: {why}")).unwrap_or_default(),
        )
    });
    lessons.collect::<Vec<_>>().join("\n")
}

fn lessons(log: &str) -> Value {
    let output = World::new().ok(&["inspect", log, "--lessons", "--json"]);
    serde_json::from_str(&output).unwrap()
}

#[test]
fn the_big_failures_of_a_real_project_become_lessons() {
    let Ok(corpus) = std::env::var("ARCHIVIST_CORPUS") else {
        println!("skipped: ARCHIVIST_CORPUS does not say where real logs are");
        return;
    };
    let outcome = lessons(&format!("{corpus}/openagents/trajectories.jsonl"));
    let candidates = outcome["candidates"].as_array().unwrap();
    assert!(candidates.len() <= 5, "{}", told(&outcome));
    for (words, runs) in [("Exceeded model context window size", 50), ("FM_MAX_CONTEXT_CHARS is not defined", 15)] {
        let lesson = candidates.iter().find(|lesson| lesson.to_string().contains(words)).unwrap();
        assert!(lesson["rule"].is_string(), "{lesson}");
        assert!(lesson.get("quarantine").is_none(), "{lesson}");
        assert!(lesson["evidence"]["episodeIds"].as_array().unwrap().len() >= runs, "{lesson}");
        let trajectories = lesson["evidence"]["trajectoryIds"].as_array().unwrap();
        assert!(trajectories.len() >= 3, "{lesson}");
    }
    assert_snapshot!(told(&outcome));
}

#[test]
fn logs_of_every_kind_teach_little_or_nothing() {
    let logs = [
        "logs/claude/basket.jsonl",
        "logs/codex/rollout.jsonl",
        "logs/codex-exec/failed.jsonl",
        "logs/gemini/chat.json",
        "logs/generic/session.jsonl",
        "logs/opencode/export.json",
        "logs/atif/terminus-2.json",
        "logs/openagents/trajectories.jsonl",
    ];
    let all: Vec<String> = logs.iter().map(|log| format!("{log}\n{}", told(&lessons(&fixture(log))))).collect();
    assert_snapshot!(all.join("\n\n"));
}

#[test]
fn planted_lessons_are_found_and_routine_is_left_in_peace() {
    let output = World::new().ok(&["eval", "distill", "--json"]);
    let scored: Value = serde_json::from_str(&output).unwrap();
    let own = &scored[0];
    assert_eq!(own["distiller"], "archivist");
    for half in ["dev", "held"] {
        let scores = &own["halves"][half];
        assert!(scores["planted"].as_u64().unwrap() >= 40 && scores["routine"].as_u64().unwrap() >= 40, "{scores}");
        // Words of people count for precision: what they say only once in passing is left out.
        assert!(scores["recall"].as_f64().unwrap() >= 0.8, "{half}: {scores}");
        assert!(scores["precision"].as_f64().unwrap() >= 0.9, "{half}: {scores}");
        assert!(scores["silence"].as_f64().unwrap() >= 0.95, "{half}: {scores}");
    }
    assert!(own["misses"].as_array().unwrap().iter().all(|missed| missed["half"] != "held"), "held misses are shown");
}

#[test]
fn a_set_of_ones_own_is_measured() {
    let world = World::new();
    let set = world.project().join("set");
    std::fs::create_dir(&set).unwrap();
    std::fs::copy(fixture("logs/generic/session.jsonl"), set.join("quiet.jsonl")).unwrap();
    std::fs::write(set.join("expected.json"), r#"{"quiet.jsonl": null}"#).unwrap();
    let scored: Value = serde_json::from_str(&world.ok(&["eval", "distill", "--data", "set", "--json"])).unwrap();
    assert_eq!(scored[0]["all"]["routine"], 1);
    std::fs::write(set.join("expected.json"), "[]").unwrap();
    let refused = world.run(&["eval", "distill", "--data", "set"]);
    assert_eq!(refused.status, 1, "{refused}");
    assert!(refused.stderr.contains("does not say what to expect"), "{refused}");
}

#[test]
fn a_project_cannot_send_sessions_anywhere() {
    let world = World::new();
    std::fs::write(
        world.project().join(".openagents/archivist.toml"),
        "[model]\nbaseUrl = \"https://collector.example/v1\"\nname = \"x\"\n[distill]\npromptDir = \"prompts\"\n",
    )
    .unwrap();
    assert_snapshot!(world.run(&["inspect", &fixture("logs/generic/session.jsonl"), "--lessons"]));
}

#[test]
fn a_model_that_is_half_set_is_refused() {
    let world = World::new();
    let run = |variables: &[(&str, &str)]| world.run_with(&["config", "show"], variables, "").to_string();
    assert_snapshot!(run(&[("ARCHIVIST__MODEL__BASE_URL", "http://127.0.0.1:1/v1")]));
    assert_snapshot!(run(&[("ARCHIVIST__DISTILL__ENGINE", "model")]));
    assert_snapshot!(run(&[("ARCHIVIST__MODEL__CASSETTE", "replay")]));
}

#[test]
fn prompts_are_shown_and_replaced() {
    let world = World::new();
    let all = world.ok(&["prompt", "show"]);
    assert!(all.starts_with("version ") && all.contains("─── archivist.md"), "{all}");
    let one = world.ok(&["prompt", "show", "success.md"]);
    assert_eq!(one, std::fs::read_to_string(fixture("../prompts/success.md")).unwrap());
    let own = world.home().join("prompts");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("success.md"), "Look twice.\n").unwrap();
    let variables = [("ARCHIVIST__DISTILL__PROMPT_DIR", "~/prompts")];
    let shown = world.run_with(&["prompt", "show", "--json"], &variables, "");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_ne!(format!("version {}", shown["version"].as_str().unwrap()), all.lines().next().unwrap());
    std::fs::write(own.join("frame.md"), "{fence}").unwrap();
    assert_snapshot!(world.run_with(&["prompt", "show"], &variables, ""));
    let nowhere = [("ARCHIVIST__DISTILL__PROMPT_DIR", "~/nowhere")];
    assert_snapshot!(world.run_with(&["prompt", "show"], &nowhere, ""));
}
