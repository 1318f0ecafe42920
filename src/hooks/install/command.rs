//! Which commands are ours, wherever the program lies and whatever somebody added to them.

use std::ops::Range;

use super::plan::Plan;

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// What the program is called, unless somebody renamed it.
const PROGRAM: &str = "archivist";

/// Where the words of a command of ours stand.
struct Parts {
    program: Range<usize>,
    agent: Range<usize>,
    event: Option<Range<usize>>,
}

/// A word of a command, without its quotes, and where it stands with them.
struct Word {
    text: String,
    range: Range<usize>,
}

/// Whether a command is a hook of ours for the agent of the plan.
pub(super) fn is_ours(command: &str, plan: &Plan) -> bool {
    parts(command, plan).is_some()
}

/// The command with the plan's program and the event that it stands under; `None` if it is so already. Flags and
/// whatever stands before the program stay.
pub(super) fn updated(command: &str, event: &str, plan: &Plan) -> Option<String> {
    let parts = parts(command, plan)?;
    let word = plan.word(event)?;
    let before = command.get(..parts.program.start)?;
    let between = command.get(parts.program.end..parts.agent.end)?;
    let after = command.get(parts.event.map_or(parts.agent.end, |event| event.end)..)?;
    let updated = format!("{before}{}{between} {word}{after}", plan.program);
    (updated != command).then_some(updated)
}

/// `[…] archivist [flags] hook AGENT [EVENT] […]`
fn parts(command: &str, plan: &Plan) -> Option<Parts> {
    let words = words(command);
    let own_name = words_of(&plan.program).map(|word| file_name(&word));
    let is_program = |word: &Word| {
        let name = file_name(&word.text);
        name == PROGRAM || own_name.as_deref() == Some(&name)
    };
    let start = words.iter().position(is_program)?;
    let mut behind = words.iter().skip(start + 1).take_while(|word| !is_operator(&word.text));
    behind.find(|word| word.text == "hook")?;
    let agent = behind.next().filter(|word| word.text == plan.agent.as_str())?;
    let event = behind.next().filter(|word| !word.text.starts_with('-'));
    Some(Parts {
        program: words.get(start)?.range.clone(),
        agent: agent.range.clone(),
        event: event.map(|word| word.range.clone()),
    })
}

fn words_of(program: &str) -> Option<String> {
    words(program).into_iter().next().map(|word| word.text)
}

/// The last part of a path, of either sort of system, without what only one of them adds.
fn file_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

fn is_operator(word: &str) -> bool {
    word.ends_with([';', '|', '&', '>', '<'])
}

/// A command in words, as shells cut it: quotes hold words together.
fn words(command: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut open: Option<Word> = None;
    let mut quote = None;
    for (at, c) in command.char_indices() {
        if quote.is_none() && c.is_whitespace() {
            words.extend(open.take());
            continue;
        }
        let word = open.get_or_insert_with(|| Word { text: String::new(), range: at..at });
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
