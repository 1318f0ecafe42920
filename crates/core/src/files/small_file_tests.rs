use std::fs;
use std::io::ErrorKind;

use super::*;

fn kind_of(path: &Path) -> ErrorKind {
    read_small_file(path, 8).unwrap_err().kind()
}

#[test]
fn a_small_file_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    for text in ["", "12345678"] {
        fs::write(&path, text).unwrap();
        assert_eq!(read_small_file(&path, 8).unwrap(), text.as_bytes());
    }
}

#[test]
fn what_is_large_missing_or_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    assert_eq!(kind_of(&path), ErrorKind::NotFound);
    fs::write(&path, "123456789").unwrap();
    assert_eq!(kind_of(&path), ErrorKind::FileTooLarge);
    assert_eq!(kind_of(folder.path()), ErrorKind::IsADirectory);
}

#[cfg(unix)]
#[test]
fn a_device_behind_a_link_and_a_pipe_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let endless = folder.path().join("endless");
    std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
    assert_eq!(kind_of(&endless), ErrorKind::InvalidInput);
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert_eq!(kind_of(&pipe), ErrorKind::InvalidInput);
}
