//! Whose words they are.

use super::action::{Action, is_look};
use super::failure::{Class, Failure, is_verification};
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
pub(super) fn of_output(tool: &str, action: &Action, failed: Option<(&Failure, &str)>) -> TrustClass {
    if is_foreign(tool) {
        return TrustClass::Web;
    }
    match action {
        Action::Run { command } if fetches(command) => match failed {
            Some((failure, text)) if is_local(command, failure, text) => TrustClass::ToolOutput,
            _ => TrustClass::Web,
        },
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

/// Says whether a command that was to fetch something failed before it got there: it is not installed, was called
/// wrongly, knows no account or finds no host. Its complaint must open a short output, for below it may stand anything.
fn is_local(command: &str, failure: &Failure, text: &str) -> bool {
    const MAX_BYTES: usize = 1500;
    const COMPLAINTS: &str = "\
        unknown |unrecognized|invalid option|no such option|unexpected argument|required argument|accepts |\
        usage:|not found|not logged in|auth login|authentication required|not a git repository|\
        already exists and is not an empty|no such file or directory|permission denied|externally-managed|\
        no such command|is not a command";
    const SPEAKERS: &[&str] = &["error", "fatal", "bash", "sh", "zsh", "e"];
    let lower = failure.headline.to_ascii_lowercase();
    let complaint = COMPLAINTS.split('|').find_map(|complaint| lower.find(complaint));
    let speaker = lower.split([':', ' ']).next().unwrap_or_default();
    let is_own = SPEAKERS.contains(&speaker)
        || command.split_whitespace().any(|word| word == speaker)
        || complaint.and_then(|at| lower.get(..at)).is_some_and(|before| !before.contains(':'));
    let is_unreached = failure.class == Class::Network || matches!(failure.exit_code, Some(126 | 127));
    let opens = text.trim_start().lines().take(3).any(|line| line.contains(failure.headline.as_str()));
    text.len() <= MAX_BYTES && opens && is_own && (is_unreached || complaint.is_some())
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

/// Tells whether a command brings text from elsewhere.
pub(crate) fn fetches(command: &str) -> bool {
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
