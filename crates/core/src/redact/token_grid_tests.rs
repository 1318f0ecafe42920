//! Twelve kinds of tokens in twenty-one surroundings. All tokens are made at run time, so that no scanner reports them.

use super::Redactor;
use crate::text::{JoinerPolicy, strip_hidden_text};

/// Letters without an order, the same in every run.
struct LetterSource(u64);

impl LetterSource {
    fn take(&mut self, letters: &str, count: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        let mut pick = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            letters[usize::try_from(self.0 >> 33).unwrap_or(0) % letters.len()]
        };
        (0..count).map(|_| pick()).collect()
    }
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGITS: &str = "0123456789";

/// One token of each kind: a name for messages, and the token.
fn tokens() -> Vec<(&'static str, String)> {
    let mut source = LetterSource(0x5eed);
    let mut piece = |letters: &str, count: usize| source.take(letters, count);
    vec![
        ("github", format!("{}_{}", "ghp", piece(ALNUM, 36))),
        ("gitlab", format!("{}-{}", "glpat", piece(ALNUM, 20))),
        ("aws", format!("{}{}", "AKIA", piece(UPPER, 16))),
        ("slack", format!("{}-{}-{}-{}", "xoxb", piece(DIGITS, 12), piece(DIGITS, 12), piece(ALNUM, 24))),
        ("stripe", format!("{}_{}_{}", "sk", "live", piece(ALNUM, 24))),
        ("openai", format!("{}-{}-{}", "sk", "proj", piece(ALNUM, 48))),
        ("anthropic", format!("{}-{}-{}-{}", "sk", "ant", "api03", piece(ALNUM, 93))),
        ("google", format!("{}{}", "AIza", piece(ALNUM, 35))),
        ("npm", format!("{}_{}", "npm", piece(ALNUM, 36))),
        ("sendgrid", format!("{}.{}.{}", "SG", piece(ALNUM, 22), piece(ALNUM, 43))),
        ("huggingface", format!("{}_{}", "hf", piece(ALNUM, 34))),
        ("jwt", format!("{}.{}.{}", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", piece(ALNUM, 43))),
    ]
}

/// The surroundings of a token: a name for messages, and the text with the token in it.
fn contexts(token: &str) -> Vec<(&'static str, String)> {
    let (head, tail) = token.split_at(token.len() / 2);
    vec![
        ("file name", format!("wrote config-{token}.json")),
        ("environment prefix", format!("uploading prod_{token} now")),
        ("coloured", format!("\u{1b}[1;31m{token}\u{1b}[0m")),
        ("colour inside", format!("token {head}\u{1b}[32m{tail}")),
        ("zero width around", format!("see \u{200b}{token}\u{200b}.")),
        ("zero width inside", format!("see {head}\u{200d}{tail} there")),
        ("URL path", format!("GET https://api.example.net/v1/{token}/items 200")),
        ("URL query", format!("https://api.example.net/?a=1&t={token}&b=2")),
        ("userinfo", format!("git clone https://bob:{token}@git.example.net/x.git")),
        ("quoted JSON", format!("{{\"value\": \"{token}\", \"n\": 1}}")),
        ("escaped JSON", format!("{{\\\"body\\\":\\\"{{\\\\\\\"v\\\\\\\":\\\\\\\"{token}\\\\\\\"}}\\\"}}")),
        ("YAML and TOML", format!("a: {token}\nb = '{token}'")),
        ("environment file and export", format!("A={token}\nexport B=\"{token}\"")),
        ("header in a log", format!("2026-03-01T12:00:00Z DEBUG > X-Thing: {token} (retry 2)")),
        ("markdown link", format!("[dashboard](https://x.example.net/{token})")),
        ("HTML and XML", format!("<a data-v='{token}'>x</a><v>{token}</v>")),
        ("CSV beside base64", format!("1,aGVsbG8gd29ybGQ=,{token},2")),
        ("after Chinese text", format!("令牌是{token}，不要外传")),
        ("between separators", format!("key:{token};next")),
        ("continued line", format!("run --with {head}\\\n    {tail} --and")),
        ("escapes around", format!("a\\n{token}\\u0026b%2F{token}%20\\u001b[0m{token}")),
    ]
}

#[test]
fn every_token_is_found_in_every_context() {
    let redactor = Redactor::new();
    let mut missed = Vec::new();
    let mut count = 0;
    for (kind, token) in tokens() {
        let (head, tail) = token.split_at(token.len() / 2);
        for (context, text) in contexts(&token) {
            count += 1;
            let redacted = redactor.redact(&text);
            let seen = strip_hidden_text(&redacted.text, JoinerPolicy::Remove).replace("\\\n    ", "");
            if [token.as_str(), head, tail].iter().any(|piece| seen.contains(piece)) {
                missed.push(format!("{kind}, {context}: {}", redacted.text));
            }
            let again = redactor.redact(&redacted.text);
            assert_eq!(again.text, redacted.text, "{kind}, {context}");
        }
    }
    assert_eq!(count, 252);
    assert!(missed.is_empty(), "{} of {count} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn what_stands_around_a_token_stays() {
    let redactor = Redactor::new();
    for (kind, token) in tokens() {
        for (before, after) in [
            ("config-", ".json"),
            ("prod_", " now"),
            ("\u{1b}[31m", "\u{1b}[0m"),
            ("\u{200b}", "\u{200b}"),
            ("/v1/", "/items"),
        ] {
            let text = format!("{before}{token}{after}");
            let redacted = redactor.redact(&text).text.into_owned();
            assert!(redacted.starts_with(&format!("{before}[redacted:")), "{kind}: {redacted}");
            assert!(redacted.ends_with(&format!("]{after}")), "{kind}: {redacted}");
        }
    }
}

#[test]
fn a_token_over_two_lines_is_found() {
    let redactor = Redactor::new();
    let mut missed = Vec::new();
    for (kind, token) in tokens() {
        let (head, tail) = token.split_at((token.len() - 14).max(12));
        for (break_name, between) in [
            ("line end", "\n"),
            ("indented line", "\r\n    "),
            ("two strings", "\"\n  \""),
            ("joined strings", "\" +\n  \""),
        ] {
            // Short heads of prefixes that begin ordinary names are no tokens.
            if matches!(kind, "openai" | "huggingface" | "jwt" | "sendgrid" | "slack" | "anthropic")
                && between.trim_start_matches('\r').starts_with('\n')
            {
                continue;
            }
            let redacted = redactor.redact(&format!("\"{head}{between}{tail}\"")).text.into_owned();
            if redacted.contains(tail) || redacted.contains(head) {
                missed.push(format!("{kind}, {break_name}: {redacted}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn joints_do_not_make_tokens_of_names() {
    let redactor = Redactor::new();
    for text in [
        "task-id-resolver-for-longer-names-2024-08-01",
        "chunk-vendors-node_modules_lodash_4f2a9b.js",
        "cache-key-3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c",
        "loading-sk-circle-fade-dot-sk-child-sk-circle12",
        "risk-assessment-of-the-4th-quarter-2024-v2",
        "my-app-api-7d4b9c6f5d-x2x9z",
        "libfoo.s.1a2b3c.so.2.34.1-5build2",
        "test_live_update_of_the_2nd_item_in_list_4",
        "com.example.pk.model.v2.customer.address.line1",
    ] {
        let redacted = redactor.redact(text);
        assert!(redacted.found.is_empty(), "{text}: {}", redacted.text);
    }
}
