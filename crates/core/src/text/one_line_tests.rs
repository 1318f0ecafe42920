use super::*;

#[test]
fn whatever_a_text_holds_it_is_one_line() {
    check_one_line("two\nlines\r\nand\ttabs", "two lines and tabs");
    check_one_line("\u{1b}[31mred\u{1b}[0m \u{7}bell", "red bell");
    check_one_line("a\u{2028}b\u{2029}c\u{85}d\u{202e}e", "a b c de");
    check_one_line("ze\u{200b}ro tagged\u{e0041}\u{e0042}", "zero tagged");
    check_one_line("👩\u{200d}🔬 stays whole", "👩\u{200d}🔬 stays whole");
    check_one_line(" \n ", "");
}

fn check_one_line(text: &str, expected: &str) {
    assert_eq!(one_line(text), expected);
}
