//! Passwords that commands take by position or from a pipe: `htpasswd -b FILE NAME PASSWORD`, `echo NAME:PASSWORD |
//! chpasswd`.

use super::super::SecretFinding;
use super::is_argument_password;

/// The most bytes of a line that are looked at.
const MAX_LINE_BYTES: usize = 512;

/// Finds the password among the arguments that follow the command at `end`.
pub(super) fn find_positional_password(text: &str, command: &str, end: usize, found: &mut Vec<SecretFinding>) {
    let rest = text.get(end..text.floor_char_boundary(end + MAX_LINE_BYTES)).unwrap_or_default();
    let line = rest.split(['\n', '|', '>', ';', '&']).next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let named = |word: &&&str| !word.starts_with(['-', '/']);
    let password = match command {
        "htpasswd" => {
            let takes_password =
                words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('b'));
            let given: Vec<&&str> = words.iter().filter(named).collect();
            given.last().filter(|_| takes_password && given.len() >= 2).map(|word| **word)
        }
        "rabbitmqctl" => {
            let takes_password =
                words.iter().any(|word| matches!(*word, "add_user" | "change_password" | "authenticate_user"));
            words.iter().filter(named).nth(2).filter(|_| takes_password).copied()
        }
        _ => words.iter().filter(named).nth(1).copied(),
    };
    push_word(text, password, found);
}

/// Finds the password that the line pipes into the command at `start`.
pub(super) fn find_piped_password(text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
    let command = text.get(start..end).unwrap_or_default();
    let before = text.get(text.ceil_char_boundary(start.saturating_sub(MAX_LINE_BYTES))..start).unwrap_or_default();
    let line = before.rsplit(['\n', ';', '&']).next().unwrap_or_default();
    let Some((piped, _)) = line.rsplit_once('|') else { return };
    let Some((_, given)) = piped.rsplit_once("echo ").or_else(|| piped.rsplit_once("printf ")) else { return };
    let word =
        given.split_whitespace().rfind(|word| !word.starts_with('-') && *word != "\"%s\\n\"" && *word != "'%s\\n'");
    let password = match command {
        "chpasswd" => word.and_then(|word| word.split_once(':')).map(|(_, password)| password),
        "sudo -S" => word,
        _ => None,
    };
    push_word(text, password, found);
}

/// Adds the word, which is a part of the text, without the quotes around it if it can be a password.
fn push_word(text: &str, word: Option<&str>, found: &mut Vec<SecretFinding>) {
    let Some(word) = word.map(|word| word.trim_matches(['"', '\'', '`', ')'])) else { return };
    let Some(start) = word.as_ptr().addr().checked_sub(text.as_ptr().addr()) else { return };
    if is_argument_password(word) && !word.starts_with(['/', '<', '*']) {
        found.push(SecretFinding { kind: "password", span: start..start + word.len() });
    }
}
