//! Public transcripts, against figures that somebody else's reader found.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;

use crate::domain::{TokenUsage, TrajectoryEvent};
use crate::ingest::{LogFormat, ReaderSettings, SessionReader};

#[derive(Debug, Default, PartialEq)]
struct Figures {
    messages: u64,
    usage: TokenUsage,
    calls: u64,
    failed: u64,
    unparsable: u64,
}

fn figures(path: &Path) -> Figures {
    let mut file = std::fs::File::open(path).unwrap();
    let mut events: Vec<TrajectoryEvent> = Vec::new();
    let format = SessionReader::new(ReaderSettings::default()).read_log(&mut file, &mut events).unwrap();
    assert_eq!(format, LogFormat::ClaudeCode, "{}", path.display());
    assert!(events.iter().any(|event| matches!(event, TrajectoryEvent::Step(_))), "{} has no step", path.display());
    let mut spent = BTreeMap::new();
    let mut figures = Figures::default();
    for event in events {
        match event {
            TrajectoryEvent::Spent(step, usage) => {
                spent.insert(step, usage);
            }
            TrajectoryEvent::Call(..) => figures.calls += 1,
            TrajectoryEvent::Output(_, output) => figures.failed += u64::from(output.failed == Some(true)),
            TrajectoryEvent::Skipped(_) => figures.unparsable += 1,
            _ => {}
        }
    }
    figures.messages = spent.len() as u64;
    figures.usage = spent.into_values().fold(TokenUsage::default(), TokenUsage::add_usage);
    figures
}

#[test]
fn the_corpus_is_read_as_others_read_it() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let expected: Value = serde_json::from_slice(&std::fs::read(corpus.join("expected.json")).unwrap()).unwrap();
    let mut checked = 0;
    for (path, expected) in expected.as_object().unwrap() {
        let Some(messages) = expected.get("apiMessages").filter(|_| path.starts_with("claude/")) else { continue };
        let expect = |key: &str| expected[key].as_u64();
        let read = figures(&corpus.join(path));
        assert_eq!(Some(read.messages), messages.as_u64(), "{path}");
        assert_eq!(read.usage.completion_tokens, expect("outputTokens"), "{path}");
        assert_eq!(read.usage.cached_tokens, expect("cacheReadTokens"), "{path}");
        assert_eq!(read.usage.cache_write_tokens, expect("cacheCreationTokens"), "{path}");
        let prompt = ["inputTokens", "cacheReadTokens", "cacheCreationTokens"].map(|key| expect(key).unwrap());
        assert_eq!(read.usage.prompt_tokens, Some(prompt.iter().sum()), "{path}");
        assert_eq!(Some(read.calls), expect("toolCalls"), "{path}");
        assert_eq!(Some(read.failed), expect("flaggedToolErrors"), "{path}");
        assert_eq!(Some(read.unparsable), expect("unparsableLines"), "{path}");
        checked += 1;
    }
    assert!(checked > 0, "no expectation names a transcript");
}

#[test]
fn every_transcript_of_the_corpus_reads() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let mut folders = vec![corpus.join("claude")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(figures(&path).unparsable, 0, "{}", path.display());
                read += 1;
            }
        }
    }
    assert!(read > 0, "there are no transcripts");
}
