use super::{Append, Applied, Entry, Redo, image, line};
use crate::memory::jsonl::layout::Part;

fn redo(text: &str) -> Entry {
    let append = Append { part: Part::Lessons, before: 0, text: text.into() };
    Entry::Redo(Redo { appends: vec![append], swaps: Vec::new() })
}

#[test]
fn a_torn_line_was_never_there() {
    let whole = line(&Entry::Applied(Applied { epoch: 7, ..Applied::default() })).unwrap();
    let next = line(&redo("{}\n")).unwrap();
    for cut in 0..next.len() {
        let image = image(&[whole.as_bytes(), &next.as_bytes()[..cut]].concat(), 0);
        assert_eq!(image.applied.as_ref().map(|applied| applied.epoch), Some(7));
        assert!(image.pending.is_empty(), "cut at {cut}");
        assert_eq!(image.whole, whole.len() as u64);
    }
}

#[test]
fn a_record_without_its_note_is_pending() {
    let log = format!("{}{}", line(&Entry::Applied(Applied::default())).unwrap(), line(&redo("a\n")).unwrap());
    assert!(!image(log.as_bytes(), 0).pending.is_empty());
    let log = log + &line(&Entry::Applied(Applied::default())).unwrap();
    assert!(image(log.as_bytes(), 0).pending.is_empty());
}

#[test]
fn a_flipped_bit_is_seen() {
    let good = line(&redo("text\n")).unwrap().into_bytes();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(image(&bad, 0).pending.is_empty(), "bit in byte {at}");
    }
}
