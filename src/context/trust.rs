//! Whose words they are.

use super::action::Action;
use super::failure::is_verification;
use crate::domain::{Speaker, TrustClass};

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;

/// The class of what is said in a step.
pub(super) fn of_words(speaker: &Speaker) -> TrustClass {
    match speaker {
        Speaker::User => TrustClass::User,
        Speaker::Agent => TrustClass::Agent,
        Speaker::OtherAgent => TrustClass::OtherAgent,
        // What a harness says comes from files, hooks and other programs: no better than a tool.
        Speaker::System | Speaker::Tool | Speaker::Other(_) => TrustClass::ToolOutput,
    }
}

/// The class of what comes back from a call.
pub(super) fn of_output(tool: &str, action: &Action) -> TrustClass {
    match action {
        Action::Run { command } if fetches(command) => TrustClass::Web,
        Action::Run { command } if is_verification(command) => TrustClass::BuildOutput,
        Action::Run { command } if super::action::is_look(command) => TrustClass::RepoFile,
        Action::Read { .. } | Action::Edit(_) => TrustClass::RepoFile,
        Action::Fetch => TrustClass::Web,
        Action::Delegate => TrustClass::OtherAgent,
        Action::Run { .. } | Action::Other if tool.starts_with("mcp__") => TrustClass::Web,
        Action::Run { .. } | Action::Other => TrustClass::ToolOutput,
    }
}

/// Whether a command brings text from elsewhere.
fn fetches(command: &str) -> bool {
    command.split(|c: char| c.is_whitespace() || matches!(c, '|' | ';' | '&' | '(' | ')' | '`')).any(|word| {
        matches!(
            word.rsplit('/').next().unwrap_or(word),
            "curl" | "wget" | "lynx" | "w3m" | "http" | "https" | "gh" | "glab" | "ssh" | "scp" | "nc" | "telnet"
        )
    })
}
