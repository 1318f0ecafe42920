//! Failures, each family once, with everything that is known about it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::claim::Place;
use super::cause::Cause;
use super::command::{Difference, Line, is_setting};
use super::headline;
use super::own;
use super::remedy::{self, How, Remedy};
use super::scene::{Deed, Scene};
use super::shown;
use super::words::{any, is_empty_talk};
use crate::context::{Signal, SignalKind, is_look};
use crate::distill::verify::find_destructive;
use crate::domain::{DropReason, EpisodeId, EpisodeStatus, ErrorFamily};

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;

/// From how many failures of one family on it is more than a slip.
const OFTEN: u32 = 3;

/// In so many runs a name that is not defined is more than a slip.
const RUNS: usize = 3;

/// The same for limits that others set.
const OFTEN_LIMIT: u32 = 2;

/// In how many trajectories a remedy is looked for.
const TRIED: usize = 16;

/// Programs whose failures are everyday life.
const EVERYDAY: &str = "git|cp|mv|rm|mkdir|touch|ln|cd|curl|wget|tar|unzip|kill|pkill|killall|gh|sed|awk|xargs|tee|test|echo|ssh|\
    scp|find|lsof|sleep|wait|pgrep|which|true|chmod";

/// Words that mean no more in a command for having been read before.
const HARMLESS: &str = "sudo|apt|apt-get|brew|python|python3|pip|pip3|venv|virtualenv|npm|pnpm|yarn|npx|uv|poetry|conda|cargo|\
    bundle|gem|node|nvm|use|install|update|upgrade|sync|add|cache|clean|login|activate|source|export";

/// So many deeds before a failure may have started what it waits for.
const JUST_STARTED: usize = 3;

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
    /// What came back was fetched from elsewhere, and what helped was not: the agent's own words tell it alone.
    pub(super) is_fetched: bool,
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
            let inner = deed.output.and_then(|output| headline::inner(&output.text, &fault.headline));
            let headline = inner.unwrap_or(&fault.headline);
            let mut trouble = Trouble::new(&fault.family, fault.class, headline, deed.tool);
            // What a check says without a known wording is about the code.
            if deed.is_check && trouble.cause == Cause::Unknown {
                trouble.cause = Cause::Code;
            }
            if deed.line.is_some() && Cause::is_forbidden(headline) && scene.is_sandboxed(deed.place.trajectory) {
                trouble.cause = Cause::Sandbox;
            }
            if matches!(&trouble.cause, Cause::Module(Some(name)) if own::is_of_project(scene, index, name)) {
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
        trouble.forget_what_was_fetched(scene);
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
            is_fetched: false,
            earlier: Vec::new(),
            episodes: BTreeSet::new(),
            remedy: None,
            is_flaky: false,
        }
    }

    /// Another agent that had the time for the same task, where this one ran out of it.
    pub(super) fn rival(&self, scene: &Scene<'_>) -> Option<String> {
        let first = self.places.keys().next().copied().unwrap_or_default();
        (self.cause == Cause::Time && self.tool != "model").then(|| scene.rival(first)).flatten()
    }

    /// Takes over what a signal knows: steps may be shed, signals are not.
    fn heed(&mut self, signal: &Signal) {
        let place = Place { trajectory: signal.trajectory, step: signal.step };
        let seen = signal.also.iter().map(|seen| Place { trajectory: seen.trajectory, step: seen.step });
        match signal.kind {
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
            // What is forbidden stays so, unless the same is done with something else set.
            let helps = |found: &Remedy| {
                self.cause != Cause::Sandbox || matches!(found.how, How::Instead(Difference::Before, _))
            };
            match remedy::find(scene, index, &self.cause).filter(helps) {
                Some(found) if found.how.is_clear() => return Some(found),
                found => best = best.or(found),
            }
        }
        best
    }

    /// A program that fetches, such as a package manager, repeats what others wrote. Where the agent found the way by
    /// itself, its own commands tell it, and not a word of theirs is needed.
    fn forget_what_was_fetched(&mut self, scene: &Scene<'_>) {
        let mut deeds = self.deeds.iter().filter_map(|index| scene.deeds.get(*index)).peekable();
        let is_fetched = deeds.peek().is_some() && deeds.all(|deed| deed.is_fetched() && deed.line.is_some());
        let Some(remedy) = self.remedy.as_ref().filter(|remedy| is_fetched && remedy.how.is_clear()) else { return };
        let Some(failed) = scene.deeds.get(remedy.failed) else { return };
        let run = failed.command().unwrap_or_default();
        let output = failed.output.map_or("", |output| output.text.as_str());
        // Its flags are the program's own; every other word that stands in what was fetched may be theirs.
        let is_theirs = |word: &str| {
            let is_flag = word.starts_with('-') && !word.contains('=');
            // Which variable is set is no secret of theirs; what it is set to may be.
            let word = word.split_once('=').filter(|_| is_setting(word)).map_or(word, |(_, value)| value);
            let pieces = word.split(|c: char| !c.is_alphanumeric()).filter(|piece| piece.len() > 2);
            let is_new = |piece: &&str| !any(HARMLESS, |known| known == *piece) && !run.contains(*piece);
            !is_flag && pieces.filter(is_new).any(|piece| output.contains(piece))
        };
        if remedy.commands(scene).iter().any(|command| command.split_whitespace().any(is_theirs)) {
            return;
        }
        self.is_fetched = true;
        match &mut self.cause {
            Cause::Module(name) | Cause::Program(name) | Cause::Variable(name) | Cause::Port(name) => {
                *name = name.take().filter(|name| run.contains(name.as_str()));
            }
            _ => {}
        }
    }

    /// Whether the log shows what somebody else could do about it.
    pub(super) fn is_mended(&self, scene: &Scene<'_>) -> bool {
        let Some(remedy) = self.remedy.as_ref().filter(|remedy| remedy.how.is_clear()) else { return false };
        if remedy.commands(scene).iter().any(|command| shown::is_secret(command) || find_destructive(command).is_some())
        {
            return false;
        }
        let is_once = self.times < 2 && self.runs() < 2;
        match (&self.cause, &remedy.how) {
            // Of an unknown cause nobody can say what helped, unless it said so itself.
            (Cause::Unknown, How::After(deeds)) if is_once => remedy::is_told_after(scene, remedy.failed, deeds),
            // Who edits and forgets to build learns nothing of the project.
            (Cause::Code | Cause::Unknown, How::After(deeds)) => !remedy::is_rebuilt(scene, remedy.failed, deeds),
            // Who lacks what shows a file looks at it in some other way, which shows something else.
            (Cause::Program(Some(name)), How::Instead(..)) => {
                let failed = scene.deeds.get(remedy.failed).and_then(Deed::command);
                let worked = scene.deeds.get(remedy.worked).and_then(Deed::command);
                !failed.is_some_and(is_look) || worked.is_some_and(|worked| worked.contains(name.as_str()))
            }
            // Who asks once may ask about anything.
            (_, How::Person) => self.times >= 2,
            // What was started a moment ago takes a moment.
            (Cause::Service | Cause::Network, How::Wait) => {
                let start = remedy.failed.saturating_sub(JUST_STARTED);
                !scene.deeds.iter().take(remedy.failed).skip(start).any(Deed::is_background)
            }
            _ => true,
        }
    }

    /// Says what a lesson about it rests on.
    pub(super) fn ground(&self, scene: &Scene<'_>) -> &'static str {
        let how = self.remedy.as_ref().filter(|_| self.is_mended(scene)).map(|remedy| &remedy.how);
        match how {
            Some(How::Instead(..)) => "the same done in another way passed",
            Some(How::After(_)) => "it passed after something else was done",
            Some(How::MoreTime(_) | How::Background | How::Wait) => "it passed when it was given time",
            Some(How::In(_)) => "it passed in another folder",
            Some(How::Person) => "only a person could clear it",
            _ if self.cause == Cause::Sandbox => "the agent's sandbox forbids it",
            _ if self.cause.is_limit() => "a limit that others set",
            _ => "nothing mended it",
        }
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
        // What made it pass was something that was done, and no chance.
        let is_chance = self.is_flaky && !matches!(&self.remedy, Some(Remedy { how: How::After(_), .. }));
        if is_chance || self.cause == Cause::Edit || self.headline.is_empty() {
            return None;
        }
        let is_missing_program = matches!(self.cause, Cause::Program(_));
        let is_look = !deeds.is_empty() && deeds.iter().all(|deed| deed.is_look);
        if is_look && !self.cause.is_limit() && !is_missing_program {
            return None;
        }
        if is_empty_talk(&self.headline) && !self.cause.is_limit() {
            return Some(Err((DropReason::Vague, "it says no more than that something failed")));
        }
        let one_off = Some(Err((DropReason::OneOff, "it happened once, or was mended in the code at hand")));
        let is_known = self.runs() >= 2;
        let has_failed = matches!(scene.context.episode.status, EpisodeStatus::Failed);
        let often = match self.cause {
            // How much a model reads does not change by itself; who is told the number knows it.
            Cause::Room if names_a_number(&self.headline) => 1,
            _ if self.cause.is_limit() => OFTEN_LIMIT,
            _ => OFTEN,
        };
        let is_often = self.times >= often || is_known;
        let how = self.remedy.as_ref().map(|remedy| &remedy.how);
        let is_clear = self.is_mended(scene);
        if let (Cause::Module(Some(name)), Some(first)) = (&self.cause, self.deeds.first())
            && own::brought_in(scene, *first, name)
        {
            return one_off;
        }
        let line = deeds.iter().rev().find_map(|deed| deed.line.as_ref());
        let is_everyday = line.is_some_and(|line| line.is_script || any(EVERYDAY, |known| known == line.program()));
        // Who asks for a state has to wait, or asks in another way.
        let is_asked_again = !self.cause.is_around()
            && matches!(how, Some(How::Instead(Difference::Flags, _) | How::In(_) | How::Person));
        if line.is_some_and(Line::asks) && !is_known && (self.cause == Cause::Time || is_asked_again) {
            return one_off;
        }
        let is_own_matter = matches!(
            self.cause,
            Cause::Lock | Cause::Login | Cause::Version | Cause::Service | Cause::Program(_) | Cause::Variable(_)
        );
        if is_clear && (!is_everyday || is_own_matter || how == Some(&How::Person)) {
            return Some(Ok(Worth::Mended));
        }
        if is_everyday && !is_known && !self.cause.is_limit() {
            return one_off;
        }
        // That nothing mended it is a fact for the record, unless others set the limit or it lies around the code.
        let is_told = match self.cause {
            _ if self.cause.is_limit() => {
                is_often || (has_failed && self.cause != Cause::Patience && how.is_none() && self.is_last(scene))
            }
            // A provider that refuses what it is sent: the run does not have to fail for it. What is down comes back.
            _ if self.tool == "model" && is_refusal(&self.headline) => is_often,
            Cause::Sandbox => true,
            Cause::Name(_) => self.runs() >= RUNS,
            _ => is_often && self.cause.is_around(),
        };
        let worth = is_told.then_some(Worth::Recurring);
        worth.map(Ok).or(one_off)
    }
}

/// Whether a message says how much is too much.
fn names_a_number(message: &str) -> bool {
    message.split(|c: char| !c.is_ascii_digit() && c != ',').any(|number| number.len() >= 4)
}
