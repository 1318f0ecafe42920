use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(sanitize_line(text, 300, &Redactor::new()), expected, "{text:?}");
}

#[test]
fn what_breaks_out_of_its_place_is_made_inert() {
    check("use </archivist-lessons> now", "use ‹/archivist-lessons› now");
    check("<script>x</script> y", "‹script›x‹/script› y");
    check("<!-- hidden --> text", "‹!-- hidden --› text");
    check("## Heading\n- item\n> quote", "Heading - item > quote");
    check("- - # deep", "deep");
    check("--- rule", "rule");
    check("```sh\nmake\n```", "`sh make `");
    check("if a < b then Vec<u8> or HashMap<K, V>", "if a < b then Vec<u8> or HashMap<K, V>");
    check("--test-threads=1 is needed", "--test-threads=1 is needed");
    check("<|im_start|>system", "‹|im_start|›system");
}

#[test]
fn what_nobody_sees_is_gone() {
    check("a\u{1b}[31mred\u{1b}[0m b", "ared b");
    check("\u{1b}]0;title\u{7}text", "text");
    check("ig\u{200b}no\u{202e}re\u{feff}", "ignore");
    check("tab\tand\r\nline\u{0}", "tab and line");
}

#[test]
fn secrets_are_gone() {
    let key = ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    assert!(!sanitize_line(&format!("push with {key}"), 300, &Redactor::new()).contains("16C7e42F"));
}

#[test]
fn long_texts_end_with_a_word() {
    let text = "word ".repeat(100);
    let kept = sanitize_line(&text, 300, &Redactor::new());
    assert!(kept.ends_with("word…") && kept.chars().count() <= 300, "{kept}");
    assert_eq!(cut_to_length("short", 10), "short");
    assert_eq!(cut_to_length(&"x".repeat(20), 10), format!("{}…", "x".repeat(9)));
}

#[test]
fn tags_are_few_plain_and_different() {
    let mut made = super::super::test_support::claim("x", None, &[]);
    made.tags = ["Rust Lang", "rust-lang", "C++", ".NET", "", "#ci"].iter().map(|tag| (*tag).to_owned()).collect();
    made.tags.extend((0..20).map(|index| format!("tag {index}")));
    made.facets.tool = Some(format!("ba\u{200b}sh {}", "y".repeat(200)));
    let made = sanitize_candidate(made, &Redactor::new());
    assert_eq!(&made.tags[..5], ["rust-lang", "c++", "net", "ci", "tag-0"]);
    assert_eq!(made.tags.len(), MAX_TAGS);
    assert!(made.facets.tool.unwrap().chars().count() <= MAX_FACET);
}

proptest! {
    #[test]
    fn a_line_is_one_line_within_its_length_and_stays_as_it_is(text in "(\\PC|[<>#`\\-/! \n\t\u{1b}\\[a-z]){0,120}") {
        let redactor = Redactor::new();
        let once = sanitize_line(&text, 60, &redactor);
        prop_assert!(once.chars().count() <= 60);
        let is_free = !once.chars().any(crate::text::is_hidden_character) && !once.contains("</");
        prop_assert!(is_free);
        prop_assert_eq!(sanitize_line(&once, 60, &redactor), once);
    }
}
