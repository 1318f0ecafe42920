use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::tests::{number, numbered};
use super::*;
use crate::domain::{Importance, MemoryId};

fn numbers(path: &Path) -> Vec<u64> {
    std::fs::read_to_string(path).unwrap().lines().map(number).collect()
}

#[test]
fn every_message_is_a_line_behind_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hud.jsonl");
    for count in 1..=3 {
        let sink = JsonlSink::to_file(&path).unwrap();
        sink.send_message(&numbered(count));
    }
    assert_eq!(numbers(&path), [1, 2, 3]);
}

#[test]
fn a_message_stays_on_its_line_whatever_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hud.jsonl");
    let message = HudMessage::ArchivistMemoryHighlight {
        memory_id: MemoryId::parse("mem-1").unwrap(),
        summary: "one\ntwo\r\n{\"type\":\"x\"}".to_owned(),
        importance: Importance::MANUAL,
        ts: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    JsonlSink::to_file(&path).unwrap().send_message(&message);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert_eq!(serde_json::from_str::<HudMessage>(&text).unwrap(), message);
}

/// Counts the calls, and refuses every one of them after the first.
#[derive(Clone, Default)]
struct Full(Arc<AtomicUsize>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(bytes.len()),
            _ => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_line_is_one_write_and_a_full_disk_stops_nobody() {
    let full = Full::default();
    let sink = JsonlSink::new(full.clone());
    sink.send_message(&numbered(1));
    assert_eq!(full.0.load(Ordering::Relaxed), 1);
    (2..=5).for_each(|count| sink.send_message(&numbered(count)));
    assert_eq!(full.0.load(Ordering::Relaxed), 5);
    assert!(sink.stream.lock().unwrap().has_complained);
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = JsonlSink::to_file(&folder.path().join("no/where")).unwrap_err();
    assert!(error.to_string().contains("no/where: "), "{error}");
    assert!(JsonlSink::to_file(folder.path()).is_err());
}

#[cfg(unix)]
#[test]
fn links_are_refused_and_a_pipe_that_nobody_reads_is_not_waited_for() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (path, link, pipe) = (folder.path().join("hud"), folder.path().join("link"), folder.path().join("pipe"));
    JsonlSink::to_file(&path).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    for target in [path.as_path(), Path::new("not there")] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        assert!(matches!(JsonlSink::to_file(&link), Err(HudError::Symlink { .. })));
        std::fs::remove_file(&link).unwrap();
    }
    assert!(!folder.path().join("not there").exists());
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(matches!(JsonlSink::to_file(&pipe), Err(HudError::Io { .. })));
    }
}
