use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_made_and_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made/below/file.json");
    FileReplacement::new(&path).write(b"a longer text").unwrap();
    FileReplacement::new(&path).with_sync(false).write(b"short").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"short");
    assert_eq!(names(path.parent().unwrap()), ["file.json"]);
}

#[test]
fn a_draft_replaces_nothing_until_it_is_put_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.md");
    fs::write(&path, "old").unwrap();
    let replacement = FileReplacement::new(&path).with_draft_name(".draft-", ".tmp");
    let draft = replacement.prepare(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let [name, _] = names(folder.path()).try_into().unwrap();
    assert!(name.starts_with(".draft-") && name.ends_with(".tmp"), "{name}");
    drop(draft);
    assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["notes.md".to_owned()], b"old".to_vec()));
    replacement.prepare(b"new").unwrap().put_in_place().unwrap();
    assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["notes.md".to_owned()], b"new".to_vec()));
}

#[test]
fn what_fails_leaves_the_old_file_and_no_draft() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    fs::create_dir_all(path.join("full")).unwrap();
    FileReplacement::new(&path).write(b"new").unwrap_err();
    assert_eq!(names(folder.path()), ["taken"]);
    FileReplacement::new(Path::new("/dev/null/file")).write(b"new").unwrap_err();
}

#[cfg(unix)]
#[test]
fn permissions_are_the_owners_or_given_or_those_of_new_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    FileReplacement::new(&path).write(b"").unwrap();
    assert_eq!(mode(&path), 0o600);
    FileReplacement::new(&path).with_permissions(Permissions::from_mode(0o640)).write(b"").unwrap();
    assert_eq!(mode(&path), 0o640);
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    FileReplacement::new(&path).with_default_permissions().write(b"").unwrap();
    assert_eq!(mode(&path), mode(&plain));
}

#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("link"), folder.path().join("other"));
    fs::write(&other, "untouched").unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    FileReplacement::new(&path).write(b"new").unwrap();
    assert!(!path.is_symlink());
    assert_eq!((fs::read(&path).unwrap(), fs::read(&other).unwrap()), (b"new".to_vec(), b"untouched".to_vec()));
}
