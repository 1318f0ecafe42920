//! `archivist trust`: says which repositories are trusted.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::{LoadedProject, find_project_root, require_person};
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::one_line;
use archivist_core::config::{ProcessEnvironment, find_trust_key};
use archivist_core::domain::Timestamp;
use archivist_core::trust::{RepositoryKey, RepositoryKind, TrustedRepositories, TrustedRepository};

const EXAMPLES: &str = "\
Examples:
  archivist trust
  archivist trust ~/src/shop
  archivist trust --list
  archivist trust --revoke

A memory, jobs, logs and a `project.key` that came with a clone are not used before. The repository is known by its
remote, else by its git directory, else by its path: every clone of a trusted remote is trusted. docs/operations.md
says what that means.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustCommand {
    /// A directory in the repository; with --revoke also an identity that --list shows
    #[arg(value_name = "PATH", conflicts_with = "list")]
    path: Option<PathBuf>,
    /// Show the repositories that are trusted
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Trust the repository no longer
    #[arg(long)]
    revoke: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl TrustCommand {
    pub(crate) fn run(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let trusted = TrustedRepositories::in_state_dir(environment.state_dir().as_deref());
        if self.list {
            return self.print_list(&trusted.list().map_err(unreadable_list)?, console);
        }
        if self.revoke {
            let key = self.find_revoked(globals, environment, &trusted)?;
            let is_changed = trusted.remove(&key).map_err(unreadable_list)?;
            let note = if is_changed { "is no longer trusted" } else { "was not trusted" };
            return self.print_outcome(&key, (false, is_changed), note, console);
        }
        require_person(&LoadedProject::find_and_load(globals, environment)?.loaded.config, console)?;
        let key = find_repository(globals, environment, self.path.as_deref())?;
        let is_changed = trusted.add(key.clone(), now).map_err(unreadable_list)?;
        let note = if is_changed { "is trusted from now on" } else { "was trusted already" };
        self.print_outcome(&key, (true, is_changed), note, console)
    }

    /// Returns the repository whose trust is taken back. Its directory may be gone.
    fn find_revoked(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        trusted: &TrustedRepositories,
    ) -> Result<RepositoryKey> {
        let named = self.path.as_deref().and_then(Path::to_str);
        let known = trusted.list().map_err(unreadable_list)?;
        match known.into_iter().find(|known| Some(known.key.identity.as_str()) == named) {
            Some(TrustedRepository { key, .. }) => Ok(key),
            None => Ok(find_repository(globals, environment, self.path.as_deref())?),
        }
    }

    fn print_list(&self, known: &[TrustedRepository], console: &mut Console) -> Result<CommandExit> {
        if self.json {
            console.print_json(&json!({ "repositories": known }))?;
            return Ok(CommandExit::Done);
        }
        if known.is_empty() {
            console.print_note("no repository is trusted; `archivist trust` trusts the one around you");
            return Ok(CommandExit::Done);
        }
        let mut table = TextTable::new([
            TableColumn::text("Repository", ColumnVisibility::Always),
            TableColumn::text("Known by", ColumnVisibility::Always),
            TableColumn::text("Since", ColumnVisibility::Always),
        ]);
        for TrustedRepository { key, trusted_at } in known {
            let since = trusted_at.format("%Y-%m-%d").to_string();
            table.add_row([one_line(&key.identity), kind_words(key.kind).to_owned(), since]);
        }
        table.print_to(console)?;
        Ok(CommandExit::Done)
    }

    fn print_outcome(
        &self,
        key: &RepositoryKey,
        (is_trusted, is_changed): (bool, bool),
        note: &str,
        console: &mut Console,
    ) -> Result<CommandExit> {
        if self.json {
            let RepositoryKey { kind, identity } = key;
            let outcome: Value =
                json!({"identity": identity, "kind": kind, "trusted": is_trusted, "changed": is_changed});
            console.print_json(&outcome)?;
            return Ok(CommandExit::Done);
        }
        console.print_line(&format!("{} {note}", one_line(&key.identity)))?;
        match is_trusted {
            true => console.print_note("what its memory holds is given to agents; `archivist list` shows it"),
            false => console.print_note("a memory that began on this machine is given all the same"),
        }
        Ok(CommandExit::Done)
    }
}

/// Returns the repository around a directory, or around the project that the flags name.
fn find_repository(
    globals: &GlobalFlags,
    environment: &ProcessEnvironment,
    path: Option<&Path>,
) -> Result<RepositoryKey, CliError> {
    let root = match path {
        Some(path) => {
            let there = environment.current_dir.join(path);
            let real = there.canonicalize().map_err(|error| {
                CliError::user_error(format!("{} cannot be used: {error}", path.display()))
                    .with_hint("give a directory in the repository")
            })?;
            let there = ProcessEnvironment { current_dir: real, ..environment.clone() };
            find_project_root(&GlobalFlags::default(), &there)?
        }
        None => find_project_root(globals, environment)?,
    };
    find_trust_key(&root).ok_or_else(|| {
        CliError::user_error(format!("{} is not Unicode, so the repository has no identity", root.display()))
            .with_hint("give it a remote, or move it")
    })
}

fn unreadable_list(error: std::io::Error) -> CliError {
    CliError::user_error(format!("the list of trusted repositories cannot be used: {error}"))
        .with_hint("it is trusted-repositories.json in the state directory of Archivist, ~/.local/state/archivist")
}

/// Says by what a repository is known.
fn kind_words(kind: RepositoryKind) -> &'static str {
    match kind {
        RepositoryKind::Remote => "remote",
        RepositoryKind::GitDir => "git directory",
        RepositoryKind::Path => "path",
    }
}
