//! How strong a text is as proof: what ran and what it printed, a line of a file, or somebody's word for it.

use crate::domain::EvidenceLevel;

#[cfg(test)]
#[path = "proof_tests.rs"]
mod tests;

/// What a shell or a transcript puts before a command.
const PROMPTS: &[&str] = &["$ ", "% ", "❯ ", "> $ ", "Command: ", "command: ", "+ $ "];

/// Words of whoever tells or supposes. No program prints them about itself.
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

/// A quoted passage of fewer characters stands everywhere.
const SHORTEST_QUOTE: usize = 4;

/// A line of a file, and what is said to stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Citation<'t> {
    /// The file.
    pub path: &'t str,
    /// The line, from 1.
    pub line: u32,
    /// The words.
    pub quote: &'t str,
}

/// How strong a text is as proof. `stands` says whether a citation is true, as far as that can be looked up.
///
/// A command with what it printed is level 1. A file with a line and words of that line is level 2, unless the text holds
/// a diff that does not touch the file. Everything else is reasoning: that something was run, without what it printed; a
/// file without a line, or a line without its words; that it should work.
pub fn level_of(text: &str, stands: impl Fn(&Citation<'_>) -> bool) -> EvidenceLevel {
    if shows_a_run(text) {
        return EvidenceLevel::Execution;
    }
    let changed = changed_files(text);
    let is_changed = |path: &str| changed.is_empty() || changed.iter().any(|file| same_file(file, path));
    let holds = |citation: &Citation<'_>| is_changed(citation.path) && stands(citation);
    if citations(text).iter().any(holds) { EvidenceLevel::Citation } else { EvidenceLevel::Reasoning }
}

/// Whether a command is followed by something that only a program says.
fn shows_a_run(text: &str) -> bool {
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
            // What follows talk is no longer what the command printed.
            is_after_command = false;
        }
    }
    false
}

/// `$ cargo test`, or "`cargo test` prints:".
fn is_command(line: &str) -> bool {
    let typed = PROMPTS.iter().filter_map(|prompt| line.strip_prefix(prompt)).any(|rest| !rest.trim().is_empty());
    let told = line.ends_with(':') && line.split('`').nth(1).is_some_and(|command| command.contains(' '));
    typed || told
}

fn is_result(line: &str) -> bool {
    let mut words = words(line);
    !is_talk(line)
        && words.any(|word| RESULTS.binary_search(&word.as_str()).is_ok() || word.chars().any(|c| c.is_ascii_digit()))
}

fn is_talk(line: &str) -> bool {
    words(line).any(|word| TALK.binary_search(&word.as_str()).is_ok())
}

fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
}

/// Every `path:line` that has words beside it or in the line below.
fn citations(text: &str) -> Vec<Citation<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for (path, number, rest) in places(line) {
            let below =
                lines.iter().skip(at + 1).find(|next| !next.trim().is_empty() && !next.trim().starts_with("```"));
            let quote = quoted(rest).or_else(|| below.and_then(|below| quoted_below(below)));
            if let Some(quote) = quote.filter(|quote| quote.chars().count() >= SHORTEST_QUOTE) {
                found.push(Citation { path, line: number, quote });
            }
        }
    }
    found
}

/// The places that a line names, each with what follows it.
fn places(line: &str) -> Vec<(&str, u32, &str)> {
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

/// The words between the first marks of a text, or all of it behind a colon.
fn quoted(text: &str) -> Option<&str> {
    // The mark that closes around the place itself opens nothing.
    let text = text.trim_start_matches(['`', '\'', '"', ')', ']', '>']);
    let between = |open: char, close: char| {
        let (_, rest) = text.split_once(open)?;
        rest.split_once(close).map(|(inside, _)| inside.trim())
    };
    [('`', '`'), ('"', '"'), ('“', '”')].into_iter().find_map(|(open, close)| between(open, close))
}

/// A line that is quoted as a whole: behind `>`, set in, or between marks.
fn quoted_below(line: &str) -> Option<&str> {
    let behind = line.trim_start().strip_prefix('>').map(str::trim);
    let set_in = line.starts_with("    ").then(|| line.trim());
    behind.or(set_in).or_else(|| quoted(line))
}

/// The files of a diff in a text.
fn changed_files(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/")))
        .map(str::trim)
        .collect()
}

fn same_file(one: &str, other: &str) -> bool {
    let ends =
        |long: &str, short: &str| long == short || long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    ends(one, other) || ends(other, one)
}
