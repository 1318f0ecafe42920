use super::super::support::Tree;
use super::*;

const A: &str = "019a0000-0000-7000-8000-00000000000a";
const B: &str = "019a0000-0000-7000-8000-00000000000b";
const C: &str = "019a0000-0000-7000-8000-00000000000c";

fn rollout(thread: &str, cwd: &str, at: &str, more: &str) -> String {
    format!(
        "{{\"timestamp\":\"{at}\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{thread}\",\"timestamp\":\"{at}\",\"cwd\":\"{cwd}\"{more}}}}}\n\
         {{\"timestamp\":\"{at}\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"fix the cart\"}}}}\n"
    )
}

fn place(day: &str, thread: &str) -> String {
    format!("codex/sessions/2026/03/{day}/rollout-2026-03-{day}T10-00-00-{thread}.jsonl")
}

fn at(day: &str) -> String {
    format!("2026-03-{day}T10:00:00Z")
}

#[test]
fn threads_in_names() {
    let check = |name: &str, expected: &str| assert_eq!(thread_id_in_name(name), expected);
    check(&format!("rollout-2026-03-01T10-00-00-{A}"), A);
    check(&format!("rollout-2026-03-01T10-00-00-{A}_{B}"), A);
    check("smoke-root", "smoke-root");
    check("rollout-", "rollout-");
    check("rollout-2026-03-01T10-00-00-", "rollout-2026-03-01T10-00-00-");
}

#[test]
fn rollouts_of_the_project_their_subagents_and_reverts() {
    let child = format!(",\"parent_thread_id\":\"{A}\"");
    let grandchild =
        format!(",\"source\":{{\"subagent\":{{\"thread_spawn\":{{\"parent_thread_id\":\"{B}\",\"depth\":2}}}}}}");
    let reverted = format!("codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-{A}_{C}.jsonl");
    let tree = Tree::new()
        .file(&place("01", A), &rollout(A, "ROOT/shop", &at("01"), ""))
        .file(&reverted, &rollout(A, "ROOT/shop", &at("02"), ""))
        .file(&place("01", B), &rollout(B, "ROOT/elsewhere", &at("01"), &child))
        .file(&place("01", C), &rollout(C, "ROOT/shop", &at("01"), &grandchild))
        .file(&place("01", "x"), &rollout("x", "ROOT/shopping", &at("01"), ""))
        .file(
            "codex/archived_sessions/rollout-2026-02-01T10-00-00-old.jsonl",
            &rollout("old", "ROOT/shop/web", "2026-02-01T10:00:00Z", ""),
        )
        .file("codex/session_index.jsonl", "{\"id\":\"x\"}\n");
    let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    tree.check(&[
        "old: rollout-2026-02-01T10-00-00-old.jsonl",
        &format!(
            "{A}: {} {} + {} {}",
            name(&place("01", A)),
            name(&reverted),
            name(&place("01", B)),
            name(&place("01", C))
        ),
    ]);
    let found = tree.found();
    assert_eq!(found.sessions[1].facts.first_text.as_deref(), Some("fix the cart"));
}

#[test]
fn a_fork_that_repeats_a_subagent_is_no_subagent() {
    let inherited = rollout(B, "ROOT/shop", &at("01"), &format!(",\"parent_thread_id\":\"{A}\""));
    let fork = rollout(C, "ROOT/shop", &at("02"), &format!(",\"forked_from_id\":\"{B}\"")) + &inherited;
    Tree::new().file("codex/sessions/2026/03/02/fork.jsonl", &fork).check(&[&format!("{C}: fork.jsonl")]);
}

#[test]
fn subagents_in_a_circle_end_somewhere() {
    let of = |parent: &str| format!(",\"parent_thread_id\":\"{parent}\"");
    let tree = Tree::new()
        .file(&place("01", A), &rollout(A, "ROOT/shop", &at("01"), &of(B)))
        .file(&place("01", B), &rollout(B, "ROOT/shop", &at("01"), &of(A)));
    let files: usize = tree.found().sessions.iter().map(|session| session.files.len() + session.subagents.len()).sum();
    assert_eq!(files, 2);
}

#[test]
fn another_clone_counts_when_its_repository_is_the_same() {
    let git = ",\"git\":{\"repository_url\":\"git@github.com:dev/shop.git\"}";
    let mut tree = Tree::new().file(&place("01", "a"), &rollout("a", "ROOT/clone", &at("01"), git));
    tree.check(&[]);
    tree.places.repository = Some("https://github.com/dev/shop".to_owned());
    tree.check(&["a: rollout-2026-03-01T10-00-00-a.jsonl"]);
}

#[test]
fn the_window_goes_by_day_at_its_end_and_by_change_at_its_beginning() {
    let tree = Tree::new()
        .file(&place("01", "a"), &rollout("a", "ROOT/shop", &at("01"), ""))
        .file(&place("02", "b"), &rollout("b", "ROOT/shop", &at("02"), ""))
        .file(&place("09", "c"), &rollout("c", "ROOT/shop", &at("09"), ""))
        .changed(&place("01", "a"), "2026-03-01T11:00:00Z")
        // Begun before the window, resumed in it.
        .changed(&place("02", "b"), "2026-03-06T11:00:00Z")
        .since("2026-03-05T00:00:00Z")
        .until("2026-03-07T00:00:00Z");
    tree.check(&["b: rollout-2026-03-02T10-00-00-b.jsonl"]);
    // Folders are named by local days: what began in the window may lie in the next day's.
    Tree::new()
        .file(&place("08", "d"), &rollout("d", "ROOT/shop", "2026-03-07T23:30:00Z", ""))
        .until("2026-03-07T23:59:00Z")
        .check(&["d: rollout-2026-03-08T10-00-00-d.jsonl"]);
}

#[test]
fn flat_rollouts_tell_where_they_ran_in_words() {
    let flat = |words: &str| {
        format!(
            "{{\"id\":\"flat\",\"timestamp\":\"2025-08-06T18:02:11.653Z\",\"instructions\":\"{}\"}}\n\
             {{\"record_type\":\"state\"}}\n\
             {{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"<environment_context>\\n{words}\\n</environment_context>\"}}]}}\n",
            "z".repeat(12_000)
        )
    };
    let name = "codex/sessions/2025/08/06/rollout-2025-08-06T18-02-11-flat.jsonl";
    let found = ["flat: rollout-2025-08-06T18-02-11-flat.jsonl"];
    Tree::new().file(name, &flat("Current working directory: ROOT/shop")).check(&found);
    Tree::new().file(name, &flat("<cwd>ROOT/shop/web</cwd>")).check(&found);
    Tree::new().file(name, &flat("<cwd>ROOT/other</cwd>")).check(&[]);
}

#[test]
fn packed_rollouts_are_read_and_not_told_twice() {
    let mut tree = Tree::new();
    tree = tree.file(&place("01", "a"), "{}");
    let plain = rollout("a", tree.places.project.to_str().unwrap(), &at("01"), "");
    let packed = ruzstd::encoding::compress_to_vec(plain.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    std::fs::write(tree.path(&(place("01", "a") + ".zst")), &packed).unwrap();
    std::fs::remove_file(tree.path(&place("01", "a"))).unwrap();
    tree.check(&["a: rollout-2026-03-01T10-00-00-a.jsonl.zst"]);
    std::fs::write(tree.path(&place("01", "a")), &plain).unwrap();
    tree.check(&["a: rollout-2026-03-01T10-00-00-a.jsonl"]);

    std::fs::write(tree.path(&(place("01", "b") + ".zst")), b"\x28\xb5\x2f\xfdbroken").unwrap();
    let found = tree.found();
    assert_eq!((found.sessions.len(), found.problems.len()), (1, 1));
}
