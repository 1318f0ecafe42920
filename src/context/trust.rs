//! Whose words they are.

use super::action::{Action, is_look};
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

/// The class of what comes back from a call. A class above `ToolOutput` must be earned by every part of it.
pub(super) fn of_output(tool: &str, action: &Action) -> TrustClass {
    if is_foreign(tool) {
        return TrustClass::Web;
    }
    match action {
        Action::Run { command } if fetches(command) => TrustClass::Web,
        Action::Run { command } if is_look(command) => TrustClass::RepoFile,
        Action::Run { command } if checks_only(command) => TrustClass::BuildOutput,
        Action::Read { path: Some(path) }
            if ["/tmp/", "/var/", "/dev/", "/proc/"].iter().any(|at| path.starts_with(at)) =>
        {
            TrustClass::ToolOutput
        }
        Action::Read { .. } | Action::Edit(_) => TrustClass::RepoFile,
        Action::Fetch => TrustClass::Web,
        Action::Delegate => TrustClass::OtherAgent,
        Action::Run { .. } | Action::Other => TrustClass::ToolOutput,
    }
}

/// Whether a tool belongs to a server of somebody else's: it has a namespace that is none of the harness's.
fn is_foreign(tool: &str) -> bool {
    let namespace = tool.split(['.', ':', '/']).next().filter(|namespace| namespace.len() < tool.len());
    tool.starts_with("mcp__")
        || namespace
            .is_some_and(|name| !matches!(name, "functions" | "default" | "container" | "shell" | "fs" | "repo"))
}

/// Whether a command runs checks, and besides them nothing that prints words of others.
fn checks_only(command: &str) -> bool {
    is_verification(command)
        && !command.contains(['`', '$'])
        && command
            .split(['|', ';', '\n'])
            .flat_map(|part| part.split("&&"))
            .all(|part| part.trim().is_empty() || is_look(part) || is_verification(part))
}

/// Whether a command brings text from elsewhere.
fn fetches(command: &str) -> bool {
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || matches!(c, '|' | ';' | '&' | '(' | ')' | '`' | '"' | '\''))
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .collect();
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        match *word {
            "curl" | "wget" | "lynx" | "w3m" | "http" | "https" | "gh" | "glab" | "ssh" | "scp" | "nc" | "telnet" => {
                true
            }
            // Whatever it runs was fetched, unless it is one of the project's own checks.
            "npx" => {
                let run: Vec<&str> = words.iter().skip(at).take(3).copied().collect();
                !is_verification(&run.join(" "))
            }
            "git" => matches!(next, "clone" | "fetch" | "pull" | "ls-remote"),
            "npm" | "pnpm" | "yarn" | "bun" => matches!(next, "view" | "info" | "install" | "i" | "add" | "audit"),
            "pip" | "pip3" | "uv" | "gem" | "brew" | "apt" | "apt-get" => {
                matches!(next, "install" | "show" | "search" | "download")
            }
            _ => false,
        }
    })
}
