//! Parses a command line as far as needed to know whether it changes anything.

use super::super::command_prefixes::{contains_word, find_shell_script, strip_wrappers};
use super::super::failure::is_verification;
use crate::text::shell_lexer::{
    CommandSeparator, LexedCommand, ShellWord, WordRole, is_assignment, program_name, split_commands,
};

#[cfg(test)]
#[path = "shell_effect_tests.rs"]
mod tests;

/// The depth up to which scripts inside scripts are parsed.
const MAX_DEPTH: usize = 4;

/// Programs that only show the contents of files, and shell words that do nothing by themselves.
const LOOKS: &str = "\
    ls cat head tail grep egrep fgrep zgrep rg ag ack pwd cd pushd popd echo printf wc command which type \
    stat file tree less more bat uniq cut diff cmp comm sleep true false : nl tac du df od xxd hexdump \
    strings jq tr column basename dirname realpath readlink test [ [[ zcat md5sum sha256sum for case esac \
    done fi } in exit return date printenv env";

/// Programs that only show something other than files of the project.
const LOOKS_ELSEWHERE: &str = "ps man history id whoami uname hostname pgrep lsof wait";

/// Flags that tell a check to change files as well.
const MENDS: &[&str] =
    &["--fix", "-w", "-u", "--write", "--update", "--updateSnapshot", "--in-place", "--apply", "--accept", "--autofix"];

/// One simple command of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellCommand {
    /// All words, including assignments before the command.
    pub(crate) words: Vec<String>,
    then: CommandSeparator,
    /// True if its output goes into a file.
    pub(crate) writes: bool,
    /// The commands whose output becomes a part of its words.
    nested: Vec<ShellCommand>,
}

impl From<LexedCommand> for ShellCommand {
    fn from(mut command: LexedCommand) -> Self {
        let nested = std::mem::take(&mut command.substituted).into_iter().map(Self::from).collect();
        let writes = command.words.iter().any(names_written_file);
        Self { then: command.separator, words: command.into_words(), writes, nested }
    }
}

/// Parses a command line into its simple commands.
pub(crate) fn parse_shell_commands(command: &str) -> Vec<ShellCommand> {
    let parts = split_commands(command).into_iter().map(ShellCommand::from);
    parts.filter(|part| part.writes || !part.words.is_empty()).collect()
}

/// Returns true if a word of a command is a file that its output goes to.
fn names_written_file(word: &ShellWord) -> bool {
    const NOWHERE: &[&str] = &["/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "$null", "nul", "NUL"];
    matches!(word.role, WordRole::Output | WordRole::ErrorOutput) && !NOWHERE.contains(&word.text.as_str())
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
        return may_change(&script, has_passed);
    }
    let last = parts.len().saturating_sub(1);
    let was_done = |at: usize, part: &ShellCommand| at < last && part.then != CommandSeparator::Pipe && does(part);
    parts.iter().enumerate().any(|(at, part)| was_done(at, part) || part.nested.iter().any(does))
}

/// Returns true if a predicate holds for all commands, those of inner scripts and substitutions included.
pub(in crate::context) fn all_commands_match(
    command: &str,
    depth: usize,
    holds: &dyn Fn(&ShellCommand) -> bool,
) -> bool {
    parse_shell_commands(command).iter().all(|part| part.matches_all(depth, holds))
}

impl ShellCommand {
    fn matches_all(&self, depth: usize, holds: &dyn Fn(&Self) -> bool) -> bool {
        let holds_here = match self.inner_script() {
            Some(script) if depth < MAX_DEPTH && !self.writes => all_commands_match(&script, depth + 1, holds),
            _ => holds(self),
        };
        holds_here && self.nested.iter().all(|part| part.matches_all(depth, holds))
    }

    /// Returns the words of the command without assignments and wrappers such as `sudo`.
    pub(crate) fn command_words(&self) -> &[String] {
        strip_wrappers(&self.words)
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
        self.only_reads_beside() && !mends && !self.formats_files() && is_verification(&self.to_command_line())
    }

    /// Returns true if it formats files, rather than only checking their format.
    pub(in crate::context) fn formats_files(&self) -> bool {
        let has = |count: usize, names: &[&str]| {
            self.command_words().iter().take(count).any(|word| names.contains(&program_name(word)))
        };
        has(3, &["fmt", "format", "black", "isort", "rustfmt", "gofmt", "prettier"])
            && !has(usize::MAX, &["--check", "-c", "-l", "-d", "--diff", "--list-different", "--check-only"])
    }

    /// Returns its words as a line that can be parsed again.
    pub(in crate::context) fn to_command_line(&self) -> String {
        let is_plain = |word: &str| !word.contains(|c: char| c.is_whitespace() || "|&;<>()'\"`\\#".contains(c));
        let words = self.words.iter().map(|word| if is_plain(word) { word.as_str() } else { "_" });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the script that it passes to a shell.
    pub(crate) fn inner_script(&self) -> Option<String> {
        find_shell_script(self.command_words())
    }

    /// Returns true if it only reads or prints.
    pub(crate) fn is_read_only(&self) -> bool {
        self.only_reads_beside() && is_read_only_invocation(self.command_words())
    }

    /// Returns true if it writes no file and all commands in its words only read or print.
    fn only_reads_beside(&self) -> bool {
        !self.writes && self.nested.iter().all(Self::is_read_only)
    }

    fn reads_elsewhere(&self) -> bool {
        let words = self.command_words();
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let is_one = match program_name(word(0)) {
            "docker" | "podman" => matches!(word(1), "logs" | "ps" | "images" | "inspect"),
            "kubectl" => matches!(word(1), "logs" | "get" | "describe" | "top"),
            "gh" | "glab" => matches!(word(2), "view" | "list" | "status" | "diff" | "checks"),
            name => contains_word(LOOKS_ELSEWHERE, name),
        };
        is_one && self.only_reads_beside()
    }
}

fn is_read_only_invocation(words: &[String]) -> bool {
    let Some((head, rest)) = words.split_first() else { return true };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.iter().any(|flag| word.starts_with(flag)));
    let short = |letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    match program_name(head) {
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
        name => contains_word(LOOKS, name),
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
    let (_, mut rest) = words.split_first().filter(|(head, _)| program_name(head) == "git")?;
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
