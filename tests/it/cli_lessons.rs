//! Adding, listing, showing, forgetting and bringing back.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::World;

#[test]
fn add_gives_a_short_name() {
    let world = World::new();
    assert_snapshot!(world.run(&["add", "Prefer rg over grep"]), @"m-001  Prefer rg over grep");
    let global = world.run(&["add", "--kind", "decision", "--scope", "global", "Dates are kept in UTC"]);
    assert_snapshot!(global, @"g-001  Dates are kept in UTC");
    assert_snapshot!(world.run_with(&["add", "-"], &[], "Two lines\nbecome one\n"), @"m-002  Two lines become one");
    assert!(world.home().join(".openagents/memory/global-lessons.jsonl").exists());
}

#[test]
fn what_add_keeps_is_the_published_record() {
    let world = World::new();
    let added =
        world.ok(&["add", "--json", "--kind", "lesson", "--tool", "bash", "--tag", "a", "--tag", "a", "Quote paths"]);
    assert_snapshot!(added, @r#"
    {
      "id": "mem-01kjmma2g0dasnqzv84c36dmwr",
      "alias": "m-001",
      "createdAt": "2026-03-01T12:00:00Z",
      "scope": "project",
      "tool": "bash",
      "category": "heuristic",
      "tags": [
        "a"
      ],
      "importance": 0.7,
      "summary": "Quote paths",
      "evidence": {
        "episodeIds": [],
        "trajectoryIds": [],
        "sessionIds": [],
        "runLogPaths": []
      },
      "source": "manual",
      "state": "active",
      "usageCount": 0
    }
    "#);
    let listed: Value = serde_json::from_str(&world.ok(&["list", "--json"])).unwrap();
    assert_eq!(listed[0]["summary"], "Quote paths");
    assert_eq!(listed[0]["version"], 1);
}

#[test]
fn add_refuses_what_says_nothing() {
    let world = World::new();
    assert_snapshot!(world.run(&["add", " \n "]), @r#"
    ! error: there is nothing to remember: the text is empty
    ! hint: say it in a sentence, as in `archivist add "Prefer rg over grep"`
    exit 2
    "#);
    assert_snapshot!(world.run(&["add", "--scope", "tool", "It needs a tool"]), @"
    ! error: a lesson of scope tool must say which tool
    ! hint: add --tool NAME
    exit 2
    ");
    assert_snapshot!(world.run(&["add", "--tag", "", "A tag is a word"]), @"
    ! error: --tag is empty
    ! hint: leave it out, or give it a value
    exit 2
    ");
    assert!(!world.memory().exists());
}

#[test]
fn a_rule_without_if_and_then_is_kept_with_a_warning() {
    let world = World::new();
    assert_snapshot!(world.run(&["add", "Be kind", "--rule", "be kind"]), @"
    m-001  Be kind
    ! warning: the rule is kept, but it does not read as IF condition THEN recommendation
    ");
    assert_snapshot!(world.run(&["-q", "add", "Be kinder", "--rule", "be kinder"]), @"m-002  Be kinder");
    assert_snapshot!(world.run(&["add", "Wait", "--rule", "if it rains then wait"]), @"m-003  Wait");
}

#[test]
fn list_is_a_table_that_fits() {
    let world = World::new();
    several_lessons(&world);
    assert_snapshot!(world.run(&["list"]), @"
    ID     Kind        Category     Imp  Seen  Used  Age  Summary
    m-003  preference  preference  0.95     0     0  now  漢字を含む長い要約も端末の幅に収まらなければ…
    m-002  lesson      heuristic   0.70     0     0  now  curl needs --fail in scripts
    m-001  decision    decision    0.70     0     0  26d  All dates are kept in UTC, and shown in the r…
    ");
    assert_snapshot!(world.run_with(&["list"], &[("COLUMNS", "60")], ""), @"
    ID      Imp  Seen  Used  Age  Summary
    m-003  0.95     0     0  now  漢字を含む長い要約も端末の幅…
    m-002  0.70     0     0  now  curl needs --fail in scripts
    m-001  0.70     0     0  26d  All dates are kept in UTC, an…
    ");
    assert_snapshot!(world.run_with(&["list"], &[("COLUMNS", "30")], ""), @"
    ID     Summary
    m-003  漢字を含む長い要約も端…
    m-002  curl needs --fail in s…
    m-001  All dates are kept in…
    ");
    assert_snapshot!(world.run_with(&["list"], &[("COLUMNS", "wide")], ""), @"
    ID     Kind        Category     Imp  Seen  Used  Age  Summary
    m-003  preference  preference  0.95     0     0  now  漢字を含む長い要約も端末の幅に収まらなければ…
    m-002  lesson      heuristic   0.70     0     0  now  curl needs --fail in scripts
    m-001  decision    decision    0.70     0     0  26d  All dates are kept in UTC, and shown in the r…
    ");
}

#[test]
fn list_selects() {
    let world = World::new();
    several_lessons(&world);
    assert_snapshot!(world.run(&["list", "--kind", "decision"]), @"
    ID     Kind      Category   Imp  Seen  Used  Age  Summary
    m-001  decision  decision  0.70     0     0  26d  All dates are kept in UTC, and shown in the reade…
    ");
    assert_snapshot!(world.run(&["list", "--tag", "net", "--limit", "1"]), @"
    ID     Kind        Category     Imp  Seen  Used  Age  Summary
    m-003  preference  preference  0.95     0     0  now  漢字を含む長い要約も端末の幅に収まらなければ…
    ");
    assert_snapshot!(world.run(&["list", "--scope", "tool", "--category", "heuristic"]), @"
    ID     Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  lesson  heuristic  0.70     0     0  now  curl needs --fail in scripts
    ");
    assert_snapshot!(world.run(&["list", "--kind", "fact"]), @"! no lessons");
    assert_snapshot!(world.run(&["list", "--kind", "fact", "--json"]), @"[]");
}

#[test]
fn the_header_is_dim_where_colour_is_wanted() {
    let world = World::new();
    world.ok(&["add", "Prefer rg"]);
    let coloured = world.ok(&["list", "--color", "always"]);
    assert!(coloured.starts_with("\u{1b}[2mID "), "{coloured:?}");
    for plain in [&["list"][..], &["list", "--color", "never"], &["list", "--color=auto"]] {
        assert!(!world.ok(plain).contains('\u{1b}'));
    }
}

#[test]
fn show_tells_everything() {
    let world = World::new();
    let record = json!({
        "id": "mem-full", "alias": "m-001", "createdAt": "2026-02-01T08:00:00Z", "scope": "tool", "tool": "bash",
        "component": "src/net", "errorFamily": "0123456789abcdef", "kind": "lesson", "category": "tool_usage",
        "tags": ["net", "retry"], "importance": 0.85, "severity": "bug",
        "summary": "curl needs --fail, or an error page passes for an answer and everything after it is built on sand, \
                    which takes an hour to find",
        "rule": "IF curl is used in a script THEN add --fail",
        "detail": "First paragraph.\n\nSecond paragraph with \u{1b}[31mcolour\u{1b}[0m in it.",
        "evidence": {
            "episodeIds": ["ep-1", "ep-2"], "trajectoryIds": ["traj-1"], "sessionIds": ["session-1"],
            "runLogPaths": ["logs/a.jsonl"],
            "quotes": [{
                "trajectoryId": "traj-1", "step": 3, "start": 0, "end": 9, "text": "<html>404",
                "level": "execution", "trust": "tool_output",
            }],
        },
        "source": "archivist", "state": "verified", "stateReason": "held in two contexts", "evergreen": true,
        "links": [{"to": "mem-other", "relation": "refines"}],
    });
    std::fs::create_dir_all(world.memory()).unwrap();
    std::fs::write(world.memory().join("lessons.jsonl"), format!("{record}\n")).unwrap();
    world.trust();
    assert_snapshot!(world.run_with(&["show", "m-001"], &[("COLUMNS", "80")], ""), @"
    m-001  curl needs --fail, or an error page passes for an answer and everything
           after it is built on sand, which takes an hour to find

      IF curl is used in a script THEN add --fail

      First paragraph.

      Second paragraph with colour in it.

    Kind          lesson, tool_usage, scope tool
    State         verified: held in two contexts
    Importance    0.85, severity bug, evergreen
    Tags          net, retry
    About         tool bash, component src/net, error 0123456789abcdef
    Seen          0 times
    Used          0 times
    Episodes      ep-1, ep-2
    Sessions      session-1
    Trajectories  traj-1
    Logs          logs/a.jsonl
    Quote         “<html>404” (execution, tool_output, step 3 of traj-1)
    Links         refines mem-other
    Source        archivist
    Version       1, created 2026-02-01 08:00
    Id            mem-full
    ");
    let shown: Value = serde_json::from_str(&world.ok(&["show", "mem-full", "--json"])).unwrap();
    assert_eq!(shown["evidence"], record["evidence"]);
    assert_eq!(shown["version"], 1);
}

#[test]
fn show_of_a_task_shows_its_lessons() {
    let world = World::new();
    world.ok(&["add", "--task", "auth-42", "Tokens expire after an hour"]);
    world.ok(&["add", "Something else"]);
    assert_snapshot!(world.run(&["show", "--task", "auth-42"]), @"
    m-001  Tokens expire after an hour

    Kind          preference, preference, scope project
    State         active
    Importance    0.70
    About         task auth-42
    Seen          0 times
    Used          0 times
    Source        manual
    Version       1, created 2026-03-01 12:00
    Id            mem-01kjmma2g0qqa9xmfehep6anm1
    ");
    assert_snapshot!(world.run(&["show", "--task", "nowhere"]), @"
    ! error: there are no lessons of task `nowhere`
    ! hint: `archivist list --all` shows every lesson
    exit 1
    ");
    assert_snapshot!(world.run(&["show", "--task", "nowhere", "--json"]), @"
    []
    exit 1
    ");
}

#[test]
fn a_forgotten_lesson_can_be_restored() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep"]);
    world.ok(&["add", "Quote paths"]);
    assert_snapshot!(world.run(&["forget", "m-001", "--reason", "no longer true"]), @"m-001  Prefer rg over grep");
    assert_snapshot!(world.run(&["forget", "m-001"]), @"
    m-001  Prefer rg over grep
    ! m-001 was forgotten already
    ");
    assert_snapshot!(world.run(&["list"]), @"
    ID     Kind        Category     Imp  Seen  Used  Age  Summary
    m-002  preference  preference  0.70     0     0  now  Quote paths
    ");
    assert_snapshot!(world.run(&["list", "--all"]), @"
    ID     State     Kind        Category     Imp  Seen  Used  Age  Summary
    m-002  active    preference  preference  0.70     0     0  now  Quote paths
    m-001  archived  preference  preference  0.70     0     0  now  Prefer rg over grep
    ");
    assert_snapshot!(world.run(&["restore", "m-001", "--version", "1", "--now", "2026-03-02T09:30:00Z"]), @"
    m-001  Prefer rg over grep
    ! version 3 has the content of version 1
    ");
    assert_snapshot!(world.run(&["history", "m-001"]), @"
    m-001  Prefer rg over grep

    version 1  2026-03-01 12:00  the first
               Prefer rg over grep

    version 2  2026-03-01 12:00  changed: state, stateReason
               Prefer rg over grep

    version 3  2026-03-02 09:30  restored from version 1; changed: state, stateReason
               Prefer rg over grep
    ");
    assert_snapshot!(world.run(&["restore", "m-001", "--version", "9"]), @"
    ! error: lesson `mem-01kjmma2g0qxa31p2y19yht0dn` has no version 9; it has 3
    ! hint: `archivist history mem-01kjmma2g0qxa31p2y19yht0dn` shows its versions
    exit 1
    ");
}

#[test]
fn forget_changes_nothing_if_one_name_is_wrong() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep"]);
    assert_snapshot!(world.run(&["forget", "m-001", "m-777"]), @"
    ! error: there is no lesson `m-777`
    ! hint: `archivist list --all` shows every lesson
    exit 1
    ");
    assert_eq!(world.ok(&["list"]).lines().count(), 2);
}

#[test]
fn history_shows_the_last_ten_versions() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep"]);
    for _ in 0..5 {
        world.ok(&["forget", "m-001"]);
        world.ok(&["restore", "m-001", "--version", "1"]);
    }
    let last = world.run(&["history", "m-001"]);
    assert_eq!(last.stdout.lines().filter(|line| line.starts_with("version ")).count(), 10);
    assert_eq!(last.stderr, "1 older version not shown; --all shows them\n");
    let all: Value = serde_json::from_str(&world.ok(&["history", "m-001", "--all", "--json"])).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 11);
    assert_eq!((&all[0]["changed"], &all[1]["changed"]), (&Value::Null, &json!(["state"])));
}

fn several_lessons(world: &World) {
    let february = ["--now", "2026-02-03T12:00:00Z"];
    world.ok(&[
        &["add", "--kind", "decision", "All dates are kept in UTC, and shown in the reader's own zone"],
        &february[..],
    ]
    .concat());
    world.ok(&[
        "add",
        "--kind",
        "lesson",
        "--scope",
        "tool",
        "--tool",
        "curl",
        "--tag",
        "net",
        "curl needs --fail in scripts",
    ]);
    world.ok(&[
        "add",
        "--importance",
        "95",
        "--tag",
        "net",
        "漢字を含む長い要約も端末の幅に収まらなければならない、どんな端末でも",
    ]);
}
