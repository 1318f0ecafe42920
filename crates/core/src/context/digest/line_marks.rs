//! Marks that distinguish the digest's own lines from lines of the log, and labels for steps that are not shown.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::render::{flatten_line, without_preamble};
use crate::context::tool_action::{ShellCommand, ToolAction, parse_shell_commands};
use crate::domain::{Step, ToolCall, Trajectory};

/// The number of labels named for a gap.
const NAMED: usize = 3;

/// The number of steps of a gap that are searched for labels.
const LOOKED_AT: usize = 64;

/// The longest label of a program or a file, in bytes.
const LABEL_BYTES: usize = 30;

const SIGN: char = '§';

/// Chooses the mark that begins the digest's own lines: the first of `§`, `§2`, `§3` and so on that the log does not
/// use.
///
/// A log may contain anything, even a digest. Text that is shown word for word can only be distinguished from the
/// digest's own lines by something that does not occur in it.
pub(super) fn choose_line_mark<'t>(trajectories: &'t [Trajectory], notes: Option<&'t str>) -> String {
    let mut used = BTreeSet::new();
    let mut look = |text: &str| {
        for (at, sign) in text.match_indices(SIGN) {
            let after = text.get(at + sign.len()..).unwrap_or_default();
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number = after.get(..digits).unwrap_or_default();
            used.insert(if number.is_empty() { Some(1) } else { number.parse::<u64>().ok() });
        }
    };
    notes.into_iter().for_each(&mut look);
    for step in trajectories.iter().flat_map(|trajectory| &trajectory.steps) {
        look(&step.text);
        step.reasoning.iter().for_each(|thought| look(thought));
        for call in &step.calls {
            visit_strings(&call.arguments, &mut look);
            call.output.iter().for_each(|output| look(&output.text));
        }
        step.outputs.iter().for_each(|output| look(&output.text));
    }
    match (1_u64..).find(|number| !used.contains(&Some(*number))) {
        None | Some(1) => SIGN.to_string(),
        Some(number) => format!("{SIGN}{number}"),
    }
}

fn visit_strings(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(list) => list.iter().for_each(|value| visit_strings(value, look)),
        Value::Object(fields) => {
            for (key, value) in fields {
                look(key);
                visit_strings(value, look);
            }
        }
        _ => {}
    }
}

/// Short labels of what each step of a trajectory did.
pub(super) struct GapLabels {
    of_steps: Vec<Vec<String>>,
}

impl GapLabels {
    pub(super) fn new(steps: &[Step]) -> Self {
        let label = |step: &Step| match step.copied {
            true => vec!["copied from an earlier session".to_owned()],
            false => step.calls.iter().take(NAMED).map(label_call).collect(),
        };
        Self { of_steps: steps.iter().map(label).collect() }
    }

    /// Renders the line for the elided steps from `start` up to `end`; an empty string for no steps.
    pub(super) fn render_gap(&self, steps: &[Step], start: usize, end: usize, prefix: &str, mark: &str) -> String {
        let (Some(first), Some(last)) = (steps.get(start), end.checked_sub(1).and_then(|at| steps.get(at))) else {
            return String::new();
        };
        if start >= end {
            return String::new();
        }
        let mut line = format!("{mark} … {prefix}s{}", first.number);
        if end - start > 1 {
            let _ = write!(line, "–s{}", last.number);
        }
        let _ = write!(line, ": {} {} elided", end - start, if end - start == 1 { "step" } else { "steps" });
        let mut named: Vec<&str> = Vec::new();
        for label in self.of_steps.iter().take(end).skip(start).take(LOOKED_AT).flatten() {
            if named.len() <= NAMED && !named.contains(&label.as_str()) {
                named.push(label);
            }
        }
        if named.len() > NAMED {
            named.truncate(NAMED);
            named.push("…");
        }
        if !named.is_empty() {
            let _ = write!(line, " ({})", named.join(", "));
        }
        line.push('\n');
        line
    }
}

/// Names the program that a call ran, the file that it read or changed, or its tool.
fn label_call(call: &ToolCall) -> String {
    let file = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let label = match ToolAction::from_call(&call.tool, &call.arguments) {
        ToolAction::Run { command } => name_program(&command),
        ToolAction::Read { path: Some(path) } => format!("read {}", file(&path)),
        ToolAction::Edit(changes) => {
            changes.first().map_or_else(String::new, |change| format!("edit {}", file(&change.path)))
        }
        _ => String::new(),
    };
    flatten_line(if label.is_empty() { &call.tool } else { &label }, LABEL_BYTES)
}

/// Names the first program of a command after its preamble, with its subcommand.
fn name_program(command: &str) -> String {
    let parts = parse_shell_commands(without_preamble(command));
    let words = parts.first().map(ShellCommand::command_words).unwrap_or_default();
    let is_verb = |word: &&String| word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b':'));
    let verb = words.get(1).filter(|word| is_verb(word) && !word.starts_with('-'));
    let program = words.first().map(|word| word.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    verb.map_or_else(|| program.to_owned(), |verb| format!("{program} {verb}"))
}
