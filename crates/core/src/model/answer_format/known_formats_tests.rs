use std::sync::Arc;

use super::*;

const HERE: &str = "http://127.0.0.1:11434/v1";

fn day(day: i64) -> Timestamp {
    Timestamp::from_timestamp(1_700_000_000 + day * 86_400, 0).unwrap()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache").join("ladders.json");
    (folder, path)
}

fn open(path: &Path) -> EndpointCapabilities {
    EndpointCapabilities::open(Some(path.to_owned()))
}

#[test]
fn a_rung_is_remembered_by_endpoint_and_model() {
    let (_folder, path) = folder();
    for capabilities in [EndpointCapabilities::open(None), open(&path)] {
        capabilities.remember_format(HERE, "small", AnswerFormat::Json, day(0));
        capabilities.remember_format(HERE, "large", AnswerFormat::Tools, day(0));
        assert_eq!(capabilities.get(HERE, "small", day(1)), Some(AnswerFormat::Json));
        assert_eq!(capabilities.get(HERE, "large", day(1)), Some(AnswerFormat::Tools));
        assert_eq!(capabilities.get("http://elsewhere/v1", "small", day(1)), None);
        capabilities.remember_format(HERE, "small", AnswerFormat::Text, day(1));
        assert_eq!(capabilities.get(HERE, "small", day(1)), Some(AnswerFormat::Text));
        capabilities.forget_format(HERE, "small");
        capabilities.forget_format("http://elsewhere/v1", "small");
        assert_eq!(capabilities.get(HERE, "small", day(1)), None);
        assert_eq!(capabilities.get(HERE, "large", day(1)), Some(AnswerFormat::Tools));
    }
    assert_eq!(open(&path).get(HERE, "large", day(1)), Some(AnswerFormat::Tools), "the next process knows it");
    assert_eq!(open(&path).get(HERE, "small", day(1)), None);
}

#[test]
fn the_file_reads_like_what_it_says() {
    let (_folder, path) = folder();
    open(&path).remember_format(HERE, "small", AnswerFormat::Schema, day(0));
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = r#"{
  "http://127.0.0.1:11434/v1": {
    "small": {
      "rung": "json_schema",
      "learnedAt": "2023-11-14T22:13:20Z"
    }
  }
}
"#;
    assert_eq!(text, expected);
}

#[test]
fn what_was_learned_long_ago_is_not_known() {
    let (_folder, path) = folder();
    let capabilities = open(&path);
    capabilities.remember_format(HERE, "small", AnswerFormat::Tools, day(0));
    for (then, known) in [(29, true), (30, false), (400, false), (-29, true), (-30, false)] {
        assert_eq!(capabilities.get(HERE, "small", day(then)).is_some(), known, "day {then}");
    }
    capabilities.remember_format("http://elsewhere/v1", "other", AnswerFormat::Text, day(31));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("small") && text.contains("other"), "{text}");
}

#[test]
fn a_broken_file_is_ignored_and_replaced() {
    let whole = r#"{"http://127.0.0.1:11434/v1":{"small":{"rung":"tools","learnedAt":"2023-11-14T22:13:20Z"}}}"#;
    let broken: [&[u8]; 7] = [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        br#"{"a":{"b":{"rung":1}}}"#,
        br#"{"a":{"b":{"rung":"tools","learnedAt":"yesterday"}}}"#,
        &whole.as_bytes()[..whole.len() - 1],
    ];
    for bytes in broken {
        let (_folder, path) = folder();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let capabilities = open(&path);
        assert_eq!(capabilities.get(HERE, "small", day(0)), None);
        capabilities.remember_format(HERE, "small", AnswerFormat::Json, day(0));
        assert_eq!(open(&path).get(HERE, "small", day(0)), Some(AnswerFormat::Json));
    }
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let (_folder, path) = folder();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let spaces = vec![b' '; usize::try_from(MAX_FILE_BYTES).unwrap()];
    std::fs::write(&path, [spaces.as_slice(), b"{}"].concat()).unwrap();
    assert!(read_file(&path).is_err());
}

#[test]
fn a_word_of_a_newer_version_is_not_known_but_kept() {
    let (_folder, path) = folder();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let newer = r#"{"http://127.0.0.1:11434/v1":{"new":{"rung":"grammar","learnedAt":"2023-11-14T22:13:20Z"}}}"#;
    std::fs::write(&path, newer).unwrap();
    let capabilities = open(&path);
    assert_eq!(capabilities.get(HERE, "new", day(0)), None);
    capabilities.remember_format(HERE, "small", AnswerFormat::Json, day(0));
    assert!(std::fs::read_to_string(&path).unwrap().contains("grammar"));
}

#[test]
fn where_nothing_can_be_written_it_is_known_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let capabilities = open(&file.join("ladders.json"));
    capabilities.remember_format(HERE, "small", AnswerFormat::Json, day(0));
    capabilities.remember_format(HERE, "large", AnswerFormat::Tools, day(0));
    assert_eq!(capabilities.get(HERE, "small", day(0)), Some(AnswerFormat::Json));
    assert_eq!(capabilities.get(HERE, "large", day(0)), Some(AnswerFormat::Tools));
}

#[test]
fn two_processes_learn_from_each_other() {
    let (_folder, path) = folder();
    let (one, other) = (open(&path), open(&path));
    one.remember_format(HERE, "small", AnswerFormat::Json, day(0));
    other.remember_format(HERE, "large", AnswerFormat::Tools, day(0));
    assert_eq!(other.get(HERE, "small", day(0)), Some(AnswerFormat::Json));
    other.forget_format(HERE, "small");
    one.remember_format(HERE, "third", AnswerFormat::Text, day(0));
    assert_eq!(one.get(HERE, "small", day(0)), None);
    assert_eq!(open(&path).get(HERE, "large", day(0)), Some(AnswerFormat::Tools));
}

#[test]
fn many_writers_never_leave_a_broken_file() {
    let (_folder, path) = folder();
    let start = Arc::new(std::sync::Barrier::new(4));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (path, start) = (path.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                let capabilities = open(&path);
                start.wait();
                for round in 0..10 {
                    capabilities.remember_format(HERE, &format!("{writer}-{round}"), AnswerFormat::Json, day(0));
                    assert!(!read_file(&path).unwrap().is_empty());
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing else lies about: {left:?}");
}

#[test]
fn an_address_is_kept_without_what_may_be_secret() {
    let table = [
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        ("https://me:pa@ss@host/v1?key=abc#there", "https://host/v1"),
        ("https://me@host", "https://host"),
        ("https://host/a@b", "https://host/a@b"),
        ("host:80/v1", "host:80/v1"),
        ("me:pass@host", "host"),
        ("?key=abc", ""),
        ("", ""),
    ];
    for (endpoint, expected) in table {
        assert_eq!(public_address(endpoint), expected, "{endpoint}");
    }
}
