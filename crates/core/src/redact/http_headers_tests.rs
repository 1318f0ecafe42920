use super::super::Redactor;

fn check(text: &str, expected: &[&str]) {
    let found = Redactor::new().redact(text).found;
    let secrets: Vec<&str> = found.iter().map(|finding| text.get(finding.span.clone()).unwrap_or_default()).collect();
    assert_eq!(secrets, expected, "{text}");
}

#[test]
fn authorization() {
    check("Authorization: Bearer abcdef1234567890abcdef", &["abcdef1234567890abcdef"]);
    check("-H \"Authorization: Basic dXNlcjpwYXNzd29yZA==\"", &["dXNlcjpwYXNzd29yZA=="]);
    check("'Authorization': 'Token 3fea6af1349166ea'", &["3fea6af1349166ea"]);
    check("authorization: Bearer <token>", &[]);
    check("-H \"Authorization: Bearer $TOKEN\"", &[]);
    check("Authorization: Bearer ${API_KEY}", &[]);
    check("the bearer of this letter", &[]);
}

#[test]
fn cookies() {
    check("Cookie: sid=38afes7a8sd9f8as7df98; theme=dark", &["38afes7a8sd9f8as7df98"]);
    check("Set-Cookie: sid=4fT9kPq2LmN8vXz7; Path=/; HttpOnly", &["4fT9kPq2LmN8vXz7"]);
    check("Cookie: lang=en; theme=dark", &[]);
}
