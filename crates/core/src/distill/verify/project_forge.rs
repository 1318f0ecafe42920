//! Outputs of the project's own forge: runs of its checks, changes to it, and their state.
//!
//! They come over the network, but nobody else writes them. What people write there, such as comments, is a stranger's.

use crate::context::{ToolAction, fetches_remote_text};
use crate::domain::{Step, ToolCall, TrustClass};

#[cfg(test)]
#[path = "project_forge_tests.rs"]
mod tests;

/// Tells whether everything that a step fetched is the project's own: runs of its checks, changes to it, and their
/// state. Such an output is weaker than a local one, but the agent may use it in the same way.
pub(super) fn shows_own_project(step: &Step, project: &[Option<&str>]) -> bool {
    let is_fetched = |call: &&ToolCall| call.output.as_ref().is_some_and(|one| one.trust == Some(TrustClass::Web));
    let is_own = |call: &ToolCall| match ToolAction::from_call(&call.tool, &call.arguments) {
        ToolAction::Run { command } => command
            .split(['|', ';', '\n', '&', '(', ')'])
            .all(|part| !fetches_remote_text(part) || asks_own_forge(part, project)),
        _ => false,
    };
    let mut fetched = step.calls.iter().filter(is_fetched).peekable();
    step.outputs.is_empty() && fetched.peek().is_some() && fetched.all(is_own)
}

/// Tells whether a command asks the project's own forge for machine output and changes, not for what people write.
fn asks_own_forge(command: &str, project: &[Option<&str>]) -> bool {
    const PROSE: &[&str] = &["body", "comments", "reviews", "latestReviews"];
    let words: Vec<&str> = command.split([' ', ',', '=', '\'', '"']).filter(|word| !word.is_empty()).collect();
    let is_ours = |name: &str| match project {
        [Some(repository), ..] => repository.trim_end_matches(".git").ends_with(&format!("/{name}")),
        [_, Some(folder)] => folder.rsplit('/').next() == name.rsplit('/').next(),
        _ => false,
    };
    let mut flags = words.windows(2).filter_map(|two| <[&str; 2]>::try_from(two).ok());
    let is_elsewhere = flags.any(|[flag, name]| matches!(flag, "-R" | "--repo") && !is_ours(name));
    let from = words.iter().position(|word| matches!(*word, "gh" | "git")).unwrap_or(words.len());
    let is_machine = match words.get(from..).unwrap_or_default() {
        ["git", "fetch" | "pull", ..] | ["gh", "auth" | "config" | "version", ..] => true,
        ["gh", "run", "view" | "watch" | "list", ..] | ["gh", "pr", "checks" | "diff", ..] => true,
        ["gh", "pr", "view" | "list" | "status", asked @ ..] => {
            asked.contains(&"--json") && !asked.iter().any(|word| PROSE.contains(word))
        }
        _ => false,
    };
    is_machine && !is_elsewhere && !command.contains("://")
}
