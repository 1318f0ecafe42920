//! The text of a lesson about a failure: what fails, and what to do about it.

use serde_json::Value;

use super::action_timeline::{ActionTimeline, AgentAction};
use super::command_comparison::ComparableCommand;
use super::displayed_command::{backtick_command, find_heredoc_target, find_secret_variables};
use super::failure_cause::FailureCause;
use super::failure_groups::FailureGroup;
use super::reason_line::strip_test_name;
use super::remedy::{FailureRemedy, RemedyKind};
use super::sentence_text::{capitalize_first, cut_to_length, join_with_and, shorten_error, shorten_paths};
use crate::context::ToolAction;
use crate::distill::verify::reads_as_failure;
use crate::text::shell_lexer::{is_assignment, program_name};

#[cfg(test)]
#[path = "lesson_text_tests.rs"]
mod tests;

/// The most bytes of a change that is shown word for word.
const SHOWN_CHANGE: usize = 60;

/// The texts of a lesson about a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LessonText {
    pub(super) summary: String,
    pub(super) rule: String,
    pub(super) detail: String,
}

/// The words that every sentence about a failure needs.
struct FailureWords {
    /// The failed command in backticks, or the failed tool.
    what: String,
    error: String,
    root: String,
}

impl FailureWords {
    /// Returns the error in brackets, or nothing if it does not read as a failure and may be a stranger's text.
    fn bracketed_error(&self) -> String {
        if reads_as_failure(&self.error) { format!(" ({})", self.error) } else { String::new() }
    }

    /// Returns the error as it follows "fails", or nothing if it does not read as a failure.
    fn quoted_error(&self) -> String {
        if reads_as_failure(&self.error) { format!(" with \"{}\"", self.error) } else { String::new() }
    }
}

pub(super) fn write_lesson_text(timeline: &ActionTimeline<'_>, group: &FailureGroup) -> LessonText {
    let remedy = group.remedy.as_ref();
    let agent_action = remedy.map(|remedy| remedy.failed).or_else(|| group.actions.last().copied());
    let agent_action = agent_action.and_then(|index| timeline.actions.get(index));
    let trajectory = group.places.keys().next().copied().unwrap_or_default();
    let root = timeline
        .working_folder(agent_action.map_or(trajectory, |agent_action| agent_action.place.trajectory))
        .to_owned();
    let what = agent_action
        .and_then(|agent_action| display_command(agent_action, &root))
        .unwrap_or_else(|| display_tool(&group.tool));
    // Fetched text is not repeated.
    let said = if group.is_fetched { "" } else { strip_test_name(&group.headline) };
    let words = FailureWords { what, error: shorten_error(&shorten_paths(said, Some(&root))), root };
    let clear = remedy.filter(|_| group.is_remedied(timeline));
    let (summary, rule) = match clear {
        Some(remedy) => describe_remedied(timeline, group, remedy, &words),
        None => describe_recurring(timeline, group, &words),
    };
    LessonText { summary, rule, detail: describe_history(timeline, group, &words) }
}

/// Returns a tool by its name; the model is no tool.
fn display_tool(tool: &str) -> String {
    match tool {
        "" => "a command".to_owned(),
        "model" => "the model".to_owned(),
        tool => format!("`{tool}`"),
    }
}

/// Writes the summary and the rule of a failure with a remedy.
fn describe_remedied(
    timeline: &ActionTimeline<'_>,
    group: &FailureGroup,
    remedy: &FailureRemedy,
    words: &FailureWords,
) -> (String, String) {
    let FailureWords { what, .. } = words;
    let (told, with) = (words.bracketed_error(), words.quoted_error());
    let fix = write_instruction(timeline, group, remedy, words);
    let worked =
        timeline.actions.get(remedy.worked).and_then(|agent_action| display_command(agent_action, &words.root));
    let on_error = format!("IF {what} fails{with} THEN {fix}{}.", rerun_suffix(&remedy.how));
    let names: Vec<String> = remedy
        .named_commands(timeline)
        .into_iter()
        .flat_map(find_secret_variables)
        .map(|name| format!("`{name}`"))
        .collect();
    if !names.is_empty() {
        // The value is a secret; that a value is needed is none.
        let names = join_with_and(&names);
        let summary = format!("{what} needs {names} to be set{told}.");
        return (summary, format!("IF you are about to run {what} THEN set {names} first."));
    }
    if let (RemedyKind::Instead(..), Some(worked), FailureCause::Patience) = (&remedy.how, &worked, &group.cause) {
        let summary = format!("{what} can run into a rate limit{told}: run {worked} instead.");
        return (summary, format!("IF {what} is refused{with} THEN run {worked} instead of waiting."));
    }
    if remedy.how == RemedyKind::Person {
        return describe_user_help(timeline, group, remedy, words);
    }
    let apart = timeline.actions.get(remedy.failed).zip(timeline.actions.get(remedy.worked));
    if let (RemedyKind::Instead(_, cures), Some(apart)) =
        (&remedy.how, apart.and_then(|(failed, worked)| find_single_difference(failed, worked)))
        && cures.is_empty()
    {
        return apart.describe(&told, &words.root);
    }
    if let (RemedyKind::Instead(_, cures), Some(worked)) = (&remedy.how, worked) {
        let worked = match cures.as_slice() {
            [] => worked,
            cures => {
                format!(
                    "{}, then {worked}",
                    join_instructions(timeline, cures, group, words).trim_start_matches("run ")
                )
            }
        };
        let summary = match &group.cause {
            FailureCause::Variable(Some(name)) if worked.contains(name.as_str()) => {
                format!("{what} needs `{name}` to be set: run {worked}.")
            }
            FailureCause::Program(Some(name))
                if what.contains(name.as_str()) && !worked.contains(&format!("`{name} ")) =>
            {
                format!("`{name}` is not available here: run {worked} instead.")
            }
            FailureCause::Target(Some(name)) if what.contains(name.as_str()) => {
                format!("There is no `{name}` to run here: run {worked} instead of {what}.")
            }
            FailureCause::Port(port) => {
                format!("{} may be taken when {what} starts: run {worked} instead.", display_port(port.as_deref()))
            }
            _ => format!("{what} fails here{told}: run {worked} instead."),
        };
        return (summary, format!("IF you are about to run {what} THEN run {worked} instead."));
    }
    let summary = match (&group.cause, &remedy.how) {
        (_, RemedyKind::In(folder)) => {
            let folder = shorten_paths(folder, Some(&words.root));
            let rule = format!("IF you are about to run {what} THEN run it in `{folder}`.");
            return (format!("Run {what} in `{folder}`: elsewhere it fails{told}."), rule);
        }
        (FailureCause::Time, RemedyKind::Background) => {
            format!("{what} takes longer than a call may: run it in the background.")
        }
        (FailureCause::Time, RemedyKind::MoreTime(seconds)) => {
            format!("{what} does not finish within the default time limit: give it {seconds} s.")
        }
        (FailureCause::Lock, RemedyKind::Wait) => {
            format!("{what} can find its lock held by another process{told}: wait a little and try again.")
        }
        (_, RemedyKind::Wait) => format!("{what} can fail for a moment{told}: wait a little and try again."),
        (FailureCause::Module(Some(name)), _) => format!("{what} needs `{name}`, which is not installed: {fix} first."),
        (FailureCause::Program(Some(name)), _) => format!("`{name}` is not installed here: {fix} first."),
        (FailureCause::Variable(Some(name)), _) => format!("{what} needs `{name}` to be set: {fix} first."),
        (FailureCause::Port(port), _) => {
            format!("{} may still be taken when {what} starts: {fix} first.", display_port(port.as_deref()))
        }
        (FailureCause::Service, _) => format!("{what} needs a service that may not be running{told}: {fix} first."),
        (FailureCause::Lock, _) => format!("{what} can stop at a lock that was left behind{told}: {fix}."),
        (FailureCause::Lockfile, _) => format!("{what} fails when the lock file is out of step{told}: {fix} first."),
        (FailureCause::Migration, _) => format!("{what} needs a migrated database{told}: {fix} first."),
        (FailureCause::Version, _) => format!("{what} needs another version than the default{told}: {fix} first."),
        (FailureCause::Permission, _) => format!("{what} is not permitted{told}: {fix} first."),
        (FailureCause::Login, _) => format!("{what} needs to be signed in{told}: {fix} first."),
        _ => format!("{what} fails{told} until this is done: {fix}."),
    };
    (summary, on_error)
}

/// Writes the summary and the rule of a failure that only the user could clear.
fn describe_user_help(
    timeline: &ActionTimeline<'_>,
    group: &FailureGroup,
    remedy: &FailureRemedy,
    words: &FailureWords,
) -> (String, String) {
    let failed = timeline.actions.get(remedy.failed);
    // The arguments belong to this one call; the program and its verb will recur.
    let main = failed
        .and_then(|agent_action| agent_action.line.as_ref())
        .map(ComparableCommand::main_words)
        .unwrap_or_default();
    let is_verb = |word: &&String| word.chars().all(|c| c.is_alphanumeric() || c == '-') && !word.starts_with('-');
    let verb = main.iter().skip(1).take(1).filter(is_verb);
    let what: Vec<&str> = main.iter().take(1).chain(verb).map(String::as_str).collect();
    let what = backtick_command(&what.join(" "), &words.root);
    let first = failed.and_then(|agent_action| agent_action.output).and_then(|output| {
        output.text.lines().map(str::trim).find(|line| line.to_lowercase().contains("error") && reads_as_failure(line))
    });
    let first = first.filter(|first| *first != group.headline).map(|first| format!("{}; ", shorten_error(first)));
    let error = format!("{}{}", first.unwrap_or_default(), words.error);
    let summary =
        format!("{what} failed again and again ({error}) and passed unchanged once the person had been asked.");
    let rule = format!(
        "IF {what} fails with \"{}\" THEN do not try again by yourself: ask the person, then run it once more.",
        words.error
    );
    (summary, rule)
}

/// The single difference between a command that works and one that does not.
enum SingleDifference {
    /// These assignments are set for it.
    Settings { command: Vec<String>, settings: Vec<String> },
    /// Another program runs it.
    Runner { command: Vec<String>, runner: Vec<String> },
    /// Another program does the same.
    Program { old: String, new: String },
}

/// Finds the single difference between two commands, if there is exactly one.
fn find_single_difference(failed: &AgentAction<'_>, worked: &AgentAction<'_>) -> Option<SingleDifference> {
    let (before, after) = (failed.line.as_ref()?, worked.line.as_ref()?);
    let command = before.main_words();
    let exports = after.setups.iter().filter(|setup| setup.first().is_some_and(|word| word == "export"));
    let settings = after.settings.iter().chain(exports.flat_map(|setup| setup.iter().skip(1)));
    let settings: Vec<String> =
        settings.filter(|word| is_assignment(word) && !before.settings.contains(word)).cloned().collect();
    if after.cores.iter().any(|core| core == command) && !settings.is_empty() {
        return Some(SingleDifference::Settings { command: command.to_vec(), settings });
    }
    let parts = || after.cores.iter().chain(&after.setups);
    for core in before.cores.iter().filter(|core| !core.is_empty()) {
        if let Some(part) = parts().find(|part| part.len() > core.len() && part.ends_with(core)) {
            let runner = part.iter().take(part.len() - core.len()).cloned().collect();
            return Some(SingleDifference::Runner { command: core.clone(), runner });
        }
    }
    let (old, arguments) = command.split_first()?;
    let is_same = |part: &&Vec<String>| part.split_first().is_some_and(|(_, others)| others == arguments);
    let new = parts().find(is_same).and_then(|part| part.first()).filter(|new| *new != old && !arguments.is_empty())?;
    Some(SingleDifference::Program { old: old.clone(), new: new.clone() })
}

impl SingleDifference {
    /// Writes the summary of the difference and the rule that follows.
    fn describe(&self, told: &str, root: &str) -> (String, String) {
        let shown = |words: &[String]| backtick_command(&words.join(" "), root);
        match self {
            Self::Settings { command, settings } => {
                let (command, settings) = (shown(command), shown(settings));
                let summary = format!("{command} fails here{told}: run it with {settings}.");
                (summary, format!("IF you are about to run {command} THEN run it with {settings}."))
            }
            Self::Runner { command, runner } => {
                let (command, runner) = (shown(command), shown(runner));
                let summary = format!("{command} fails here{told}: run it through {runner}.");
                (summary, format!("IF you are about to run {command} THEN run it through {runner}."))
            }
            Self::Program { old, new } => {
                let (old, new) = (backtick_command(old, root), backtick_command(new, root));
                (
                    format!("{old} fails here{told}: use {new}."),
                    format!("IF you are about to run {old} THEN use {new}."),
                )
            }
        }
    }
}

/// Returns the command of an action, without what precedes and follows its main part.
fn display_command(agent_action: &AgentAction<'_>, root: &str) -> Option<String> {
    let run = agent_action.command()?;
    let line = agent_action.line.as_ref().filter(|line| !line.is_script && line.cores.len() == 1);
    let core = line.and_then(|line| line.main_words().first()).and_then(|head| {
        let start = run.find(head.as_str())?;
        let rest = run.get(start..)?;
        let ends = [" | ", " && ", " || ", "; ", " 2>", "\n"];
        let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        rest.get(..end)
    });
    let is_prepared = line.is_some_and(|line| !line.settings.is_empty() || !line.setups.is_empty());
    Some(backtick_command(core.filter(|_| !is_prepared).unwrap_or(run), root))
}

fn rerun_suffix(how: &RemedyKind) -> &'static str {
    match how {
        RemedyKind::After(_) => ", then run it again",
        _ => "",
    }
}

fn display_port(port: Option<&str>) -> String {
    port.map_or_else(|| "The port".to_owned(), |port| format!("Port {port}"))
}

/// Returns the remedy as an instruction.
fn write_instruction(
    timeline: &ActionTimeline<'_>,
    group: &FailureGroup,
    remedy: &FailureRemedy,
    words: &FailureWords,
) -> String {
    match &remedy.how {
        RemedyKind::After(actions) => join_instructions(timeline, actions, group, words),
        RemedyKind::MoreTime(seconds) => format!("give it {seconds} s"),
        RemedyKind::Background => "run it in the background".to_owned(),
        RemedyKind::In(folder) => format!("run it in `{}`", shorten_paths(folder, Some(&words.root))),
        RemedyKind::Wait => "wait a little and try again".to_owned(),
        RemedyKind::Instead(..) | RemedyKind::Code(_) | RemedyKind::Person | RemedyKind::Nothing => {
            "do it in another way".to_owned()
        }
    }
}

/// Returns actions as one instruction.
fn join_instructions(
    timeline: &ActionTimeline<'_>,
    actions: &[usize],
    group: &FailureGroup,
    words: &FailureWords,
) -> String {
    let mut orders: Vec<String> = Vec::new();
    for agent_action in actions.iter().filter_map(|index| timeline.actions.get(*index)) {
        let order = action_instruction(agent_action, group, words);
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    match orders.as_slice() {
        [one, two] if one.starts_with("run ") && two.starts_with("run ") => {
            format!("{one} and {}", two.trim_start_matches("run "))
        }
        orders => join_with_and(orders),
    }
}

/// Returns one action as an instruction.
fn action_instruction(agent_action: &AgentAction<'_>, group: &FailureGroup, words: &FailureWords) -> String {
    if let Some(run) = agent_action.command() {
        let is_one_process = program_name(run).starts_with("kill")
            && run
                .split_whitespace()
                .skip(1)
                .all(|word| word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit()));
        if is_one_process && matches!(group.cause, FailureCause::Port(_) | FailureCause::Lock) {
            return "find and stop the process that holds it".to_owned();
        }
        if let Some(path) = find_heredoc_target(run) {
            return format!("write `{}`", shorten_paths(path, Some(&words.root)));
        }
        return format!("run {}", backtick_command(run, &words.root));
    }
    edit_instruction(agent_action, &words.root).unwrap_or_else(|| "change the settings".to_owned())
}

/// Returns an edit as an instruction: the change if it is short, else the file.
pub(super) fn edit_instruction(agent_action: &AgentAction<'_>, root: &str) -> Option<String> {
    let ToolAction::Edit(changes) = &agent_action.action else { return None };
    let path = shorten_paths(&changes.first()?.path, Some(root));
    let text = |keys: &[&str]| {
        let given = agent_action.arguments?;
        keys.iter()
            .find_map(|key| given.get(key))
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let old = text(&["old_string", "old_str", "oldString"]);
    let new = text(&["new_string", "new_str", "newString"]);
    let is_short = |text: &str| text.len() <= SHOWN_CHANGE && !text.contains(['\n', '`']);
    Some(match (old, new) {
        (Some(old), Some(new)) if new.contains(old) && is_short(new.replacen(old, "", 1).trim()) => {
            format!("add `{}` to `{path}`", new.replacen(old, "", 1).trim())
        }
        (Some(old), Some(new)) if is_short(old) && is_short(new) => format!("change `{old}` to `{new}` in `{path}`"),
        _ => match text(&["content", "file_text", "contents"]).filter(|content| is_short(content)) {
            Some(content) => format!("put `{content}` into `{path}`"),
            None => format!("edit `{path}`"),
        },
    })
}

/// Writes the summary and the rule of a recurring failure, with no more than a general instruction. The counts are kept
/// out of it, so that the lesson stays the same as more sessions add to them.
fn describe_recurring(timeline: &ActionTimeline<'_>, group: &FailureGroup, words: &FailureWords) -> (String, String) {
    let FailureWords { what, error, .. } = words;
    let recommendation = match &group.cause {
        FailureCause::Code | FailureCause::Unknown | FailureCause::Network | FailureCause::Service
            if group.tool == "model" =>
        {
            "change what is asked or pause before asking again: every attempt ended the same way".to_owned()
        }
        cause => instruction_for_cause(cause),
    };
    let agent = timeline.agent_name(group.places.keys().next().copied().unwrap_or_default());
    if let (Some(rival), Some(agent)) = (group.find_rival_agent(timeline), agent) {
        let summary =
            format!("{} runs out of time under {agent}; {rival} got the same task done.", capitalize_first(what));
        let rule =
            format!("IF {agent} is about to run {what} THEN leave it to {rival}, or split it into smaller runs.");
        return (summary, rule);
    }
    // One lesson covers all commands that need it.
    if let FailureCause::Program(Some(name)) | FailureCause::Module(Some(name)) = &group.cause {
        let summary = format!("`{name}` is not installed here, and nothing in the log mended it.");
        return (summary, format!("IF you are about to use `{name}` THEN {recommendation}."));
    }
    // The kind of a limit is known without the words of the error.
    let said = if reads_as_failure(error) { format!(": \"{error}\"") } else { String::new() };
    let summary = match &group.cause {
        FailureCause::Room => format!("More is sent to {what} than the context window holds{said}."),
        FailureCause::Length => format!("An answer grew longer than {what} gives{said}."),
        FailureCause::Patience => format!("{} limits the rate of calls{said}.", capitalize_first(what)),
        FailureCause::Time => format!("{} runs out of time{said}.", capitalize_first(what)),
        FailureCause::Name(name) => format!("`{name}` is not defined where {what} needs it."),
        FailureCause::Sandbox => {
            format!("The agent's sandbox keeps {what} from its work ({error}): the code is not at fault.")
        }
        _ => format!("{} fails with \"{error}\", and nothing in the log mended it.", capitalize_first(what)),
    };
    let condition = match &group.cause {
        FailureCause::Room => format!("you give {what} a large task or a long input"),
        FailureCause::Length => format!("you ask {what} for a long text"),
        FailureCause::Patience if said.is_empty() => format!("{what} refuses a call for its rate"),
        FailureCause::Patience => format!("{what} answers with \"{error}\""),
        _ => format!("{what} fails with \"{error}\""),
    };
    (summary, format!("IF {condition} THEN {recommendation}."))
}

/// Returns the instruction that follows from the cause alone.
fn instruction_for_cause(cause: &FailureCause) -> String {
    let named =
        |name: &Option<String>, else_: &str| name.as_ref().map_or_else(|| else_.to_owned(), |name| format!("`{name}`"));
    match cause {
        FailureCause::Room => "send less at once: trim, split or summarise the input before asking".to_owned(),
        FailureCause::Length => "write it in parts: several smaller answers or files instead of one".to_owned(),
        FailureCause::Patience => "slow down: fewer calls at a time, and a longer pause after each refusal".to_owned(),
        FailureCause::Time => {
            "raise the time limit, run it in the background, or split it into smaller runs".to_owned()
        }
        FailureCause::Name(name) => {
            format!("define, import or export `{name}` where it is used before running anything else")
        }
        FailureCause::Module(name) | FailureCause::Program(name) => {
            format!("install {} first, or do without", named(name, "what is missing"))
        }
        FailureCause::Variable(name) => format!("set {} before running it", named(name, "the variable")),
        FailureCause::Port(_) => "stop what holds the port, or choose another, before starting".to_owned(),
        FailureCause::Service => "start the service and see that it answers before running it".to_owned(),
        FailureCause::Lock => "make sure that nobody holds the lock, then remove it".to_owned(),
        FailureCause::Lockfile => "bring the lock file up to date first".to_owned(),
        FailureCause::Migration => "run the migrations first".to_owned(),
        FailureCause::Version => "switch to the version that it asks for first".to_owned(),
        FailureCause::Flag => "read its help before trying another flag".to_owned(),
        FailureCause::Target(_) => "list what there is to run before trying another name".to_owned(),
        FailureCause::Permission => {
            "set the permissions right, or work where writing is allowed, before trying again".to_owned()
        }
        FailureCause::Login => "sign in first".to_owned(),
        FailureCause::Folder => "go to the folder that holds the project first".to_owned(),
        FailureCause::Unmade => "build or generate what it asks for first".to_owned(),
        FailureCause::Resource => "free memory or disk, or do less at once, before trying again".to_owned(),
        FailureCause::Network => "see that the host can be reached before trying again".to_owned(),
        FailureCause::Sandbox => {
            "do not debug it: judge by what runs without that, and say what was not checked, or have it run outside"
                .to_owned()
        }
        FailureCause::Code | FailureCause::Edit | FailureCause::Unknown => {
            "find the cause before running it again: every attempt ended the same way".to_owned()
        }
    }
}

/// Describes how often and where it failed, and how it went away.
fn describe_history(timeline: &ActionTimeline<'_>, group: &FailureGroup, words: &FailureWords) -> String {
    let times = match group.times {
        0 | 1 => "It failed once".to_owned(),
        times => format!("It failed {times} times"),
    };
    let runs = match (group.episodes.len(), group.earlier.len()) {
        (runs @ 2.., _) => format!(" in {runs} of {} runs", timeline.session_count()),
        (_, 0) => String::new(),
        (_, 1) => ", and in an earlier run too".to_owned(),
        (_, earlier) => format!(", and in {earlier} earlier runs too"),
    };
    let ended = match &group.remedy {
        Some(remedy) => {
            let worked = timeline.actions.get(remedy.worked);
            let run = worked.and_then(|agent_action| display_command(agent_action, &words.root)).unwrap_or_default();
            match worked.is_some_and(AgentAction::has_passed) {
                true => format!(", then {run} passed"),
                false => format!(", then {run} got further"),
            }
        }
        None => ", and the log shows no fix".to_owned(),
    };
    // The whole message is given where the summary shows only a part of it.
    let line = if words.error.ends_with('…') && !group.is_fetched && reads_as_failure(&words.error) {
        format!(" It said: {}", cut_to_length(&shorten_paths(&group.headline, Some(&words.root)), 200))
    } else {
        String::new()
    };
    format!("{times}{runs}{ended}.{line}")
}
