//! Identifies the same failure across runs by its message, with everything masked that changes between runs.

use super::failure_detection::ToolPurpose;
use super::plain_output::{prefix_to_byte, strip_control_codes};
use crate::context::command_prefixes::contains_word;
use crate::domain::ErrorFamily;

#[cfg(test)]
#[path = "error_family_tests.rs"]
mod tests;

/// The mask of counts, sizes, times, line numbers, ids, hashes and addresses. One mask serves all, because some hashes
/// are all digits, and two commits must not differ.
const NUMBER: &str = "<n>";
/// The mask of a temporary file or directory.
const TEMPORARY: &str = "<tmp>";

/// The number of bytes of a message that are read; the rest of a longer one is its data.
const MAX_MESSAGE_BYTES: usize = 4000;

/// Prefixes that some layers put before a message and others do not.
const WRAPPERS: &[&str] = &["outcome: error - ", "outcome: failure - ", "error: ", "error - ", "uncaught ", "e "];

/// Words after which a number names an error.
const NUMBERS_THAT_NAME: &[&str] = &["code", "status", "errno", "signal", "http", "exit", "error", "err", "exit_code"];

/// Masks everything in a message that changes between runs: directories, line and column numbers, addresses, ids,
/// hashes, times, durations, sizes, ports, temporary names, colours, percentages, counters.
///
/// Names are kept: of files, without their directories; of tests, variables and errors; and exit codes.
pub(super) fn mask_message(message: &str) -> String {
    let mut text = mask_once(prefix_to_byte(message, MAX_MESSAGE_BYTES));
    // One pass may join words into something that the next one masks; every change shortens the text.
    for _ in 0..8 {
        let next = mask_once(&text);
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Identifies the error family of a failure by the tool, its class and the masked message.
pub(in crate::context) fn identify_family(tool: &str, class: &str, message: &str) -> ErrorFamily {
    // Every harness has its own name for its shell; the failure is the same.
    let tool =
        if ToolPurpose::from_tool(tool) == ToolPurpose::Runs { "run".to_owned() } else { tool.to_ascii_lowercase() };
    ErrorFamily::from_parts(&[&tool, class, &mask_message(message)])
}

fn mask_once(message: &str) -> String {
    let text = strip_control_codes(message);
    let mut out = MessageMasker::default();
    let mut word_start = 0;
    let text = strip_message_wrappers(text.trim());
    for (at, character) in text.char_indices() {
        let is_between_digits = character == ','
            && text.get(..at).is_some_and(|head| head.ends_with(|c: char| c.is_ascii_digit()))
            && text.get(at + 1..).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
        let is_drive = character == '\\' && is_windows_path(text.get(word_start..).unwrap_or_default());
        let is_query =
            matches!(character, '?' | '=' | ';') && text.get(word_start..at).is_some_and(|word| word.contains("://"));
        if !is_delimiter(character) || is_between_digits || is_drive || is_query {
            continue;
        }
        out.push_word(text.get(word_start..at).unwrap_or_default());
        out.push_delimiter(character);
        word_start = at + character.len_utf8();
    }
    out.push_word(text.get(word_start..).unwrap_or_default());
    out.finish()
}

fn is_delimiter(character: char) -> bool {
    character.is_whitespace() || "\"'`()[]{}<>,;=|!?\\“”‘’«»…→│^*".contains(character)
}

fn is_windows_path(word: &str) -> bool {
    let mut characters = word.chars();
    matches!((characters.next(), characters.next(), characters.next()), (Some(drive), Some(':'), Some('\\')) if drive.is_ascii_alphabetic())
}

/// Strips the prefixes that layers put before a message, repeatedly.
fn strip_message_wrappers(mut text: &str) -> &str {
    loop {
        let lower = prefix_to_byte(text, 24).to_ascii_lowercase();
        let rest = WRAPPERS
            .iter()
            .filter(|wrapper| lower.starts_with(**wrapper))
            .find_map(|wrapper| text.get(wrapper.len()..));
        let rest =
            rest.or_else(|| text.strip_prefix("<tool_use_error>")).or_else(|| text.strip_suffix("</tool_use_error>"));
        match rest {
            Some(rest) if !rest.trim().is_empty() => text = rest.trim(),
            _ => return text,
        }
    }
}

/// Units of numbers; `30s` and `30 seconds` are masked alike.
const UNIT_WORDS: &str = "\
    milliseconds millisecond ms seconds second secs sec s minutes minute mins min hours hour days day \
    bytes byte kb mb gb";

/// Assembles the masked words of a message.
#[derive(Default)]
struct MessageMasker {
    out: String,
    /// The last word, in lower case, for numbers that depend on it.
    previous: String,
}

impl MessageMasker {
    fn push_word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let core = word.trim_start_matches([':', '-', '+', '~', '@', '#', '$', '&', '.', '%']);
        let lead = word.get(..word.len() - core.len()).unwrap_or_default();
        // A path may begin with dots and a tilde.
        let (lead, core) = if core.starts_with('/') && lead.ends_with(['.', '~']) { ("", word) } else { (lead, core) };
        let inner = core.trim_end_matches([':', '.', '-', '+', '/', '#', '&']);
        let trail = core.get(inner.len()..).unwrap_or_default();
        if self.out.trim_end_matches(' ').ends_with(NUMBER) && contains_word(UNIT_WORDS, &inner.to_ascii_lowercase()) {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            self.push_trail(trail);
            return;
        }
        // `1 error` and `2 errors` are masked alike.
        let is_counted = lead.is_empty() && self.out.trim_end_matches(' ').ends_with(NUMBER);
        let inner = if is_counted && inner.len() > 3 { inner.strip_suffix('s').unwrap_or(inner) } else { inner };
        let kept = self.names_error(inner);
        let masked = if kept { inner.to_owned() } else { mask_word(inner) };
        if masked == NUMBER && self.joins_number(lead) {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            self.push_trail(trail);
            return;
        }
        self.out.push_str(lead);
        self.out.push_str(&masked);
        self.push_trail(trail);
        self.previous = inner.to_ascii_lowercase();
    }

    /// Pushes the punctuation at the end of a word, without slashes.
    fn push_trail(&mut self, trail: &str) {
        self.out.extend(trail.chars().filter(|c| !matches!(c, '/')));
    }

    /// Returns true if a number joins the one before it, as in `2025-01-01 12:00:00` and `1m 30s`.
    fn joins_number(&self, lead: &str) -> bool {
        lead.is_empty() && self.out.trim_end_matches(' ').ends_with(NUMBER)
    }

    fn names_error(&self, word: &str) -> bool {
        let short = !word.is_empty() && word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit());
        short && NUMBERS_THAT_NAME.contains(&self.previous.as_str())
    }

    fn push_delimiter(&mut self, character: char) {
        if !character.is_whitespace() {
            self.out.push(character);
        } else if !self.out.is_empty() && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
    }

    fn finish(self) -> String {
        self.out.trim().to_owned()
    }
}

fn mask_word(word: &str) -> String {
    if word.is_empty() {
        return String::new();
    }
    if is_numeric(word) || is_uuid(word) {
        return NUMBER.to_owned();
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        return mask_address(scheme, rest);
    }
    if let Some((head, test)) = word.split_once("::")
        && (head.contains('/') || has_extension(head))
    {
        return format!("{}::{}", mask_word(head), mask_word(test));
    }
    let (name, numbers) = strip_line_numbers(word);
    if is_path(name) {
        return mask_path(name, numbers);
    }
    if is_windows_path(name) {
        return mask_path(&name.replace('\\', "/"), numbers);
    }
    let masked = mask_name(name);
    if numbers && !has_extension(name) { format!("{masked}:{NUMBER}") } else { masked }
}

/// Strips line and column numbers: `x.rs:12:5` becomes `x.rs`; the flag tells whether there were any.
fn strip_line_numbers(word: &str) -> (&str, bool) {
    let mut name = word;
    while let Some((head, number)) = name.rsplit_once(':') {
        let is_place = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
            && number.contains(|c: char| c.is_ascii_digit());
        if !is_place || head.is_empty() {
            break;
        }
        name = head.trim_end_matches(':');
    }
    if name.is_empty() { (word, false) } else { (name, name.len() != word.len()) }
}

/// Returns true for numbers with their units: counts, sizes, durations, dates, times, versions, percentages.
fn is_numeric(word: &str) -> bool {
    const UNITS: &[&str] = &[
        "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "m", "min", "mins", "h", "hr", "hrs", "d", "b", "kb", "mb",
        "gb", "tb", "kib", "mib", "gib", "k", "%", "bytes", "x", "am", "pm", "z", "utc", "th", "rd", "nd", "st", "hz",
        "px",
    ];
    if let Some(hex) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        let version = word.strip_prefix('v').unwrap_or_default();
        return version.contains('.') && is_numeric(version);
    }
    let lower = word.to_lowercase();
    // Digits and separators; letters only as units, exponents, or the T and Z of a time.
    lower
        .split(|c: char| c.is_ascii_digit() || ".,:-+/_".contains(c))
        .all(|letters| letters.is_empty() || letters == "t" || letters == "e" || UNITS.contains(&letters))
}

fn mask_address(scheme: &str, rest: &str) -> String {
    if scheme.eq_ignore_ascii_case("file") {
        let (name, numbers) = strip_line_numbers(rest);
        return mask_path(name, numbers);
    }
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest.get(..host_end).unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host);
    let (host, _) = strip_line_numbers(host);
    let host =
        if is_numeric(host) { NUMBER.to_owned() } else { host.split('.').map(mask_name).collect::<Vec<_>>().join(".") };
    let path = rest.get(host_end..).unwrap_or_default().trim_matches('/');
    if path.is_empty() { format!("{scheme}://{host}") } else { format!("{scheme}://{host}/path") }
}

/// Returns true for `/a/b`, `./a`, `~/a`, `a/b/c`, `a/b.rs`; but not for `and/or`, `origin/main` or `@scope/name`.
fn is_path(word: &str) -> bool {
    if !word.contains('/') || word.starts_with('@') {
        return false;
    }
    let begins = ["/", "./", "../", "~"].iter().any(|start| word.starts_with(start));
    begins || word.matches('/').count() >= 2 || has_extension(word)
}

fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=6).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// Returns the last part of a path. A file in a temporary directory keeps its name only if that looks like a source's.
fn mask_path(path: &str, numbers: bool) -> String {
    const TEMPORARY_ROOTS: &[&str] =
        &["/tmp/", "/var/folders/", "/private/", "/dev/shm/", "/var/tmp/", "/Temp/", "/TEMP/"];
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let is_temporary = TEMPORARY_ROOTS.iter().any(|root| path.contains(root)) || path == "/tmp";
    let masked = mask_name(name.trim_start_matches('~'));
    if is_temporary && (!has_extension(name) || masked != name) {
        return TEMPORARY.to_owned();
    }
    if numbers && !has_extension(name) { format!("{masked}:{NUMBER}") } else { masked }
}

/// Masks the machine-generated parts of a name.
fn mask_name(name: &str) -> String {
    if is_uuid(name) || is_hash(name) {
        return NUMBER.to_owned();
    }
    if is_temporary_name(name) {
        return TEMPORARY.to_owned();
    }
    if is_error_code(name) {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    let mut start = 0;
    for (at, separator) in name.char_indices().filter(|(_, c)| matches!(c, '_' | '-' | '.' | ':' | '/' | '@')) {
        push_masked_part(&mut out, name.get(start..at).unwrap_or_default());
        out.push(separator);
        start = at + 1;
    }
    push_masked_part(&mut out, name.get(start..).unwrap_or_default());
    out
}

fn push_masked_part(out: &mut String, part: &str) {
    let is_number = part.len() >= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || is_hash(part) || is_random(part) {
        out.push_str(NUMBER);
    } else {
        out.push_str(part);
    }
}

/// Returns true for error codes such as `ORA-00942` and `TS-2345`.
fn is_error_code(name: &str) -> bool {
    name.split_once('-').is_some_and(|(letters, digits)| {
        (2..=6).contains(&letters.len())
            && letters.bytes().all(|byte| byte.is_ascii_uppercase())
            && (1..=6).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_uuid(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12] && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns true for seven or more hexadecimal characters with digits and letters, or for sixteen of any kind.
fn is_hash(word: &str) -> bool {
    let hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    hex && (word.len() >= 7 && has_digit && has_letter || word.len() >= 16)
}

/// Returns true if letters and digits alternate as in a machine-generated name.
fn is_random(part: &str) -> bool {
    let bytes = part.as_bytes();
    if bytes.len() < 6 || !part.is_ascii() {
        return false;
    }
    let turns =
        bytes.windows(2).filter(|pair| matches!(pair, [a, b] if a.is_ascii_digit() != b.is_ascii_digit())).count();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let has_both_cases = bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    let is_drawn = bytes.len() >= 8 && has_both_cases && bytes.first().is_some_and(u8::is_ascii_digit);
    turns >= 3 || is_drawn || (bytes.len() >= 20 && has_digit && turns >= 2)
}

/// Returns true for temporary names such as `tmpab12cd`, `tmp.XyZ12` and `.tmpAbCd`.
fn is_temporary_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let Some(rest) = ["tmp", "temp"].iter().find_map(|start| lower.strip_prefix(start)) else { return false };
    let rest_start = name.len() - rest.len();
    let original = name.get(rest_start..).unwrap_or_default();
    let stem = original.trim_start_matches(['.', '-', '_']).split('.').next().unwrap_or_default();
    let has_digit = stem.bytes().any(|byte| byte.is_ascii_digit());
    let mixed =
        stem.bytes().any(|byte| byte.is_ascii_uppercase()) && stem.bytes().any(|byte| byte.is_ascii_lowercase());
    let drawn_length = (4..=12).contains(&stem.len());
    // `tmpabcdef` with eight letters is Python's; `template` and `tempo` are words.
    let python =
        stem.len() == 8 && lower.starts_with("tmp") && original.len() >= 8 && !original.starts_with(['-', '_']);
    drawn_length && (has_digit || mixed && !original.starts_with(['-', '_']) && lower.starts_with("tmp") || python)
}
