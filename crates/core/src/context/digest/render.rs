//! Renders the lines of a digest.

use std::fmt::Write;

use super::excerpt::{ExcerptFocus, ExcerptPart, TextOrigin, choose_excerpt};
use super::step_parts::{StepPart, StepPartKind, has_spoken_text, split_step_parts};
use crate::context::failure::rate_error_line;
use crate::context::signal::Signal;
use crate::context::tool_action::{ToolAction, is_read_only_command};
use crate::domain::{Speaker, Step, ToolCall, ToolOutput, Trajectory};
use crate::text::shell_lexer::{is_assignment, strip_leading_commands};
use crate::text::{JoinerPolicy, strip_hidden_text};

/// The factor, before doubling, by which a step may exceed the limit of one part.
const PARTS_SHOWN: usize = 4;

/// The share of words, as a multiple of the limit of a part; `COMMAND_FACTOR` is that of calls.
const WORDS_FACTOR: usize = 4;
/// The size up to which words are always shown.
const WORDS_BYTES: usize = 2400;
/// The size up to which words of the harness are shown; they are long and mostly the same everywhere.
const HARNESS_BYTES: usize = 2400;
const COMMAND_FACTOR: usize = 2;

/// The size up to which commands are always shown.
const COMMAND_BYTES: usize = 300;
/// The size to which a command is cut that was shown before.
const REMINDER_BYTES: usize = 80;

/// The weight from which on an error line counts anywhere.
const LOUD: u8 = 60;

/// The limit of a part from which on the texts and results of edits are shown.
const EDIT_BYTES: usize = 1000;

/// The size up to which an output is shown with its call.
const SMALL_OUTPUT_BYTES: usize = 160;

/// The size up to which printed output is not cut.
const SMALL_BYTES: usize = 500;

/// The limit of a part from which on longer contents of files and searches are shown.
const DUMP_BYTES: usize = 200;

/// The smallest remaining room, in bytes, in which a part is still shown.
const MIN_PART_BYTES: usize = 40;

/// The longest name, number or other short text of a log, in bytes.
const NAME_BYTES: usize = 80;

/// The longest title, error or other sentence of a log, in bytes.
const SENTENCE_BYTES: usize = 240;

/// The number of calls named on one line.
const CALLS_ON_A_LINE: usize = 3;

/// The number of step numbers on a signal's line.
const STEPS_ON_A_LINE: usize = 6;

/// The number of lines of a quote that a signal shows; the step shows them all.
const QUOTED_LINES: usize = 3;

/// The level of detail at which a signal is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalDetail {
    Bare,
    Brief,
    Whole,
}

/// Returns true for line breaks, and for any character that some reader may treat as one.
fn is_line_break(c: char) -> bool {
    c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns a text as one line of at most `max` bytes, for the digest's own lines.
pub(super) fn flatten_line(text: &str, max: usize) -> String {
    let visible = strip_hidden_text(text, JoinerPolicy::Keep);
    let text = visible.trim();
    let kept = text.get(..text.floor_char_boundary(max)).unwrap_or_default();
    let mut line = kept.replace(is_line_break, " ");
    if kept.len() < text.len() {
        line.push('…');
    }
    line
}

/// Returns the first line of a text, word for word, cut to `max` bytes.
fn first_line(text: &str, max: usize) -> String {
    let text = text.trim();
    let line = text.split(is_line_break).next().unwrap_or_default();
    let kept = line.get(..line.floor_char_boundary(max)).unwrap_or_default();
    if kept.len() < text.len() { format!("{kept}…") } else { kept.to_owned() }
}

/// Returns the facts of a trajectory, a line each, the most important first.
pub(super) fn trajectory_facts(trajectory: &Trajectory, signals: usize) -> Vec<String> {
    let about = &trajectory.about;
    let named = |name: &str, value: &Option<String>| {
        value
            .as_deref()
            .filter(|value| !value.trim().is_empty())
            .map(|value| format!("{name}: {}", flatten_line(value, NAME_BYTES)))
    };
    let mut facts = Vec::new();
    if let Some(title) = about.title.as_deref().filter(|title| !title.trim().is_empty()) {
        facts.push(format!("title: {}", flatten_line(title, SENTENCE_BYTES)));
    }
    let mut push = |parts: Vec<Option<String>>| {
        let line = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        if !line.is_empty() {
            facts.push(line);
        }
    };
    let version = about
        .agent_version
        .as_deref()
        .map_or_else(String::new, |version| format!(" {}", flatten_line(version, NAME_BYTES)));
    push(vec![
        named("agent", &about.agent).map(|agent| agent + &version),
        named("model", &about.model),
        named("session", &about.session_id),
        named("started by", &about.parent_session_id),
    ]);
    push(vec![render_outcome(trajectory)]);
    push(vec![named("task", &about.task_id), named("subtask", &about.subtask_id)]);
    push(vec![Some(render_counts(trajectory, signals))]);
    push(vec![render_usage(trajectory)]);
    push(vec![render_times(trajectory)]);
    push(vec![
        named("repository", &about.repository),
        named("branch", &about.branch),
        named("directory", &about.directory),
    ]);
    facts
}

fn render_outcome(trajectory: &Trajectory) -> Option<String> {
    let outcome = trajectory.outcome.as_ref()?;
    let mut line = format!("outcome: {}", flatten_line(outcome.status.as_str(), NAME_BYTES));
    if let Some(reward) = outcome.reward {
        let _ = write!(line, ", reward {reward}");
    }
    let _ = write!(line, " (says {})", flatten_line(&outcome.from, NAME_BYTES));
    if let Some(error) = &outcome.error {
        let _ = write!(line, ": {}", flatten_line(error, SENTENCE_BYTES));
    }
    Some(line)
}

fn render_counts(trajectory: &Trajectory, signals: usize) -> String {
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

fn render_usage(trajectory: &Trajectory) -> Option<String> {
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

fn render_times(trajectory: &Trajectory) -> Option<String> {
    let (start, end) = (trajectory.about.started_at?, trajectory.about.finished_at?);
    let format = "%Y-%m-%dT%H:%M:%SZ";
    let seconds = (end - start).num_seconds();
    Some(format!("time: {} to {} ({seconds} s)", start.format(format), end.format(format)))
}

/// Renders a signal. The quote gets lines of its own, unless the text already contains it.
pub(super) fn render_signal(signal: &Signal, label: &str, telling: SignalDetail) -> String {
    let mut line = format!("- [{label}] {}", flatten_line(signal.kind.as_str(), NAME_BYTES));
    if signal.times > 1 {
        let _ = write!(line, " ×{}", signal.times);
    }
    let (text_bytes, lines, quote_bytes) = match telling {
        SignalDetail::Bare => (80, 0, 0),
        SignalDetail::Brief => (160, 1, 160),
        SignalDetail::Whole => (480, QUOTED_LINES, 320),
    };
    let _ = write!(line, ": {}", flatten_line(&signal.text, text_bytes));
    if signal.steps.len() > 1 && telling != SignalDetail::Bare {
        let _ = write!(line, " ({})", render_step_numbers(&signal.steps));
    }
    line.push('\n');
    let quote = signal.quote.as_deref().unwrap_or_default().trim();
    if line.contains(quote) {
        return line;
    }
    let quoted: Vec<&str> = quote.split(is_line_break).filter(|quoted| !quoted.trim().is_empty()).collect();
    for quoted in quoted.iter().take(lines) {
        let kept = quoted.get(..quoted.floor_char_boundary(quote_bytes)).unwrap_or_default();
        let _ = writeln!(line, "  > {kept}");
    }
    if lines > 0 && quoted.len() > lines {
        let _ = writeln!(line, "  [… {} lines …]", quoted.len() - lines);
    }
    line
}

/// Renders step numbers, without those in the middle if there are many.
fn render_step_numbers(steps: &[u32]) -> String {
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

fn render_speaker(step: &Step) -> String {
    let mut name = flatten_line(step.speaker.as_str(), NAME_BYTES);
    if let Some(subagent) = &step.subagent {
        let _ = write!(name, " (subagent {})", flatten_line(subagent, NAME_BYTES));
    }
    name
}

/// Renders a step as one line that only says what it was about.
pub(super) fn render_step_line(step: &Step, label: &str, mark: &str) -> String {
    let mut told = Vec::new();
    let said = first_line(&step.text, if step.calls.is_empty() { 160 } else { 80 });
    if !said.is_empty() {
        told.push(said);
    }
    told.extend(step.calls.iter().take(CALLS_ON_A_LINE).map(|told| render_call(told, 100)));
    if step.calls.len() > CALLS_ON_A_LINE {
        told.push(format!("{} more calls", step.calls.len() - CALLS_ON_A_LINE));
    }
    if told.is_empty() {
        told.extend(step.outputs.first().map(|output| first_line(&output.text, 80)).filter(|line| !line.is_empty()));
    }
    if told.is_empty() {
        told.push(if step.reasoning.is_some() { "thinks" } else { "says nothing" }.to_owned());
    }
    format!("{mark} {label} {}: {}\n", render_speaker(step), told.join(" · "))
}

/// Renders a step by its words, the commands that did something and the calls with little output; the flag tells
/// whether nothing was cut.
pub(super) fn render_step_words(step: &Step, label: &str, mark: &str, limit: usize) -> (String, bool) {
    let is_small = |call: &ToolCall| call.output.as_ref().is_some_and(|output| output.text.len() <= SMALL_OUTPUT_BYTES);
    let is_told = |call: &&ToolCall| is_small(call) || is_acting_call(call);
    let told: Vec<&ToolCall> = step.calls.iter().filter(is_told).take(CALLS_ON_A_LINE).collect();
    if !has_spoken_text(step) && !told.iter().any(|call| is_small(call)) {
        return (render_step_line(step, label, mark), false);
    }
    let mut text = format!("{mark} {label} {}\n", render_speaker(step));
    let mut is_whole = step.calls.is_empty() && step.outputs.is_empty() && step.reasoning.is_none();
    for part in split_step_parts(step).iter().filter(|part| matches!(part.what, StepPartKind::Said)) {
        is_whole &= push_excerpt(&mut text, &part.text, mark, limit, ExcerptFocus::default());
    }
    for told in told {
        let _ = writeln!(text, "{mark} call {}", render_call(told, 180));
        let output = told.output.as_ref().filter(|_| is_small(told)).map(|output| output.text.trim());
        push_excerpt(&mut text, output.unwrap_or_default(), mark, SMALL_OUTPUT_BYTES, ExcerptFocus::default());
    }
    (text, is_whole)
}

fn render_call(call: &ToolCall, bytes: usize) -> String {
    let mut line = flatten_line(&call.tool, NAME_BYTES);
    let given = match ToolAction::from_call(&call.tool, &call.arguments) {
        ToolAction::Run { command } => first_line(without_preamble(&command), bytes),
        ToolAction::Read { path: Some(path) } => first_line(&path, 100),
        ToolAction::Edit(changes) => {
            let paths: Vec<String> = changes.iter().take(3).map(|change| first_line(&change.path, 100)).collect();
            paths.join(", ")
        }
        _ => String::new(),
    };
    if !given.is_empty() {
        let _ = write!(line, " {given}");
    }
    if let Some(output) = &call.output {
        let _ = write!(line, " → {}", render_result(output));
    }
    line
}

/// Removes a leading `cd` and assignments from a command, as long as more follows.
pub(super) fn without_preamble(command: &str) -> &str {
    strip_leading_commands(command, |part| {
        matches!(part.program(), "cd" | "export" | "set" | "source")
            || part.arguments().all(|word| is_assignment(&word.text))
    })
}

pub(super) fn has_failed(output: &ToolOutput) -> bool {
    output.failed == Some(true) || output.exit_code.is_some_and(|code| code != 0)
}

fn render_result(output: &ToolOutput) -> String {
    let mut line = match output {
        output if output.interrupted => "interrupted".to_owned(),
        output if has_failed(output) => "failed".to_owned(),
        ToolOutput { failed: Some(false), .. } | ToolOutput { exit_code: Some(_), .. } => "ok".to_owned(),
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

/// Renders a step word for word, each part cut to about `limit` bytes; the flag tells whether nothing was cut. A
/// command that the step `again` already gave is shown in short.
pub(super) fn render_step_body(
    step: &Step,
    label: &str,
    mark: &str,
    limit: usize,
    wanted: ExcerptFocus<'_>,
    again: Option<u32>,
) -> (String, bool) {
    let mut text = String::new();
    let mut is_whole = true;
    let mut allowance = limit.saturating_mul(PARTS_SHOWN * 2);
    let mut skipped = 0;
    for part in split_step_parts(step) {
        let is_certain = matches!(part.what, StepPartKind::Said)
            || wanted.quotes.iter().any(|quote| !quote.is_empty() && part.text.contains(quote));
        if allowance < MIN_PART_BYTES && !is_certain {
            skipped += 1;
            continue;
        }
        let again = again.filter(|_| matches!(part.what, StepPartKind::Call(_)) && part.text.len() > REMINDER_BYTES);
        let room = if again.is_some() { REMINDER_BYTES } else { part_byte_limit(step, &part, limit) };
        if room == 0 && !is_certain {
            is_whole = false;
            continue;
        }
        push_skipped(&mut text, mark, &mut skipped);
        let limit = if is_certain { room } else { room.min(allowance) };
        if !matches!(part.what, StepPartKind::Said) {
            allowance = allowance.saturating_sub(part.text.len().min(limit));
        }
        let _ = match (&part.what, text.is_empty()) {
            (StepPartKind::Said, true) => write!(text, "{mark} {label} {}", render_speaker(step)),
            (_, true) => write!(text, "{mark} {label} {} {}", render_speaker(step), part_heading(&part)),
            (_, false) => write!(text, "{mark} {}", part_heading(&part)),
        };
        let _ = again.map(|number| write!(text, ", as in s{number}"));
        text.push('\n');
        let origin = text_origin(step, &part);
        is_whole &= push_excerpt(&mut text, &part.text, mark, limit, ExcerptFocus { origin, ..wanted });
    }
    is_whole &= skipped == 0;
    push_skipped(&mut text, mark, &mut skipped);
    (text, is_whole)
}

/// Returns the origin of a part's text. A user's words count as command output, because they may contain a pasted log.
fn text_origin(step: &Step, part: &StepPart<'_>) -> TextOrigin {
    match &part.what {
        StepPartKind::Output(output) if !has_failed(output) && !step.calls.iter().any(is_acting_call) => {
            TextOrigin::Dump
        }
        StepPartKind::Output(_) => TextOrigin::Command,
        StepPartKind::Said if step.speaker == Speaker::User => TextOrigin::Command,
        _ => TextOrigin::Writing,
    }
}

/// Returns true if a call runs a command that does not only read.
fn is_acting_call(call: &ToolCall) -> bool {
    matches!(ToolAction::from_call(&call.tool, &call.arguments), ToolAction::Run { command } if !is_read_only_command(&command))
}

/// Returns true if a call only reads something.
pub(super) fn is_read_only_call(call: &ToolCall) -> bool {
    match ToolAction::from_call(&call.tool, &call.arguments) {
        ToolAction::Read { .. } | ToolAction::Fetch => true,
        ToolAction::Run { command } => is_read_only_command(&command),
        _ => false,
    }
}

/// Returns the number of bytes shown of a part: words and commands get more than contents of files and searches.
fn part_byte_limit(step: &Step, part: &StepPart<'_>, limit: usize) -> usize {
    let is_edit = |call: &ToolCall| matches!(ToolAction::from_call(&call.tool, &call.arguments), ToolAction::Edit(_));
    let is_done = |output: &ToolOutput| !has_failed(output) && step.calls.iter().all(is_edit);
    let is_dump = text_origin(step, part) == TextOrigin::Dump;
    match &part.what {
        StepPartKind::Said if step.speaker != Speaker::System => limit.saturating_mul(WORDS_FACTOR).max(WORDS_BYTES),
        StepPartKind::Said => limit.saturating_mul(3).min(HARNESS_BYTES),
        StepPartKind::Argument(_) if limit < EDIT_BYTES && step.calls.iter().any(is_edit) => 0,
        StepPartKind::Output(output) if limit < EDIT_BYTES && is_done(output) => 0,
        StepPartKind::Output(_) if is_dump && limit < DUMP_BYTES && part.text.len() > SMALL_BYTES => {
            if has_error_line(&part.text, true) { limit } else { 0 }
        }
        StepPartKind::Output(_) if is_dump => limit,
        StepPartKind::Call(_) => limit.saturating_mul(COMMAND_FACTOR).max(COMMAND_BYTES),
        // A plan or an order for another agent is written to be read.
        StepPartKind::Argument(_) if limit > DUMP_BYTES => limit.saturating_mul(WORDS_FACTOR).max(WORDS_BYTES),
        StepPartKind::Output(_) | StepPartKind::Argument(_) => limit.saturating_mul(COMMAND_FACTOR),
        StepPartKind::Thought => limit,
    }
}

fn has_error_line(text: &str, is_dump: bool) -> bool {
    text.lines().any(|line| rate_error_line(line, is_dump) >= LOUD)
}

/// Tells whether a call of a step failed, and returns the strong error lines of its outputs, whatever its status.
pub(super) fn find_error_lines(step: &Step) -> (bool, Vec<&str>) {
    let outputs = || step.calls.iter().filter_map(|call| call.output.as_ref()).chain(&step.outputs);
    let is_dump = step.calls.iter().all(is_read_only_call);
    let lines = outputs().flat_map(|output| output.text.lines());
    let loud = lines.filter(|line| rate_error_line(line, is_dump) >= LOUD).collect();
    (outputs().any(has_failed), loud)
}

fn push_skipped(text: &mut String, mark: &str, skipped: &mut usize) {
    if *skipped > 0 {
        let _ = writeln!(text, "{mark} [… {skipped} parts …]");
        *skipped = 0;
    }
}

fn part_heading(part: &StepPart<'_>) -> String {
    match &part.what {
        StepPartKind::Said => "said".to_owned(),
        StepPartKind::Thought => "thought".to_owned(),
        StepPartKind::Call(tool) => format!("call {}", flatten_line(tool, NAME_BYTES)),
        StepPartKind::Argument(name) => format!("argument {}", flatten_line(name, NAME_BYTES)),
        StepPartKind::Output(output) => format!("output {}", render_result(output)),
    }
}

/// Pushes an excerpt of a text, with marked gaps; returns true if nothing was cut.
pub(super) fn push_excerpt(into: &mut String, text: &str, mark: &str, limit: usize, wanted: ExcerptFocus<'_>) -> bool {
    let mut is_whole = true;
    for stretch in choose_excerpt(text, limit, wanted) {
        match stretch {
            ExcerptPart::Kept(kept) => into.push_str(kept),
            ExcerptPart::Gap { lines, bytes } => {
                is_whole = false;
                let _ = match lines {
                    0 => write!(into, "{mark} [… {bytes} bytes …]"),
                    lines => write!(into, "{mark} [… {lines} lines …]"),
                };
            }
        }
        if !into.ends_with('\n') {
            into.push('\n');
        }
    }
    is_whole
}
