//! A shell command taken apart, as far as needed to know what it runs and whether its exit code can be believed.

use super::split::{Joint, Simple, split};

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// Longer commands carry a file in them; what they run stands at the front.
const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// A script in a script in a script is no longer looked into.
const MAX_DEPTH: usize = 4;

/// Words before a command that do not change what it is.
const WRAPPERS: &[&str] = &[
    "sudo",
    "env",
    "time",
    "nice",
    "nohup",
    "command",
    "exec",
    "stdbuf",
    "xvfb-run",
    "npx",
    "bunx",
    "pnpx",
    "dlx",
    "uvx",
    "do",
    "then",
    "else",
    "if",
    "elif",
    "while",
    "until",
    "!",
    "{",
    "(",
    "builtin",
    "caffeinate",
    "rtk",
];

/// Two words that do the same.
const WRAPPER_PAIRS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("pnpm", "exec"),
    ("npm", "exec"),
    ("yarn", "exec"),
    ("yarn", "dlx"),
    ("pnpm", "dlx"),
    ("bun", "x"),
    ("bundle", "exec"),
    ("python", "-m"),
    ("python3", "-m"),
    ("py", "-m"),
    ("conda", "run"),
    ("mise", "exec"),
    ("nix", "develop"),
];

const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "fish", "ksh"];

/// Commands that show what is there. What they print is not their own failure.
const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "bat",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "sed",
    "awk",
    "ls",
    "find",
    "fd",
    "tree",
    "wc",
    "sort",
    "uniq",
    "cut",
    "tr",
    "jq",
    "yq",
    "echo",
    "printf",
    "pwd",
    "cd",
    "true",
    "file",
    "stat",
    "du",
    "df",
    "diff",
    "cmp",
    "comm",
    "which",
    "type",
    "column",
    "nl",
    "od",
    "xxd",
    "strings",
    "tee",
    "xargs",
    "journalctl",
    "dmesg",
    "ps",
    "env",
    "export",
    "set",
    "source",
    ".",
    "sleep",
    "date",
    "curl",
    "wget",
    "gh",
    "test",
    "[",
    "[[",
    "false",
    "exit",
    "history",
    "pushd",
    "popd",
    "mkdir",
    "touch",
    "fi",
    "done",
    "esac",
    "}",
    ")",
    "for",
    "case",
    "return",
    "read",
    "unset",
    "wait",
    "man",
    "tac",
    "realpath",
    "dirname",
    "basename",
    "zcat",
    "clear",
    "rm",
    "cp",
    "mv",
    "ln",
    "chmod",
];

/// Commands whose exit code 1 is an answer: nothing found, or the two differ.
const ANSWERS_BY_EXIT: &[&str] = &[
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "diff",
    "cmp",
    "test",
    "[",
    "[[",
    "which",
    "type",
    "pgrep",
    "pidof",
    "expr",
    "false",
    "comm",
    "fd",
    "hash",
    "colordiff",
];

/// A command line taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    commands: Vec<Simple>,
    /// `set -o pipefail` or the like.
    strict: bool,
}

impl Line {
    pub(super) fn parse(command: &str) -> Self {
        let command = super::plain::to_byte(command, MAX_COMMAND_BYTES);
        let mut line = Self { commands: Vec::new(), strict: command.contains("pipefail") };
        gather(command, Joint::End, 0, &mut line.commands);
        line
    }

    /// Whether nothing in it does more than show what is there.
    pub(super) fn only_reads(&self) -> bool {
        !self.commands.is_empty() && self.commands.iter().all(Simple::reads)
    }

    /// Whether a part of it can fail and the line still exits with 0.
    pub(super) fn hides_failure(&self) -> bool {
        let mut open = false;
        for command in &self.commands {
            open |= !command.reads();
            let covers = match command.then {
                Joint::And | Joint::End => false,
                Joint::Pipe => !self.strict,
                Joint::Or | Joint::Next => true,
            };
            if open && covers {
                return true;
            }
        }
        false
    }

    /// Whether exit code 1 may be no more than "no".
    pub(super) fn answers_by_exit(&self) -> bool {
        self.commands.last().is_some_and(Simple::answers)
    }

    /// Whether any part may end with 1 to say "no".
    pub(super) fn may_answer_by_exit(&self) -> bool {
        self.commands.iter().any(Simple::answers)
    }

    /// Whether a program of this name is run.
    pub(super) fn runs(&self, program: &str) -> bool {
        self.commands.iter().any(|command| command.head() == program)
    }

    /// Whether tests, a build, a type check or a linter are run.
    pub(super) fn verifies(&self) -> bool {
        self.commands.iter().any(|command| super::verifiers::verifies(&command.words))
    }

    /// Whether it builds or checks types, rather than runs.
    pub(super) fn compiles(&self) -> bool {
        self.commands.iter().any(|command| super::verifiers::compiles(&command.words))
    }
}

/// Whether a command could hide a failure at all; a look at its bytes, for most commands cannot.
pub(super) fn may_hide_failure(command: &str) -> bool {
    let bytes = command.as_bytes();
    memchr::memchr3(b'|', b';', b'\n', bytes).is_some()
        || (memchr::memchr(b'&', bytes).is_some() && has_background(command))
}

/// Whether an `&` stands for itself, and is no part of `&&` or `2>&1`.
fn has_background(command: &str) -> bool {
    command.split("&&").any(|part| part.contains('&') && !part.contains(">&") && !part.contains("&>"))
}

/// Whether a command runs tests, a build, a type check or a linter.
pub(crate) fn is_verification(command: &str) -> bool {
    Line::parse(command).verifies()
}

impl Simple {
    fn head(&self) -> &str {
        base(self.words.first().map_or("", String::as_str))
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    fn reads(&self) -> bool {
        match self.head() {
            "git" => {
                let verb = self.words.iter().skip(1).find(|word| !word.starts_with('-')).map_or("", String::as_str);
                matches!(
                    verb,
                    "diff"
                        | "log"
                        | "show"
                        | "status"
                        | "blame"
                        | "grep"
                        | "ls-files"
                        | "branch"
                        | "cat-file"
                        | "remote"
                )
            }
            "docker" | "kubectl" | "podman" => matches!(self.word(1), "logs" | "ps" | "get" | "describe"),
            "" => true,
            // An assignment alone.
            head => READERS.contains(&head) || (self.words.len() == 1 && is_assignment(self.word(0))),
        }
    }

    fn answers(&self) -> bool {
        match self.head() {
            "git" => matches!(self.word(1), "diff" | "grep" | "merge-base" | "show-ref" | "check-ignore" | "rev-parse"),
            head => ANSWERS_BY_EXIT.contains(&head),
        }
    }
}

/// The program's name without its directory.
pub(super) fn base(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
}

fn gather(command: &str, last: Joint, depth: usize, into: &mut Vec<Simple>) {
    let mut simples = split(command);
    if let Some(simple) = simples.last_mut() {
        simple.then = last;
    }
    for simple in simples {
        let Simple { words, then } = unwrapped(simple);
        let script = words.first().filter(|head| SHELLS.contains(&base(head))).and_then(|_| script_of(&words));
        match script {
            Some(script) if depth < MAX_DEPTH => gather(&script, then, depth + 1, into),
            _ if words.is_empty() => {
                // `FOO=1 |` and the like still close what came before.
                if let Some(previous) = into.last_mut() {
                    previous.then = if then == Joint::End { previous.then } else { then };
                }
            }
            _ => into.push(Simple { words, then }),
        }
    }
    if let Some(simple) = into.last_mut()
        && depth == 0
    {
        simple.then = Joint::End;
    }
}

/// What stands behind `-c` of a shell. Some logs join the words and lose the quotes: then it is all the rest.
fn script_of(words: &[String]) -> Option<String> {
    let flag = words.iter().skip(1).take_while(|word| word.starts_with('-')).position(|word| {
        word.len() <= 5 && word.ends_with('c') && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    })?;
    let rest = words.get(flag + 2..)?;
    match rest {
        [] => None,
        [script] => Some(script.clone()),
        many => Some(many.join(" ")),
    }
}

/// Takes off assignments, `sudo`, `timeout 60` and their like.
fn unwrapped(simple: Simple) -> Simple {
    let Simple { words, then } = simple;
    let mut rest = words.as_slice();
    while let [head, tail @ ..] = rest {
        let name = base(head);
        if tail.is_empty() {
            break;
        }
        if is_assignment(head) {
            rest = tail;
        } else if matches!(name, "timeout" | "gtimeout") {
            let flags = tail.iter().take_while(|word| word.starts_with('-')).count();
            rest = tail.get(flags + 1..).unwrap_or_default();
        } else if tail.first().is_some_and(|second| WRAPPER_PAIRS.contains(&(name, second.as_str()))) {
            rest = tail.get(1..).unwrap_or_default();
            rest = rest.get(rest.iter().take_while(|word| word.starts_with("--")).count()..).unwrap_or_default();
        } else if WRAPPERS.contains(&name) {
            let flags = tail.iter().take_while(|word| word.starts_with('-')).count();
            rest = tail.get(flags..).unwrap_or_default();
        } else {
            break;
        }
    }
    Simple { words: rest.to_vec(), then }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
