use proptest::prelude::*;

use super::*;

#[test]
fn counts_as_the_vocabulary_does() {
    for (text, tokens) in [
        ("", 0),
        ("hello", 1),
        ("hello world", 2),
        ("\n", 1),
        ("<|endoftext|>", 7),
        ("fn main() {\n    println!(\"hi\");\n}\n", 10),
    ] {
        assert_eq!(Tokenizer::new().count_tokens(text), tokens, "{text:?}");
    }
}

#[test]
fn nothing_is_too_strange_to_count() {
    let tokenizer = Tokenizer::new();
    for unit in
        ["a", " ", "\n", "\t ", "_", "^", "7", "漢", "\u{301}", "é", "👩‍👩‍👧", "\r\n", "aB", " \u{3000}", "/\n", "'s"]
    {
        let text = unit.repeat(300_000 / unit.len());
        let tokens = tokenizer.count_tokens(&text);
        assert!(tokens > 0 && tokens <= text.len(), "{unit:?} gives {tokens}");
        let start = tokenizer.truncate_to_tokens(&text, 100);
        assert!(!start.is_empty() && tokenizer.count_tokens(start) <= 100, "{unit:?}");
    }
}

#[test]
fn a_prefix_fits_and_is_as_long_as_can_be() {
    let tokenizer = Tokenizer::new();
    let text = "one two three\nfour five six\n漢字 seven";
    assert_eq!(tokenizer.truncate_to_tokens(text, 0), "");
    assert_eq!(tokenizer.truncate_to_tokens(text, 2), "one two");
    assert_eq!(tokenizer.truncate_to_tokens(text, 5), "one two three\nfour");
    assert_eq!(tokenizer.truncate_to_tokens(text, 1000), text);
    assert_eq!(tokenizer.truncate_to_tokens("", 10), "");
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            3 => "[a-zA-Z]{1,12}",
            2 => Just(" ".to_owned()),
            2 => Just("\n".to_owned()),
            1 => "[ \t\r\n]{1,6}",
            1 => "[0-9]{1,8}",
            1 => "[-/.,:;#>§'\"…]{1,4}",
            1 => "\\PC{1,6}",
        ],
        0..80,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn pieces_cost_what_the_whole_costs(text in text()) {
        prop_assert_eq!(split_pieces(&text).collect::<String>(), text.clone());
        prop_assert_eq!(Tokenizer::new().count_tokens(&text), encoder().encode_ordinary(&text).len());
    }

    #[test]
    fn words_are_cut_where_the_encoder_cuts(text in text()) {
        let cut = word_end(&text).unwrap_or(0);
        let (before, after) = text.split_at(cut);
        let apart = encoder().count_ordinary(before) + encoder().count_ordinary(after);
        prop_assert_eq!(apart, encoder().count_ordinary(&text));
    }

    #[test]
    fn parts_that_begin_a_line_add_up(before in text(), after in text(), long in 0..3000_usize) {
        let before = format!("{before}{}\n", "x".repeat(long));
        let after = format!("§ {after}");
        let tokenizer = Tokenizer::new();
        prop_assert_eq!(
            tokenizer.count_tokens(&before) + tokenizer.count_tokens(&after),
            tokenizer.count_tokens(&format!("{before}{after}"))
        );
    }

    #[test]
    fn what_fits_fits(text in text(), times in 1..40_usize, max in 0..400_usize) {
        let text = text.repeat(times);
        let start = Tokenizer::new().truncate_to_tokens(&text, max);
        prop_assert!(text.starts_with(start));
        prop_assert!(Tokenizer::new().count_tokens(start) <= max);
    }
}
