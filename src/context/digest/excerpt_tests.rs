use proptest::prelude::*;

use super::*;

fn shown(text: &str, limit: usize, quotes: &[&str]) -> String {
    excerpt(text, limit, quotes)
        .into_iter()
        .map(|stretch| match stretch {
            Stretch::Kept(kept) => kept.to_owned(),
            Stretch::Gap { lines, bytes } => format!("<{lines} lines, {bytes} bytes>\n"),
        })
        .collect()
}

#[test]
fn short_texts_stay_whole() {
    assert_eq!(shown("", 0, &[]), "");
    assert_eq!(shown("one\ntwo", 100, &["three"]), "one\ntwo");
}

#[test]
fn long_texts_keep_head_tail_error_and_quotation() {
    let mut lines: Vec<String> = (0..100).map(|at| format!("   Compiling part{at} v0.1.0")).collect();
    lines[40] = "error[E0382]: borrow of moved value: `cart`".to_owned();
    lines[70] = "warning: field `total` is never read".to_owned();
    let text = lines.join("\n");
    insta::assert_snapshot!(shown(&text, 240, &["field `total`"]), @r"
       Compiling part0 v0.1.0
       Compiling part1 v0.1.0
    <38 lines, 1018 bytes>
    error[E0382]: borrow of moved value: `cart`
       Compiling part41 v0.1.0
    <28 lines, 756 bytes>
    warning: field `total` is never read
       Compiling part71 v0.1.0
    <26 lines, 702 bytes>
       Compiling part98 v0.1.0
       Compiling part99 v0.1.0
    ");
}

#[test]
fn one_endless_line_is_cut_within_itself() {
    let text = format!("{}needle {}", "a ".repeat(5000), "b".repeat(5000));
    let shown = shown(&text, 200, &["needle"]);
    assert!(shown.len() < 500, "{shown}");
    assert!(shown.starts_with("a a a") && shown.ends_with("bbb") && shown.contains("needle"), "{shown}");
}

proptest! {
    #[test]
    fn nothing_is_made_up_or_lost(text in "([a-zé]{0,30}[ \n]){0,60}", limit in 0..600_usize, quote in "[a-zé ]{0,3}") {
        let stretches = excerpt(&text, limit, &[&quote]);
        let mut rest = text.as_str();
        for stretch in &stretches {
            rest = match stretch {
                Stretch::Kept(kept) => rest.strip_prefix(kept).unwrap(),
                Stretch::Gap { bytes, .. } => rest.split_at(*bytes).1,
            };
        }
        prop_assert_eq!(rest, "");
        if text.contains(&quote) {
            prop_assert!(stretches.iter().any(|stretch| matches!(stretch, Stretch::Kept(kept) if kept.contains(&quote)))
                || quote.is_empty());
        }
    }
}
