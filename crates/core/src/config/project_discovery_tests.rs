use tempfile::TempDir;

use std::fs;

use super::*;

/// A file tree: a path that ends in `/` is a directory, any other a file with this text.
fn tree(entries: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in entries {
        let path = folder.path().join(path);
        let parent = if text.is_empty() { path.as_path() } else { path.parent().unwrap() };
        fs::create_dir_all(parent).unwrap();
        if !text.is_empty() {
            fs::write(&path, text).unwrap();
        }
    }
    folder
}

fn check_find(entries: &[(&str, &str)], start: &str, expected: &str) {
    let folder = tree(entries);
    let home = folder.path().join("home");
    assert_eq!(find_root(&folder.path().join(start), Some(&home)), folder.path().join(expected), "{entries:?}");
}

#[test]
fn the_nearest_marked_directory_is_the_root() {
    check_find(&[("p/.git", ""), ("p/a/b", "")], "p/a/b", "p");
    check_find(&[("p/.openagents", ""), ("p/a", "")], "p/a", "p");
    check_find(&[("p/.git", ""), ("p/a/.openagents", ""), ("p/a/b", "")], "p/a/b", "p/a");
    check_find(&[("p/.openagents", ""), ("p/a/.git", "gitdir: x"), ("p/a/b", "")], "p/a/b", "p/a");
    check_find(&[("p/.git", "")], "p", "p");
}

#[test]
fn without_a_mark_the_start_is_the_root() {
    check_find(&[("p/a", "")], "p/a", "p/a");
    check_find(&[("p", "")], "p/not/there", "p/not/there");
}

#[test]
fn the_shared_memory_does_not_make_home_a_project() {
    check_find(&[("home/.openagents", ""), ("home/a/b", "")], "home/a/b", "home/a/b");
    check_find(&[("home/.openagents", ""), ("home/p/.git", ""), ("home/p/a", "")], "home/p/a", "home/p");
    check_find(&[("home/.openagents", ""), ("home/.git", ""), ("home/a", "")], "home/a", "home");
    check_find(&[("home/.openagents", "")], "home", "home");
    check_find(&[(".openagents", ""), ("home/.openagents", ""), ("home/a", "")], "home/a", "");
}

#[test]
fn steps_up_in_a_path_are_taken() {
    let folder = tree(&[("p/.git", ""), ("q/a", "")]);
    let start = folder.path().join("p/../q/a");
    assert_eq!(find_root(&start, None), canonical_path(&folder.path().join("q/a")));
}

#[test]
fn an_explicit_key_comes_first_and_brings_no_credentials() {
    let folder = tree(&[(".git/config", "[remote \"origin\"]\nurl = git@h:a/b")]);
    let check =
        |key: &str, expected: RepoIdentity| assert_eq!(identify_repository(folder.path(), key), expected, "{key}");
    check("team/thing", RepoIdentity::Explicit("team/thing".to_owned()));
    check(" thing ", RepoIdentity::Explicit("thing".to_owned()));
    check("https://me:s3cret@h/a/b.git", RepoIdentity::Explicit("h/a/b".to_owned()));
    check("https://me:s3/cret@h/a/b.git", RepoIdentity::Explicit("https://***@h/a/b.git".to_owned()));
    check("", RepoIdentity::Remote("h/a/b".to_owned()));
    check("  ", RepoIdentity::Remote("h/a/b".to_owned()));
}

#[test]
fn worktrees_share_the_identity_of_their_repository() {
    let remote = "[remote \"origin\"]\nurl = https://me:pw@h/a/b.git";
    for config in [remote, "[core]\nbare = false", "[remote \"origin\"]\nurl = ../other"] {
        let folder = tree(&[
            ("main/.git/config", config),
            ("main/.git/worktrees/side/commondir", "../..\n"),
            ("side/.git", "gitdir: ../main/.git/worktrees/side\n"),
            ("side/a", ""),
        ]);
        let expected = if config == remote {
            RepoIdentity::Remote("h/a/b".to_owned())
        } else {
            RepoIdentity::GitDir(canonical_path(&folder.path().join("main/.git")))
        };
        for root in ["main", "side", "side/a"] {
            assert_eq!(identify_repository(&folder.path().join(root), ""), expected, "{root}");
        }
    }
}

#[test]
fn an_absolute_gitdir_and_a_submodule() {
    let folder = tree(&[
        ("main/.git/modules/sub/config", "[remote \"origin\"]\nurl = git@h:sub/module.git"),
        ("main/.git/config", "[remote \"origin\"]\nurl = git@h:main/repo.git"),
        ("main/sub/.git", "gitdir: ../.git/modules/sub"),
    ]);
    let check = |root: &str, expected: &str| {
        assert_eq!(identify_repository(&folder.path().join(root), ""), RepoIdentity::Remote(expected.to_owned()));
    };
    check("main", "h/main/repo");
    check("main/sub", "h/sub/module");
    let absolute = format!("gitdir: {}", folder.path().join("main/.git").display());
    fs::write(folder.path().join("main/sub/.git"), absolute).unwrap();
    check("main/sub", "h/main/repo");
}

#[test]
fn two_folders_of_one_name_are_two() {
    let folder = tree(&[("one/app/.git", ""), ("two/app/.git", ""), ("three/app", ""), ("four/app", "")]);
    let mut texts: Vec<_> = ["one", "two", "three", "four"]
        .iter()
        .map(|parent| identify_repository(&folder.path().join(parent).join("app"), "").text().unwrap())
        .collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 4);
}

#[test]
fn under_no_version_control_the_path_is_the_identity() {
    let folder = tree(&[("app", ""), ("broken/.git", "nonsense")]);
    for name in ["app", "broken"] {
        let root = folder.path().join(name);
        let expected = canonical_path(&root);
        assert_eq!(identify_repository(&root, ""), RepoIdentity::Path(expected.clone()));
        let found = identify_repository(&root, "").text();
        assert_eq!(found, expected.to_str().map(str::to_owned));
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_text_cannot_hold_is_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let odd = PathBuf::from(OsStr::from_bytes(b"/tmp/\xff"));
    assert_eq!(RepoIdentity::Path(odd.clone()).text(), None);
    assert_eq!(RepoIdentity::GitDir(odd).text(), None);
}

#[cfg(unix)]
#[test]
fn a_link_to_home_is_home() {
    let folder = tree(&[("home/.openagents", ""), ("home/a", "")]);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("home"), &link).unwrap();
    let start = folder.path().join("home/a");
    assert_eq!(find_root(&start, Some(&link)), start);
}
