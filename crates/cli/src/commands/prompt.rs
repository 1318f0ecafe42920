//! `archivist prompt`: prints the prompts that a model gets.

use std::fs;
use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::LoadedProject;
use crate::console::{Console, TextStyle};
use archivist_core::config::ProcessEnvironment;
use archivist_core::distill::PromptSet;

pub(crate) const EXAMPLES: &str = "\
Examples:
  archivist prompt show
  archivist prompt show --builtin archivist.md > my-prompts/archivist.md

A file of the same name in the directory `distill.promptDir` replaces a prompt. The version is a
fingerprint of all of them; every reflection by a model tells it.";

/// The most bytes of a prompt file.
const MAX_BYTES: u64 = 256 * 1024;

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Print the prompts that hold here, all of them or one
    #[command(after_help = EXAMPLES)]
    Show(ShowPrompt),
}

#[derive(Debug, Args)]
pub(crate) struct ShowPrompt {
    /// Which one
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(PromptSet::NAMES))]
    name: Option<String>,
    /// Those that come with the program, whatever holds here
    #[arg(long)]
    builtin: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl PromptCommand {
    pub(crate) fn run(
        &self,
        globals: &GlobalFlags,
        surroundings: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let Self::Show(show) = self;
        let prompts = if show.builtin {
            load_prompts(None)?
        } else {
            let LoadedProject { loaded, .. } = LoadedProject::find_and_load(globals, surroundings)?;
            load_prompts(loaded.config.distill.prompt_path(surroundings.home.as_deref()).as_deref())?
        };
        show.print_prompts(&prompts, console)?;
        Ok(CommandExit::Done)
    }
}

impl ShowPrompt {
    fn print_prompts(&self, prompts: &PromptSet, console: &mut Console) -> Result<(), CliError> {
        let is_wanted = |name: &&str| self.name.as_deref().is_none_or(|wanted| wanted == *name);
        let wanted = PromptSet::NAMES.into_iter().filter(is_wanted);
        if self.json {
            let listed: Vec<serde_json::Value> = wanted
                .map(|name| json!({ "name": name, "own": prompts.is_customized(name), "text": prompts.get(name) }))
                .collect();
            return console.print_json(&json!({ "version": prompts.version(), "prompts": listed }));
        }
        if self.name.is_some() {
            return wanted
                .filter_map(|name| prompts.get(name))
                .try_for_each(|text| console.print_bytes(text.as_bytes()));
        }
        console.print_line(&format!("version {}", prompts.version()))?;
        for name in wanted {
            let own = if prompts.is_customized(name) { " (your own)" } else { "" };
            let heading = console.style_text(TextStyle::Bold, &format!("─── {name}{own}"));
            console.print_line("")?;
            console.print_line(&heading)?;
            console.print_bytes(prompts.get(name).unwrap_or_default().as_bytes())?;
        }
        Ok(())
    }
}

/// Loads the prompts, with the files of the user's directory in place of the built-in ones.
pub(crate) fn load_prompts(folder: Option<&Path>) -> Result<PromptSet, CliError> {
    let mut own = Vec::new();
    if let Some(folder) = folder {
        let unusable = |error: std::io::Error| {
            CliError::user_error(format!("the prompts in {} cannot be read: {error}", folder.display()))
                .with_hint("set `distill.promptDir` to a directory of prompts, or leave it empty")
        };
        if !folder.is_dir() {
            return Err(unusable(std::io::ErrorKind::NotADirectory.into()));
        }
        for name in PromptSet::NAMES {
            let path = folder.join(name);
            match fs::metadata(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unusable(error)),
                Ok(metadata) if !metadata.is_file() => {
                    return Err(CliError::user_error(format!("{} is no file", path.display())));
                }
                Ok(metadata) if metadata.len() > MAX_BYTES => {
                    return Err(CliError::user_error(format!("{} is too long for a prompt", path.display())));
                }
                Ok(_) => own.push((name.to_owned(), fs::read_to_string(&path).map_err(unusable)?)),
            }
        }
    }
    PromptSet::with_overrides(own).map_err(|error| {
        CliError::user_error(error.to_string())
            .with_hint("`archivist prompt show --builtin NAME` prints a prompt to start from")
    })
}
