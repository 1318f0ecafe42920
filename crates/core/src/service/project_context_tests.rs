use super::*;

#[test]
fn only_documents_that_can_be_read_count() {
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("AGENTS.md"), "Use pnpm.\n").unwrap();
    fs::write(project.path().join("README.md"), [b'a', 0xff, b'b']).unwrap();
    fs::create_dir(project.path().join("CLAUDE.md")).unwrap();
    fs::write(project.path().join("GEMINI.md"), vec![b'x'; 1200 * 1024]).unwrap();
    let found = read_documents(project.path());
    let found: Vec<(&str, &str)> =
        found.iter().map(|document| (document.path.as_str(), document.text.as_str())).collect();
    assert_eq!(found, [("AGENTS.md", "Use pnpm.\n"), ("README.md", "a\u{fffd}b")]);
    assert!(read_documents(&project.path().join("nowhere")).is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let diary = elsewhere.path().join("diary");
    fs::write(&diary, "dear diary").unwrap();
    fs::create_dir(project.path().join(".openagents")).unwrap();
    std::os::unix::fs::symlink(&diary, project.path().join(".openagents/progress.md")).unwrap();
    std::os::unix::fs::symlink(&diary, project.path().join("AGENTS.md")).unwrap();
    assert_eq!((read_progress_notes(project.path()), read_documents(project.path()).len()), (None, 0));
}
