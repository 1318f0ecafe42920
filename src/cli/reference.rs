//! `archivist completions` and `archivist man`: what is made from the commands themselves.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::arguments::Arguments;
use super::console::Console;
use super::failure::{Exit, Failure};

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
pub(super) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MANUAL_EXAMPLES)]
pub(super) struct Manual {
    /// Write a page for each command into this directory; the main page goes to stdout otherwise
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Completions {
    pub(super) fn run(&self, console: &mut Console) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "archivist", &mut script);
        console.print(&script)?;
        Ok(Exit::Done)
    }
}

impl Manual {
    pub(super) fn run(&self, console: &mut Console) -> Result<Exit> {
        if let Some(dir) = &self.dir {
            let cannot = |error| Failure::user(format!("cannot write manual pages to {}: {error}", dir.display()));
            fs::create_dir_all(dir).map_err(cannot)?;
            clap_mangen::generate_to(Arguments::command(), dir).map_err(cannot)?;
            console.note(&format!("manual pages written to {}", dir.display()));
        } else {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            console.print(&page)?;
        }
        Ok(Exit::Done)
    }
}
