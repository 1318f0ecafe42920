//! Commands as text in a sentence: without what only this machine or this call needs, and still runnable.

use super::command_comparison::is_assignment;
use super::sentence_text::cut_to_length;

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
    let mut line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    for way in ["cd ", "sleep "] {
        if let Some((first, rest)) = line.split_once("&& ").or_else(|| line.split_once("; "))
            && first.starts_with(way)
            && !rest.is_empty()
        {
            line = rest.to_owned();
        }
    }
    loop {
        let before = line.len();
        for tail in ["2>&1", "|| true", "; echo $?", "2>/dev/null", "&> /dev/null", "> /dev/null", ";"] {
            line = line.strip_suffix(tail).unwrap_or(&line).trim_end().to_owned();
        }
        if let Some((kept, cut)) = line.rsplit_once('|')
            && matches!(cut.split_whitespace().next(), Some("tail" | "head" | "cat" | "tee" | "less"))
            && !kept.ends_with('|')
        {
            line = kept.trim_end().to_owned();
        }
        if line.len() == before {
            break;
        }
    }
    cut_to_length(&line.replace('`', "'"), SHOWN_CHARACTERS)
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
    let line = command.lines().find(|line| line.contains("<<"))?;
    let behind =
        line.split_once('>').map(|(_, rest)| rest).or_else(|| line.split_once("tee ").map(|(_, rest)| rest))?;
    let path = behind.trim_start_matches(['>', ' ']).split_whitespace().find(|word| !word.starts_with('-'))?;
    let path = path.trim_matches(['"', '\'']);
    (!path.is_empty() && !path.starts_with(['<', '&'])).then_some(path)
}
