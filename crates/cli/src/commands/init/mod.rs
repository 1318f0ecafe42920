//! `archivist init`: installs and removes the hooks of agents and the files of a project that go with them.

mod diff;
mod edited_file;
mod managed_files;
mod project_trust;
mod undo_records;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;

use self::edited_file::EditableFile;
use self::managed_files::{ManagedFile, RemainingText};
use self::undo_records::{UndoRecord, UndoRecordStore};
use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::{LoadedProject, warn_about_ignored};
use crate::console::Console;
use crate::hooks::{HookAgent, HookPlan, RecallTiming};
use crate::text_format::join_with_commas;
use archivist_core::config::{AgentHomes, Config, ProcessEnvironment};
use archivist_core::domain::Timestamp;

pub(crate) const EXAMPLES: &str = "\
Examples:
  archivist init --dry-run
  archivist init --agent claude-code --agent codex
  archivist init --user --program ~/.cargo/bin/archivist
  archivist init --remove

Without --agent: the agents that have a folder in the project, else those that have one in the
home directory, else claude-code. Every change is shown before it is written; what is not ours
stays as it is, byte for byte. The repository is trusted from then on (see `archivist trust`); if it
brought lessons or logs along, you are asked first.";

/// The agents whose settings can hold hooks.
const AGENTS: [HookAgent; 3] = [HookAgent::ClaudeCode, HookAgent::Codex, HookAgent::Gemini];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitCommand {
    /// Whose hooks; may be given more than once
    #[arg(long = "agent", value_name = "AGENT", value_parser = agent_parser())]
    agents: Vec<HookAgent>,
    /// The settings in the home directory, for all projects
    #[arg(long)]
    user: bool,
    /// Take everything back
    #[arg(long)]
    remove: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// A hook for every prompt too; `hooks.recallOnPrompt` turns it on
    #[arg(long)]
    prompts: bool,
    /// The program that hooks call
    #[arg(long, value_name = "PATH", default_value = "archivist")]
    program: String,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// A change to one file.
struct InitFileChange {
    file: EditableFile,
    after: Option<String>,
    /// The undo record to keep, or `None` where the change cannot be undone exactly.
    record: Option<UndoRecord>,
}

impl InitCommand {
    pub(crate) fn run(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let LoadedProject { root, loaded } = LoadedProject::find_and_load(globals, environment)?;
        warn_about_ignored(&loaded.ignored, console);
        let homes = loaded.config.sources.agent_homes(&root, environment);
        let records = UndoRecordStore::in_state_dir(environment.state_dir());
        let agents = self.select_agents(&root, &homes);
        let mut changes = Vec::new();
        // All files are checked before any is written: if one cannot be edited, nothing is changed.
        for (path, subject) in self.list_managed_files(&agents, &root, &homes)? {
            let file = EditableFile::read_within(&path, &root, &self.allowed_directories(&root, &homes, environment))?;
            changes.extend(self.plan_change(file, &subject, &records)?);
        }
        self.print_changes(&agents, &changes, console)?;
        if !self.dry_run {
            console.flush()?;
            changes.iter().try_for_each(|change| change.file.check_writable())?;
            for change in &changes {
                change.apply_change(&records)?;
            }
            if !self.remove && !self.user {
                project_trust::trust_project(&root, &loaded.config, environment, now, console)?;
            }
        }
        if !self.json {
            self.print_next_steps(&agents, &changes, &loaded.config, environment, console);
        }
        Ok(CommandExit::Done)
    }

    /// Returns the agents that the command applies to.
    fn select_agents(&self, root: &Path, homes: &AgentHomes) -> Vec<HookAgent> {
        if !self.agents.is_empty() {
            return AGENTS.into_iter().filter(|agent| self.agents.contains(agent)).collect();
        }
        if self.remove {
            return AGENTS.to_vec();
        }
        let in_project = |agent: &HookAgent| !self.user && root.join(project_folder(*agent)).is_dir();
        let at_home = |agent: &HookAgent| agent_home(*agent, homes).is_some_and(Path::is_dir);
        let found =
            |is_there: &dyn Fn(&HookAgent) -> bool| -> Vec<HookAgent> { AGENTS.into_iter().filter(is_there).collect() };
        let choices = [found(&in_project), found(&at_home), vec![HookAgent::ClaudeCode]];
        choices.into_iter().find(|agents| !agents.is_empty()).unwrap_or_default()
    }

    /// Returns every file that Archivist installs into.
    fn list_managed_files(
        &self,
        agents: &[HookAgent],
        root: &Path,
        homes: &AgentHomes,
    ) -> Result<Vec<(PathBuf, ManagedFile)>, CliError> {
        let program = HookPlan::quote_program(&self.program).ok_or_else(|| {
            CliError::usage_error("--program is no path that a shell reads as one word")
                .with_hint("use a path without quotes, $, `, % and !")
        })?;
        let recall = if self.prompts { RecallTiming::WithPrompts } else { RecallTiming::AtStart };
        let mut subjects = Vec::new();
        for &agent in agents {
            let place = match self.user {
                true => agent_home(agent, homes).map(Path::to_path_buf).ok_or_else(|| {
                    CliError::user_error(format!("there is no home directory for {}", agent.title()))
                        .with_hint("set HOME")
                })?,
                false => root.join(project_folder(agent)),
            };
            let name = if agent == HookAgent::Codex { "hooks.json" } else { "settings.json" };
            subjects
                .push((place.join(name), ManagedFile::Settings(HookPlan { agent, program: program.clone(), recall })));
        }
        if !self.user {
            if self.remove || root.ancestors().any(|folder| folder.join(".git").exists()) {
                subjects.push((root.join(".gitattributes"), ManagedFile::Attributes));
            }
            subjects.push((root.join(".openagents/archivist.toml"), ManagedFile::Configuration));
        }
        Ok(subjects)
    }

    /// Returns the directories that a file must lie in after links are resolved.
    fn allowed_directories(&self, root: &Path, homes: &AgentHomes, environment: &ProcessEnvironment) -> Vec<PathBuf> {
        match self.user {
            true => {
                let homes = AGENTS.into_iter().filter_map(|agent| agent_home(agent, homes));
                // An agent's home outside the user's home was configured on purpose; one that only a link leads to was
                // not.
                let named = homes.filter(|home| environment.home.as_ref().is_none_or(|own| !home.starts_with(own)));
                named.map(Path::to_path_buf).chain(environment.home.clone()).collect()
            }
            false => vec![root.to_path_buf()],
        }
    }

    fn plan_change(
        &self,
        file: EditableFile,
        subject: &ManagedFile,
        records: &UndoRecordStore,
    ) -> Result<Option<InitFileChange>, CliError> {
        let known = records.load_record(&file.target).filter(|record| record.matches_text(file.text.as_deref()));
        if self.remove {
            let Some(text) = file.text.as_deref() else { return Ok(None) };
            let original = known.and_then(|record| record.original_text(text)).filter(|original| match original {
                Some(original) => !subject.is_installed_in(original),
                None => true,
            });
            let after = match original {
                Some(original) => original,
                None => match subject.remove_from(text, &file.shown)? {
                    RemainingText::Same => return Ok(None),
                    RemainingText::Gone => None,
                    RemainingText::Text(text) => Some(text),
                },
            };
            return Ok(Some(InitFileChange { file, after, record: None }));
        }
        let Some((after, undo)) = subject.install_into(file.text.as_deref(), &file.shown)? else { return Ok(None) };
        let record = match known {
            Some(record) => Some(record.with_write(undo, &after)),
            // Our lines are already there without a record, so the original text is unknown.
            None if file.text.as_deref().is_some_and(|text| subject.is_installed_in(text)) => None,
            None => Some(UndoRecord::new(&file, undo, &after)),
        };
        Ok(Some(InitFileChange { file, after: Some(after), record }))
    }

    fn print_changes(
        &self,
        agents: &[HookAgent],
        changes: &[InitFileChange],
        console: &mut Console,
    ) -> Result<(), CliError> {
        let shown = |change: &InitFileChange| {
            diff::render_unified_diff(&change.file.shown, change.file.text.as_deref(), change.after.as_deref())
        };
        if self.json {
            let files: Vec<serde_json::Value> = changes
                .iter()
                .map(|change| json!({"path": change.file.path, "action": change.action_name(), "diff": shown(change)}))
                .collect();
            let agents: Vec<&str> = agents.iter().map(|agent| agent.as_str()).collect();
            return console.print_json(&json!({"agents": agents, "dryRun": self.dry_run, "files": files}));
        }
        for change in changes {
            diff::print_diff(&shown(change), console)?;
        }
        Ok(())
    }

    /// Prints the next steps.
    fn print_next_steps(
        &self,
        agents: &[HookAgent],
        changes: &[InitFileChange],
        config: &Config,
        environment: &ProcessEnvironment,
        console: &mut Console,
    ) {
        if changes.is_empty() {
            console.print_note(if self.remove {
                "there was nothing to take back"
            } else {
                "everything is in place already"
            });
        }
        if self.dry_run {
            console.print_note("nothing was written");
            return;
        }
        if self.remove {
            return;
        }
        let titles = join_with_commas(agents.iter().map(|agent| agent.title()));
        console.print_note(&format!(
            "from the next session on, the lessons that help are given to {titles}, and what was done is reflected on afterwards"
        ));
        if agents.contains(&HookAgent::Codex) {
            console.print_note("Codex asks once whether it may trust the new hooks, and runs none of them before");
        }
        if self.prompts && !config.hooks.recall_on_prompt {
            console.print_hint("set `hooks.recallOnPrompt = true`, or the hook for prompts has nothing to say");
        }
        if !self.program.contains(['/', '\\']) && !is_on_path(&self.program, environment) {
            console.print_warning(&format!("there is no `{}` on PATH, so the hooks cannot call it", self.program));
            console.print_hint("say where it is: archivist init --program PATH");
        }
        console.print_hint("`archivist status` shows what became of it");
    }
}

impl InitFileChange {
    fn action_name(&self) -> &'static str {
        match (&self.file.text, &self.after) {
            (None, _) => "create",
            (Some(_), Some(_)) => "update",
            (Some(_), None) => "delete",
        }
    }

    fn apply_change(&self, records: &UndoRecordStore) -> Result<(), CliError> {
        let folders = match &self.after {
            Some(after) => self.file.replace_text(after)?,
            None => {
                self.file.delete_file(
                    &records.load_record(&self.file.target).map(|record| record.folders).unwrap_or_default(),
                )?;
                Vec::new()
            }
        };
        match &self.record {
            Some(record) => records.save_record(&self.file.target, &record.clone().with_folders(folders)),
            None => records.delete_record(&self.file.target),
        }
        Ok(())
    }
}

fn agent_parser() -> impl TypedValueParser<Value = HookAgent> {
    PossibleValuesParser::new(AGENTS.map(HookAgent::as_str)).try_map(|word| HookAgent::parse(&word))
}

/// Returns the folder of an agent's settings in a project.
fn project_folder(agent: HookAgent) -> &'static str {
    match agent {
        HookAgent::Codex => ".codex",
        HookAgent::Gemini => ".gemini",
        HookAgent::ClaudeCode | HookAgent::Generic | HookAgent::Healer => ".claude",
    }
}

/// Returns the folder of an agent's settings for all projects.
fn agent_home(agent: HookAgent, homes: &AgentHomes) -> Option<&Path> {
    match agent {
        HookAgent::ClaudeCode => homes.claude.as_deref(),
        HookAgent::Codex => homes.codex.as_deref(),
        HookAgent::Gemini => homes.gemini.as_deref(),
        HookAgent::Generic | HookAgent::Healer => None,
    }
}

fn is_on_path(program: &str, environment: &ProcessEnvironment) -> bool {
    let folders = environment.environment_variable("PATH").map(std::env::split_paths).into_iter().flatten();
    let names = [program.to_owned(), format!("{program}.exe")];
    folders.into_iter().any(|folder| names.iter().any(|name| folder.join(name).is_file()))
}
