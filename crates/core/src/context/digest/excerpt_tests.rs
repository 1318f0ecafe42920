use proptest::prelude::*;

use super::*;

fn shown(text: &str, limit: usize, quotes: &[&str]) -> String {
    show(text, limit, ExcerptFocus { quotes, origin: TextOrigin::Command, ..ExcerptFocus::default() })
}

fn show(text: &str, limit: usize, wanted: ExcerptFocus<'_>) -> String {
    choose_excerpt(text, limit, wanted)
        .into_iter()
        .map(|stretch| match stretch {
            ExcerptPart::Kept(kept) => kept.to_owned(),
            ExcerptPart::Gap { lines, bytes } => format!("<{lines} lines, {bytes} bytes>\n"),
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
       Compiling part42 v0.1.0
    <27 lines, 729 bytes>
    warning: field `total` is never read
    <27 lines, 729 bytes>
       Compiling part98 v0.1.0
       Compiling part99 v0.1.0
    ");
}

#[test]
fn one_endless_line_is_cut_within_itself() {
    let text = format!("{}needle {}", "a ".repeat(5000), "b".repeat(5000));
    let shown = shown(&text, 900, &["needle"]);
    assert!(shown.len() < 1100, "{shown}");
    assert!(shown.starts_with("a a a") && shown.ends_with("bbb") && shown.contains("needle"), "{shown}");
}

fn origin() -> impl Strategy<Value = TextOrigin> {
    prop_oneof![Just(TextOrigin::Writing), Just(TextOrigin::Command), Just(TextOrigin::Dump)]
}

#[test]
fn where_a_text_comes_from_tells_what_matters_in_it() {
    let noise = |from: usize| (from..from + 40).map(|at| format!("src/part{at}.rs is as it was")).collect::<Vec<_>>();
    let middle = |line: &str| [noise(0), vec![line.to_owned()], noise(50)].concat().join("\n");
    let cases = [
        (TextOrigin::Command, "error: linker `cc` not found", true),
        (TextOrigin::Command, "zsh:2: command not found: hk", true),
        (TextOrigin::Command, "14 passed; 0 failed", false),
        (TextOrigin::Dump, "error: linker `cc` not found", false),
        (TextOrigin::Dump, "./store.go:393:\tt.Fatalf(\"newSession: %v\", err)", false),
        (TextOrigin::Dump, "zsh:2: command not found: hk", true),
        (TextOrigin::Dump, "(eval):1: file exists: a.txt", true),
        (TextOrigin::Writing, "error: linker `cc` not found", false),
    ];
    for (origin, line, is_shown) in cases {
        let shown = show(&middle(line), 300, ExcerptFocus { origin, ..ExcerptFocus::default() });
        assert_eq!(shown.contains(line), is_shown, "{origin:?} {line}\n{shown}");
    }
    let written = show(&middle(""), 300, ExcerptFocus::default());
    assert!(written.matches("is as it was").count() > 4 && written.contains("part5.rs"), "{written}");
}

#[test]
fn the_loudest_complaint_comes_first_with_what_explains_it() {
    let mut lines: Vec<String> = (0..90).map(|at| format!("warning: unused variable `part{at}`")).collect();
    lines[20] = "note: this error could not be found".to_owned();
    lines[60] = "error[E0308]: mismatched types".to_owned();
    lines[61] = "  --> src/cart.rs:14:9".to_owned();
    let shown = shown(&lines.join("\n"), 160, &[]);
    assert!(shown.contains("error[E0308]: mismatched types\n  --> src/cart.rs:14:9\n"), "{shown}");
    assert!(!shown.contains("note: this"), "{shown}");
}

#[test]
fn long_lines_are_shown_by_their_beginnings() {
    let text: String = (0..9).map(|at| format!("./log{at}.jsonl:7:{}\n", "x".repeat(3000))).collect();
    let shown = shown(&text, 1300, &[]);
    for at in [0, 7, 8] {
        assert!(shown.contains(&format!("./log{at}.jsonl:7:xxx")), "{shown}");
    }
}

#[test]
fn rules_that_bear_on_what_failed_are_shown() {
    let rules = (0..90).map(|at| format!("- Write tests of part {at} and not found elsewhere."));
    let mut rules: Vec<String> = rules.collect();
    rules[50] = "- Run `hk install --mise` once.".to_owned();
    let error: BTreeSet<String> = lowercase_words("zsh:2: command not found: hk").collect();
    let wanted = ExcerptFocus { error: Some(&error), ..ExcerptFocus::default() };
    let shown = show(&rules.join("\n"), 300, wanted);
    assert!(shown.contains("hk install --mise") && shown.contains("part 0 "), "{shown}");
}

proptest! {
    #[test]
    fn nothing_is_made_up_or_lost(text in "([a-zé]{0,30}[ \n]){0,60}", limit in 0..600_usize, quote in "[a-zé ]{0,3}", origin in origin()) {
        let quotes = [quote.as_str()];
        let stretches = choose_excerpt(&text, limit, ExcerptFocus { quotes: &quotes, origin, ..ExcerptFocus::default() });
        let mut rest = text.as_str();
        for stretch in &stretches {
            rest = match stretch {
                ExcerptPart::Kept(kept) => rest.strip_prefix(kept).unwrap(),
                ExcerptPart::Gap { bytes, .. } => rest.split_at(*bytes).1,
            };
        }
        prop_assert_eq!(rest, "");
        if text.contains(&quote) {
            prop_assert!(stretches.iter().any(|stretch| matches!(stretch, ExcerptPart::Kept(kept) if kept.contains(&quote)))
                || quote.is_empty());
        }
    }
}
