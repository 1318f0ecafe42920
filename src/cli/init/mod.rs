//! `archivist init`: the hooks of agents, and the few files of a project that go with them.

mod diff;
mod file;
mod subject;
mod undo;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;

use self::file::File;
use self::subject::{After, Subject};
use self::undo::{Record, Records};
use super::arguments::Globals;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::prose::list;
use super::session::Workplace;
use crate::config::{AgentHomes, Config, Surroundings};
use crate::hooks::{Agent, Plan, Recall};

pub(super) const EXAMPLES: &str = "\
Examples:
  archivist init --dry-run
  archivist init --agent claude-code --agent codex
  archivist init --user --program ~/.cargo/bin/archivist
  archivist init --remove

Without --agent: the agents that have a folder in the project, else those that have one in the
home directory, else claude-code. Every change is shown before it is written; what is not ours
stays as it is, byte for byte.";

/// The agents that have settings.
const AGENTS: [Agent; 3] = [Agent::ClaudeCode, Agent::Codex, Agent::Gemini];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Init {
    /// Whose hooks; may be given more than once
    #[arg(long = "agent", value_name = "AGENT", value_parser = installable())]
    agents: Vec<Agent>,
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

/// One file that becomes another.
struct Change {
    file: File,
    after: Option<String>,
    /// What is remembered of it; nothing is where it could not be taken back exactly.
    record: Option<Record>,
}

impl Init {
    pub(super) fn run(&self, globals: &Globals, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        let Workplace { root, loaded } = Workplace::find(globals, surroundings)?;
        let homes = loaded.config.sources.homes(&root, surroundings);
        let records = Records::below(surroundings.state_dir());
        let agents = self.chosen(&root, &homes);
        let mut changes = Vec::new();
        // Everything is looked at before anything is written: a file that cannot be edited changes nothing.
        for (path, subject) in self.subjects(&agents, &root, &homes)? {
            let file = File::look(&path, &root, &self.bounds(&root, &homes, surroundings))?;
            changes.extend(self.change(file, &subject, &records)?);
        }
        self.show(&agents, &changes, console)?;
        if !self.dry_run {
            console.flush()?;
            changes.iter().try_for_each(|change| change.file.can_be_written())?;
            for change in &changes {
                change.write(&records)?;
            }
        }
        if !self.json {
            self.tell(&agents, &changes, &loaded.config, surroundings, console);
        }
        Ok(Exit::Done)
    }

    /// The agents that are meant.
    fn chosen(&self, root: &Path, homes: &AgentHomes) -> Vec<Agent> {
        if !self.agents.is_empty() {
            return AGENTS.into_iter().filter(|agent| self.agents.contains(agent)).collect();
        }
        if self.remove {
            return AGENTS.to_vec();
        }
        let in_project = |agent: &Agent| !self.user && root.join(folder(*agent)).is_dir();
        let at_home = |agent: &Agent| home(*agent, homes).is_some_and(Path::is_dir);
        let found = |is_there: &dyn Fn(&Agent) -> bool| -> Vec<Agent> { AGENTS.into_iter().filter(is_there).collect() };
        let choices = [found(&in_project), found(&at_home), vec![Agent::ClaudeCode]];
        choices.into_iter().find(|agents| !agents.is_empty()).unwrap_or_default()
    }

    /// Every file that is ours to look after.
    fn subjects(&self, agents: &[Agent], root: &Path, homes: &AgentHomes) -> Result<Vec<(PathBuf, Subject)>, Failure> {
        let program = Plan::quoted(&self.program).ok_or_else(|| {
            Failure::usage("--program is no path that a shell reads as one word")
                .with_hint("use a path without quotes, $, `, % and !")
        })?;
        let recall = if self.prompts { Recall::WithPrompts } else { Recall::AtStart };
        let mut subjects = Vec::new();
        for &agent in agents {
            let place = match self.user {
                true => home(agent, homes).map(Path::to_path_buf).ok_or_else(|| {
                    Failure::user(format!("there is no home directory for {}", agent.title())).with_hint("set HOME")
                })?,
                false => root.join(folder(agent)),
            };
            let name = if agent == Agent::Codex { "hooks.json" } else { "settings.json" };
            subjects.push((place.join(name), Subject::Settings(Plan { agent, program: program.clone(), recall })));
        }
        if !self.user {
            if self.remove || root.ancestors().any(|folder| folder.join(".git").exists()) {
                subjects.push((root.join(".gitattributes"), Subject::Attributes));
            }
            subjects.push((root.join(".openagents/archivist.toml"), Subject::Configuration));
        }
        Ok(subjects)
    }

    /// The directories that a file must really lie in, wherever a link leads.
    fn bounds(&self, root: &Path, homes: &AgentHomes, surroundings: &Surroundings) -> Vec<PathBuf> {
        match self.user {
            true => {
                let homes = AGENTS.into_iter().filter_map(|agent| home(agent, homes));
                // A home that lies elsewhere was named by its user; one that only a link leads to was not.
                let named = homes.filter(|home| surroundings.home.as_ref().is_none_or(|own| !home.starts_with(own)));
                named.map(Path::to_path_buf).chain(surroundings.home.clone()).collect()
            }
            false => vec![root.to_path_buf()],
        }
    }

    fn change(&self, file: File, subject: &Subject, records: &Records) -> Result<Option<Change>, Failure> {
        let known = records.of(&file.target).filter(|record| record.is_of(file.text.as_deref()));
        if self.remove {
            let Some(text) = file.text.as_deref() else { return Ok(None) };
            let original = known.and_then(|record| record.original(text)).filter(|original| match original {
                Some(original) => !subject.holds(original),
                None => true,
            });
            let after = match original {
                Some(original) => original,
                None => match subject.remove(text, &file.shown)? {
                    After::Same => return Ok(None),
                    After::Gone => None,
                    After::Text(text) => Some(text),
                },
            };
            return Ok(Some(Change { file, after, record: None }));
        }
        let Some((after, undo)) = subject.install(file.text.as_deref(), &file.shown)? else { return Ok(None) };
        let record = match known {
            Some(record) => Some(record.and(undo, &after)),
            // Who put our lines there, and what was there before, nobody knows.
            None if file.text.as_deref().is_some_and(|text| subject.holds(text)) => None,
            None => Some(Record::new(&file, undo, &after)),
        };
        Ok(Some(Change { file, after: Some(after), record }))
    }

    fn show(&self, agents: &[Agent], changes: &[Change], console: &mut Console) -> Result<(), Failure> {
        let shown =
            |change: &Change| diff::unified(&change.file.shown, change.file.text.as_deref(), change.after.as_deref());
        if self.json {
            let files: Vec<serde_json::Value> = changes
                .iter()
                .map(|change| json!({"path": change.file.path, "action": change.action(), "diff": shown(change)}))
                .collect();
            let agents: Vec<&str> = agents.iter().map(|agent| agent.as_str()).collect();
            return console.json(&json!({"agents": agents, "dryRun": self.dry_run, "files": files}));
        }
        for change in changes {
            diff::print(&shown(change), console)?;
        }
        Ok(())
    }

    /// What happens next.
    fn tell(
        &self,
        agents: &[Agent],
        changes: &[Change],
        config: &Config,
        surroundings: &Surroundings,
        console: &mut Console,
    ) {
        if changes.is_empty() {
            console.note(if self.remove { "there was nothing to take back" } else { "everything is in place already" });
        }
        if self.dry_run {
            console.note("nothing was written");
            return;
        }
        if self.remove {
            return;
        }
        let titles = list(agents.iter().map(|agent| agent.title()));
        console.note(&format!(
            "from the next session on, the lessons that help are given to {titles}, and what was done is reflected on afterwards"
        ));
        if agents.contains(&Agent::Codex) {
            console.note("Codex asks once whether it may trust the new hooks, and runs none of them before");
        }
        if self.prompts && !config.hooks.recall_on_prompt {
            console.hint("set `hooks.recallOnPrompt = true`, or the hook for prompts has nothing to say");
        }
        if !self.program.contains(['/', '\\']) && !is_on_path(&self.program, surroundings) {
            console.warn(&format!("there is no `{}` on PATH, so the hooks cannot call it", self.program));
            console.hint("say where it is: archivist init --program PATH");
        }
        console.hint("`archivist status` shows what became of it");
    }
}

impl Change {
    fn action(&self) -> &'static str {
        match (&self.file.text, &self.after) {
            (None, _) => "create",
            (Some(_), Some(_)) => "update",
            (Some(_), None) => "delete",
        }
    }

    fn write(&self, records: &Records) -> Result<(), Failure> {
        let folders = match &self.after {
            Some(after) => self.file.replace(after)?,
            None => {
                self.file.delete(&records.of(&self.file.target).map(|record| record.folders).unwrap_or_default())?;
                Vec::new()
            }
        };
        match &self.record {
            Some(record) => records.keep(&self.file.target, &record.clone().with(folders)),
            None => records.forget(&self.file.target),
        }
        Ok(())
    }
}

fn installable() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(AGENTS.map(Agent::as_str)).try_map(|word| Agent::parse(&word))
}

/// The folder of an agent's settings in a project.
fn folder(agent: Agent) -> &'static str {
    match agent {
        Agent::Codex => ".codex",
        Agent::Gemini => ".gemini",
        Agent::ClaudeCode | Agent::Generic | Agent::Healer => ".claude",
    }
}

/// The folder of an agent's settings for all projects.
fn home(agent: Agent, homes: &AgentHomes) -> Option<&Path> {
    match agent {
        Agent::ClaudeCode => homes.claude.as_deref(),
        Agent::Codex => homes.codex.as_deref(),
        Agent::Gemini => homes.gemini.as_deref(),
        Agent::Generic | Agent::Healer => None,
    }
}

fn is_on_path(program: &str, surroundings: &Surroundings) -> bool {
    let folders = surroundings.variable("PATH").map(std::env::split_paths).into_iter().flatten();
    let names = [program.to_owned(), format!("{program}.exe")];
    folders.into_iter().any(|folder| names.iter().any(|name| folder.join(name).is_file()))
}
