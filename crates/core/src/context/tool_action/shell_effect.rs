//! Parses a command line as far as needed to know whether it changes anything.

use super::super::failure::{Characters, here_document_end, is_verification, skip_here_document};

#[cfg(test)]
#[path = "shell_effect_tests.rs"]
mod tests;

/// The depth up to which scripts inside scripts are parsed.
const MAX_DEPTH: usize = 4;

/// Words before a command that do not change what it is.
const WRAPPERS: &[&str] = &[
    "sudo", "time", "nice", "nohup", "command", "exec", "do", "then", "else", "if", "elif", "while", "until", "!", "{",
    "stdbuf", "builtin",
];

/// Programs that only show the contents of files, and shell words that do nothing by themselves.
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

/// Programs that only show something other than files of the project.
const LOOKS_ELSEWHERE: &[&str] =
    &["ps", "man", "history", "id", "whoami", "uname", "hostname", "pgrep", "lsof", "wait"];

/// Flags that tell a check to change files as well.
const MENDS: &[&str] =
    &["--fix", "-w", "-u", "--write", "--update", "--updateSnapshot", "--in-place", "--apply", "--accept", "--autofix"];

/// The operator that separates a command from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShellSeparator {
    Pipe,
    Next,
    End,
}

/// One simple command of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellCommand {
    words: Vec<String>,
    then: ShellSeparator,
    /// True if its output goes into a file, or if other commands are nested in its words.
    writes: bool,
}

/// Parses a command line into its simple commands.
pub(crate) fn parse_shell_commands(command: &str) -> Vec<ShellCommand> {
    let mut scan = ShellScanner::default();
    scan.scan_command(command);
    scan.parts
}

/// Returns true if a command changes nothing: it only reads, lists or prints.
pub(crate) fn is_read_only_command(command: &str) -> bool {
    all_commands_match(command, 0, &ShellCommand::is_read_only)
}

/// Returns true if a command may change what the next one finds. A failed command counts as having done nothing, except
/// for the parts before the failing one.
pub(super) fn may_change(command: &str, has_passed: bool) -> bool {
    let does = |part: &ShellCommand| !part.is_read_only() && !part.reads_elsewhere() && !part.is_pure_check();
    if has_passed {
        return !all_commands_match(command, 0, &|part| !does(part));
    }
    let parts = parse_shell_commands(command);
    if let [part] = parts.as_slice()
        && let Some(script) = part.inner_script()
    {
        return may_change(script, has_passed);
    }
    let last = parts.len().saturating_sub(1);
    parts.iter().enumerate().any(|(at, part)| at < last && part.then != ShellSeparator::Pipe && does(part))
}

/// Returns true if a predicate holds for all commands, those of inner scripts included.
fn all_commands_match(command: &str, depth: usize, holds: &dyn Fn(&ShellCommand) -> bool) -> bool {
    parse_shell_commands(command).iter().all(|part| match part.inner_script() {
        Some(script) if depth < MAX_DEPTH && !part.writes => all_commands_match(script, depth + 1, holds),
        _ => holds(part),
    })
}

impl ShellCommand {
    /// Returns all words, including assignments before the command.
    pub(crate) fn all_words(&self) -> &[String] {
        &self.words
    }

    /// Returns true if its output goes into a file, or if other commands are nested in its words.
    pub(crate) fn may_write_files(&self) -> bool {
        self.writes
    }

    /// Returns the words of the command without assignments and wrappers such as `sudo`.
    pub(crate) fn command_words(&self) -> &[String] {
        let mut rest = self.words.as_slice();
        while let [head, tail @ ..] = rest {
            if tail.is_empty() {
                break;
            }
            let flags = tail.iter().take_while(|word| word.starts_with('-')).count();
            rest = match base_name(head) {
                _ if is_assignment(head) => tail,
                "env" => tail.get(flags..).unwrap_or_default(),
                "timeout" | "gtimeout" => tail.get(flags + 1..).unwrap_or_default(),
                name if WRAPPERS.contains(&name) => tail.get(flags..).unwrap_or_default(),
                _ => break,
            };
        }
        rest
    }

    /// Returns the folder that a `cd`, `pushd` or `popd` changes to.
    pub(in crate::context) fn target_folder(&self) -> Option<&str> {
        match self.command_words() {
            [head, folder, ..] if matches!(head.as_str(), "cd" | "pushd") => Some(folder),
            [head] if matches!(head.as_str(), "cd" | "popd") => Some(head),
            _ => None,
        }
    }

    /// Returns true if it runs tests, a build, a type check or a linter, and changes no files.
    pub(crate) fn is_pure_check(&self) -> bool {
        let words = self.command_words();
        let mends = words.iter().any(|word| {
            MENDS.iter().any(|flag| word == flag || word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
                || (!word.contains(['/', '.']) && word.split([':', '-', '_']).any(|part| part == "fix"))
        });
        !self.writes && !mends && !self.formats_files() && is_verification(&self.to_command_line())
    }

    /// Returns true if it formats files, rather than only checking their format.
    pub(in crate::context) fn formats_files(&self) -> bool {
        let has = |count: usize, names: &[&str]| {
            self.command_words().iter().take(count).any(|word| names.contains(&base_name(word)))
        };
        has(3, &["fmt", "format", "black", "isort", "rustfmt", "gofmt", "prettier"])
            && !has(usize::MAX, &["--check", "-c", "-l", "-d", "--diff", "--list-different", "--check-only"])
    }

    /// Returns its words as a line that can be parsed again.
    pub(in crate::context) fn to_command_line(&self) -> String {
        let mut line = String::new();
        for word in &self.words {
            let is_plain = !word.contains(|c: char| c.is_whitespace() || "|&;<>()'\"`\\#".contains(c));
            let word = if is_plain { word.as_str() } else { "_" };
            line.push_str(word);
            line.push(' ');
        }
        line
    }

    /// Returns the script that it passes to a shell.
    pub(in crate::context) fn inner_script(&self) -> Option<&str> {
        match self.command_words() {
            [shell, flag, script, ..]
                if super::is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') && flag.len() <= 5 =>
            {
                Some(script)
            }
            _ => None,
        }
    }

    /// Returns true if it only reads or prints.
    pub(crate) fn is_read_only(&self) -> bool {
        if self.writes {
            return false;
        }
        is_read_only_invocation(self.command_words())
    }

    fn reads_elsewhere(&self) -> bool {
        let words = self.command_words();
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let is_one = match base_name(word(0)) {
            "docker" | "podman" => matches!(word(1), "logs" | "ps" | "images" | "inspect"),
            "kubectl" => matches!(word(1), "logs" | "get" | "describe" | "top"),
            "gh" | "glab" => matches!(word(2), "view" | "list" | "status" | "diff" | "checks"),
            name => LOOKS_ELSEWHERE.contains(&name),
        };
        is_one && !self.writes
    }
}

fn is_read_only_invocation(words: &[String]) -> bool {
    let Some((head, rest)) = words.split_first() else { return true };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.iter().any(|flag| word.starts_with(flag)));
    let short = |letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    match base_name(head) {
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
            is_read_only_invocation(rest.get(flags.count()..).unwrap_or_default())
        }
        "git" => parse_git_command(words).is_some_and(|git| git.is_read_only()),
        _ if is_assignment(head) && rest.is_empty() => true,
        name => LOOKS.contains(&name),
    }
}

/// A parsed git command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::context) struct GitCommand<'a> {
    /// The folder given with `-C`.
    pub(in crate::context) folder: Option<&'a str>,
    /// The git subcommand, such as `commit`.
    pub(in crate::context) verb: &'a str,
    /// The words after the subcommand.
    pub(in crate::context) rest: &'a [String],
}

/// Parses a git command; `None` if the words are not one.
pub(in crate::context) fn parse_git_command(words: &[String]) -> Option<GitCommand<'_>> {
    let (_, mut rest) = words.split_first().filter(|(head, _)| base_name(head) == "git")?;
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
            verb => return Some(GitCommand { folder, verb, rest: tail }),
        };
    }
}

impl GitCommand<'_> {
    /// Returns its words that are not flags.
    pub(in crate::context) fn operands(&self) -> impl Iterator<Item = &str> {
        self.rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    pub(in crate::context) fn has_flag(&self, flag: &str) -> bool {
        self.rest.iter().any(|word| word == flag)
    }

    fn is_read_only(&self) -> bool {
        let first = || self.operands().next();
        match self.verb {
            "status" | "log" | "diff" | "show" | "blame" | "grep" | "ls-files" | "ls-tree" | "cat-file"
            | "rev-parse" | "describe" | "shortlog" | "rev-list" | "merge-base" | "check-ignore" => true,
            "branch" | "tag" => {
                first().is_none() || self.has_flag("--list") || self.has_flag("-l") || self.has_flag("--contains")
            }
            "remote" => matches!(first(), None | Some("show" | "get-url")),
            "stash" | "worktree" => matches!(first(), Some("list" | "show")),
            "reflog" => matches!(first(), None | Some("show")),
            "config" => self.has_flag("--get") || self.has_flag("--list") || self.has_flag("-l"),
            _ => false,
        }
    }
}

/// Returns the program's name without its directory.
fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns true if a word is an assignment: `NAME=value`.
pub(in crate::context) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The state of parsing a command line.
#[derive(Default)]
struct ShellScanner {
    parts: Vec<ShellCommand>,
    words: Vec<String>,
    word: Option<String>,
    writes: bool,
    /// The word that ends the here-document in the command.
    document: Option<String>,
}

impl ShellScanner {
    fn scan_command(&mut self, command: &str) {
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
                '\'' | '"' => self.read_quoted(character, &mut characters),
                '#' if previous.is_whitespace() => while characters.next_if(|next| *next != '\n').is_some() {},
                '>' => self.read_redirection(&mut characters),
                '<' if characters.next_if_eq(&'<').is_some() => {
                    if characters.next_if_eq(&'<').is_none() {
                        self.document = Some(here_document_end(&mut characters));
                    }
                }
                '<' => self.end_word(),
                '&' if characters.peek() == Some(&'>') => self.end_word(),
                '|' if characters.next_if_eq(&'|').is_none() => {
                    characters.next_if_eq(&'&');
                    self.end_command(ShellSeparator::Pipe);
                }
                '&' | '|' | ';' | '(' | ')' | '`' => {
                    characters.next_if(|next| *next == character && matches!(next, '&' | ';'));
                    self.end_command(ShellSeparator::Next);
                }
                '\n' => {
                    if let Some(end) = self.document.take() {
                        skip_here_document(&mut characters, &end);
                    }
                    self.end_command(ShellSeparator::Next);
                }
                _ if character.is_whitespace() => self.end_word(),
                _ => self.word.get_or_insert_default().push(character),
            }
        }
        self.end_command(ShellSeparator::End);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self, then: ShellSeparator) {
        self.end_word();
        let writes = std::mem::take(&mut self.writes);
        if !self.words.is_empty() || writes {
            self.parts.push(ShellCommand { words: std::mem::take(&mut self.words), then, writes });
        }
    }

    fn read_quoted(&mut self, quote: char, characters: &mut Characters<'_>) {
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

    /// Reads the target of a redirection, after its `>`.
    fn read_redirection(&mut self, characters: &mut Characters<'_>) {
        // The number of the redirected stream is no word.
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
