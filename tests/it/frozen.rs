//! A released format is read for ever: the frozen memories of `fixtures/banks`, and what today's code reads in them.

use std::fs;
use std::path::{Path, PathBuf};

use archivist_core::domain::{AgentMemory, Episode, Fact};
use insta::assert_snapshot;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::damage::Files;
use crate::support::World;

fn frozen(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/banks/v1").join(path)
}

/// A world whose project, or home, has one of the frozen memories.
fn thaw(memories: &[(&str, &str)]) -> World {
    let world = World::new();
    for (name, place) in memories {
        let to = world.home().join(place).join(".openagents/memory");
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(frozen(name)).unwrap() {
            let path = entry.unwrap().path();
            // Written rather than copied: the fixtures may be read-only.
            fs::write(to.join(path.file_name().unwrap()), fs::read(&path).unwrap()).unwrap();
        }
    }
    world.trust();
    world
}

fn shop() -> World {
    thaw(&[("project", "project"), ("global", "")])
}

fn json(world: &World, arguments: &[&str]) -> Value {
    serde_json::from_str(&world.ok(&[arguments, &["--json"]].concat())).unwrap()
}

/// One line for each element, with these of its fields.
fn essentials(list: &Value, fields: &[&str]) -> String {
    let line = |element: &Value| {
        let shown = |field: &&str| format!("{field}={}", element.pointer(&format!("/{field}")).unwrap_or(&Value::Null));
        fields.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    list.as_array().unwrap().iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_frozen_files_are_as_they_were_frozen() {
    let mut digests = String::new();
    for folder in ["global", "interrupted", "project"] {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(frozen(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let digest = blake3::hash(&fs::read(&path).unwrap()).to_hex();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            digests.push_str(&format!("{:.16} {folder}/{name}\n", digest.as_str()));
        }
    }
    assert_snapshot!(digests, @"
    95e42a34a5ee43ef global/global-ledger.jsonl
    d86c8b5bf18fbf3d global/global-lessons.jsonl
    138d8d0e98c8c574 interrupted/episodes.jsonl
    af1349b9f5f9a1a6 interrupted/ledger.jsonl
    9ef39da4c867f4d2 interrupted/lessons.jsonl
    df91c7597d20d5e8 interrupted/redo.log
    13bf2e8eae8f6625 project/episodes.jsonl
    20e71f84edf8febd project/ledger.jsonl
    7cefcb9519c8188e project/lessons-archive.jsonl
    ce1dda873f957ee9 project/lessons.jsonl
    ");
}

/// Reads every line as a `T` and writes it again.
fn check_round_trip<T: Serialize + DeserializeOwned>(path: &str) {
    let text = fs::read_to_string(frozen(path)).unwrap();
    for (number, line) in (1..).zip(text.lines()) {
        let record: T = serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}, line {number}: {error}"));
        let written: Value = serde_json::to_value(&record).unwrap();
        assert_eq!(written, serde_json::from_str::<Value>(line).unwrap(), "{path}, line {number}");
        assert_eq!(serde_json::to_string(&record).unwrap(), line, "{path}, line {number}: the order of its fields");
    }
}

#[test]
fn every_record_survives_being_read_and_written() {
    check_round_trip::<AgentMemory>("project/lessons.jsonl");
    check_round_trip::<AgentMemory>("project/lessons-archive.jsonl");
    check_round_trip::<AgentMemory>("global/global-lessons.jsonl");
    check_round_trip::<AgentMemory>("interrupted/lessons.jsonl");
    check_round_trip::<Episode>("project/episodes.jsonl");
    check_round_trip::<Episode>("interrupted/episodes.jsonl");
    check_round_trip::<Fact>("project/ledger.jsonl");
    check_round_trip::<Fact>("global/global-ledger.jsonl");
}

#[test]
fn the_frozen_records_hold_every_field() {
    let text = ["project/lessons.jsonl", "project/lessons-archive.jsonl", "project/episodes.jsonl"]
        .map(|path| fs::read_to_string(frozen(path)).unwrap())
        .concat();
    let lesson = "id alias createdAt updatedAt scope projectRoot repoId taskId provider tool component role domain \
                  phase errorFamily kind category tags importance severity summary rule detail evidence source state \
                  stateReason evergreen usageCount lastUsedAt supersededBy restoredFrom links to relation";
    let evidence =
        "episodeIds trajectoryIds sessionIds runLogPaths quotes trajectoryId step start end text level trust";
    let episode = "subtaskId sessionId startedAt finishedAt status trajectories usage promptTokens completionTokens \
                   cachedTokens costUsd";
    for field in [lesson, evidence, episode].iter().flat_map(|fields| fields.split_whitespace()) {
        assert!(text.contains(&format!("\"{field}\":")), "no frozen record has a `{field}`");
    }
}

#[test]
fn lessons_are_listed_as_ever() {
    let fields = ["alias", "version", "scope", "kind", "category", "importance", "state", "summary"];
    assert_snapshot!(essentials(&json(&shop(), &["list", "--all"]), &fields), @r#"
    alias="m-008" version=1 scope="project" kind="note" category="ritual" importance=0.1 state="quarantined" summary="Nobody deploys on a Friday afternoon\nunless the coffee machine works"
    alias="m-004" version=2 scope="provider" kind=null category="provider_quirk" importance=0.3 state="archived" summary="Long tool output is cut off without a word"
    alias="m-007" version=1 scope="global" kind="fact" category="infra" importance=0.4 state=null summary="A container started without --init never reaps its zombie processes"
    alias="m-005" version=2 scope="tool" kind=null category="tool_usage" importance=0.5 state="superseded" summary="Run npm install before every build"
    alias="m-006" version=3 scope="tool" kind=null category="tool_usage" importance=0.65 state="candidate" summary="Run npm ci before a build, and npm install only to change the lock file"
    alias="g-001" version=1 scope="global" kind="preference" category="workflow" importance=0.75 state="active" summary="Ask before you delete a branch that somebody else pushed"
    alias="m-001" version=3 scope="component" kind=null category="bugfix_pattern" importance=0.9 state="verified" summary="Billing tests fail when the clock is not UTC"
    alias="m-003" version=1 scope="repo" kind="decision" category="decision" importance=1.0 state="active" summary="Migrations are only ever added, never edited"
    alias="m-002" version=1 scope="project" kind="preference" category="preference" importance=0.7 state="active" summary="Commit messages are one sentence in the present tense"
    "#);
    assert_snapshot!(shop().run(&["list"]), @"
    ID     Kind        Category         Imp  Seen  Used  Age  Summary
    m-007  fact        infra           0.40     0     0  37d  A container started without --init never…
    m-006  lesson      tool_usage      0.65     1     0  39d  Run npm ci before a build, and npm instal…
    g-001  preference  workflow        0.75     0     1  50d  Ask before you delete a branch that someb…
    m-001  lesson      bugfix_pattern  0.90     2     2  50d  Billing tests fail when the clock is not…
    m-003  decision    decision        1.00     0     0  54d  Migrations are only ever added, never edi…
    m-002  preference  preference      0.70     0     0  55d  Commit messages are one sentence in the p…
    ");
}

#[test]
fn counters_are_counted_as_ever() {
    let mut lessons = json(&shop(), &["list", "--all"]);
    lessons.as_array_mut().unwrap().retain(|lesson| {
        let counted = |name: &&str| lesson["counters"][*name].as_f64().unwrap_or_default() > 0.0;
        ["sightings", "exposures", "withheld", "validated", "ignored"].iter().any(counted)
    });
    let counters = ["sightings", "lastSeenAt", "exposures", "withheld", "lastUsedAt", "validated", "ignored"];
    let fields: Vec<String> = counters.iter().map(|name| format!("counters/{name}")).collect();
    let fields: Vec<&str> = std::iter::once("alias").chain(fields.iter().map(String::as_str)).collect();
    assert_snapshot!(essentials(&lessons, &fields).replace("counters/", ""), @r#"
    alias="m-004" sightings=0 lastSeenAt=null exposures=0 withheld=0 lastUsedAt=null validated=0.0 ignored=0.5
    alias="m-005" sightings=0 lastSeenAt=null exposures=1 withheld=0 lastUsedAt="2026-01-15T10:00:00Z" validated=0.0 ignored=0.0
    alias="m-006" sightings=1 lastSeenAt="2026-01-21T08:00:00Z" exposures=0 withheld=0 lastUsedAt=null validated=0.0 ignored=0.0
    alias="g-001" sightings=0 lastSeenAt=null exposures=1 withheld=0 lastUsedAt="2026-01-18T22:00:00Z" validated=0.0 ignored=0.0
    alias="m-001" sightings=2 lastSeenAt="2026-01-09T14:20:00Z" exposures=2 withheld=0 lastUsedAt="2026-01-18T22:00:00Z" validated=1.0 ignored=0.0
    alias="m-002" sightings=0 lastSeenAt=null exposures=0 withheld=1 lastUsedAt=null validated=0.0 ignored=0.0
    "#);
}

#[test]
fn a_lesson_is_shown_as_ever() {
    let world = shop();
    assert_snapshot!(world.run(&["show", "m-001"]), @"
    m-001  Billing tests fail when the clock is not UTC

      IF a billing test fails at night THEN run it with TZ=UTC before reading its code

      Invoices are dated by local midnight. A runner west of Greenwich dates them a day early, and the
      totals of a month no longer agree.

    Kind          lesson, bugfix_pattern, scope component
    State         verified: held in two contexts
    Importance    0.90, severity bug
    Tags          tests, timezone
    About         task billing-17, provider claude-code, tool cargo, component crates/billing, role
                  implementer, domain code, phase verify, error 0f3c5a7e9b1d2f48
    Project       github.com/example/shop, /srv/shop
    Seen          2 times, last on 2026-01-09 14:20
    Used          2 times, last on 2026-01-18 22:00
    Feedback      validated 1.0, ignored 0.0, trust 1.00
    Episodes      ep-01kf0000000000000000000001, ep-01kf0000000000000000000002
    Sessions      5f0c9a1e-1111-4a7b-9c55-0d6f3b2a1c01
    Trajectories  traj-night-build
    Logs          logs/2026-01-05-night.jsonl
    Quote         “assertion failed: left: 2025-12-31, right: 2026-01-” (execution, build_output, step
                  14 of traj-night-build)
    Quote         “the runner’s zone is “PST”” (reasoning, agent, step 15 of traj-night-build)
    Source        archivist
    Version       3, created 2026-01-05 09:30, changed 2026-01-19 07:05
    Id            mem-01kf0000000000000000000001
    ");
    let strange = json(&world, &["show", "m-008"]);
    assert_eq!(strange["mood"]["after"][1], 1.5, "fields that nobody knows are shown to programs");
    assert_eq!(strange["evidence"]["witnesses"][0], "the night shift");
}

#[test]
fn versions_are_counted_as_ever() {
    let world = shop();
    assert_snapshot!(world.run(&["history", "m-001"]), @"
    m-001  Billing tests fail when the clock is not UTC

    version 1  2026-01-05 09:30  the first
               Billing tests fail when the clock is not UTC

    version 2  2026-01-09 14:00  changed: detail, domain, errorFamily, evidence, importance, phase, projectRoot, provider, repoId, role, rule, severity, state, tags
               Billing tests fail when the clock is not UTC

    version 3  2026-01-19 07:05  changed: importance, state, stateReason
               Billing tests fail when the clock is not UTC
    ");
    assert_snapshot!(world.run(&["history", "m-006"]), @"
    m-006  Run npm ci before a build, and npm install only to change the lock file

    version 1  2026-01-21 08:15  the first
               Run npm ci before a build, and npm install only to change the lock file

    version 2  2026-01-27 10:00  changed: evidence, importance, links, summary
               npm ci is slower than npm install

    version 3  2026-01-27 10:30  restored from version 1; changed: evidence, importance, links, summary
               Run npm ci before a build, and npm install only to change the lock file
    ");
    assert_snapshot!(world.run(&["history", "m-005"]), @"
    m-005  Run npm install before every build

    version 1  2026-01-07 16:00  the first
               Run npm install before every build

    version 2  2026-01-21 08:15  changed: state, supersededBy
               Run npm install before every build
    ");
}

#[test]
fn episodes_are_listed_as_ever() {
    assert_snapshot!(shop().run(&["episodes"]), @"
    Session                               Task        Status   Age  Summary
    rescue-2026-01-09                     -           success  50d  Found the time zone and pinned it i…
    loop:2026-01-21                       -           success  39d  Built the shop twelve times.
    5f0c9a1e-1111-4a7b-9c55-0d6f3b2a1c01  billing-17  failed   55d  Three billing tests failed and were…
    ");
}

#[test]
fn lessons_are_recalled_as_ever() {
    let world = shop();
    let asked = ["recall", "install the packages before the build", "--tool", "npm"];
    let found = |world: &World| essentials(&json(world, &asked)["items"], &["alias", "score", "summary"]);
    let without = found(&world);
    assert_snapshot!(without, @r#"alias="m-006" score=0.671962 summary="Run npm ci before a build, and npm install only to change the lock file""#);
    assert_snapshot!(world.run(&["recall", "may I edit a migration", "--tag", "database"]), @"
    <archivist-lessons>
    ### Project Lessons

    1. Migrations are only ever added, never edited (IF a migration on main is wrong THEN write another one that mends it) [m-003, 2026-01-06, written by hand]
    </archivist-lessons>
    ");
    assert_snapshot!(world.run(&["recall", "delete a branch"]), @"
    <archivist-lessons>
    ### Project Lessons

    1. Ask before you delete a branch that somebody else pushed [g-001, 2026-01-10, written by hand]
    </archivist-lessons>
    ");
    assert_eq!(world.run(&["recall", "tool output is cut off"]).to_string(), "", "archived is archived");
    world.ok(&["compact"]);
    assert_eq!(found(&world), without, "through the index");
}

#[test]
fn the_doctor_says_of_it_what_it_always_said() {
    assert_snapshot!(shop().run(&["doctor"]), @"
    File           Line  Remedy       Problem
    lessons.jsonl     9  none needed  category: `ritual` is not a category: it is one of heuristic, ant…
    ");
}

#[test]
fn the_old_memory_is_written_on_without_touching_its_lines() {
    let world = shop();
    let before = Files::of(&world);
    assert_eq!(world.ok(&["add", "Written by a later version"]), "m-009  Written by a later version\n");
    world.ok(&["restore", "m-004", "--version", "1"]);
    world.ok(&["forget", "m-008", "--reason", "the coffee machine was replaced"]);
    before.assert_only_grown(&world);
    let strange = json(&world, &["show", "m-008"]);
    assert_eq!(strange["mood"]["before"], "calm", "fields that nobody knows live on in new versions");
    assert_eq!(strange["category"], "ritual");
    world.ok(&["compact"]);
    before.assert_lines_kept(&world);
}

#[test]
fn a_commit_that_was_cut_off_is_read_and_finished() {
    let read = |world: &World| {
        (json(world, &["show", "m-001"]), json(world, &["history", "m-001"]), json(world, &["episodes"]))
    };
    let world = thaw(&[("interrupted", "project")]);
    assert_snapshot!(world.run(&["doctor"]), @"
    File      Line  Remedy      Problem
    redo.log     -  repairable  a commit is durable but not in its files yet
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    ");
    let pending = read(&world);
    assert_eq!((&pending.0["version"], &pending.0["counters"]["sightings"]), (&2.into(), &1.into()));
    let world = thaw(&[("interrupted", "project")]);
    assert_snapshot!(world.run(&["doctor", "--repair"]), @"
    File      Line  Remedy  Problem
    redo.log     -  mended  a commit is durable but not in its files yet
    ");
    assert_eq!(read(&world), pending);
    let lessons = fs::read_to_string(world.memory().join("lessons.jsonl")).unwrap();
    assert_eq!(lessons.lines().count(), 2, "the commit is in its file");
}
