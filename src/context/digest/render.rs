//! The lines of a digest.

use std::fmt::Write;

use super::excerpt::{Stretch, excerpt};
use super::parts::{Part, What, parts};
use crate::context::action::Action;
use crate::context::signal::Signal;
use crate::domain::{Call, Output, Speaker, Step, Trajectory};

/// A step shows at most so many times what each of its parts may have.
const PARTS_SHOWN: usize = 4;

/// Less than this of a part says nothing.
const MIN_PART_BYTES: usize = 40;

/// Names, numbers and other short things of a log.
const NAME_BYTES: usize = 80;

/// A title, an error or another sentence of a log.
const SENTENCE_BYTES: usize = 240;

/// Calls that one line tells.
const CALLS_ON_A_LINE: usize = 3;

/// Step numbers that a signal's line tells.
const STEPS_ON_A_LINE: usize = 6;

/// Lines of a quotation that a signal shows; the step shows them all.
const QUOTED_LINES: usize = 3;

/// How much of a signal is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    Bare,
    Brief,
    Whole,
}

/// Whether a line break, or anything that some reader takes for one or hides by.
fn is_break(c: char) -> bool {
    c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A text in one line of at most `max` bytes, for lines of our own.
pub(super) fn flat(text: &str, max: usize) -> String {
    let text = text.trim();
    let kept = text.get(..text.floor_char_boundary(max)).unwrap_or_default();
    let mut line: String = kept.chars().map(|c| if is_break(c) { ' ' } else { c }).collect();
    if kept.len() < text.len() {
        line.push('…');
    }
    line
}

/// The first line of a text, letter for letter as far as it goes.
fn first_line(text: &str, max: usize) -> String {
    let text = text.trim();
    let line = text.split(is_break).next().unwrap_or_default();
    let kept = line.get(..line.floor_char_boundary(max)).unwrap_or_default();
    if kept.len() < text.len() { format!("{kept}…") } else { kept.to_owned() }
}

/// What is known of a trajectory, most telling first.
pub(super) fn facts(trajectory: &Trajectory, signals: usize) -> Vec<String> {
    let about = &trajectory.about;
    let named = |name: &str, value: &Option<String>| {
        value
            .as_deref()
            .filter(|value| !value.trim().is_empty())
            .map(|value| format!("{name}: {}", flat(value, NAME_BYTES)))
    };
    let mut facts = Vec::new();
    if let Some(title) = about.title.as_deref().filter(|title| !title.trim().is_empty()) {
        facts.push(format!("title: {}", flat(title, SENTENCE_BYTES)));
    }
    let mut push = |parts: Vec<Option<String>>| {
        let line = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        if !line.is_empty() {
            facts.push(line);
        }
    };
    let version =
        about.agent_version.as_deref().map_or_else(String::new, |version| format!(" {}", flat(version, NAME_BYTES)));
    push(vec![
        named("agent", &about.agent).map(|agent| agent + &version),
        named("model", &about.model),
        named("session", &about.session_id),
        named("started by", &about.parent_session_id),
    ]);
    push(vec![outcome(trajectory)]);
    push(vec![named("task", &about.task_id), named("subtask", &about.subtask_id)]);
    push(vec![Some(counts(trajectory, signals))]);
    push(vec![usage(trajectory)]);
    push(vec![times(trajectory)]);
    push(vec![
        named("repository", &about.repository),
        named("branch", &about.branch),
        named("directory", &about.directory),
    ]);
    facts
}

fn outcome(trajectory: &Trajectory) -> Option<String> {
    let outcome = trajectory.outcome.as_ref()?;
    let mut line = format!("outcome: {}", flat(outcome.status.as_str(), NAME_BYTES));
    if let Some(reward) = outcome.reward {
        let _ = write!(line, ", reward {reward}");
    }
    let _ = write!(line, " (says {})", flat(&outcome.from, NAME_BYTES));
    if let Some(error) = &outcome.error {
        let _ = write!(line, ": {}", flat(error, SENTENCE_BYTES));
    }
    Some(line)
}

fn counts(trajectory: &Trajectory, signals: usize) -> String {
    let steps = trajectory.steps.iter().filter(|step| !step.copied);
    let calls = || steps.clone().flat_map(|step| &step.calls);
    let failed = calls().filter_map(|call| call.output.as_ref()).filter(|output| has_failed(output)).count();
    let by = |speaker: &Speaker| steps.clone().filter(|step| step.speaker == *speaker).count();
    let (all, copied) = (trajectory.steps.len(), trajectory.steps.iter().filter(|step| step.copied).count());
    let mut line = format!(
        "counts: {all} steps (user {}, agent {}), {} calls ({failed} failed), {signals} signals",
        by(&Speaker::User),
        by(&Speaker::Agent),
        calls().count(),
    );
    if copied > 0 {
        let _ = write!(line, ", {copied} steps copied from an earlier session");
    }
    line
}

fn usage(trajectory: &Trajectory) -> Option<String> {
    let usage = &trajectory.usage;
    let tokens = |name: &str, count: Option<u64>| count.map(|count| format!("{count} {name} tokens"));
    let parts: Vec<String> = [
        tokens("prompt", usage.prompt_tokens),
        tokens("cached", usage.cached_tokens),
        tokens("completion", usage.completion_tokens),
        usage.cost_usd.map(|cost| format!("{cost:.4} USD")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("usage: {}", parts.join(", ")))
}

fn times(trajectory: &Trajectory) -> Option<String> {
    let (start, end) = (trajectory.about.started_at?, trajectory.about.finished_at?);
    let format = "%Y-%m-%dT%H:%M:%SZ";
    let seconds = (end - start).num_seconds();
    Some(format!("time: {} to {} ({seconds} s)", start.format(format), end.format(format)))
}

/// One signal. The quotation stands in lines of its own, unless the text has it already.
pub(super) fn signal(signal: &Signal, label: &str, telling: Telling) -> String {
    let mut line = format!("- [{label}] {}", flat(signal.kind.as_str(), NAME_BYTES));
    if signal.times > 1 {
        let _ = write!(line, " ×{}", signal.times);
    }
    let (text_bytes, lines, quote_bytes) = match telling {
        Telling::Bare => (80, 0, 0),
        Telling::Brief => (160, 1, 160),
        Telling::Whole => (480, QUOTED_LINES, 320),
    };
    let _ = write!(line, ": {}", flat(&signal.text, text_bytes));
    if signal.steps.len() > 1 && telling != Telling::Bare {
        let _ = write!(line, " ({})", numbers(&signal.steps));
    }
    line.push('\n');
    let quote = signal.quote.as_deref().unwrap_or_default().trim();
    if line.contains(quote) {
        return line;
    }
    let quoted: Vec<&str> = quote.split(is_break).filter(|quoted| !quoted.trim().is_empty()).collect();
    for quoted in quoted.iter().take(lines) {
        let kept = quoted.get(..quoted.floor_char_boundary(quote_bytes)).unwrap_or_default();
        let _ = writeln!(line, "  > {kept}");
    }
    if lines > 0 && quoted.len() > lines {
        let _ = writeln!(line, "  [… {} lines …]", quoted.len() - lines);
    }
    line
}

/// Step numbers, those in the middle left out if there are many.
fn numbers(steps: &[u32]) -> String {
    let half = STEPS_ON_A_LINE / 2;
    let (start, end) = if steps.len() > STEPS_ON_A_LINE { (half, steps.len() - half) } else { (0, 0) };
    let mut named: Vec<String> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match at {
            at if at == start && start < end => named.push("…".to_owned()),
            at if (start..end).contains(&at) => {}
            _ => named.push(format!("s{step}")),
        }
    }
    named.join(", ")
}

fn speaker(step: &Step) -> String {
    let mut name = flat(step.speaker.as_str(), NAME_BYTES);
    if let Some(subagent) = &step.subagent {
        let _ = write!(name, " (subagent {})", flat(subagent, NAME_BYTES));
    }
    name
}

/// A step in one line, which says no more than what it was about.
pub(super) fn line(step: &Step, label: &str, mark: &str) -> String {
    let mut told = Vec::new();
    let said = first_line(&step.text, if step.calls.is_empty() { 160 } else { 80 });
    if !said.is_empty() {
        told.push(said);
    }
    told.extend(step.calls.iter().take(CALLS_ON_A_LINE).map(call));
    if step.calls.len() > CALLS_ON_A_LINE {
        told.push(format!("{} more calls", step.calls.len() - CALLS_ON_A_LINE));
    }
    if told.is_empty() {
        told.extend(step.outputs.first().map(|output| first_line(&output.text, 80)).filter(|line| !line.is_empty()));
    }
    if told.is_empty() {
        told.push(if step.reasoning.is_some() { "thinks" } else { "says nothing" }.to_owned());
    }
    format!("{mark} {label} {}: {}\n", speaker(step), told.join(" · "))
}

fn call(call: &Call) -> String {
    let mut line = flat(&call.tool, NAME_BYTES);
    let given = match Action::of(&call.tool, &call.arguments) {
        Action::Run { command } => first_line(&command, 100),
        Action::Read { path: Some(path) } => first_line(&path, 100),
        Action::Edit(changes) => {
            let paths: Vec<String> = changes.iter().take(3).map(|change| first_line(&change.path, 100)).collect();
            paths.join(", ")
        }
        _ => String::new(),
    };
    if !given.is_empty() {
        let _ = write!(line, " {given}");
    }
    if let Some(output) = &call.output {
        let _ = write!(line, " → {}", result(output));
    }
    line
}

fn has_failed(output: &Output) -> bool {
    output.failed == Some(true) || output.exit_code.is_some_and(|code| code != 0)
}

fn result(output: &Output) -> String {
    let mut line = match output {
        output if output.interrupted => "interrupted".to_owned(),
        output if has_failed(output) => "failed".to_owned(),
        Output { failed: Some(false), .. } | Output { exit_code: Some(_), .. } => "ok".to_owned(),
        _ => "done".to_owned(),
    };
    if let Some(code) = output.exit_code.filter(|code| *code != 0) {
        let _ = write!(line, ", exit {code}");
    }
    if let Some(duration) = output.duration_ms.filter(|duration| *duration >= 1000) {
        let _ = write!(line, ", {} s", duration / 1000);
    }
    line
}

/// A step word for word, each part cut to about `limit` bytes; and whether nothing was cut.
pub(super) fn body(step: &Step, label: &str, mark: &str, limit: usize, quotes: &[&str]) -> (String, bool) {
    let mut text = String::new();
    let mut is_whole = true;
    let mut allowance = limit.saturating_mul(PARTS_SHOWN);
    let mut skipped = 0;
    for part in parts(step) {
        let is_quoted = quotes.iter().any(|quote| !quote.is_empty() && part.text.contains(quote));
        if allowance < MIN_PART_BYTES && !is_quoted {
            skipped += 1;
            continue;
        }
        push_skipped(&mut text, mark, &mut skipped);
        let limit = if is_quoted { limit } else { limit.min(allowance) };
        allowance = allowance.saturating_sub(part.text.len().min(limit));
        let who = if text.is_empty() { format!(" {}", speaker(step)) } else { String::new() };
        let _ = writeln!(text, "{mark} {label}{who}{}", heading(&part));
        is_whole &= push_excerpt(&mut text, &part.text, mark, limit, quotes);
    }
    is_whole &= skipped == 0;
    push_skipped(&mut text, mark, &mut skipped);
    (text, is_whole)
}

fn push_skipped(text: &mut String, mark: &str, skipped: &mut usize) {
    if *skipped > 0 {
        let _ = writeln!(text, "{mark} [… {skipped} parts …]");
        *skipped = 0;
    }
}

fn heading(part: &Part<'_>) -> String {
    match &part.what {
        What::Said => String::new(),
        What::Thought => " thought".to_owned(),
        What::Call(tool) => format!(" call {}", flat(tool, NAME_BYTES)),
        What::Argument(name) => format!(" argument {}", flat(name, NAME_BYTES)),
        What::Output(output) => format!(" output {}", result(output)),
    }
}

/// A text between lines of ours; and whether nothing was cut.
pub(super) fn push_excerpt(into: &mut String, text: &str, mark: &str, limit: usize, quotes: &[&str]) -> bool {
    let mut is_whole = true;
    for stretch in excerpt(text, limit, quotes) {
        match stretch {
            Stretch::Kept(kept) => into.push_str(kept),
            Stretch::Gap { lines, bytes } => {
                is_whole = false;
                let _ = match lines {
                    0 => write!(into, "{mark} [… {bytes} bytes …]"),
                    lines => write!(into, "{mark} [… {lines} lines, {bytes} bytes …]"),
                };
            }
        }
        if !into.ends_with('\n') {
            into.push('\n');
        }
    }
    is_whole
}
