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
const WRAPPERS: &str = "\
    sudo env time nice nohup command exec stdbuf xvfb-run npx bunx pnpx dlx uvx do then else if elif \
    while until ! { ( builtin caffeinate rtk";

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

/// Commands that look at what is there. What they print is not their own failure.
const READERS: &str = "\
     cat head tail less more bat grep egrep fgrep zgrep rg ag ack sed awk ls find fd tree wc sort uniq \
    cut tr jq yq echo printf pwd cd true file stat du df diff cmp comm which type command hash column nl od xxd strings \
    tee xargs journalctl dmesg ps env export set source . sleep date test [ [[ false exit history pushd popd fi done \
    esac } ) for case return read unset wait man tac realpath dirname basename zcat clear ";

/// Commands that do something or ask somebody else, and print little of their own.
const MESSENGERS: &str = " curl wget gh mkdir touch rm cp mv ln chmod ";

/// Commands whose exit code 1 is an answer: nothing found, or the two differ.
const ANSWERS_BY_EXIT: &str = "\
     grep egrep fgrep zgrep rg ag ack diff cmp test [ [[ which type command pgrep pidof expr \
    false comm fd hash colordiff ";

/// Says whether a list of words parted by spaces has this one.
pub(super) fn lists(words: &str, word: &str) -> bool {
    !word.is_empty() && words.split_ascii_whitespace().any(|listed| listed == word)
}

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
        match commands_in_script(command) {
            Some(commands) => gather(&commands, Joint::End, 0, &mut line.commands),
            None => gather(command, Joint::End, 0, &mut line.commands),
        }
        line
    }

    /// Whether nothing in it does more than show what is there.
    pub(super) fn only_reads(&self) -> bool {
        !self.commands.is_empty() && self.commands.iter().all(Simple::reads)
    }

    /// Whether nothing in it does more than look, so that a bad exit code without a complaint is an answer.
    pub(super) fn only_looks(&self) -> bool {
        !self.commands.is_empty() && self.commands.iter().all(|command| command.looks() || command.answers())
    }

    /// Whether a program is asked for no more than whether it is there: `command -v x`, `x --version`.
    pub(super) fn only_probes(&self, program: &str) -> bool {
        let mut asked = self.commands.iter().filter(|command| {
            command.head() == program || command.is_finder() && command.words.iter().any(|word| word == program)
        });
        asked.next().is_some_and(Simple::is_probe) && asked.all(Simple::is_probe)
    }

    /// Whether it asks how the checks of a pull request stand.
    pub(super) fn asks_for_checks(&self) -> bool {
        self.commands.iter().any(|command| command.head() == "gh" && command.words.iter().any(|word| word == "checks"))
    }

    /// Says whether it asks again and again until something is there.
    pub(super) fn polls(&self) -> bool {
        self.runs("sleep") && self.runs("done")
    }

    /// Tells whether files, hits or logs are shown among other work, and whether that opens and closes the output.
    pub(super) fn dump(&self) -> Option<(bool, bool)> {
        let mut written: Vec<&str> = Vec::new();
        let mut shows = Vec::new();
        for pipe in self.commands.split_inclusive(|command| command.then != Joint::Pipe) {
            let is_own = |word: &String| written.contains(&word.as_str());
            let is_dump = pipe.iter().all(Simple::reads) && pipe.first().is_some_and(Simple::dumps);
            // A log that was written just before is that program's output.
            let is_dump = is_dump && !pipe.iter().flat_map(|command| &command.words).any(is_own);
            if is_dump || !pipe.iter().all(Simple::reads) {
                shows.push(is_dump);
            }
            written.extend(
                pipe.iter()
                    .flat_map(|command| &command.words)
                    .map(|word| word.trim_start_matches(['>', '&', '1', '2'])),
            );
        }
        shows.contains(&true).then(|| (shows.first() == Some(&true), shows.last() == Some(&true)))
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

    /// Whether linters and formatters are all that it checks with.
    pub(super) fn lints(&self) -> bool {
        let mut checks = self.commands.iter().filter(|command| super::verifiers::verifies(&command.words)).peekable();
        checks.peek().is_some() && checks.all(|command| super::verifiers::lints(&command.words))
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
        let is_asked = matches!(self.head(), "docker" | "kubectl" | "podman");
        self.looks()
            || lists(MESSENGERS, self.head())
            || is_asked && matches!(self.word(1), "logs" | "ps" | "get" | "describe")
    }

    fn looks(&self) -> bool {
        match self.head() {
            "git" => {
                let verb = self.words.iter().skip(1).find(|word| !word.starts_with('-')).map_or("", String::as_str);
                lists(" diff log show status blame grep ls-files branch cat-file remote ", verb)
            }
            "" => true,
            // An assignment alone.
            head => lists(READERS, head) || (self.words.len() == 1 && is_assignment(self.word(0))) || self.is_probe(),
        }
    }

    /// Says whether it prints what stands in a file, a log or a history.
    fn dumps(&self) -> bool {
        const DUMPERS: &str = "\
             cat head tail less more bat grep egrep fgrep zgrep rg ag ack sed awk jq nl zcat tac journalctl \
            dmesg git docker kubectl podman diff ";
        let is_kept = |word: &String| word.contains('>') && !word.starts_with("2>") || word == "-i";
        lists(DUMPERS, self.head()) && !self.words.iter().any(is_kept)
    }

    /// `command -v x`, `which x`.
    fn is_finder(&self) -> bool {
        matches!(self.head(), "which" | "type" | "command" | "hash")
    }

    /// Whether it asks no more than whether a program is there.
    fn is_probe(&self) -> bool {
        let is_question = |word: &str| matches!(word, "--version" | "-V" | "-v" | "version");
        let mut rest = self.words.iter().skip(1).filter(|word| !word.contains(['>', '<']));
        self.is_finder() || rest.next().is_some_and(|word| is_question(word)) && rest.next().is_none()
    }

    fn answers(&self) -> bool {
        match self.head() {
            "git" => lists(" diff grep merge-base show-ref check-ignore rev-parse symbolic-ref ", self.word(1)),
            head => lists(ANSWERS_BY_EXIT, head),
        }
    }
}

/// The shell commands in a script that a harness runs instead of a shell: `tools.exec_command({cmd: "…"})`.
fn commands_in_script(script: &str) -> Option<String> {
    let mut commands = String::new();
    for call in script.split("exec_command(").skip(1) {
        let Some((_, value)) = call.split_once("cmd").filter(|(before, _)| before.len() <= 8) else { continue };
        let value = value.trim_start_matches(['"', ':', ' ']);
        // The quote that opens the command was taken off together with that of its key.
        let quoted = format!("\"{value}");
        let read = serde_json::Deserializer::from_str(&quoted).into_iter::<String>().next();
        commands.extend(read.and_then(Result::ok));
        commands.push('\n');
    }
    (!commands.trim().is_empty()).then_some(commands)
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
        } else if name == "command" && tail.first().is_some_and(|flag| matches!(flag.as_str(), "-v" | "-V")) {
            break;
        } else if lists(WRAPPERS, name) {
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
