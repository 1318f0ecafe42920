//! The lines of a digest.

use std::fmt::Write;

use super::excerpt::{Stretch, TextOrigin, Wanted, excerpt};
use super::parts::{Part, What, parts, says_something};
use crate::context::action::{Action, is_assignment, is_look};
use crate::context::failure::complaint_weight;
use crate::context::signal::Signal;
use crate::domain::{Call, Output, Speaker, Step, Trajectory};

/// A step shows at most so many times what each of its parts may have.
const PARTS_SHOWN: usize = 4;

/// So many times its share is what somebody says, and what a tool is called with; so small a part of it is what a file or
/// a search prints.
const WORDS_FACTOR: usize = 4;
/// Words are shown up to this whatever else is.
const WORDS_BYTES: usize = 2400;
/// What a harness says is long and mostly the same everywhere.
const HARNESS_BYTES: usize = 2400;
const COMMAND_FACTOR: usize = 2;

/// Commands are shown up to this whatever else is.
const COMMAND_BYTES: usize = 300;
/// A command that was shown before is called to mind by so much of it.
const REMINDER_BYTES: usize = 80;

/// A complaint of this weight is one wherever it stands.
const LOUD: u8 = 60;

/// What an edit wrote, and that it was done, is shown only where a part may have so much.
const EDIT_BYTES: usize = 1000;

/// An output that is no longer is told with its call.
const SMALL_OUTPUT_BYTES: usize = 160;

/// What a command printed is not cut up to this.
const SMALL_BYTES: usize = 500;

/// More than this of what a file or a search holds is shown only where a part may have so much.
const DUMP_BYTES: usize = 200;

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
    told.extend(step.calls.iter().take(CALLS_ON_A_LINE).map(|told| call(told, 100)));
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

/// A step by what was said in it, word for word, by the commands that did something, and by the calls of which little
/// came back.
pub(super) fn words(step: &Step, label: &str, mark: &str, limit: usize) -> (String, bool) {
    let is_small = |call: &Call| call.output.as_ref().is_some_and(|output| output.text.len() <= SMALL_OUTPUT_BYTES);
    let is_told = |call: &&Call| is_small(call) || is_deed(call);
    let told: Vec<&Call> = step.calls.iter().filter(is_told).take(CALLS_ON_A_LINE).collect();
    if !says_something(step) && !told.iter().any(|call| is_small(call)) {
        return (line(step, label, mark), false);
    }
    let mut text = format!("{mark} {label} {}\n", speaker(step));
    let mut is_whole = step.calls.is_empty() && step.outputs.is_empty() && step.reasoning.is_none();
    for part in parts(step).iter().filter(|part| matches!(part.what, What::Said)) {
        is_whole &= push_excerpt(&mut text, &part.text, mark, limit, Wanted::default());
    }
    for told in told {
        let _ = writeln!(text, "{mark} call {}", call(told, 180));
        let output = told.output.as_ref().filter(|_| is_small(told)).map(|output| output.text.trim());
        push_excerpt(&mut text, output.unwrap_or_default(), mark, SMALL_OUTPUT_BYTES, Wanted::default());
    }
    (text, is_whole)
}

fn call(call: &Call, bytes: usize) -> String {
    let mut line = flat(&call.tool, NAME_BYTES);
    let given = match Action::of(&call.tool, &call.arguments) {
        Action::Run { command } => first_line(without_preamble(&command), bytes),
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

/// Takes off the folder that a command goes to first and the variables that it sets, as far as more follows.
pub(super) fn without_preamble(command: &str) -> &str {
    let mut rest = command.trim_start();
    loop {
        let end = rest.find([';', '\n']).into_iter().chain(rest.find("&&")).min().unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let after = after.trim_start_matches([';', '\n', '&', ' ', '\t']);
        let mut words = part.split_whitespace().peekable();
        let is_preamble = words.next_if(|word| matches!(*word, "cd" | "export" | "set" | "source")).is_some()
            || words.all(is_assignment);
        if !is_preamble || after.is_empty() {
            return rest;
        }
        rest = after;
    }
}

pub(super) fn has_failed(output: &Output) -> bool {
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

/// A step word for word, each part cut to about `limit` bytes; and whether nothing was cut. A command that was given in
/// the step `again` already is only called to mind.
pub(super) fn body(
    step: &Step,
    label: &str,
    mark: &str,
    limit: usize,
    wanted: Wanted<'_>,
    again: Option<u32>,
) -> (String, bool) {
    let mut text = String::new();
    let mut is_whole = true;
    let mut allowance = limit.saturating_mul(PARTS_SHOWN * 2);
    let mut skipped = 0;
    for part in parts(step) {
        let is_certain = matches!(part.what, What::Said)
            || wanted.quotes.iter().any(|quote| !quote.is_empty() && part.text.contains(quote));
        if allowance < MIN_PART_BYTES && !is_certain {
            skipped += 1;
            continue;
        }
        let again = again.filter(|_| matches!(part.what, What::Call(_)) && part.text.len() > REMINDER_BYTES);
        let room = if again.is_some() { REMINDER_BYTES } else { part_bytes(step, &part, limit) };
        if room == 0 && !is_certain {
            is_whole = false;
            continue;
        }
        push_skipped(&mut text, mark, &mut skipped);
        let limit = if is_certain { room } else { room.min(allowance) };
        if !matches!(part.what, What::Said) {
            allowance = allowance.saturating_sub(part.text.len().min(limit));
        }
        let _ = match (&part.what, text.is_empty()) {
            (What::Said, true) => write!(text, "{mark} {label} {}", speaker(step)),
            (_, true) => write!(text, "{mark} {label} {} {}", speaker(step), heading(&part)),
            (_, false) => write!(text, "{mark} {}", heading(&part)),
        };
        let _ = again.map(|number| write!(text, ", as in s{number}"));
        text.push('\n');
        let origin = origin(step, &part);
        is_whole &= push_excerpt(&mut text, &part.text, mark, limit, Wanted { origin, ..wanted });
    }
    is_whole &= skipped == 0;
    push_skipped(&mut text, mark, &mut skipped);
    (text, is_whole)
}

/// Tells where a part comes from. What a user says may hold a pasted log.
fn origin(step: &Step, part: &Part<'_>) -> TextOrigin {
    match &part.what {
        What::Output(output) if !has_failed(output) && !step.calls.iter().any(is_deed) => TextOrigin::Dump,
        What::Output(_) => TextOrigin::Command,
        What::Said if step.speaker == Speaker::User => TextOrigin::Command,
        _ => TextOrigin::Writing,
    }
}

/// Tells whether a call runs a command that does not only look.
fn is_deed(call: &Call) -> bool {
    matches!(Action::of(&call.tool, &call.arguments), Action::Run { command } if !is_look(&command))
}

/// Tells whether a call looks at something and does nothing.
pub(super) fn is_look_call(call: &Call) -> bool {
    match Action::of(&call.tool, &call.arguments) {
        Action::Read { .. } | Action::Fetch => true,
        Action::Run { command } => is_look(&command),
        _ => false,
    }
}

/// Returns how much of a part is shown: words and commands tell more than what a file or a search prints.
fn part_bytes(step: &Step, part: &Part<'_>, limit: usize) -> usize {
    let is_edit = |call: &Call| matches!(Action::of(&call.tool, &call.arguments), Action::Edit(_));
    let is_done = |output: &Output| !has_failed(output) && step.calls.iter().all(is_edit);
    let is_dump = origin(step, part) == TextOrigin::Dump;
    match &part.what {
        What::Said if step.speaker != Speaker::System => limit.saturating_mul(WORDS_FACTOR).max(WORDS_BYTES),
        What::Said => limit.saturating_mul(3).min(HARNESS_BYTES),
        What::Argument(_) if limit < EDIT_BYTES && step.calls.iter().any(is_edit) => 0,
        What::Output(output) if limit < EDIT_BYTES && is_done(output) => 0,
        What::Output(_) if is_dump && limit < DUMP_BYTES && part.text.len() > SMALL_BYTES => {
            if has_complaint(&part.text, true) { limit } else { 0 }
        }
        What::Output(_) if is_dump => limit,
        What::Call(_) => limit.saturating_mul(COMMAND_FACTOR).max(COMMAND_BYTES),
        // A plan or an order for another agent is written to be read.
        What::Argument(_) if limit > DUMP_BYTES => limit.saturating_mul(WORDS_FACTOR).max(WORDS_BYTES),
        What::Output(_) | What::Argument(_) => limit.saturating_mul(COMMAND_FACTOR),
        What::Thought => limit,
    }
}

fn has_complaint(text: &str, is_dump: bool) -> bool {
    text.lines().any(|line| complaint_weight(line, is_dump) >= LOUD)
}

/// Tells whether a call of a step failed, and which lines of its outputs complain loudly, whatever its end is said to be.
pub(super) fn complaints(step: &Step) -> (bool, Vec<&str>) {
    let outputs = || step.calls.iter().filter_map(|call| call.output.as_ref()).chain(&step.outputs);
    let is_dump = step.calls.iter().all(is_look_call);
    let lines = outputs().flat_map(|output| output.text.lines());
    let loud = lines.filter(|line| complaint_weight(line, is_dump) >= LOUD).collect();
    (outputs().any(has_failed), loud)
}

fn push_skipped(text: &mut String, mark: &str, skipped: &mut usize) {
    if *skipped > 0 {
        let _ = writeln!(text, "{mark} [… {skipped} parts …]");
        *skipped = 0;
    }
}

fn heading(part: &Part<'_>) -> String {
    match &part.what {
        What::Said => "said".to_owned(),
        What::Thought => "thought".to_owned(),
        What::Call(tool) => format!("call {}", flat(tool, NAME_BYTES)),
        What::Argument(name) => format!("argument {}", flat(name, NAME_BYTES)),
        What::Output(output) => format!("output {}", result(output)),
    }
}

/// A text between lines of ours; and whether nothing was cut.
pub(super) fn push_excerpt(into: &mut String, text: &str, mark: &str, limit: usize, wanted: Wanted<'_>) -> bool {
    let mut is_whole = true;
    for stretch in excerpt(text, limit, wanted) {
        match stretch {
            Stretch::Kept(kept) => into.push_str(kept),
            Stretch::Gap { lines, bytes } => {
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
