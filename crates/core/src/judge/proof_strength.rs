//! The strength of a text as evidence: a command with its output, a line of a file, or somebody's word.

use crate::domain::EvidenceLevel;

#[cfg(test)]
#[path = "proof_strength_tests.rs"]
mod tests;

/// Prefixes that a shell or a transcript puts before a command.
const PROMPTS: &[&str] = &["$ ", "% ", "❯ ", "> $ ", "Command: ", "command: ", "+ $ "];

/// Words of somebody who tells or supposes something. No program prints them about itself.
const TALK: &[&str] = &[
    "assume",
    "believe",
    "confident",
    "expect",
    "expected",
    "fine",
    "i",
    "i'm",
    "i've",
    "likely",
    "looks",
    "our",
    "presumably",
    "probably",
    "seems",
    "should",
    "think",
    "we",
    "would",
];

/// Words of a result.
const RESULTS: &[&str] = &[
    "built",
    "compiled",
    "completed",
    "created",
    "done",
    "error",
    "errors",
    "fail",
    "failed",
    "failing",
    "failure",
    "finished",
    "found",
    "installed",
    "ok",
    "pass",
    "passed",
    "passing",
    "started",
    "succeeded",
    "success",
    "warning",
    "warnings",
];

/// The fewest characters of quoted words.
const SHORTEST_QUOTE: usize = 4;

/// A line of a file, and the words that it is said to contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileCitation<'t> {
    /// The path of the file.
    pub path: &'t str,
    /// The number of the line, from 1.
    pub line: u32,
    /// The quoted words of the line.
    pub quote: &'t str,
}

/// Returns the evidence level of a text. `stands` tells whether a citation is true, as far as that can be looked up.
///
/// A command with its output is level 1. A file with a line and words of that line is level 2, unless the text contains
/// a diff that does not touch the file. Everything else is reasoning: that something was run, without its output; a
/// file without a line, or a line without its words; that it should work.
pub fn classify_evidence(text: &str, stands: impl Fn(&FileCitation<'_>) -> bool) -> EvidenceLevel {
    if shows_command_output(text) {
        return EvidenceLevel::Execution;
    }
    let changed = find_changed_files(text);
    let is_changed = |path: &str| changed.is_empty() || changed.iter().any(|file| is_same_file(file, path));
    let holds = |citation: &FileCitation<'_>| is_changed(citation.path) && stands(citation);
    if find_citations(text).iter().any(holds) { EvidenceLevel::Citation } else { EvidenceLevel::Reasoning }
}

/// Tells whether a command is followed by something that only a program prints.
fn shows_command_output(text: &str) -> bool {
    let mut is_after_command = false;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("```") {
            continue;
        }
        if is_command(line) {
            is_after_command = true;
        } else if is_after_command && is_result(line) {
            return true;
        } else if is_talk(line) {
            // What follows talk is no longer output of the command.
            is_after_command = false;
        }
    }
    false
}

/// Tells whether a line shows a command: `$ cargo test`, or "`cargo test` prints:".
fn is_command(line: &str) -> bool {
    let typed = PROMPTS.iter().filter_map(|prompt| line.strip_prefix(prompt)).any(|rest| !rest.trim().is_empty());
    let told = line.ends_with(':') && line.split('`').nth(1).is_some_and(|command| command.contains(' '));
    typed || told
}

fn is_result(line: &str) -> bool {
    let mut words = lowercase_words(line);
    !is_talk(line)
        && words.any(|word| RESULTS.binary_search(&word.as_str()).is_ok() || word.chars().any(|c| c.is_ascii_digit()))
}

fn is_talk(line: &str) -> bool {
    lowercase_words(line).any(|word| TALK.binary_search(&word.as_str()).is_ok())
}

fn lowercase_words(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
}

/// Returns every `path:line` that has quoted words next to it or in the line below.
fn find_citations(text: &str) -> Vec<FileCitation<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for (path, number, rest) in find_file_positions(line) {
            let below =
                lines.iter().skip(at + 1).find(|next| !next.trim().is_empty() && !next.trim().starts_with("```"));
            let quote = find_quoted_words(rest).or_else(|| below.and_then(|below| find_quoted_line(below)));
            if let Some(quote) = quote.filter(|quote| quote.chars().count() >= SHORTEST_QUOTE) {
                found.push(FileCitation { path, line: number, quote });
            }
        }
    }
    found
}

/// Returns the file positions that a line names, each with what follows it.
fn find_file_positions(line: &str) -> Vec<(&str, u32, &str)> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(colon) = line.get(from..).and_then(|rest| rest.find(':')).map(|at| from + at) {
        from = colon + 1;
        let (Some(before), Some(behind)) = (line.get(..colon), line.get(from..)) else { break };
        let path = before.rsplit(|c: char| c.is_whitespace() || "`'\"([<".contains(c)).next().unwrap_or_default();
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let number: Option<u32> = behind.get(..digits).and_then(|digits| digits.parse().ok()).filter(|line| *line > 0);
        let is_file = path.rsplit(['/', '\\']).next().is_some_and(|name| {
            let (stem, extension) = name.rsplit_once('.').unwrap_or_default();
            !stem.is_empty() && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        });
        if let Some(number) = number.filter(|_| is_file) {
            places.push((path, number, behind.get(digits..).unwrap_or_default()));
        }
    }
    places
}

/// Returns the words between the first quotation marks of a text.
fn find_quoted_words(text: &str) -> Option<&str> {
    // A mark that closes around the position itself opens nothing.
    let text = text.trim_start_matches(['`', '\'', '"', ')', ']', '>']);
    let between = |open: char, close: char| {
        let (_, rest) = text.split_once(open)?;
        rest.split_once(close).map(|(inside, _)| inside.trim())
    };
    [('`', '`'), ('"', '"'), ('“', '”')].into_iter().find_map(|(open, close)| between(open, close))
}

/// Returns a line that is quoted as a whole: after `>`, indented, or between quotation marks.
fn find_quoted_line(line: &str) -> Option<&str> {
    let behind = line.trim_start().strip_prefix('>').map(str::trim);
    let set_in = line.starts_with("    ").then(|| line.trim());
    behind.or(set_in).or_else(|| find_quoted_words(line))
}

/// Returns the files of a diff in a text.
fn find_changed_files(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/")))
        .map(str::trim)
        .collect()
}

fn is_same_file(one: &str, other: &str) -> bool {
    let ends =
        |long: &str, short: &str| long == short || long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    ends(one, other) || ends(other, one)
}
