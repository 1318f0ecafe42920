use super::{AppliedNote, FileAppend, RedoLogEntry, RedoRecord, parse_image, render_entry};
use crate::memory::jsonl::bank_files::StoreFile;

fn redo(text: &str) -> RedoLogEntry {
    let append = FileAppend { part: StoreFile::Lessons, before: 0, text: text.into() };
    RedoLogEntry::Redo(RedoRecord { appends: vec![append], swaps: Vec::new() })
}

#[test]
fn a_torn_line_was_never_there() {
    let whole = render_entry(&RedoLogEntry::Applied(AppliedNote { epoch: 7, ..AppliedNote::default() })).unwrap();
    let next = render_entry(&redo("{}\n")).unwrap();
    for cut in 0..next.len() {
        let image = parse_image(&[whole.as_bytes(), &next.as_bytes()[..cut]].concat(), 0);
        assert_eq!(image.applied.as_ref().map(|applied| applied.epoch), Some(7));
        assert!(image.pending.is_empty(), "cut at {cut}");
        assert_eq!(image.whole, whole.len() as u64);
    }
}

#[test]
fn a_record_without_its_note_is_pending() {
    let log = format!(
        "{}{}",
        render_entry(&RedoLogEntry::Applied(AppliedNote::default())).unwrap(),
        render_entry(&redo("a\n")).unwrap()
    );
    assert!(!parse_image(log.as_bytes(), 0).pending.is_empty());
    let log = log + &render_entry(&RedoLogEntry::Applied(AppliedNote::default())).unwrap();
    assert!(parse_image(log.as_bytes(), 0).pending.is_empty());
}

#[test]
fn a_flipped_bit_is_seen() {
    let good = render_entry(&redo("text\n")).unwrap().into_bytes();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(parse_image(&bad, 0).pending.is_empty(), "bit in byte {at}");
    }
}

#[test]
fn the_checksum_of_a_line_stays_the_same() {
    assert_eq!(super::line_checksum(b"{}"), "6e46dd10defc9b56");
}
