//! Where the words of a lesson come from, whatever it quotes.
//!
//! A model that obeys a text in the log will not say so: it quotes an innocent line. So the words of what is advised are
//! traced through the log. Who said them first decides: an agent that repeats a web page speaks for the web page.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use aho_corasick::AhoCorasick;

use super::addresses::addresses_in;
use super::clean::visible;
use super::generic::is_generic;
use super::orders::{Order, is_order};
use super::own_forge::shows_own_project;
use super::pasted;
use crate::context::{Action, Passage, ReflectionContext, SignalKind, passages};
use crate::distill::claim::Place;
use crate::domain::{Call, EvidenceLevel, Step, Timestamp, TrustClass};
use crate::text::Cutter;

#[cfg(test)]
#[path = "provenance_tests.rs"]
mod tests;

/// So many words in a row are nobody's chance.
const SHINGLE: usize = 4;

/// Words of one lesson that are traced.
const MAX_WORDS: usize = 400;

/// A stretch of an output in which words belong together.
const WINDOW_BYTES: usize = 800;

/// What share of the advised words may come from one stretch of a stranger's text.
const STRANGE_SHARE: f64 = 0.5;

/// The same for what a build, a test run or a failed command printed: what failed is described in its words.
const FAILURE_SHARE: f64 = 0.7;

/// So many stretches in a row are looked at together, and so much more must then come from them.
const MAX_STRETCHES: usize = 4;
const WIDER_SHARE: f64 = 0.1;

/// Lessons are given before anything happens; only what a person says is known earlier.
///
/// They are taken in without the runs of words in them: what is decided anew says much as the old decision did.
const GIVEN_AT: usize = 1;

type Word = u32;
type Run = [Word; SHINGLE];

/// A text of a lesson: all of it, and what of it is advice rather than a description of what failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traced<'t> {
    pub(super) whole: &'t str,
    pub(super) advice: &'t str,
}

/// A stranger's text that a lesson rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taint {
    pub(super) place: Place,
    pub(super) trust: TrustClass,
    pub(super) is_foreign: bool,
    /// What that text orders its reader to do.
    pub(super) order: Option<Order>,
    /// The words that lead there.
    pub(super) words: String,
}

/// A stretch of what a stranger wrote.
#[derive(Debug)]
struct Window {
    moment: usize,
    /// Which of all passages it is part of.
    passage: usize,
    place: Place,
    trust: TrustClass,
    /// Whether it says what failed.
    is_failure: bool,
    /// Whether somebody else wrote it, or a machine far away that does not work for the project.
    is_foreign: bool,
    words: Vec<Word>,
    runs: Vec<Run>,
    text: String,
    order: OnceCell<Option<Order>>,
}

impl Window {
    /// What it orders its reader to do. Looked for only where something rests on it.
    fn order(&self) -> Option<Order> {
        *self.order.get_or_init(|| is_order(&self.text))
    }
}

/// Something the agent did: a command that passed, an edit that was made.
#[derive(Debug, Clone, Copy)]
struct Deed {
    moment: usize,
    /// Whether what had failed before passed after it.
    is_confirmed: bool,
}

/// The words of one text of a lesson.
#[derive(Debug)]
struct Sought {
    /// Those that tell something, where there are any.
    words: HashSet<Word>,
    runs: HashSet<Run>,
    /// Whether a file, a line or a test is among them: a failure names such, and few other words.
    names_a_place: bool,
}

/// Where every word of some lessons was said first.
#[derive(Debug, Default)]
pub(super) struct Provenance {
    known: HashMap<String, Word>,
    generic: HashSet<Word>,
    /// From which moment on a word, or a run of words, is the user's or the agent's own.
    owned: HashMap<Word, usize>,
    owned_runs: HashMap<Run, usize>,
    /// Until which moment the agent went on using a word, in what it said or did.
    taken_up: HashMap<Word, usize>,
    deeds: HashMap<Word, Vec<Deed>>,
    windows: Vec<Window>,
    /// Addresses: the moment from which they are our own, and where a stranger names them first.
    own_addresses: HashMap<String, usize>,
    strange_addresses: HashMap<String, (usize, Place, TrustClass)>,
}

impl Provenance {
    /// Traces the words of all lessons in one pass over the log.
    pub(super) fn trace<'t>(context: &ReflectionContext, texts: impl Iterator<Item = &'t str>) -> Self {
        let mut provenance = Self::default();
        let mut cutter = Cutter::default();
        let mut wanted: HashSet<Run> = HashSet::new();
        let mut addresses: Vec<String> = Vec::new();
        for text in texts {
            let mut words = Vec::new();
            for word in sequence(text, &mut cutter).into_iter().take(MAX_WORDS) {
                let next = Word::try_from(provenance.known.len()).unwrap_or(Word::MAX);
                words.push(*provenance.known.entry(word).or_insert(next));
            }
            wanted.extend(runs(&words));
            addresses.extend(addresses_in(text));
        }
        // A single letter is a flag or the rest of a word.
        let is_empty = |text: &str| is_generic(text) || (text.is_ascii() && text.len() == 1);
        provenance.generic =
            provenance.known.iter().filter(|(text, _)| is_empty(text)).map(|(_, word)| *word).collect();
        addresses.sort();
        addresses.dedup();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&addresses).ok();
        let confirmed = Confirmed::new(context);
        for text in &context.given {
            let mut hearing =
                Hearing { provenance: &mut provenance, cutter: &mut cutter, wanted: &HashSet::new(), moment: GIVEN_AT };
            let unknown = Place { trajectory: 0, step: 0 };
            hearing.windows(&visible(text), unknown, &TrustClass::InjectedMemory, false, true);
        }
        for (moment, heard) in in_order(context).into_iter().enumerate() {
            let mut hearing = Hearing { provenance: &mut provenance, cutter: &mut cutter, wanted: &wanted, moment };
            for passage in passages(heard.step).into_iter().filter(|passage| heard.has(&passage.trust)) {
                let text = visible(&passage.text);
                for (text, trust) in mouths(&text, &passage) {
                    if let Some(finder) = &finder {
                        for found in finder.find_overlapping_iter(text) {
                            if let Some(address) = addresses.get(found.pattern().as_usize()) {
                                hearing.address(address, heard.place, trust);
                            }
                        }
                    }
                    match trust {
                        TrustClass::User | TrustClass::Agent => hearing.own(text, trust),
                        _ => hearing.strange(text, &heard, trust, &confirmed),
                    }
                }
            }
            if heard.is_said {
                hearing.deeds(heard.step, heard.place, &confirmed);
            }
        }
        provenance
    }

    /// The strangers' texts that a text rests on, the weightiest first.
    pub(super) fn taints(&self, text: Traced<'_>) -> Vec<Taint> {
        let mut cutter = Cutter::default();
        let whole = self.words(text.whole, &mut cutter);
        let advice = self.words(text.advice, &mut cutter);
        let mut taints: Vec<(bool, Taint)> = self.address_taints(text.whole).map(|taint| (true, taint)).collect();
        let strange: Vec<Vec<Word>> = self
            .windows
            .iter()
            .map(|window| self.strange(if window.is_failure { &advice } else { &whole }, window))
            .collect();
        for (at, window) in self.windows.iter().enumerate() {
            let sought = if window.is_failure { &advice } else { &whole };
            if let Some(words) = self.run_of(sought, window).or_else(|| self.much_of(sought, at, &strange)) {
                let order = window.order();
                let Window { place, ref trust, is_foreign, .. } = *window;
                let taint = Taint { place, trust: trust.clone(), is_foreign, order, words: self.say(&words) };
                taints.push((order.is_some(), taint));
            }
        }
        taints.sort_by_key(|(is_grave, _)| !is_grave);
        taints.into_iter().map(|(_, taint)| taint).collect()
    }

    fn words(&self, text: &str, cutter: &mut Cutter) -> Sought {
        let mut sequence = sequence(text, cutter);
        sequence.truncate(MAX_WORDS);
        let words: Vec<Word> = sequence.iter().filter_map(|word| self.known.get(word).copied()).collect();
        let runs = runs(&words).collect();
        let telling: HashSet<Word> = words.iter().copied().filter(|word| !self.generic.contains(word)).collect();
        let names_a_place = sequence.iter().any(|word| word.contains(['.', '/']));
        Sought { runs, words: if telling.is_empty() { words.into_iter().collect() } else { telling }, names_a_place }
    }

    fn say(&self, words: &[Word]) -> String {
        let mut said: Vec<(&Word, &str)> = self
            .known
            .iter()
            .filter(|(_, word)| words.contains(word))
            .map(|(text, word)| (word, text.as_str()))
            .collect();
        said.sort_unstable();
        said.into_iter().take(6).map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    /// Words in a row that a text and a stretch have in common, and that are not our own.
    fn run_of(&self, sought: &Sought, window: &Window) -> Option<Vec<Word>> {
        let is_strange = |run: &&Run| sought.runs.contains(*run) && !self.is_own_run(run, window);
        window.runs.iter().find(is_strange).map(|run| run.to_vec())
    }

    /// The words that a text and a stretch have in common, and that are not our own.
    fn strange(&self, sought: &Sought, window: &Window) -> Vec<Word> {
        let is_strange = |word: &Word| sought.words.contains(word) && !self.is_own(*word, window);
        window.words.iter().copied().filter(is_strange).collect()
    }

    /// The strange words of a stretch, or of it and those behind it, if they are too many of those that a text has.
    fn much_of(&self, sought: &Sought, at: usize, strange: &[Vec<Word>]) -> Option<Vec<Word>> {
        let window = self.windows.get(at)?;
        let counted = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
        let (share, least) = if window.is_failure { (FAILURE_SHARE, 3) } else { (STRANGE_SHARE, 2) };
        if window.is_failure && sought.words.len() < least && sought.names_a_place {
            return None;
        }
        let mut words: Vec<Word> = Vec::new();
        for (wider, more) in (0_u32..).zip(strange.get(at..)?.iter().take(MAX_STRETCHES)) {
            let next = self.windows.get(at + usize::try_from(wider).ok()?)?;
            if next.passage != window.passage {
                break;
            }
            words.extend(more);
            words.sort_unstable();
            words.dedup();
            let share = share + if wider == 0 { 0.0 } else { WIDER_SHARE };
            let is_much = counted(words.len()) >= share * counted(sought.words.len());
            if is_much && !words.is_empty() && words.len() >= least.min(sought.words.len()) {
                return Some(words);
            }
        }
        None
    }

    /// Whether one of ours said the word before the stretch was read, or did something with it that worked.
    fn is_own(&self, word: Word, window: &Window) -> bool {
        let is_said = self.owned.get(&word).is_some_and(|moment| *moment < window.moment);
        is_said || self.is_done(word, window, window.is_foreign) || self.is_taken_up(word, window)
    }

    /// Tells whether the agent went on with a word that the project's own files or commands showed it. Whoever finds
    /// something out reads it in an output first. What strangers wrote, and what orders its reader about, stays theirs.
    fn is_taken_up(&self, word: Word, window: &Window) -> bool {
        let is_later = self.taken_up.get(&word).is_some_and(|moment| *moment > window.moment);
        is_later && !window.is_foreign && window.order().is_none()
    }

    /// The same for words in a row. That somebody did as a text said is no proof that the text was right: unless a build
    /// said so, it takes a failure that was gone afterwards.
    fn is_own_run(&self, run: &Run, window: &Window) -> bool {
        let is_said = self.owned_runs.get(run).is_some_and(|moment| *moment < window.moment);
        let needs_proof = window.trust != TrustClass::BuildOutput;
        let taken_up = run.iter().filter(|word| self.is_taken_up(**word, window)).count();
        is_said || taken_up * 2 >= run.len() || run.iter().all(|word| self.is_done(*word, window, needs_proof))
    }

    fn is_done(&self, word: Word, window: &Window, needs_proof: bool) -> bool {
        let is_proof = |deed: &Deed| deed.moment > window.moment && (deed.is_confirmed || !needs_proof);
        self.deeds.get(&word).is_some_and(|deeds| deeds.iter().any(is_proof)) && window.order().is_none()
    }

    /// Addresses that no one of ours named first. What was done with those of strangers proves nothing: it may have been
    /// the harm. Those in the project's own files and outputs are its own once the agent names them too.
    fn address_taints(&self, text: &str) -> impl Iterator<Item = Taint> {
        addresses_in(text).into_iter().filter_map(|address| {
            let (moment, place, trust) = self.strange_addresses.get(&address)?;
            let is_own = self.own_addresses.get(&address).is_some_and(|own| own < moment || !is_foreign(trust));
            let (place, trust, is_foreign) = (*place, trust.clone(), is_foreign(trust));
            (!is_own).then_some(Taint { place, trust, is_foreign, order: None, words: address })
        })
    }

    /// Addresses that stand nowhere in the log.
    pub(super) fn invented(&self, text: &str) -> Option<String> {
        let is_known =
            |address: &String| self.own_addresses.contains_key(address) || self.strange_addresses.contains_key(address);
        addresses_in(text).into_iter().find(|address| !is_known(address))
    }
}

/// The words of a passage, and whose they are: what somebody only passes on is not theirs.
fn mouths<'t>(text: &'t str, passage: &'t Passage<'_>) -> Vec<(&'t str, &'t TrustClass)> {
    let is_message = matches!(passage.trust, TrustClass::User | TrustClass::Agent);
    // What is called or written is the agent's own doing.
    if !is_message || passage.level != EvidenceLevel::Reasoning {
        return vec![(text, &passage.trust)];
    }
    let whose = |part: &pasted::Part<'t>| (part.text, if part.is_strange { &pasted::CLASS } else { &passage.trust });
    pasted::parts(text, &passage.trust).iter().map(whose).collect()
}

/// Somebody else's words, or a machine's far away.
fn is_foreign(trust: &TrustClass) -> bool {
    matches!(trust, TrustClass::Web | TrustClass::OtherAgent | TrustClass::InjectedMemory | TrustClass::Other(_))
}

/// One step, either what was said and called in it or what came back.
#[derive(Debug, Clone, Copy)]
struct Heard<'c> {
    step: &'c Step,
    place: Place,
    /// The address of the project's repository, where the log names it, and the folder of the session.
    project: [Option<&'c str>; 2],
    is_said: bool,
}

impl Heard<'_> {
    fn has(&self, trust: &TrustClass) -> bool {
        matches!(trust, TrustClass::User | TrustClass::Agent) == self.is_said
    }
}

/// Everything in the order in which the agents got to know it: what came back is known when the next step is taken.
fn in_order(context: &ReflectionContext) -> Vec<Heard<'_>> {
    let mut heard: Vec<(Timestamp, Heard<'_>)> = Vec::new();
    for (trajectory, one) in context.trajectories.iter().enumerate() {
        let trajectory = u32::try_from(trajectory).unwrap_or(u32::MAX);
        let mut at = one.about.started_at.unwrap_or(context.episode.started_at);
        let project = [one.about.repository.as_deref(), one.about.directory.as_deref()];
        let mut times: Vec<Timestamp> = Vec::with_capacity(one.steps.len() + 1);
        for step in &one.steps {
            at = step.at.map_or(at, |own| own.max(at));
            times.push(at);
        }
        times.push(at);
        for (step, between) in one.steps.iter().zip(times.windows(2)) {
            let [said_at, known_at] = between else { continue };
            let place = Place { trajectory, step: step.number };
            heard.push((*said_at, Heard { step, place, project, is_said: true }));
            heard.push((*known_at, Heard { step, place, project, is_said: false }));
        }
    }
    // Times never fall within a trajectory, so its own order stands; without times, that of the trajectories.
    heard.sort_by_key(|(at, _)| *at);
    heard.into_iter().map(|(_, heard)| heard).collect()
}

/// What is known of failures and of what mended them.
#[derive(Debug, Default)]
struct Confirmed {
    failed: BTreeSet<Place>,
    /// From the failure to the pass: a trajectory, its first and its last step.
    mended: Vec<(u32, u32, u32)>,
}

impl Confirmed {
    fn new(context: &ReflectionContext) -> Self {
        let mut known = Self::default();
        for signal in &context.signals {
            let at = |step: u32| Place { trajectory: signal.trajectory, step };
            match signal.kind {
                SignalKind::Fixed => {
                    let first = signal.steps.iter().min().copied().unwrap_or(signal.step);
                    let last = signal.steps.iter().max().copied().unwrap_or(signal.step);
                    known.mended.push((signal.trajectory, first, last));
                    known.failed.insert(at(first));
                }
                SignalKind::FailedCall
                | SignalKind::Timeout
                | SignalKind::RateLimit
                | SignalKind::RetryLoop
                | SignalKind::RepeatedFailure
                | SignalKind::VerificationFailed => {
                    known.failed.insert(at(signal.step));
                    known.failed.extend(signal.steps.iter().map(|step| at(*step)));
                }
                _ => {}
            }
        }
        known
    }

    fn is_mended_by(&self, place: Place) -> bool {
        self.mended.iter().any(|(trajectory, first, last)| {
            *trajectory == place.trajectory && *first < place.step && place.step <= *last
        })
    }
}

/// Takes in one step.
struct Hearing<'p> {
    provenance: &'p mut Provenance,
    cutter: &'p mut Cutter,
    wanted: &'p HashSet<Run>,
    moment: usize,
}

impl Hearing<'_> {
    /// Words of the user count whenever they were said; nobody puts words into a person's mouth.
    fn own(&mut self, text: &str, trust: &TrustClass) {
        let moment = if *trust == TrustClass::User { 0 } else { self.moment };
        let words = self.known(text);
        for run in known_runs(&words).filter(|run| self.wanted.contains(run)) {
            let first = self.provenance.owned_runs.entry(run).or_insert(moment);
            *first = (*first).min(moment);
        }
        for word in self.parts(text) {
            let first = self.provenance.owned.entry(word).or_insert(moment);
            *first = (*first).min(moment);
        }
        if *trust == TrustClass::Agent {
            let named = words.into_iter().flatten().chain(self.parts(text));
            self.provenance.taken_up.extend(named.map(|word| (word, moment)));
        }
    }

    fn strange(&mut self, text: &str, heard: &Heard<'_>, trust: &TrustClass, confirmed: &Confirmed) {
        let is_failure = *trust == TrustClass::BuildOutput
            || (runs_only(heard.step) && (confirmed.failed.contains(&heard.place) || has_failed(heard.step)));
        let is_foreign =
            is_foreign(trust) && !(*trust == TrustClass::Web && shows_own_project(heard.step, &heard.project));
        self.windows(text, heard.place, trust, is_failure, is_foreign);
    }

    /// Takes in the stretches of a stranger's text.
    fn windows(&mut self, text: &str, place: Place, trust: &TrustClass, is_failure: bool, is_foreign: bool) {
        let passage = self.provenance.windows.last().map_or(0, |last| last.passage + 1);
        for stretch in windows(text) {
            let sequence = self.known(stretch);
            let runs: Vec<Run> = known_runs(&sequence).filter(|run| self.wanted.contains(run)).collect();
            let mut words: Vec<Word> = sequence.into_iter().flatten().collect();
            words.sort_unstable();
            words.dedup();
            if words.is_empty() {
                continue;
            }
            let (moment, trust, text) = (self.moment, trust.clone(), stretch.to_owned());
            let order = OnceCell::new();
            self.provenance.windows.push(Window {
                moment,
                passage,
                place,
                trust,
                is_failure,
                is_foreign,
                words,
                runs,
                text,
                order,
            });
        }
    }

    /// What the agent did in a step, where it passed.
    fn deeds(&mut self, step: &Step, place: Place, confirmed: &Confirmed) {
        for call in &step.calls {
            let is_failed = call.output.as_ref().is_some_and(|output| {
                output.failed == Some(true) || output.interrupted || output.exit_code.is_some_and(|code| code != 0)
            });
            if is_failed {
                continue;
            }
            let text = match Action::of(&call.tool, &call.arguments) {
                Action::Run { command } => command,
                Action::Edit(_) => call.arguments.to_string(),
                _ => continue,
            };
            let deed = Deed { moment: self.moment, is_confirmed: confirmed.is_mended_by(place) };
            for word in self.parts(&text) {
                self.provenance.deeds.entry(word).or_default().push(deed);
            }
        }
    }

    fn address(&mut self, address: &str, place: Place, trust: &TrustClass) {
        match trust {
            TrustClass::User | TrustClass::Agent => {
                let moment = if *trust == TrustClass::User { 0 } else { self.moment };
                let first = self.provenance.own_addresses.entry(address.to_owned()).or_insert(moment);
                *first = (*first).min(moment);
            }
            trust => {
                let seen = || (self.moment, place, trust.clone());
                self.provenance.strange_addresses.entry(address.to_owned()).or_insert_with(seen);
            }
        }
    }

    /// The words of a text, those within identifiers among them, once each.
    fn parts(&mut self, text: &str) -> Vec<Word> {
        let known = &self.provenance.known;
        let mut words: Vec<Word> = self.cutter.words(text).iter().filter_map(|word| known.get(word).copied()).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The words of a text in order; one that no lesson has is a gap.
    fn known(&mut self, text: &str) -> Vec<Option<Word>> {
        let known = &self.provenance.known;
        sequence(text, self.cutter).iter().map(|word| known.get(word).copied()).collect()
    }
}

/// Whether a step called nothing but commands: what a page or another agent says is no failure.
fn runs_only(step: &Step) -> bool {
    let is_run = |call: &Call| matches!(Action::of(&call.tool, &call.arguments), Action::Run { .. });
    !step.calls.is_empty() && step.calls.iter().all(is_run)
}

fn has_failed(step: &Step) -> bool {
    let outputs = step.calls.iter().filter_map(|call| call.output.as_ref()).chain(&step.outputs);
    outputs.into_iter().any(|output| output.failed == Some(true) || output.exit_code.is_some_and(|code| code != 0))
}

/// The words of a text that mean something, in order; an identifier, a path or an address is one.
fn sequence(text: &str, cutter: &mut Cutter) -> Vec<String> {
    let is_joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let mut sequence = Vec::new();
    for piece in visible(text).split(|c: char| !is_joined(c)).filter(|piece| !piece.is_empty()) {
        let words = cutter.words(piece);
        if piece.is_ascii() || piece.chars().all(|c| u32::from(c) < 0x0E00) {
            sequence.extend(words.into_iter().next());
        } else {
            sequence.extend(words);
        }
    }
    sequence
}

fn runs(words: &[Word]) -> impl Iterator<Item = Run> {
    words.windows(SHINGLE).filter_map(|run| Run::try_from(run).ok())
}

fn known_runs(words: &[Option<Word>]) -> impl Iterator<Item = Run> {
    words.windows(SHINGLE).filter_map(|run| {
        let run: Option<Vec<Word>> = run.iter().copied().collect();
        Run::try_from(run?).ok()
    })
}

/// The stretches of a text: paragraphs, and long ones in pieces.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").flat_map(|paragraph| {
        let mut rest = paragraph;
        std::iter::from_fn(move || {
            if rest.trim().is_empty() {
                return None;
            }
            let end = rest.floor_char_boundary(WINDOW_BYTES);
            let piece = rest.get(..end).unwrap_or(rest);
            let cut = if end == rest.len() {
                end
            } else {
                piece.rfind('\n').or_else(|| piece.rfind(' ')).map_or(end, |at| at + 1)
            };
            let (piece, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
            rest = after;
            Some(piece)
        })
    })
}
