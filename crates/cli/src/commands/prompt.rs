//! `archivist prompt`: prints the prompts that a model gets.

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::{LoadedProject, warn_about_ignored};
use crate::console::{Console, TextStyle};
use archivist_core::config::ProcessEnvironment;
use archivist_core::distill::PromptSet;
use archivist_core::service::load_prompts;

pub(crate) const EXAMPLES: &str = "\
Examples:
  archivist prompt show
  archivist prompt show --builtin archivist.md > my-prompts/archivist.md

A file of the same name in the directory `distill.promptDir` replaces a prompt. The version is a
fingerprint of all of them; every reflection by a model tells it.";

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Print the prompts that hold here, all of them or one
    #[command(after_help = EXAMPLES)]
    Show(ShowPrompt),
}

#[derive(Debug, Args)]
pub(crate) struct ShowPrompt {
    /// The prompt to print; all of them otherwise
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
        environment: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let Self::Show(show) = self;
        let prompts = if show.builtin {
            load_prompts(None)?
        } else {
            let LoadedProject { loaded, .. } = LoadedProject::find_and_load(globals, environment)?;
            warn_about_ignored(&loaded.ignored, console);
            load_prompts(loaded.config.distill.prompt_path(environment.home.as_deref()).as_deref())?
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
