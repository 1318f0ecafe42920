//! Lessons of some models' sessions, asked for in another's: the yardstick itself, on sessions made here.

use serde_json::{Value, json};

use crate::support::World;

const REFUSED: &str =
    "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.";

/// A call of the shell and what came back.
fn ran(id: u32, command: &str, exit_code: i32, output: &str) -> [Value; 2] {
    [
        json!({"role": "assistant", "content": "",
               "tool_calls": [{"id": format!("call-{id}"), "name": "shell", "arguments": {"command": command}}]}),
        json!({"role": "tool", "tool_call_id": format!("call-{id}"), "exit_code": exit_code, "content": output}),
    ]
}

/// Writes a file of the project.
fn write(world: &World, name: &str, text: &str) {
    let path = world.project().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Three models meet the same refused connection in one task, and nothing in another.
fn write_sessions(world: &World) {
    let billing = [
        ran(1, "pytest tests/billing -q", 1, &format!("{REFUSED}\n2 failed, 1 passed in 0.42s")),
        ran(2, "docker compose up -d redis", 0, "Container shop-redis-1  Started"),
        ran(3, "pytest tests/billing -q", 0, "3 passed in 1.97s"),
    ];
    let page = [ran(1, "npm test", 0, "12 passing")];
    let tasks: [(&str, &str, &[[Value; 2]]); 2] = [
        ("billing", "Make the billing tests of the shop pass with redis.", &billing),
        ("page", "Add a heading to the start page.", &page),
    ];
    let mut index = String::new();
    for model in ["one", "two", "three"] {
        for (task, instruction, calls) in &tasks {
            let head = json!({"session": {"id": format!("{model}-{task}"), "agent": "helper"}});
            let asked = json!({"role": "user", "content": instruction});
            let lines = [&head, &asked].into_iter().chain(calls.iter().flatten());
            let log: String = lines.map(|line| format!("{line}\n")).collect();
            let file = format!("{model}-{task}.jsonl");
            write(world, &format!("set/{file}"), &log);
            let line = json!({"model": model, "task": task, "instruction": instruction, "file": file});
            index.push_str(&format!("{line}\n"));
        }
    }
    index.push_str("{\"model\": \"one\", \"task\": \"lost\", \"file\": null}\n");
    write(world, "set/index.jsonl", &index);
}

#[test]
fn what_two_models_learned_is_given_to_the_third_and_nothing_besides() {
    let world = World::new();
    write_sessions(&world);
    let report: Value = serde_json::from_str(&world.ok(&["eval", "transfer", "--data", "set", "--json"])).unwrap();
    assert_eq!((&report["sessions"], &report["models"], &report["tasks"]), (&json!(6), &json!(3), &json!(2)));
    let figures = |name: &str| ["asked", "known", "inUse", "right"].map(|key| report[name][key].as_u64().unwrap());
    assert_eq!(figures("errors"), [3, 3, 3, 3], "{report}");
    // Of the page nothing was learned.
    assert_eq!(figures("instructions"), [6, 3, 3, 3], "{report}");
    let silence = |key: &str| report["silence"][key].as_u64().unwrap();
    assert_eq!((silence("instructions"), silence("instructionsSilent")), (6, 6), "{report}");
    assert_eq!((silence("errors"), silence("errorsSilent")), (3, 3), "{report}");
}

#[test]
fn a_folder_without_an_index_or_with_one_model_is_refused() {
    let world = World::new();
    write(&world, "empty/readme.txt", "nothing");
    let refused = world.run(&["eval", "transfer", "--data", "empty"]);
    assert!(format!("{refused:?}").contains("there is no index.jsonl"), "{refused:?}");
    write(&world, "bad/index.jsonl", "{\"model\": 1}\n");
    let refused = world.run(&["eval", "transfer", "--data", "bad"]);
    assert!(format!("{refused:?}").contains("is no session"), "{refused:?}");
    write(&world, "one/index.jsonl", "{\"model\": \"a\", \"task\": \"t\"}\n");
    let refused = world.run(&["eval", "transfer", "--data", "one"]);
    assert!(format!("{refused:?}").contains("two models"), "{refused:?}");
}
