//! Ranks signals and steps for when there is not room for everything.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::excerpt::lowercase_words;
use super::render::{find_error_lines, is_read_only_call};
use super::step_parts::{has_spoken_text, shown_texts};
use crate::context::signal::{Signal, SignalKind};
use crate::context::tool_action::ToolAction;
use crate::domain::{ErrorFamily, Speaker, Step, Trajectory};

#[cfg(test)]
#[path = "step_ranking_tests.rs"]
mod tests;

/// The number of signals of each kind that come before any kind gets more.
const ROUND: usize = 16;

/// The number of steps besides its best one that support a signal.
const WITNESSES: usize = 6;

/// The number of quotes that are searched for in one step.
const QUOTES: usize = 8;

/// The number of signals for which the step that holds the quote is searched.
const LOOKED_FOR: usize = 512;

/// The size up to which the outputs of a step count as small.
const SMALL_BYTES: usize = 800;

/// The length of a typical remark, in bytes.
const REMARK_BYTES: usize = 400;

/// A step: the index of its trajectory and its index within that.
pub(super) type Place = (usize, usize);

/// The signals and steps of a digest, ranked best first.
pub(super) struct DigestRanking<'a> {
    /// The signals in the order in which they are listed.
    pub(super) told: Vec<usize>,
    /// The signals in the order in which they get room.
    pub(super) wanted: Vec<usize>,
    /// The best step of each signal.
    pub(super) best: Vec<Place>,
    /// The other steps that support signals.
    pub(super) witnesses: Vec<Place>,
    /// Steps that failed or whose output has error lines, those near signals first.
    pub(super) failing: Vec<Place>,
    /// Steps in which a person says something, those near signals first.
    pub(super) users: Vec<Place>,
    /// Steps in which the agent says something, answers first.
    pub(super) spoken: Vec<Place>,
    /// All steps, those near signals first.
    pub(super) near: Vec<Place>,
    quotes: BTreeMap<Place, Vec<&'a str>>,
    /// The words of error lines, in lower case.
    pub(super) error: BTreeSet<String>,
    again: BTreeMap<Place, u32>,
}

impl<'a> DigestRanking<'a> {
    pub(super) fn new(trajectories: &[Trajectory], signals: &'a [Signal]) -> Self {
        let places = index_steps(trajectories);
        let place = |signal: &Signal, step: u32| places.get(&(signal.trajectory, step)).copied();
        let told = sort_by_rank(signals);
        let (wanted, repeats) = sort_in_rounds(signals, &told);
        let mut quotes: BTreeMap<Place, Vec<&'a str>> = BTreeMap::new();
        let (mut best, mut witnesses, mut repeated) =
            (UniquePlaces::default(), UniquePlaces::default(), UniquePlaces::default());
        let mut rounds: Vec<Vec<Place>> = Vec::new();
        for at in &wanted {
            let Some(signal) = signals.get(*at) else { continue };
            let rest = supporting_steps(signal);
            let is_repeat = repeats.contains(at);
            let main = place(signal, signal.step);
            if is_repeat { &mut repeated } else { &mut best }.extend(main);
            let mut rest: Vec<Place> = rest.into_iter().filter_map(|step| place(signal, step)).collect();
            if let Some(quote) = signal.quote.as_deref().map(str::trim).filter(|quote| !quote.is_empty()) {
                for place in main.iter().chain(&rest) {
                    let known = quotes.entry(*place).or_default();
                    if known.len() < QUOTES && !known.contains(&quote) {
                        known.push(quote);
                    }
                }
                if !is_repeat
                    && rounds.len() < LOOKED_FOR
                    && !main.is_some_and(|main| contains_quote(trajectories, main, quote))
                {
                    rest.sort_by_key(|place| !contains_quote(trajectories, *place, quote));
                }
            }
            if is_repeat { repeated.extend(rest) } else { rounds.push(rest) }
        }
        for round in 0..WITNESSES {
            witnesses.extend(rounds.iter().filter_map(|rest| rest.get(round).copied()));
        }
        let near = sort_by_nearness(trajectories, signals, &places);
        let said_by = |speaker: Speaker| {
            let is_said = |(trajectory, step): &Place| {
                let step = trajectories.get(*trajectory).and_then(|trajectory| trajectory.steps.get(*step));
                step.is_some_and(|step| step.speaker == speaker && has_spoken_text(step))
            };
            near.iter().copied().filter(is_said).collect()
        };
        let users: Vec<Place> = said_by(Speaker::User);
        let mut spoken: Vec<Place> = said_by(Speaker::Agent);
        // Answers come first, then remarks between calls, short before long.
        spoken.sort_by_key(|(trajectory, step)| {
            let step = trajectories.get(*trajectory).and_then(|trajectory| trajectory.steps.get(*step));
            step.map(|step| {
                (!step.calls.is_empty(), step.text.len() / REMARK_BYTES * usize::from(!step.calls.is_empty()))
            })
        });
        witnesses.extend(repeated.list);
        let mut error = BTreeSet::new();
        let complains = |(trajectory, step): &Place| {
            let step = trajectories.get(*trajectory).and_then(|trajectory| trajectory.steps.get(*step));
            let (has_failed, lines) = step.map(find_error_lines).unwrap_or_default();
            error.extend(lines.iter().flat_map(|line| lowercase_words(line)));
            has_failed || !lines.is_empty()
        };
        let failing: Vec<Place> = near.iter().copied().filter(complains).collect();
        let again = find_repeated_commands(trajectories);
        Self {
            told,
            wanted,
            best: best.list,
            witnesses: witnesses.list,
            failing,
            users,
            spoken,
            near,
            quotes,
            error,
            again,
        }
    }

    /// Returns the quotes of signals that should be found in this step.
    pub(super) fn step_quotes(&self, place: Place) -> &[&'a str] {
        self.quotes.get(&place).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the step that gave the same command before this one.
    pub(super) fn earlier_same_command(&self, place: Place) -> Option<u32> {
        self.again.get(&place).copied()
    }
}

#[derive(Default)]
struct UniquePlaces {
    known: BTreeSet<Place>,
    list: Vec<Place>,
}

impl UniquePlaces {
    fn extend(&mut self, places: impl IntoIterator<Item = Place>) {
        for place in places {
            if self.known.insert(place) {
                self.list.push(place);
            }
        }
    }
}

/// Returns true if a step contains a quote.
fn contains_quote(trajectories: &[Trajectory], (index, at): Place, quote: &str) -> bool {
    let step = trajectories.get(index).and_then(|trajectory| trajectory.steps.get(at));
    step.is_some_and(|step| shown_texts(step).iter().any(|text| text.contains(quote)))
}

fn index_steps(trajectories: &[Trajectory]) -> BTreeMap<(u32, u32), Place> {
    let mut places = BTreeMap::new();
    for (index, (trajectory, number)) in trajectories.iter().zip(0_u32..).enumerate() {
        for (at, step) in trajectory.steps.iter().enumerate().filter(|(_, step)| !step.copied) {
            places.entry((number, step.number)).or_insert((index, at));
        }
    }
    places
}

fn rank_kind(kind: &SignalKind) -> usize {
    match kind {
        SignalKind::RepeatedFailure => 0,
        SignalKind::Fixed => 1,
        SignalKind::UserCorrection => 2,
        SignalKind::FlakyTest => 3,
        SignalKind::RetryLoop => 4,
        SignalKind::Timeout => 5,
        SignalKind::RateLimit => 6,
        SignalKind::ContextWindow => 7,
        SignalKind::FailedCall => 8,
        SignalKind::EditReverted => 9,
        SignalKind::VerificationFailed => 10,
        SignalKind::VerificationPassed => 11,
        SignalKind::CostlyStep => 12,
        SignalKind::SlowCall => 13,
        SignalKind::Other(_) => 14,
    }
}

/// Sorts signals by the rank of their kind, then by how often they occurred.
fn sort_by_rank(signals: &[Signal]) -> Vec<usize> {
    let mut told: Vec<(usize, &Signal)> = signals.iter().enumerate().collect();
    told.sort_by_key(|(at, signal)| {
        (rank_kind(&signal.kind), std::cmp::Reverse(signal.times), signal.trajectory, signal.step, *at)
    });
    told.into_iter().map(|(at, _)| at).collect()
}

/// Sorts signals in rounds, so that no kind crowds out the others: each kind gets a round before the next one begins,
/// and repeats of a failure come last. Of signals that look alike, the first and the last are not repeats.
fn sort_in_rounds(signals: &[Signal], told: &[usize]) -> (Vec<usize>, BTreeSet<usize>) {
    let mut alike: BTreeMap<(usize, &ErrorFamily), Vec<usize>> = BTreeMap::new();
    for at in told {
        if let Some((signal, family)) =
            signals.get(*at).and_then(|signal| Some((signal, signal.error_family.as_ref()?)))
        {
            alike.entry((rank_kind(&signal.kind), family)).or_default().push(*at);
        }
    }
    let mut repeats = BTreeSet::new();
    for mut group in alike.into_values() {
        group.sort_by_key(|at| signals.get(*at).map(|signal| (signal.trajectory, signal.step)));
        let middle = group.len().saturating_sub(2);
        repeats.extend(group.into_iter().skip(1).take(middle));
    }
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut wanted: Vec<((bool, usize), usize)> = Vec::new();
    for at in told {
        let is_repeat = repeats.contains(at);
        let count = seen.entry(signals.get(*at).map_or(0, |signal| rank_kind(&signal.kind))).or_default();
        wanted.push(((is_repeat, *count / ROUND), *at));
        *count += usize::from(!is_repeat);
    }
    wanted.sort_by_key(|(key, _)| *key);
    (wanted.into_iter().map(|(_, at)| at).collect(), repeats)
}

/// Returns the steps that support a signal besides its best one: both ends, then from the last one back, because what
/// came just before the end explains it.
fn supporting_steps(signal: &Signal) -> Vec<u32> {
    let mut rest: Vec<u32> = Vec::new();
    let ends = [signal.steps.first(), signal.steps.last()].into_iter().flatten();
    let is_many = matches!(signal.kind, SignalKind::RepeatedFailure | SignalKind::RetryLoop);
    let between = signal.steps.iter().rev().take(if is_many { 0 } else { WITNESSES + 2 });
    for step in ends.chain(between) {
        if *step != signal.step && !rest.contains(step) && rest.len() < WITNESSES {
            rest.push(*step);
        }
    }
    rest
}

/// Finds the steps that repeat the command of an earlier step; most of them wait for its result.
fn find_repeated_commands(trajectories: &[Trajectory]) -> BTreeMap<Place, u32> {
    let mut again = BTreeMap::new();
    for (index, trajectory) in trajectories.iter().enumerate() {
        let mut given: HashMap<String, u32> = HashMap::new();
        for (at, step) in trajectory.steps.iter().enumerate().filter(|(_, step)| !step.copied) {
            if let [call] = step.calls.as_slice()
                && let ToolAction::Run { command } = ToolAction::from_call(&call.tool, &call.arguments)
            {
                let first = *given.entry(command).or_insert(step.number);
                if first != step.number {
                    again.insert((index, at), first);
                }
            }
        }
    }
    again
}

/// A rank of how much the outputs of a step are likely to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NewsRank {
    /// The step ran something with little output, some of it new.
    SmallRun,
    /// The step ran something with more output.
    LongRun,
    /// The step only read or said something, with little output.
    SmallLook,
    /// The step repeated an earlier command.
    Again,
    /// The step only read something, with more output.
    Look,
    /// The outputs contain nothing new.
    Nothing,
}

/// Ranks the steps of a trajectory by what they ran and what it returned.
fn rank_news(steps: &[Step]) -> Vec<NewsRank> {
    let (mut seen, mut told): (HashSet<String>, HashSet<String>) = Default::default();
    let mut ranks = Vec::with_capacity(steps.len());
    for step in steps {
        let outputs = || step.calls.iter().filter_map(|call| call.output.as_ref()).chain(&step.outputs);
        // Process numbers and times do not count as new.
        let lines = outputs().flat_map(|output| output.text.lines());
        let lines = lines.map(|line| line.replace(|c: char| c.is_ascii_digit() || c.is_whitespace(), ""));
        let has_news = lines.filter(|line| !line.is_empty() && seen.insert(line.clone())).count() > 0;
        let bytes: usize = outputs().map(|output| output.text.len()).sum();
        let is_again = has_news
            && step.calls.iter().all(|call| match ToolAction::from_call(&call.tool, &call.arguments) {
                ToolAction::Run { command } => !told.insert(command),
                _ => false,
            });
        ranks.push(match step.calls.iter().all(is_read_only_call) {
            true if bytes <= SMALL_BYTES => NewsRank::SmallLook,
            true => NewsRank::Look,
            false if !has_news => NewsRank::Nothing,
            false if is_again => NewsRank::Again,
            false if bytes <= SMALL_BYTES => NewsRank::SmallRun,
            false => NewsRank::LongRun,
        });
    }
    ranks
}

/// Sorts all steps that are not copies, those near signals first, or else those near the beginning and the end.
fn sort_by_nearness(
    trajectories: &[Trajectory],
    signals: &[Signal],
    places: &BTreeMap<(u32, u32), Place>,
) -> Vec<Place> {
    let mut at_signal = BTreeSet::new();
    for signal in signals {
        let steps = signal.steps.iter().chain([&signal.step]);
        at_signal.extend(steps.filter_map(|step| places.get(&(signal.trajectory, *step)).copied()));
    }
    let mut near = Vec::new();
    for (index, trajectory) in trajectories.iter().enumerate() {
        let count = trajectory.steps.len();
        let mut distances = vec![usize::MAX; count];
        let anchors: Vec<usize> = at_signal.range((index, 0)..(index + 1, 0)).map(|(_, at)| *at).collect();
        let is_quiet = anchors.is_empty();
        let is_anchor =
            |at: usize| if is_quiet { at == 0 || at + 1 == count } else { at_signal.contains(&(index, at)) };
        let mut since = usize::MAX;
        for (at, distance) in distances.iter_mut().enumerate() {
            since = if is_anchor(at) { 0 } else { since.saturating_add(1) };
            *distance = since;
        }
        since = usize::MAX;
        for (at, distance) in distances.iter_mut().enumerate().rev() {
            since = if is_anchor(at) { 0 } else { since.saturating_add(1) };
            *distance = since.min(*distance);
        }
        let ranks = rank_news(&trajectory.steps).into_iter().zip(distances);
        let steps = trajectory.steps.iter().zip(ranks).enumerate().filter(|(_, (step, _))| !step.copied);
        near.extend(steps.map(|(at, (_, (rank, distance)))| (is_quiet, rank, distance, index, at)));
    }
    near.sort_unstable();
    near.into_iter().map(|(_, _, _, index, at)| (index, at)).collect()
}
