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

fn path(path: &str) -> LessonAnchor {
    LessonAnchor::Path(path.to_owned())
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
    let look = ProjectFileProbe::new(folder.path());
    let check = |asked: &str, expected: AnchorPresence| assert_eq!(look.find_anchor(&path(asked)), expected, "{asked}");
    check("src/a.rs", AnchorPresence::Here);
    check("src", AnchorPresence::Here);
    check("src/routes/b.ts", AnchorPresence::Here);
    check("src/routes", AnchorPresence::Here);
    check("b.ts", AnchorPresence::Here);
    check("src/c.rs", AnchorPresence::Moved("lib/c.rs".to_owned()));
    check("three/index.ts", AnchorPresence::Here);
    check("src/d.js", AnchorPresence::Gone);
    check("src/e.rs", AnchorPresence::Gone);
    check("e.rs", AnchorPresence::Gone);
}

#[test]
fn a_script_is_looked_for_where_scripts_are() {
    let script = LessonAnchor::Script("typecheck".to_owned());
    let check = |files: &[(&str, &str)], expected: AnchorPresence| {
        assert_eq!(ProjectFileProbe::new(project(files).path()).find_anchor(&script), expected, "{files:?}");
    };
    check(&[("package.json", r#"{"scripts": {"typecheck": "tsc"}}"#)], AnchorPresence::Here);
    check(&[("package.json", "{}"), ("web/package.json", r#"{"scripts": {"typecheck": ""}}"#)], AnchorPresence::Here);
    check(&[("package.json", "{}")], AnchorPresence::Gone);
    check(&[("README.md", "")], AnchorPresence::Unknown);
}

#[test]
fn a_target_is_looked_for_in_makefiles() {
    let target = LessonAnchor::Target("lint".to_owned());
    let check = |makefile: &str, expected: AnchorPresence| {
        assert_eq!(
            ProjectFileProbe::new(project(&[("Makefile", makefile)]).path()).find_anchor(&target),
            expected,
            "{makefile}"
        );
    };
    check("all lint: x\n\tlint: no\n", AnchorPresence::Here);
    check("all:\n\techo lint: x\n", AnchorPresence::Gone);
    check("include common.mk\n", AnchorPresence::Here);
    check("%: x\n", AnchorPresence::Here);
}

#[test]
fn what_cannot_be_seen_is_not_called_gone() {
    let folder = project(&[]);
    let look = ProjectFileProbe::new(&folder.path().join("nowhere"));
    assert_eq!(look.find_anchor(&path("src/a.rs")), AnchorPresence::Unknown);
    assert_eq!(look.find_anchor(&LessonAnchor::Symbol("read_config".to_owned())), AnchorPresence::Unknown);
}
