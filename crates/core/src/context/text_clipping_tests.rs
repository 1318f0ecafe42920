use proptest::prelude::*;

use super::*;

/// A key that no scanner of this repository takes for one.
fn key() -> String {
    ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat()
}

#[test]
fn a_short_text_stays_as_it_is() {
    let redactor = Redactor::new();
    assert_eq!(clip_middle("short".to_owned()), ("short".to_owned(), 0));
    assert_eq!(redact_clipped("short".to_owned(), &redactor), "short");
    assert!(redact_clipped(format!("token {}", key()), &redactor).contains("[redacted:"));
}

#[test]
fn a_long_text_keeps_its_beginning_and_its_end() {
    let redactor = Redactor::new();
    let text = format!("first\n{}last", "line of the middle\n".repeat(5000));
    let (clip, lost) = clip_middle(text.clone());
    assert!(lost > 50_000);
    let settled = redact_clipped(clip, &redactor);
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
            let shown = redact_clipped(clip_middle(text.clone()).0, &redactor);
            assert!(!shown.contains(key.get(..12).unwrap()), "{shift}");
            let matter = format!("{}error: {key} is bad\n{}", "a ".repeat(before / 2), "b ".repeat(40_000));
            assert!(!redact_around(&matter, "is bad", &redactor).0.contains(key.get(..12).unwrap()), "{shift}");
            let mirrored: String = text.split(' ').rev().collect::<Vec<_>>().join(" ");
            let shown = redact_clipped(clip_middle(mirrored).0, &redactor);
            assert!(!shown.contains(key.get(key.len() - 12..).unwrap()), "{shift}");
        }
    }
}

#[test]
fn the_passage_that_matters_stays() {
    let text = format!("head\n{}error: the matter\n{}tail", "noise\n".repeat(5000), "noise\n".repeat(5000));
    let redactor = Redactor::new();
    let (kept, has_secrets) = redact_around(&text, "error: the matter", &redactor);
    assert!(!has_secrets);
    assert!(kept.starts_with("head\n") && kept.ends_with("tail") && kept.contains("\nerror: the matter\n"));
    assert!(kept.len() < KEPT_BYTES + 4 * MARGIN_BYTES);
    assert_eq!(redact_around("short", "missing", &redactor), ("short".to_owned(), false));
}

#[test]
fn a_log_cannot_forge_a_gap() {
    let redactor = Redactor::new();
    let long = format!("{}end", "b ".repeat(20_000));
    for text in [
        "one \u{e0c1}5\u{e0c1} two",
        "\u{e0c1}",
        "a\u{e0c1}b\u{e0c1}c\u{e0c1}d",
        &format!("x\u{e0c1}9\u{e0c1}y {long}"),
    ] {
        let kept = redact_clipped(clip_middle(text.to_owned()).0, &redactor);
        assert!(kept.starts_with(&text.replace('\u{e0c1}', "\u{fffd}").chars().take(12).collect::<String>()), "{kept}");
        assert!(!kept.contains('\u{e0c1}'));
        let (kept, is_changed) = redact_around(text, "two", &redactor);
        assert!(is_changed && !kept.contains('\u{e0c1}') && redact_clipped(kept.clone(), &redactor) == kept);
    }
}

#[test]
fn a_text_that_was_added_to_may_have_many_gaps() {
    let redactor = Redactor::new();
    let part = |name: &str| clip_middle(format!("{name} begins\n{}{name} ends", "some words\n".repeat(3000))).0;
    let shown = redact_clipped([part("first"), part("second"), part("third")].join("\n\n"), &redactor);
    assert!(shown.starts_with("first begins\n") && shown.ends_with("\nthird ends"), "{shown}");
    for joint in ["\nfirst ends\n\nsecond begins\n", "\nsecond ends\n\nthird begins\n"] {
        assert!(shown.contains(joint), "{shown}");
    }
    assert!(!shown.contains('\u{e0c1}'));
    assert_eq!(shown.matches("bytes cut").count(), 3);
}

#[test]
fn a_secret_at_the_edge_of_a_later_gap_is_gone() {
    let redactor = Redactor::new();
    let key = key();
    for shift in (0..60).step_by(7) {
        let more = format!("{} {key} {}", "b ".repeat(5080 + shift / 2), "c ".repeat(15_000));
        let text = [clip_middle("a ".repeat(15_000)).0, clip_middle(more).0].join("\n\n");
        assert!(!redact_clipped(text, &redactor).contains(key.get(..8).unwrap()), "{shift}");
    }
}

/// Random text that does not repeat.
fn noise(bytes: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ab";
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[usize::try_from(state >> 58).unwrap()])
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn no_part_of_a_secret_that_is_longer_than_the_margin_is_shown() {
    let redactor = Redactor::new();
    let body = noise(6000);
    let token =
        format!("{}.eyJ{body}.dBjftJeZ4CVPmB92K27uhbUJU1p1r7wW1gFWFOEjXk", ["eyJhbGciOi", "JIUzI1NiJ9"].concat());
    let lines: String = body.as_bytes().chunks(64).map(|line| format!("{}\n", str::from_utf8(line).unwrap())).collect();
    let dashes = "-".repeat(5);
    let block = format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{lines}{dashes}END RSA PRIVATE KEY{dashes}");
    let filler = "x y ".repeat(20_000);
    for secret in [&token, &block] {
        let pieces: Vec<&str> =
            (100..secret.len() - 100).step_by(16).filter_map(|at| secret.get(at..at + 24)).collect();
        for place in (1000..14_000).step_by(1750) {
            for at in [place, filler.len() - place] {
                let (before, after) = filler.split_at(at);
                let text = format!("{before}\n{secret}\n{after}");
                let passage = "boom happened";
                let (left, right) = filler.split_at(40_000 + at % 7000 - 3000);
                let windowed = format!("{left}\n{secret}\n{}{passage}{right}", filler.get(..place % 5000).unwrap());
                let quiet = redact_clipped(clip_middle(text.clone()).0, &redactor);
                for shown in
                    [quiet, redact_around(&text, "", &redactor).0, redact_around(&windowed, passage, &redactor).0]
                {
                    assert!(!pieces.iter().any(|piece| shown.contains(piece)), "{at}");
                }
            }
        }
    }
}

#[test]
fn what_a_redaction_makes_shorter_shows_no_more_of_the_edge() {
    let redactor = Redactor::new();
    let dashes = "-".repeat(5);
    let block =
        format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{}\n{dashes}END RSA PRIVATE KEY{dashes}\n", noise(4000));
    let key = key();
    let half = KEPT_BYTES / 2 + MARGIN_BYTES;
    for shift in (0..30).step_by(4) {
        let filler = "a ".repeat((half - block.len() - 2 - shift) / 2);
        let text = format!("{block}{filler} {key} {}", "b ".repeat(40_000));
        assert!(!redact_clipped(clip_middle(text.clone()).0, &redactor).contains(key.get(..5).unwrap()), "{shift}");
        assert!(!redact_around(&text, "", &redactor).0.contains(key.get(..5).unwrap()), "{shift}");
    }
}

#[test]
fn data_in_one_long_line_keeps_its_ends() {
    let redactor = Redactor::new();
    let rows: Vec<String> = (0..5000).map(|row| format!("{{\"row\":{row},\"is\":\"fine\"}}")).collect();
    let shown = redact_clipped(clip_middle(rows.join(",")).0, &redactor);
    assert!(shown.starts_with("{\"row\":0,") && shown.ends_with("\"row\":4999,\"is\":\"fine\"}"));
    assert!(shown.len() > KEPT_BYTES - 100, "{}", shown.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_is_too_strange(unit in "\\PC{1,40}", times in 0usize..1200, passage in "\\PC{0,40}") {
        let redactor = Redactor::new();
        let text = unit.repeat(times);
        let kept = redact_clipped(clip_middle(text.clone()).0, &redactor);
        prop_assert!(kept.len() <= KEPT_BYTES + 2 * MARGIN_BYTES + 100 || kept.len() <= text.len());
        prop_assert!(redact_around(&text, &passage, &redactor).0.len() <= text.len().max(KEPT_BYTES + 4 * MARGIN_BYTES) + 200);
    }
}
