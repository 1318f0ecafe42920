//! `archivist hud`: the memory in the terminal, live.
//!
//! `model.rs` holds what is known and shown, and changes it by messages; `view.rs` draws it; `load.rs` asks the desk.
//! Only this file and `screen.rs` touch the terminal.

mod layout;
mod model;
mod rows;

mod help;
mod keys;

mod feed;
mod foot;
mod ink;
mod page;
mod sheet;
mod view;

mod load;
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

use self::ink::Ink;
use self::load::{ask, carry_out, look_on};
use self::model::{Effect, Message, Model};
use self::screen::Screen;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::reflecting::runtime;
use super::session::Session;
use super::stop::asked_to_stop;
use crate::config::Surroundings;

const EXAMPLES: &str = "\
Examples:
  archivist hud
  archivist hud --project ../billing
  ssh build-machine -t archivist hud --project /srv/billing

Shows lessons, sessions, quarantine and the queue, and what reflections tell, while agents work. ? lists the keys, q quits.
Where there is no terminal, `archivist list` prints lessons, and `archivist serve` shows the same in a browser.";

/// How often the memory is looked at.
const PACE: Duration = Duration::from_millis(250);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Hud {}

impl Hud {
    pub(super) fn run(&self, session: &Session, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        let hint = "`archivist list` prints lessons, `archivist serve` shows them in a browser";
        if !console.has_screen() {
            return Err(Failure::user("stdout is not a terminal").with_hint(hint).into());
        }
        if surroundings.variable("TERM") == Some("dumb") {
            return Err(Failure::user("nothing can be drawn on this terminal: TERM is dumb").with_hint(hint).into());
        }
        let runtime = runtime()?;
        let watched = runtime.block_on(watch(session, Ink(console.output_paint())));
        // A question that is still under way is nobody's business any more.
        runtime.shutdown_background();
        watched?;
        Ok(Exit::Done)
    }
}

/// Draws and listens until somebody has enough, and sees to it that what was decided is done.
async fn watch(session: &Session, ink: Ink) -> Result<()> {
    let mut stop = pin!(asked_to_stop());
    // Signals are heard from here on: none may find the terminal taken over and nobody to give it back.
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = ready(()) => {}
    }
    let mut orders: JoinSet<Message> = JoinSet::new();
    let listened = listen(session, ink, &mut orders, stop).await;
    let mut refusal = None;
    while let Some(done) = orders.join_next().await {
        if let Message::Done(Err(why)) = done.map_err(broken)? {
            refusal = Some(Failure::user(why));
        }
    }
    listened?;
    refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
}

/// Takes the terminal over, and gives it back when it returns.
async fn listen(
    session: &Session,
    ink: Ink,
    orders: &mut JoinSet<Message>,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), Failure> {
    let (desk, clock) = (&session.desk, &session.clock);
    let mut screen = Screen::take(ink.0).map_err(refused)?;
    let (width, height) = crossterm::terminal::size().map_err(refused)?;
    let root = &desk.project().root;
    let project = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    let mut model = Model::new(&project, Size::new(width, height), ink, clock.now());
    let mut events = EventStream::new();
    let (tell, mut looks) = mpsc::channel(1);
    let mut looking = tokio::spawn(look_on(desk.clone(), clock.clone(), PACE, tell));
    let mut questions: JoinSet<Message> = JoinSet::new();
    screen.draw(|frame| view::draw(frame, &model)).map_err(refused)?;
    loop {
        let message = tokio::select! {
            () = &mut stop => return Ok(()),
            event = events.next() => match event {
                Some(event) => message(event.map_err(refused)?),
                None => return Ok(()),
            },
            Some(look) = looks.recv() => model.is_news(&look).then_some(Message::Looked(look)),
            ended = &mut looking => return ended.map_err(broken),
            Some(answer) = questions.join_next() => Some(answer.map_err(broken)?),
            Some(done) = orders.join_next() => Some(done.map_err(broken)?),
        };
        let Some(message) = message else { continue };
        match model.update(message) {
            Some(Effect::Quit) => return Ok(()),
            Some(Effect::Ask(id)) => {
                questions.spawn(ask(desk.clone(), id));
            }
            Some(Effect::Order(order)) => {
                orders.spawn(carry_out(desk.clone(), order, clock.now()));
            }
            None => {}
        }
        screen.draw(|frame| view::draw(frame, &model)).map_err(refused)?;
    }
}

/// What the terminal says, where that is anything to us.
fn message(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) => Some(Message::Key(key)),
        Event::Paste(text) => Some(Message::Pasted(text)),
        Event::Resize(width, height) => Some(Message::Resized(Size::new(width, height))),
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}

/// A task that panicked takes all of us along: the panic was told, and the terminal given back, when it happened.
fn broken(error: JoinError) -> Failure {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => Failure::user(error.to_string()),
    }
}

fn refused(error: io::Error) -> Failure {
    Failure::user(format!("the terminal cannot be used: {error}"))
        .with_hint("`archivist list` prints lessons, `archivist serve` shows them in a browser")
}
