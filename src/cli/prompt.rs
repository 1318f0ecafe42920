//! `archivist prompt`: what a model is told.

use std::fs;
use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use super::arguments::Globals;
use super::console::{Console, Style};
use super::failure::{Exit, Failure};
use super::session::Workplace;
use crate::config::Surroundings;
use crate::distill::Prompts;

pub(super) const EXAMPLES: &str = "\
Examples:
  archivist prompt show
  archivist prompt show --builtin archivist.md > my-prompts/archivist.md

A file of the same name in the directory `distill.promptDir` replaces a prompt. The version is a
fingerprint of all of them; every reflection by a model tells it.";

/// A prompt of more bytes than this is no prompt.
const MAX_BYTES: u64 = 256 * 1024;

#[derive(Debug, Subcommand)]
pub(super) enum PromptCommand {
    /// Print the prompts that hold here, all of them or one
    #[command(after_help = EXAMPLES)]
    Show(ShowPrompt),
}

#[derive(Debug, Args)]
pub(super) struct ShowPrompt {
    /// Which one
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(Prompts::NAMES))]
    name: Option<String>,
    /// Those that come with the program, whatever holds here
    #[arg(long)]
    builtin: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl PromptCommand {
    pub(super) fn run(&self, globals: &Globals, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        let Self::Show(show) = self;
        let prompts = if show.builtin {
            prompts(None)?
        } else {
            let Workplace { loaded, .. } = Workplace::find(globals, surroundings)?;
            prompts(loaded.config.distill.prompt_path(surroundings.home.as_deref()).as_deref())?
        };
        show.print(&prompts, console)?;
        Ok(Exit::Done)
    }
}

impl ShowPrompt {
    fn print(&self, prompts: &Prompts, console: &mut Console) -> Result<(), Failure> {
        let is_wanted = |name: &&str| self.name.as_deref().is_none_or(|wanted| wanted == *name);
        let wanted = Prompts::NAMES.into_iter().filter(is_wanted);
        if self.json {
            let listed: Vec<serde_json::Value> = wanted
                .map(|name| json!({ "name": name, "own": prompts.is_own(name), "text": prompts.get(name) }))
                .collect();
            return console.json(&json!({ "version": prompts.version(), "prompts": listed }));
        }
        if self.name.is_some() {
            return wanted.filter_map(|name| prompts.get(name)).try_for_each(|text| console.print(text.as_bytes()));
        }
        console.line(&format!("version {}", prompts.version()))?;
        for name in wanted {
            let own = if prompts.is_own(name) { " (your own)" } else { "" };
            let heading = console.styled(Style::Bold, &format!("─── {name}{own}"));
            console.line("")?;
            console.line(&heading)?;
            console.print(prompts.get(name).unwrap_or_default().as_bytes())?;
        }
        Ok(())
    }
}

/// The prompts, with those of the user's own directory in place of ours.
pub(super) fn prompts(folder: Option<&Path>) -> Result<Prompts, Failure> {
    let mut own = Vec::new();
    if let Some(folder) = folder {
        let unusable = |error: std::io::Error| {
            Failure::user(format!("the prompts in {} cannot be read: {error}", folder.display()))
                .with_hint("set `distill.promptDir` to a directory of prompts, or leave it empty")
        };
        if !folder.is_dir() {
            return Err(unusable(std::io::ErrorKind::NotADirectory.into()));
        }
        for name in Prompts::NAMES {
            let path = folder.join(name);
            match fs::metadata(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unusable(error)),
                Ok(metadata) if !metadata.is_file() => {
                    return Err(Failure::user(format!("{} is no file", path.display())));
                }
                Ok(metadata) if metadata.len() > MAX_BYTES => {
                    return Err(Failure::user(format!("{} is too long for a prompt", path.display())));
                }
                Ok(_) => own.push((name.to_owned(), fs::read_to_string(&path).map_err(unusable)?)),
            }
        }
    }
    Prompts::with(own).map_err(|error| {
        Failure::user(error.to_string())
            .with_hint("`archivist prompt show --builtin NAME` prints a prompt to start from")
    })
}
