use std::collections::BTreeMap;

use serde_json::Value;
use tempfile::TempDir;

use super::super::day_totals::{ChargeEntry, ReservationEntry};
use super::super::money::{CallAmount, CallTokens};
use super::*;

fn noon() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn amount(tokens: u64) -> CallAmount {
    CallAmount { prompt_tokens: tokens, completion_tokens: 1, micro_usd: tokens * 2 }
}

fn reserve(ledger: &FileLedger, project: &str, tokens: u64) -> String {
    let mut book = ledger.open_day(noon).unwrap();
    book.read_day().unwrap();
    let id = book.fresh_id().unwrap();
    let reserve = ReservationEntry {
        id: id.clone(),
        at: book.opened_at(),
        project: project.to_owned(),
        endpoint: "http://e".to_owned(),
        model: "m".to_owned(),
        amount: amount(tokens),
    };
    book.append_entry(&SpendLedgerEntry::Reserve(reserve), WriteDurability::Now).unwrap();
    id
}

fn charge(ledger: &FileLedger, id: &str, tokens: u64) {
    let claimed = Some(CallTokens { prompt: 1, completion: 1 });
    let charge = ChargeEntry { id: id.to_owned(), amount: amount(tokens), claimed };
    ledger.open_day(noon).unwrap().append_entry(&SpendLedgerEntry::Charge(charge), WriteDurability::Later).unwrap();
}

fn prompt_tokens(ledger: &FileLedger) -> u64 {
    let seen = ledger.open_day(noon).unwrap().read_day().unwrap().total.token_usage().prompt_tokens.unwrap();
    assert_eq!(
        ledger.read_day(noon()).unwrap().total.token_usage().prompt_tokens,
        Some(seen),
        "a fresh look sees something else"
    );
    seen
}

/// What the whole lines of a file say, read in the simplest way: money by call.
fn said(bytes: &[u8]) -> u64 {
    let mut calls = BTreeMap::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        if let Ok(line) = serde_json::from_slice::<Value>(line) {
            calls.insert(line["id"].as_str().unwrap().to_owned(), line["microUsd"].as_u64().unwrap());
        }
    }
    calls.values().sum()
}

#[test]
fn a_ledger_cut_off_anywhere_is_read_and_goes_on() {
    // In memory where there is such a place: each cut waits for a sync.
    let directory = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let ledger = FileLedger::new(directory.path().join("whole"));
    let first = reserve(&ledger, "p", 1000);
    reserve(&ledger, "q", 200);
    charge(&ledger, &first, 300);
    reserve(&ledger, "p", 40);
    let whole = std::fs::read(ledger.day_path(noon())).unwrap();
    assert_eq!(said(&whole), 2 * (300 + 200 + 40));

    for cut in 0..=whole.len() {
        let ledger = FileLedger::new(directory.path().join("cut"));
        std::fs::create_dir_all(&ledger.directory).unwrap();
        std::fs::write(ledger.day_path(noon()), &whole[..cut]).unwrap();
        let expected = said(&whole[..cut]);
        let seen = ledger.read_day(noon()).unwrap();
        assert_eq!(seen.total.micro_usd, u128::from(expected), "cut at {cut}");
        assert_eq!(seen.broken, 0, "cut at {cut}");

        // The next line is added behind what was torn, and both can be told apart.
        reserve(&ledger, "p", 7);
        let after = ledger.read_day(noon()).unwrap();
        let torn = whole[..cut].rsplit(|byte| *byte == b'\n').next().unwrap();
        let is_whole_but_for_its_end = serde_json::from_slice::<Value>(torn).is_ok();
        assert_eq!(after.broken, u64::from(!torn.is_empty() && !is_whole_but_for_its_end), "cut at {cut}");
        assert_eq!(after.total.micro_usd, u128::from(said(&std::fs::read(ledger.day_path(noon())).unwrap())), "{cut}");
        assert_eq!(ledger.open_day(noon).unwrap().read_day().unwrap().total, after.total, "cut at {cut}");
    }
}

#[test]
fn only_what_others_added_is_read() {
    let directory = TempDir::new().unwrap();
    let (one, two) = (FileLedger::new(directory.path().into()), FileLedger::new(directory.path().into()));
    let id = reserve(&one, "p", 100);
    assert_eq!(prompt_tokens(&two), 100);
    let read = two.read.lock().unwrap().offset;
    charge(&one, &id, 30);
    reserve(&one, "q", 5);
    assert_eq!(prompt_tokens(&two), 35);
    assert!(two.read.lock().unwrap().offset > read);
    reserve(&two, "q", 5);
    assert_eq!((prompt_tokens(&one), prompt_tokens(&two)), (40, 40));
    assert_eq!(one.read_day(noon()).unwrap().calls, 3);
}

#[test]
fn a_file_that_is_not_what_it_was_is_read_anew() {
    let directory = TempDir::new().unwrap();
    let (one, two) = (FileLedger::new(directory.path().into()), FileLedger::new(directory.path().into()));
    let path = one.day_path(noon());
    reserve(&one, "p", 100);
    reserve(&one, "p", 200);
    reserve(&one, "p", 400);
    assert_eq!(prompt_tokens(&two), 700);
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();

    std::fs::write(&path, format!("{}\n", lines[0])).unwrap();
    assert_eq!(prompt_tokens(&two), 100, "it shrank");
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(prompt_tokens(&two), 700, "it grew again");
    std::fs::write(&path, format!("{}\n{}\n", lines[0], lines[2])).unwrap();
    reserve(&one, "p", 1);
    reserve(&one, "p", 2);
    assert_eq!(prompt_tokens(&two), 503, "a line was taken out and others added");
    std::fs::remove_file(&path).unwrap();
    for _ in 0..5 {
        reserve(&one, "p", 1);
    }
    assert_eq!(prompt_tokens(&two), 5, "it is another one, and longer");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(prompt_tokens(&two), 0, "it was deleted");
}

#[test]
fn each_day_has_a_file() {
    let directory = TempDir::new().unwrap();
    let ledger = FileLedger::new(directory.path().join("not/yet/there"));
    reserve(&ledger, "p", 100);
    let tomorrow = noon() + chrono::TimeDelta::days(1);
    assert_eq!(ledger.open_day(|| tomorrow).unwrap().read_day().unwrap().calls, 0);
    assert_eq!(prompt_tokens(&ledger), 100);
    assert_eq!(ledger.day_path(noon()), directory.path().join("not/yet/there/2026-11-16.jsonl"));
    let late: Timestamp = "2026-11-16T23:59:59.999Z".parse().unwrap();
    assert_eq!(ledger.day_path(late), ledger.day_path(noon()));
}

#[test]
fn looking_makes_nothing() {
    let directory = TempDir::new().unwrap();
    let ledger = FileLedger::new(directory.path().join("none"));
    assert_eq!(ledger.read_day(noon()).unwrap().calls, 0);
    assert!(!directory.path().join("none").exists());
}

#[test]
fn bytes_that_are_no_lines_are_passed_over() {
    let directory = TempDir::new().unwrap();
    let ledger = FileLedger::new(directory.path().into());
    reserve(&ledger, "p", 100);
    let mut file = OpenOptions::new().append(true).open(ledger.day_path(noon())).unwrap();
    file.write_all(&[0; 5000]).unwrap();
    file.write_all(b"\n\xff\xfe\n").unwrap();
    file.write_all(&vec![b'x'; 3 * MAX_LINE_BYTES]).unwrap();
    file.write_all(b"\n\n").unwrap();
    reserve(&ledger, "p", 10);
    file.write_all(&vec![b'{'; 2 * MAX_LINE_BYTES]).unwrap();
    reserve(&ledger, "p", 1);
    assert_eq!(prompt_tokens(&ledger), 111);
    assert_eq!(ledger.read_day(noon()).unwrap().broken, 4);
}

#[test]
fn a_line_that_nobody_could_read_is_not_written() {
    let directory = TempDir::new().unwrap();
    let ledger = FileLedger::new(directory.path().into());
    let charge = ChargeEntry { id: "x".repeat(MAX_LINE_BYTES), amount: amount(1), claimed: None };
    let refused =
        ledger.open_day(noon).unwrap().append_entry(&SpendLedgerEntry::Charge(charge), WriteDurability::Later);
    assert!(matches!(refused, Err(LedgerError::LongLine { .. })), "{refused:?}");
    assert_eq!(ledger.read_day(noon()).unwrap().broken, 0);
}

#[test]
fn a_lock_that_is_held_is_not_waited_for_for_ever() {
    let directory = TempDir::new().unwrap();
    let ledger = FileLedger::with_patience(directory.path().into(), Duration::from_millis(20));
    let held = ledger.open_day(noon).unwrap();
    let other = FileLedger::with_patience(directory.path().into(), Duration::from_millis(20));
    let busy = other.open_day(noon).map(drop);
    assert!(matches!(busy, Err(LedgerError::Busy { .. })), "{busy:?}");
    drop(held);
    other.open_day(noon).map(drop).unwrap();
}

#[cfg(unix)]
#[test]
fn nothing_but_a_file_is_written_to() {
    let directory = TempDir::new().unwrap();
    let ledger = FileLedger::new(directory.path().into());
    let elsewhere = directory.path().join("elsewhere");
    std::fs::write(&elsewhere, "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, ledger.day_path(noon())).unwrap();
    assert!(matches!(ledger.open_day(noon).map(drop), Err(LedgerError::Io { .. })));
    assert!(ledger.read_day(noon()).is_err());
    std::fs::remove_file(ledger.day_path(noon())).unwrap();
    std::fs::create_dir(ledger.day_path(noon())).unwrap();
    assert!(matches!(ledger.open_day(noon).map(drop), Err(LedgerError::Io { .. })));
    assert!(ledger.read_day(noon()).is_err());
}
