use tempfile::TempDir;

use super::*;
use crate::domain::{ReflectionScenario, Timestamp};

fn message(count: u64) -> HudMessage {
    let (scenario, ts) = (ReflectionScenario::Manual, Timestamp::default());
    HudMessage::ArchivistMemoriesAdded { count, scenario, ts }
}

fn counts(told: &[FeedMessage]) -> Vec<u64> {
    let count = |one: &FeedMessage| match one.message {
        HudMessage::ArchivistMemoriesAdded { count, .. } => count,
        _ => u64::MAX,
    };
    told.iter().map(count).collect()
}

#[test]
fn what_one_tells_another_reads_with_growing_numbers() {
    let memory = TempDir::new().unwrap();
    let sink = FileFeedSink::new(memory.path());
    let mut from_now = FileFeedReader::from_now(memory.path());
    assert!(from_now.read_new_messages().unwrap().is_empty(), "there is no feed yet");
    (1..=3).for_each(|count| sink.send_message(&message(count)));
    let told = from_now.read_new_messages().unwrap();
    assert_eq!(counts(&told), [1, 2, 3]);
    assert!(told.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert!(from_now.read_new_messages().unwrap().is_empty());
    let mut again = FileFeedReader::starting_after(memory.path(), told[0].id);
    assert_eq!(counts(&again.read_new_messages().unwrap()), [2, 3], "a reader goes on where it was");
    assert_eq!(counts(&FileFeedReader::starting_after(memory.path(), 0).read_new_messages().unwrap()), [1, 2, 3]);
    assert!(FileFeedReader::from_now(memory.path()).read_new_messages().unwrap().is_empty());
}

#[test]
fn numbers_survive_the_loss_of_the_first_half() {
    let memory = TempDir::new().unwrap();
    let sink = FileFeedSink { max_bytes: 2_000, ..FileFeedSink::new(memory.path()) };
    let mut along = FileFeedReader::starting_after(memory.path(), 0);
    let mut told = Vec::new();
    for count in 1..=200 {
        sink.send_message(&message(count));
        if count % 3 == 0 {
            told.extend(along.read_new_messages().unwrap());
        }
    }
    told.extend(along.read_new_messages().unwrap());
    assert_eq!(counts(&told), (1..=200).collect::<Vec<_>>(), "whoever reads along misses nothing");
    assert!(told.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert!(fs::metadata(feed_path(memory.path())).unwrap().len() <= 2_000);
    let late = FileFeedReader::starting_after(memory.path(), told[0].id).read_new_messages().unwrap();
    assert_eq!(late.last(), told.last(), "whoever comes late gets what is left");
    assert!(told.ends_with(&late));
}

#[test]
fn a_feed_that_was_deleted_begins_anew_and_is_read_from_its_start() {
    let memory = TempDir::new().unwrap();
    let sink = FileFeedSink::new(memory.path());
    let mut reader = FileFeedReader::starting_after(memory.path(), 0);
    (1..=9).for_each(|count| sink.send_message(&message(count)));
    assert_eq!(reader.read_new_messages().unwrap().len(), 9);
    fs::remove_file(feed_path(memory.path())).unwrap();
    sink.send_message(&message(10));
    assert_eq!(counts(&reader.read_new_messages().unwrap()), [10]);
}

#[test]
fn a_strange_or_torn_line_is_passed_over() {
    let memory = TempDir::new().unwrap();
    let sink = FileFeedSink::new(memory.path());
    sink.send_message(&message(1));
    let mut file = OpenOptions::new().append(true).open(feed_path(memory.path())).unwrap();
    file.write_all(b"no JSON\n{\"type\":\"from the future\"}\n").unwrap();
    sink.send_message(&message(2));
    file.write_all(b"{\"type\":\"archivist_mem").unwrap();
    let mut reader = FileFeedReader::starting_after(memory.path(), 0);
    assert_eq!(counts(&reader.read_new_messages().unwrap()), [1, 2]);
    assert!(reader.read_new_messages().unwrap().is_empty(), "half a line is waited for");
}

#[test]
fn many_writers_lose_nothing() {
    let memory = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let sink = FileFeedSink { max_bytes: 1 << 20, ..FileFeedSink::new(memory.path()) };
            scope.spawn(move || (0..50).for_each(|count| sink.send_message(&message(writer * 100 + count))));
        }
    });
    let mut found = counts(&FileFeedReader::starting_after(memory.path(), 0).read_new_messages().unwrap());
    found.sort_unstable();
    let expected: Vec<u64> = (0..4).flat_map(|writer| (0..50).map(move |count| writer * 100 + count)).collect();
    assert_eq!(found, expected);
}
