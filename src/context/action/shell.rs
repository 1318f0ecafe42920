//! A command line taken apart, as far as needed to know whether it changes anything.

use super::super::failure::{Characters, document_end, is_verification, skip_document};

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;

/// A script in a script in a script is no longer looked into.
const MAX_DEPTH: usize = 4;

/// Words before a command that do not change what it is.
const WRAPPERS: &[&str] = &[
    "sudo", "time", "nice", "nohup", "command", "exec", "do", "then", "else", "if", "elif", "while", "until", "!", "{",
    "stdbuf", "builtin",
];

/// Programs that show what stands in files, and parts of a script that do nothing by themselves.
const LOOKS: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "pwd",
    "cd",
    "pushd",
    "popd",
    "echo",
    "printf",
    "wc",
    "which",
    "type",
    "stat",
    "file",
    "tree",
    "less",
    "more",
    "bat",
    "uniq",
    "cut",
    "diff",
    "cmp",
    "comm",
    "sleep",
    "true",
    "false",
    ":",
    "nl",
    "tac",
    "du",
    "df",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "jq",
    "tr",
    "column",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "test",
    "[",
    "[[",
    "zcat",
    "md5sum",
    "sha256sum",
    "for",
    "case",
    "esac",
    "done",
    "fi",
    "}",
    "in",
    "exit",
    "return",
    "date",
    "printenv",
    "env",
    "$",
];

/// Programs that show what stands elsewhere.
const LOOKS_ELSEWHERE: &[&str] =
    &["ps", "man", "history", "id", "whoami", "uname", "hostname", "pgrep", "lsof", "wait"];

/// How a check says that it also mends.
const MENDS: &[&str] =
    &["--fix", "-w", "-u", "--write", "--update", "--updateSnapshot", "--in-place", "--apply", "--accept", "--autofix"];

/// What joins a command to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    Pipe,
    Next,
    End,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    words: Vec<String>,
    then: Joint,
    /// Whether its output goes into a file, or other commands hide in its words.
    writes: bool,
}

/// Takes a command line apart.
pub(crate) fn parts(command: &str) -> Vec<Part> {
    let mut scan = Scan::default();
    scan.run(command);
    scan.parts
}

/// Whether a command changes nothing: it looks, lists or prints.
pub(crate) fn is_look(command: &str) -> bool {
    all(command, 0, &Part::looks)
}

/// Whether a command may change what the next one finds. One that fails is taken to have done nothing, but what stood
/// before the failing part of it was done.
pub(super) fn may_change(command: &str, has_passed: bool) -> bool {
    let does = |part: &Part| !part.looks() && !part.looks_elsewhere() && !part.checks();
    if has_passed {
        return !all(command, 0, &|part| !does(part));
    }
    let parts = parts(command);
    if let [part] = parts.as_slice()
        && let Some(script) = part.script()
    {
        return may_change(script, has_passed);
    }
    let last = parts.len().saturating_sub(1);
    parts.iter().enumerate().any(|(at, part)| at < last && part.then != Joint::Pipe && does(part))
}

/// Whether something is true of all parts, those of inner scripts among them.
fn all(command: &str, depth: usize, holds: &dyn Fn(&Part) -> bool) -> bool {
    parts(command).iter().all(|part| match part.script() {
        Some(script) if depth < MAX_DEPTH && !part.writes => all(script, depth + 1, holds),
        _ => holds(part),
    })
}

impl Part {
    /// All its words, settings before the command among them.
    pub(crate) fn all_words(&self) -> &[String] {
        &self.words
    }

    /// Whether its output goes into a file, or other commands hide in its words.
    pub(crate) fn writes(&self) -> bool {
        self.writes
    }

    /// Its words without what only wraps the command.
    pub(crate) fn words(&self) -> &[String] {
        let mut rest = self.words.as_slice();
        while let [head, tail @ ..] = rest {
            if tail.is_empty() {
                break;
            }
            let flags = tail.iter().take_while(|word| word.starts_with('-')).count();
            rest = match base(head) {
                _ if is_assignment(head) => tail,
                "env" => tail.get(flags..).unwrap_or_default(),
                "timeout" | "gtimeout" => tail.get(flags + 1..).unwrap_or_default(),
                name if WRAPPERS.contains(&name) => tail.get(flags..).unwrap_or_default(),
                _ => break,
            };
        }
        rest
    }

    /// The folder that it goes to.
    pub(in crate::context) fn folder(&self) -> Option<&str> {
        match self.words() {
            [head, folder, ..] if matches!(head.as_str(), "cd" | "pushd") => Some(folder),
            [head] if matches!(head.as_str(), "cd" | "popd") => Some(head),
            _ => None,
        }
    }

    /// Whether it runs tests, a build, a type check or a linter, and mends nothing.
    pub(crate) fn checks(&self) -> bool {
        let words = self.words();
        let mends = words.iter().any(|word| {
            MENDS.iter().any(|flag| word == flag || word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
                || (!word.contains(['/', '.']) && word.split([':', '-', '_']).any(|part| part == "fix"))
        });
        !self.writes && !mends && !self.formats() && is_verification(&self.line())
    }

    /// Whether it formats files, and is not told only to look at them.
    pub(in crate::context) fn formats(&self) -> bool {
        let has =
            |count: usize, names: &[&str]| self.words().iter().take(count).any(|word| names.contains(&base(word)));
        has(3, &["fmt", "format", "black", "isort", "rustfmt", "gofmt", "prettier"])
            && !has(usize::MAX, &["--check", "-c", "-l", "-d", "--diff", "--list-different", "--check-only"])
    }

    /// Its words as a line that can be taken apart again.
    pub(in crate::context) fn line(&self) -> String {
        let mut line = String::new();
        for word in &self.words {
            let is_plain = !word.contains(|c: char| c.is_whitespace() || "|&;<>()'\"`\\#".contains(c));
            let word = if is_plain { word.as_str() } else { "_" };
            line.push_str(word);
            line.push(' ');
        }
        line
    }

    /// The script that it has a shell run.
    pub(in crate::context) fn script(&self) -> Option<&str> {
        match self.words() {
            [shell, flag, script, ..]
                if super::is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') && flag.len() <= 5 =>
            {
                Some(script)
            }
            _ => None,
        }
    }

    /// Whether it only shows what is there.
    pub(crate) fn looks(&self) -> bool {
        if self.writes {
            return false;
        }
        looks(self.words())
    }

    fn looks_elsewhere(&self) -> bool {
        let words = self.words();
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let is_one = match base(word(0)) {
            "docker" | "podman" => matches!(word(1), "logs" | "ps" | "images" | "inspect"),
            "kubectl" => matches!(word(1), "logs" | "get" | "describe" | "top"),
            "gh" | "glab" => matches!(word(2), "view" | "list" | "status" | "diff" | "checks"),
            name => LOOKS_ELSEWHERE.contains(&name),
        };
        is_one && !self.writes
    }
}

fn looks(words: &[String]) -> bool {
    let Some((head, rest)) = words.split_first() else { return true };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.iter().any(|flag| word.starts_with(flag)));
    let short = |letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    match base(head) {
        "sed" => !short('i') && !has(&["--in-place"]),
        "yq" => !short('i') && !has(&["--inplace"]),
        "sort" => !short('o') && !has(&["--output"]),
        "awk" | "gawk" => !has(&["-i"]) && !rest.iter().any(|word| word.contains('>') || word.contains("system(")),
        "find" => !has(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "fd" => !short('x') && !short('X') && !has(&["--exec"]),
        "xargs" => {
            let flags = rest.iter().take_while(|word| {
                word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit()) || *word == "{}"
            });
            looks(rest.get(flags.count()..).unwrap_or_default())
        }
        "git" => git(words).is_some_and(|git| git.looks()),
        _ if is_assignment(head) && rest.is_empty() => true,
        name => LOOKS.contains(&name),
    }
}

/// A call of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::context) struct Git<'a> {
    /// Where, if it says so.
    pub(in crate::context) folder: Option<&'a str>,
    /// What.
    pub(in crate::context) verb: &'a str,
    /// The words behind it.
    pub(in crate::context) rest: &'a [String],
}

/// Reads a call of git.
pub(in crate::context) fn git(words: &[String]) -> Option<Git<'_>> {
    let (_, mut rest) = words.split_first().filter(|(head, _)| base(head) == "git")?;
    let mut folder = None;
    loop {
        let (word, tail) = rest.split_first()?;
        rest = match word.as_str() {
            "-C" => {
                folder = tail.first().map(String::as_str);
                tail.get(1..)?
            }
            "-c" | "--git-dir" | "--work-tree" | "--namespace" => tail.get(1..)?,
            flag if flag.starts_with('-') => tail,
            verb => return Some(Git { folder, verb, rest: tail }),
        };
    }
}

impl Git<'_> {
    /// Its words that are no flags.
    pub(in crate::context) fn operands(&self) -> impl Iterator<Item = &str> {
        self.rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    pub(in crate::context) fn has(&self, flag: &str) -> bool {
        self.rest.iter().any(|word| word == flag)
    }

    fn looks(&self) -> bool {
        let first = || self.operands().next();
        match self.verb {
            "status" | "log" | "diff" | "show" | "blame" | "grep" | "ls-files" | "ls-tree" | "cat-file"
            | "rev-parse" | "describe" | "shortlog" | "rev-list" | "merge-base" | "check-ignore" => true,
            "branch" | "tag" => first().is_none() || self.has("--list") || self.has("-l") || self.has("--contains"),
            "remote" => matches!(first(), None | Some("show" | "get-url")),
            "stash" | "worktree" => matches!(first(), Some("list" | "show")),
            "reflog" => matches!(first(), None | Some("show")),
            "config" => self.has("--get") || self.has("--list") || self.has("-l"),
            _ => false,
        }
    }
}

/// The program's name without its directory.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// `NAME=value`.
pub(in crate::context) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Where the taking apart stands.
#[derive(Default)]
struct Scan {
    parts: Vec<Part>,
    words: Vec<String>,
    word: Option<String>,
    writes: bool,
    /// The word that ends a text which stands in the command.
    document: Option<String>,
}

impl Scan {
    fn run(&mut self, command: &str) {
        let mut characters = command.chars().peekable();
        let mut before = ' ';
        while let Some(character) = characters.next() {
            let previous = std::mem::replace(&mut before, character);
            match character {
                '\\' => {
                    if let Some(next) = characters.next().filter(|next| *next != '\n') {
                        self.word.get_or_insert_default().push(next);
                    }
                }
                '\'' | '"' => self.quoted(character, &mut characters),
                '#' if previous.is_whitespace() => while characters.next_if(|next| *next != '\n').is_some() {},
                '>' => self.redirected(&mut characters),
                '<' if characters.next_if_eq(&'<').is_some() => {
                    if characters.next_if_eq(&'<').is_none() {
                        self.document = Some(document_end(&mut characters));
                    }
                }
                '<' => self.end_word(),
                '&' if characters.peek() == Some(&'>') => self.end_word(),
                '|' if characters.next_if_eq(&'|').is_none() => {
                    characters.next_if_eq(&'&');
                    self.end(Joint::Pipe);
                }
                '&' | '|' | ';' | '(' | ')' | '`' => {
                    characters.next_if(|next| *next == character && matches!(next, '&' | ';'));
                    self.end(Joint::Next);
                }
                '\n' => {
                    if let Some(end) = self.document.take() {
                        skip_document(&mut characters, &end);
                    }
                    self.end(Joint::Next);
                }
                _ if character.is_whitespace() => self.end_word(),
                _ => self.word.get_or_insert_default().push(character),
            }
        }
        self.end(Joint::End);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end(&mut self, then: Joint) {
        self.end_word();
        let writes = std::mem::take(&mut self.writes);
        if !self.words.is_empty() || writes {
            self.parts.push(Part { words: std::mem::take(&mut self.words), then, writes });
        }
    }

    fn quoted(&mut self, quote: char, characters: &mut Characters<'_>) {
        let word = self.word.get_or_insert_default();
        while let Some(inner) = characters.next() {
            match inner {
                _ if inner == quote => return,
                '\\' if quote == '"' => word.extend(characters.next()),
                _ => {
                    self.writes |= quote == '"' && (inner == '`' || (inner == '$' && characters.peek() == Some(&'(')));
                    word.push(inner);
                }
            }
        }
    }

    /// Behind a `>`: where to.
    fn redirected(&mut self, characters: &mut Characters<'_>) {
        // The number of what is redirected is no word.
        self.word = self.word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        while characters.next_if(|next| matches!(next, '>' | '|')).is_some() {}
        let is_joined = characters.next_if_eq(&'&').is_some();
        while characters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
        let mut target = String::new();
        while let Some(next) = characters.next_if(|next| !next.is_whitespace() && !"|&;()<>`".contains(*next)) {
            target.push(next);
        }
        let is_number = is_joined && target.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let is_nowhere = matches!(target.as_str(), "/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty");
        self.writes |= !is_number && !is_nowhere;
    }
}
