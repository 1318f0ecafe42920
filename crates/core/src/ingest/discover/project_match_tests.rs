use std::fs;

use tempfile::TempDir;

use super::*;

#[test]
fn ways_to_write_a_remote() {
    let same = [
        "https://github.com/Dev/shop",
        "git@github.com:dev/shop.git",
        "ssh://git@github.com:22/dev/shop/",
        "github.com/dev/shop",
        "https://token@github.com/dev/shop.git?x=1",
    ];
    for url in same {
        assert_eq!(normalize_remote_url(url), "github.com/dev/shop", "{url}");
    }
    assert_ne!(
        normalize_remote_url("https://gitlab.com/dev/shop"),
        normalize_remote_url("https://github.com/dev/shop")
    );
    let project = ProjectCheckouts::from_root(Path::new("/nowhere"), Some(""));
    assert!(!project.is_cloned_from(""));
}

#[test]
fn directories_of_the_project() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("shop/web")).unwrap();
    fs::create_dir(root.join("other")).unwrap();
    std::os::unix::fs::symlink(root.join("shop"), root.join("link")).unwrap();
    let mut project = ProjectCheckouts::from_root(&root.join("shop"), None);
    let mut check = |path: &str, expected: bool| {
        let path = root.join(path);
        assert_eq!(project.contains_directory(path.to_str().unwrap()), expected, "{path:?}");
        assert_eq!(project.contains_directory(path.to_str().unwrap()), expected, "{path:?} again");
    };
    check("shop", true);
    check("shop/web", true);
    check("shop/gone", true);
    check("shopping", false);
    check("other", false);
    check("link/web", true);
    check("shop/../other", false);
    check("other/../shop", true);
    assert!(!project.contains_directory("shop"));
    assert!(!project.contains_directory(""));
}

#[test]
fn worktrees_that_git_knows_on_both_sides() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let link = |name: &str, git_folder: &str| {
        let own = root.join("shop/.git/worktrees").join(name);
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(root.join(name)).unwrap();
        fs::write(own.join("gitdir"), format!("{}\n", root.join(name).join(".git").display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(root.join(name).join(".git"), format!("gitdir: {git_folder}\n")).unwrap();
    };
    link("shop-fix", root.join("shop/.git/worktrees/shop-fix").to_str().unwrap());
    // Somebody else's project, which knows nothing of ours.
    link("theirs", root.join("theirs-git").to_str().unwrap());
    for (at, expected) in [("shop", "shop-fix"), ("shop-fix", "shop")] {
        let mut project = ProjectCheckouts::from_root(&root.join(at), None);
        assert!(project.contains_directory(root.join(expected).join("src").to_str().unwrap()), "{at}");
        assert!(!project.contains_directory(root.join("theirs").to_str().unwrap()), "{at}");
    }
}
