//! What redaction costs, on clean text and on texts made to be slow. `cargo bench --bench redact`.
//!
//! Read the figures against each other: hostile text may be slower than clean text, never much slower than ten times.

#![allow(clippy::indexing_slicing, reason = "a benchmark makes its own data")]

use std::fmt::Write as _;

use archivist_core::redact::Redactor;
use divan::Bencher;
use divan::counter::BytesCount;

const TEXT_BYTES: usize = 1_000_000;

fn main() {
    divan::main();
}

fn redact(bencher: Bencher<'_, '_>, text: &str) {
    let redactor = Redactor::new();
    redactor.redact("the tables are built when the first text comes: password=");
    bencher.counter(BytesCount::of_str(text)).bench(|| redactor.redact(divan::black_box(text)).found.len());
}

/// Code, commands, lessons and logs without secrets.
#[divan::bench]
fn clean(bencher: Bencher<'_, '_>) {
    let text = include_str!("../fixtures/redact/ordinary.txt");
    redact(bencher, &text.repeat(TEXT_BYTES / text.len()));
}

/// Lines that are full of the words that announce secrets.
#[divan::bench]
fn traps(bencher: Bencher<'_, '_>) {
    let text = include_str!("../fixtures/redact/benign.txt");
    redact(bencher, &text.repeat(TEXT_BYTES / text.len()));
}

/// One piece after the other, each of which looks like the beginning of a secret.
#[divan::bench(args = [
    "key=", "password=", "--password=", "://user:pass@", "https://user:pass@", "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----\n", "Bearer ", "Bearer:", "Cookie: a=b;", "curl -u a:b ", "\"", "\\", "\\\"",
    "password=\"a", "eyJ", "eyJhbGciOiJIUzI1NiJ9.", "$2a$", "secret=${{", "webhook", "[redacted:jwt:012345]",
    "ey-", "ghp_", "fm2_", "password is ", "\u{1b}[31m", "\\\n",
])]
fn repeated(bencher: Bencher<'_, '_>, piece: &str) {
    redact(bencher, &piece.repeat(TEXT_BYTES / piece.len()));
}

/// One line of random letters.
#[divan::bench(args = ["0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"])]
fn one_line(bencher: Bencher<'_, '_>, letters: &str) {
    redact(bencher, &Letters::new(letters).take(TEXT_BYTES));
}

/// Tens of thousands of secrets, no two the same.
#[divan::bench(args = ["ghp_", "password="])]
fn distinct_secrets(bencher: Bencher<'_, '_>, name: &str) {
    let mut letters = Letters::new("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
    let mut text = String::new();
    while text.len() < TEXT_BYTES {
        let _ = writeln!(text, "{name}{}", letters.take(36));
    }
    redact(bencher, &text);
}

/// Letters without an order, the same in every run.
struct Letters {
    letters: Vec<char>,
    state: u64,
}

impl Letters {
    fn new(letters: &str) -> Self {
        Self { letters: letters.chars().collect(), state: 0x9E37_79B9_7F4A_7C15 }
    }

    fn take(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| {
                self.state ^= self.state << 13;
                self.state ^= self.state >> 7;
                self.state ^= self.state << 17;
                self.letters[usize::try_from(self.state >> 33).unwrap_or(0) % self.letters.len()]
            })
            .collect()
    }
}
