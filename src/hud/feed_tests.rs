use tempfile::TempDir;

use super::*;
use crate::domain::{ReflectionScenario, Timestamp};

fn message(count: u64) -> HudMessage {
    let (scenario, ts) = (ReflectionScenario::Manual, Timestamp::default());
    HudMessage::ArchivistMemoriesAdded { count, scenario, ts }
}

fn counts(told: &[Told]) -> Vec<u64> {
    let count = |one: &Told| match one.message {
        HudMessage::ArchivistMemoriesAdded { count, .. } => count,
        _ => u64::MAX,
    };
    told.iter().map(count).collect()
}

#[test]
fn what_one_tells_another_reads_with_growing_numbers() {
    let memory = TempDir::new().unwrap();
    let sink = FeedSink::new(memory.path());
    let mut from_now = FeedReader::from_now(memory.path());
    assert!(from_now.news().unwrap().is_empty(), "there is no feed yet");
    (1..=3).for_each(|count| sink.tell(&message(count)));
    let told = from_now.news().unwrap();
    assert_eq!(counts(&told), [1, 2, 3]);
    assert!(told.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert!(from_now.news().unwrap().is_empty());
    let mut again = FeedReader::after(memory.path(), told[0].id);
    assert_eq!(counts(&again.news().unwrap()), [2, 3], "a reader goes on where it was");
    assert_eq!(counts(&FeedReader::after(memory.path(), 0).news().unwrap()), [1, 2, 3]);
    assert!(FeedReader::from_now(memory.path()).news().unwrap().is_empty());
}

#[test]
fn numbers_survive_the_loss_of_the_first_half() {
    let memory = TempDir::new().unwrap();
    let sink = FeedSink { max_bytes: 2_000, ..FeedSink::new(memory.path()) };
    let mut along = FeedReader::after(memory.path(), 0);
    let mut told = Vec::new();
    for count in 1..=200 {
        sink.tell(&message(count));
        if count % 3 == 0 {
            told.extend(along.news().unwrap());
        }
    }
    told.extend(along.news().unwrap());
    assert_eq!(counts(&told), (1..=200).collect::<Vec<_>>(), "whoever reads along misses nothing");
    assert!(told.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert!(fs::metadata(path(memory.path())).unwrap().len() <= 2_000);
    let late = FeedReader::after(memory.path(), told[0].id).news().unwrap();
    assert_eq!(late.last(), told.last(), "whoever comes late gets what is left");
    assert!(told.ends_with(&late));
}

#[test]
fn a_feed_that_was_deleted_begins_anew_and_is_read_from_its_start() {
    let memory = TempDir::new().unwrap();
    let sink = FeedSink::new(memory.path());
    let mut reader = FeedReader::after(memory.path(), 0);
    (1..=9).for_each(|count| sink.tell(&message(count)));
    assert_eq!(reader.news().unwrap().len(), 9);
    fs::remove_file(path(memory.path())).unwrap();
    sink.tell(&message(10));
    assert_eq!(counts(&reader.news().unwrap()), [10]);
}

#[test]
fn a_strange_or_torn_line_is_passed_over() {
    let memory = TempDir::new().unwrap();
    let sink = FeedSink::new(memory.path());
    sink.tell(&message(1));
    let mut file = OpenOptions::new().append(true).open(path(memory.path())).unwrap();
    file.write_all(b"no JSON\n{\"type\":\"from the future\"}\n").unwrap();
    sink.tell(&message(2));
    file.write_all(b"{\"type\":\"archivist_mem").unwrap();
    let mut reader = FeedReader::after(memory.path(), 0);
    assert_eq!(counts(&reader.news().unwrap()), [1, 2]);
    assert!(reader.news().unwrap().is_empty(), "half a line is waited for");
}

#[test]
fn many_writers_lose_nothing() {
    let memory = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let sink = FeedSink { max_bytes: 1 << 20, ..FeedSink::new(memory.path()) };
            scope.spawn(move || (0..50).for_each(|count| sink.tell(&message(writer * 100 + count))));
        }
    });
    let mut found = counts(&FeedReader::after(memory.path(), 0).news().unwrap());
    found.sort_unstable();
    let expected: Vec<u64> = (0..4).flat_map(|writer| (0..50).map(move |count| writer * 100 + count)).collect();
    assert_eq!(found, expected);
}
