//! Passwords of plain words, which only what stands beside them tells: the parts of a connection string, and the lines of
//! a settings file.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::bytes::{is_blank, is_name_byte, skip_back_while, skip_while};

/// Returns true for one part of a connection string: `Server=db;Uid=sa;Pwd=…`, `host=db user=app password=…`.
pub(super) fn is_connection_part(text: &str, name_start: usize, value_end: usize) -> bool {
    let bytes = text.as_bytes();
    let start = skip_back_while(bytes, name_start, 160, |byte| byte != b'\n');
    let end = skip_while(bytes, value_end, 160, |byte| byte != b'\n');
    let start = text.ceil_char_boundary(start);
    let around = [text.get(start..name_start), text.get(value_end..text.floor_char_boundary(end))];
    let Some(keys) = &*CONNECTION_KEYS else { return false };
    let (mut names_server, mut names_user) = (false, false);
    for part in around.into_iter().flatten() {
        for hit in keys.find_overlapping_iter(part).filter(|hit| is_part_start(part, hit.start())) {
            let is_server = hit.pattern().as_usize() < SERVER_KEYS;
            names_server |= is_server;
            names_user |= !is_server;
        }
    }
    names_server && names_user
}

/// Returns true for a line `name = value` among other settings, or alone.
pub(super) fn is_among_settings(text: &str, name_start: usize, value_end: usize) -> bool {
    let line_at = |place: usize| text.get(place..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let bytes = text.as_bytes();
    let start = skip_back_while(bytes, name_start, 64, is_blank);
    let end = skip_while(bytes, value_end, 16, |byte| is_blank(byte) || byte == b'\r');
    let above = text.get(..start).and_then(|text| text.lines().next_back()).unwrap_or_default();
    let below = line_at(end + 1);
    let is_alone = !text.trim_end().contains('\n');
    is_alone || [above, below].iter().any(|line| is_setting_line(line))
}

/// The number of the first keys of a connection string that name the server; the others name the user or the database.
const SERVER_KEYS: usize = 10;

/// The search for the keys of a connection string.
static CONNECTION_KEYS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let keys = [
        "server=",
        "host=",
        "hostname=",
        "data source=",
        "driver=",
        "addr=",
        "address=",
        "endpoint=",
        "provider=",
        "port=",
        "uid=",
        "user id=",
        "user=",
        "username=",
        "userid=",
        "database=",
        "dbname=",
        "initial catalog=",
    ];
    AhoCorasick::builder().ascii_case_insensitive(true).build(keys).ok()
});

/// Returns true if a key of a connection string begins here, and is not the end of a longer word.
fn is_part_start(text: &str, at: usize) -> bool {
    text.get(..at).and_then(|before| before.chars().next_back()).is_none_or(|c| !c.is_alphanumeric())
}

/// The names of settings that stand beside a password.
const SETTING_NAMES: &[&str] = &[
    "user",
    "username",
    "login",
    "host",
    "hostname",
    "server",
    "port",
    "database",
    "dbname",
    "db",
    "url",
    "email",
    "address",
    "smtp_server",
    "db_user",
    "db_host",
    "db_name",
    "uid",
    "ssid",
    "account",
    "driver",
    "endpoint",
];

/// Returns true for a section's title, or a setting with a name that stands beside passwords and a plain value.
fn is_setting_line(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with('[') && line.ends_with(']') {
        return line.bytes().all(|byte| is_name_byte(byte) || matches!(byte, b'[' | b']' | b':' | b' ' | b'/' | b'"'));
    }
    let Some((name, value)) = line.split_once('=') else { return false };
    let is_plain = !value.contains(['(', '[', '{', '"', '\'', ';']) && !value.trim_end().ends_with(',');
    is_plain && SETTING_NAMES.contains(&name.trim().to_ascii_lowercase().as_str())
}
