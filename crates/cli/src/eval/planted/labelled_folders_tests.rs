use std::fs;

use super::super::generate_sessions;
use super::*;

fn folder(expected: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (index, session) in generate_sessions(1, 4).unwrap().iter().enumerate() {
        fs::write(folder.path().join(format!("{index}.log")), &session.log).unwrap();
    }
    fs::write(folder.path().join("notes.txt"), "nothing").unwrap();
    fs::write(folder.path().join(EXPECTED), expected).unwrap();
    folder
}

#[test]
fn a_set_of_ones_own_is_read() {
    let folder = folder(
        r#"{"0.log": {"mention": [["a", "b"]], "steps": [3], "category": ["infra"], "rule": true, "kind": "flaky"},
            "1.log": null, "2.log": {"mention": [["c"]]}}"#,
    );
    let read = from_dir(folder.path()).unwrap();
    let made = generate_sessions(1, 4).unwrap();
    assert_eq!(read.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["0.log", "1.log", "2.log"]);
    for (read, made) in read.iter().zip(&made) {
        assert_eq!((read.format, &read.log, read.half), (made.format, &made.log, ScenarioHalf::Own));
    }
    assert_eq!(
        read.iter().map(|one| one.kind).collect::<Vec<_>>(),
        [PlantedLessonKind::Flaky, PlantedLessonKind::Routine, PlantedLessonKind::Other]
    );
    let first = read[0].expect.as_ref().unwrap();
    assert_eq!((first.steps.as_slice(), first.rule), ([3].as_slice(), true));
    assert!(read[1].expect.is_none());
}

#[test]
fn what_is_wrong_with_a_set_is_said_in_one_line() {
    let table = [
        ("{}", "names no log"),
        ("[]", "does not say what to expect"),
        (r#"{"0.log": {"steps": [1]}}"#, "missing field `mention`"),
        (r#"{"0.log": {"mention": [["a"]], "step": [1]}}"#, "unknown field `step`"),
        (r#"{"0.log": {"mention": []}}"#, "expects no words of 0.log"),
        (r#"{"9.log": null}"#, "cannot be read"),
        (r#"{"notes.txt": null}"#, "is no log"),
    ];
    for (expected, words) in table {
        let error = from_dir(folder(expected).path()).unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains('\n'), "{expected}: {error}");
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(from_dir(empty.path()), Err(LabelledFolderError::Io { .. })));
}
