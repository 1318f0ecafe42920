use super::super::Redactor;

/// Every `‹secret›` is taken out and nothing else.
fn check(marked: &str) {
    let text = marked.replace(['‹', '›'], "");
    let found = Redactor::new().redact(&text).found;
    let secrets: Vec<&str> = found.iter().map(|finding| text.get(finding.span.clone()).unwrap_or_default()).collect();
    let expected: Vec<&str> =
        marked.split('‹').skip(1).map(|rest| rest.split('›').next().unwrap_or_default()).collect();
    assert_eq!(secrets, expected, "{marked}");
}

#[test]
fn environment_files_and_flags() {
    check("export DB_PASSWORD=‹letmein›");
    check("API_TOKEN=‹abc123def456›");
    check("--password=‹letmein›");
    check("login --token ‹abc123def456› now");
    check("db.password=‹hardcoded›");
    check("ENV PASSWORD ‹hunter22›");
    check("PASSWORD=$DB_PASSWORD");
    check("export TOKEN=$(cat /run/secrets/token)");
    check("pass --token to the command");
}

#[test]
fn json_and_escaped_json() {
    check(r#"{"user":"bob","password":"‹Summer2024!›"}"#);
    check(r#"{\"password\":\"‹Summer2024!›\"}"#);
    check(r#"{\\\"password\\\":\\\"‹Summer2024!›\\\"}"#);
    check(r#"{"name": "DB_PASSWORD", "value": "‹sup3rsecret›"}"#);
    check(r#"{"password": "string"}"#);
    check(r#"{"token_type":"bearer","password":""}"#);
}

#[test]
fn yaml_and_xml() {
    check("password: ‹hunter22›");
    check("[db]\npassword = ‹hunter22›\nport = 5432");
    check("api_key: '‹correct horse›'");
    check("  db_password: ‹hardcoded›\n  next: 1");
    check("- name: DB_PASSWORD\n  value: ‹sup3rsecret›");
    check("<password>‹hardcoded›</password>");
    check("token: ${{ secrets.GITHUB_TOKEN }}");
    check("private_key_path: /etc/ssl/private/key.pem");
    check("password: must be at least 8 characters");
}

#[test]
fn code() {
    check("String password = \"‹hardcoded›\";");
    check("let api_key: &'static str = \"‹9ny9lk4q34oqxm2en›\";");
    check("os.environ[\"OPENAI_API_KEY\"] = \"‹abcDEF123456ghiJKL789›\"");
    check("if (\"‹Tr0ub4dor&3›\" == password) {");
    check("setProperty(\"API_TOKEN\", \"‹9ny9lk4q34oqxm2en›\")");
    check("password: String,");
    check("let token = parser.next();");
    check("fn secret(&self) -> &str { &self.secret }");
    check("api_key=os.environ[\"X\"]");
    check("api_key = os.getenv(\"OPENAI_API_KEY\")");
    check("connect(user=user, password=password)");
    check("if password == \"\" { return Err(MissingPassword) }");
    check("pub const STABLE_SECRET: _bindgen_ty_3 = 1;");
    check("pub GetToken: KspGetTokenFn,");
    check("private_key: ed25519.Ed25519PrivateKey");
    check("<input type=\"password\" name=\"password\" placeholder=\"Password\">");
}

#[test]
fn connection_strings_and_queries() {
    check("Server=tcp:x;User ID=sa;Password=‹My$ecret9›;Encrypt=True");
    check("?access_token=‹abc123def456ghi789›&x=1");
}

#[test]
fn random_text_near_a_name() {
    check("secret access key (new) ‹a7Kq2Wz9xB4nD8rT5mYc3P›");
    check("the token parser is in src/Parser2/a7b8/TokenStream3Reader4.rs");
    check("token span at 3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c5d4e3f2a");
}

#[test]
fn files_of_other_programs() {
    check("machine h\n  login bob\n  password ‹hunter22›");
    check("db.local:5432:app:bob:‹hunter22›\n");
    check("*:*:*:bob:‹hunter22›");
    check("at 12:5432:1:2");
    check("requirepass ‹hunter22x›");
    check("enable password 7 ‹0822455D0A16›");
    check("<add key=\"SmtpPassword\" value=\"‹hunter22›\" />");
    check("variable \"db_password\" {\n  type = string\n  default = \"‹hunter22›\"\n}");
    check("variable \"db_password\" {\n  type = string\n}");
}

#[test]
fn a_name_and_a_password_together() {
    check("requests.get(url, auth=(\"bob\", \"‹hunter22›\"))");
    check("client.login('bob', '‹hunter22›')");
    check("auth(\"GET\", \"/api/v1\")");
    check("login(\"user\", \"Invalid login 1\")");
    check("props.put(\"db.password\", \"‹hunter22›\");");
    check("builder.password(\"‹hunter22›\")");
    check("secret.update(\"chapter22\")");
}

#[test]
fn strings_that_only_keys_are() {
    check(&format!("wistia = \"‹{}›\"", "CfFMhRe88spxQRAKYrc6LJXfwvhjn9hw"));
    check(&format!("\"id\": \"{}\"", "CfFMhRe88spxQRAKYrc6LJXfwvhjn9hw"));
    check("name = \"getUserById2FromTheOtherTable\"");
    let words = "test walk nut penalty hip pave soap entry language right filter choice";
    check(&format!("mnemonic = \"‹{words}›\""));
}

#[test]
fn prose() {
    check("my password is ‹hunter22›");
    check("the password is wrong");
    check("the key is to run tests first");
    check("Error: invalid token: expected `;`, found `}`");
}
