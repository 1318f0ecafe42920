use crate::context::signal::SignalKind;
use crate::context::test_support::Does::{Edits, Runs};
use crate::context::test_support::{Does, gather};

fn reverts(session: &[Does<'_>]) -> Vec<u32> {
    let signals = gather(session).signals;
    signals.iter().filter(|signal| signal.kind == SignalKind::EditReverted).map(|signal| signal.step).collect()
}

#[test]
fn git_takes_back_what_it_names() {
    let table: &[(&str, &str, bool)] = &[
        ("/p/src/a.rs", "git checkout -- src/a.rs", true),
        ("/p/src/a.rs", "git checkout src/a.rs", true),
        ("/p/src/a.rs", "git checkout HEAD~1 -- src", true),
        ("/p/src/a.rs", "git checkout .", true),
        ("/p/src/a.rs", "git checkout main", false),
        ("/p/src/a.rs", "git checkout -b src", false),
        ("/p/src/a.rs", "git -C /p checkout -- src/a.rs", true),
        ("/p/src/a.rs", "git -C /q checkout -- .", false),
        ("/p/mysrc/a.rs", "git checkout -- src", false),
        ("/p/src/a.rs", "git checkout -- 'src/*.rs'", true),
        ("src/a.rs", "git checkout -- /p/src/a.rs", true),
        ("src/a.rs", "git restore --staged src/a.rs", false),
        ("src/a.rs", "git restore src/a.rs", true),
        ("src/a.rs", "git reset --hard", true),
        ("src/a.rs", "git stash", true),
        ("src/a.rs", "git stash push -m later", true),
        ("src/a.rs", "git stash drop", false),
        ("src/a.rs", "git stash list", false),
        ("src/a.rs", "git stash && cargo test; git stash pop", false),
        ("src/a.rs", "git commit -am x && git reset --hard HEAD", false),
        ("src/a.rs", "echo git reset --hard", false),
    ];
    for (path, command, expected) in table {
        let session = [Edits(path, "one", "two"), Runs(command, "")];
        assert_eq!(!reverts(&session).is_empty(), *expected, "{path} {command}");
    }
}

#[test]
fn a_stash_that_is_taken_out_later_took_nothing_back() {
    let edit = || Edits("src/a.rs", "one", "two");
    assert_eq!(reverts(&[edit(), Runs("git stash", ""), Runs("ls", "a"), Runs("git stash pop", "")]), [0; 0]);
    assert_eq!(reverts(&[edit(), Runs("git stash", ""), Runs("git stash drop", "")]), [2]);
    let again = [edit(), Runs("git stash", ""), Runs("git stash pop", ""), Runs("git checkout -- src/a.rs", "")];
    assert_eq!(reverts(&again), [4]);
}

#[test]
fn a_commit_puts_edits_out_of_reach() {
    let session = [Edits("a", "one", "two"), Runs("git add -A && git commit -m x", ""), Runs("git reset --hard", "")];
    assert_eq!(reverts(&session), [0; 0]);
}
