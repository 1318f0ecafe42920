//! Who does the jobs of a worker: one for its own project, and in a fleet one for each project whose jobs come along.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;

use super::arguments::Globals;
use super::reflecting::{hud_patience, service};
use super::session::Session;
use crate::config::Surroundings;
use crate::desk::Desk;
use crate::service::{Handled, Handler, Intake, Job, Labour, Queue};

/// So many other projects are kept open. They share their connections, and a fleet asks for one after the other.
const OPEN: usize = 256;

/// Does jobs of any project.
pub(super) struct Crew<'s> {
    session: &'s Session,
    globals: &'s Globals,
    surroundings: &'s Surroundings,
    own: Arc<Hand>,
    /// Other projects, the one that was served last at the end.
    others: Mutex<VecDeque<Arc<Hand>>>,
}

/// Does the jobs of one project.
struct Hand {
    bank: String,
    root: PathBuf,
    desk: Desk,
    labour: Labour,
    hud_patience: Duration,
}

impl<'s> Crew<'s> {
    pub(super) fn new(session: &'s Session, globals: &'s Globals, surroundings: &'s Surroundings) -> Result<Self> {
        let own = Arc::new(Hand::of(session, surroundings)?);
        Ok(Self { session, globals, surroundings, own, others: Mutex::default() })
    }

    /// Looks after the memories that were worked for, and lets displays hear the rest.
    pub(super) async fn finish(&self) {
        let others: Vec<Arc<Hand>> = self.others().drain(..).collect();
        for hand in others.iter().chain([&self.own]) {
            hand.finish().await;
        }
    }

    /// Who does the jobs of this project, and who is let go for it.
    fn hand(&self, bank: &str, root: &Path) -> Result<(Arc<Hand>, Option<Arc<Hand>>)> {
        let mut others = self.others();
        let known = others.iter().position(|hand| hand.bank == bank && hand.root == root);
        let hand = match known.and_then(|at| others.remove(at)) {
            Some(hand) => hand,
            None => Arc::new(self.open(bank, root)?),
        };
        others.push_back(Arc::clone(&hand));
        let surplus = if others.len() > OPEN { others.pop_front() } else { None };
        Ok((hand, surplus))
    }

    /// Opens a project where it lies, with its own settings. Where it is not on this machine, or is another one here than
    /// where the job comes from, the settings are this worker's own, and so is the place of what is told of it.
    fn open(&self, bank: &str, root: &Path) -> Result<Hand> {
        let Session { now, seed, .. } = *self.session;
        if root.is_dir() {
            let globals = self.globals.in_project(root);
            let there = Surroundings { current_dir: root.to_owned(), ..self.surroundings.clone() };
            let mut session = Session::open(&globals, &there, now, seed)?;
            session.desk = session.desk.sharing(&self.session.desk);
            if session.desk.bank() == bank {
                return Hand::of(&session, &there).map(|hand| Hand { root: root.to_owned(), ..hand });
            }
        }
        let mut config = self.session.desk.config().clone();
        config.project.key = bank.to_owned();
        config.memory.dir = self.session.desk.memory_dir().display().to_string();
        let desk = Desk::open(root.to_owned(), config, self.surroundings, None).sharing(&self.session.desk);
        let session = self.session.elsewhere(desk);
        Hand::of(&session, self.surroundings)
    }

    fn others(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<Hand>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Handler for Crew<'_> {
    async fn handle(&self, job: &Job) -> Handled {
        self.own.labour.handle(job).await
    }

    async fn handle_for(&self, bank: Option<&str>, job: &Job) -> Handled {
        let Some(bank) = bank.filter(|bank| *bank != self.own.bank) else { return self.handle(job).await };
        let (hand, surplus) = match self.hand(bank, Path::new(job.errand.project_root())) {
            Ok(found) => found,
            Err(error) => return Handled::Again(format!("{}: {error:#}", job.errand.project_root())),
        };
        if let Some(surplus) = surplus {
            surplus.part().await;
        }
        hand.labour.handle(job).await
    }
}

impl Hand {
    fn of(session: &Session, surroundings: &Surroundings) -> Result<Self> {
        let desk = session.desk.clone();
        Ok(Self {
            bank: desk.bank(),
            root: desk.project().root.clone(),
            labour: Labour { service: service(session, surroundings)?, queue: intake(&desk) },
            desk,
            hud_patience: hud_patience(session),
        })
    }

    /// Lets displays hear the rest.
    async fn part(&self) {
        self.labour.service.finish(self.hud_patience).await;
    }

    async fn finish(&self) {
        if let Err(skip) = self.labour.service.tend().await {
            tracing::warn!(why = %skip, "older lessons were not looked after");
        }
        self.part().await;
        self.desk.memory.maintain().await;
    }
}

/// Where jobs of this project are asked for.
pub(super) fn intake(desk: &Desk) -> Arc<dyn Intake> {
    #[cfg(feature = "postgres")]
    if let Some(fleet) = desk.fleet() {
        return Arc::new(fleet);
    }
    Arc::new(Queue::at(desk.memory_dir()))
}
