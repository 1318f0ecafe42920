//! Parses a shell command as far as needed to know what it runs and whether its exit code can be trusted.

use crate::context::command_prefixes::{contains_word, find_shell_script, strip_runners, strip_wrappers};
use crate::text::shell_lexer::{CommandSeparator, LexedCommand, WordRole, is_assignment, program_name, split_commands};

#[cfg(test)]
#[path = "command_line_tests.rs"]
mod tests;

/// The number of bytes of a command that are parsed; longer ones embed a file, and what they run comes first.
const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// The depth up to which scripts inside scripts are parsed.
const MAX_DEPTH: usize = 4;

/// Commands that only show something. The errors they print are not their own failure.
const READERS: &str = "\
     cat head tail less more bat grep egrep fgrep zgrep rg ag ack sed awk ls find fd tree wc sort uniq \
    cut tr jq yq echo printf pwd cd true file stat du df diff cmp comm which type command hash column nl od xxd strings \
    tee xargs journalctl dmesg ps env export set source . sleep date test [ [[ false exit history pushd popd fi done \
    esac } for case return read unset wait man tac realpath dirname basename zcat clear ";

/// Commands that change little or ask a remote service, and print little of their own.
const MESSENGERS: &str = " curl wget gh mkdir touch rm cp mv ln chmod ";

/// Commands whose exit code 1 is an answer: nothing found, or the two inputs differ.
const ANSWERS_BY_EXIT: &str = "\
     grep egrep fgrep zgrep rg ag ack diff cmp test [ [[ which type command pgrep pidof expr \
    false comm fd hash colordiff ";

/// One command of a line, without assignments and wrappers before it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SimpleCommand {
    words: Vec<String>,
    /// The files that its output or error output goes to.
    written: Vec<String>,
    /// True if its output goes to a file, so that nobody sees it.
    is_kept: bool,
    then: CommandSeparator,
}

/// A parsed command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ParsedCommandLine {
    commands: Vec<SimpleCommand>,
    /// True if the line mentions `pipefail`, so that a pipe does not hide a failure.
    strict: bool,
}

impl ParsedCommandLine {
    pub(super) fn parse(command: &str) -> Self {
        let command = super::plain_output::prefix_to_byte(command, MAX_COMMAND_BYTES);
        let mut line = Self { commands: Vec::new(), strict: command.contains("pipefail") };
        let script = extract_script_commands(command);
        collect_commands(script.as_deref().unwrap_or(command), CommandSeparator::End, 0, &mut line.commands);
        line
    }

    /// Returns true if all commands are readers or messengers, so that the errors they print are not their own.
    pub(super) fn only_reads(&self) -> bool {
        !self.commands.is_empty() && self.commands.iter().all(SimpleCommand::only_reads)
    }

    /// Returns true if all commands only inspect, so that a bad exit code without an error line is an answer.
    pub(super) fn only_inspects(&self) -> bool {
        !self.commands.is_empty()
            && self.commands.iter().all(|command| command.only_inspects() || command.answers_by_exit())
    }

    /// Returns true if the line only asks whether a program exists: `command -v x`, `x --version`.
    pub(super) fn only_probes(&self, program: &str) -> bool {
        let mut asked = self.commands.iter().filter(|command| {
            command.program_name() == program || command.is_finder() && command.words.iter().any(|word| word == program)
        });
        asked.next().is_some_and(SimpleCommand::is_probe) && asked.all(SimpleCommand::is_probe)
    }

    /// Returns true if it queries the checks of a pull request.
    pub(super) fn queries_pr_checks(&self) -> bool {
        self.commands
            .iter()
            .any(|command| command.program_name() == "gh" && command.words.iter().any(|word| word == "checks"))
    }

    /// Returns true if it waits in a loop until something is there.
    pub(super) fn is_polling(&self) -> bool {
        self.runs_program("sleep") && self.runs_program("done")
    }

    /// Tells whether files, hits or logs are shown among other work, and whether that opens and closes the output.
    pub(super) fn dump_edges(&self) -> Option<(bool, bool)> {
        let mut written: Vec<&str> = Vec::new();
        let mut shows = Vec::new();
        for pipe in self.commands.split_inclusive(|command| command.then != CommandSeparator::Pipe) {
            let is_own = |word: &String| written.contains(&word.as_str());
            let is_dump =
                pipe.iter().all(SimpleCommand::only_reads) && pipe.first().is_some_and(SimpleCommand::dumps_content);
            // A log that was written just before counts as that program's output.
            let is_dump = is_dump && !pipe.iter().flat_map(|command| &command.words).any(is_own);
            if is_dump || !pipe.iter().all(SimpleCommand::only_reads) {
                shows.push(is_dump);
            }
            written.extend(
                pipe.iter().flat_map(|command| command.words.iter().chain(&command.written)).map(String::as_str),
            );
        }
        shows.contains(&true).then(|| (shows.first() == Some(&true), shows.last() == Some(&true)))
    }

    /// Returns true if a part of it can fail while the line still exits with 0.
    pub(super) fn hides_failure(&self) -> bool {
        let mut open = false;
        for command in &self.commands {
            open |= !command.only_reads();
            let covers = match command.then {
                CommandSeparator::And | CommandSeparator::End => false,
                CommandSeparator::Pipe => !self.strict,
                CommandSeparator::Or | CommandSeparator::Background | CommandSeparator::Next => true,
            };
            if open && covers {
                return true;
            }
        }
        false
    }

    /// Returns true if exit code 1 may be just a negative answer of the last command.
    pub(super) fn answers_by_exit(&self) -> bool {
        self.commands.last().is_some_and(SimpleCommand::answers_by_exit)
    }

    /// Returns true if any command may exit with 1 as a negative answer.
    pub(super) fn may_answer_by_exit(&self) -> bool {
        self.commands.iter().any(SimpleCommand::answers_by_exit)
    }

    /// Returns true if it runs a program of this name.
    pub(super) fn runs_program(&self, program: &str) -> bool {
        self.commands.iter().any(|command| command.program_name() == program)
    }

    /// Returns true if it runs tests, a build, a type check or a linter.
    pub(super) fn runs_check(&self) -> bool {
        self.commands.iter().any(|command| super::check_commands::is_check_command(&command.words))
    }

    /// Returns true if its checks are all linters or formatters.
    pub(super) fn only_lints(&self) -> bool {
        let mut checks =
            self.commands.iter().filter(|command| super::check_commands::is_check_command(&command.words)).peekable();
        checks.peek().is_some() && checks.all(|command| super::check_commands::is_lint_command(&command.words))
    }

    /// Returns true if it builds or checks types.
    pub(super) fn runs_compiler(&self) -> bool {
        self.commands.iter().any(|command| super::check_commands::is_compile_command(&command.words))
    }
}

/// Returns true if a command could hide a failure at all; a cheap look at its bytes, because most cannot.
pub(super) fn may_hide_failure(command: &str) -> bool {
    let bytes = command.as_bytes();
    memchr::memchr3(b'|', b';', b'\n', bytes).is_some()
        || (memchr::memchr(b'&', bytes).is_some()
            && split_commands(command).iter().any(|part| part.separator == CommandSeparator::Background))
}

/// Returns true if a command runs tests, a build, a type check or a linter.
pub(crate) fn is_verification(command: &str) -> bool {
    ParsedCommandLine::parse(command).runs_check()
}

impl From<LexedCommand> for SimpleCommand {
    fn from(command: LexedCommand) -> Self {
        let is_written = |role: WordRole| matches!(role, WordRole::Output | WordRole::ErrorOutput);
        let written = command.words.iter().filter(|word| is_written(word.role)).map(|word| word.text.clone()).collect();
        let is_kept = command.words.iter().any(|word| word.role == WordRole::Output);
        let then = command.separator;
        Self { words: strip_prefixes(&command.into_words()).to_vec(), written, is_kept, then }
    }
}

impl SimpleCommand {
    fn program_name(&self) -> &str {
        program_name(self.words.first().map_or("", String::as_str))
    }

    fn word_at(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    fn only_reads(&self) -> bool {
        let is_asked = matches!(self.program_name(), "docker" | "kubectl" | "podman");
        self.only_inspects()
            || contains_word(MESSENGERS, self.program_name())
            || is_asked && matches!(self.word_at(1), "logs" | "ps" | "get" | "describe")
    }

    fn only_inspects(&self) -> bool {
        match self.program_name() {
            "git" => {
                let verb = self.words.iter().skip(1).find(|word| !word.starts_with('-')).map_or("", String::as_str);
                contains_word(" diff log show status blame grep ls-files branch cat-file remote ", verb)
            }
            "" => true,
            // An assignment alone.
            head => {
                contains_word(READERS, head)
                    || (self.words.len() == 1 && is_assignment(self.word_at(0)))
                    || self.is_probe()
            }
        }
    }

    /// Returns true if it prints the contents of a file, a log or a history.
    fn dumps_content(&self) -> bool {
        const DUMPERS: &str = "\
             cat head tail less more bat grep egrep fgrep zgrep rg ag ack sed awk jq nl zcat tac journalctl \
            dmesg git docker kubectl podman diff ";
        contains_word(DUMPERS, self.program_name()) && !self.is_kept && !self.words.iter().any(|word| word == "-i")
    }

    /// Returns true if it looks for a program: `command -v x`, `which x`.
    fn is_finder(&self) -> bool {
        matches!(self.program_name(), "which" | "type" | "command" | "hash")
    }

    /// Returns true if it only asks whether a program exists.
    fn is_probe(&self) -> bool {
        let is_question = |word: &str| matches!(word, "--version" | "-V" | "-v" | "version");
        let mut rest = self.words.iter().skip(1);
        self.is_finder() || rest.next().is_some_and(|word| is_question(word)) && rest.next().is_none()
    }

    fn answers_by_exit(&self) -> bool {
        match self.program_name() {
            "git" => {
                contains_word(" diff grep merge-base show-ref check-ignore rev-parse symbolic-ref ", self.word_at(1))
            }
            head => contains_word(ANSWERS_BY_EXIT, head),
        }
    }
}

/// Extracts the shell commands of a script that a harness runs: `tools.exec_command({cmd: "…"})`.
fn extract_script_commands(script: &str) -> Option<String> {
    let mut commands = String::new();
    for call in script.split("exec_command(").skip(1) {
        let Some((_, value)) = call.split_once("cmd").filter(|(before, _)| before.len() <= 8) else { continue };
        let value = value.trim_start_matches(['"', ':', ' ']);
        // The quote that opens the command was stripped together with that of its key.
        let quoted = format!("\"{value}");
        let read = serde_json::Deserializer::from_str(&quoted).into_iter::<String>().next();
        commands.extend(read.and_then(Result::ok));
        commands.push('\n');
    }
    (!commands.trim().is_empty()).then_some(commands)
}

fn collect_commands(command: &str, last: CommandSeparator, depth: usize, into: &mut Vec<SimpleCommand>) {
    let mut simples = split_commands(command);
    if let Some(simple) = simples.last_mut() {
        simple.separator = last;
    }
    for simple in simples {
        let simple = SimpleCommand::from(simple);
        let SimpleCommand { words, then, is_kept, .. } = &simple;
        match find_shell_script(words) {
            Some(script) if depth < MAX_DEPTH => {
                collect_commands(&script, *then, depth + 1, into);
                into.iter_mut().rev().take(1).for_each(|last| last.is_kept |= is_kept);
            }
            _ if words.is_empty() => {
                // `FOO=1 |` and the like still end the command before.
                if let Some(previous) = into.last_mut() {
                    previous.then = if *then == CommandSeparator::End { previous.then } else { *then };
                }
            }
            _ => into.push(simple),
        }
    }
    if let Some(simple) = into.last_mut()
        && depth == 0
    {
        simple.then = CommandSeparator::End;
    }
}

/// Strips everything before a command that does not change what it is.
fn strip_prefixes(words: &[String]) -> &[String] {
    let inner = strip_runners(strip_wrappers(words));
    if inner.len() == words.len() { words } else { strip_prefixes(inner) }
}
