//! `archivist audit`: how much of a memory is junk.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::World;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/audit")
}

/// The project and the memories of `fixtures/audit`, with a password where one belongs.
fn world() -> World {
    let world = World::new();
    let project = world.project();
    for (from, to) in [("project/README.md", "README.md"), ("project/src/queue.py", "src/queue.py")] {
        copy(from, &project.join(to));
    }
    for name in ["MEMORY.md", "printing.md"] {
        copy(&format!("notes/{name}"), &project.join("notes").join(name));
    }
    let store = fs::read_to_string(fixtures().join("store.jsonl")).unwrap();
    let secret = ["pass", "word=hunter22x"].concat();
    fs::write(project.join("store.jsonl"), store.replace("PASSWORD_HERE", &secret)).unwrap();
    world
}

fn copy(from: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(fixtures().join(from), to).unwrap();
}

fn report(world: &World, arguments: &[&str]) -> Value {
    let printed = world.ok(&[&["audit", "--json"], arguments].concat());
    serde_json::from_str(&printed).unwrap()
}

fn count(report: &Value, sort: &str) -> u64 {
    report["sorts"][sort]["count"].as_u64().unwrap()
}

#[test]
fn every_sort_of_junk_is_shown() {
    assert_snapshot!(world().run(&["audit", "store.jsonl"]), @r#"
    Sort                   Entries  Share  What it is
    exactDuplicates              1   7.1%  the same words as an earlier entry
    nearDuplicates               1   7.1%  other words for what an earlier entry says
    recallLoop                   2  14.3%  memory that was given to a session and stored again
    secrets                      1   7.1%  keys, passwords, tokens
    stalePaths                   1   7.1%  names a file that is not in the project
    neverUsed                    2  14.3%  was never given to anybody
    restatedDocumentation        1   7.1%  says what a document of the project says
    overLong                     1   7.1%  longer than a lesson needs to be
    incidents                    1   7.1%  tells what happened once and advises nothing

    10 of 14 entries are junk (71.4%); 1 retired one was not looked at

    exactDuplicates
      l-02: Set the printer to 203 dpi; at 300 dpi the barcode scanner reads every second label twice.
        the same as l-01

    nearDuplicates
      l-04: The spooler has to be stopped before emptying the queue by hand, otherwise labels get print…
        says what l-03 says

    recallLoop
      l-05: ## Known Issues (from past runs) - the printer jams on Mondays - the spooler prints twice
        holds `## Known Issues (from past runs)`
      l-06: Memory had this to say: "Set the printer to 203 dpi; at 300 dpi the barcode scanner reads e…
        quotes l-01

    secrets
      l-07: The print server takes nothing without password=[redacted:password:21e481] in its address.
        password

    stalePaths
      l-08: Paper sizes are listed in src/sizes.py, in millimetres.
        src/sizes.py is not there

    neverUsed
      l-02: Set the printer to 203 dpi; at 300 dpi the barcode scanner reads every second label twice.
        was never used
      l-10: Labels for Iceland carry the sender's phone number.
        was never used

    restatedDocumentation
      l-11: Start the printer daemon with `quay start` before the first label is printed.
        stands in README.md

    overLong
      l-12: What to look at when nothing is printed: - the cable - the paper - the ribbon - the driver…
        14 lines

    incidents
      l-13: Yesterday the printer jammed twice and we restarted the spooler.
        tells of an event: "yesterday"
    "#);
}

#[test]
fn a_program_reads_the_same() {
    assert_snapshot!(world().run(&["audit", "store.jsonl", "--json", "--examples", "1"]), @r###"
    {
      "total": 14,
      "retired": 1,
      "junk": 10,
      "junkShare": 0.7142857142857143,
      "sorts": {
        "exactDuplicates": {
          "count": 1,
          "share": 0.07142857142857142,
          "examples": [
            {
              "name": "l-02",
              "excerpt": "Set the printer to 203 dpi; at 300 dpi the barcode scanner reads every second label twice.",
              "why": "the same as l-01"
            }
          ]
        },
        "nearDuplicates": {
          "count": 1,
          "share": 0.07142857142857142,
          "examples": [
            {
              "name": "l-04",
              "excerpt": "The spooler has to be stopped before emptying the queue by hand, otherwise labels get printed twice.",
              "why": "says what l-03 says"
            }
          ]
        },
        "recallLoop": {
          "count": 2,
          "share": 0.14285714285714285,
          "examples": [
            {
              "name": "l-05",
              "excerpt": "## Known Issues (from past runs) - the printer jams on Mondays - the spooler prints twice",
              "why": "holds `## Known Issues (from past runs)`"
            }
          ]
        },
        "secrets": {
          "count": 1,
          "share": 0.07142857142857142,
          "examples": [
            {
              "name": "l-07",
              "excerpt": "The print server takes nothing without password=[redacted:password:21e481] in its address.",
              "why": "password"
            }
          ]
        },
        "stalePaths": {
          "count": 1,
          "share": 0.07142857142857142,
          "examples": [
            {
              "name": "l-08",
              "excerpt": "Paper sizes are listed in src/sizes.py, in millimetres.",
              "why": "src/sizes.py is not there"
            }
          ]
        },
        "neverUsed": {
          "count": 2,
          "share": 0.14285714285714285,
          "examples": [
            {
              "name": "l-02",
              "excerpt": "Set the printer to 203 dpi; at 300 dpi the barcode scanner reads every second label twice.",
              "why": "was never used"
            }
          ]
        },
        "restatedDocumentation": {
          "count": 1,
          "share": 0.07142857142857142,
          "examples": [
            {
              "name": "l-11",
              "excerpt": "Start the printer daemon with `quay start` before the first label is printed.",
              "why": "stands in README.md"
            }
          ]
        },
        "overLong": {
          "count": 1,
          "share": 0.07142857142857142,
          "examples": [
            {
              "name": "l-12",
              "excerpt": "What to look at when nothing is printed: - the cable - the paper - the ribbon - the driver - the spooler - the queue - t…",
              "why": "14 lines"
            }
          ]
        },
        "incidents": {
          "count": 1,
          "share": 0.07142857142857142,
          "examples": [
            {
              "name": "l-13",
              "excerpt": "Yesterday the printer jammed twice and we restarted the spooler.",
              "why": "tells of an event: \"yesterday\""
            }
          ]
        }
      }
    }
    "###);
}

#[test]
fn notes_in_markdown_are_read() {
    assert_snapshot!(world().run(&["audit", "notes", "--examples", "1"]), @"
    Sort                   Entries  Share  What it is
    exactDuplicates              1  20.0%  the same words as an earlier entry
    nearDuplicates               0   0.0%  other words for what an earlier entry says
    recallLoop                   1  20.0%  memory that was given to a session and stored again
    secrets                      0   0.0%  keys, passwords, tokens
    stalePaths                   1  20.0%  names a file that is not in the project
    neverUsed                    -      -  this memory does not tell what was used
    restatedDocumentation        0   0.0%  says what a document of the project says
    overLong                     0   0.0%  longer than a lesson needs to be
    incidents                    0   0.0%  tells what happened once and advises nothing

    3 of 5 entries are junk (60.0%)

    exactDuplicates
      printing.md:10: Prefer small commits, one matter each.
        the same as MEMORY.md:4

    recallLoop
      printing.md:15: ## Known Issues (from past runs) - the printer jams on Mondays - the spooler prin…
        holds `## Known Issues (from past runs)`

    stalePaths
      printing.md:13: Paper sizes are listed in src/sizes.py, in millimetres.
        src/sizes.py is not there
    ");
}

#[test]
fn a_limit_decides_how_it_ends() {
    let world = world();
    let limits = ["--max-junk", "50%", "--max", "secrets=0", "--max", "incidents=0.5"];
    let output = world.run(&[&["audit", "store.jsonl", "--json"], limits.as_slice()].concat());
    assert_eq!(output.status, 1, "{output}");
    assert_snapshot!(output.stderr, @"
    error: junk: 71.4% of the entries, above the limit of 50.0%
    error: secrets: 7.1% of the entries, above the limit of 0.0%
    ");
    let output = world.run(&["audit", "store.jsonl", "--max-junk", "0.8", "--max", "secrets=8%"]);
    assert_eq!((output.status, output.stderr.as_str()), (0, ""), "{output}");
    // What the memory does not tell breaks no limit.
    let output = world.run(&["audit", "notes", "--examples", "0", "--max", "neverUsed=0"]);
    assert_eq!(output.status, 0, "{output}");
    assert_snapshot!(output.stderr, @"warning: this memory does not tell what was used; no limit for neverUsed was looked at");
}

#[test]
fn bad_words_are_bad_usage() {
    let world = world();
    for arguments in [
        ["--max", "junk=1"],
        ["--max", "secrets"],
        ["--max", "secrets=2"],
        ["--max-junk", "lots"],
        ["--max-junk", "NaN"],
        ["--max-junk", "-1%"],
        ["--format", "jsonl"],
    ] {
        let output = world.run(&[&["audit"], arguments.as_slice()].concat());
        assert_eq!(output.status, 2, "{output}");
    }
}

#[test]
fn a_path_that_holds_no_memory_is_refused() {
    let world = world();
    fs::write(world.project().join("picture.jsonl"), [0xff, 0xd8, 0x00]).unwrap();
    let said: Vec<String> =
        ["nowhere", "src", "src/queue.py", "picture.jsonl"].map(|path| world.run(&["audit", path]).to_string()).into();
    assert_snapshot!(said.concat(), @"
    ! error: nowhere cannot be read: No such file or directory (os error 2)
    ! hint: give a file or a folder that is there
    exit 1
    ! error: there are no memories or Markdown files in src
    ! hint: give the file itself, and --format if its name does not tell
    exit 1
    ! error: cannot tell what src/queue.py holds
    ! hint: give --format jsonl or --format markdown
    exit 1
    ! error: picture.jsonl is not text
    ! hint: give a file of JSON lines or Markdown
    exit 1
    ");
}

#[test]
fn an_empty_memory_has_no_junk() {
    let world = world();
    fs::write(world.project().join("empty.jsonl"), "").unwrap();
    fs::write(world.project().join("retired.jsonl"), "{\"text\":\"Use pnpm\",\"status\":\"archived\"}\n{\n").unwrap();
    let said = ["empty.jsonl", "retired.jsonl"].map(|path| world.run(&["audit", path, "--max-junk", "0"]).to_string());
    assert_snapshot!(said.concat(), @"
    ! no entries
    ! warning: 1 line of retired.jsonl not understood
    ! no entries in use; 1 is retired
    ");
    assert_snapshot!(world.run(&["audit"]), @"! no lessons");
    assert_eq!(report(&world, &["empty.jsonl"])["total"], 0);
}

#[test]
fn what_is_audited_does_not_restate_itself() {
    let world = world();
    assert_eq!(count(&report(&world, &["README.md"]), "restatedDocumentation"), 0);
    fs::copy(world.project().join("README.md"), world.project().join("notes/copy.md")).unwrap();
    assert_eq!(count(&report(&world, &["notes"]), "restatedDocumentation"), 2);
}

#[test]
fn the_memory_of_the_project_is_looked_at() {
    let world = world();
    for text in [
        "Set the printer to 203 dpi, or labels are read twice",
        "set the printer to 203 dpi, or labels are read twice",
        "Paper sizes are listed in src/sizes.py, in millimetres",
        "Start the printer daemon with `quay start` before the first label is printed",
    ] {
        world.ok(&["add", text]);
    }
    let report = report(&world, &[]);
    assert_eq!((&report["total"], &report["junk"]), (&4.into(), &3.into()), "{report}");
    // They were written a moment ago: that nobody was given them yet says nothing.
    let counts =
        ["exactDuplicates", "stalePaths", "restatedDocumentation", "neverUsed"].map(|sort| count(&report, sort));
    assert_eq!(counts, [1, 1, 1, 0], "{report}");
    let later = world.ok(&["audit", "--json", "--now", "2026-04-01T12:00:00Z"]);
    assert_eq!(count(&serde_json::from_str(&later).unwrap(), "neverUsed"), 4);
    world.ok(&["forget", "m-002"]);
    let report: Value = serde_json::from_str(&world.ok(&["audit", "--json"])).unwrap();
    assert_eq!((&report["total"], &report["retired"]), (&3.into(), &1.into()), "{report}");
}

#[test]
fn the_files_of_our_own_memory_are_read_as_any_others() {
    let world = world();
    world.ok(&["add", "Set the printer to 203 dpi, or labels are read twice"]);
    let folder = report(&world, &[".openagents"]);
    let file = report(&world, &[".openagents/memory/lessons.jsonl"]);
    assert_eq!((&folder["total"], &file["total"]), (&1.into(), &1.into()));
    assert!(file["sorts"]["neverUsed"].is_null(), "{file}");
}

#[test]
fn a_real_memory_is_full_of_the_same_failures() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let memories = corpus.join("openagents/memories.jsonl").display().to_string();
    let report = report(&World::new(), &[&memories]);
    // 38 entries, 15 texts: each failure is there three or four times.
    assert_eq!(report["total"], 38);
    assert_eq!(count(&report, "exactDuplicates"), 23);
    assert_eq!(count(&report, "incidents"), 38);
    assert_eq!(count(&report, "neverUsed"), 38);
    let examples = report["sorts"]["exactDuplicates"]["examples"].as_array().unwrap();
    assert!(examples.iter().all(|one| one["excerpt"].as_str().unwrap().contains("Task: ")), "{examples:?}");
}

#[test]
fn junk_is_told_from_what_is_sound() {
    assert_snapshot!(World::new().ok(&["eval", "audit"]), @"
    half  sort                   entries  labelled  said  precision  recall  wrong, and missed behind /
    dev   exactDuplicates             78         3     3       1.00    1.00
    dev   nearDuplicates              78         6     5       1.00    0.83  / dev-029
    dev   recallLoop                  78         7     7       1.00    1.00
    dev   secrets                     78         3     3       1.00    1.00
    dev   stalePaths                  78         4     4       1.00    1.00
    dev   neverUsed                   78         2     2       1.00    1.00
    dev   restatedDocumentation       78         6     6       1.00    1.00
    dev   overLong                    78         2     2       1.00    1.00
    dev   incidents                   78         9     9       1.00    1.00
    held  exactDuplicates             78         3     3       1.00    1.00
    held  nearDuplicates              78         6     4       1.00    0.67  / held-028, held-032
    held  recallLoop                  78         7     7       1.00    1.00
    held  secrets                     78         3     3       1.00    1.00
    held  stalePaths                  78         4     4       1.00    1.00
    held  neverUsed                   78         2     2       1.00    1.00
    held  restatedDocumentation       78         6     5       1.00    0.83  / held-059
    held  overLong                    78         2     2       1.00    1.00
    held  incidents                   78         9    10       0.90    1.00  held-040 /
    ");
}

#[test]
fn what_mem0_and_claude_mem_keep_is_read_as_an_import_reads_it() {
    let world = World::new();
    let memory =
        |id: u32, text: &str| format!(r#"{{"id": "{id}", "memory": "{text}", "created_at": "2026-01-01T00:00:00Z"}}"#);
    let often = "Run the migrations before the integration tests";
    let list = [memory(1, often), memory(2, often), memory(3, "Prefer pnpm over npm in every workspace")].join(",");
    fs::write(world.project().join("mem0.json"), format!("{{\"results\": [{list}]}}")).unwrap();
    let found = report(&world, &["mem0.json"]);
    assert_eq!((found["total"].as_u64(), count(&found, "exactDuplicates")), (Some(3), 1));

    world.ok(&["import", "mem0.json"]);
    world.ok(&["export", "--format", "claude-mem", "--out", "claude-mem.db"]);
    let found = report(&world, &["claude-mem.db"]);
    assert_eq!((found["total"].as_u64(), count(&found, "exactDuplicates")), (Some(2), 0));

    fs::write(world.project().join("broken.json"), "[{").unwrap();
    assert_snapshot!(world.run(&["audit", "broken.json", "--format", "mem0"]), @"
    ! error: broken.json is no export of mem0: EOF while parsing an object at line 1 column 2
    ! hint: nothing was taken over; look at the file, or give another --format
    exit 1
    ");
}
