//! Classifies texts by the trust in their source.

use super::failure::{DetectedFailure, FailureClass, is_verification};
use super::tool_action::{ToolAction, all_commands_match, is_read_only_command};
use crate::domain::{Speaker, TrustClass};
use crate::text::shell_lexer::program_name;

#[cfg(test)]
#[path = "trust_class_tests.rs"]
mod tests;

/// Returns the trust class of what is said in a step.
pub(super) fn trust_of_words(speaker: &Speaker) -> TrustClass {
    match speaker {
        Speaker::User => TrustClass::User,
        Speaker::Agent => TrustClass::Agent,
        Speaker::OtherAgent => TrustClass::OtherAgent,
        // Words of a harness come from files, hooks and other programs: no better than a tool's.
        Speaker::System | Speaker::Tool | Speaker::Other(_) => TrustClass::ToolOutput,
    }
}

/// Returns the trust class of a call's output. A class above `ToolOutput` must hold for every part of it.
pub(super) fn trust_of_output(tool: &str, action: &ToolAction, failed: Option<(&DetectedFailure, &str)>) -> TrustClass {
    if is_foreign_tool(tool) {
        return TrustClass::Web;
    }
    match action {
        ToolAction::Run { command } if is_read_only_command(command) && names_dependency(command) => TrustClass::Web,
        ToolAction::Read { path: Some(path) } if names_dependency(path) => TrustClass::Web,
        ToolAction::Run { command }
            if is_read_only_command(command) && (shows_commit_messages(command) || names_generated(command)) =>
        {
            TrustClass::ToolOutput
        }
        ToolAction::Read { path: Some(path) } if names_generated(path) => TrustClass::ToolOutput,
        ToolAction::Run { command } if fetches_remote_text(command) => match failed {
            Some((failure, text)) if failed_before_fetching(command, failure, text) => TrustClass::ToolOutput,
            _ => TrustClass::Web,
        },
        ToolAction::Run { command } if is_read_only_command(command) => TrustClass::RepoFile,
        ToolAction::Run { command } if only_runs_checks(command) => TrustClass::BuildOutput,
        ToolAction::Read { path: Some(path) }
            if ["/tmp/", "/var/", "/dev/", "/proc/"].iter().any(|at| path.starts_with(at)) =>
        {
            TrustClass::ToolOutput
        }
        ToolAction::Read { .. } | ToolAction::Edit(_) => TrustClass::RepoFile,
        ToolAction::Fetch => TrustClass::Web,
        ToolAction::Delegate => TrustClass::OtherAgent,
        ToolAction::Run { .. } | ToolAction::Other => TrustClass::ToolOutput,
    }
}

/// Returns true if a fetching command failed before it reached anything: it is not installed, was misused, has no
/// account or finds no host. Its error must open a short output, because anything may follow it.
fn failed_before_fetching(command: &str, failure: &DetectedFailure, text: &str) -> bool {
    const MAX_BYTES: usize = 1500;
    const COMPLAINTS: &str = "\
        unknown |unrecognized|invalid option|no such option|unexpected argument|required argument|accepts |\
        usage:|not found|not logged in|auth login|authentication required|not a git repository|\
        already exists and is not an empty|no such file or directory|permission denied|externally-managed|\
        no such command|is not a command";
    const SPEAKERS: &[&str] = &["error", "fatal", "bash", "sh", "zsh", "e"];
    let lower = failure.headline.to_ascii_lowercase();
    let error_wording = COMPLAINTS.split('|').find_map(|error_wording| lower.find(error_wording));
    let speaker = lower.split([':', ' ']).next().unwrap_or_default();
    let is_own = SPEAKERS.contains(&speaker)
        || command.split_whitespace().any(|word| word == speaker)
        || error_wording.and_then(|at| lower.get(..at)).is_some_and(|before| !before.contains(':'));
    let is_unreached = failure.class == FailureClass::Network || matches!(failure.exit_code, Some(126 | 127));
    let opens = text.trim_start().lines().take(3).any(|line| line.contains(failure.headline.as_str()));
    text.len() <= MAX_BYTES && opens && is_own && (is_unreached || error_wording.is_some())
}

/// Returns true if a path, or a path in a command, leads into somebody else's code.
fn names_dependency(text: &str) -> bool {
    const FOLDERS: &[&str] = &[
        "node_modules/",
        "vendor/",
        "third_party/",
        "third-party/",
        "site-packages/",
        "dist-packages/",
        ".cargo/registry/",
        ".cargo/git/",
        "pkg/mod/",
        "bower_components/",
        "Pods/",
        ".bundle/",
        ".m2/",
        ".gradle/caches/",
        ".pub-cache/",
        "elm-stuff/",
        "jspm_packages/",
    ];
    let text = text.replace('\\', "/");
    let begins =
        |at: usize| text.get(..at).is_none_or(|before| before.is_empty() || before.ends_with(['/', ' ', '"', '\'']));
    FOLDERS.iter().any(|folder| text.match_indices(folder).any(|(at, _)| begins(at)))
}

/// Returns true if a path, or a path in a command, names what programs wrote: logs and temporary files.
fn names_generated(text: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '|');
    text.split(is_end).any(|word| {
        let path = word.trim_start_matches("./");
        path.ends_with(".log") || ["tmp/", "log/", "logs/"].iter().any(|folder| path.starts_with(folder))
    })
}

/// Returns true if a command prints the messages of commits, which anybody may have written.
fn shows_commit_messages(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().map(program_name).collect();
    words.iter().enumerate().any(|(at, word)| {
        let verbs = words.iter().skip(at + 1).take(4);
        *word == "git"
            && verbs.into_iter().any(|verb| matches!(*verb, "log" | "show" | "shortlog" | "reflog" | "whatchanged"))
    })
}

/// Returns true if a tool belongs to a foreign server: it has a namespace that is not the harness's.
fn is_foreign_tool(tool: &str) -> bool {
    let namespace = tool.split(['.', ':', '/']).next().filter(|namespace| namespace.len() < tool.len());
    tool.starts_with("mcp__")
        || namespace
            .is_some_and(|name| !matches!(name, "functions" | "default" | "container" | "shell" | "fs" | "repo"))
}

/// Returns true if a command only runs checks and commands that print nothing foreign.
fn only_runs_checks(command: &str) -> bool {
    is_verification(command)
        && !command.contains(['`', '$'])
        && all_commands_match(command, 0, &|part| part.is_read_only() || is_verification(&part.to_command_line()))
}

/// Returns true if a command fetches text from elsewhere.
pub(crate) fn fetches_remote_text(command: &str) -> bool {
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || matches!(c, '|' | ';' | '&' | '(' | ')' | '`' | '"' | '\''))
        .map(program_name)
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
