//! Judges how a session ended, and on what basis.
//!
//! Only the order of a few events counts: the last request, the last change, the last check, the last delivery (a
//! commit, a push, a pull request) and the last words. An agent's own claim proves nothing.

use super::call_ending::{CallOutcome, read_call_outcome};
use super::failure::{is_verification, read_test_outcome};
use super::signal::SignalKind;
use super::tool_action::{EditedFile, ShellCommand, ToolAction, parse_git_command, parse_shell_commands};
use super::trajectory_collector::GatheredLogs;
use crate::domain::{EpisodeStatus, ErrorFamily, Speaker, StatusBasis, Step, ToolCall, ToolOutput, Trajectory};

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;

/// The source of an outcome which only says that the agent ended its turn normally.
const TURN_END: &str = "result";

/// Phrases with which an agent admits that it could not do what was asked.
const ADMISSIONS: &[&str] = &[
    "could not",
    "couldn't",
    "cannot",
    "can't",
    "am unable",
    "was unable",
    "not able to",
    "wasn't able",
    "am blocked",
];

/// A status with its basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedStatus {
    /// The status in which the session ended.
    pub status: EpisodeStatus,
    /// The basis of that status.
    pub basis: StatusBasis,
}

/// Judges how a session ended. The caller's word takes precedence over its logs.
pub fn judge_status(gathered: &GatheredLogs, caller: Option<&EpisodeStatus>) -> JudgedStatus {
    let (status, basis) = match caller {
        Some(status) => (status.clone(), StatusBasis::Caller),
        None => recorded_outcome(gathered).unwrap_or_else(|| SessionCourse::from_logs(gathered).decide_status()),
    };
    JudgedStatus { status, basis }
}

/// Returns the outcome recorded in the logs or next to them; differing ones make a partial one.
fn recorded_outcome(gathered: &GatheredLogs) -> Option<(EpisodeStatus, StatusBasis)> {
    let outcomes = gathered.trajectories.iter().filter_map(|one| one.outcome.as_ref());
    let is_turn_end = |status: &EpisodeStatus, from: &str| *status == EpisodeStatus::Success && from == TURN_END;
    let mut told = outcomes.filter(|outcome| !is_turn_end(&outcome.status, &outcome.from));
    let first = told.next()?;
    let basis = if first.reward.is_some() { StatusBasis::Verifier } else { StatusBasis::Caller };
    let status = if told.all(|other| other.status == first.status) { &first.status } else { &EpisodeStatus::Partial };
    Some((status.clone(), basis))
}

/// The positions of the deciding events, counted in calls and messages over the whole session; 0 for none.
#[derive(Debug, Default)]
struct SessionCourse {
    now: usize,
    request: usize,
    /// The person's last command to the harness; it becomes a request when the agent acts on it.
    command: usize,
    is_objection: bool,
    /// True if the person complains although the last check had passed.
    is_check_doubted: bool,
    change: usize,
    /// The names of the changed files.
    changed_files: Vec<String>,
    /// The last change of a document, which no check covers.
    document: usize,
    check: usize,
    has_check_passed: bool,
    is_test_run: bool,
    delivery: usize,
    /// The last command that did anything, to a file or not.
    agent_action: usize,
    /// The last call that returned.
    returned_call: usize,
    /// The agent's last message without a call.
    answer: usize,
    is_admission: bool,
    /// The last call, if it has no output.
    open_call: usize,
    /// The last call that handed work to the background, until something is heard of it.
    background: usize,
    pending: PendingCommand,
    is_interrupted: bool,
    /// True if the session works in a folder that otherwise counts as temporary.
    is_in_scratch: bool,
    /// True if agents started by this one have changed files.
    do_delegates_change: bool,
    /// All failures so far, with their positions.
    failures: Vec<(usize, ErrorFamily)>,
}

/// The command that ran last, until it ends; its call may return before that.
#[derive(Debug, Default)]
struct PendingCommand {
    is_check: bool,
    is_test_run: bool,
    is_delivery: bool,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallEnd {
    Passed,
    Failed,
    /// The call failed for a reason outside the work of the session.
    FailedElsewhere,
    /// The call was refused, still runs, or could not start.
    Open,
}

impl SessionCourse {
    fn from_logs(gathered: &GatheredLogs) -> Self {
        let is_delegate = |index: u32, one: &Trajectory| index > 0 && one.about.parent_session_id.is_some();
        let (delegates, mains): (Vec<_>, Vec<_>) =
            (0_u32..).zip(&gathered.trajectories).partition(|(index, one)| is_delegate(*index, one));
        let mut course = Self::default();
        for (_, trajectory) in delegates {
            let mut delegated = Self::default();
            trajectory.steps.iter().for_each(|step| delegated.add_step(step, false, true));
            course.do_delegates_change |= delegated.change > 0;
        }
        for (index, trajectory) in mains {
            let has_outputs = has_outputs(trajectory);
            course.is_in_scratch = trajectory.about.directory.as_deref().is_some_and(is_scratch);
            for step in trajectory.steps.iter().filter(|step| !step.copied) {
                let is_objection = gathered.signals.iter().any(|signal| {
                    signal.kind == SignalKind::UserCorrection
                        && (signal.trajectory, signal.step) == (index, step.number)
                });
                course.add_step(step, is_objection, has_outputs);
            }
        }
        course.is_interrupted = gathered.survey.happenings.contains_key("interrupted");
        course
    }

    fn add_step(&mut self, step: &Step, is_objection: bool, has_outputs: bool) {
        self.now += 1;
        let is_main = step.subagent.is_none();
        let words = step.text.trim();
        if step.speaker != Speaker::Agent && self.background > 0 {
            self.change = std::mem::take(&mut self.background);
        }
        match step.speaker {
            Speaker::User | Speaker::OtherAgent if is_main && !words.is_empty() && !is_harness_word(words) => {
                self.request = self.now;
                if has_own_words(words) {
                    self.is_objection = is_objection;
                    self.is_check_doubted = is_objection && self.has_check_passed && self.check > self.change;
                }
            }
            Speaker::System if is_main && words.starts_with('/') => self.command = self.now,
            Speaker::Agent if is_main => {
                if self.command > self.request {
                    (self.request, self.is_objection, self.is_check_doubted) = (self.command, false, false);
                }
                if !words.is_empty() && step.calls.is_empty() {
                    (self.answer, self.is_admission) = (self.now, admits_failure(words));
                }
            }
            _ => {}
        }
        for call in &step.calls {
            self.now += 2;
            self.add_call(call, step.outputs.last());
            if is_main && has_outputs {
                let is_open = call.output.as_ref().is_none_or(|output| output.interrupted);
                self.open_call = if is_open && step.outputs.is_empty() { self.now } else { 0 };
            }
        }
    }

    fn add_call(&mut self, call: &ToolCall, shared: Option<&ToolOutput>) {
        let action = ToolAction::from_call(&call.tool, &call.arguments);
        let output = call.output.as_ref().or(shared);
        let end = self.read_end(call, &action, output);
        if end != CallEnd::Open {
            self.returned_call = self.now;
        }
        match &action {
            ToolAction::Edit(changes) if matches!(end, CallEnd::Passed | CallEnd::Open) => self.add_edit(changes),
            ToolAction::Run { command } if command.contains("tools.apply_patch(") => self.change = self.now - 1,
            ToolAction::Delegate | ToolAction::Other if output.is_some_and(is_in_background) => {
                self.background = self.now;
            }
            ToolAction::Delegate if self.do_delegates_change => self.change = self.now - 1,
            ToolAction::Run { command } if command.contains("tools.write_stdin(") => self.add_result(end),
            ToolAction::Run { command } => self.add_command(command, output, end),
            _ if is_poll_tool(&call.tool) => self.add_result(end),
            _ if call.arguments.get("code").is_some() => self.agent_action = self.now - 1,
            _ if call.tool.contains("create_pull_request") && end == CallEnd::Passed => self.delivery = self.now,
            _ => {}
        }
    }

    /// Reads how a call ended. A failure that occurred before the last request, and an error in files that were never
    /// changed, count as failed elsewhere.
    fn read_end(&mut self, call: &ToolCall, action: &ToolAction, output: Option<&ToolOutput>) -> CallEnd {
        let is_program = action.command().is_some_and(is_program);
        if output.is_some_and(|output| is_running(output, is_program)) {
            return CallEnd::Open;
        }
        match read_call_outcome(&call.tool, action, output) {
            CallOutcome::Failed(fault) => {
                let is_known = self.failures.iter().any(|(at, family)| *at < self.request && *family == fault.family);
                let text = output.map_or("", |output| output.text.as_str());
                let is_error_of_code = matches!(fault.class, "compile" | "lint");
                let blames_others = is_error_of_code
                    && !self.changed_files.is_empty()
                    && !self.changed_files.iter().any(|file| text.contains(file.as_str()));
                self.failures.push((self.now, fault.family));
                match fault.class {
                    _ if is_known || blames_others => CallEnd::FailedElsewhere,
                    _ if action.command().is_none() => CallEnd::Failed,
                    "not_found" | "permission" => CallEnd::Open,
                    // A sandbox kept it from running.
                    _ if fault.headline.contains("operation not permitted") => CallEnd::Open,
                    _ => CallEnd::Failed,
                }
            }
            CallOutcome::Unknown => CallEnd::Open,
            CallOutcome::Passed if is_program && output.is_some_and(has_failed_inside) => CallEnd::Failed,
            CallOutcome::Passed => CallEnd::Passed,
        }
    }

    fn add_edit(&mut self, changes: &[EditedFile]) {
        let mut lasting = changes.iter().filter(|change| self.is_in_scratch || !is_scratch(&change.path)).peekable();
        if lasting.peek().is_none() && !changes.is_empty() {
            return;
        }
        let is_document = !changes.is_empty() && lasting.clone().all(|change| is_document(&change.path));
        self.changed_files.extend(lasting.filter_map(|change| change.path.rsplit('/').next()).map(str::to_owned));
        if is_document { self.document = self.now - 1 } else { self.change = self.now - 1 }
    }

    fn add_command(&mut self, command: &str, output: Option<&ToolOutput>, end: CallEnd) {
        let parts: Vec<ShellCommand> =
            inner_scripts(command).iter().flat_map(|script| parse_shell_commands(script)).collect();
        let writes = |part: &ShellCommand| {
            let is_write = part.writes && !runs_check(part) && !delivers_work(part.command_words());
            is_write || rewrites_files(part.command_words())
        };
        let is_scratch = !self.is_in_scratch && is_scratch(command);
        if !is_scratch && matches!(end, CallEnd::Passed | CallEnd::Open) && parts.iter().any(writes) {
            self.change = self.now - 1;
        }
        if !is_scratch && parts.iter().any(|part| !part.is_read_only() && !runs_check(part)) {
            self.agent_action = self.now - 1;
        }
        let is_test_run = output.is_some_and(|output| read_test_outcome(&output.text).is_some());
        self.pending = PendingCommand {
            is_check: is_test_run || parts.iter().any(runs_check),
            is_test_run,
            is_delivery: parts.iter().any(|part| delivers_work(part.command_words())),
        };
        self.add_result(end);
    }

    /// Records the end of the last command; one that still runs has no result yet.
    fn add_result(&mut self, end: CallEnd) {
        if end == CallEnd::Open {
            return;
        }
        let PendingCommand { is_check, is_test_run, is_delivery } = std::mem::take(&mut self.pending);
        if is_check && end != CallEnd::FailedElsewhere {
            (self.check, self.has_check_passed, self.is_test_run) = (self.now, end == CallEnd::Passed, is_test_run);
        }
        if is_delivery && end == CallEnd::Passed {
            self.delivery = self.now;
        }
    }

    fn decide_status(&self) -> (EpisodeStatus, StatusBasis) {
        use EpisodeStatus::{Aborted, Failed, Partial, Success};
        let made = self.change.max(self.agent_action);
        let work = made.max(self.document).max(self.check).max(self.delivery);
        let last_word = self.answer.max(work);
        let is_cut_off = self.open_call > self.answer.max(self.request);
        if is_cut_off || self.background > work.max(self.request) || self.is_interrupted && self.request > last_word {
            return (Aborted, StatusBasis::Interrupted);
        }
        if self.is_objection && self.request > self.change.max(self.delivery) {
            return (if self.is_check_doubted { Partial } else { Failed }, StatusBasis::Person);
        }
        if self.request > last_word.max(self.returned_call) || last_word == 0 {
            return (Aborted, StatusBasis::Nothing);
        }
        // Only what followed the last request counts; the person has accepted what came before it.
        let is_news = |at: usize| at > self.request;
        if self.delivery > self.change.max(self.check) && is_news(self.delivery) {
            return (Success, StatusBasis::Result);
        }
        // Where nothing was made, words may follow a passed check; a failed check stays the last result.
        let is_check_all = made == 0 && is_news(self.check) && (self.check > self.answer || !self.has_check_passed);
        if self.check > self.change && (made > 0 && is_news(made) || is_check_all) {
            return match self.has_check_passed {
                true if self.is_check_doubted && !self.is_test_run => (Partial, StatusBasis::Claim),
                true => (Success, StatusBasis::Check),
                false => (Failed, StatusBasis::Check),
            };
        }
        if is_news(self.delivery) && self.delivery > self.change {
            return (Success, StatusBasis::Result);
        }
        let has_answered = is_news(self.answer) && self.answer > work;
        if is_news(self.document) && !is_news(self.change) && !(has_answered && self.is_admission) {
            return (Success, StatusBasis::Result);
        }
        if !has_answered {
            return (Partial, StatusBasis::Nothing);
        }
        let has_gone_on = made > 0 && self.request > made;
        match self.is_admission {
            true if self.change > 0 && self.request > self.change => (Partial, StatusBasis::Claim),
            true => (Failed, StatusBasis::Claim),
            false if has_gone_on => (Success, StatusBasis::Person),
            // An answer without any finished call is no more than a claim.
            false if self.request > 0 && made == 0 && self.returned_call > 0 => (Success, StatusBasis::Answer),
            false => (Partial, StatusBasis::Claim),
        }
    }
}

/// Returns true if the log has any output; some formats have none, and there a call without one says nothing.
fn has_outputs(trajectory: &Trajectory) -> bool {
    trajectory.steps.iter().any(|step| !step.outputs.is_empty() || step.calls.iter().any(|call| call.output.is_some()))
}

/// Returns true if a request has words of its own, rather than only attachments.
fn has_own_words(words: &str) -> bool {
    words.lines().map(str::trim).any(|line| !(line.is_empty() || line.starts_with('[') && line.ends_with(']')))
}

/// Returns true if the words are a command for the harness alone, which is no request.
fn is_harness_word(words: &str) -> bool {
    matches!(words.trim_start_matches('/'), "exit" | "quit" | "compact" | "clear")
}

/// Returns true if the agent admits a failure in the first sentence of a message.
fn admits_failure(words: &str) -> bool {
    let first = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let first = first.to_lowercase().replace('’', "'").replace("i'm ", "i am ");
    let sentence = first.split(". ").next().unwrap_or_default();
    ["i", "we"].iter().any(|who| ADMISSIONS.iter().any(|admission| sentence.contains(&format!("{who} {admission}"))))
}

/// Returns true if a call returned before its command ended.
fn is_running(output: &ToolOutput, is_program: bool) -> bool {
    let is_script = || is_program && output.text.contains("\"session_id\":") && !output.text.contains("\"exit_code\":");
    let marks = ["Process running with session ID", "Script running with cell ID"];
    output.exit_code.is_none() && (is_script() || marks.iter().any(|mark| output.text.contains(mark)))
}

/// Returns true if a program ended normally although one of its commands failed.
fn has_failed_inside(output: &ToolOutput) -> bool {
    output.text.split("\"exit_code\":").skip(1).any(|rest| !rest.trim_start().starts_with('0'))
}

/// Returns true if a tool fetches further output of a running command.
fn is_poll_tool(tool: &str) -> bool {
    matches!(tool, "write_stdin" | "wait" | "TaskOutput" | "BashOutput")
}

/// Returns true if a call handed work to the background; its first line says that it was launched.
fn is_in_background(output: &ToolOutput) -> bool {
    output.text.lines().next().is_some_and(|line| line.contains("launched"))
}

/// Returns true if a path or a command concerns temporary files.
fn is_scratch(text: &str) -> bool {
    ["/tmp/", "/var/folders/", "mktemp", "scratchpad"].iter().any(|mark| text.contains(mark))
}

/// Returns true if a file is a document, which is its own result.
fn is_document(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    matches!(ending.as_deref(), Some("md" | "mdx" | "rst" | "adoc"))
}

/// Returns true if a command is a program that calls tools.
fn is_program(command: &str) -> bool {
    command.contains("await tools.") || command.contains("ALL_TOOLS")
}

/// Returns the scripts that a command runs: those that it passes to a shell, or else the command itself.
fn inner_scripts(command: &str) -> Vec<String> {
    if is_program(command) {
        return command.split("cmd").skip(1).filter_map(first_string).collect();
    }
    let inner: Vec<String> = parse_shell_commands(command).iter().filter_map(ShellCommand::inner_script).collect();
    if inner.is_empty() { vec![command.to_owned()] } else { inner }
}

/// Reads the string that follows the name of a member.
fn first_string(text: &str) -> Option<String> {
    let value = text.trim_start_matches('"').trim_start().strip_prefix(':')?;
    serde_json::Deserializer::from_str(value).into_iter::<String>().next()?.ok()
}

/// Returns true if a command delivers work to where others see it.
fn delivers_work(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    parse_git_command(words).is_some_and(|git| matches!(git.verb, "commit" | "push"))
        || word(0) == "gh"
            && matches!(word(1), "pr" | "issue" | "release")
            && matches!(word(2), "create" | "edit" | "merge" | "comment")
}

/// Returns true if a command is a test, a build, a linter or a type check, whichever task runner starts it. Formatting
/// is no check, unless it only inspects; a script called `fix` is a linter that also repairs.
fn runs_check(part: &ShellCommand) -> bool {
    let words = part.command_words();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    if part.formats_files() {
        return false;
    }
    let is_task = word(1) == "run" && is_verification(&format!("npm run {}", word(2)));
    let is_fix = matches!(word(0), "npm" | "pnpm" | "yarn" | "bun") && [word(1), word(2)].contains(&"fix");
    is_task || is_fix || is_verification(&part.to_command_line())
}

/// Returns true if a command rewrites files in place.
fn rewrites_files(words: &[String]) -> bool {
    let head = words.first().map_or("", String::as_str);
    let is_in_place = || words.iter().any(|word| word.starts_with("-i") || word == "--in-place");
    match head {
        "apply_patch" | "patch" | "tee" | "mv" | "cp" | "rm" => true,
        "sed" | "perl" => is_in_place(),
        "xargs" => rewrites_files(words.get(1..).unwrap_or_default()),
        _ => {
            parse_git_command(words).is_some_and(|git| matches!(git.verb, "mv" | "rm" | "apply" | "revert" | "restore"))
        }
    }
}
