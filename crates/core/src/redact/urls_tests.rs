use super::super::Redactor;

fn check(text: &str, expected: &[&str]) {
    let found = Redactor::new().redact(text).found;
    let secrets: Vec<&str> = found.iter().map(|finding| text.get(finding.span.clone()).unwrap_or_default()).collect();
    assert_eq!(secrets, expected, "{text}");
}

#[test]
fn passwords_in_urls() {
    check("postgres://bob:s3cretpw@db.local:5432/app", &["s3cretpw"]);
    check("redis://:p4ssw0rd@localhost:6379/0", &["p4ssw0rd"]);
    check("https://username:password@host.com", &["password"]);
    check("https://user@host/path", &[]);
    check("https://url:8000 @something else", &[]);
    check("https://user:${PASSWORD}@host/", &[]);
    check("https://user:<password>@host/", &[]);
}

#[test]
fn hooks_and_signatures() {
    let hook = format!("T0DCUJB1Q/B0DD08H5G/{}", "bJtrpFi1fO1JMCcwLx8uZyAg");
    check(&format!("https://hooks.slack.com/services/{hook}"), &[&hook]);
    check("https://hooks.slack.com/services/", &[]);
    let id = "296bc02d-b88a-7f13-805d-eb649066d35a";
    check(&format!("https://open.feishu.cn/open-apis/bot/v2/hook/{id}"), &[id]);
    check("https://hooks.zapier.com/hooks/catch/7246953/35l7klw/", &["catch/7246953/35l7klw/"]);
    check("https://hooks.zapier.com/hooks/catch/", &[]);
    let signature = "a7Kq2Wz9xB4nD8rT5mYc3Pa7Kq2Wz9xB4nD8rT5mYc3P";
    check(&format!("https://x.net/b?sv=2020&sig={signature}"), &[signature]);
    check("design=modern&sig=none", &[]);
}
