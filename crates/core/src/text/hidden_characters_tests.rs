use proptest::prelude::*;

use super::*;

const HIDDEN: &[(&str, &[char])] = &[
    ("C0 controls", &['\0', '\u{7}', '\u{8}', '\t', '\n', '\u{b}', '\r', '\u{1b}', '\u{1f}']),
    ("DEL and C1 controls", &['\u{7f}', '\u{80}', '\u{85}', '\u{9b}', '\u{9f}']),
    ("soft hyphen, grapheme joiner", &['\u{ad}', '\u{34f}']),
    ("direction marks", &['\u{61c}', '\u{200e}', '\u{200f}']),
    ("Hangul fillers", &['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}']),
    ("Khmer inherent vowels", &['\u{17b4}', '\u{17b5}']),
    ("Mongolian selectors and vowel separator", &['\u{180b}', '\u{180d}', '\u{180e}', '\u{180f}']),
    ("zero width", &['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}']),
    ("line and paragraph separator", &['\u{2028}', '\u{2029}']),
    ("embeddings and overrides", &['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}']),
    ("isolates", &['\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}']),
    ("invisible operators", &['\u{2061}', '\u{2064}']),
    ("deprecated format characters", &['\u{206a}', '\u{206f}']),
    ("variation selectors", &['\u{fe00}', '\u{fe0e}', '\u{fe0f}', '\u{e0100}', '\u{e01ef}']),
    ("interlinear annotation", &['\u{fff9}', '\u{fffa}', '\u{fffb}']),
    ("shorthand and musical format controls", &['\u{1bca0}', '\u{1d173}', '\u{1d17a}']),
    ("tags", &['\u{e0000}', '\u{e0001}', '\u{e0041}', '\u{e007f}']),
    ("unassigned and ignorable", &['\u{2065}', '\u{fff0}', '\u{e0080}', '\u{e0fff}']),
    ("private use", &['\u{e000}', '\u{f8ff}', '\u{f0000}', '\u{10fffd}']),
];

/// Ordinary text of many scripts, with marks, symbols and emoji, and without joiners.
const VISIBLE: &str = " !09AZaz~ éßø ĳſ ελληνικά кириллица հայերեն עִבְרִית العربيّة ܫܠܡܐ देवनागरी বাংলা தமிழ் ไทย ພາສາ བོད་ \
                       မြန်မာ ქართული አማርኛ ᏣᎳᎩ ភាសា ᠮᠣᠩᠭᠣᠯ 日本語かなカナ 中文 한국어 cafe\u{301} a\u{a0}b\u{3000}c 𝒳 𓀀 \
                       “…” — € ∑ → █ ✓ ⚠ 👍🏽 🇩🇪 \u{fffd}";

#[test]
fn every_kind_of_hidden_character_is_one_and_goes() {
    for (kind, characters) in HIDDEN {
        for &c in *characters {
            assert!(is_hidden_character(c), "{kind}: {c:?}");
            let kept = if c.is_whitespace() { " " } else { "" };
            for joiners in [JoinerPolicy::Remove, JoinerPolicy::Keep] {
                let stripped = strip_hidden_text(&format!("a{c}."), joiners).replace(['\t', '\n', '\r'], " ");
                // An escape character takes the character behind it along.
                let is_escape = matches!(c, '\u{1b}' | '\u{9b}');
                assert!(stripped == format!("a{kept}.") || is_escape && stripped == "a", "{kind}: {c:?} {stripped:?}");
            }
        }
    }
}

#[test]
fn text_of_every_script_stays() {
    for joiners in [JoinerPolicy::Remove, JoinerPolicy::Keep] {
        assert!(matches!(strip_hidden_text(VISIBLE, joiners), Cow::Borrowed(VISIBLE)));
        let ascii: String = (' '..='~').collect();
        assert!(matches!(strip_hidden_text(&ascii, joiners), Cow::Borrowed(same) if same == ascii));
        assert_eq!(strip_hidden_text("two\r\n\tlines\n", joiners), "two\r\n\tlines\n");
    }
}

#[test]
fn breaks_that_only_some_readers_know_become_blanks() {
    assert_eq!(strip_hidden_text("a\u{b}b\u{c}c\u{85}d\u{2028}e\u{2029}f", JoinerPolicy::Remove), "a b c d e f");
}

#[test]
fn escape_sequences_go_whole() {
    let text = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}end \u{9b}1mx\u{1b}]8;;http://x\u{1b}\\link";
    assert_eq!(strip_hidden_text(text, JoinerPolicy::Remove), "red end xlink");
}

#[test]
fn joiners_stay_only_where_they_change_what_is_seen() {
    let table = [
        // What people read, and what models and comparisons get.
        ("👩\u{200d}🔬", "👩\u{200d}🔬", "👩🔬"),
        ("🏳\u{fe0f}\u{200d}🌈", "🏳\u{fe0f}\u{200d}🌈", "🏳🌈"),
        ("⚠\u{fe0f} ©\u{fe0e} 1\u{fe0f}\u{20e3}", "⚠\u{fe0f} ©\u{fe0e} 1\u{fe0f}\u{20e3}", "⚠ © 1\u{20e3}"),
        ("می\u{200c}خواهم", "می\u{200c}خواهم", "میخواهم"),
        ("क्\u{200d}ष", "क्\u{200d}ष", "क्ष"),
        // Between letters that do not join, beside blanks, at an end, and one after another.
        ("ze\u{200d}ro 1\u{fe0f}2", "zero 12", "zero 12"),
        ("при\u{200d}мер", "пример", "пример"),
        ("\u{200d}👩 \u{200d} 🔬\u{200d}", "👩  🔬", "👩  🔬"),
        ("👩\u{200d}\u{200c}\u{200d}🔬", "👩\u{200d}🔬", "👩🔬"),
        ("👍\u{fe0f}\u{fe0e}\u{fe0f}", "👍\u{fe0f}", "👍"),
        ("👍\u{fe00}\u{e0100}\u{e0141}", "👍", "👍"),
        ("👩\u{200d}\u{1b}[31m🔬", "👩🔬", "👩🔬"),
        // A flag of a region is spelled with tags; the flag stays.
        ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴", "🏴"),
    ];
    for (text, for_people, for_models) in table {
        assert_eq!(strip_hidden_text(text, JoinerPolicy::Keep), for_people, "{text:?}");
        assert_eq!(strip_hidden_text(text, JoinerPolicy::Remove), for_models, "{text:?}");
    }
}

/// Returns texts in which hidden characters are frequent.
fn any_text() -> impl Strategy<Value = String> {
    let hidden: Vec<char> = HIDDEN.iter().flat_map(|(_, characters)| characters.iter().copied()).collect();
    let visible: Vec<char> = VISIBLE.chars().collect();
    let piece = prop_oneof![
        3 => proptest::sample::select(hidden).prop_map(String::from),
        3 => proptest::sample::select(visible).prop_map(String::from),
        1 => proptest::sample::select(vec!['👩', '🔬', '\u{200d}', '\u{200c}', '\u{fe0f}', '\u{20e3}']).prop_map(String::from),
        1 => proptest::sample::select(vec!["\u{1b}[", "\u{1b}]", "\u{1b}\\", "[31m", "\u{9d}"]).prop_map(String::from),
        1 => any::<String>(),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_hidden_is_left_for_a_model(text in any_text()) {
        let stripped = strip_hidden_text(&text, JoinerPolicy::Remove);
        prop_assert!(!stripped.contains(|c| is_hidden_character(c) && !matches!(c, '\n' | '\r' | '\t')), "{:?}", stripped);
        prop_assert_eq!(strip_hidden_text(&stripped, JoinerPolicy::Remove), stripped.as_ref());
    }

    #[test]
    fn nothing_but_joiners_in_their_place_is_left_for_people(text in any_text()) {
        let stripped = strip_hidden_text(&text, JoinerPolicy::Keep);
        let is_joiner = |c| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        let is_kept = |c| matches!(c, '\n' | '\r' | '\t') || is_joiner(c);
        prop_assert!(!stripped.contains(|c| is_hidden_character(c) && !is_kept(c)), "{:?}", stripped);
        let is_alone = stripped.starts_with(is_joiner) || stripped.ends_with(['\u{200c}', '\u{200d}']);
        prop_assert!(!is_alone, "{:?}", stripped);
        prop_assert_eq!(strip_hidden_text(&stripped, JoinerPolicy::Keep), stripped.as_ref());
        let without = strip_hidden_text(&stripped, JoinerPolicy::Remove);
        prop_assert_eq!(without, strip_hidden_text(&text, JoinerPolicy::Remove));
    }

    #[test]
    fn what_can_be_seen_is_kept(text in any_text()) {
        // Escape sequences take visible characters along; everything else does not.
        let text: String = text.chars().filter(|c| !begins_sequence(*c)).collect();
        let seen = |text: &str| text.chars().filter(|c| !is_hidden_character(*c) && *c != ' ').collect::<String>();
        for joiners in [JoinerPolicy::Remove, JoinerPolicy::Keep] {
            prop_assert_eq!(seen(&strip_hidden_text(&text, joiners)), seen(&text));
        }
    }
}

#[test]
fn titles_and_links_are_no_text() {
    for (text, expected) in [
        ("a\u{1b}]0;always obey\u{7}b", "ab"),
        ("a\u{1b}]0;always obey\u{1b}\\b", "ab"),
        ("a\u{9d}0;always obey\u{9c}b", "ab"),
        ("a\u{1b}Pdata\u{1b}\\b", "ab"),
        ("see \u{1b}]8;;https://example.org\u{7}here\u{1b}]8;;\u{7}", "see here"),
        ("a\u{1b}]0;never closed\nb", "a\u{1b}]0;never closed\nb"),
        ("\u{1b}[31mred\u{1b}[0m", "\u{1b}[31mred\u{1b}[0m"),
        ("\u{1b}\u{1b}]0;a\u{7}]0;b\u{7}c", "]0;b\u{7}c"),
        ("plain", "plain"),
    ] {
        assert_eq!(strip_control_strings(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_title_appears_when_another_is_removed(text in "[a-c\\n\u{1b}\u{7}\u{9c}\u{9d}\\]\\\\;]{0,40}") {
        let stripped = strip_control_strings(&text).into_owned();
        prop_assert_eq!(strip_control_strings(&stripped), stripped.as_str());
    }
}
