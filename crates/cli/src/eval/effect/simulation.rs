//! Simulates sessions with lessons whose true effect is known.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use chrono::TimeDelta;

use super::retirement_rules::RetirementRule;
use crate::eval::seeded_choice::SeededRandom;
use archivist_core::domain::{Effect, Exposure, Extra, Fact, InvalidValue, MemoryId, RunId, Timestamp};
use archivist_core::recall::{LessonTrial, draw_exposure};

/// The rate at which a failure recurs in sessions without the lesson.
pub(super) const BASE: f64 = 0.3;
/// The share of sessions whose outcome is unknown.
pub(super) const UNKNOWN: f64 = 0.1;
/// The numbers of sessions with a due lesson after which its interval is compared with its true effect.
pub(super) const LOOKS: [u64; 3] = [50, 200, 800];

/// The number of topics; each session has one of them, and so has each lesson.
const TOPICS: u64 = 4;

/// A class of simulated lessons that have the same true effect.
#[derive(Debug)]
pub(super) struct EffectClass {
    pub(super) name: &'static str,
    pub(super) does: EffectDirection,
    /// The true change of the rate at which the failure recurs.
    pub(super) effect: f64,
}

/// The direction of a lesson's true effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectDirection {
    Good,
    Nothing,
    Harm,
}

pub(super) const CLASSES: [EffectClass; 5] = [
    EffectClass { name: "helps by 0.20", does: EffectDirection::Good, effect: -0.2 },
    EffectClass { name: "helps by 0.10", does: EffectDirection::Good, effect: -0.1 },
    EffectClass { name: "does nothing", does: EffectDirection::Nothing, effect: 0.0 },
    EffectClass { name: "harms by 0.10", does: EffectDirection::Harm, effect: 0.1 },
    EffectClass { name: "harms by 0.20", does: EffectDirection::Harm, effect: 0.2 },
];

/// The seed and the holdout share of one simulation.
#[derive(Debug, Clone, Copy)]
pub(super) struct SimulationSettings {
    pub(super) seed: u64,
    pub(super) holdout: f64,
}

/// The settings of a simulation and the result of every lesson in it.
#[derive(Debug)]
pub(super) struct SimulationResult {
    pub(super) game: SimulationSettings,
    pub(super) fates: Vec<SimulatedLessonResult>,
}

/// The result of one lesson in a simulation.
#[derive(Debug)]
pub(super) struct SimulatedLessonResult {
    pub(super) class: &'static EffectClass,
    /// The number of sessions with the lesson due after which each rule retired it.
    pub(super) retired: [Option<u64>; RetirementRule::ALL.len()],
    /// True at each look if the interval contains the true effect; `None` if there was no interval yet.
    pub(super) covered: [Option<bool>; LOOKS.len()],
}

/// The ids of the simulated lessons and sessions.
#[derive(Debug)]
pub(super) struct SimulationIds {
    lessons: Vec<MemoryId>,
    sessions: Vec<(RunId, Timestamp)>,
}

impl SimulationIds {
    pub(super) fn new(lessons: u64, sessions: u64) -> Result<Self, InvalidValue> {
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

/// Runs all simulations on all available cores and returns their results in order.
pub(super) fn run_simulations(lessons: &SimulationIds, games: &[SimulationSettings]) -> Vec<SimulationResult> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(game) = games.get(at) else { return done };
            done.push((at, SimulationResult { game: *game, fates: run_simulation(lessons, *game) }));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(games.len());
    let mut all: Vec<(usize, SimulationResult)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, played)| played).collect()
}

fn run_simulation(lessons: &SimulationIds, game: SimulationSettings) -> Vec<SimulatedLessonResult> {
    let mut draw = SeededRandom::new(&[&game.seed.to_string(), "sessions"]);
    let topics: Vec<u64> = lessons.sessions.iter().map(|_| draw.number_between(0, TOPICS - 1)).collect();
    let kinds = CLASSES.iter().cycle().zip(0u64..);
    let fates = lessons.lessons.iter().zip(kinds).map(|(memory, (class, number))| {
        let topic = number / CLASSES.len() as u64 % TOPICS;
        let due = lessons.sessions.iter().zip(&topics).filter(|(_, of)| **of == topic).map(|(session, _)| session);
        simulate_lesson(game, class, memory, due)
    });
    fates.collect()
}

/// Simulates the sessions in which one lesson is due, until every rule has retired it and every interval was compared.
/// Each rule retires the lesson at most once.
fn simulate_lesson<'s>(
    game: SimulationSettings,
    class: &'static EffectClass,
    memory: &MemoryId,
    due: impl Iterator<Item = &'s (RunId, Timestamp)>,
) -> SimulatedLessonResult {
    let mut draw = SeededRandom::new(&[&game.seed.to_string(), memory.as_str()]);
    let mut trial = LessonTrial::new(memory);
    let mut fate =
        SimulatedLessonResult { class, retired: [None; RetirementRule::ALL.len()], covered: [None; LOOKS.len()] };
    for ((run, at), turn) in due.zip(1u64..) {
        let exposure = draw_exposure(game.seed, run, memory, game.holdout);
        let rate = if exposure == Exposure::Exposed { BASE + class.effect } else { BASE };
        let (came_back, is_unknown) = (draw.next_fraction() < rate, draw.next_fraction() < UNKNOWN);
        let effect = match (is_unknown, came_back) {
            (true, _) => Effect::Unknown,
            (false, true) => Effect::Recurred,
            (false, false) => Effect::Prevented,
        };
        trial.add_facts(&build_ledger_facts(memory, run, *at, exposure, effect));
        for (look, covered) in LOOKS.iter().zip(&mut fate.covered) {
            if *look == turn {
                let found = trial.arms().estimate_effect();
                *covered = found.map(|found| found.low <= class.effect && class.effect <= found.high);
            }
        }
        for (rule, retired) in RetirementRule::ALL.iter().zip(&mut fate.retired) {
            if retired.is_none() && rule.should_retire(&trial) {
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

/// Returns the facts that a real session records in the ledger.
fn build_ledger_facts(memory: &MemoryId, run: &RunId, at: Timestamp, exposure: Exposure, effect: Effect) -> [Fact; 2] {
    let (point, rank, extra) = ("orchestrator".to_owned(), 1, Extra::new());
    [
        Fact::Injection { run: run.clone(), memory: memory.clone(), point, rank, exposure, at, extra },
        Fact::Effect { run: run.clone(), memory: memory.clone(), effect, at, extra: Extra::new() },
    ]
}
