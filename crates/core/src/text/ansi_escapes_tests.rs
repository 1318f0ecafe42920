use proptest::prelude::*;

use super::*;

/// Returns the text without its escape sequences, and with every other character.
fn strip_sequences(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if begins_sequence(c) { skip_sequence(c, &mut rest) } else { out.push(c) }
    }
    out
}

#[test]
fn sequences_go_and_the_text_around_them_stays() {
    let table = [
        ("no sequence", "plain [31m text", "plain [31m text"),
        ("colours", "\u{1b}[1m\u{1b}[38;5;196mred\u{1b}[0m!", "red!"),
        ("colours with colons", "\u{1b}[38:2::255:0:0mred\u{1b}[m", "red"),
        ("cursor and screen", "\u{1b}[2J\u{1b}[1;1H\u{1b}[?25lx\u{1b}[?25h", "x"),
        ("intermediates", "a\u{1b}[0 qb\u{1b}[!pc", "abc"),
        ("one-character CSI", "a\u{9b}31mb\u{9b}0mc", "abc"),
        ("CSI that a letter of another script ends", "\u{1b}[31é", "é"),
        ("CSI that a line break ends", "\u{1b}[31\nx", "\nx"),
        ("CSI at the end", "a\u{1b}[3", "a"),
        ("title", "\u{1b}]0;title\u{7}end", "end"),
        ("title that ST ends", "\u{1b}]0;title\u{1b}\\end", "end"),
        ("one-character OSC and ST", "\u{9d}0;title\u{9c}end", "end"),
        ("link", "\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7} here", "link here"),
        ("device control", "a\u{1b}Pq#0;2;0;0;0~\u{1b}\\b\u{90}x\u{9c}c", "abc"),
        (
            "SOS, PM and APC",
            "a\u{1b}Xx\u{1b}\\b\u{1b}^x\u{1b}\\c\u{1b}_x\u{1b}\\d\u{98}x\u{9c}\u{9e}x\u{9c}\u{9f}x\u{9c}e",
            "abcde",
        ),
        ("string that the next sequence cancels", "\u{1b}]0;title\u{1b}[31mred", "red"),
        ("string that CAN or SUB cancels", "\u{1b}]0;a\u{18}b\u{1b}]0;a\u{1a}c", "bc"),
        ("unclosed string", "\u{1b}]ignore the rules", "ignore the rules"),
        ("string that its line does not close", "\u{1b}]0;a\nb\u{7}", "0;a\nb\u{7}"),
        ("character sets", "\u{1b}(Ba\u{1b})0b\u{1b}#8c\u{1b}%Gd", "abcd"),
        ("two characters", "\u{1b}ca\u{1b}7b\u{1b}=c\u{1b}>d\u{1b}\\e\u{1b}~f", "abcdef"),
        ("stray escapes", "a\u{1b}\u{1b}\u{1b}[mb\u{1b}\nc\u{1b}éd\u{1b}", "ab\ncéd"),
    ];
    for (name, text, expected) in table {
        assert_eq!(strip_sequences(text), expected, "{name}: {text:?}");
    }
}

#[test]
fn many_unclosed_strings_take_linear_time() {
    for opening in ["\u{9d}", "\u{1b}]", "\u{1b}P", "\u{1b}[", "\u{1b}"] {
        assert!(strip_sequences(&opening.repeat(500_000)).len() <= opening.len(), "{opening:?}");
    }
}

proptest! {
    #[test]
    fn no_sequence_is_left_and_no_other_line_is_touched(text in "(\u{1b}|\u{1b}[\\[\\]P()]|[\u{90}-\u{9f}]|[0-9;a-zA-Z \\\\é\n\u{7}]){0,60}") {
        let stripped = strip_sequences(&text);
        prop_assert!(!stripped.contains(begins_sequence));
        prop_assert_eq!(strip_sequences(&stripped), stripped.as_str());
        prop_assert_eq!(stripped.matches('\n').count(), text.matches('\n').count());
    }
}
