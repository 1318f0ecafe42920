//! Finds the command that counts: behind the words that do not change what it does, and in the script of a shell.

use crate::text::shell_lexer::{is_assignment, program_name};

#[cfg(test)]
#[path = "command_prefixes_tests.rs"]
mod tests;

/// Keywords of the shell and programs that run the command behind them.
const WRAPPERS: &str = "sudo env time nice nohup command exec stdbuf builtin do then else if elif while until ! {";

/// Programs that find the program behind them, or prepare something for it.
const RUNNERS: &str = "npx bunx pnpx dlx uvx pipx xvfb-run caffeinate rtk";

/// Programs with the verb by which they run the program behind it.
const RUNNER_VERBS: &str = "\
    uv run|poetry run|pipenv run|pdm run|hatch run|rye run|conda run|pnpm exec|npm exec|yarn exec|yarn dlx|pnpm dlx|\
    bun x|bundle exec|mise exec|nix develop|python -m|python3 -m|py -m";

/// Programs that run the script behind their flag `-c`.
pub(super) const SHELLS: &str = "bash sh zsh dash fish ksh";

/// Returns true if a space-separated list of words contains this one.
pub(super) fn contains_word(words: &str, word: &str) -> bool {
    !word.is_empty() && words.split_ascii_whitespace().any(|listed| listed == word)
}

/// Returns a command without assignments, keywords and wrappers such as `sudo` and `timeout 60`.
pub(super) fn strip_wrappers(words: &[String]) -> &[String] {
    let mut rest = words;
    while let [head, tail @ ..] = rest
        && let [second, ..] = tail
    {
        let flags = tail.iter().take_while(|word| word.starts_with('-')).count();
        rest = match program_name(head) {
            _ if is_assignment(head) => tail,
            // This asks for a program and runs none.
            "command" if matches!(second.as_str(), "-v" | "-V") => break,
            "timeout" | "gtimeout" => tail.get(flags + 1..).unwrap_or_default(),
            name if contains_word(WRAPPERS, name) => tail.get(flags..).unwrap_or_default(),
            _ => break,
        };
    }
    rest
}

/// Returns a command without the runners before it: `npx`, `uv run`, `bundle exec`, `python -m`.
pub(crate) fn strip_runners(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        let head = rest.first().map_or("", |head| program_name(head));
        let verb = rest.get(1).map_or("", String::as_str);
        let many = match () {
            () if contains_word(RUNNERS, head) => 1,
            () if RUNNER_VERBS.split('|').any(|pair| pair.split_once(' ') == Some((head, verb))) => 2,
            () => return rest,
        };
        let flags = rest.iter().skip(many).take_while(|word| word.starts_with('-')).count();
        match rest.get(many + flags..) {
            Some(inner) if !inner.is_empty() => rest = inner,
            _ => return rest,
        }
    }
}

/// Returns the script that a command passes to a shell: `bash -lc "…"`. Some logs lose the quotes; then the script is
/// one word, and all words behind it belong to it.
pub(super) fn find_shell_script(words: &[String]) -> Option<String> {
    let (_, rest) = words.split_first().filter(|(head, _)| contains_word(SHELLS, program_name(head)))?;
    let flag = rest.iter().take_while(|word| word.starts_with('-')).position(|word| {
        word.len() <= 5 && word.ends_with('c') && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    })?;
    let script = rest.get(flag + 1..).filter(|script| !script.is_empty())?;
    let quoted = script.first().filter(|first| first.contains(char::is_whitespace));
    Some(quoted.cloned().unwrap_or_else(|| script.join(" ")))
}
