//! `archivist eval`: the figures it prints, and that they are as good as promised.

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::World;

/// Everything but the speed, which is never tested.
fn without_speed(output: &str) -> String {
    let lines = output.lines().map(|line| if line.starts_with("clean text:") { "clean text: …" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn redaction_is_measured_on_the_built_in_set() {
    let world = World::new();
    assert_snapshot!(without_speed(&world.ok(&["eval", "redact", "--megabytes", "1"])), @"
    set  scanner    lines  recall  by rule  worst rules
    own  archivist    436   0.959    0.985  airtable-old 0/1, azure-storage 8/9, curl 53/58

    without secrets  scanner    lines  hits  per 1,000
    traps            archivist    113     0       0.00
    ordinary         archivist    502     0       0.00

    clean text: …
    ");
}

#[test]
fn sets_and_texts_are_read_from_directories() {
    let world = World::new();
    let data = world.project().join("data");
    let clean = world.project().join("clean");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::create_dir_all(&clean).unwrap();
    let word = ["pass", "word"].concat();
    let line = |text: &str, label: u8| serde_json::json!({"text": text, "label": label, "rule": "r"}).to_string();
    let lines = [line(&format!("{word}=hunter22"), 1), line("nothing here", 1), line("nothing", 0), "{".to_owned()];
    std::fs::write(data.join("some.jsonl"), lines.join("\n")).unwrap();
    std::fs::write(clean.join("lessons.jsonl"), "{\"text\":\"one\"}\n{\"summary\":\"two\\nthree\"}\n{}\n").unwrap();
    std::fs::write(clean.join("code.rs"), "fn main() {}\n").unwrap();
    std::fs::write(clean.join("picture.png"), [0xff, 0xd8, 0x00]).unwrap();
    let output = world.run(&["eval", "redact", "--data", "data", "--benign", "clean", "--megabytes", "0", "--json"]);
    assert_eq!(output.status, 0, "{output}");
    assert!(output.stderr.contains("1 line of some not understood"), "{output}");
    assert!(output.stderr.contains("picture.png is not text"), "{output}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["sets"][0]["recall"], 0.5);
    assert_eq!(report["sets"][0]["others"], 1);
    assert_eq!(report["benign"][0]["lines"], 5);
    assert_eq!(report["benign"][0]["hits"], 0);
}

#[test]
fn redaction_finds_what_stands_in_logs_settings_and_chats() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/redact");
    let printed = World::new().ok(&["eval", "redact", "--data", data, "--megabytes", "0", "--json"]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    for set in report["sets"].as_array().unwrap() {
        assert!(set["recall"].as_f64().unwrap() >= 0.95, "{set}");
    }
    assert_eq!(report["sets"].as_array().unwrap().len(), 3);
}

#[test]
fn a_directory_without_sets_is_refused() {
    let world = World::new();
    assert_snapshot!(world.run(&["eval", "redact", "--data", "."]), @"
    ! error: there are no labelled lines in .
    ! hint: a labelled set is a file *.jsonl or *.jsonl.gz; see --help
    exit 1
    ");
}

#[test]
fn redaction_meets_its_targets_on_public_sets() {
    let Some(bench) = std::env::var_os("ARCHIVIST_BENCH").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_BENCH does not name a folder of yardsticks");
        return;
    };
    let data = bench.join("secrets").display().to_string();
    let printed = World::new().ok(&["eval", "redact", "--data", &data, "--megabytes", "1", "--json"]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    let (sets, benign) = (report["sets"].as_array().unwrap(), report["benign"].as_array().unwrap());
    assert!(!sets.is_empty() && !benign.is_empty());
    for set in sets {
        assert!(set["recall"].as_f64().unwrap() >= 0.95, "{set}");
        assert!(set["macro_recall"].as_f64().unwrap() >= 0.90, "{set}");
    }
    for set in benign {
        assert!(set["per_thousand"].as_f64().unwrap() <= 1.0, "{set}");
    }
}

fn half<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["pairs"].as_array().unwrap().iter().find(|half| half["half"] == name).unwrap()
}

#[test]
fn known_lessons_are_told_from_new_ones() {
    let report: Value = serde_json::from_str(&World::new().ok(&["eval", "dedup", "--json"])).unwrap();
    let (development, held) = (half(&report, "development"), half(&report, "held out"));
    assert_eq!(development["precision"], 1.0, "{development}");
    assert_eq!(development["changed_swallowed"], 0, "{development}");
    assert!(development["recall"].as_f64().unwrap() >= 0.18, "{development}");
    // What was reached, so that it is not lost again.
    let all = report["pairs"].as_array().unwrap();
    let sum = |key: &str| all.iter().map(|half| half[key].as_f64().unwrap()).sum::<f64>();
    assert!(sum("rightly") / sum("merged") >= 0.99, "{report}");
    assert!(sum("changed_swallowed") <= 1.0 && sum("merged") >= 200.0, "{report}");
    assert!(held["recall"].as_f64().unwrap() >= 0.19, "{held}");
    assert_eq!(held["wrong"], serde_json::json!([]), "what was held out stays unseen");
}

#[test]
fn pairs_are_read_from_a_directory() {
    let world = World::new();
    let data = world.project().join("data");
    std::fs::create_dir(&data).unwrap();
    let pair = |a: &str, b: &str, label: u8| serde_json::json!({"a": a, "b": b, "label": label}).to_string();
    let lines = [
        pair("delete the build folder", "remove the build directory", 1),
        pair("delete the build folder", "rotate the keys", 0),
        "{".to_owned(),
    ];
    std::fs::write(data.join("some.jsonl"), lines.join("\n")).unwrap();
    let output = world.run(&["eval", "dedup", "--data", "data", "--json"]);
    assert_eq!(output.status, 0, "{output}");
    assert!(output.stderr.contains("1 line of some not understood"), "{output}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["sets"][0]["measures"][0]["best_f1"], 1.0);
    assert_snapshot!(world.run(&["eval", "dedup", "--data", "."]), @"
    ! error: there are no labelled pairs in .
    ! hint: a labelled set is a file *.jsonl or *.jsonl.gz; see --help
    exit 1
    ");
}

#[test]
fn deduplication_is_better_than_plain_measures_on_public_sets() {
    let Some(bench) = std::env::var_os("ARCHIVIST_BENCH").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_BENCH does not name a folder of yardsticks");
        return;
    };
    let data = bench.join("dedup").display().to_string();
    let report: Value = serde_json::from_str(&World::new().ok(&["eval", "dedup", "--data", &data, "--json"])).unwrap();
    for set in report["sets"].as_array().unwrap() {
        let (own, others) = set["measures"].as_array().unwrap().split_first().unwrap();
        // On newspaper sentences that all share most of their words no measure stands out.
        let slack = if set["name"] == "mrpc_test" { 0.005 } else { 0.0 };
        for other in others {
            assert!(own["best_f1"].as_f64().unwrap() + slack > other["best_f1"].as_f64().unwrap(), "{set}");
        }
    }
    let rows = report["store"]["rows"].as_array().unwrap();
    let wrong = |row: &Value| row["misplaced"].as_u64().unwrap() + row["swallowed"].as_u64().unwrap();
    for own in rows.iter().filter(|row| row["measure"] == "archivist") {
        for other in rows.iter().filter(|row| row["beside"] == own["right"] && row["measure"] != "archivist") {
            assert!(wrong(own) < wrong(other), "{own} {other}");
        }
    }
}

/// Few lessons, half of them held back: as much as can be played while somebody waits.
const SMALL: [&str; 10] =
    ["eval", "effect", "--lessons", "100", "--sessions", "8000", "--holdout", "0.5", "--seeds", "4"];

#[test]
fn harmful_lessons_are_found_and_others_let_be() {
    let report: Value = serde_json::from_str(&World::new().ok(&[&SMALL[..], &["--json"]].concat())).unwrap();
    let mean = |figure: &str| {
        let rows = report["spread"].as_array().unwrap();
        let row = rows.iter().find(|row| row["rule"] == "archivist" && row["figure"] == figure);
        row.unwrap()["mean"].as_f64().unwrap()
    };
    assert!(mean("harmful") >= 0.9, "{report}");
    assert!(mean("doing nothing") <= 0.05, "{report}");
    assert!(mean("helpful") <= 0.05, "{report}");
    for row in report["coverage"].as_array().unwrap() {
        assert_eq!(row["intervals"], 400, "{row}");
        // 0.93 to 0.97 is what thousands of intervals have to show; of so few, one point more to either side is chance.
        assert!((0.92..=0.98).contains(&row["covered"].as_f64().unwrap()), "{row}");
    }
    let retired = |rule: &str| -> u64 {
        let rows = report["rules"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["rule"] == rule && row["effect"].as_f64().unwrap() <= 0.0);
        rows.map(|row| row["retired"].as_u64().unwrap()).sum()
    };
    let [ours, interval, difference] =
        ["archivist", "95 % interval, every look", "any difference, from 10 runs"].map(retired);
    assert!(ours < interval && interval < difference, "{report}");
}

#[test]
fn the_effect_of_lessons_is_measured_as_a_table() {
    let world = World::new();
    let small = ["eval", "effect", "--lessons", "20", "--sessions", "1000", "--holdout", "0.5", "--seeds", "2"];
    let printed = world.ok(&small);
    assert_snapshot!(printed, @"
    20 lessons, 1,000 sessions, 50 % held back, seed 7
    without the lesson trouble comes back in 30 % of runs; of 10 % it is not known; runs are those it was due in

    rule                          a lesson that  lessons  retired  kept  half after  nine in ten after
    archivist                     helps by 0.20        4        0     4           –                  –
                                  helps by 0.10        4        0     4           –                  –
                                  does nothing         4        0     4           –                  –
                                  harms by 0.10        4        1     3           –                  –
                                  harms by 0.20        4        3     1         151                  –
    95 % interval, every look     helps by 0.20        4        0     4           –                  –
                                  helps by 0.10        4        0     4           –                  –
                                  does nothing         4        0     4           –                  –
                                  harms by 0.10        4        3     1          55                  –
                                  harms by 0.20        4        3     1          42                  –
    any difference, from 10 runs  helps by 0.20        4        0     4           –                  –
                                  helps by 0.10        4        2     2          11                  –
                                  does nothing         4        4     0          13                 83
                                  harms by 0.10        4        4     0          18                112
                                  harms by 0.20        4        4     0          11                 12

    held back  a lesson that  retired  half after  nine in ten after  all harmful  doing nothing  helpful
    5 %        harms by 0.10   0 of 4           –                  –        0.000          0.000    0.000
               harms by 0.20   0 of 4           –                  –
    10 %       harms by 0.10   1 of 4           –                  –        0.125          0.000    0.000
               harms by 0.20   0 of 4           –                  –
    20 %       harms by 0.10   1 of 4           –                  –        0.250          0.000    0.000
               harms by 0.20   1 of 4           –                  –
    50 %       harms by 0.10   1 of 4           –                  –        0.500          0.000    0.000
               harms by 0.20   3 of 4         151                  –

    the 95 % interval  looked at  holds the truth
    after 50 runs             40            0.975
    after 200 runs            40            0.950
    after 800 runs             0                –

    what share is retired, over 2 seeds
    rule                          of lessons     least   mean   most
    archivist                     harmful        0.250  0.375  0.500
                                  doing nothing  0.000  0.000  0.000
                                  helpful        0.000  0.000  0.000
    95 % interval, every look     harmful        0.750  0.812  0.875
                                  doing nothing  0.000  0.000  0.000
                                  helpful        0.000  0.000  0.000
    any difference, from 10 runs  harmful        1.000  1.000  1.000
                                  doing nothing  0.750  0.875  1.000
                                  helpful        0.250  0.375  0.500
    ");
    assert_eq!(world.ok(&small), printed, "the same seed plays the same sessions");
    assert_ne!(world.ok(&[&small[..], &["--seed", "8"]].concat()), printed);
    assert_snapshot!(world.run(&["eval", "effect", "--holdout", "1.5"]), @"
    ! error: invalid value '1.5' for '--holdout <P>': a number from 0 to 1 is needed
    !
    ! For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn the_status_of_sessions_is_compared_with_what_is_known_of_them() {
    let world = World::new();
    let data = world.project().join("runs");
    std::fs::create_dir_all(&data).unwrap();
    let log = |command: &str, output: &str| {
        let call = serde_json::json!({"id": "c1", "name": "bash", "arguments": {"command": command}});
        let edit = serde_json::json!({"id": "c0", "name": "edit",
            "arguments": {"path": "src/cart.rs", "old_string": "a", "new_string": "b"}});
        [
            serde_json::json!({"session": {"id": "s", "agent": "a"}}),
            serde_json::json!({"role": "user", "content": "Mend the cart."}),
            serde_json::json!({"role": "assistant", "content": "", "tool_calls": [edit]}),
            serde_json::json!({"role": "tool", "tool_call_id": "c0", "content": "edited"}),
            serde_json::json!({"role": "assistant", "content": "", "tool_calls": [call]}),
            serde_json::json!({"role": "tool", "tool_call_id": "c1", "content": output}),
            serde_json::json!({"role": "assistant", "content": "All done!"}),
        ]
        .map(|line| line.to_string())
        .join("\n")
    };
    std::fs::write(data.join("one.jsonl"), log("cargo test", "test result: ok. 2 passed; 0 failed; 0 ignored"))
        .unwrap();
    std::fs::write(data.join("two.jsonl"), log("cat src/cart.rs", "b")).unwrap();
    let index = "{\"file\": \"one.jsonl\", \"resolved\": true}\n{\"file\": \"two.jsonl\", \"resolved\": false}\n{}\n";
    std::fs::write(data.join("index.jsonl"), index).unwrap();
    let report: Value = serde_json::from_str(&world.ok(&["eval", "status", "--data", "runs", "--json"])).unwrap();
    assert_eq!((&report["sessions"], &report["strict"], &report["lenient"]), (&2.into(), &1.into(), &2.into()));
    assert_eq!(report["groups"]["unresolved"]["statuses"]["partial"], 1);
    assert_eq!(report["groups"]["resolved"]["successByBasis"]["check"], 1);
    assert_ne!(world.run(&["eval", "status", "--data", "."]).status, 0);
}

#[test]
fn failures_are_measured_against_the_steps_that_people_marked() {
    let world = World::new();
    let data = world.project().join("marked");
    std::fs::create_dir_all(data.join("plain")).unwrap();
    let call = |id: &str, output: &str| {
        let call = serde_json::json!({"role": "assistant", "content": "", "tool_calls": [{"id": id, "name": "python", "arguments": {"code": "f()"}}]});
        format!("{call}\n{}\n", serde_json::json!({"role": "tool", "tool_call_id": id, "content": output}))
    };
    let log = [
        "{\"session\": {\"id\": \"one\", \"agent\": \"smolagents\", \"directory\": \"/work/p\"}}\n{\"role\": \"user\", \"content\": \"Do it.\"}\n".to_owned(),
        call("a", "Error:\nError when executing tool f: TypeError: f() got no x"),
        call("b", "Execution logs:\n3"),
        call("c", "it went wrong, but nothing says so"),
    ];
    std::fs::write(data.join("plain/one.jsonl"), log.concat()).unwrap();
    std::fs::write(data.join("labels.jsonl"), "{\"id\": \"one\", \"errors\": [2, 4]}\n").unwrap();
    assert_snapshot!(world.ok(&["eval", "errors", "--data", "marked", "--show"]), @"
    logs   sessions  marked  found  recall  said  precision
    plain         1       2      1   0.500     1      1.000
    missed plain one s4: it went wrong, but nothing says so
    right plain one s2: python: Error when executing tool f: TypeError: f() got no x
    ");
    assert_snapshot!(world.run(&["eval", "errors", "--data", "."]), @"
    ! error: there is no labels.jsonl in .
    ! hint: see --help
    exit 1
    ");
}

/// The public set is not part of the project; `ARCHIVIST_BENCH` says where it is.
#[test]
fn failures_of_the_public_set_are_found() {
    let Some(bench) = std::env::var_os("ARCHIVIST_BENCH") else { return };
    let data = PathBuf::from(bench).join("trail").display().to_string();
    let printed = World::new().ok(&["eval", "errors", "--data", &data, "--json"]);
    let scores: Vec<Value> = serde_json::from_str(&printed).unwrap();
    for score in scores {
        let figure = |name: &str| score[name].as_f64().unwrap();
        assert!(figure("recall") >= 0.95 && figure("precision") >= 0.95, "{}: {score}", score["folder"]);
    }
}

#[test]
fn real_sessions_teach_what_is_true_and_nothing_else() {
    let Some(bench) = std::env::var_os("ARCHIVIST_BENCH").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_BENCH does not name a folder of yardsticks");
        return;
    };
    let data = bench.join("real-lessons").display().to_string();
    let report: Value = serde_json::from_str(&World::new().ok(&["eval", "real", "--data", &data, "--json"])).unwrap();
    let (gold, reply, wrong) = (&report["gold"], &report["reply"], &report["falseReplies"]);
    let count = |value: &Value| value.as_f64().unwrap();
    let all = |grades: &Value| count(&grades["a"]) + count(&grades["b"]);
    assert!(count(&reply["kept"]["a"]) >= 0.9 * count(&gold["a"]), "{}", reply["held"]);
    assert!(all(&reply["kept"]) >= 0.85 * all(gold), "{}", reply["held"]);
    // What was reached, so that it is not lost again.
    assert!(count(&reply["injected"]) >= 12.0, "{reply}");
    assert!(count(&wrong["claimed"]) >= 30.0, "the false replies belong to another set");
    assert_eq!(wrong["injected"], 0, "{}", wrong["verdicts"]);
}
