//! `archivist config`: the configuration that holds, and its schema.

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::arguments::Globals;
use super::console::{Console, Style};
use super::failure::Exit;
use super::prose::one_line;
use super::session::Workplace;
use crate::config::{self, Setting, Surroundings};

/// A longer setting pushes its own origin aside, and no other.
const MAX_COLUMN: usize = 60;

const SHOW_EXAMPLES: &str = "\
Examples:
  archivist config show --origin
  archivist config show --json";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  archivist config schema > archivist.schema.json";

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Every setting that holds here; secrets are hidden
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowSettings),
    /// The JSON schema of a configuration file
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
}

#[derive(Debug, Args)]
pub(super) struct ShowSettings {
    /// Where each value came from
    #[arg(long)]
    origin: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl ConfigCommand {
    pub(super) fn run(&self, globals: &Globals, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        match self {
            Self::Schema => console.json(&config::schema())?,
            Self::Show(show) => {
                let settings = Workplace::find(globals, surroundings)?.loaded.values;
                if show.json {
                    console.json(&show.as_json(&settings))?;
                } else {
                    show.print(&settings, console)?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

impl ShowSettings {
    fn as_json(&self, settings: &[Setting]) -> Value {
        let entry = |setting: &Setting| {
            let shown = setting.shown();
            let value = if self.origin { json!({"value": shown, "origin": setting.origin.to_string()}) } else { shown };
            (setting.key.clone(), value)
        };
        Value::Object(settings.iter().map(entry).collect::<Map<_, _>>())
    }

    fn print(&self, settings: &[Setting], console: &mut Console) -> Result<()> {
        let lines: Vec<String> =
            settings.iter().map(|setting| one_line(&format!("{} = {}", setting.key, setting.shown()))).collect();
        let widths = lines.iter().map(|line| line.chars().count());
        let widest = widths.filter(|width| *width <= MAX_COLUMN).max().unwrap_or_default();
        for (setting, line) in settings.iter().zip(lines) {
            if self.origin {
                let origin = console.styled(Style::Dim, &format!("# {}", one_line(&setting.origin.to_string())));
                console.line(&format!("{line:widest$}  {origin}"))?;
            } else {
                console.line(&line)?;
            }
        }
        Ok(())
    }
}
