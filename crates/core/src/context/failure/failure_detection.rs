//! Detects whether a call failed, and how.
//!
//! Logs seldom say so outright. Flags and exit codes are trusted first. Only where they are missing, or where a pipe
//! hid the exit code, is the text searched for what failing programs print.

use std::borrow::Cow;

use super::command_line;
use super::command_line::ParsedCommandLine;
use super::failure_line::ClueCredibility;
use super::failure_line_search;
use super::failure_line_search::{FoundHeadline, SearchDepth};
use super::harness_noise::is_harness_rule;
use super::output_envelope;
use super::output_envelope::UnwrappedOutput;
use super::plain_output::{clip_characters, prefix_to_byte, strip_control_codes};
use super::test_results::read_test_outcome;

#[cfg(test)]
#[path = "failure_detection_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "clean_tests.rs"]
mod clean_tests;

/// The longest headline, in characters.
pub(super) const MAX_HEADLINE_CHARACTERS: usize = 300;

/// The number of bytes at the start of an output in which a harness states its rules.
const HARNESS_BYTES: usize = 2000;

/// The longest answer of a tool without commands that may still be an error, in bytes.
const SHORT_ANSWER_BYTES: usize = 2000;

/// A failure of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::context) struct DetectedFailure {
    /// The class of the failure.
    pub class: FailureClass,
    /// The line that describes the failure best, word for word; if there was no output, the exit code.
    pub headline: String,
    /// The exit code, where one is known.
    pub exit_code: Option<i32>,
}

impl DetectedFailure {
    /// Returns true if the failure says nothing about the work: a linter's findings, or a refusal or a rule of the
    /// harness, unless something ran and exited badly.
    pub(in crate::context) fn is_disregarded(&self) -> bool {
        let has_ended = self.exit_code.is_some_and(|code| code != 0);
        let is_refused =
            matches!(self.class, FailureClass::Interrupted | FailureClass::Harness) || is_harness_rule(&self.headline);
        self.class == FailureClass::Lint || is_refused && !has_ended
    }
}

/// The classes of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::context) enum FailureClass {
    /// A command exited badly, and nothing more is known.
    Command,
    /// One or more tests failed.
    Test,
    /// Code does not compile, parse or type-check.
    Compile,
    /// A linter or a formatter reports findings, as is its job.
    Lint,
    /// An assertion did not hold.
    Assertion,
    /// An exception, a panic or a crash.
    Exception,
    /// Something took too long.
    Timeout,
    /// A service limits the rate of requests.
    RateLimit,
    /// The text is longer than the model's context window.
    ContextWindow,
    /// A command, file or module does not exist.
    NotFound,
    /// The operation is not permitted.
    Permission,
    /// A host cannot be reached.
    Network,
    /// Memory, disk or handles ran out.
    Resource,
    /// A change could not be applied to a file.
    Edit,
    /// A service refused the request or broke.
    Api,
    /// Someone stopped the call.
    Interrupted,
    /// A rule of the harness, from which there is nothing to learn.
    Harness,
}

impl FailureClass {
    /// Returns the name used in files and in error families.
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

/// The result that the log records besides the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::context) struct LoggedResult {
    /// The log's own verdict, if it has one.
    pub failed: Option<bool>,
    /// The exit code, where the log has a field for it.
    pub exit_code: Option<i32>,
    /// True if the call was stopped.
    pub interrupted: bool,
}

/// The purpose of a tool, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolPurpose {
    Runs,
    Shows,
    Edits,
    Other,
}

impl ToolPurpose {
    pub(super) fn from_tool(tool: &str) -> Self {
        const RUNS: &[&str] = &["bash", "shell", "exec", "terminal", "command", "run_", "python", "console", "test"];
        const EDITS: &[&str] = &["edit", "write", "patch", "replace", "insert", "create", "delete", "move"];
        const SHOWS: &[&str] =
            &["read", "view", "grep", "search", "glob", "fetch", "list", "find", "todo", "open", "get_"];
        // The common names first, because this is asked of every call.
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

/// Detects whether a call failed, and how, from flags and text.
pub(in crate::context) fn detect_failure(
    tool: &str,
    command: Option<&str>,
    told: &LoggedResult,
    output: &str,
) -> Option<DetectedFailure> {
    let kind = ToolPurpose::from_tool(tool);
    let stated = if kind == ToolPurpose::Shows { None } else { output_envelope::stated_exit_code(output, told.failed) };
    let reported = told.failed.is_none() && output_envelope::reports_failure(output);
    let exit = told.exit_code.or(stated);
    let is_told_bad = told.failed == Some(true) || told.interrupted || reported;
    let is_told_good = !is_told_bad && (exit == Some(0) || (told.failed == Some(false) && exit.is_none()));
    if is_told_good && (kind != ToolPurpose::Runs || !command.is_some_and(command_line::may_hide_failure)) {
        return None;
    }
    let line = command.map(ParsedCommandLine::parse).unwrap_or_default();
    let echoed =
        command.and_then(|command| output_envelope::echoed_exit_code(command, output)).filter(|code| *code != 0);
    if is_told_good && echoed.is_none() && !line.hides_failure() {
        return None;
    }
    let UnwrappedOutput { text, exit_code, failed } = output_envelope::unwrap_output(kind, output);
    let exit = echoed.or(exit).or(exit_code);
    let call = ExaminedCall { kind, line, exit, text };
    // With an exit code of 0 and a failure flag, the flag is more reliable.
    if is_told_bad || exit.is_some_and(|code| code != 0) || (failed == Some(true) && !is_told_good) {
        call.reported_failure(told)
    } else if exit == Some(0) || told.failed == Some(false) || failed == Some(false) {
        call.hidden_failure()
    } else {
        call.unreported_failure()
    }
}

struct ExaminedCall<'a> {
    kind: ToolPurpose,
    line: ParsedCommandLine,
    exit: Option<i32>,
    text: Cow<'a, str>,
}

impl ExaminedCall<'_> {
    /// Reads the failure of a call that the log reports as failed.
    fn reported_failure(&self, told: &LoggedResult) -> Option<DetectedFailure> {
        if self.is_exit_answer() {
            return None;
        }
        if let Some(headline) = self.find_harness_rule() {
            let class = if told.interrupted { FailureClass::Interrupted } else { FailureClass::Harness };
            return Some(self.make_failure(class, headline));
        }
        let only_reads = self.line.only_reads();
        let found = failure_line_search::search_headline(&self.text, SearchDepth::Known, |_, clue, _| {
            !only_reads || clue.belief == ClueCredibility::Own
        });
        let coded = self.exit.and_then(class_of_exit_code);
        let Some(found) = found else {
            let class = match () {
                () if told.interrupted => FailureClass::Interrupted,
                () if self.reports_findings() => FailureClass::Lint,
                () => coded.unwrap_or(FailureClass::Command),
            };
            return Some(self.make_failure(class, self.fallback_headline()));
        };
        let mut class = self.refine_class(&found);
        if told.interrupted && class != FailureClass::Timeout {
            class = FailureClass::Interrupted;
        } else if found.weight < 65 {
            class = coded.unwrap_or(class);
        }
        Some(self.make_failure(class, found.headline))
    }

    /// Finds a failure behind a good exit code, where a pipe or the like may have hidden a bad one.
    fn hidden_failure(&self) -> Option<DetectedFailure> {
        let may_hide = self.kind == ToolPurpose::Runs && self.line.hides_failure() && !self.line.is_polling();
        if may_hide { self.failure_in_text() } else { None }
    }

    /// Finds a failure that neither flags nor exit code report; the text must show it beyond doubt.
    fn unreported_failure(&self) -> Option<DetectedFailure> {
        match self.kind {
            ToolPurpose::Runs if self.text.len() > SHORT_ANSWER_BYTES => self.failure_in_text(),
            ToolPurpose::Runs => match self.find_harness_rule() {
                Some(headline) => Some(self.make_failure(FailureClass::Harness, headline)),
                None => self.failure_in_text(),
            },
            ToolPurpose::Shows => None,
            ToolPurpose::Edits | ToolPurpose::Other if self.text.len() > SHORT_ANSWER_BYTES => None,
            ToolPurpose::Edits | ToolPurpose::Other => {
                if let Some(headline) = self.find_harness_rule() {
                    return Some(self.make_failure(FailureClass::Harness, headline));
                }
                let found = failure_line_search::search_headline(&self.text, SearchDepth::Doubt, |_, clue, place| {
                    let is_service = matches!(
                        clue.class,
                        FailureClass::ContextWindow
                            | FailureClass::RateLimit
                            | FailureClass::Timeout
                            | FailureClass::Api
                            | FailureClass::Network
                    );
                    let is_edit =
                        self.kind == ToolPurpose::Edits && clue.class == FailureClass::Edit && clue.weight > 50;
                    is_edit && place.first || is_service && clue.belief >= ClueCredibility::Content && place.first
                })?;
                Some(self.make_failure(found.class, found.headline))
            }
        }
    }

    fn failure_in_text(&self) -> Option<DetectedFailure> {
        let (only_reads, dump) = (self.line.only_reads(), self.line.dump_edges());
        let look = if only_reads { SearchDepth::Edges } else { SearchDepth::Doubt };
        let found = failure_line_search::search_headline(&self.text, look, |line, clue, place| match clue.belief {
            ClueCredibility::Own => self.is_own_error(line, only_reads),
            ClueCredibility::Content if dump.is_none() => !only_reads,
            // Lines at an end of the output where no file was shown come from a program.
            ClueCredibility::Content | ClueCredibility::Closing => {
                let (opens, closes) = dump.unwrap_or_default();
                !only_reads && (place.first && !opens || place.last && !closes)
            }
            ClueCredibility::Weak => false,
        })?;
        let is_sure = found.class == FailureClass::Compile && found.weight >= 85;
        if !is_sure
            && self.line.runs_check()
            && read_test_outcome(&self.text).is_some_and(|outcome| outcome.failed == 0)
        {
            return None;
        }
        // The best headline may be a line that would not be trusted alone.
        let is_all_own = !only_reads && dump.is_none();
        let best = is_all_own
            .then(|| failure_line_search::search_headline(&self.text, SearchDepth::Known, |_, _, _| true))
            .flatten();
        let best = best.filter(|best| best.weight > found.weight && best.weight >= 70).unwrap_or(found);
        Some(self.make_failure(self.refine_class(&best), best.headline))
    }

    /// Returns true if an error line comes from a program that was run, and is about more than an unreadable directory
    /// or something that was searched for and does not exist.
    fn is_own_error(&self, line: &str, only_reads: bool) -> bool {
        const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "fish", "ksh", "env", "sudo"];
        const FINDERS: &[&str] = &["find", "du", "ls", "tree", "stat", "which", "file", "readlink"];
        // These are words of the harness.
        if prefix_to_byte(line, 17).eq_ignore_ascii_case("command timed out")
            || super::error_forms::is_unmatched_glob(line)
        {
            return true;
        }
        let Some((program, rest)) = line.split_once(": ") else { return !only_reads };
        let Some(program) = super::error_forms::program_name(program) else { return !only_reads };
        // A search that found something elsewhere has answered, too.
        let looks = FINDERS.contains(&program)
            || matches!(program, "grep" | "rg") && failure_line_search::count_content_lines(&self.text) > 1;
        if looks && ["Permission denied", "No such file or directory"].iter().any(|answer| rest.contains(answer)) {
            return false;
        }
        let missing = rest.strip_suffix(": command not found").or_else(|| rest.strip_suffix(": not found"));
        if missing.is_some_and(|missing| self.line.only_probes(missing.rsplit(": ").next().unwrap_or(missing))) {
            return false;
        }
        let is_git = program == "fatal" && self.line.runs_program("git");
        !only_reads || is_git || SHELLS.contains(&program) || self.line.runs_program(program)
    }

    /// Returns true if a bad exit code is an answer and no failure: `grep` without a match, `diff` with a difference,
    /// `ls` of a missing file, pull request checks that still run.
    fn is_exit_answer(&self) -> bool {
        match self.exit {
            Some(1) if self.line.answers_by_exit() => self.failure_in_text().is_none(),
            Some(1)
                if self.line.may_answer_by_exit() && failure_line_search::first_content_line(&self.text).is_none() =>
            {
                true
            }
            Some(8) if self.line.queries_pr_checks() => true,
            // The reader at the end of a pipe stopped reading.
            Some(141) => self.line.hides_failure() || self.line.only_reads(),
            Some(code) if code != 0 && code < 124 || code == 127 => {
                self.line.only_inspects() && self.failure_in_text().is_none()
            }
            None if self.line.only_inspects() => {
                let complains = failure_line_search::search_headline(&self.text, SearchDepth::Edges, |_, clue, _| {
                    clue.belief == ClueCredibility::Own
                });
                complains.is_some() && self.failure_in_text().is_none()
            }
            _ => false,
        }
    }

    /// Returns true if a linter or a formatter ran and reported findings, rather than failed to run.
    fn reports_findings(&self) -> bool {
        matches!(self.exit, None | Some(0 | 1 | 101))
            && self.line.only_lints()
            && failure_line_search::lists_findings(&self.text)
    }

    /// Finds the rule that the harness states, if the text is about one.
    fn find_harness_rule(&self) -> Option<String> {
        if self.exit.is_some() {
            return None;
        }
        let head = prefix_to_byte(&self.text, HARNESS_BYTES);
        let lines = head.lines().map(strip_error_tags).filter(|line| !line.is_empty());
        lines.take(4).find(|line| is_harness_rule(line) && !failure_line_search::is_bare_label(line)).map(make_headline)
    }

    fn refine_class(&self, found: &FoundHeadline) -> FailureClass {
        match found.class {
            FailureClass::Command | FailureClass::Compile | FailureClass::Assertion
                if found.weight < 90 && self.reports_findings() =>
            {
                FailureClass::Lint
            }
            FailureClass::Exception | FailureClass::Assertion | FailureClass::Command if found.saw_tests => {
                FailureClass::Test
            }
            FailureClass::Command if self.line.runs_compiler() && found.weight >= 35 => FailureClass::Compile,
            class => class,
        }
    }

    /// Returns a headline for an output without an error line.
    fn fallback_headline(&self) -> String {
        let line = match failure_line_search::count_content_lines(&self.text) {
            0 => None,
            1..=3 => failure_line_search::first_content_line(&self.text),
            _ => failure_line_search::last_content_line(&self.text),
        };
        match (line.map(|line| make_headline(strip_error_tags(&line))), self.exit) {
            (Some(line), _) if !line.is_empty() => line,
            (_, Some(code)) => format!("Exit code {code}"),
            _ => "no output".to_owned(),
        }
    }

    fn make_failure(&self, class: FailureClass, headline: String) -> DetectedFailure {
        let exit_code = self.exit.or_else(|| output_envelope::inner_exit_code(&self.text));
        DetectedFailure { class, headline, exit_code }
    }
}

/// Returns the class of exit codes that have a fixed meaning in every shell.
fn class_of_exit_code(code: i32) -> Option<FailureClass> {
    match code {
        124 => Some(FailureClass::Timeout),
        126 => Some(FailureClass::Permission),
        127 => Some(FailureClass::NotFound),
        130 | 143 => Some(FailureClass::Interrupted),
        137 => Some(FailureClass::Resource),
        132 | 134 | 136 | 139 => Some(FailureClass::Exception),
        _ => None,
    }
}

fn strip_error_tags(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
    line.strip_suffix("</tool_use_error>").unwrap_or(line).trim()
}

/// Returns a line as it is quoted: without colour codes and margins, cut to the longest headline.
pub(super) fn make_headline(line: &str) -> String {
    let line = strip_control_codes(line);
    clip_characters(strip_error_tags(line.trim()), MAX_HEADLINE_CHARACTERS).to_owned()
}
