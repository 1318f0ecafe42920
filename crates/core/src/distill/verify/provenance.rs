//! Traces the words of a lesson to where they were said first, whatever it quotes.
//!
//! A model that obeys a text in the log does not say so: it quotes an innocent line. So the words of its recommendation
//! are traced through the log. Who said them first decides: an agent that repeats a web page speaks for the web page.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use aho_corasick::AhoCorasick;

use super::generic_words::is_generic;
use super::network_addresses::find_addresses;
use super::pasted_text::{self, PassedOnLines};
use super::project_forge::shows_own_project;
use super::reader_orders::{ReaderOrder, find_order};
use super::word_runs::{WordNumber, WordRun, runs_without_gaps, split_stretches, word_runs, word_sequence};
use crate::context::{QuotableText, ReflectionContext, SignalKind, ToolAction, quotable_texts};
use crate::distill::unchecked_candidate::StepReference;
use crate::domain::{EvidenceLevel, Step, Timestamp, ToolCall, TrustClass};
use crate::text::{JoinerPolicy, WordSplitter, strip_hidden_text};

#[cfg(test)]
#[path = "provenance_tests.rs"]
mod tests;

/// The most words of one text that are traced.
const MAX_WORDS: usize = 400;

/// The share of recommended words from one stretch of a stranger's text that makes it a taint.
const STRANGE_SHARE: f64 = 0.5;

/// The corresponding share for the output of a build, a test run or a failed command, whose words describe the failure.
const FAILURE_SHARE: f64 = 0.7;

/// The most consecutive stretches that are examined together, and the amount by which they raise the share.
const MAX_STRETCHES: usize = 4;
const WIDER_SHARE: f64 = 0.1;

/// The position at which injected lessons are read, before anything else; only a user's words count as earlier.
///
/// They are recorded without their word runs: a renewed decision is worded much like the old one.
const GIVEN_AT: usize = 1;

/// A text of a lesson: all of it, and the part that recommends rather than describes a failure.
#[derive(Debug, Clone, Copy)]
pub(super) struct TracedText<'t> {
    pub(super) whole: &'t str,
    pub(super) recommendation: &'t str,
}

/// A stranger's text that a lesson rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaintSource {
    pub(super) place: StepReference,
    pub(super) trust: TrustClass,
    pub(super) is_foreign: bool,
    /// The order that the text gives to its reader.
    pub(super) order: Option<ReaderOrder>,
    /// The words that lead to the text.
    pub(super) words: String,
}

/// A stretch of a stranger's text.
#[derive(Debug)]
struct ForeignStretch {
    moment: usize,
    /// The number of the passage that it is part of.
    passage: usize,
    place: StepReference,
    trust: TrustClass,
    /// True if it says what failed.
    is_failure: bool,
    /// True if somebody else wrote it, or a remote machine that does not work for the project.
    is_foreign: bool,
    words: Vec<WordNumber>,
    runs: Vec<WordRun>,
    text: String,
    order: OnceCell<Option<ReaderOrder>>,
}

impl ForeignStretch {
    /// Returns what it orders its reader to do. It is determined only when something rests on the stretch.
    fn reader_order(&self) -> Option<ReaderOrder> {
        *self.order.get_or_init(|| find_order(&self.text))
    }
}

/// An action of the agent that worked: a command that passed, or an edit.
#[derive(Debug, Clone, Copy)]
struct TracedAction {
    moment: usize,
    /// True if what had failed before passed after it.
    is_confirmed: bool,
}

/// The words of one text of a lesson.
#[derive(Debug)]
struct SoughtWords {
    /// The specific words, or all words if there are none.
    words: HashSet<WordNumber>,
    runs: HashSet<WordRun>,
    /// True if a file, a line or a test is among them: a failure names such, and few other words.
    names_a_place: bool,
}

/// Records where every word of some lessons was said first.
#[derive(Debug, Default)]
pub(super) struct WordProvenance {
    known: HashMap<String, WordNumber>,
    generic: HashSet<WordNumber>,
    /// The position from which a word is the user's or the agent's own.
    owned: HashMap<WordNumber, usize>,
    owned_runs: HashMap<WordRun, usize>,
    /// The last position at which the agent used a word, in what it said or did.
    taken_up: HashMap<WordNumber, usize>,
    actions: HashMap<WordNumber, Vec<TracedAction>>,
    windows: Vec<ForeignStretch>,
    /// The position from which each address is our own.
    own_addresses: HashMap<String, usize>,
    strange_addresses: HashMap<String, (usize, StepReference, TrustClass)>,
}

impl WordProvenance {
    /// Traces the words of all lessons in one pass over the log.
    pub(super) fn trace_words<'t>(
        context: &ReflectionContext,
        passed_on: &PassedOnLines,
        texts: impl Iterator<Item = &'t str>,
    ) -> Self {
        let mut provenance = Self::default();
        let mut cutter = WordSplitter::default();
        let mut wanted: HashSet<WordRun> = HashSet::new();
        let mut addresses: Vec<String> = Vec::new();
        for text in texts {
            let mut words = Vec::new();
            for word in word_sequence(text, &mut cutter).into_iter().take(MAX_WORDS) {
                let next = WordNumber::try_from(provenance.known.len()).unwrap_or(WordNumber::MAX);
                words.push(*provenance.known.entry(word).or_insert(next));
            }
            wanted.extend(word_runs(&words));
            addresses.extend(find_addresses(text));
        }
        // A single letter is a flag or the rest of a word.
        let is_empty = |text: &str| is_generic(text) || (text.is_ascii() && text.len() == 1);
        provenance.generic =
            provenance.known.iter().filter(|(text, _)| is_empty(text)).map(|(_, word)| *word).collect();
        addresses.sort();
        addresses.dedup();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&addresses).ok();
        let confirmed = FailureHistory::new(context);
        for text in &context.given {
            let mut hearing = ProvenanceRecorder {
                provenance: &mut provenance,
                cutter: &mut cutter,
                wanted: &HashSet::new(),
                moment: GIVEN_AT,
            };
            let unknown = StepReference { trajectory: 0, step: 0 };
            let text = strip_hidden_text(text, JoinerPolicy::Remove);
            hearing.record_stretches(&text, unknown, &TrustClass::InjectedMemory, false, true);
        }
        for (moment, heard) in steps_in_time_order(context).into_iter().enumerate() {
            let mut hearing =
                ProvenanceRecorder { provenance: &mut provenance, cutter: &mut cutter, wanted: &wanted, moment };
            for passage in quotable_texts(heard.step).into_iter().filter(|passage| heard.includes_trust(&passage.trust))
            {
                let text = strip_hidden_text(&passage.text, JoinerPolicy::Remove);
                for (text, trust) in split_by_trust(&text, &passage, passed_on) {
                    if let Some(finder) = &finder {
                        for found in finder.find_overlapping_iter(text) {
                            if let Some(address) = addresses.get(found.pattern().as_usize()) {
                                hearing.record_address(address, heard.place, trust);
                            }
                        }
                    }
                    match trust {
                        TrustClass::User | TrustClass::Agent => hearing.record_own_words(text, trust),
                        _ => hearing.record_foreign_text(text, &heard, trust, &confirmed),
                    }
                }
            }
            if heard.is_said {
                hearing.record_actions(heard.step, heard.place, &confirmed);
            }
        }
        provenance
    }

    /// Returns the strangers' texts that a text rests on, the gravest first.
    pub(super) fn find_taints(&self, text: TracedText<'_>) -> Vec<TaintSource> {
        let mut cutter = WordSplitter::default();
        let whole = self.look_up_words(text.whole, &mut cutter);
        let recommendation = self.look_up_words(text.recommendation, &mut cutter);
        let mut taints: Vec<(bool, TaintSource)> =
            self.find_address_taints(text.whole).map(|taint| (true, taint)).collect();
        let strange: Vec<Vec<WordNumber>> = self
            .windows
            .iter()
            .map(|window| self.find_foreign_words(if window.is_failure { &recommendation } else { &whole }, window))
            .collect();
        for (at, window) in self.windows.iter().enumerate() {
            let sought = if window.is_failure { &recommendation } else { &whole };
            if let Some(words) =
                self.find_shared_run(sought, window).or_else(|| self.find_large_share(sought, at, &strange))
            {
                let order = window.reader_order();
                let ForeignStretch { place, ref trust, is_foreign, .. } = *window;
                let taint =
                    TaintSource { place, trust: trust.clone(), is_foreign, order, words: self.render_words(&words) };
                taints.push((order.is_some(), taint));
            }
        }
        taints.sort_by_key(|(is_grave, _)| !is_grave);
        taints.into_iter().map(|(_, taint)| taint).collect()
    }

    fn look_up_words(&self, text: &str, cutter: &mut WordSplitter) -> SoughtWords {
        let mut sequence = word_sequence(text, cutter);
        sequence.truncate(MAX_WORDS);
        let words: Vec<WordNumber> = sequence.iter().filter_map(|word| self.known.get(word).copied()).collect();
        let runs = word_runs(&words).collect();
        let telling: HashSet<WordNumber> = words.iter().copied().filter(|word| !self.generic.contains(word)).collect();
        let names_a_place = sequence.iter().any(|word| word.contains(['.', '/']));
        SoughtWords {
            runs,
            words: if telling.is_empty() { words.into_iter().collect() } else { telling },
            names_a_place,
        }
    }

    fn render_words(&self, words: &[WordNumber]) -> String {
        let mut said: Vec<(&WordNumber, &str)> = self
            .known
            .iter()
            .filter(|(_, word)| words.contains(word))
            .map(|(text, word)| (word, text.as_str()))
            .collect();
        said.sort_unstable();
        said.into_iter().take(6).map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    /// Returns consecutive words that a text and a stretch share, and that are not our own.
    fn find_shared_run(&self, sought: &SoughtWords, window: &ForeignStretch) -> Option<Vec<WordNumber>> {
        let is_strange = |run: &&WordRun| sought.runs.contains(*run) && !self.is_own_run(run, window);
        window.runs.iter().find(is_strange).map(|run| run.to_vec())
    }

    /// Returns the words that a text and a stretch share, and that are not our own.
    fn find_foreign_words(&self, sought: &SoughtWords, window: &ForeignStretch) -> Vec<WordNumber> {
        let is_strange = |word: &WordNumber| sought.words.contains(word) && !self.is_own_word(*word, window);
        window.words.iter().copied().filter(is_strange).collect()
    }

    /// Returns the foreign words of a stretch, or of it and the next ones, if they are a large share of a text's words.
    fn find_large_share(
        &self,
        sought: &SoughtWords,
        at: usize,
        strange: &[Vec<WordNumber>],
    ) -> Option<Vec<WordNumber>> {
        let window = self.windows.get(at)?;
        let counted = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
        let (share, least) = if window.is_failure { (FAILURE_SHARE, 3) } else { (STRANGE_SHARE, 2) };
        if window.is_failure && sought.words.len() < least && sought.names_a_place {
            return None;
        }
        let mut words: Vec<WordNumber> = Vec::new();
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

    /// Tells whether the user or the agent said the word before the stretch was read, or acted on it successfully.
    fn is_own_word(&self, word: WordNumber, window: &ForeignStretch) -> bool {
        let is_said = self.owned.get(&word).is_some_and(|moment| *moment < window.moment);
        is_said || self.is_acted_on(word, window, window.is_foreign) || self.is_reused_by_agent(word, window)
    }

    /// Tells whether the agent went on to use a word that the project's own files or commands showed it: findings are
    /// read in an output first. Words of strangers, and of texts that give orders, stay theirs.
    fn is_reused_by_agent(&self, word: WordNumber, window: &ForeignStretch) -> bool {
        let is_later = self.taken_up.get(&word).is_some_and(|moment| *moment > window.moment);
        is_later && !window.is_foreign && window.reader_order().is_none()
    }

    /// Tells whether consecutive words are our own. Following a text does not prove the text right: unless a build
    /// printed it, a failure must be gone afterwards.
    fn is_own_run(&self, run: &WordRun, window: &ForeignStretch) -> bool {
        let is_said = self.owned_runs.get(run).is_some_and(|moment| *moment < window.moment);
        let needs_proof = window.trust != TrustClass::BuildOutput;
        let taken_up = run.iter().filter(|word| self.is_reused_by_agent(**word, window)).count();
        is_said || taken_up * 2 >= run.len() || run.iter().all(|word| self.is_acted_on(*word, window, needs_proof))
    }

    fn is_acted_on(&self, word: WordNumber, window: &ForeignStretch, needs_proof: bool) -> bool {
        let is_proof = |agent_action: &TracedAction| {
            agent_action.moment > window.moment && (agent_action.is_confirmed || !needs_proof)
        };
        // An agent that does as a stranger's text says has obeyed, whatever came of it.
        !window.is_foreign
            && self.actions.get(&word).is_some_and(|actions| actions.iter().any(is_proof))
            && window.reader_order().is_none()
    }

    /// Returns taints for addresses that the user or the agent did not name first. Actions with strangers' addresses
    /// prove nothing: they may be the harm. Those in the project's files and outputs are its own once the agent names
    /// them too.
    fn find_address_taints(&self, text: &str) -> impl Iterator<Item = TaintSource> {
        find_addresses(text).into_iter().filter_map(|address| {
            let (moment, place, trust) = self.strange_addresses.get(&address)?;
            let is_own = self.own_addresses.get(&address).is_some_and(|own| own < moment || !is_foreign(trust));
            let (place, trust, is_foreign) = (*place, trust.clone(), is_foreign(trust));
            (!is_own).then_some(TaintSource { place, trust, is_foreign, order: None, words: address })
        })
    }

    /// Returns an address that appears nowhere in the log.
    pub(super) fn find_invented_address(&self, text: &str) -> Option<String> {
        let is_known =
            |address: &String| self.own_addresses.contains_key(address) || self.strange_addresses.contains_key(address);
        find_addresses(text).into_iter().find(|address| !is_known(address))
    }
}

/// Returns the texts of a passage with their trust classes: what somebody only passes on is not theirs.
pub(super) fn split_by_trust<'t>(
    text: &'t str,
    passage: &'t QuotableText<'_>,
    passed_on: &PassedOnLines,
) -> Vec<(&'t str, &'t TrustClass)> {
    let is_message = matches!(passage.trust, TrustClass::User | TrustClass::Agent);
    // Calls and edits are the agent's own actions.
    if !is_message || passage.level != EvidenceLevel::Reasoning {
        return vec![(text, &passage.trust)];
    }
    let mut parts = Vec::new();
    for part in pasted_text::split_by_author(text, &passage.trust) {
        if part.is_strange {
            parts.push((part.text, &pasted_text::CLASS));
        } else if passage.trust == TrustClass::User {
            let whose = |line: &&'t str| passed_on.contains_line(line);
            parts.extend(
                part.text
                    .split_inclusive('\n')
                    .map(|line| (line, if whose(&line) { &pasted_text::CLASS } else { &passage.trust })),
            );
        } else {
            parts.push((part.text, &passage.trust));
        }
    }
    parts
}

/// Tells whether text of this trust class is somebody else's, or a remote machine's.
pub(super) fn is_foreign(trust: &TrustClass) -> bool {
    matches!(trust, TrustClass::Web | TrustClass::OtherAgent | TrustClass::InjectedMemory | TrustClass::Other(_))
}

/// One half of a step: either what was said and called in it, or the outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepHalf<'c> {
    pub(super) step: &'c Step,
    pub(super) place: StepReference,
    /// The address of the project's repository, if the log names it, and the folder of the session.
    project: [Option<&'c str>; 2],
    pub(super) is_said: bool,
}

impl StepHalf<'_> {
    pub(super) fn includes_trust(&self, trust: &TrustClass) -> bool {
        matches!(trust, TrustClass::User | TrustClass::Agent) == self.is_said
    }
}

/// Returns all step halves in the order in which the agents saw them: an output is known when the next step starts.
pub(super) fn steps_in_time_order(context: &ReflectionContext) -> Vec<StepHalf<'_>> {
    let mut heard: Vec<(Timestamp, StepHalf<'_>)> = Vec::new();
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
            let place = StepReference { trajectory, step: step.number };
            heard.push((*said_at, StepHalf { step, place, project, is_said: true }));
            heard.push((*known_at, StepHalf { step, place, project, is_said: false }));
        }
    }
    // Times never decrease within a trajectory, so its own order stays; without times, that of the trajectories.
    heard.sort_by_key(|(at, _)| *at);
    heard.into_iter().map(|(_, heard)| heard).collect()
}

/// The failures of a session, and the steps that fixed them.
#[derive(Debug, Default)]
struct FailureHistory {
    failed: BTreeSet<StepReference>,
    /// The ranges from a failure to its fix: a trajectory, its first and its last step.
    mended: Vec<(u32, u32, u32)>,
}

impl FailureHistory {
    fn new(context: &ReflectionContext) -> Self {
        let mut known = Self::default();
        for signal in &context.signals {
            let at = |step: u32| StepReference { trajectory: signal.trajectory, step };
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

    fn is_fix_step(&self, place: StepReference) -> bool {
        self.mended.iter().any(|(trajectory, first, last)| {
            *trajectory == place.trajectory && *first < place.step && place.step <= *last
        })
    }
}

/// Records the words of one step half.
struct ProvenanceRecorder<'p> {
    provenance: &'p mut WordProvenance,
    cutter: &'p mut WordSplitter,
    wanted: &'p HashSet<WordRun>,
    moment: usize,
}

impl ProvenanceRecorder<'_> {
    /// Records our own words. Those of the user count from the start, because nobody else can write them.
    fn record_own_words(&mut self, text: &str, trust: &TrustClass) {
        let moment = if *trust == TrustClass::User { 0 } else { self.moment };
        let words = self.words_with_gaps(text);
        for run in runs_without_gaps(&words).filter(|run| self.wanted.contains(run)) {
            let first = self.provenance.owned_runs.entry(run).or_insert(moment);
            *first = (*first).min(moment);
        }
        for word in self.distinct_words(text) {
            let first = self.provenance.owned.entry(word).or_insert(moment);
            *first = (*first).min(moment);
        }
        if *trust == TrustClass::Agent {
            let named = words.into_iter().flatten().chain(self.distinct_words(text));
            self.provenance.taken_up.extend(named.map(|word| (word, moment)));
        }
    }

    fn record_foreign_text(
        &mut self,
        text: &str,
        heard: &StepHalf<'_>,
        trust: &TrustClass,
        confirmed: &FailureHistory,
    ) {
        let is_failure = *trust == TrustClass::BuildOutput
            || (runs_only_commands(heard.step) && (confirmed.failed.contains(&heard.place) || has_failed(heard.step)));
        let is_foreign =
            is_foreign(trust) && !(*trust == TrustClass::Web && shows_own_project(heard.step, &heard.project));
        self.record_stretches(text, heard.place, trust, is_failure, is_foreign);
    }

    /// Records the stretches of a stranger's text.
    fn record_stretches(
        &mut self,
        text: &str,
        place: StepReference,
        trust: &TrustClass,
        is_failure: bool,
        is_foreign: bool,
    ) {
        let passage = self.provenance.windows.last().map_or(0, |last| last.passage + 1);
        for stretch in split_stretches(text) {
            let sequence = self.words_with_gaps(stretch);
            let runs: Vec<WordRun> = runs_without_gaps(&sequence).filter(|run| self.wanted.contains(run)).collect();
            let mut words: Vec<WordNumber> = sequence.into_iter().flatten().collect();
            words.sort_unstable();
            words.dedup();
            if words.is_empty() {
                continue;
            }
            let (moment, trust, text) = (self.moment, trust.clone(), stretch.to_owned());
            let order = OnceCell::new();
            self.provenance.windows.push(ForeignStretch {
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

    /// Records what the agent did in a step, if it did not fail.
    fn record_actions(&mut self, step: &Step, place: StepReference, confirmed: &FailureHistory) {
        for call in &step.calls {
            let is_failed = call.output.as_ref().is_some_and(|output| {
                output.failed == Some(true) || output.interrupted || output.exit_code.is_some_and(|code| code != 0)
            });
            if is_failed {
                continue;
            }
            let text = match ToolAction::from_call(&call.tool, &call.arguments) {
                ToolAction::Run { command } => command,
                ToolAction::Edit(_) => call.arguments.to_string(),
                _ => continue,
            };
            let agent_action = TracedAction { moment: self.moment, is_confirmed: confirmed.is_fix_step(place) };
            for word in self.distinct_words(&text) {
                self.provenance.actions.entry(word).or_default().push(agent_action);
            }
        }
    }

    fn record_address(&mut self, address: &str, place: StepReference, trust: &TrustClass) {
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

    /// Returns the words of a text, including those within identifiers, once each.
    fn distinct_words(&mut self, text: &str) -> Vec<WordNumber> {
        let known = &self.provenance.known;
        let mut words: Vec<WordNumber> =
            self.cutter.split_words(text).iter().filter_map(|word| known.get(word).copied()).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Returns the words of a text in order; a word that no lesson has is `None`.
    fn words_with_gaps(&mut self, text: &str) -> Vec<Option<WordNumber>> {
        let known = &self.provenance.known;
        word_sequence(text, self.cutter).iter().map(|word| known.get(word).copied()).collect()
    }
}

/// Tells whether a step called nothing but commands: what a page or another agent says is no failure.
fn runs_only_commands(step: &Step) -> bool {
    let is_run = |call: &ToolCall| matches!(ToolAction::from_call(&call.tool, &call.arguments), ToolAction::Run { .. });
    !step.calls.is_empty() && step.calls.iter().all(is_run)
}

pub(super) fn has_failed(step: &Step) -> bool {
    let outputs = step.calls.iter().filter_map(|call| call.output.as_ref()).chain(&step.outputs);
    outputs.into_iter().any(|output| output.failed == Some(true) || output.exit_code.is_some_and(|code| code != 0))
}
