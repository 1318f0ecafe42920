//! Commands as text in a sentence: without what only this machine or this call needs, and still runnable.

use super::sentence_text::cut_to_length;
use crate::text::shell_lexer::{
    CommandSeparator, LexedCommand, ShellWord, WordRole, is_assignment, split_commands, strip_leading_commands,
};

#[cfg(test)]
#[path = "displayed_command_tests.rs"]
mod tests;

/// The most characters of a command in a sentence.
const SHOWN_CHARACTERS: usize = 100;

/// The beginning of the mark that replaces a redacted secret.
const MARK: &str = "[redacted:";

/// Returns a command in backticks, with its paths relative to a folder.
pub(super) fn backtick_command(command: &str, folder: &str) -> String {
    format!("`{}`", shorten_command(&relativize_paths(command, folder)))
}

/// Returns a command without a leading `cd` or `sleep` and without what only trims its output.
pub(super) fn shorten_command(command: &str) -> String {
    let mut line = strip_leading_commands(command, |part| matches!(part.program(), "cd" | "sleep"));
    let parts = split_commands(line);
    for (at, last) in parts.iter().enumerate().rev() {
        line = line.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        for word in last.words.iter().rev().filter(|word| hides_output(word)) {
            if word.span.end == line.len() {
                line = line.get(..word.span.start).unwrap_or(line).trim_end();
            }
        }
        let before = at.checked_sub(1).and_then(|at| parts.get(at));
        let Some(before) = before.filter(|before| only_trims_output(before.separator, last)) else { break };
        line = line.get(..before.end).unwrap_or(line).trim_end_matches(['|', '&', ';', '\n']);
    }
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    cut_to_length(&line.replace('`', "'"), SHOWN_CHARACTERS)
}

/// Tells whether a word is a redirection that joins streams or throws output away.
fn hides_output(word: &ShellWord) -> bool {
    word.role == WordRole::Duplicate
        || matches!(word.role, WordRole::Output | WordRole::ErrorOutput) && word.text == "/dev/null"
}

/// Tells whether the last command of a line only shortens or excuses what the one before it prints.
fn only_trims_output(separator: CommandSeparator, last: &LexedCommand) -> bool {
    match separator {
        CommandSeparator::Pipe => matches!(last.program(), "tail" | "head" | "cat" | "tee" | "less"),
        CommandSeparator::Or => last.program() == "true",
        CommandSeparator::Next => last.arguments().map(|word| word.text.as_str()).eq(["echo", "$?"]),
        _ => false,
    }
}

/// Returns a command with paths under a folder relative to it, and those in a home directory as `~/…`. Other paths
/// stay, because they would lead nowhere if they were cut.
pub(super) fn relativize_paths(command: &str, folder: &str) -> String {
    let folder = folder.trim_end_matches('/');
    let mut out = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let is_start = !out.ends_with(|c: char| c.is_alphanumeric() || "./~_-*}:$".contains(c));
        let end = path.find(|c: char| c.is_whitespace() || "'\"`;|&<>()=,:".contains(c)).unwrap_or(path.len());
        let (path, after) = path.split_at_checked(end).unwrap_or((path, ""));
        match is_start {
            true => out.push_str(&relativize_path(path, folder)),
            false => out.push_str(path),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn relativize_path(path: &str, folder: &str) -> String {
    if let Some(inside) = path.strip_prefix(folder).filter(|_| folder.len() > 1) {
        match inside.strip_prefix('/') {
            Some("") => return ".".to_owned(),
            Some(inside) => return inside.to_owned(),
            None if inside.is_empty() => return ".".to_owned(),
            None => {}
        }
    }
    let at_home = ["/home/", "/Users/"].iter().find_map(|homes| {
        let rest = path.strip_prefix(homes)?;
        Some(rest.split_once('/').map_or("", |(_, rest)| rest))
    });
    let at_home = at_home.or_else(|| path.strip_prefix("/root/"));
    at_home.map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"))
}

/// Returns the names of the variables that a command sets to secrets.
pub(super) fn find_secret_variables(command: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in command.split_whitespace() {
        let word = word.trim_start_matches(['"', '\'']);
        if let Some((name, value)) = word.split_once('=').filter(|_| is_assignment(word))
            && value.contains(MARK)
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// Tells whether a command contains a secret outside of an assignment, so that nobody else could run it.
pub(super) fn contains_secret(command: &str) -> bool {
    let settings = command.split_whitespace().filter(|word| is_assignment(word) && word.contains(MARK)).count();
    command.matches(MARK).count() > settings
}

/// Returns the file that a command writes its here-document to: `cat > .env <<EOF`.
pub(super) fn find_heredoc_target(command: &str) -> Option<&str> {
    let parts = split_commands(command);
    let mut pipes = parts.split_inclusive(|part| part.separator != CommandSeparator::Pipe);
    let is_document = |word: &ShellWord| word.role == WordRole::HereDocument;
    let pipe = pipes.find(|pipe| pipe.iter().any(|part| part.words.iter().any(is_document)))?;
    let output = pipe.iter().flat_map(|part| &part.words).find(|word| word.role == WordRole::Output);
    let copied = || pipe.iter().flat_map(LexedCommand::arguments).skip_while(|word| word.text != "tee").skip(1);
    let file = output.or_else(|| copied().find(|word| !word.text.starts_with('-')))?;
    Some(file.as_written(command)).filter(|path| !path.is_empty())
}
