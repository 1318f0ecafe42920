use crate::redact::Redactor;

fn check(marked: &str) {
    let text = marked.replace(['‹', '›'], "");
    let found = Redactor::new().redact(&text).found;
    let secrets: Vec<&str> = found.iter().map(|finding| text.get(finding.span.clone()).unwrap_or_default()).collect();
    let expected: Vec<&str> =
        marked.split('‹').skip(1).map(|rest| rest.split('›').next().unwrap_or_default()).collect();
    assert_eq!(secrets, expected, "{marked}");
}

#[test]
fn a_blank_between_a_name_and_its_value() {
    check("SERVICE_TOKEN ‹8f3a9c1b7d2e4f60a5b8c9d1›");
    check("api key ‹3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c›");
    check("the SECRET ‹q7Rk2vXw9ZtB4mLs8NcD› was leaked");
    check("access token ‹q7rk2vxw9ztb4mls8ncd›");
    check("bitfinex ‹q7Rk2vXw9ZtB4mLs8NcDq7Rk›");
    check("datadog: ‹q7rk2vxw9ztb4mls8ncdz8›");
}

#[test]
fn other_values_after_these_words() {
    for text in [
        "cache key 3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c",
        "token budget 16384 of 200000",
        "primary key 3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c",
        "token_count 12345678901234567",
        "discord 743b294a-cd03-11ec-9d64-0242ac120002",
        "cloudflare wrangler-3.78.12-linux-x64-musl",
        "the key src/api/v2/users_controller2_test.go",
    ] {
        check(text);
    }
}
