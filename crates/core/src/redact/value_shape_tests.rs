use super::{is_code, is_location, is_mask, is_placeholder, is_random, is_uuid, shannon_entropy};

#[test]
fn entropy_counts_bits() {
    assert!(shannon_entropy("aaaa").abs() < 1e-9);
    assert!((shannon_entropy("abcd") - 2.0).abs() < 1e-9);
}

#[test]
fn random_is_what_nobody_writes() {
    for value in ["9ny9lk4q34oqxm2en", "hijnlh034by29l", "suoViWpQdbsgxl", "b4d7cf14ef769d0a2efa41809e03efd4"] {
        assert!(is_random(value), "{value}");
    }
    for value in
        ["requiredCharacteristicTypes", "sha256_of_utf8_v2", "getUserById", "hello world", "password", "12345678"]
    {
        assert!(!is_random(value), "{value}");
    }
}

#[test]
fn placeholders_stand_for_secrets() {
    for value in [
        "xxxxxxxx",
        "********",
        "<your-token>",
        "${TOKEN}",
        "$TOKEN",
        "{{ token }}",
        "changeme",
        "your_api_key",
        "example",
        "null",
        "true",
        "string",
        "%s",
        "insert_key_here",
        "MY_SECRET_NAME",
        "sk-...",
        "{token}",
        "[PASSWORD]",
    ] {
        assert!(is_placeholder(value), "{value}");
    }
    for value in ["hunter2", "correct horse", "P@ssw0rd", "m{{h}o)p${e]nob"] {
        assert!(!is_placeholder(value), "{value}");
    }
}

#[test]
fn code_is_no_literal() {
    for value in ["parser.next()", "os.environ[", "&self.token", "Option<String>", "std::env", "self.secret", "$(cat"] {
        assert!(is_code(value), "{value}");
    }
    for value in ["hunter2", "Tr0ub4dor&3", "abc-def"] {
        assert!(!is_code(value), "{value}");
    }
}

#[test]
fn masks_locations_and_uuids() {
    assert!(is_mask("AKIAxxxxxxxxxx"));
    assert!(!is_mask("a7Kq2Wz9"));
    assert!(is_location("/etc/ssl/key.pem"));
    assert!(is_location("tests/ui/pass.rs"));
    assert!(!is_location("wJa1rXUtn/K7MD3NG/bPx8Rfi"));
    assert!(is_uuid("743b294a-cd03-11ec-9d64-0242ac120002"));
    assert!(!is_uuid("743b294a-cd03-11ec-9d64-0242ac12000"));
}
