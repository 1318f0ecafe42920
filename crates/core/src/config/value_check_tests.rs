use config::Value as Found;
use proptest::prelude::*;

use super::*;

const PLAIN: ConfigKey = ConfigKey {
    key: "name",
    default: DefaultValue::Text(""),
    secrecy: Secrecy::Open,
    setters: KeySetters::Anyone,
    kind: ConfigValueKind::Text,
    choices: &[],
    least: None,
    above: None,
    most: None,
    fewest_chars: 0,
};

const KEYS: ConfigKeys = ConfigKeys {
    leaves: &[
        ConfigKey { key: "count", kind: ConfigValueKind::Integer, least: Some(1.0), most: Some(9.0), ..PLAIN },
        ConfigKey { key: "days", kind: ConfigValueKind::Number, above: Some(0.0), most: Some(9.0), ..PLAIN },
        ConfigKey { key: "free", kind: ConfigValueKind::Number, ..PLAIN },
        ConfigKey { key: "mode", choices: &["durable", "lazy"], ..PLAIN },
        ConfigKey { key: "model.apiKey", secrecy: Secrecy::Secret, ..PLAIN },
        PLAIN,
        ConfigKey { key: "on", kind: ConfigValueKind::Boolean, ..PLAIN },
        ConfigKey { key: "path", fewest_chars: 1, ..PLAIN },
        ConfigKey { key: "share", kind: ConfigValueKind::Number, least: Some(0.0), most: Some(1.0), ..PLAIN },
    ],
};

fn leaf(key: &str) -> &'static ConfigKey {
    match KEYS.look_up_path(key) {
        KeyLookup::Leaf(leaf) => leaf,
        KeyLookup::Section | KeyLookup::Unknown => panic!("{key} is no key"),
    }
}

fn check_accepted(key: &str, value: impl Into<ValueKind>, expected: impl Into<ValueKind>) {
    let accepted = leaf(key).check_value(value.into(), &SettingOrigin::Default);
    assert_eq!(accepted, Ok(expected.into()), "{key}");
}

fn check_refused(key: &str, value: impl Into<ValueKind>, expected: &str) {
    let refused = leaf(key).check_value(value.into(), &SettingOrigin::Default);
    let problem = refused.expect_err("must be refused");
    assert_eq!(problem.message, format!("{expected} in built-in default"));
}

#[test]
fn values_of_the_right_type_and_range() {
    check_accepted("on", true, true);
    check_accepted("count", 1_i64, 1_i64);
    check_accepted("count", 9_u64, 9_u64);
    check_accepted("share", 0.0, 0.0);
    check_accepted("share", 1_i64, 1.0);
    check_accepted("days", 0.001, 0.001);
    check_accepted("free", -1e9, -1e9);
    check_accepted("name", "", "");
    check_accepted("path", "ä", "ä");
    check_accepted("mode", "lazy", "lazy");
}

#[test]
fn values_of_the_wrong_type() {
    check_refused("on", "yes", "`on` must be true or false, found the string \"yes\"");
    check_refused("on", 1_i64, "`on` must be true or false, found the whole number 1");
    check_refused("count", 5.0, "`count` must be a whole number from 1 to 9, found the number 5.0");
    check_refused("count", "5", "`count` must be a whole number from 1 to 9, found the string \"5\"");
    check_refused("share", true, "`share` must be a number from 0 to 1, found the boolean true");
    check_refused("name", 5_i64, "`name` must be a string, found the whole number 5");
    check_refused("name", ValueKind::Nil, "`name` must be a string, found null");
    check_refused("name", Vec::<Found>::new(), "`name` must be a string, found a list");
    check_refused("name", config::Map::<String, Found>::new(), "`name` must be a string, found a section");
}

#[test]
fn values_out_of_range() {
    check_refused("count", 0_i64, "`count` must be a whole number from 1 to 9, found the whole number 0");
    check_refused(
        "count",
        u64::MAX,
        &format!("`count` must be a whole number from 1 to 9, found the whole number {}", u64::MAX),
    );
    check_refused("share", 1.5, "`share` must be a number from 0 to 1, found the number 1.5");
    check_refused("days", 0_i64, "`days` must be a number above 0, at most 9, found the number 0.0");
    check_refused("free", f64::NAN, "`free` must be a number, found the number NaN");
    check_refused("free", f64::INFINITY, "`free` must be a number, found the number inf");
    check_refused("path", "", "`path` must be a string that is not empty, found the string \"\"");
    check_refused("mode", "Durable", "`mode` must be \"durable\" or \"lazy\", found the string \"Durable\"");
}

#[test]
fn what_was_found_is_shown_without_secrets_and_in_one_short_line() {
    check_refused("model.apiKey", 5_i64, "`model.apiKey` must be a string, found a whole number");
    check_refused(
        "mode",
        "https://me:pw@host",
        "`mode` must be \"durable\" or \"lazy\", found the string \"https://***@host\"",
    );
    check_refused("mode", "a\nb", "`mode` must be \"durable\" or \"lazy\", found the string \"a\\nb\"");
    let long = format!("`mode` must be \"durable\" or \"lazy\", found the string \"{}…\"", "x".repeat(60));
    check_refused("mode", "x".repeat(99), &long);
}

#[test]
fn a_choice_has_a_nearest_choice() {
    let check = |value: &str, expected: Option<&str>| {
        let refused = leaf("mode").check_value(ValueKind::from(value), &SettingOrigin::Default);
        assert_eq!(refused.expect_err("must be refused").hint.as_deref(), expected, "{value}");
    };
    check("Durable", Some("did you mean \"durable\"?"));
    check("lasy", Some("did you mean \"lazy\"?"));
    check("whatever", None);
}

#[test]
fn text_is_read_in_the_type_of_the_key() {
    let check = |key: &str, text: &str, expected: ValueKind| {
        assert_eq!(leaf(key).parse_text(text), expected, "{key} {text:?}");
    };
    for (text, truth) in [("true", true), ("TRUE", true), ("1", true), ("on", true), (" no ", false), ("0", false)] {
        check("on", text, ValueKind::Boolean(truth));
    }
    check("on", "maybe", ValueKind::from("maybe"));
    check("count", " 5\n", ValueKind::I64(5));
    check("count", "5.0", ValueKind::from("5.0"));
    check("share", "1", ValueKind::Float(1.0));
    check("share", ".5", ValueKind::Float(0.5));
    check("name", " 5 ", ValueKind::from(" 5 "));
    check("name", "true", ValueKind::from("true"));
}

#[test]
fn a_path_names_a_key_a_section_or_nothing() {
    assert!(matches!(KEYS.look_up_path("model.apiKey"), KeyLookup::Leaf(leaf) if leaf.secrecy == Secrecy::Secret));
    assert!(matches!(KEYS.look_up_path("name"), KeyLookup::Leaf(leaf) if leaf.secrecy == Secrecy::Open));
    assert!(matches!(KEYS.look_up_path("model"), KeyLookup::Section));
    for path in ["", "mod", "model.", "model.apikey", "name.more", "."] {
        assert!(matches!(KEYS.look_up_path(path), KeyLookup::Unknown), "{path}");
    }
}

proptest! {
    #[test]
    fn accepted_integers_and_numbers_are_in_range(integer in any::<i64>(), number in any::<f64>()) {
        let accepts = |key: &str, value: ValueKind| leaf(key).check_value(value, &SettingOrigin::Default).is_ok();
        prop_assert_eq!(accepts("count", ValueKind::I64(integer)), (1..=9).contains(&integer));
        prop_assert_eq!(accepts("share", ValueKind::Float(number)), (0.0..=1.0).contains(&number));
    }
}
