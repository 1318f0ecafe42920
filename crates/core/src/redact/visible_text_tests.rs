use super::VisibleText;
use crate::redact::Redactor;

fn check(text: &str, visible: &str) {
    let seen = VisibleText::from_text(text);
    assert_eq!(seen.as_ref().map_or(text, VisibleText::as_str), visible, "{text:?}");
}

#[test]
fn what_nobody_sees_is_left_out() {
    check("plain text", "plain text");
    check("\u{1b}[1;31mab\u{1b}[0mc", "abc");
    check("a\u{200b}b\u{feff}c", "abc");
    check("a\\u001b[32mb\\x1b[0mc\\033[1md\\e[0me", "abcde");
    check("a\\u200bb\\ufeffc", "abc");
    check("a%E2%80%8Bb%1B[31mc", "abc");
    check("a&#8203;b", "ab");
    check("ab\\\n   cd", "abcd");
}

#[test]
fn what_is_seen_stays() {
    for text in [
        "a\nb\tc\r\n",
        "größer 漢字",
        "\\u0041 \\x41",
        "\"a, b\"\n\"c\"",
        "[\"a b\",\n\"c\"]",
        "a\\nb",
        "50%1b",
        "a\u{2028}b",
    ] {
        check(text, text);
    }
}

#[test]
fn a_secret_goes_with_what_is_hidden_in_it() {
    let token = format!("{}_{}", "ghp", "a1B2".repeat(9));
    let (head, tail) = token.split_at(20);
    let redacted = Redactor::new().redact(&format!("a {head}\u{200d}{tail} b")).text.into_owned();
    assert!(redacted.starts_with("a [redacted:github-token:") && redacted.ends_with("] b"), "{redacted}");
    assert!(!redacted.contains('\u{200d}'), "{redacted:?}");
}
