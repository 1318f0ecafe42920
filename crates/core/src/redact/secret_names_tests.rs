use super::{PromisedSecret, SplitName, classify_name};

fn parts(name: &str) -> Vec<String> {
    SplitName::from_name(name).parts().map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

fn check(names: &[&str], expected: Option<PromisedSecret>) {
    for name in names {
        assert_eq!(classify_name(name), expected, "{name}");
    }
}

#[test]
fn names_come_apart() {
    assert_eq!(parts("AWSSecretKey_2"), ["aws", "secret", "key", "2"]);
    assert_eq!(parts("--api-key"), ["api", "key"]);
    assert_eq!(parts("db.password"), ["db", "password"]);
}

#[test]
fn names_promise() {
    check(
        &[
            "encryption_key",
            "AccountKey",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "secrete",
            "apiKey",
            "X-Api-Key",
            "aws_access_key_id",
        ],
        Some(PromisedSecret::Secret),
    );
    check(&["password", "DB_PASSWORD", "PGPASSWORD", "dbPass", "passwd", "Pwd", "psk"], Some(PromisedSecret::Password));
    check(&["token", "GITHUB_TOKEN", "_auth"], Some(PromisedSecret::Token));
    check(
        &["key", "token_type", "password_file", "session", "secretName", "cache_key", "storageKey"],
        Some(PromisedSecret::Maybe),
    );
    check(&["primary_key", "public_key", "max_tokens", "tokenizer", "author", "compass", "bypass", "keyboard"], None);
}
