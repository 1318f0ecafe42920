//! Lines as they are found: by an editor, another program, a merge, a crash. They are read or reported, never lost.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::damage::{Files, lines, put, record, summaries, with};
use crate::support::World;

/// Lives with such a `lessons.jsonl` for a while, and tells what a person got to see of it.
///
/// On the way it is checked that reading changes nothing, that repairing and adding only add, that compaction keeps
/// every line, and that a lesson that could be read at first can be read until the end, with and without an index.
fn life_with(content: &[u8]) -> String {
    let world = World::new();
    let mut told = String::new();
    let mut tell = |arguments: &[&str]| {
        let output = world.run(arguments);
        assert!(!output.to_string().contains('\u{1b}'), "control characters reach the terminal:\n{output}");
        told.push_str(&format!("$ {}\n{output}", arguments.join(" ")));
        output.stdout
    };

    put(&world, "lessons.jsonl", content);
    let found = Files::of(&world);
    tell(&["list", "--all"]);
    tell(&["doctor"]);
    world.ok(&["recall", "quote paths", "--json"]);
    world.ok(&["status"]);
    let before = summaries(&world);
    assert_eq!(Files::of(&world), found, "reading changed something");

    tell(&["doctor", "--repair"]);
    found.assert_only_grown(&world);
    assert_eq!(world.run(&["doctor"]).status, 0, "repair left something to repair");
    assert_eq!(summaries(&world), before, "repair changed what the files say");

    // Once more, by somebody who does not repair first.
    fs::remove_dir_all(world.memory()).unwrap();
    put(&world, "lessons.jsonl", content);
    let added = tell(&["add", "Added later"]);
    found.assert_only_grown(&world);
    // A retired lesson makes compaction write the files anew.
    world.ok(&["forget", added.split(' ').next().unwrap()]);
    let grown = Files::of(&world);
    world.ok(&["compact"]);
    grown.assert_lines_kept(&world);
    assert_ne!(Files::of(&world), grown, "compaction had nothing to do");

    let after = summaries(&world);
    assert_eq!(
        after.iter().filter(|summary| *summary != "Added later").collect::<Vec<_>>(),
        before.iter().collect::<Vec<_>>()
    );
    assert_eq!(after.len(), before.len() + 1);
    let through_the_index = world.ok(&["recall", "quote paths"]);
    fs::remove_dir_all(world.memory().join("index")).unwrap();
    assert_eq!(world.ok(&["recall", "quote paths"]), through_the_index);
    told
}

fn one() -> Value {
    record("a", "m-001", "Quote paths")
}

fn two() -> Value {
    record("b", "m-002", "Pin versions")
}

fn between_two(bytes: &[u8]) -> Vec<u8> {
    [&lines([&one()]), bytes, b"\n", &lines([&two()])].concat()
}

#[test]
fn an_empty_file_is_an_empty_memory() {
    assert_snapshot!(life_with(b""), @"
    $ list --all
    ! no lessons
    $ doctor
    ! nothing is wrong
    $ doctor --repair
    ! nothing is wrong
    $ add Added later
    m-001  Added later
    ");
}

#[test]
fn a_last_line_without_a_newline_is_read_and_kept_apart_from_the_next() {
    let content = lines([&one(), &two()]);
    assert_snapshot!(life_with(&content[..content.len() - 1]), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy      Problem
    lessons.jsonl     -  repairable  the last line has no newline
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    $ doctor --repair
    File           Line  Remedy  Problem
    lessons.jsonl     -  mended  the last line has no newline
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn half_a_line_from_anothers_crash_does_not_take_the_next_one_with_it() {
    let content = lines([&one(), &two()]);
    assert_snapshot!(life_with(&content[..content.len() - 20]), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: EOF while parsing a string
    lessons.jsonl     -  repairable   the last line has no newline
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     -  mended       the last line has no newline
    lessons.jsonl     2  none needed  not read: EOF while parsing a string
    $ add Added later
    m-002  Added later
    ");
}

#[test]
fn windows_line_ends_are_read() {
    let content = String::from_utf8(lines([&one(), &two()])).unwrap().replace('\n', "\r\n");
    assert_snapshot!(life_with(content.as_bytes()), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    ! nothing is wrong
    $ doctor --repair
    ! nothing is wrong
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn a_byte_order_mark_is_read_over() {
    assert_snapshot!(life_with(&[b"\xEF\xBB\xBF", &lines([&one(), &two()])[..]].concat()), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    ! nothing is wrong
    $ doctor --repair
    ! nothing is wrong
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn zeros_of_a_lost_power_supply_are_read_over() {
    let zeros = [0; 512];
    assert_snapshot!(life_with(&[&lines([&one()]), &zeros[..], &lines([&two()]), &zeros[..]].concat()), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy      Problem
    lessons.jsonl     -  repairable  the last line has no newline
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    $ doctor --repair
    File           Line  Remedy  Problem
    lessons.jsonl     -  mended  the last line has no newline
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn a_file_of_nothing_but_zeros_is_an_empty_memory() {
    assert_snapshot!(life_with(&[0; 4096]), @"
    $ list --all
    ! no lessons
    $ doctor
    File           Line  Remedy      Problem
    lessons.jsonl     -  repairable  the last line has no newline
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    $ doctor --repair
    File           Line  Remedy  Problem
    lessons.jsonl     -  mended  the last line has no newline
    $ add Added later
    m-001  Added later
    ");
}

#[test]
fn a_zero_inside_a_record_is_reported() {
    let torn = lines([&record("c", "m-003", "Torn")]);
    let torn: Vec<u8> = torn.iter().map(|&byte| if byte == b'T' { 0 } else { byte }).collect();
    assert_snapshot!(life_with(&between_two(&torn)), @r#"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: control character (\u0000-\u001F) found while parsing a…
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: control character (\u0000-\u001F) found while parsing a…
    $ add Added later
    m-003  Added later
    "#);
}

#[test]
fn a_line_of_ten_megabytes_is_kept_but_not_read() {
    let long = with(record("c", "m-003", "Long"), "detail", "x".repeat(10 * 1024 * 1024));
    assert_snapshot!(life_with(&between_two(&lines([&long]))), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: the line is 10485926 bytes long; the limit is 4194304
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: the line is 10485926 bytes long; the limit is 4194304
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn bytes_that_are_no_text_are_reported() {
    let mut broken = lines([&record("c", "m-003", "Caf? au lait")]);
    let at = broken.iter().position(|&byte| byte == b'?').unwrap();
    broken[at] = 0xE9;
    assert_snapshot!(life_with(&between_two(&[&broken, &b"\xFF\xFE\n\x1b[31mred\x07"[..]].concat())), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: invalid unicode code point
    lessons.jsonl     3  none needed  not read: expected value
    lessons.jsonl     4  none needed  not read: expected value
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: invalid unicode code point
    lessons.jsonl     3  none needed  not read: expected value
    lessons.jsonl     4  none needed  not read: expected value
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn a_line_that_stands_there_twice_is_two_versions_of_one_lesson() {
    assert_snapshot!(life_with(&lines([&one(), &two(), &one(), &one()])), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    ! nothing is wrong
    $ doctor --repair
    ! nothing is wrong
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn one_id_with_two_texts_is_the_later_text() {
    let later = with(one(), "summary", "Quote paths with spaces");
    assert_snapshot!(life_with(&lines([&one(), &two(), &later])), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths with spaces
    $ doctor
    ! nothing is wrong
    $ doctor --repair
    ! nothing is wrong
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn words_of_a_newer_version_are_read_and_reported() {
    let words = ["scope", "kind", "category", "source", "state"].map(|field| {
        let name = format!("new-{field}");
        with(record(&name, "m-001", &format!("A new {field}")), field, "\u{1b}[31mmoon")
    });
    let records: Vec<Value> = (1..).zip(words).map(|(at, word)| with(word, "alias", format!("m-{at:03}"))).collect();
    assert_snapshot!(life_with(&lines(&records)), @r"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-005  moon   lesson  heuristic  0.50     0     0  59d  A new state
    m-004  -      lesson  heuristic  0.50     0     0  59d  A new source
    m-003  -      lesson  moon       0.50     0     0  59d  A new category
    m-002  -      moon    heuristic  0.50     0     0  59d  A new kind
    m-001  -      lesson  heuristic  0.50     0     0  59d  A new scope
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     1  none needed  scope: `\u{1b}[31mmoon` is not a scope: it is one of global, proj…
    lessons.jsonl     2  none needed  kind: `\u{1b}[31mmoon` is not a kind: it is one of lesson, prefer…
    lessons.jsonl     3  none needed  category: `\u{1b}[31mmoon` is not a category: it is one of heuris…
    lessons.jsonl     4  none needed  source: `\u{1b}[31mmoon` is not a source: it is one of archivist,…
    lessons.jsonl     5  none needed  state: `\u{1b}[31mmoon` is not a state: it is one of observed, ca…
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     1  none needed  scope: `\u{1b}[31mmoon` is not a scope: it is one of global, proj…
    lessons.jsonl     2  none needed  kind: `\u{1b}[31mmoon` is not a kind: it is one of lesson, prefer…
    lessons.jsonl     3  none needed  category: `\u{1b}[31mmoon` is not a category: it is one of heuris…
    lessons.jsonl     4  none needed  source: `\u{1b}[31mmoon` is not a source: it is one of archivist,…
    lessons.jsonl     5  none needed  state: `\u{1b}[31mmoon` is not a state: it is one of observed, ca…
    $ add Added later
    m-006  Added later
    ");
}

#[test]
fn values_of_another_type_are_reported() {
    let odd = [
        with(record("c", "m-003", "Text for a number"), "importance", "0.9"),
        with(record("d", "m-004", "Text for a count"), "usageCount", "3"),
        with(record("e", "m-005", "A number for text"), "summary", 7),
        with(record("f", "m-006", "A number for a word"), "category", 1),
        with(record("g", "m-007", "Beyond every scale"), "importance", 1e9),
        with(record("h", "m-008", "Less than nothing"), "importance", -0.1),
        with(record("i", "m-009", "No moment"), "createdAt", "yesterday"),
        with(record("j", "m-10", "No alias"), "tags", json!({"a": 1})),
    ];
    assert_snapshot!(life_with(&between_two(&lines(&odd))), @r#"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: invalid type: string "0.9", expected f64
    lessons.jsonl     3  none needed  not read: invalid type: string "3", expected u64
    lessons.jsonl     4  none needed  not read: invalid type: integer `7`, expected a string
    lessons.jsonl     5  none needed  not read: invalid type: integer `1`, expected a string
    lessons.jsonl     6  none needed  not read: `1000000000` is not an importance: it is 0 to 1, or 0 t…
    lessons.jsonl     7  none needed  not read: `-0.1` is not an importance: it may not be negative or…
    lessons.jsonl     8  none needed  not read: input contains invalid characters
    lessons.jsonl     9  none needed  not read: `m-10` is not an alias: it is m- or g- and a number, as…
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: invalid type: string "0.9", expected f64
    lessons.jsonl     3  none needed  not read: invalid type: string "3", expected u64
    lessons.jsonl     4  none needed  not read: invalid type: integer `7`, expected a string
    lessons.jsonl     5  none needed  not read: invalid type: integer `1`, expected a string
    lessons.jsonl     6  none needed  not read: `1000000000` is not an importance: it is 0 to 1, or 0 t…
    lessons.jsonl     7  none needed  not read: `-0.1` is not an importance: it may not be negative or…
    lessons.jsonl     8  none needed  not read: input contains invalid characters
    lessons.jsonl     9  none needed  not read: `m-10` is not an alias: it is m- or g- and a number, as…
    $ add Added later
    m-003  Added later
    "#);
}

#[test]
fn an_id_that_leads_out_of_the_directory_is_no_id() {
    let ids = ["../../etc/passwd", "/etc/passwd", "..", "", "a b", "a\u{0}b", "\u{1b}[2J"];
    let odd: Vec<Value> = ids.iter().map(|id| with(record("c", "m-003", "Out of here"), "id", *id)).collect();
    assert_snapshot!(life_with(&between_two(&lines(&odd))), @r#"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: `../../etc/passwd` is not a memory id: it must begin wi…
    lessons.jsonl     3  none needed  not read: `/etc/passwd` is not a memory id: it must begin with a…
    lessons.jsonl     4  none needed  not read: `..` is not a memory id: it must begin with a letter or…
    lessons.jsonl     5  none needed  not read: `` is not a memory id: it is empty
    lessons.jsonl     6  none needed  not read: `a b` is not a memory id: only letters, digits and . _…
    lessons.jsonl     7  none needed  not read: `a\0b` is not a memory id: only letters, digits and . _…
    lessons.jsonl     8  none needed  not read: `\u{1b}[2J` is not a memory id: it must begin with a le…
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: `../../etc/passwd` is not a memory id: it must begin wi…
    lessons.jsonl     3  none needed  not read: `/etc/passwd` is not a memory id: it must begin with a…
    lessons.jsonl     4  none needed  not read: `..` is not a memory id: it must begin with a letter or…
    lessons.jsonl     5  none needed  not read: `` is not a memory id: it is empty
    lessons.jsonl     6  none needed  not read: `a b` is not a memory id: only letters, digits and . _…
    lessons.jsonl     7  none needed  not read: `a\0b` is not a memory id: only letters, digits and . _…
    lessons.jsonl     8  none needed  not read: `\u{1b}[2J` is not a memory id: it must begin with a le…
    $ add Added later
    m-003  Added later
    "#);
}

#[test]
fn json_of_another_shape_is_kept() {
    let foreign = [
        json!({"type": "session", "events": [1, 2, 3]}),
        json!(["an", "array"]),
        json!("a string"),
        json!(42),
        Value::Null,
        json!({}),
    ];
    assert_snapshot!(life_with(&between_two(&lines(&foreign))), @r#"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: missing field `id`
    lessons.jsonl     3  none needed  not read: invalid type: sequence, expected struct AgentMemory
    lessons.jsonl     4  none needed  not read: invalid type: string "a string", expected struct AgentM…
    lessons.jsonl     5  none needed  not read: invalid type: integer `42`, expected struct AgentMemory
    lessons.jsonl     6  none needed  not read: invalid type: null, expected struct AgentMemory
    lessons.jsonl     7  none needed  not read: missing field `id`
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: missing field `id`
    lessons.jsonl     3  none needed  not read: invalid type: sequence, expected struct AgentMemory
    lessons.jsonl     4  none needed  not read: invalid type: string "a string", expected struct AgentM…
    lessons.jsonl     5  none needed  not read: invalid type: integer `42`, expected struct AgentMemory
    lessons.jsonl     6  none needed  not read: invalid type: null, expected struct AgentMemory
    lessons.jsonl     7  none needed  not read: missing field `id`
    $ add Added later
    m-003  Added later
    "#);
}

#[test]
fn what_looks_like_a_merge_conflict_hides_only_its_own_lines() {
    let ours = lines([&one()]);
    let theirs = lines([&two()]);
    let content = [b"<<<<<<< ours\n", &ours[..], b"=======\n", &theirs[..], b">>>>>>> theirs\n"].concat();
    assert_snapshot!(life_with(&content), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     1  none needed  not read: expected value
    lessons.jsonl     3  none needed  not read: expected value
    lessons.jsonl     5  none needed  not read: expected value
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     1  none needed  not read: expected value
    lessons.jsonl     3  none needed  not read: expected value
    lessons.jsonl     5  none needed  not read: expected value
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn brackets_without_end_do_not_exhaust_the_stack() {
    let deep = [b"[".repeat(100_000), b"{\"a\":".repeat(100_000)].join(&b'\n');
    assert_snapshot!(life_with(&between_two(&deep)), @"
    $ list --all
    ID     State  Kind    Category    Imp  Seen  Used  Age  Summary
    m-002  -      lesson  heuristic  0.50     0     0  59d  Pin versions
    m-001  -      lesson  heuristic  0.50     0     0  59d  Quote paths
    $ doctor
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: invalid type: sequence, expected struct AgentMemory
    lessons.jsonl     3  none needed  not read: recursion limit exceeded
    $ doctor --repair
    File           Line  Remedy       Problem
    lessons.jsonl     2  none needed  not read: invalid type: sequence, expected struct AgentMemory
    lessons.jsonl     3  none needed  not read: recursion limit exceeded
    $ add Added later
    m-003  Added later
    ");
}

#[test]
fn the_other_files_are_treated_alike() {
    let world = World::new();
    let foreign = "\u{feff}{\"half\": \r\n[1]\n\0\0{\"fact\":\"rumour\",\"memory\":\"a\"}\n../..\nno newline";
    for name in ["episodes.jsonl", "ledger.jsonl", "lessons-archive.jsonl"] {
        put(&world, name, foreign);
    }
    put(&world, "lessons.jsonl", lines([&one()]));
    assert_snapshot!(world.run(&["doctor"]), @"
    File                   Line  Remedy       Problem
    episodes.jsonl            1  none needed  not read: EOF while parsing a value
    episodes.jsonl            2  none needed  not read: invalid type: sequence, expected struct Episode
    episodes.jsonl            3  none needed  not read: missing field `id`
    episodes.jsonl            4  none needed  not read: expected value
    episodes.jsonl            5  none needed  not read: expected ident
    episodes.jsonl            -  repairable   the last line has no newline
    ledger.jsonl              1  none needed  not read: EOF while parsing a value
    ledger.jsonl              2  none needed  not read: invalid type: integer `1`, expected variant ide…
    ledger.jsonl              3  none needed  not read: unknown variant `rumour`, expected one of `sigh…
    ledger.jsonl              4  none needed  not read: expected value
    ledger.jsonl              5  none needed  not read: expected ident
    ledger.jsonl              -  repairable   the last line has no newline
    lessons-archive.jsonl     1  none needed  not read: EOF while parsing a value
    lessons-archive.jsonl     2  none needed  not read: invalid type: sequence, expected struct AgentMe…
    lessons-archive.jsonl     3  none needed  not read: missing field `id`
    lessons-archive.jsonl     4  none needed  not read: expected value
    lessons-archive.jsonl     5  none needed  not read: expected ident
    lessons-archive.jsonl     -  repairable   the last line has no newline
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    ");
    let before = Files::of(&world);
    // Writes to the ledger, then to the lessons, then over lines of all files.
    world.ok(&["recall", "quote paths", "--run", "run-1"]);
    world.ok(&["forget", "m-001"]);
    before.assert_only_grown(&world);
    assert_eq!(world.run(&["doctor", "--repair"]).status, 0);
    before.assert_only_grown(&world);
    world.ok(&["compact"]);
    before.assert_lines_kept(&world);
    let shown: Value = serde_json::from_str(&world.ok(&["show", "m-001", "--json"])).unwrap();
    assert_eq!((&shown["usageCount"], &shown["state"], &shown["version"]), (&json!(1), &json!("archived"), &json!(2)));
}
