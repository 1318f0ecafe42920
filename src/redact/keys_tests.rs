use super::{Promise, Split, promise};

fn parts(name: &str) -> Vec<String> {
    Split::of(name).parts().map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

fn check(names: &[&str], expected: Option<Promise>) {
    for name in names {
        assert_eq!(promise(name), expected, "{name}");
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
        Some(Promise::Secret),
    );
    check(&["password", "DB_PASSWORD", "PGPASSWORD", "dbPass", "passwd", "Pwd", "psk"], Some(Promise::Password));
    check(&["token", "GITHUB_TOKEN", "_auth"], Some(Promise::Token));
    check(
        &["key", "token_type", "password_file", "session", "secretName", "cache_key", "storageKey"],
        Some(Promise::Maybe),
    );
    check(&["primary_key", "public_key", "max_tokens", "tokenizer", "author", "compass", "bypass", "keyboard"], None);
}
