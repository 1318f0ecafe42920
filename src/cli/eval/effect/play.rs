//! Sessions that are played with lessons whose effect is known.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use chrono::TimeDelta;

use super::rule::Rule;
use crate::cli::eval::draw::Draw;
use crate::domain::{Effect, Exposure, Extra, Fact, Invalid, MemoryId, RunId, Timestamp};
use crate::recall::{Trial, coin};

/// How often trouble comes back in runs without the lesson.
pub(super) const BASE: f64 = 0.3;
/// Of how many runs nobody can tell how they ended.
pub(super) const UNKNOWN: f64 = 0.1;
/// After so many runs in which a lesson was due, its interval is held against the truth.
pub(super) const LOOKS: [u64; 3] = [50, 200, 800];

/// A session has one topic of these, and so has a lesson.
const TOPICS: u64 = 4;

/// Lessons that do the same.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: &'static str,
    pub(super) does: Does,
    /// What it adds to the rate at which trouble comes back.
    pub(super) effect: f64,
}

/// What a lesson does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Good,
    Nothing,
    Harm,
}

pub(super) const CLASSES: [Class; 5] = [
    Class { name: "helps by 0.20", does: Does::Good, effect: -0.2 },
    Class { name: "helps by 0.10", does: Does::Good, effect: -0.1 },
    Class { name: "does nothing", does: Does::Nothing, effect: 0.0 },
    Class { name: "harms by 0.10", does: Does::Harm, effect: 0.1 },
    Class { name: "harms by 0.20", does: Does::Harm, effect: 0.2 },
];

/// One way to play the sessions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Game {
    pub(super) seed: u64,
    pub(super) holdout: f64,
}

/// A game and what became of every lesson in it.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) game: Game,
    pub(super) fates: Vec<Fate>,
}

/// What became of one lesson.
#[derive(Debug)]
pub(super) struct Fate {
    pub(super) class: &'static Class,
    /// After how many runs in which it was due each rule retired it.
    pub(super) retired: [Option<u64>; Rule::ALL.len()],
    /// Whether its interval held the truth at each look; `None` where there was no interval yet.
    pub(super) covered: [Option<bool>; LOOKS.len()],
}

/// The names of lessons and sessions.
#[derive(Debug)]
pub(super) struct Lessons {
    lessons: Vec<MemoryId>,
    sessions: Vec<(RunId, Timestamp)>,
}

impl Lessons {
    pub(super) fn new(lessons: u64, sessions: u64) -> Result<Self, Invalid> {
        let at = |session: u64| {
            let minutes = TimeDelta::try_minutes(i64::try_from(session).unwrap_or(i64::MAX));
            minutes.and_then(|later| Timestamp::UNIX_EPOCH.checked_add_signed(later)).unwrap_or(Timestamp::MAX_UTC)
        };
        let session = |number| Ok((RunId::parse(&format!("run-{number:06}"))?, at(number)));
        Ok(Self {
            lessons: (0..lessons)
                .map(|number| MemoryId::parse(&format!("lesson-{number}")))
                .collect::<Result<_, _>>()?,
            sessions: (0..sessions).map(session).collect::<Result<_, _>>()?,
        })
    }
}

/// Plays all games, on as many cores as there are.
pub(super) fn played(lessons: &Lessons, games: &[Game]) -> Vec<Played> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(game) = games.get(at) else { return done };
            done.push((at, Played { game: *game, fates: play(lessons, *game) }));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(games.len());
    let mut all: Vec<(usize, Played)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, played)| played).collect()
}

fn play(lessons: &Lessons, game: Game) -> Vec<Fate> {
    let mut draw = Draw::new(&[&game.seed.to_string(), "sessions"]);
    let topics: Vec<u64> = lessons.sessions.iter().map(|_| draw.between(0, TOPICS - 1)).collect();
    let kinds = CLASSES.iter().cycle().zip(0u64..);
    let fates = lessons.lessons.iter().zip(kinds).map(|(memory, (class, number))| {
        let topic = number / CLASSES.len() as u64 % TOPICS;
        let due = lessons.sessions.iter().zip(&topics).filter(|(_, of)| **of == topic).map(|(session, _)| session);
        fate(game, class, memory, due)
    });
    fates.collect()
}

/// Plays the sessions in which one lesson is due, until nobody has anything to learn from them any more. To a rule that
/// retired it, sessions after that are none.
fn fate<'s>(
    game: Game,
    class: &'static Class,
    memory: &MemoryId,
    due: impl Iterator<Item = &'s (RunId, Timestamp)>,
) -> Fate {
    let mut draw = Draw::new(&[&game.seed.to_string(), memory.as_str()]);
    let mut trial = Trial::new(memory);
    let mut fate = Fate { class, retired: [None; Rule::ALL.len()], covered: [None; LOOKS.len()] };
    for ((run, at), turn) in due.zip(1u64..) {
        let exposure = coin(game.seed, run, memory, game.holdout);
        let rate = if exposure == Exposure::Exposed { BASE + class.effect } else { BASE };
        let (came_back, is_unknown) = (draw.share() < rate, draw.share() < UNKNOWN);
        let effect = match (is_unknown, came_back) {
            (true, _) => Effect::Unknown,
            (false, true) => Effect::Recurred,
            (false, false) => Effect::Prevented,
        };
        trial.add(&facts(memory, run, *at, exposure, effect));
        for (look, covered) in LOOKS.iter().zip(&mut fate.covered) {
            if *look == turn {
                let found = trial.arms().estimate();
                *covered = found.map(|found| found.low <= class.effect && class.effect <= found.high);
            }
        }
        for (rule, retired) in Rule::ALL.iter().zip(&mut fate.retired) {
            if retired.is_none() && rule.retires(&trial) {
                *retired = Some(turn);
            }
        }
        let has_looked = LOOKS.iter().all(|look| *look <= turn);
        if has_looked && fate.retired.iter().all(Option::is_some) {
            break;
        }
    }
    fate
}

/// What a real session leaves in the ledger.
fn facts(memory: &MemoryId, run: &RunId, at: Timestamp, exposure: Exposure, effect: Effect) -> [Fact; 2] {
    let (point, rank, extra) = ("orchestrator".to_owned(), 1, Extra::new());
    [
        Fact::Injection { run: run.clone(), memory: memory.clone(), point, rank, exposure, at, extra },
        Fact::Effect { run: run.clone(), memory: memory.clone(), effect, at, extra: Extra::new() },
    ]
}
