use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{CacheAppendOutcome, EmbeddingVector, Key, MAX_NAME_BYTES, VectorCacheFile};

fn record(number: u16, dimensions: usize) -> (Key, EmbeddingVector) {
    let key = *blake3::hash(&number.to_le_bytes()).as_bytes();
    let numbers = (0..dimensions).map(|i| f32::from(number) + f32::from(u16::try_from(i).unwrap()) + 0.5).collect();
    (key, EmbeddingVector::from_numbers(numbers).unwrap())
}

fn records(numbers: std::ops::Range<u16>, dimensions: usize) -> Vec<(Key, EmbeddingVector)> {
    numbers.map(|number| record(number, dimensions)).collect()
}

fn load(path: &Path, model: &str) -> Vec<(Key, EmbeddingVector)> {
    let mut found = Vec::new();
    VectorCacheFile::new(path, model).read_records(|key, vector| found.push((key, vector))).unwrap();
    found
}

fn add(path: &Path, model: &str, fresh: &[(Key, EmbeddingVector)]) -> CacheAppendOutcome {
    VectorCacheFile::new(path, model).add_records(fresh, || fresh.to_vec()).unwrap()
}

fn file() -> (TempDir, std::path::PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("below/vectors");
    (dir, path)
}

#[test]
fn what_was_added_comes_back_to_the_last_bit() {
    let (_dir, path) = file();
    assert_eq!(load(&path, "m"), []);
    assert_eq!(add(&path, "m", &records(0..3, 5)), CacheAppendOutcome::Rebuilt);
    assert_eq!(add(&path, "m", &records(3..5, 5)), CacheAppendOutcome::Appended);
    assert_eq!(add(&path, "m", &[]), CacheAppendOutcome::Appended);
    assert_eq!(load(&path, "m"), records(0..5, 5));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(load(&path, "m"), []);
    assert_eq!(add(&path, "m", &records(5..6, 5)), CacheAppendOutcome::Rebuilt);
    assert_eq!(load(&path, "m"), records(5..6, 5));
}

#[test]
fn a_torn_file_keeps_what_is_whole_and_can_be_added_to() {
    let (_dir, path) = file();
    add(&path, "m", &records(0..3, 2));
    let bytes = std::fs::read(&path).unwrap();
    let (size, header) = (32 + 8 + 8, bytes.len() - 3 * 48);
    for length in 0..bytes.len() {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let whole = length.saturating_sub(header) / size;
        let mut expected = records(0..u16::try_from(whole).unwrap(), 2);
        assert_eq!(load(&path, "m"), expected, "cut at {length}");
        let added = add(&path, "m", &records(7..8, 2));
        assert_eq!(added, if length < header { CacheAppendOutcome::Rebuilt } else { CacheAppendOutcome::Appended });
        expected.push(record(7, 2));
        assert_eq!(load(&path, "m"), expected, "cut at {length}");
    }
}

#[test]
fn no_flipped_bit_makes_a_wrong_vector() {
    let (_dir, path) = file();
    add(&path, "m", &records(0..3, 2));
    let bytes = std::fs::read(&path).unwrap();
    let right: BTreeMap<Key, EmbeddingVector> = records(0..3, 2).into_iter().collect();
    for position in 0..bytes.len() {
        let mut spoilt = bytes.clone();
        spoilt[position] ^= 1 << (position % 8);
        std::fs::write(&path, &spoilt).unwrap();
        let found = load(&path, "m");
        assert!(found.len() < 3, "a flipped bit at {position} was not noticed");
        assert!(found.iter().all(|(key, vector)| right.get(key) == Some(vector)), "flipped at {position}");
    }
}

#[test]
fn a_file_of_another_model_or_dimension_is_not_read_and_is_replaced() {
    let (_dir, path) = file();
    add(&path, "one", &records(0..3, 4));
    assert_eq!(load(&path, "two"), []);
    assert_eq!(add(&path, "two", &records(0..1, 4)), CacheAppendOutcome::Rebuilt);
    assert_eq!((load(&path, "one"), load(&path, "two")), (vec![], records(0..1, 4)));
    assert_eq!(add(&path, "two", &records(0..2, 6)), CacheAppendOutcome::Rebuilt);
    assert_eq!(load(&path, "two"), records(0..2, 6));
    for foreign in ["", "hello", &"archivist-vec-1\n".repeat(20), &"x".repeat(10_000)] {
        std::fs::write(&path, foreign).unwrap();
        assert_eq!(load(&path, "two"), []);
        assert_eq!(add(&path, "two", &records(0..2, 6)), CacheAppendOutcome::Rebuilt);
        assert_eq!(load(&path, "two"), records(0..2, 6));
    }
}

#[test]
fn a_full_file_is_written_anew_with_what_is_worth_keeping() {
    let (_dir, path) = file();
    let mut cache = VectorCacheFile::new(&path, "m");
    cache.max_bytes = 400;
    let mut rebuilt = 0;
    for number in 0..40_u16 {
        let kept = || records(number.saturating_sub(1)..number + 1, 3);
        rebuilt += usize::from(
            cache.add_records(&records(number..number + 1, 3), kept).unwrap() == CacheAppendOutcome::Rebuilt,
        );
        assert!(std::fs::metadata(&path).unwrap().len() <= 400);
        assert_eq!(load(&path, "m").last(), Some(&record(number, 3)));
    }
    assert!((5..20).contains(&rebuilt), "{rebuilt}");
}

#[test]
fn nobody_waits_long_for_somebody_who_keeps_the_file() {
    let (_dir, path) = file();
    add(&path, "m", &records(0..1, 2));
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    assert_eq!(add(&path, "m", &records(1..2, 2)), CacheAppendOutcome::Busy);
    assert_eq!(load(&path, "m"), records(0..1, 2), "reading needs no lock");
    held.unlock().unwrap();
    assert_eq!(add(&path, "m", &records(1..2, 2)), CacheAppendOutcome::Appended);
}

#[test]
fn writers_side_by_side_lose_nothing_and_make_nothing_up() {
    let (_dir, path) = file();
    add(&path, "m", &records(0..1, 8));
    std::thread::scope(|scope| {
        for writer in 0..4_u16 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..25 {
                    let fresh = [record(1 + writer * 25 + number, 8)];
                    while add(path, "m", &fresh) == CacheAppendOutcome::Busy {}
                    load(path, "m").iter().for_each(|found| assert!(records(0..101, 8).contains(found)));
                }
            });
        }
    });
    let found: BTreeMap<Key, EmbeddingVector> = load(&path, "m").into_iter().collect();
    assert!(found.into_iter().eq(records(0..101, 8).into_iter().collect::<BTreeMap<_, _>>()));
}

#[test]
fn writers_of_different_models_replace_each_other_and_mix_nothing() {
    let (_dir, path) = file();
    std::thread::scope(|scope| {
        for (model, dimensions) in [("one", 3), ("two", 4), ("six", 3)] {
            let path = &path;
            scope.spawn(move || {
                for number in 0..30 {
                    add(path, model, &records(number..number + 2, dimensions));
                    load(path, model).iter().for_each(|found| assert!(records(0..32, dimensions).contains(found)));
                }
            });
        }
    });
}

#[test]
fn the_name_of_a_model_may_be_of_any_length() {
    let (_dir, path) = file();
    let long = "é".repeat(MAX_NAME_BYTES);
    add(&path, &long, &records(0..2, 2));
    assert_eq!(load(&path, &long), records(0..2, 2));
}

proptest! {
    #[test]
    fn no_bytes_at_all_are_taken_for_vectors(tail in prop::collection::vec(any::<u8>(), 0..300), kept in 0_usize..200) {
        let (_dir, path) = file();
        add(&path, "m", &records(0..3, 2));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(kept);
        bytes.extend(tail);
        std::fs::write(&path, bytes).unwrap();
        let right = records(0..3, 2);
        prop_assert!(load(&path, "m").iter().all(|found| right.contains(found)));
    }
}
