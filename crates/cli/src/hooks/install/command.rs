//! Recognizes our own hook commands, wherever the program is installed and whatever was added to them.

use std::ops::Range;

use super::hook_plan::HookPlan;

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// The program's name, unless it was renamed.
const PROGRAM: &str = "archivist";

/// The positions of the words of one of our hook commands.
struct HookCommandParts {
    program: Range<usize>,
    agent: Range<usize>,
    event: Option<Range<usize>>,
}

/// A word of a command without its quotes, and its range including them.
struct HookCommandWord {
    text: String,
    range: Range<usize>,
}

/// Returns true if a command is one of our hooks for the agent of the plan.
pub(super) fn is_ours(command: &str, plan: &HookPlan) -> bool {
    parse_command(command, plan).is_some()
}

/// Returns the command with the plan's program and the event it is configured under; `None` if nothing changes. Flags
/// and anything before the program are kept.
pub(super) fn update_command(command: &str, event: &str, plan: &HookPlan) -> Option<String> {
    let parts = parse_command(command, plan)?;
    let word = plan.event_word(event)?;
    let before = command.get(..parts.program.start)?;
    let between = command.get(parts.program.end..parts.agent.end)?;
    let after = command.get(parts.event.map_or(parts.agent.end, |event| event.end)..)?;
    let updated = format!("{before}{}{between} {word}{after}", plan.program);
    (updated != command).then_some(updated)
}

/// Parses a command of the form `[…] archivist [flags] hook AGENT [EVENT] […]`.
fn parse_command(command: &str, plan: &HookPlan) -> Option<HookCommandParts> {
    let words = split_words(command);
    let own_name = first_word(&plan.program).map(|word| program_name(&word));
    let is_program = |word: &HookCommandWord| {
        let name = program_name(&word.text);
        name == PROGRAM || own_name.as_deref() == Some(&name)
    };
    let start = words.iter().position(is_program)?;
    let mut behind = words.iter().skip(start + 1).take_while(|word| !is_operator(&word.text));
    behind.find(|word| word.text == "hook")?;
    let agent = behind.next().filter(|word| word.text == plan.agent.as_str())?;
    let event = behind.next().filter(|word| !word.text.starts_with('-'));
    Some(HookCommandParts {
        program: words.get(start)?.range.clone(),
        agent: agent.range.clone(),
        event: event.map(|word| word.range.clone()),
    })
}

fn first_word(program: &str) -> Option<String> {
    split_words(program).into_iter().next().map(|word| word.text)
}

/// Returns the last component of a Unix or Windows path, in lower case and without `.exe`.
fn program_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

fn is_operator(word: &str) -> bool {
    word.ends_with([';', '|', '&', '>', '<'])
}

/// Splits a command into words like a shell: quotes keep words together.
fn split_words(command: &str) -> Vec<HookCommandWord> {
    let mut words = Vec::new();
    let mut open: Option<HookCommandWord> = None;
    let mut quote = None;
    for (at, c) in command.char_indices() {
        if quote.is_none() && c.is_whitespace() {
            words.extend(open.take());
            continue;
        }
        let word = open.get_or_insert_with(|| HookCommandWord { text: String::new(), range: at..at });
        word.range.end = at + c.len_utf8();
        match quote {
            Some(closing) if closing == c => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => word.text.push(c),
        }
    }
    words.extend(open);
    words
}
