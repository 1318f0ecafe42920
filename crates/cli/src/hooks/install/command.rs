//! Recognizes our own hook commands, wherever the program is installed and whatever was added to them.

use std::ops::Range;

use archivist_core::text::shell_lexer::{ShellWord, program_name, split_commands};

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

/// Parses a line with a command of the form `[…] archivist [flags] hook AGENT [EVENT] […]`.
fn parse_command(line: &str, plan: &HookPlan) -> Option<HookCommandParts> {
    let own = split_commands(&plan.program);
    let own_name = own.first().and_then(|own| own.arguments().next()).map(|word| lowercase_name(&word.text));
    let is_program = |word: &ShellWord| {
        let name = lowercase_name(&word.text);
        name == PROGRAM || own_name.as_ref() == Some(&name)
    };
    split_commands(line).iter().find_map(|command| {
        let mut words = command.arguments().skip_while(|word| !is_program(word));
        let program = words.next()?;
        words.find(|word| word.text == "hook")?;
        let agent = words.next().filter(|word| word.text == plan.agent.as_str())?;
        let event = words.next().filter(|word| !word.text.starts_with('-'));
        Some(HookCommandParts {
            program: program.span.clone(),
            agent: agent.span.clone(),
            event: event.map(|word| word.span.clone()),
        })
    })
}

fn lowercase_name(program: &str) -> String {
    program_name(&program.to_lowercase()).to_owned()
}
