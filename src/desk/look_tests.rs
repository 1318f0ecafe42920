use super::*;

/// A project with these files.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn path(path: &str) -> Anchor {
    Anchor::Path(path.to_owned())
}

#[test]
fn a_path_is_here_moved_or_gone() {
    let folder = project(&[
        ("src/a.rs", ""),
        ("packages/web/src/routes/b.ts", ""),
        ("lib/c.rs", ""),
        ("one/index.ts", ""),
        ("two/index.ts", ""),
        ("node_modules/x/d.js", ""),
    ]);
    let look = ProjectLook::new(folder.path());
    let check = |asked: &str, expected: Presence| assert_eq!(look.at(&path(asked)), expected, "{asked}");
    check("src/a.rs", Presence::Here);
    check("src", Presence::Here);
    check("src/routes/b.ts", Presence::Here);
    check("src/routes", Presence::Here);
    check("b.ts", Presence::Here);
    check("src/c.rs", Presence::Moved("lib/c.rs".to_owned()));
    check("three/index.ts", Presence::Here);
    check("src/d.js", Presence::Gone);
    check("src/e.rs", Presence::Gone);
    check("e.rs", Presence::Gone);
}

#[test]
fn a_script_is_looked_for_where_scripts_are() {
    let script = Anchor::Script("typecheck".to_owned());
    let check = |files: &[(&str, &str)], expected: Presence| {
        assert_eq!(ProjectLook::new(project(files).path()).at(&script), expected, "{files:?}");
    };
    check(&[("package.json", r#"{"scripts": {"typecheck": "tsc"}}"#)], Presence::Here);
    check(&[("package.json", "{}"), ("web/package.json", r#"{"scripts": {"typecheck": ""}}"#)], Presence::Here);
    check(&[("package.json", "{}")], Presence::Gone);
    check(&[("README.md", "")], Presence::Unknown);
}

#[test]
fn a_target_is_looked_for_in_makefiles() {
    let target = Anchor::Target("lint".to_owned());
    let check = |makefile: &str, expected: Presence| {
        assert_eq!(ProjectLook::new(project(&[("Makefile", makefile)]).path()).at(&target), expected, "{makefile}");
    };
    check("all lint: x\n\tlint: no\n", Presence::Here);
    check("all:\n\techo lint: x\n", Presence::Gone);
    check("include common.mk\n", Presence::Here);
    check("%: x\n", Presence::Here);
}

#[test]
fn what_cannot_be_seen_is_not_called_gone() {
    let folder = project(&[]);
    let look = ProjectLook::new(&folder.path().join("nowhere"));
    assert_eq!(look.at(&path("src/a.rs")), Presence::Unknown);
    assert_eq!(look.at(&Anchor::Symbol("read_config".to_owned())), Presence::Unknown);
}
