use std::os::unix::fs::{PermissionsExt, symlink};

use super::support::Tree;
use super::*;

const CHAT: &str = "{\"type\":\"user\",\"cwd\":\"ROOT/shop\",\"sessionId\":\"NAME\",\"timestamp\":\"2026-03-01T10:00:00Z\",\"message\":{\"content\":\"x\"}}\n";

fn chat(name: &str) -> String {
    CHAT.replace("NAME", name)
}

#[test]
fn nothing_anywhere_is_no_problem() {
    let mut tree = Tree::new();
    tree.check(&[]);
    tree.places = SearchPlaces { project: tree.path("nowhere"), ..SearchPlaces::default() };
    tree.check(&[]);
}

#[test]
fn the_order_is_always_the_same() {
    let tree = ["d", "b", "c", "a"]
        .iter()
        .fold(Tree::new(), |tree, name| tree.file(&format!("claude/projects/SLUG/{name}.jsonl"), &chat(name)));
    tree.check(&["a: a.jsonl", "b: b.jsonl", "c: c.jsonl", "d: d.jsonl"]);
    assert_eq!(tree.found(), tree.found());
}

#[test]
fn links_are_not_followed_out_of_a_home_nor_in_circles() {
    let tree = Tree::new()
        .file("claude/projects/SLUG/a.jsonl", &chat("a"))
        .file("secret/b.jsonl", &chat("b"))
        .folder("claude/projects/SLUG-web/x/subagents");
    let projects = tree.path("claude/projects");
    let slug = super::claude::directory_slug(&tree.places.project);
    symlink(tree.path("secret"), projects.join(format!("{slug}-out"))).unwrap();
    symlink(tree.path("secret/b.jsonl"), projects.join(&slug).join("b.jsonl")).unwrap();
    symlink(&projects, projects.join(format!("{slug}-web/x/subagents/circle"))).unwrap();
    symlink(projects.join(&slug), projects.join(format!("{slug}-again"))).unwrap();
    symlink(tree.path("gone"), projects.join(&slug).join("broken.jsonl")).unwrap();
    let found = tree.found();
    assert_eq!(found.sessions.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["a"]);
    let why = format!("it leads out of {} and is not followed", tree.path("claude").display());
    assert_eq!(found.problems.iter().map(|problem| &problem.why).collect::<Vec<_>>(), [&why, &why]);
}

#[test]
fn a_home_may_be_a_link_but_not_what_is_in_it() {
    let mut tree = Tree::new().file("disk/projects/SLUG/a.jsonl", &chat("a")).folder("claude");
    symlink(tree.path("disk"), tree.path("linked")).unwrap();
    tree.places.claude_home = Some(tree.path("linked"));
    tree.check(&["a: a.jsonl"]);
    symlink(tree.path("disk/projects"), tree.path("claude/projects")).unwrap();
    tree.places.claude_home = Some(tree.path("claude"));
    let found = tree.found();
    assert_eq!((found.sessions.len(), found.problems.len()), (0, 1));
}

#[test]
fn what_cannot_be_read_is_a_problem_and_no_more() {
    let tree = Tree::new()
        .file("claude/projects/SLUG/a.jsonl", &chat("a"))
        .file("claude/projects/SLUG/b.jsonl", &chat("b"))
        .file("claude/projects/SLUG-shut/c.jsonl", &chat("c"));
    let slug = super::claude::directory_slug(&tree.places.project);
    let file = tree.path(&format!("claude/projects/{slug}/b.jsonl"));
    let folder = tree.path(&format!("claude/projects/{slug}-shut"));
    let permit = |mode: u32| {
        for path in [&file, &folder] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    permit(0);
    if std::fs::File::open(&file).is_ok() {
        println!("skipped: permissions mean nothing to this user");
        return permit(0o700);
    }
    let found = tree.found();
    permit(0o700);
    assert_eq!(found.sessions.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(found.problems.iter().map(|problem| &problem.path).collect::<Vec<_>>(), [&folder, &file]);
}

#[test]
fn a_home_that_is_a_file_holds_nothing() {
    let found = Tree::new().file("claude", "text").file("codex/sessions", "text").found();
    assert_eq!((found.sessions.len(), found.problems), (0, vec![]));
}

#[test]
fn logs_of_any_bytes_break_nothing() {
    let tree = Tree::new().file("claude/projects/SLUG/a.jsonl", &chat("a"));
    let slug = super::claude::directory_slug(&tree.places.project);
    let samples: [&[u8]; 5] = [b"\xff\xfe\x00", b"{\"cwd\":", b"[[[[[[", b"\n\n\n", b"{\"sessionId\":7,\"cwd\":{}}\n"];
    for (number, bytes) in samples.iter().enumerate() {
        std::fs::write(tree.path(&format!("claude/projects/{slug}/x{number}.jsonl")), bytes).unwrap();
        for folder in [
            "codex/sessions/2026/03/01",
            "shop/.openagents/sessions",
            "shop/.openagents/trajectories/20260301",
            "shop/.openagents/run-logs/x",
            "shop/jobs/j/t__1/agent",
        ] {
            std::fs::create_dir_all(tree.path(folder)).unwrap();
            for name in ["x.jsonl", "x.json", "x.atif.json", "x.atif.jsonl", "x.index.json", "trajectory.json"] {
                std::fs::write(tree.path(folder).join(name), bytes).unwrap();
            }
        }
        std::fs::write(tree.path("shop/.openagents/project.json"), bytes).unwrap();
        std::fs::write(tree.path("shop/.openagents/progress.md"), bytes).unwrap();
        assert!(tree.found().sessions.iter().any(|session| session.id == "a"));
        assert!(tree.found().sessions.iter().all(|session| !session.files.is_empty()));
    }
}

#[test]
fn subagents_beside_a_log_that_is_named() {
    let tree = Tree::new()
        .file("c/a.jsonl", &chat("a"))
        .file("c/a/subagents/deep/agent-1.jsonl", &chat("a"))
        .file("c/a/subagents/notes.jsonl", &chat("a"))
        .file("c/b/subagents/agent-2.jsonl", &chat("b"))
        .file("c/agent-3.jsonl", &chat("a"))
        .file("c/agent-4.jsonl", &chat("b"))
        .file("t/agent/trajectory.json", "{}")
        .file("t/agent/trajectory.cont-1.json", "{}")
        .file("t/agent/trajectory.summarization-1-summary.json", "{}");
    let check = |log: &str, expected: &[&str]| {
        let expected: Vec<PathBuf> = expected.iter().map(|path| tree.path(path)).collect();
        assert_eq!(find_subagent_logs(&tree.path(log)), expected, "{log}");
    };
    check("c/a.jsonl", &["c/a/subagents/deep/agent-1.jsonl", "c/agent-3.jsonl"]);
    check("c/agent-3.jsonl", &[]);
    check("t/agent/trajectory.json", &["t/agent/trajectory.summarization-1-summary.json"]);
    check("t/agent/trajectory.cont-1.json", &[]);
    check("nowhere/a.jsonl", &[]);
    check("", &[]);
}
