//! `archivist reflect`: one session is reflected on, and what it teaches is kept.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{ArgGroup, Args};

use super::arguments::word;
use super::console::{Console, Style};
use super::failure::Exit;
use super::inspect::print_lessons;
use super::lesson::short;
use super::prose::one_line;
use super::reflecting::{by_hand, hud_patience, runtime, service, trigger};
use super::session::Session;
use crate::config::Surroundings;
use crate::desk::Refusal;
use crate::domain::{AgentMemory, MemoryState, ReflectionScenario, ReflectionTrigger, SessionId};
use crate::service::{Anew, ArchivistService, Learned, Skip};

const EXAMPLES: &str = "\
Examples:
  archivist reflect --session 0f4e2d7c-7b1e-4c59-9f0e-2b8a2f5f7a11
  archivist reflect --file ~/.claude/projects/-home-me-shop/0f4e.jsonl
  archivist reflect --file run.jsonl --scenario session_failed --task auth-42 --json
  archivist reflect --session 0f4e --dry-run

A session that has nothing new to tell is skipped; --again reflects on it all the same.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("which").required(true).args(["session", "file"]))]
pub(super) struct Reflect {
    /// The session, as its agent names it; its log is looked for
    #[arg(long, value_name = "ID", value_parser = SessionId::parse)]
    session: Option<SessionId>,
    /// Its log, or several that make one session
    #[arg(long, value_name = "PATH", num_args = 1..)]
    file: Vec<PathBuf>,
    /// What happened
    #[arg(long, default_value = "manual", value_parser = word::<ReflectionScenario>(ReflectionScenario::WORDS))]
    scenario: ReflectionScenario,
    /// The task worked on
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Reflect even if it has nothing new to tell
    #[arg(long)]
    again: bool,
    /// Show what would be learned, and store nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

impl Reflect {
    pub(super) fn run(&self, session: &Session, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        let service = service(session, surroundings)?;
        let trigger = self.trigger(session, surroundings)?;
        runtime()?.block_on(async {
            let done = match self.dry_run {
                true => self.preview(&service, &trigger, console).await,
                false => self.reflect((&service, hud_patience(session)), &trigger, console).await,
            };
            session.desk.memory.maintain().await;
            done
        })
    }

    fn trigger(&self, session: &Session, surroundings: &Surroundings) -> Result<ReflectionTrigger> {
        let mut asked = match &self.session {
            Some(id) => trigger(session, id.clone(), self.scenario.clone()),
            None => {
                let files = self.file.iter().map(|path| surroundings.current_dir.join(path)).collect();
                by_hand(files, session)?.0
            }
        };
        asked.scenario = self.scenario.clone();
        asked.main_task_id.clone_from(&self.task);
        Ok(asked)
    }

    async fn preview(
        &self,
        service: &ArchivistService,
        trigger: &ReflectionTrigger,
        console: &mut Console,
    ) -> Result<Exit> {
        let sources = service.sources(trigger).await.map_err(Refusal::from)?;
        let distilled = service.preview(trigger, sources).await.map_err(Refusal::from)?;
        match self.json {
            true => console.json(&distilled)?,
            false => print_lessons(&distilled, console)?,
        }
        Ok(Exit::Done)
    }

    async fn reflect(
        &self,
        (service, patience): (&ArchivistService, Duration),
        trigger: &ReflectionTrigger,
        console: &mut Console,
    ) -> Result<Exit> {
        let anew = if self.again { Anew::Always } else { Anew::IfGrown };
        let came = service.reflect(trigger, anew).await;
        service.finish(patience).await;
        if self.json {
            console.json(&ArchivistService::outcome(trigger, &came))?;
        }
        match came {
            Ok(learned) if !self.json => print(&learned, console)?,
            Ok(_) => {}
            Err(skip) if skip.is_choice() => {
                if !self.json {
                    let again = if matches!(skip, Skip::Unchanged) { "; --again reflects all the same" } else { "" };
                    console.note(&format!("skipped: {skip}{again}"));
                }
            }
            Err(skip) => return Err(Refusal::from(skip).into()),
        }
        if let Err(skip) = service.tend().await {
            console.warn(&format!("older lessons were not looked after: {skip}"));
        }
        Ok(Exit::Done)
    }
}

/// What was learned, one line a lesson.
fn print(learned: &Learned, console: &mut Console) -> Result<()> {
    console.line(&learned.summary())?;
    for (mark, lessons) in [("+", &learned.created), ("*", &learned.updated), ("=", &learned.seen)] {
        for memory in lessons {
            let state = memory.state.as_ref().map(MemoryState::as_str).unwrap_or_default();
            let line = format!("{mark} {} {}", short(memory), console.styled(Style::Dim, &format!("({state})")));
            console.line(&line)?;
        }
    }
    for dropped in &learned.dropped {
        let line = format!("- {}: {}", dropped.why, one_line(&dropped.summary));
        console.line(&console.styled(Style::Dim, &line))?;
    }
    let quarantined = |memory: &&AgentMemory| memory.state == Some(MemoryState::Quarantined);
    if learned.created.iter().any(|memory| quarantined(&memory)) {
        console.note("hint: `archivist approve ID` or `archivist reject ID` decides on what is in quarantine");
    }
    Ok(())
}
