//! Spends the budget: first on what is known, then on signals, then on steps, best first.

use std::collections::BTreeMap;

use super::excerpt::Wanted;
use super::marks::{GapLabels, mark};
use super::order::{Order, Place};
use super::render::{self, Telling};
use super::{Digest, Material};
use crate::domain::{Speaker, Step, Trajectory};
use crate::text::Tokenizer;

/// Shares of the budget, in hundredths, that may be spent when something is done.
mod share {
    /// Telling what is known of the session.
    pub(super) const HEAD: usize = 20;
    /// Telling every signal at all, in brief, and in full.
    pub(super) const BARE: usize = 75;
    pub(super) const BRIEF: usize = 55;
    pub(super) const WHOLE: usize = 40;
    /// Showing more of what signals rest on, before everybody's words.
    pub(super) const SIGNALS: usize = 20;
    /// Showing what everybody said.
    pub(super) const WORDS: usize = 80;
    /// Showing steps word for word, before every other step gets its line.
    pub(super) const BODIES: usize = 97;
    /// Showing notes in short.
    pub(super) const NOTES: usize = 90;
    /// Everything.
    pub(super) const ALL: usize = 100;
}

/// After so many misses in a row nothing more is tried.
const MAX_MISSES: usize = 24;

/// How much of notes is shown, when room is scarce and when it is not.
const NOTES_BYTES: [usize; 2] = [800, 4000];

/// How much of each part of a step is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Line,
    Words,
    Brief,
    Medium,
    Short,
    Long,
    Ample,
    Whole,
}

impl Detail {
    fn bytes(self) -> usize {
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

/// Renders a session in at most `budget` tokens, as far as parts cost together what they cost apart.
pub(super) fn compose(material: &Material<'_>, budget: usize, tokenizer: &Tokenizer) -> Digest {
    let order = Order::new(material.trajectories, material.signals);
    let mut purse = Purse { tokenizer: *tokenizer, budget, spent: 0 };
    let head = head(material, &mut purse);
    let (signals, signals_left_out) = signals(material, &order, &mut purse);
    let mut steps = Steps::open(material, &order, &mut purse);
    let notes = steps.spend(material, &mut purse);
    let mut text = head + &signals;
    steps.render(&mut text);
    text.push_str(&notes);
    let shown = steps.shown(material);
    let all: usize = material.trajectories.iter().map(|trajectory| trajectory.steps.len()).sum();
    let elided = all - shown.len();
    Digest { text, tokens: purse.spent, shown, elided, signals_left_out }
}

/// What there is to spend.
struct Purse {
    tokenizer: Tokenizer,
    budget: usize,
    spent: usize,
}

impl Purse {
    /// Pays for something new in place of something old, unless that goes beyond a share of the budget.
    fn swap(&mut self, new: usize, old: usize, share: usize) -> bool {
        let after = (self.spent + new).saturating_sub(old);
        let is_paid = after <= self.limit(share);
        if is_paid {
            self.spent = after;
        }
        is_paid
    }

    fn buy(&mut self, text: &str, share: usize) -> bool {
        let cost = self.tokenizer.count(text);
        self.swap(cost, 0, share)
    }

    fn limit(&self, share: usize) -> usize {
        // Without the product, which a huge budget would overflow.
        if share >= 100 { self.budget } else { self.budget / 100 * share + self.budget % 100 * share / 100 }
    }
}

/// What is known of the first trajectory, a line each, and of the others, all in one line.
fn head(material: &Material<'_>, purse: &mut Purse) -> String {
    let mut head = String::new();
    let mut push = |line: String, share: usize| {
        if purse.buy(&line, share) {
            head.push_str(&line);
        }
    };
    for (trajectory, index) in material.trajectories.iter().zip(0_u32..) {
        let signals = material.signals.iter().filter(|signal| signal.trajectory == index).count();
        let facts = render::facts(trajectory, signals);
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

/// A line for every signal: all of them a little, then the best of them more.
fn signals(material: &Material<'_>, order: &Order<'_>, purse: &mut Purse) -> (String, usize) {
    const HEADING: &str = "## Signals\n";
    let count = material.signals.len();
    if count == 0 || !purse.buy(HEADING, share::BARE) {
        return (String::new(), count);
    }
    let mut lines: BTreeMap<usize, (String, usize)> = BTreeMap::new();
    for (telling, share) in
        [(Telling::Bare, share::BARE), (Telling::Brief, share::BRIEF), (Telling::Whole, share::WHOLE)]
    {
        let mut misses = 0;
        for at in &order.wanted {
            let Some(signal) = material.signals.get(*at) else { continue };
            if telling != Telling::Bare && !lines.contains_key(at) {
                continue;
            }
            let label = format!("{}s{}", prefix(material.trajectories, signal.trajectory), signal.step);
            let line = render::signal(signal, &label, telling);
            let cost = purse.tokenizer.count(&line);
            let old = lines.get(at).map_or(0, |(_, cost)| *cost);
            if purse.swap(cost, old, share) {
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
        if purse.buy(&line, share::ALL) {
            text.push_str(&line);
        }
    }
    (text, left_out)
}

/// What tells steps of several trajectories apart.
fn prefix(trajectories: &[Trajectory], index: u32) -> String {
    if trajectories.len() > 1 { format!("t{index}.") } else { String::new() }
}

/// A step that is shown.
struct Shown {
    text: String,
    cost: usize,
    detail: Detail,
    is_whole: bool,
}

/// A trajectory that there is room to mention.
struct Opened<'a> {
    prefix: String,
    steps: &'a [Step],
    labels: GapLabels,
    shown: BTreeMap<usize, Shown>,
}

struct Steps<'a> {
    order: &'a Order<'a>,
    mark: String,
    heading: String,
    opened: BTreeMap<usize, Opened<'a>>,
}

impl<'a> Steps<'a> {
    /// Mentions as many trajectories as possible, those with signals first; their steps are elided so far.
    fn open(material: &Material<'a>, order: &'a Order<'a>, purse: &mut Purse) -> Self {
        let mark = mark(material.trajectories, material.notes);
        let heading = format!(
            "## Steps\nLines that begin with `{mark} ` are not of the log; those without a number go on with the step above. \
             All others are of the log, word for word.\n"
        );
        let mut steps = Self { order, mark, heading: String::new(), opened: BTreeMap::new() };
        let has_something =
            material.notes.is_some() || material.trajectories.iter().any(|trajectory| !trajectory.steps.is_empty());
        if !has_something || !purse.buy(&heading, share::ALL) {
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
            let prefix = prefix(material.trajectories, u32::try_from(index).unwrap_or(u32::MAX));
            let labels = GapLabels::new(&trajectory.steps);
            let opened = Opened { prefix, steps: &trajectory.steps, labels, shown: BTreeMap::new() };
            if !purse.buy(&opened.gap(0, trajectory.steps.len(), &steps.mark), share::ALL) {
                break;
            }
            steps.opened.insert(index, opened);
        }
        steps
    }

    /// Shows what there is room for, and returns the notes.
    fn spend(&mut self, material: &Material<'_>, purse: &mut Purse) -> String {
        let order = self.order;
        let (first, last) = (first_words(material.trajectories), last_words(material.trajectories));
        self.raise(&order.best, Detail::Brief, share::SIGNALS, purse);
        self.raise(&order.failing, Detail::Brief, share::SIGNALS, purse);
        self.raise(first.as_slice(), Detail::Long, share::BODIES, purse);
        self.raise(last.as_slice(), Detail::Short, share::BODIES, purse);
        self.raise(&order.users, Detail::Short, share::BODIES, purse);
        let mut notes = String::new();
        self.note(&mut notes, material, NOTES_BYTES[0], share::NOTES, purse);
        self.raise(&order.spoken, Detail::Words, share::WORDS, purse);
        for places in [&order.best, &order.witnesses, &order.failing, &order.near] {
            self.raise(places, Detail::Brief, share::BODIES, purse);
        }
        self.note(&mut notes, material, NOTES_BYTES[1], share::ALL, purse);
        self.raise(&order.near, Detail::Line, share::ALL, purse);
        self.raise(&order.users, Detail::Long, share::ALL, purse);
        for detail in
            [Detail::Words, Detail::Brief, Detail::Medium, Detail::Short, Detail::Long, Detail::Ample, Detail::Whole]
        {
            for places in [&order.best, &order.witnesses, &order.users, &order.failing, &order.spoken, &order.near] {
                self.raise(places, detail, share::ALL, purse);
            }
        }
        notes
    }

    /// Shows steps in more detail, until there is no room.
    fn raise(&mut self, places: &[Place], detail: Detail, share: usize, purse: &mut Purse) {
        let mut misses = 0;
        for place in places {
            let is_done = self.raise_one(*place, detail, share, purse);
            // Something is better than nothing, for a step that matters.
            let is_told = is_done || detail == Detail::Line || self.raise_one(*place, Detail::Line, share, purse);
            misses = if is_told { 0 } else { misses + 1 };
            if misses > MAX_MISSES {
                return;
            }
        }
    }

    fn raise_one(&mut self, place: Place, detail: Detail, share: usize, purse: &mut Purse) -> bool {
        let (index, at) = place;
        let Some(opened) = self.opened.get_mut(&index) else { return false };
        let Some(step) = opened.steps.get(at) else { return false };
        let known = opened.shown.get(&at);
        if known.is_some_and(|shown| shown.is_whole || shown.detail >= detail) {
            return true;
        }
        let label = format!("{}s{}", opened.prefix, step.number);
        let (text, is_whole) = match detail {
            Detail::Line => (render::line(step, &label, &self.mark), false),
            Detail::Words => render::words(step, &label, &self.mark, detail.bytes()),
            detail => {
                let trouble = (step.speaker == Speaker::System).then_some(&self.order.trouble);
                let wanted = Wanted { quotes: self.order.quotes(place), trouble, ..Wanted::default() };
                render::body(step, &label, &self.mark, detail.bytes(), wanted, self.order.again(place))
            }
        };
        let cost = purse.tokenizer.count(&text);
        let (new, old) = match known {
            Some(shown) => (cost, shown.cost),
            None => {
                let before = opened.shown.range(..at).next_back().map_or(0, |(before, _)| before + 1);
                let after = opened.shown.range(at..).next().map_or(opened.steps.len(), |(after, _)| *after);
                let gap = |start, end| purse.tokenizer.count(&opened.gap(start, end, &self.mark));
                (cost + gap(before, at) + gap(at + 1, after), gap(before, after))
            }
        };
        let is_paid = purse.swap(new, old, share);
        if is_paid {
            opened.shown.insert(at, Shown { text, cost, detail, is_whole });
        }
        is_paid
    }

    /// Shows notes, or more of them.
    fn note(&self, shown: &mut String, material: &Material<'_>, limit: usize, share: usize, purse: &mut Purse) {
        let Some(notes) = material.notes.map(str::trim).filter(|notes| !notes.is_empty()) else { return };
        if self.heading.is_empty() {
            return;
        }
        let mut text = format!("{} notes of the agent\n", self.mark);
        render::push_excerpt(&mut text, notes, &self.mark, limit, Wanted::default());
        let (new, old) = (purse.tokenizer.count(&text), purse.tokenizer.count(shown));
        if purse.swap(new, old, share) {
            *shown = text;
        }
    }

    fn render(&self, text: &mut String) {
        text.push_str(&self.heading);
        for opened in self.opened.values() {
            let mut next = 0;
            for (at, shown) in &opened.shown {
                text.push_str(&opened.gap(next, *at, &self.mark));
                text.push_str(&shown.text);
                next = at + 1;
            }
            text.push_str(&opened.gap(next, opened.steps.len(), &self.mark));
        }
    }

    fn shown(&self, material: &Material<'_>) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        for (index, (_, number)) in material.trajectories.iter().zip(0_u32..).enumerate() {
            let Some(opened) = self.opened.get(&index) else { continue };
            all.extend(opened.shown.keys().filter_map(|at| opened.steps.get(*at)).map(|step| (number, step.number)));
        }
        all
    }
}

impl Opened<'_> {
    fn gap(&self, start: usize, end: usize, mark: &str) -> String {
        self.labels.gap(self.steps, start, end, &self.prefix, mark)
    }
}

/// What was asked for in the beginning.
fn first_words(trajectories: &[Trajectory]) -> Option<Place> {
    let steps = &trajectories.first()?.steps;
    Some((0, steps.iter().position(|step| step.speaker == Speaker::User && !step.copied)?))
}

/// What the agent said in the end.
fn last_words(trajectories: &[Trajectory]) -> Option<Place> {
    let steps = &trajectories.first()?.steps;
    let is_last = |step: &Step| step.speaker == Speaker::Agent && !step.copied && !step.text.trim().is_empty();
    Some((0, steps.iter().rposition(is_last)?))
}
