//! `archivist migrate`: creates or updates the tables of a memory on a server, and sets who may use them.

use anyhow::Result;
use clap::Args;

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use archivist_core::memory::postgres::{self, MigrationStep, MigrationStepState, PostgresServer, RowSecurity};

const EXAMPLES: &str = "\
Examples:
  archivist migrate
  archivist migrate --dry-run
  archivist migrate --row-security on
  archivist migrate --grant team_payments

It needs `memory.backend = \"postgres\"` and an address (`memory.postgres.url`, or ARCHIVIST_POSTGRES_URL). Two that run
at once do no harm. With row security the server itself keeps projects apart: a role sees the projects that it was let
into with --grant, run in each of them by the owner of the tables.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MigrateCommand {
    /// Show what is to be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Let the server itself keep projects apart: on or off
    #[arg(long, value_name = "WHICH", value_parser = ["on", "off"], hide_possible_values = true)]
    row_security: Option<String>,
    /// Let a role of the server into this project's memory
    #[arg(long, value_name = "ROLE")]
    grant: Option<String>,
    /// Take a role out of this project's memory
    #[arg(long, value_name = "ROLE")]
    revoke: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl MigrateCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let Some(server) = session.archivist.server() else {
            let hint = "set `memory.backend = \"postgres\"`; a memory in files needs no tables";
            return Err(CliError::user_error("the memory is not on a server").with_hint(hint).into());
        };
        let steps = if self.dry_run {
            postgres::list_migration_steps(server).await?
        } else {
            postgres::migrate_schema(server).await?
        };
        if !self.dry_run {
            self.update_access(server, &session.archivist.bank_key(), console).await?;
        }
        if self.json {
            console.print_json(&steps)?;
        } else {
            for step in steps.iter().filter(|step| step.state != MigrationStepState::Applied) {
                console.print_line(&describe_step(step))?;
            }
            if steps.iter().all(|step| step.state == MigrationStepState::Applied) {
                console.print_note("the tables are up to date");
            }
        }
        Ok(CommandExit::Done)
    }

    async fn update_access(&self, server: &PostgresServer, bank: &str, console: &mut Console) -> Result<()> {
        if let Some(which) = &self.row_security {
            let wanted = if which == "on" { RowSecurity::On } else { RowSecurity::Off };
            postgres::set_row_security(server, wanted).await?;
            console.print_note(&format!("row security is {which}"));
        }
        if let Some(role) = &self.grant {
            postgres::grant_access(server, role, bank).await?;
            console.print_note(&format!("{role} may use the memory of {bank}"));
        }
        if let Some(role) = &self.revoke {
            match postgres::revoke_access(server, role, bank).await? {
                true => console.print_note(&format!("{role} may no longer use the memory of {bank}")),
                false => console.print_note(&format!("{role} was not let into the memory of {bank}")),
            }
        }
        Ok(())
    }
}

fn describe_step(step: &MigrationStep) -> String {
    let state = match step.state {
        MigrationStepState::Applied => "there",
        MigrationStepState::New => "done",
        MigrationStepState::Pending => "to be done",
        MigrationStepState::Unknown => "made by a newer archivist",
    };
    format!("{}  {state}", step.name)
}
