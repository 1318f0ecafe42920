//! Records the failures of a session for its episode: which action failed how often, and whether it passed later.

use std::collections::BTreeMap;

use super::signal::{Signal, SignalKind};
use super::tool_action::{ShellCommand, ToolAction, parse_shell_commands};
use super::trajectory_collector::GatheredLogs;
use crate::domain::{ErrorFamily, Extra, FailureRecord};

#[cfg(test)]
#[path = "failure_record_tests.rs"]
mod tests;

/// The number of failures that an episode keeps, the most frequent ones.
const MAX_FAILURES: usize = 32;

/// The number of characters of a name that is kept.
const NAME_CHARACTERS: usize = 40;

/// Records each error family of a session once, the most frequent first.
pub(super) fn record_failures(gathered: &GatheredLogs) -> Vec<FailureRecord> {
    let mut records: BTreeMap<&ErrorFamily, FailureRecord> = BTreeMap::new();
    for signal in gathered.signals.iter().filter(|signal| signal.kind.is_failure()) {
        let Some(family) = &signal.error_family else { continue };
        let record = records.entry(family).or_insert_with(|| FailureRecord {
            error_family: family.clone(),
            action: name_failed_action(gathered, signal),
            error_class: signal.error_class.clone(),
            times: 0,
            fixed: is_fixed(gathered, family),
            extra: Extra::new(),
        });
        record.times = record.times.max(signal.times);
    }
    let mut records: Vec<FailureRecord> = records.into_values().collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.times));
    records.truncate(MAX_FAILURES);
    records
}

/// Returns true if a command that failed in this way passed later.
pub(super) fn is_fixed(gathered: &GatheredLogs, family: &ErrorFamily) -> bool {
    gathered.signals.iter().any(|signal| {
        signal.kind == SignalKind::Fixed && !signal.alternative && signal.error_family.as_ref() == Some(family)
    })
}

/// Returns the program and subcommand of the call that a signal rests on, or its tool. These are names alone: no word of
/// an output, a path or an argument can stand in them.
fn name_failed_action(gathered: &GatheredLogs, signal: &Signal) -> String {
    let trajectory = usize::try_from(signal.trajectory).ok().and_then(|index| gathered.trajectories.get(index));
    let first = signal.steps.first().copied().unwrap_or(signal.step);
    let steps = trajectory.into_iter().flat_map(|one| &one.steps);
    let shown = steps.filter(|step| [first, signal.step].contains(&step.number));
    let command = shown.flat_map(|step| &step.calls).find_map(|call| {
        let action = ToolAction::from_call(&call.tool, &call.arguments);
        action.command().and_then(name_command)
    });
    // Who wrote a server chose the names of its tools.
    let is_own = |tool: &&str| is_plain_name(tool) && !tool.contains("__");
    let tool = || signal.tool.as_deref().filter(is_own).map(str::to_owned);
    command.or_else(tool).unwrap_or_else(|| "a call".to_owned())
}

/// Returns the program of a shell line and its subcommand: `pip install`.
fn name_command(command: &str) -> Option<String> {
    let commands = parse_shell_commands(command);
    let words = commands.iter().rev().map(ShellCommand::command_words).find(|words| !is_preparation(words))?;
    let program = words.first()?.rsplit('/').next().filter(|name| is_plain_name(name))?;
    let is_subcommand = |word: &&String| word.starts_with(|c: char| c.is_ascii_lowercase()) && is_plain_name(word);
    // What a runner of packages runs may be anybody's.
    let is_runner = matches!(program, "npx" | "uvx" | "bunx" | "pnpx" | "pipx");
    let subcommand = words.get(1).filter(is_subcommand).filter(|word| !word.contains('.') && !is_runner);
    Some([Some(program), subcommand.map(String::as_str)].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// Returns true for commands that go elsewhere or shorten an output.
fn is_preparation(words: &[String]) -> bool {
    const NAMES: &[&str] =
        &["cd", "pushd", "export", "set", "source", "echo", "true", "head", "tail", "sleep", "grep", "cat"];
    words.first().is_none_or(|word| NAMES.contains(&word.as_str()))
}

/// Returns true for a short name without blanks, quotes or signs.
fn is_plain_name(name: &str) -> bool {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    !name.is_empty() && name.len() <= NAME_CHARACTERS && name.chars().all(is_kept)
}
