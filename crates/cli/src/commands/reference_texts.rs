//! `archivist completions` and `archivist man`: reference texts that are generated from the commands.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::CliArguments;
use crate::cli_error::{CliError, CommandExit};
use crate::console::Console;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  archivist completions bash > ~/.local/share/bash-completion/completions/archivist
  archivist completions fish > ~/.config/fish/completions/archivist.fish";

const MANUAL_EXAMPLES: &str = "\
Examples:
  archivist man | man -l -
  archivist man --dir ~/.local/share/man/man1";

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsCommand {
    /// The shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MANUAL_EXAMPLES)]
pub(crate) struct ManualCommand {
    /// Write a page for each command into this directory; the main page goes to stdout otherwise
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl CompletionsCommand {
    pub(crate) fn run(&self, console: &mut Console) -> Result<CommandExit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut CliArguments::command(), "archivist", &mut script);
        console.print_bytes(&script)?;
        Ok(CommandExit::Done)
    }
}

impl ManualCommand {
    pub(crate) fn run(&self, console: &mut Console) -> Result<CommandExit> {
        if let Some(dir) = &self.dir {
            let cannot =
                |error| CliError::user_error(format!("cannot write manual pages to {}: {error}", dir.display()));
            fs::create_dir_all(dir).map_err(cannot)?;
            clap_mangen::generate_to(CliArguments::command(), dir).map_err(cannot)?;
            console.print_note(&format!("manual pages written to {}", dir.display()));
        } else {
            let mut page = Vec::new();
            clap_mangen::Man::new(CliArguments::command()).render(&mut page)?;
            console.print_bytes(&page)?;
        }
        Ok(CommandExit::Done)
    }
}
