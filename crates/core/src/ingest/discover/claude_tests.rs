use std::path::Path;

use proptest::prelude::*;

use super::super::support::Tree;
use super::*;

fn line(session: &str, cwd: &str, at: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"cwd":"{cwd}","sessionId":"{session}","type":"user","message":{{"role":"user","content":"fix the cart"}},"uuid":"u1","timestamp":"2026-03-{at}:00Z"}}"#
    ) + "\n"
}

fn ours(session: &str, at: &str) -> String {
    line(session, "ROOT/shop", at)
}

#[test]
fn slugs() {
    let check = |path: &str, expected: &str| assert_eq!(directory_slug(Path::new(path)), expected);
    check("/Users/me/a.b", "-Users-me-a-b");
    check("/home/dev/my_shop-2", "-home-dev-my-shop-2");
    check("/home/dev/café", "-home-dev-caf-");
    check("/home/dev/🦀", "-home-dev---");
    check("C:\\shop", "C--shop");
}

#[test]
fn folders_that_may_be_the_projects() {
    let check =
        |folder: &str, slug: &str, expected: bool| assert_eq!(may_match_slug(folder, slug), expected, "{folder}");
    check("-home-dev-shop", "-home-dev-shop", true);
    check("-home-dev-shop-web", "-home-dev-shop", true);
    check("-home-dev-shopping", "-home-dev-shop", false);
    check("-home-dev", "-home-dev-shop", false);
    check("given-by-hand", "-home-dev-shop", true);
    let long = format!("-{}", "a".repeat(300));
    check(&format!("-{}-1x2y3z", "a".repeat(199)), &long, true);
    check(&format!("-{}-1x2y3z", "a".repeat(198)), &long, false);
}

proptest! {
    #[test]
    fn a_slug_is_letters_and_dashes_and_a_folder_below_stays_with_it(above in "(/[^/\0]{1,12}){1,9}", below in "[^/\0]{1,12}") {
        let slug_above = directory_slug(Path::new(&above));
        prop_assert!(slug_above.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric()));
        prop_assert_eq!(slug_above.len(), above.encode_utf16().count());
        let slug_below = directory_slug(&Path::new(&above).join(&below));
        prop_assert!(may_match_slug(&slug_below, &slug_above));
    }
}

#[test]
fn a_session_with_subagents_in_all_places() {
    Tree::new()
        .file("claude/projects/SLUG/aaa.jsonl", &ours("aaa", "01T10:00"))
        .file("claude/projects/SLUG/aaa/subagents/agent-new.jsonl", &ours("aaa", "01T10:01"))
        .file("claude/projects/SLUG/aaa/subagents/workflows/w1/agent-deep.jsonl", &ours("aaa", "01T10:02"))
        .file("claude/projects/SLUG/aaa/subagents/notes.jsonl", "{}")
        .file("claude/projects/SLUG/aaa/tool-results/agent-big.jsonl", "{}")
        .file("claude/projects/SLUG/agent-flat.jsonl", &ours("aaa", "01T10:03"))
        .file("claude/projects/SLUG/memory/MEMORY.md", "notes")
        .file("claude/projects/SLUG/bbb.jsonl", &ours("bbb", "01T09:00"))
        .file("claude/projects/SLUG/empty.jsonl", "")
        .check(&["bbb: bbb.jsonl", "aaa: aaa.jsonl + agent-new.jsonl agent-deep.jsonl agent-flat.jsonl"]);
}

#[test]
fn subagents_whose_session_is_gone_are_what_is_left_of_it() {
    Tree::new()
        .file("claude/projects/SLUG/gone/subagents/agent-2.jsonl", &ours("gone", "01T10:01"))
        .file("claude/projects/SLUG/agent-1.jsonl", &ours("gone", "01T10:00"))
        .check(&["gone: agent-1.jsonl agent-2.jsonl"]);
}

#[test]
fn only_the_log_tells_directories_with_one_slug_apart() {
    Tree::new()
        .file("claude/projects/SLUG/home.jsonl", &ours("home", "01T10:00"))
        .file("claude/projects/SLUG/silent.jsonl", "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"l\"}\n")
        .file("claude/projects/SLUG-web/below.jsonl", &line("below", "ROOT/shop/web", "01T10:01"))
        .file("claude/projects/SLUG-web/beside.jsonl", &line("beside", "ROOT/shop-web", "01T10:02"))
        .file("claude/projects/SLUG-web/silent2.jsonl", "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"l\"}\n")
        .file("claude/projects/SLUGping/other.jsonl", &ours("other", "01T10:03"))
        .file("claude/projects/by-hand/given.jsonl", &ours("given", "01T10:04"))
        .file("claude/projects/by-hand/else.jsonl", &line("else", "ROOT/else", "01T10:05"))
        .check(&["home: home.jsonl", "below: below.jsonl", "given: given.jsonl", "silent: silent.jsonl"]);
}

#[test]
fn a_long_slug_is_cut_and_hashed() {
    let mut tree = Tree::new();
    let deep = format!("shop/{}/{}", "a".repeat(150), "b".repeat(150));
    tree.places.project = tree.path(&deep);
    let cut: String = directory_slug(&tree.places.project).chars().take(200).collect();
    let inside = line("in", &format!("ROOT/{deep}"), "01T10:00");
    let outside = line("out", &format!("ROOT/shop/{}/other", "a".repeat(150)), "01T10:00");
    tree.folder(&deep)
        .file(&format!("claude/projects/{cut}-k3j2h1/in.jsonl"), &inside)
        .file(&format!("claude/projects/{cut}-z9y8x7/out.jsonl"), &outside)
        .check(&["in: in.jsonl"]);
}

#[test]
fn a_resumed_session_is_one_session() {
    // The new file begins with copied lines; a third one went on in another directory.
    let copied = ours("first", "01T10:00") + &ours("second", "01T12:00");
    Tree::new()
        .file("claude/projects/SLUG/first.jsonl", &ours("first", "01T10:00"))
        .file("claude/projects/SLUG/second.jsonl", &copied)
        .file("claude/projects/SLUG-web/third.jsonl", &line("second", "ROOT/shop/web", "01T13:00"))
        .file("claude/projects/SLUG/second/subagents/agent-1.jsonl", &ours("second", "01T12:30"))
        .file("claude/projects/SLUG/lonely.jsonl", &ours("lonely", "01T11:00"))
        .check(&["first: first.jsonl second.jsonl third.jsonl + agent-1.jsonl", "lonely: lonely.jsonl"]);
}

#[test]
fn a_first_line_that_is_longer_than_the_first_look() {
    let padding = "x".repeat(20_000);
    let long = format!(
        "{{\"type\":\"queue-operation\",\"content\":\"{padding}\"}}\n{}",
        ours("long", "01T10:00").replace("fix the cart", &"y".repeat(200_000))
    );
    Tree::new().file("claude/projects/SLUG-web/long.jsonl", &long).check(&["long: long.jsonl"]);
}

#[test]
fn of_a_window_old_parts_of_a_fresh_session_come_along() {
    let tree = Tree::new()
        .file("claude/projects/SLUG/old.jsonl", &ours("old", "01T10:00"))
        .file("claude/projects/SLUG/base.jsonl", &ours("base", "02T10:00"))
        .file("claude/projects/SLUG/resumed.jsonl", &ours("base", "05T10:00"))
        .file("claude/projects/SLUG/base/subagents/agent-1.jsonl", &ours("base", "02T10:00"))
        .file("claude/projects/SLUG/agent-2.jsonl", &ours("base", "05T10:10"))
        .file("claude/projects/SLUG/late.jsonl", &ours("late", "20T10:00"))
        .changed("claude/projects/SLUG/old.jsonl", "2026-03-01T11:00:00Z")
        .changed("claude/projects/SLUG/base.jsonl", "2026-03-02T11:00:00Z")
        .changed("claude/projects/SLUG/base/subagents/agent-1.jsonl", "2026-03-02T10:30:00Z")
        .changed("claude/projects/SLUG/agent-2.jsonl", "2026-03-05T10:20:00Z")
        .changed("claude/projects/SLUG/resumed.jsonl", "2026-03-06T00:00:00Z");
    let all = "base: base.jsonl resumed.jsonl + agent-1.jsonl agent-2.jsonl";
    tree.check(&["old: old.jsonl", all, "late: late.jsonl"]);
    let tree = tree.since("2026-03-05T12:00:00Z");
    tree.check(&[all, "late: late.jsonl"]);
    let tree = tree.until("2026-03-10T00:00:00Z");
    tree.check(&[all]);
    tree.since("2026-03-01T00:00:00Z").until("2026-03-01T23:00:00Z").check(&["old: old.jsonl"]);
}

#[test]
fn what_is_known_of_a_session() {
    let found = Tree::new().file("claude/projects/SLUG/aaa.jsonl", &ours("aaa", "01T10:00")).found();
    let session = &found.sessions[0];
    assert_eq!(session.format, LogFormat::ClaudeCode);
    assert!(session.directory.as_deref().is_some_and(|directory| directory.ends_with("/shop")));
    assert_eq!(session.facts.first_text.as_deref(), Some("fix the cart"));
    assert_eq!(session.facts.started.map(|at| at.to_rfc3339()).as_deref(), Some("2026-03-01T10:00:00+00:00"));
}
