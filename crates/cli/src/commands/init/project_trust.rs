//! Trusts the repository that hooks are installed in. What it brought along is given only if a person agrees.

use std::path::Path;

use crate::console::Console;
use crate::text_format::one_line;
use archivist_core::config::{Config, ConfigError, ProcessEnvironment, find_trust_key};
use archivist_core::domain::Timestamp;
use archivist_core::ingest::discover::{ProjectLogs, SearchPlaces, SessionWindow, discover_sessions};
use archivist_core::service::Archivist;

/// Trusts the repository of a project. If lessons or logs came with it, a person is asked; without one it stays as it is.
pub(super) fn trust_project(
    root: &Path,
    config: &Config,
    environment: &ProcessEnvironment,
    now: Timestamp,
    console: &mut Console,
) -> anyhow::Result<()> {
    let archivist = open_memory(root, config, environment)?;
    let Some(key) = find_trust_key(root).filter(|_| !archivist.is_repository_trusted()) else { return Ok(()) };
    let name = one_line(&key.identity);
    if archivist.is_memory_strange() || has_logs(root) {
        let question =
            format!("{name} brings lessons or logs of its own. Give the lessons to agents, and learn from the logs?");
        if !console.is_person_asked() || !console.ask_confirmation(&question)? {
            console.print_warning(&format!("lessons and logs that came with {name} are not used"));
            console.print_hint("look at them; `archivist trust` trusts the repository");
            return Ok(());
        }
    }
    let added = archivist.trusted_repositories().add(key, now);
    match added {
        Ok(_) => console.print_note(&format!("{name} is trusted; `archivist trust --revoke` takes that back")),
        Err(error) => console.print_warning(&format!("{name} could not be trusted: {error}")),
    }
    Ok(())
}

fn open_memory(root: &Path, config: &Config, environment: &ProcessEnvironment) -> Result<Archivist, ConfigError> {
    Archivist::builder(root).config(config.clone()).environment(environment.clone()).build()
}

/// Returns true if there are logs of sessions in the project itself.
fn has_logs(root: &Path) -> bool {
    let places =
        SearchPlaces { project: root.to_owned(), project_logs: ProjectLogs::Searched, ..SearchPlaces::default() };
    !discover_sessions(&places, SessionWindow::default()).sessions.is_empty()
}
