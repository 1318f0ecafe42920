//! `archivist config`: prints the effective configuration and its schema.

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::arguments::GlobalFlags;
use crate::cli_error::CommandExit;
use crate::command_context::{LoadedProject, warn_about_ignored};
use crate::console::{Console, TextStyle};
use crate::text_format::one_line;
use archivist_core::config::{self, EffectiveSetting, ProcessEnvironment};

/// The widest setting that the column of origins is aligned with.
const MAX_COLUMN: usize = 60;

const SHOW_EXAMPLES: &str = "\
Examples:
  archivist config show --origin
  archivist config show --json";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  archivist config schema > archivist.schema.json";

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every setting that holds here; secrets are hidden
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowSettings),
    /// The JSON schema of a configuration file
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct ShowSettings {
    /// Where each value came from
    #[arg(long)]
    origin: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl ConfigCommand {
    pub(crate) fn run(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        match self {
            Self::Schema => console.print_json(&config::config_schema())?,
            Self::Show(show) => {
                let loaded = LoadedProject::find_and_load(globals, environment)?.loaded;
                warn_about_ignored(&loaded.ignored, console);
                let settings = loaded.values;
                if show.json {
                    console.print_json(&show.as_json(&settings))?;
                } else {
                    show.print_settings(&settings, console)?;
                }
            }
        }
        Ok(CommandExit::Done)
    }
}

impl ShowSettings {
    fn as_json(&self, settings: &[EffectiveSetting]) -> Value {
        let entry = |setting: &EffectiveSetting| {
            let shown = setting.printable_value();
            let value = if self.origin { json!({"value": shown, "origin": setting.origin.to_string()}) } else { shown };
            (setting.key.clone(), value)
        };
        Value::Object(settings.iter().map(entry).collect::<Map<_, _>>())
    }

    fn print_settings(&self, settings: &[EffectiveSetting], console: &mut Console) -> Result<()> {
        let lines: Vec<String> = settings
            .iter()
            .map(|setting| one_line(&format!("{} = {}", setting.key, setting.printable_value())))
            .collect();
        let widths = lines.iter().map(|line| line.chars().count());
        let widest = widths.filter(|width| *width <= MAX_COLUMN).max().unwrap_or_default();
        for (setting, line) in settings.iter().zip(lines) {
            if self.origin {
                let origin =
                    console.style_text(TextStyle::Dim, &format!("# {}", one_line(&setting.origin.to_string())));
                console.print_line(&format!("{line:widest$}  {origin}"))?;
            } else {
                console.print_line(&line)?;
            }
        }
        Ok(())
    }
}
