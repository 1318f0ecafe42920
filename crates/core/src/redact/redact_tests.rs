use std::borrow::Cow;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::{Redactor, redaction_mark, value_shape};

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

fn redact(text: &str) -> String {
    REDACTOR.redact(text).text.into_owned()
}

/// Every `‹secret›` is taken out and nothing else.
fn check(marked: &str) {
    let text = marked.replace(['‹', '›'], "");
    let found = REDACTOR.redact(&text).found;
    let secrets: Vec<&str> = found.iter().map(|finding| text.get(finding.span.clone()).unwrap_or_default()).collect();
    let expected: Vec<&str> =
        marked.split('‹').skip(1).map(|rest| rest.split('›').next().unwrap_or_default()).collect();
    assert_eq!(secrets, expected, "{marked}");
}

#[test]
fn clean_text_is_borrowed() {
    let redactor = Redactor::new();
    let redacted = redactor.redact("cargo test -p archivist");
    assert!(matches!(redacted.text, Cow::Borrowed(_)));
    assert!(redacted.found.is_empty());
}

#[test]
fn the_same_secret_gives_the_same_mark() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let text = redact(&format!("first {token} then {token}"));
    let marks: Vec<&str> =
        redaction_mark::find_marks(&text).into_iter().map(|span| text.get(span).unwrap_or_default()).collect();
    assert_eq!(marks.len(), 2);
    assert_eq!(marks[0], marks[1]);
    assert!(marks[0].starts_with("[redacted:github-token:"), "{}", marks[0]);
}

#[test]
fn a_secret_found_once_is_taken_out_everywhere() {
    check("password=‹hun7er2Kx9q›\nlater someone wrote ‹hun7er2Kx9q› alone");
}

#[test]
fn key_blocks() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2);
    for name in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let dashes = "-".repeat(5);
        check(&format!("a\n‹{dashes}BEGIN {name}{dashes}\n{body}\n{dashes}END {name}{dashes}›\nb"));
        check(&format!("\"‹{dashes}BEGIN {name}{dashes}\\n{body}\\n{dashes}END {name}{dashes}›\\n\""));
        check(&format!("‹{dashes}BEGIN {name}{dashes}\n{body}›"));
    }
    let dashes = "-".repeat(5);
    let certificate = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ";
    check(&format!("{dashes}BEGIN CERTIFICATE{dashes}\n{certificate}\n{dashes}END CERTIFICATE{dashes}"));
    let public = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo";
    check(&format!("{dashes}BEGIN PUBLIC KEY{dashes}\n{public}\n{dashes}END PUBLIC KEY{dashes}"));
    check(&format!("Private-Lines: 1\n‹{body}\n›Private-MAC: 00"));
}

#[test]
fn a_key_cut_at_its_end_goes_as_far_as_it_looks_like_one() {
    let dashes = "-".repeat(5);
    let row = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let head = format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}");
    check(&format!("a\n‹{head}\n{row}\n{row}\nMIIEvQ›\n[output cut]\nand then it went on"));
    check(&format!("‹{head}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n\n{row}\n{row}›"));
    check(&format!("\"‹{head}\\n{row}\\n{row}›\" and then"));
    let certificate = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ";
    check(&format!("‹{head}\n{row}›\n\n{dashes}BEGIN CERTIFICATE{dashes}\n{certificate}"));
    check(&format!("a file that begins with {head} is a key"));
}

#[test]
fn a_key_cut_at_its_beginning_goes_back_as_far() {
    let dashes = "-".repeat(5);
    let row = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let tail = format!("{dashes}END PRIVATE KEY{dashes}");
    check(&format!("‹QIBADANBgkqhkiG9w0BA\n{row}\n{row}\nMIIEvQ==\n{tail}›\nb"));
    check(&format!("[cut] ‹{row}\n{row}\n{tail}›"));
    check(&format!("‹{row}\\n{row}\\n{tail}›\\n\""));
    check(&format!("look for {tail} in the file"));
    let certificate = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ";
    check(&format!("{certificate}\n{dashes}END CERTIFICATE{dashes}"));
    check(&format!("the first line is ‹{row}›"));
}

#[test]
fn many_secrets_go_wherever_they_stand() {
    let secret = |n: u64| format!("{:x}Kq{n}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let secrets: Vec<String> = (1..2000).map(secret).filter(|secret| value_shape::is_random(secret)).collect();
    assert!(secrets.len() > 1900);
    let named: String = secrets.iter().map(|secret| format!("password={secret}\n")).collect();
    let bare: String = secrets.iter().map(|secret| format!("({secret})\n")).collect();
    let redacted = redact(&format!("{named}{bare}"));
    assert!(secrets.iter().all(|secret| !redacted.contains(secret)), "a secret is left");
}

#[test]
fn tokens_known_by_their_middle() {
    let tail = "9C-_Ij~RouHVpD2Tuf3oHWGh.DQ3kcjbAn";
    check(&format!("secret ‹QtT8Q~{tail}›"));
    check("~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
    check(&format!("bot‹110201543:AA{}›/send", "HdqTcvCH1vGWJxfSe1ofSAs0K5PALDsaw"));
    check("arn:aws:sns:aaa:111122223333:aaaaaaaaaaaaaaaaaaassssssddddddddddddd");
    check(&format!("‹hE1hlYILrSqpqh.atlasv1.{}›", "ARjZuyzl33F71WR55s6ln5GQ1HWIwTDDH3MiRjz7Onp"));
    check(&format!("‹sha256~{}›", "kV46hPnEYhCWFnB85r5NrprAxggzgb6GOeLbgcKNsH0"));
    check(&format!("sha256:{}", "9f86d081884c7d659a2feaa0c55ad015"));
}

#[test]
fn hashes_of_passwords() {
    check(&format!("‹$2b$12${}›", "KIXQ4h5b6c7d8e9f0g1h2uABCDEFGHIJKLMNOPQRSTUVWXYZabcde"));
    check(&format!("root:‹$6$salt${}›:18000:0", "hEOY3Zk9Jd8Vn5Qm2Lx7Wb4Ra6Tc1Ye0Pi9Uo8Ss"));
    check(&format!("bob:‹{{SHA}}{}›", "2vb/sdTOyXGoKBh2O9EdOmGpfbQ="));
    check(&format!("enable secret 5 ‹$1$abcd${}›", "uXnOlpoqiXhDybvLi7HLOO"));
    check("echo $1$2 $6$");
}

#[test]
fn what_survives() {
    for text in [
        "commit 3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c5d4e3f2a",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
        "\"session_id\": \"743b294a-cd03-11ec-9d64-0242ac120002\"",
        "{\"type\":\"tool_use\",\"id\":\"toolu_01A9B8C7D6E5F4G3H2J1K0Lm\",\"name\":\"Bash\"}",
        "\"integrity\": \"sha512-q1w2e3r4t5y6u7i8o9p0aSdFgHjKlZxCvBnM1234567890abcdefQWERTYUIOP==\"",
        "target/debug/deps/libserde_json-3f9a1c0b5d7e8f6a.rlib",
        "/home/u/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/serde-1.0.228",
        "key: 3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c5d4e3f2a",
        "git clone https://github.com/foo/bar.git && git clone git@github.com:foo/bar.git",
        "let digest = \"9f86d081884c7d659a2feaa0c55ad015\";",
        "private_key = $dir/private/cakey.pem",
        "authorityKeyIdentifier=keyid,issuer",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 user@host",
    ] {
        check(text);
    }
}

#[test]
fn marks_are_left_alone() {
    let mark = "[redacted:password:0a1b2c]";
    check(mark);
    check(&format!("password={mark}"));
    check(&format!("{{\"api_key\": \"{mark}\"}}"));
    check(&format!("https://user:{mark}@host/"));
    check(&format!("Authorization: Bearer {mark}"));
}

/// Text in which names, signs and values meet more often than by chance.
fn busy_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("password".to_owned()),
        Just("API_KEY".to_owned()),
        Just("://".to_owned()),
        Just("curl -u ".to_owned()),
        Just("Authorization: Bearer ".to_owned()),
        Just("Cookie: ".to_owned()),
        Just(format!("{}BEGIN PRIVATE KEY{}", "-".repeat(5), "-".repeat(5))),
        Just("[redacted:jwt:012345]".to_owned()),
        Just("ghp_".to_owned()),
        "[=:\"'`\\\\@,;(){}<> \n\\[\\]$-]{1,3}",
        "[A-Za-z0-9]{8,40}",
        "\\PC{0,8}",
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn redacting_again_changes_nothing(text in busy_text()) {
        let once = redact(&text);
        prop_assert_eq!(&redact(&once), &once);
    }

    #[test]
    fn nothing_else_changes(text in busy_text()) {
        let redacted = REDACTOR.redact(&text);
        let mut rest = redacted.text.as_ref();
        let mut from = 0;
        for finding in &redacted.found {
            prop_assert!(from <= finding.span.start && finding.span.start < finding.span.end);
            let kept = text.get(from..finding.span.start).unwrap_or_default();
            prop_assert!(rest.starts_with(kept));
            rest = rest.get(kept.len() + redaction_mark::mark_length(finding.kind)..).unwrap_or_default();
            from = finding.span.end;
        }
        prop_assert_eq!(rest, text.get(from..).unwrap_or_default());
    }

    #[test]
    fn no_found_secret_is_left(text in busy_text()) {
        let redacted = REDACTOR.redact(&text);
        for finding in &redacted.found {
            let secret = text.get(finding.span.clone()).unwrap_or_default();
            let left = redacted.text.contains(secret);
            prop_assert!(!left || secret.len() < 8 || !value_shape::is_random(secret), "{:?} in {:?}", secret, redacted.text);
        }
    }

    #[test]
    fn any_text_is_taken(text in "\\PC*") {
        let once = redact(&text);
        prop_assert_eq!(&redact(&once), &once);
    }
}

#[test]
fn the_mark_of_a_secret_stays_the_same() {
    let mut out = String::new();
    redaction_mark::push_mark(&mut out, "password", "hunter2");
    assert_eq!(out, "[redacted:password:55dcd1]");
}
