//! How lines of ours are told from lines of the log, and what stands for steps that are not shown.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::render::flat;
use crate::domain::{Step, Trajectory};

/// Tools that a gap names; the others are counted together.
const TOOLS_NAMED: usize = 6;

/// A tool's name.
const TOOL_BYTES: usize = 40;

const SIGN: char = '§';

/// The sign that begins our lines: `§`, or `§2`, `§3` and so on, the first that the log itself does not use.
///
/// A log may hold anything, also a digest. Text that is shown word for word cannot be told from ours by looks or by
/// indentation, only by something that does not occur in it.
pub(super) fn mark<'t>(trajectories: &'t [Trajectory], notes: Option<&'t str>) -> String {
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
            look_into(&call.arguments, &mut look);
            call.output.iter().for_each(|output| look(&output.text));
        }
        step.outputs.iter().for_each(|output| look(&output.text));
    }
    match (1_u64..).find(|number| !used.contains(&Some(*number))) {
        None | Some(1) => SIGN.to_string(),
        Some(number) => format!("{SIGN}{number}"),
    }
}

fn look_into(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(list) => list.iter().for_each(|value| look_into(value, look)),
        Value::Object(fields) => {
            for (key, value) in fields {
                look(key);
                look_into(value, look);
            }
        }
        _ => {}
    }
}

/// Counts the calls of any run of steps at once.
pub(super) struct Tally {
    tools: Vec<String>,
    /// For every place, what stands before it: calls of each named tool, of the others, and copied steps.
    sums: Vec<[u32; TOOLS_NAMED + 2]>,
}

impl Tally {
    pub(super) fn new(steps: &[Step]) -> Self {
        let mut by_tool: BTreeMap<&str, usize> = BTreeMap::new();
        for call in steps.iter().filter(|step| !step.copied).flat_map(|step| &step.calls) {
            *by_tool.entry(&call.tool).or_default() += 1;
        }
        let mut ranked: Vec<(&str, usize)> = by_tool.into_iter().collect();
        ranked.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
        ranked.truncate(TOOLS_NAMED);
        let mut sum = [0_u32; TOOLS_NAMED + 2];
        let mut sums = vec![sum];
        for step in steps {
            let mut add = |place: usize| sum.iter_mut().skip(place).take(1).for_each(|count| *count += 1);
            if step.copied {
                add(TOOLS_NAMED + 1);
            } else {
                for call in &step.calls {
                    add(ranked.iter().position(|(tool, _)| *tool == call.tool).unwrap_or(TOOLS_NAMED));
                }
            }
            sums.push(sum);
        }
        Self { tools: ranked.into_iter().map(|(tool, _)| flat(tool, TOOL_BYTES)).collect(), sums }
    }

    /// What stands for the steps from `start` up to `end`; nothing for no steps.
    pub(super) fn gap(&self, steps: &[Step], start: usize, end: usize, prefix: &str, mark: &str) -> String {
        let (Some(first), Some(last)) = (steps.get(start), end.checked_sub(1).and_then(|at| steps.get(at))) else {
            return String::new();
        };
        if start >= end {
            return String::new();
        }
        let (Some(before), Some(after)) = (self.sums.get(start), self.sums.get(end)) else { return String::new() };
        let names = self.tools.iter().map(String::as_str).chain(std::iter::repeat("")).take(TOOLS_NAMED);
        let mut told: Vec<(&str, u32)> = names
            .chain(["other tools", "copied from an earlier session"])
            .zip(after.iter().zip(before).map(|(after, before)| after - before))
            .filter(|(_, count)| *count > 0)
            .collect();
        told.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut line = format!("{mark} … {prefix}s{}", first.number);
        if end - start > 1 {
            let _ = write!(line, "–s{}", last.number);
        }
        let _ = write!(line, ": {} {} elided", end - start, if end - start == 1 { "step" } else { "steps" });
        if !told.is_empty() {
            let told: Vec<String> = told.into_iter().map(|(name, count)| format!("{name} {count}")).collect();
            let _ = write!(line, " ({})", told.join(", "));
        }
        line.push('\n');
        line
    }
}
