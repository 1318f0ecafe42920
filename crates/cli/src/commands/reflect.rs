//! `archivist reflect`: reflects on one session and stores its lessons.

use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};

use super::inspect::print_lessons;
use crate::arguments::word_parser;
use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::{Console, TextStyle};
use crate::lesson_format::summary_line;
use crate::session_trigger::{build_runtime, trigger_for_files, trigger_for_session};
use crate::text_format::one_line;
use archivist_core::config::ProcessEnvironment;
use archivist_core::domain::{AgentMemory, MemoryState, ReflectionScenario, ReflectionTrigger, SessionId};
use archivist_core::service::RequestError;
use archivist_core::service::{ArchivistService, ReflectionReport, RepeatPolicy, SkipReason};

const EXAMPLES: &str = "\
Examples:
  archivist reflect --session 0f4e2d7c-7b1e-4c59-9f0e-2b8a2f5f7a11
  archivist reflect --file ~/.claude/projects/-home-me-shop/0f4e.jsonl
  archivist reflect --file run.jsonl --scenario session_failed --task auth-42 --json
  archivist reflect --session 0f4e --dry-run

A session that has nothing new to tell is skipped; --again reflects on it all the same.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("which").required(true).args(["session", "file"]))]
pub(crate) struct ReflectCommand {
    /// The session, as its agent names it; its log is looked for
    #[arg(long, value_name = "ID", value_parser = SessionId::parse)]
    session: Option<SessionId>,
    /// Its log, or several that make one session
    #[arg(long, value_name = "PATH", num_args = 1..)]
    file: Vec<PathBuf>,
    /// The reason for the reflection
    #[arg(long, default_value = "manual", value_parser = word_parser::<ReflectionScenario>(ReflectionScenario::WORDS))]
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

impl ReflectCommand {
    pub(crate) fn run(
        &self,
        session: &CommandContext,
        environment: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let service = session.archivist.reflection_service()?;
        let trigger = self.build_trigger(session, environment)?;
        build_runtime()?.block_on(async {
            let done = if self.dry_run {
                self.preview_lessons(&service, &trigger, console).await
            } else {
                let done = self.reflect_and_print(&service, &trigger, console).await;
                session.archivist.finish_reflections().await;
                done
            };
            session.archivist.memory.run_maintenance().await;
            done
        })
    }

    fn build_trigger(&self, session: &CommandContext, environment: &ProcessEnvironment) -> Result<ReflectionTrigger> {
        let mut asked = match &self.session {
            Some(id) => trigger_for_session(session, id.clone(), self.scenario.clone()),
            None => {
                let files = self.file.iter().map(|path| environment.current_dir.join(path)).collect();
                trigger_for_files(files, session)?.0
            }
        };
        asked.scenario = self.scenario.clone();
        asked.main_task_id.clone_from(&self.task);
        Ok(asked)
    }

    async fn preview_lessons(
        &self,
        service: &ArchivistService,
        trigger: &ReflectionTrigger,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let sources = service.find_log_sources(trigger).await.map_err(RequestError::from)?;
        let distilled = service.preview_candidates(trigger, sources).await.map_err(RequestError::from)?;
        match self.json {
            true => console.print_json(&distilled)?,
            false => print_lessons(&distilled, console)?,
        }
        Ok(CommandExit::Done)
    }

    async fn reflect_and_print(
        &self,
        service: &ArchivistService,
        trigger: &ReflectionTrigger,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let policy = if self.again { RepeatPolicy::Always } else { RepeatPolicy::IfGrown };
        let outcome = service.reflect_on_session(trigger, policy).await;
        if self.json {
            console.print_json(&ArchivistService::build_outcome(trigger, &outcome))?;
        }
        match outcome {
            Ok(learned) if !self.json => print_learned(&learned, console)?,
            Ok(_) => {}
            Err(skip) if skip.is_choice() => {
                if !self.json {
                    let again =
                        if matches!(skip, SkipReason::Unchanged) { "; --again reflects all the same" } else { "" };
                    console.print_note(&format!("skipped: {skip}{again}"));
                }
            }
            Err(skip) => return Err(RequestError::from(skip).into()),
        }
        Ok(CommandExit::Done)
    }
}

/// Prints the outcome of a reflection, one line per lesson.
fn print_learned(learned: &ReflectionReport, console: &mut Console) -> Result<()> {
    console.print_line(&learned.summary())?;
    for (mark, lessons) in [("+", &learned.created), ("*", &learned.updated), ("=", &learned.seen)] {
        for memory in lessons {
            let state = memory.state.as_ref().map(MemoryState::as_str).unwrap_or_default();
            let line = format!(
                "{mark} {} {}",
                summary_line(memory),
                console.style_text(TextStyle::Dim, &format!("({state})"))
            );
            console.print_line(&line)?;
        }
    }
    for dropped in &learned.dropped {
        let line = format!("- {}: {}", dropped.why, one_line(&dropped.summary));
        console.print_line(&console.style_text(TextStyle::Dim, &line))?;
    }
    let quarantined = |memory: &&AgentMemory| memory.state == Some(MemoryState::Quarantined);
    if learned.created.iter().any(|memory| quarantined(&memory)) {
        console.print_note("hint: `archivist approve ID` or `archivist reject ID` decides on what is in quarantine");
    }
    Ok(())
}
