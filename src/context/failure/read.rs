//! Whether a call failed, and how.
//!
//! Logs seldom say it outright. What they do say (a flag, an exit code) is believed first; only where they are silent,
//! or where a pipe swallowed the exit code, is the text searched for what failing programs print.

use std::borrow::Cow;

use super::command;
use super::command::Line;
use super::envelope;
use super::envelope::Opened;
use super::evidence::Belief;
use super::noise::is_noise;
use super::plain::{clip, plain, to_byte};
use super::survey;
use super::survey::{Found, Look};
use super::verification::outcome_of_tests;

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "clean_tests.rs"]
mod clean_tests;

/// A headline is a line, not a page.
pub(super) const MAX_HEADLINE_CHARACTERS: usize = 300;

/// A harness says what it has to say at the top.
const HARNESS_BYTES: usize = 2000;

/// Answers of tools that run nothing are read as errors only when they are about as long as one.
const SHORT_ANSWER_BYTES: usize = 2000;

/// Why a call is taken to have failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::context) struct Failure {
    /// What kind of failure it is.
    pub class: Class,
    /// The one line that says best what went wrong, word for word; if there was no output, the exit code.
    pub headline: String,
    /// The exit code, where one is known.
    pub exit_code: Option<i32>,
}

impl Failure {
    /// Says whether it is nothing that the work failed at: a linter's findings, or a refusal or a rule of the harness,
    /// unless something ran and ended badly.
    pub(in crate::context) fn is_void(&self) -> bool {
        let has_ended = self.exit_code.is_some_and(|code| code != 0);
        let is_refused = matches!(self.class, Class::Interrupted | Class::Harness) || is_noise(&self.headline);
        self.class == Class::Lint || is_refused && !has_ended
    }
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::context) enum Class {
    /// A command ended badly, and nothing more is known.
    Command,
    /// Tests failed.
    Test,
    /// Code does not compile, parse or type-check.
    Compile,
    /// A linter or a formatter objects. That is its work.
    Lint,
    /// An assertion did not hold.
    Assertion,
    /// An exception, a panic or a crash.
    Exception,
    /// Something took too long.
    Timeout,
    /// A service asks for patience.
    RateLimit,
    /// More text than the model can take.
    ContextWindow,
    /// A command, file or module is not there.
    NotFound,
    /// Not allowed.
    Permission,
    /// A host cannot be reached.
    Network,
    /// Memory, disk or handles ran out.
    Resource,
    /// A change could not be applied to a file.
    Edit,
    /// A service refused or broke.
    Api,
    /// Someone stopped it.
    Interrupted,
    /// A rule of the harness; nothing to learn.
    Harness,
}

impl Class {
    /// The name as it stands in files and in families.
    pub(in crate::context) fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Test => "test",
            Self::Compile => "compile",
            Self::Lint => "lint",
            Self::Assertion => "assertion",
            Self::Exception => "exception",
            Self::Timeout => "timeout",
            Self::RateLimit => "rate_limit",
            Self::ContextWindow => "context_window",
            Self::NotFound => "not_found",
            Self::Permission => "permission",
            Self::Network => "network",
            Self::Resource => "resource",
            Self::Edit => "edit",
            Self::Api => "api",
            Self::Interrupted => "interrupted",
            Self::Harness => "harness",
        }
    }
}

/// What the log says beside the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::context) struct Told {
    /// The log's own verdict.
    pub failed: Option<bool>,
    /// The exit code, where the log has a field for it.
    pub exit_code: Option<i32>,
    /// The call was stopped.
    pub interrupted: bool,
}

/// What a tool does, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Runs,
    Shows,
    Edits,
    Other,
}

impl Kind {
    pub(super) fn of(tool: &str) -> Self {
        const RUNS: &[&str] = &["bash", "shell", "exec", "terminal", "command", "run_", "python", "console", "test"];
        const EDITS: &[&str] = &["edit", "write", "patch", "replace", "insert", "create", "delete", "move"];
        const SHOWS: &[&str] =
            &["read", "view", "grep", "search", "glob", "fetch", "list", "find", "todo", "open", "get_"];
        // The common ones first: this is asked of every call.
        match tool {
            "Bash" | "shell" | "exec_command" | "exec" | "bash_command" | "terminal" => return Self::Runs,
            "Read" | "Grep" | "Glob" | "LS" | "WebFetch" | "WebSearch" | "TodoWrite" => return Self::Shows,
            "Edit" | "Write" | "MultiEdit" | "apply_patch" => return Self::Edits,
            _ => {}
        }
        let tool = tool.to_ascii_lowercase();
        let tool = tool.rsplit("__").next().unwrap_or(&tool);
        let has = |words: &[&str]| words.iter().any(|word| tool.contains(word));
        match tool {
            "run" | "sh" | "verification" | "taskoutput" | "write_stdin" => Self::Runs,
            "ls" | "cat" => Self::Shows,
            _ if has(SHOWS) && !has(RUNS) => Self::Shows,
            _ if has(RUNS) => Self::Runs,
            _ if has(EDITS) => Self::Edits,
            _ => Self::Other,
        }
    }
}

/// Reads whether a call failed, and how, from flags and text.
pub(in crate::context) fn read(tool: &str, command: Option<&str>, told: &Told, output: &str) -> Option<Failure> {
    let kind = Kind::of(tool);
    let stated = if kind == Kind::Shows { None } else { envelope::stated_exit(output, told.failed) };
    let reported = told.failed.is_none() && envelope::reports_failure(output);
    let exit = told.exit_code.or(stated);
    let is_told_bad = told.failed == Some(true) || told.interrupted || reported;
    let is_told_good = !is_told_bad && (exit == Some(0) || (told.failed == Some(false) && exit.is_none()));
    if is_told_good && (kind != Kind::Runs || !command.is_some_and(command::may_hide_failure)) {
        return None;
    }
    let line = command.map(Line::parse).unwrap_or_default();
    let echoed = command.and_then(|command| envelope::echoed_exit(command, output)).filter(|code| *code != 0);
    if is_told_good && echoed.is_none() && !line.hides_failure() {
        return None;
    }
    let Opened { text, exit_code, failed } = envelope::open(kind, output);
    let exit = echoed.or(exit).or(exit_code);
    let call = Call { kind, line, exit, text };
    // An exit code of 0 beside a flag of failure: the flag knows more.
    if is_told_bad || exit.is_some_and(|code| code != 0) || (failed == Some(true) && !is_told_good) {
        call.known_failure(told)
    } else if exit == Some(0) || told.failed == Some(false) || failed == Some(false) {
        call.hidden_failure()
    } else {
        call.silent_failure()
    }
}

struct Call<'a> {
    kind: Kind,
    line: Line,
    exit: Option<i32>,
    text: Cow<'a, str>,
}

impl Call<'_> {
    /// The log says that it failed; only how is to be found out.
    fn known_failure(&self, told: &Told) -> Option<Failure> {
        if self.is_answer() {
            return None;
        }
        if let Some(headline) = self.harness_rule() {
            let class = if told.interrupted { Class::Interrupted } else { Class::Harness };
            return Some(self.failure(class, headline));
        }
        let only_reads = self.line.only_reads();
        let found = survey::survey(&self.text, Look::Known, |_, saying, _| !only_reads || saying.belief == Belief::Own);
        let coded = self.exit.and_then(class_of_exit);
        let Some(found) = found else {
            let class = match () {
                () if told.interrupted => Class::Interrupted,
                () if self.reports_findings() => Class::Lint,
                () => coded.unwrap_or(Class::Command),
            };
            return Some(self.failure(class, self.fallback()));
        };
        let mut class = self.class_of(&found);
        if told.interrupted && class != Class::Timeout {
            class = Class::Interrupted;
        } else if found.weight < 65 {
            class = coded.unwrap_or(class);
        }
        Some(self.failure(class, found.headline))
    }

    /// The exit code is good, but a pipe or the like may have hidden a bad one.
    fn hidden_failure(&self) -> Option<Failure> {
        let may_hide = self.kind == Kind::Runs && self.line.hides_failure() && !self.line.polls();
        if may_hide { self.failure_in_text() } else { None }
    }

    /// Nothing tells; the text must show it beyond doubt.
    fn silent_failure(&self) -> Option<Failure> {
        match self.kind {
            Kind::Runs if self.text.len() > SHORT_ANSWER_BYTES => self.failure_in_text(),
            Kind::Runs => match self.harness_rule() {
                Some(headline) => Some(self.failure(Class::Harness, headline)),
                None => self.failure_in_text(),
            },
            Kind::Shows => None,
            Kind::Edits | Kind::Other if self.text.len() > SHORT_ANSWER_BYTES => None,
            Kind::Edits | Kind::Other => {
                if let Some(headline) = self.harness_rule() {
                    return Some(self.failure(Class::Harness, headline));
                }
                let found = survey::survey(&self.text, Look::Doubt, |_, saying, place| {
                    let is_service = matches!(
                        saying.class,
                        Class::ContextWindow | Class::RateLimit | Class::Timeout | Class::Api | Class::Network
                    );
                    let is_edit = self.kind == Kind::Edits && saying.class == Class::Edit && saying.weight > 50;
                    is_edit && place.first || is_service && saying.belief >= Belief::Content && place.first
                })?;
                Some(self.failure(found.class, found.headline))
            }
        }
    }

    fn failure_in_text(&self) -> Option<Failure> {
        let (only_reads, dump) = (self.line.only_reads(), self.line.dump());
        let look = if only_reads { Look::Edges } else { Look::Doubt };
        let found = survey::survey(&self.text, look, |line, saying, place| match saying.belief {
            Belief::Own => self.is_own(line, only_reads),
            Belief::Content if dump.is_none() => !only_reads,
            // Words at an end of the output that no file was shown at are those of a program.
            Belief::Content | Belief::Closing => {
                let (opens, closes) = dump.unwrap_or_default();
                !only_reads && (place.first && !opens || place.last && !closes)
            }
            Belief::Weak => false,
        })?;
        let is_sure = found.class == Class::Compile && found.weight >= 85;
        if !is_sure && self.line.verifies() && outcome_of_tests(&self.text).is_some_and(|outcome| outcome.failed == 0) {
            return None;
        }
        // The telling line may be one that would not be believed alone.
        let is_all_own = !only_reads && dump.is_none();
        let best = is_all_own.then(|| survey::survey(&self.text, Look::Known, |_, _, _| true)).flatten();
        let best = best.filter(|best| best.weight > found.weight && best.weight >= 70).unwrap_or(found);
        Some(self.failure(self.class_of(&best), best.headline))
    }

    /// Whether a complaint comes from a program that was run, and is about more than a directory it may not enter, or
    /// something that was looked for and is not there.
    fn is_own(&self, line: &str, only_reads: bool) -> bool {
        const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "fish", "ksh", "env", "sudo"];
        const FINDERS: &[&str] = &["find", "du", "ls", "tree", "stat", "which", "file", "readlink"];
        // These are words of the harness.
        if to_byte(line, 17).eq_ignore_ascii_case("command timed out") || super::shells::is_unmatched(line) {
            return true;
        }
        let Some((program, rest)) = line.split_once(": ") else { return !only_reads };
        let Some(program) = super::shells::program_name(program) else { return !only_reads };
        // A search that found something elsewhere has answered, too.
        let looks =
            FINDERS.contains(&program) || matches!(program, "grep" | "rg") && survey::lines_with_words(&self.text) > 1;
        if looks && ["Permission denied", "No such file or directory"].iter().any(|answer| rest.contains(answer)) {
            return false;
        }
        let missing = rest.strip_suffix(": command not found").or_else(|| rest.strip_suffix(": not found"));
        if missing.is_some_and(|missing| self.line.only_probes(missing.rsplit(": ").next().unwrap_or(missing))) {
            return false;
        }
        let is_git = program == "fatal" && self.line.runs("git");
        !only_reads || is_git || SHELLS.contains(&program) || self.line.runs(program)
    }

    /// Says whether a bad exit code is an answer and no failure: `grep` that finds nothing, `diff` that finds something,
    /// `ls` of what is not there, checks of a pull request that still run.
    fn is_answer(&self) -> bool {
        match self.exit {
            Some(1) if self.line.answers_by_exit() => self.failure_in_text().is_none(),
            Some(1) if self.line.may_answer_by_exit() && survey::first_line(&self.text).is_none() => true,
            Some(8) if self.line.asks_for_checks() => true,
            // The reader at the end of a pipe had enough.
            Some(141) => self.line.hides_failure() || self.line.only_reads(),
            Some(code) if code != 0 && code < 124 || code == 127 => {
                self.line.only_looks() && self.failure_in_text().is_none()
            }
            None if self.line.only_looks() => {
                let complains = survey::survey(&self.text, Look::Edges, |_, saying, _| saying.belief == Belief::Own);
                complains.is_some() && self.failure_in_text().is_none()
            }
            _ => false,
        }
    }

    /// Says whether a linter or a formatter did its work and found something, rather than could not run.
    fn reports_findings(&self) -> bool {
        matches!(self.exit, None | Some(0 | 1 | 101)) && self.line.lints() && survey::names_findings(&self.text)
    }

    /// What the harness says about its own rules, if that is what the text is.
    fn harness_rule(&self) -> Option<String> {
        if self.exit.is_some() {
            return None;
        }
        let head = to_byte(&self.text, HARNESS_BYTES);
        let lines = head.lines().map(untagged).filter(|line| !line.is_empty());
        lines.take(4).find(|line| is_noise(line) && !survey::is_bare_label(line)).map(headline)
    }

    fn class_of(&self, found: &Found) -> Class {
        match found.class {
            Class::Command | Class::Compile | Class::Assertion if found.weight < 90 && self.reports_findings() => {
                Class::Lint
            }
            Class::Exception | Class::Assertion | Class::Command if found.saw_tests => Class::Test,
            Class::Command if self.line.compiles() && found.weight >= 35 => Class::Compile,
            class => class,
        }
    }

    /// A headline where no line complains.
    fn fallback(&self) -> String {
        let line = match survey::lines_with_words(&self.text) {
            0 => None,
            1..=3 => survey::first_line(&self.text),
            _ => survey::last_line(&self.text),
        };
        match (line.map(|line| headline(untagged(&line))), self.exit) {
            (Some(line), _) if !line.is_empty() => line,
            (_, Some(code)) => format!("Exit code {code}"),
            _ => "no output".to_owned(),
        }
    }

    fn failure(&self, class: Class, headline: String) -> Failure {
        let exit_code = self.exit.or_else(|| envelope::inner_exit(&self.text));
        Failure { class, headline, exit_code }
    }
}

/// What some exit codes mean to every shell.
fn class_of_exit(code: i32) -> Option<Class> {
    match code {
        124 => Some(Class::Timeout),
        126 => Some(Class::Permission),
        127 => Some(Class::NotFound),
        130 | 143 => Some(Class::Interrupted),
        137 => Some(Class::Resource),
        132 | 134 | 136 | 139 => Some(Class::Exception),
        _ => None,
    }
}

fn untagged(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
    line.strip_suffix("</tool_use_error>").unwrap_or(line).trim()
}

/// One line as it is quoted: no colours, no margins, no more than can be read.
pub(super) fn headline(line: &str) -> String {
    let line = plain(line);
    clip(untagged(line.trim()), MAX_HEADLINE_CHARACTERS).to_owned()
}
