use proptest::prelude::*;

use super::*;

/// A key that no scanner of this repository takes for one.
fn key() -> String {
    ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat()
}

#[test]
fn a_short_text_stays_as_it_is() {
    let redactor = Redactor::new();
    assert_eq!(clipped("short".to_owned()), ("short".to_owned(), 0));
    assert_eq!(settled("short".to_owned(), &redactor), "short");
    assert!(settled(format!("token {}", key()), &redactor).contains("[redacted:"));
}

#[test]
fn a_long_text_keeps_its_beginning_and_its_end() {
    let redactor = Redactor::new();
    let text = format!("first\n{}last", "line of the middle\n".repeat(5000));
    let (clip, lost) = clipped(text.clone());
    assert!(lost > 50_000);
    let settled = settled(clip, &redactor);
    assert!(settled.starts_with("first\n") && settled.ends_with("last"));
    assert!(settled.len() < KEPT_BYTES + 100, "{}", settled.len());
    let (_, rest) = settled.split_once("[… ").unwrap();
    let (bytes, _) = rest.split_once(" bytes cut").unwrap();
    let shown = settled.len() - format!("\n[… {bytes} bytes cut …]\n").len();
    assert_eq!(bytes.parse::<usize>().unwrap() + shown, text.len());
}

#[test]
fn a_secret_at_the_edge_of_a_cut_is_gone_whole_or_not_there() {
    let redactor = Redactor::new();
    let key = key();
    for shift in (0..200).step_by(11) {
        // The key lies across the edge, wherever that is.
        for edge in [KEPT_BYTES / 2, KEPT_BYTES / 2 + MARGIN_BYTES] {
            let before = edge - 100 + shift;
            let text = format!("{} {key} {}", "a ".repeat(before / 2), "b ".repeat(40_000));
            let shown = settled(clipped(text.clone()).0, &redactor);
            assert!(!shown.contains(key.get(..12).unwrap()), "{shift}");
            let matter = format!("{}error: {key} is bad\n{}", "a ".repeat(before / 2), "b ".repeat(40_000));
            assert!(!around(&matter, "is bad", &redactor).0.contains(key.get(..12).unwrap()), "{shift}");
            let mirrored: String = text.split(' ').rev().collect::<Vec<_>>().join(" ");
            let shown = settled(clipped(mirrored).0, &redactor);
            assert!(!shown.contains(key.get(key.len() - 12..).unwrap()), "{shift}");
        }
    }
}

#[test]
fn the_passage_that_matters_stays() {
    let text = format!("head\n{}error: the matter\n{}tail", "noise\n".repeat(5000), "noise\n".repeat(5000));
    let redactor = Redactor::new();
    let (kept, has_secrets) = around(&text, "error: the matter", &redactor);
    assert!(!has_secrets);
    assert!(kept.starts_with("head\n") && kept.ends_with("tail") && kept.contains("\nerror: the matter\n"));
    assert!(kept.len() < KEPT_BYTES + 4 * MARGIN_BYTES);
    assert_eq!(around("short", "missing", &redactor), ("short".to_owned(), false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_is_too_strange(unit in "\\PC{1,40}", times in 0usize..1200, passage in "\\PC{0,40}") {
        let redactor = Redactor::new();
        let text = unit.repeat(times);
        let kept = settled(clipped(text.clone()).0, &redactor);
        prop_assert!(kept.len() <= KEPT_BYTES + 2 * MARGIN_BYTES + 100 || kept.len() <= text.len());
        prop_assert!(around(&text, &passage, &redactor).0.len() <= text.len().max(KEPT_BYTES + 4 * MARGIN_BYTES) + 200);
    }
}
