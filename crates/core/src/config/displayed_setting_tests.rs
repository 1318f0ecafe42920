use proptest::prelude::*;
use serde_json::json;

use super::*;

fn setting(value: Value, secrecy: Secrecy) -> EffectiveSetting {
    EffectiveSetting { key: "model.apiKey".to_owned(), value, origin: SettingOrigin::Default, secrecy }
}

#[test]
fn a_secret_is_hidden_whatever_its_type() {
    let check = |value: Value, expected: Value| {
        let setting = setting(value, Secrecy::Secret);
        assert_eq!(setting.printable_value(), expected);
    };
    check(json!("sk-123"), json!("***"));
    check(json!(123), json!("***"));
    check(json!(["sk-123"]), json!("***"));
    check(json!(""), json!(""));
}

#[test]
fn credentials_are_hidden_in_any_value() {
    let check = |value: Value, expected: Value| {
        let setting = setting(value, Secrecy::Open);
        assert_eq!(setting.printable_value(), expected);
    };
    check(json!("postgres://me:pass@host/db"), json!("postgres://***@host/db"));
    check(json!("https://token@host/a"), json!("https://***@host/a"));
    check(json!("https://me:p@ss/word@host/a"), json!("https://***@host/a"));
    check(json!(["https://a:b@c"]), json!(["https://***@c"]));
    check(json!({"url": "https://a:b@c"}), json!({"url": "https://***@c"}));
    check(json!("https://host/v1?key=abc&v=2&flag"), json!("https://host/v1?key=***&v=***&flag"));
    check(json!("what? a=b"), json!("what? a=b"));
    check(json!("https://host/a"), json!("https://host/a"));
    check(json!("me@host"), json!("me@host"));
    check(json!(5), json!(5));
    check(json!(true), json!(true));
}

#[test]
fn debug_shows_no_more_than_shown() {
    let text = format!("{:?}", setting(json!("sk-123"), Secrecy::Secret));
    assert!(!text.contains("sk-123"), "{text}");
}

#[test]
fn an_origin_reads_like_words() {
    let check = |origin: SettingOrigin, expected: &str| assert_eq!(origin.to_string(), expected);
    check(SettingOrigin::Default, "built-in default");
    check(SettingOrigin::User("/h/c.toml".into()), "user file /h/c.toml");
    check(SettingOrigin::Project("/p/a.toml".into()), "project file /p/a.toml");
    check(SettingOrigin::ProjectJson("/p/p.json".into()), "key `archivist` of project file /p/p.json");
    check(SettingOrigin::Given("/x.toml".into()), "given file /x.toml");
    check(SettingOrigin::Environment("ARCHIVIST__ENABLED".to_owned()), "environment variable ARCHIVIST__ENABLED");
    check(SettingOrigin::Flag("memory.dir".to_owned()), "command-line flag for memory.dir");
}

proptest! {
    #[test]
    fn no_password_survives(user in ".*", password in ".{0,9}S3CRET.{0,9}", host in "[a-z]{1,9}") {
        let shown = hide_userinfo(&format!("https://{user}:{password}@{host}/path"));
        prop_assert!(!shown.contains("S3CRET"), "{}", shown);
        prop_assert_eq!(hide_userinfo(&shown), shown);
    }
}
