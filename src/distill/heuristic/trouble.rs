//! Failures, each family once, with everything that is known about it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::claim::Place;
use super::cause::{self, Cause};
use super::remedy::{self, How, Remedy};
use super::scene::Scene;
use super::words::{any, is_empty_talk};
use crate::context::{Signal, SignalKind};
use crate::domain::{DropReason, EpisodeId, EpisodeStatus, ErrorFamily};

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;

/// From how many failures of one family on it is more than a slip.
const OFTEN: u32 = 3;

/// The same for limits that others set.
const OFTEN_LIMIT: u32 = 2;

/// In how many trajectories a remedy is looked for.
const TRIED: usize = 16;

/// Programs whose failures are everyday life.
const EVERYDAY: &str = "git|cp|mv|rm|mkdir|touch|ln|cd|curl|wget|tar|unzip|kill|pkill|killall|gh|sed|awk|xargs|tee|test|echo|ssh|\
    scp|find|lsof|sleep|wait|pgrep|which|true|chmod";

/// One family of failures.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) family: ErrorFamily,
    pub(super) class: String,
    pub(super) headline: String,
    pub(super) tool: String,
    pub(super) cause: Cause,
    /// The deeds that failed so, as far as they are kept.
    pub(super) deeds: Vec<usize>,
    /// Where it was seen, one place for each trajectory.
    pub(super) places: BTreeMap<u32, Place>,
    pub(super) times: u32,
    /// How often in a row, with nothing done between.
    pub(super) in_a_row: u32,
    /// Earlier episodes that met it.
    pub(super) earlier: Vec<EpisodeId>,
    /// Every episode of this context that met it.
    pub(super) episodes: BTreeSet<EpisodeId>,
    pub(super) remedy: Option<Remedy>,
    /// A test that cannot make up its mind: told as such.
    is_flaky: bool,
}

/// Why a failure is worth a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// The log shows what to do about it.
    Mended,
    /// It comes again and again.
    Recurring,
    /// The same was tried again and again.
    Loop,
}

/// All troubles, in the order in which they first came.
pub(super) fn collect(scene: &Scene<'_>) -> Vec<Trouble> {
    let mut troubles: Vec<Trouble> = Vec::new();
    let mut known: BTreeMap<ErrorFamily, usize> = BTreeMap::new();
    let mut slot = |troubles: &mut Vec<Trouble>, family: &ErrorFamily, fresh: &dyn Fn() -> Trouble| {
        *known.entry(family.clone()).or_insert_with(|| {
            troubles.push(fresh());
            troubles.len() - 1
        })
    };
    let signals = scene.context.signals.iter();
    let of_provider: Vec<&str> =
        signals.filter(|one| one.tool.as_deref() == Some("model")).filter_map(|one| one.quote.as_deref()).collect();
    for (index, deed) in scene.deeds.iter().enumerate() {
        let Some(fault) = deed.fault() else { continue };
        // A provider's words stand in a step of their own; its signal knows more.
        if deed.tool.is_empty() && of_provider.contains(&fault.headline.as_str()) {
            continue;
        }
        let fresh = || {
            let inner = deed.output.and_then(|output| cause::inner(&output.text, &fault.headline));
            let headline = inner.unwrap_or(&fault.headline);
            let mut trouble = Trouble::new(&fault.family, fault.class, headline, deed.tool);
            // What a check says without a known wording is about the code.
            if deed.is_check && trouble.cause == Cause::Unknown {
                trouble.cause = Cause::Code;
            }
            trouble
        };
        let at = slot(&mut troubles, &fault.family, &fresh);
        if let Some(trouble) = troubles.get_mut(at) {
            trouble.deeds.push(index);
            trouble.times = trouble.times.saturating_add(1);
            trouble.places.entry(deed.place.trajectory).or_insert(deed.place);
        }
    }
    for signal in &scene.context.signals {
        let Some(family) = &signal.error_family else { continue };
        let class = signal.error_class.as_deref().unwrap_or_default();
        let quote = signal.quote.as_deref().unwrap_or_default();
        let fresh = || Trouble::new(family, class, quote, signal.tool.as_deref().unwrap_or_default());
        let at = slot(&mut troubles, family, &fresh);
        if let Some(trouble) = troubles.get_mut(at) {
            trouble.heed(signal);
        }
    }
    for trouble in &mut troubles {
        trouble.episodes = trouble.places.keys().map(|index| scene.episode(*index)).collect();
        let earlier = scene.context.related_episodes.iter().filter(|one| one.error_families.contains(&trouble.family));
        trouble.earlier = earlier.map(|one| one.id.clone()).collect();
        trouble.remedy = trouble.find_remedy(scene);
    }
    troubles
}

/// Whether a provider says that it never takes such a request.
fn is_refusal(headline: &str) -> bool {
    const REFUSALS: &str =
        "exceeds|exceeded|maximum|too large|blocked|does not exist|invalid|not supported|unsupported|policy";
    let lower = headline.to_lowercase();
    any(REFUSALS, |words| lower.contains(words))
}

impl Trouble {
    fn new(family: &ErrorFamily, class: &str, headline: &str, tool: &str) -> Self {
        Self {
            family: family.clone(),
            class: class.to_owned(),
            headline: headline.to_owned(),
            tool: tool.to_owned(),
            cause: Cause::read(class, headline),
            deeds: Vec::new(),
            places: BTreeMap::new(),
            times: 0,
            in_a_row: 0,
            earlier: Vec::new(),
            episodes: BTreeSet::new(),
            remedy: None,
            is_flaky: false,
        }
    }

    /// Takes over what a signal knows: steps may be shed, signals are not.
    fn heed(&mut self, signal: &Signal) {
        let place = Place { trajectory: signal.trajectory, step: signal.step };
        let seen = signal.also.iter().map(|seen| Place { trajectory: seen.trajectory, step: seen.step });
        match signal.kind {
            SignalKind::RetryLoop => self.in_a_row = self.in_a_row.max(signal.times),
            SignalKind::FlakyTest => {
                self.is_flaky = !self.cause.is_limit();
                return;
            }
            SignalKind::Fixed => return,
            _ => {}
        }
        for place in seen.chain([place]) {
            self.places.entry(place.trajectory).or_insert(place);
        }
        self.times = self.times.max(signal.times);
    }

    /// The clearest remedy of any trajectory.
    fn find_remedy(&self, scene: &Scene<'_>) -> Option<Remedy> {
        let mut tried = BTreeSet::new();
        let mut best: Option<Remedy> = None;
        for &index in self.deeds.iter().rev() {
            let Some(deed) = scene.deeds.get(index) else { continue };
            let key = (deed.place.trajectory, deed.line.as_ref().map(|line| line.main().to_vec()));
            if tried.len() >= TRIED || !tried.insert(key) {
                continue;
            }
            match remedy::find(scene, index, &self.cause) {
                Some(found) if found.how.is_clear() => return Some(found),
                found => best = best.or(found),
            }
        }
        best
    }

    /// Whether a trajectory ended with it: it cost the run.
    fn is_last(&self, scene: &Scene<'_>) -> bool {
        const LAST_STEPS: u32 = 2;
        self.places.values().any(|place| {
            let last = scene.trajectory(place.trajectory).and_then(|one| one.steps.last()).map(|step| step.number);
            last.is_some_and(|last| place.step + LAST_STEPS >= last)
        })
    }

    /// How many episodes are known to have met it.
    pub(super) fn runs(&self) -> usize {
        self.episodes.len() + self.earlier.len()
    }

    /// Whether it is worth a lesson; if not, why not. `None` if nobody would have thought of it.
    pub(super) fn judged(&self, scene: &Scene<'_>) -> Option<Result<Worth, (DropReason, &'static str)>> {
        let deeds: Vec<_> = self.deeds.iter().filter_map(|index| scene.deeds.get(*index)).collect();
        if self.is_flaky || self.cause == Cause::Edit || self.headline.is_empty() {
            return None;
        }
        if !deeds.is_empty() && deeds.iter().all(|deed| deed.is_look) && !self.cause.is_limit() {
            return None;
        }
        if is_empty_talk(&self.headline) && !self.cause.is_limit() {
            return Some(Err((DropReason::Vague, "it says no more than that something failed")));
        }
        let one_off = Some(Err((DropReason::OneOff, "it happened once, or was mended in the code at hand")));
        let is_known = self.runs() >= 2;
        let has_failed = matches!(scene.context.episode.status, EpisodeStatus::Failed);
        let often = if self.cause.is_limit() { OFTEN_LIMIT } else { OFTEN };
        let is_often = self.times >= often || is_known;
        let how = self.remedy.as_ref().map(|remedy| &remedy.how);
        let is_clear = how.is_some_and(How::is_clear);
        let line = deeds.iter().rev().find_map(|deed| deed.line.as_ref());
        let is_everyday = line.is_some_and(|line| line.is_script || any(EVERYDAY, |known| known == line.program()));
        let is_own_matter =
            matches!(self.cause, Cause::Lock | Cause::Login | Cause::Version | Cause::Service | Cause::Program(_));
        if is_clear && (!is_everyday || is_own_matter) {
            return Some(Ok(if self.in_a_row >= OFTEN { Worth::Loop } else { Worth::Mended }));
        }
        if is_everyday && !is_known && !self.cause.is_limit() {
            return one_off;
        }
        let is_check = deeds.iter().any(|deed| deed.is_check);
        let worth = match self.cause {
            _ if self.cause.is_limit() => (is_often
                || (has_failed && self.cause != Cause::Patience && how.is_none() && self.is_last(scene)))
            .then_some(Worth::Recurring),
            // Code that was mended at last after several attempts, or that nobody could mend.
            Cause::Code => {
                let is_mended = matches!(how, Some(How::Code(_)));
                (is_known || (is_often && is_mended) || (is_often && is_check && has_failed))
                    .then_some(Worth::Recurring)
            }
            _ if self.in_a_row >= OFTEN => Some(Worth::Loop),
            // A provider that refuses what it is sent: the run does not have to fail for it. What is down comes back.
            _ if self.tool == "model" && is_refusal(&self.headline) => {
                (self.times >= OFTEN || is_known).then_some(Worth::Recurring)
            }
            Cause::Unknown => (is_known || (is_often && (has_failed || how.is_some()))).then_some(Worth::Recurring),
            _ => is_often.then_some(Worth::Recurring),
        };
        worth.map(Ok).or(one_off)
    }
}
