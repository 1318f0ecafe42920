//! Spends the token budget of a digest: first on the head, then on signals, then on steps, best first.

use std::collections::BTreeMap;

use super::excerpt::ExcerptFocus;
use super::line_marks::{GapLabels, choose_line_mark};
use super::render::{self, SignalDetail};
use super::step_ranking::{DigestRanking, Place};
use super::{Digest, DigestInput};
use crate::domain::{Speaker, Step, Trajectory};
use crate::text::Tokenizer;

/// Percentages of the budget up to which each part of the digest may spend.
mod share {
    /// The limit for the head of the digest.
    pub(super) const HEAD: usize = 20;
    /// The limits for listing every signal bare, in brief and in full.
    pub(super) const BARE: usize = 75;
    pub(super) const BRIEF: usize = 55;
    pub(super) const WHOLE: usize = 40;
    /// The limit for steps that signals rest on, before any words are shown.
    pub(super) const SIGNALS: usize = 20;
    /// The limit for showing what was said.
    pub(super) const WORDS: usize = 80;
    /// The limit for showing steps word for word, before every other step gets its line.
    pub(super) const BODIES: usize = 97;
    /// The limit for showing notes in short.
    pub(super) const NOTES: usize = 90;
    /// The whole token budget.
    pub(super) const ALL: usize = 100;
}

/// The number of misses in a row after which nothing more is tried.
const MAX_MISSES: usize = 24;

/// The number of bytes shown of notes, when room is scarce and when it is not.
const NOTES_BYTES: [usize; 2] = [800, 4000];

/// The level of detail at which a step is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StepDetail {
    Line,
    Words,
    Brief,
    Medium,
    Short,
    Long,
    Ample,
    Whole,
}

impl StepDetail {
    fn byte_limit(self) -> usize {
        match self {
            Self::Line => 0,
            Self::Words => 3000,
            Self::Brief => 120,
            Self::Medium => 240,
            Self::Short => 480,
            Self::Long => 1200,
            Self::Ample => 4000,
            Self::Whole => 32 * 1024,
        }
    }
}

/// Renders a session in about `budget` tokens, with the cost of each part counted separately.
pub(super) fn compose_digest(material: &DigestInput<'_>, budget: usize, tokenizer: &Tokenizer) -> Digest {
    let order = DigestRanking::new(material.trajectories, material.signals);
    let mut purse = DigestBudget { tokenizer: *tokenizer, budget, spent: 0 };
    let head = render_head(material, &mut purse);
    let (signals, signals_left_out) = render_signals(material, &order, &mut purse);
    let mut steps = StepSection::open_trajectories(material, &order, &mut purse);
    let notes = steps.fill_budget(material, &mut purse);
    let mut text = head + &signals;
    steps.render_into(&mut text);
    text.push_str(&notes);
    let shown = steps.shown_steps(material);
    let all: usize = material.trajectories.iter().map(|trajectory| trajectory.steps.len()).sum();
    let elided = all - shown.len();
    Digest { text, tokens: purse.spent, shown, elided, signals_left_out }
}

/// The token budget and what is spent of it.
struct DigestBudget {
    tokenizer: Tokenizer,
    budget: usize,
    spent: usize,
}

impl DigestBudget {
    /// Replaces a cost by another and returns true, unless that would exceed a share of the budget.
    fn try_replace(&mut self, new: usize, old: usize, share: usize) -> bool {
        let after = (self.spent + new).saturating_sub(old);
        let is_paid = after <= self.share_limit(share);
        if is_paid {
            self.spent = after;
        }
        is_paid
    }

    fn try_spend(&mut self, text: &str, share: usize) -> bool {
        let cost = self.tokenizer.count_tokens(text);
        self.try_replace(cost, 0, share)
    }

    fn share_limit(&self, share: usize) -> usize {
        // Computed in two parts, because the product would overflow with a huge budget.
        if share >= 100 { self.budget } else { self.budget / 100 * share + self.budget % 100 * share / 100 }
    }
}

/// Renders the facts of the first trajectory in a line each, and those of every other in one line.
fn render_head(material: &DigestInput<'_>, purse: &mut DigestBudget) -> String {
    let mut head = String::new();
    let mut push = |line: String, share: usize| {
        if purse.try_spend(&line, share) {
            head.push_str(&line);
        }
    };
    for (trajectory, index) in material.trajectories.iter().zip(0_u32..) {
        let signals = material.signals.iter().filter(|signal| signal.trajectory == index).count();
        let facts = render::trajectory_facts(trajectory, signals);
        if index == 0 {
            push("# Session\n".to_owned(), share::HEAD);
            facts.into_iter().for_each(|fact| push(fact + "\n", share::HEAD));
            if material.trajectories.len() > 1 {
                push(format!("trajectories: {}\n", material.trajectories.len()), share::HEAD);
            }
        } else if index <= 64 {
            push(format!("t{index}: {}\n", facts.join(" · ")), share::HEAD);
        }
    }
    head
}

/// Renders a line for every signal: first all of them bare, then the best in more detail.
fn render_signals(material: &DigestInput<'_>, order: &DigestRanking<'_>, purse: &mut DigestBudget) -> (String, usize) {
    const HEADING: &str = "## Signals\n";
    let count = material.signals.len();
    if count == 0 || !purse.try_spend(HEADING, share::BARE) {
        return (String::new(), count);
    }
    let mut lines: BTreeMap<usize, (String, usize)> = BTreeMap::new();
    for (telling, share) in
        [(SignalDetail::Bare, share::BARE), (SignalDetail::Brief, share::BRIEF), (SignalDetail::Whole, share::WHOLE)]
    {
        let mut misses = 0;
        for at in &order.wanted {
            let Some(signal) = material.signals.get(*at) else { continue };
            if telling != SignalDetail::Bare && !lines.contains_key(at) {
                continue;
            }
            let label = format!("{}s{}", trajectory_prefix(material.trajectories, signal.trajectory), signal.step);
            let line = render::render_signal(signal, &label, telling);
            let cost = purse.tokenizer.count_tokens(&line);
            let old = lines.get(at).map_or(0, |(_, cost)| *cost);
            if purse.try_replace(cost, old, share) {
                lines.insert(*at, (line, cost));
                misses = 0;
            } else {
                misses += 1;
            }
            if misses > MAX_MISSES {
                break;
            }
        }
    }
    let mut text = HEADING.to_owned();
    order.told.iter().filter_map(|at| lines.get(at)).for_each(|(line, _)| text.push_str(line));
    let left_out = count - lines.len();
    if left_out > 0 {
        let line = format!("[… {left_out} signals …]\n");
        if purse.try_spend(&line, share::ALL) {
            text.push_str(&line);
        }
    }
    (text, left_out)
}

/// Returns the prefix that distinguishes steps of several trajectories.
fn trajectory_prefix(trajectories: &[Trajectory], index: u32) -> String {
    if trajectories.len() > 1 { format!("t{index}.") } else { String::new() }
}

/// A step that the digest shows.
struct ShownStep {
    text: String,
    cost: usize,
    detail: StepDetail,
    is_whole: bool,
}

/// A trajectory that the digest mentions.
struct OpenedTrajectory<'a> {
    prefix: String,
    steps: &'a [Step],
    labels: GapLabels,
    shown: BTreeMap<usize, ShownStep>,
}

struct StepSection<'a> {
    order: &'a DigestRanking<'a>,
    mark: String,
    heading: String,
    opened: BTreeMap<usize, OpenedTrajectory<'a>>,
}

impl<'a> StepSection<'a> {
    /// Opens as many trajectories as there is room for, those with signals first; their steps are still elided.
    fn open_trajectories(material: &DigestInput<'a>, order: &'a DigestRanking<'a>, purse: &mut DigestBudget) -> Self {
        let mark = choose_line_mark(material.trajectories, material.notes);
        let heading = format!(
            "## Steps\nLines that begin with `{mark} ` are not of the log; those without a number go on with the step above. \
             All others are of the log, word for word.\n"
        );
        let mut steps = Self { order, mark, heading: String::new(), opened: BTreeMap::new() };
        let has_something =
            material.notes.is_some() || material.trajectories.iter().any(|trajectory| !trajectory.steps.is_empty());
        if !has_something || !purse.try_spend(&heading, share::ALL) {
            return steps;
        }
        steps.heading = heading;
        let mut indexes: Vec<usize> = (0..material.trajectories.len()).collect();
        let mut firsts = vec![usize::MAX; indexes.len()];
        for (at, (index, _)) in order.best.iter().enumerate().rev() {
            firsts.iter_mut().skip(*index).take(1).for_each(|first| *first = at);
        }
        indexes.sort_by_key(|index| (firsts.get(*index).copied(), *index));
        for index in indexes {
            let Some(trajectory) = material.trajectories.get(index) else { continue };
            if trajectory.steps.is_empty() {
                continue;
            }
            let prefix = trajectory_prefix(material.trajectories, u32::try_from(index).unwrap_or(u32::MAX));
            let labels = GapLabels::new(&trajectory.steps);
            let opened = OpenedTrajectory { prefix, steps: &trajectory.steps, labels, shown: BTreeMap::new() };
            if !purse.try_spend(&opened.render_gap(0, trajectory.steps.len(), &steps.mark), share::ALL) {
                break;
            }
            steps.opened.insert(index, opened);
        }
        steps
    }

    /// Shows as much of the steps as there is room for, and returns the notes.
    fn fill_budget(&mut self, material: &DigestInput<'_>, purse: &mut DigestBudget) -> String {
        let order = self.order;
        let (first, last) = (find_first_request(material.trajectories), find_last_answer(material.trajectories));
        self.raise_detail(&order.best, StepDetail::Brief, share::SIGNALS, purse);
        self.raise_detail(&order.failing, StepDetail::Brief, share::SIGNALS, purse);
        self.raise_detail(first.as_slice(), StepDetail::Long, share::BODIES, purse);
        self.raise_detail(last.as_slice(), StepDetail::Short, share::BODIES, purse);
        self.raise_detail(&order.users, StepDetail::Short, share::BODIES, purse);
        let mut notes = String::new();
        self.show_notes(&mut notes, material, NOTES_BYTES[0], share::NOTES, purse);
        self.raise_detail(&order.spoken, StepDetail::Words, share::WORDS, purse);
        for places in [&order.best, &order.witnesses, &order.failing, &order.near] {
            self.raise_detail(places, StepDetail::Brief, share::BODIES, purse);
        }
        self.show_notes(&mut notes, material, NOTES_BYTES[1], share::ALL, purse);
        self.raise_detail(&order.near, StepDetail::Line, share::ALL, purse);
        self.raise_detail(&order.users, StepDetail::Long, share::ALL, purse);
        for detail in [
            StepDetail::Words,
            StepDetail::Brief,
            StepDetail::Medium,
            StepDetail::Short,
            StepDetail::Long,
            StepDetail::Ample,
            StepDetail::Whole,
        ] {
            for places in [&order.best, &order.witnesses, &order.users, &order.failing, &order.spoken, &order.near] {
                self.raise_detail(places, detail, share::ALL, purse);
            }
        }
        notes
    }

    /// Shows steps in more detail until there is no room.
    fn raise_detail(&mut self, places: &[Place], detail: StepDetail, share: usize, purse: &mut DigestBudget) {
        let mut misses = 0;
        for place in places {
            let is_done = self.raise_step_detail(*place, detail, share, purse);
            // A step that matters is shown as a line rather than not at all.
            let is_told =
                is_done || detail == StepDetail::Line || self.raise_step_detail(*place, StepDetail::Line, share, purse);
            misses = if is_told { 0 } else { misses + 1 };
            if misses > MAX_MISSES {
                return;
            }
        }
    }

    fn raise_step_detail(&mut self, place: Place, detail: StepDetail, share: usize, purse: &mut DigestBudget) -> bool {
        let (index, at) = place;
        let Some(opened) = self.opened.get_mut(&index) else { return false };
        let Some(step) = opened.steps.get(at) else { return false };
        let known = opened.shown.get(&at);
        if known.is_some_and(|shown| shown.is_whole || shown.detail >= detail) {
            return true;
        }
        let label = format!("{}s{}", opened.prefix, step.number);
        let (text, is_whole) = match detail {
            StepDetail::Line => (render::render_step_line(step, &label, &self.mark), false),
            StepDetail::Words => render::render_step_words(step, &label, &self.mark, detail.byte_limit()),
            detail => {
                let error = (step.speaker == Speaker::System).then_some(&self.order.error);
                let wanted = ExcerptFocus { quotes: self.order.step_quotes(place), error, ..ExcerptFocus::default() };
                render::render_step_body(
                    step,
                    &label,
                    &self.mark,
                    detail.byte_limit(),
                    wanted,
                    self.order.earlier_same_command(place),
                )
            }
        };
        let cost = purse.tokenizer.count_tokens(&text);
        let (new, old) = match known {
            Some(shown) => (cost, shown.cost),
            None => {
                let before = opened.shown.range(..at).next_back().map_or(0, |(before, _)| before + 1);
                let after = opened.shown.range(at..).next().map_or(opened.steps.len(), |(after, _)| *after);
                let gap = |start, end| purse.tokenizer.count_tokens(&opened.render_gap(start, end, &self.mark));
                (cost + gap(before, at) + gap(at + 1, after), gap(before, after))
            }
        };
        let is_paid = purse.try_replace(new, old, share);
        if is_paid {
            opened.shown.insert(at, ShownStep { text, cost, detail, is_whole });
        }
        is_paid
    }

    /// Shows the notes, or more of them.
    fn show_notes(
        &self,
        shown: &mut String,
        material: &DigestInput<'_>,
        limit: usize,
        share: usize,
        purse: &mut DigestBudget,
    ) {
        let Some(notes) = material.notes.map(str::trim).filter(|notes| !notes.is_empty()) else { return };
        if self.heading.is_empty() {
            return;
        }
        let mut text = format!("{} notes of the agent\n", self.mark);
        render::push_excerpt(&mut text, notes, &self.mark, limit, ExcerptFocus::default());
        let (new, old) = (purse.tokenizer.count_tokens(&text), purse.tokenizer.count_tokens(shown));
        if purse.try_replace(new, old, share) {
            *shown = text;
        }
    }

    fn render_into(&self, text: &mut String) {
        text.push_str(&self.heading);
        for opened in self.opened.values() {
            let mut next = 0;
            for (at, shown) in &opened.shown {
                text.push_str(&opened.render_gap(next, *at, &self.mark));
                text.push_str(&shown.text);
                next = at + 1;
            }
            text.push_str(&opened.render_gap(next, opened.steps.len(), &self.mark));
        }
    }

    fn shown_steps(&self, material: &DigestInput<'_>) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        for (index, (_, number)) in material.trajectories.iter().zip(0_u32..).enumerate() {
            let Some(opened) = self.opened.get(&index) else { continue };
            all.extend(opened.shown.keys().filter_map(|at| opened.steps.get(*at)).map(|step| (number, step.number)));
        }
        all
    }
}

impl OpenedTrajectory<'_> {
    fn render_gap(&self, start: usize, end: usize, mark: &str) -> String {
        self.labels.render_gap(self.steps, start, end, &self.prefix, mark)
    }
}

/// Finds the first request of the user.
fn find_first_request(trajectories: &[Trajectory]) -> Option<Place> {
    let steps = &trajectories.first()?.steps;
    Some((0, steps.iter().position(|step| step.speaker == Speaker::User && !step.copied)?))
}

/// Finds the last words of the agent.
fn find_last_answer(trajectories: &[Trajectory]) -> Option<Place> {
    let steps = &trajectories.first()?.steps;
    let is_last = |step: &Step| step.speaker == Speaker::Agent && !step.copied && !step.text.trim().is_empty();
    Some((0, steps.iter().rposition(is_last)?))
}
