//! `archivist hud`: shows the memory live in the terminal.
//!
//! The model holds what is loaded and shown, and changes it by updates; the view draws it; the watcher loads it from
//! the memory. Only this file and the screen module touch the terminal.

mod layout;
mod model;
mod rows;

mod help;
mod keys;

mod feed_lines;
mod page;
mod page_builder;
mod status_line;
mod styles;
mod view;

mod loader;
mod screen;

#[cfg(test)]
mod test_support;

use std::future::ready;
use std::io;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use ratatui::layout::Size;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use self::loader::{carry_out_decision, load_evidence, watch_memory};
use self::model::{HudAction, HudModel, HudUpdate};
use self::screen::TerminalScreen;
use self::styles::HudTheme;
use super::cli_error::{CliError, CommandExit};
use super::command_context::CommandContext;
use super::console::Console;
use super::session_trigger::build_runtime;
use super::stop_signal::wait_for_stop_signal;
use archivist_core::config::ProcessEnvironment;

const EXAMPLES: &str = "\
Examples:
  archivist hud
  archivist hud --project ../billing
  ssh build-machine -t archivist hud --project /srv/billing

Shows lessons, sessions, quarantine and the queue, and what reflections tell, while agents work. ? lists the keys, q quits.
Where there is no terminal, `archivist list` prints lessons, and `archivist serve` shows the same in a browser.";

/// The interval between refreshes of the memory.
const PACE: Duration = Duration::from_millis(250);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HudCommand {}

impl HudCommand {
    pub(super) fn run(
        &self,
        session: &CommandContext,
        environment: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let hint = "`archivist list` prints lessons, `archivist serve` shows them in a browser";
        if !console.is_stdout_terminal() {
            return Err(CliError::user_error("stdout is not a terminal").with_hint(hint).into());
        }
        if environment.environment_variable("TERM") == Some("dumb") {
            return Err(CliError::user_error("nothing can be drawn on this terminal: TERM is dumb")
                .with_hint(hint)
                .into());
        }
        let runtime = build_runtime()?;
        let watched = runtime.block_on(run_display(session, HudTheme(console.stdout_color_mode())));
        // Requests that are still pending are dropped.
        runtime.shutdown_background();
        watched?;
        Ok(CommandExit::Done)
    }
}

/// Runs the display until the user quits, and waits for the decisions that are under way.
async fn run_display(session: &CommandContext, ink: HudTheme) -> Result<()> {
    let mut stop = pin!(wait_for_stop_signal());
    // Signal handlers are installed before the terminal is taken over, so that every signal restores it.
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = ready(()) => {}
    }
    let mut orders: JoinSet<HudUpdate> = JoinSet::new();
    let listened = run_event_loop(session, ink, &mut orders, stop).await;
    let mut refusal = None;
    while let Some(done) = orders.join_next().await {
        if let HudUpdate::Done(Err(why)) = done.map_err(propagate_panic)? {
            refusal = Some(CliError::user_error(why));
        }
    }
    listened?;
    refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
}

/// Takes over the terminal, handles events, and restores the terminal on return.
async fn run_event_loop(
    session: &CommandContext,
    ink: HudTheme,
    orders: &mut JoinSet<HudUpdate>,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), CliError> {
    let (archivist, clock) = (&session.archivist, session.archivist.clock());
    let mut screen = TerminalScreen::take_over_terminal(ink.0).map_err(terminal_error)?;
    let (width, height) = crossterm::terminal::size().map_err(terminal_error)?;
    let root = &archivist.project().root;
    let project = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    let mut model = HudModel::new(&project, Size::new(width, height), ink, clock.now());
    let mut events = EventStream::new();
    let (tell, mut looks) = mpsc::channel(1);
    let mut looking = tokio::spawn(watch_memory(archivist.clone(), clock.clone(), PACE, tell));
    let mut questions: JoinSet<HudUpdate> = JoinSet::new();
    screen.draw_frame(|frame| view::draw_display(frame, &model)).map_err(terminal_error)?;
    loop {
        let message = tokio::select! {
            () = &mut stop => return Ok(()),
            event = events.next() => match event {
                Some(event) => update_from_event(event.map_err(terminal_error)?),
                None => return Ok(()),
            },
            Some(look) = looks.recv() => model.changes_display(&look).then_some(HudUpdate::Looked(look)),
            ended = &mut looking => return ended.map_err(propagate_panic),
            Some(answer) = questions.join_next() => Some(answer.map_err(propagate_panic)?),
            Some(done) = orders.join_next() => Some(done.map_err(propagate_panic)?),
        };
        let Some(message) = message else { continue };
        match model.update(message) {
            Some(HudAction::Quit) => return Ok(()),
            Some(HudAction::Ask(id)) => {
                questions.spawn(load_evidence(archivist.clone(), id));
            }
            Some(HudAction::Order(order)) => {
                orders.spawn(carry_out_decision(archivist.clone(), order, clock.now()));
            }
            None => {}
        }
        screen.draw_frame(|frame| view::draw_display(frame, &model)).map_err(terminal_error)?;
    }
}

/// Returns the update for a terminal event, or `None` if the event has no meaning here.
fn update_from_event(event: Event) -> Option<HudUpdate> {
    match event {
        Event::Key(key) => Some(HudUpdate::Key(key)),
        Event::Paste(text) => Some(HudUpdate::Pasted(text)),
        Event::Resize(width, height) => Some(HudUpdate::Resized(Size::new(width, height))),
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}

/// Resumes a panic of a task, which was already reported and restored the terminal; returns other join errors.
fn propagate_panic(error: JoinError) -> CliError {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => CliError::user_error(error.to_string()),
    }
}

fn terminal_error(error: io::Error) -> CliError {
    CliError::user_error(format!("the terminal cannot be used: {error}"))
        .with_hint("`archivist list` prints lessons, `archivist serve` shows them in a browser")
}
