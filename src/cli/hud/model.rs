//! What the display knows and shows, and how that changes. Pure: a message in, at most one effect out.

use std::collections::{BTreeSet, VecDeque};

use crossterm::event::KeyEvent;
use ratatui::layout::Size;
use ratatui::text::Line;

use super::ink::Ink;
use super::keys;
use super::layout::{Focus, Layout};
use super::page;
use super::rows::{Known, Row, Subject, Waiting, shown, sought};
use crate::desk::Grounds;
use crate::domain::{HudMessage, MemoryId, Timestamp};

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

/// So much of the feed is kept.
const KEPT: usize = 500;

/// Something that happened.
#[derive(Debug)]
pub(super) enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// A text came in one piece.
    Pasted(String),
    /// The screen has another size.
    Resized(Size),
    /// The memory was looked at.
    Looked(Look),
    /// A lesson's grounds, or why there are none.
    Answered { id: MemoryId, grounds: Result<Box<Grounds>, String> },
    /// What became of an order, in words.
    Done(Result<String, String>),
}

/// What a look at the memory found. What is missing did not change.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Timestamp,
    /// What was told since the last look, the oldest first.
    pub(super) told: Vec<HudMessage>,
    pub(super) known: Option<Box<Known>>,
    pub(super) waiting: Option<Box<Waiting>>,
    /// Why something could not be read.
    pub(super) trouble: Option<String>,
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Leave.
    Quit,
    /// Find out what a lesson rests on.
    Ask(MemoryId),
    /// Carry out what a person decided.
    Order(Order),
}

/// What a person decided about a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) verb: Verb,
    pub(super) id: MemoryId,
    /// What people call it.
    pub(super) name: String,
}

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Approve,
    Reject,
    Promote,
    Forget,
}

/// One of the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Lessons,
    Sessions,
    Quarantine,
    Queue,
}

impl View {
    pub(super) const ALL: [Self; 4] = [Self::Lessons, Self::Sessions, Self::Quarantine, Self::Queue];
}

/// What keys mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// They move about.
    Browse,
    /// They are letters of a search.
    Search,
    /// They answer a question.
    Confirm(Order),
    /// They turn the pages of the help, whose first line in sight this is.
    Help(usize),
}

/// Something to tell at the foot of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    Good(String),
    Bad(String),
}

/// The place in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// What is selected; it is found again wherever it moves to.
    key: Option<String>,
    /// Where it stands among what is shown.
    pub(super) at: usize,
    /// The first line in sight.
    pub(super) top: usize,
}

/// The grounds of a lesson, as far as they are known.
#[derive(Debug)]
struct Answer {
    id: MemoryId,
    grounds: Result<Box<Grounds>, String>,
    /// Whether something was written since.
    is_old: bool,
}

/// What the display knows and shows.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) project: String,
    pub(super) now: Timestamp,
    pub(super) size: Size,
    pub(super) ink: Ink,
    pub(super) view: View,
    pub(super) focus: Focus,
    pub(super) mode: Mode,
    pub(super) search: String,
    pub(super) note: Option<Note>,
    pub(super) trouble: Option<String>,
    /// Nothing before the first look.
    pub(super) known: Option<Box<Known>>,
    pub(super) waiting: Waiting,
    /// The newest first.
    pub(super) feed: VecDeque<HudMessage>,
    /// Lessons that came while the display ran and were not looked at.
    pub(super) fresh: BTreeSet<String>,
    cursors: [Cursor; 4],
    pub(super) page_top: usize,
    answer: Option<Answer>,
    /// The question that is under way.
    asked: Option<MemoryId>,
}

impl Model {
    pub(super) fn new(project: &str, size: Size, ink: Ink, now: Timestamp) -> Self {
        Self {
            project: shown(project),
            now,
            size,
            ink,
            view: View::Lessons,
            focus: Focus::List,
            mode: Mode::Browse,
            search: String::new(),
            note: None,
            trouble: None,
            known: None,
            waiting: Waiting::default(),
            feed: VecDeque::new(),
            fresh: BTreeSet::new(),
            cursors: Default::default(),
            page_top: 0,
            answer: None,
            asked: None,
        }
    }

    /// Takes in what happened, and says what is to be done about it.
    pub(super) fn update(&mut self, message: Message) -> Option<Effect> {
        let effect = match message {
            Message::Key(key) => {
                // Whoever presses a key has seen what is selected.
                if let Some(key) = self.cursor().key.clone() {
                    self.fresh.remove(&key);
                }
                keys::press(self, key)
            }
            Message::Pasted(text) => {
                keys::paste(self, &text);
                None
            }
            Message::Resized(size) => {
                self.size = size;
                None
            }
            Message::Looked(look) => {
                self.learn(look);
                None
            }
            Message::Answered { id, grounds } => {
                self.asked = None;
                self.answer = Some(Answer { id, grounds, is_old: false });
                None
            }
            Message::Done(done) => {
                self.note = Some(done.map_or_else(Note::Bad, Note::Good));
                None
            }
        };
        self.settle();
        effect.or_else(|| self.question())
    }

    /// Whether a look found nothing that would be drawn otherwise.
    pub(super) fn is_news(&self, look: &Look) -> bool {
        let minute = |at: Timestamp| at.timestamp().div_euclid(60);
        let is_same = look.told.is_empty() && look.known.is_none() && look.waiting.is_none();
        !is_same || look.trouble != self.trouble || minute(look.at) != minute(self.now)
    }

    /// Where things stand; `None` where the screen is too small.
    pub(super) fn layout(&self) -> Option<Layout> {
        Layout::of(self.size, self.focus)
    }

    /// Everything in a list.
    pub(super) fn rows(&self, view: View) -> &[Row] {
        let known = self.known.as_deref();
        match view {
            View::Lessons => known.map_or(&[], |known| &known.lessons),
            View::Sessions => known.map_or(&[], |known| &known.sessions),
            View::Quarantine => known.map_or(&[], |known| &known.quarantine),
            View::Queue => &self.waiting.jobs,
        }
    }

    /// What is shown of the list that is looked at.
    pub(super) fn shown(&self) -> Vec<&Row> {
        let words = sought(&self.search);
        self.rows(self.view).iter().filter(|row| row.holds(&words)).collect()
    }

    /// The place in the list that is looked at.
    pub(super) fn cursor(&self) -> &Cursor {
        let [lessons, sessions, quarantine, queue] = &self.cursors;
        match self.view {
            View::Lessons => lessons,
            View::Sessions => sessions,
            View::Quarantine => quarantine,
            View::Queue => queue,
        }
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        let [lessons, sessions, quarantine, queue] = &mut self.cursors;
        match self.view {
            View::Lessons => lessons,
            View::Sessions => sessions,
            View::Quarantine => quarantine,
            View::Queue => queue,
        }
    }

    /// What is selected.
    pub(super) fn selected(&self) -> Option<&Row> {
        self.shown().get(self.cursor().at).copied()
    }

    /// Selects the line at this place, or the last one.
    pub(super) fn select(&mut self, at: usize) {
        let shown = self.shown();
        let at = at.min(shown.len().saturating_sub(1));
        let key = shown.get(at).map(|row| row.key.clone());
        if key != self.cursor().key {
            self.page_top = 0;
        }
        let cursor = self.cursor_mut();
        (cursor.at, cursor.key) = (at, key);
    }

    /// The page on what is selected, as wide as it is seen.
    pub(super) fn page(&self) -> Vec<Line<'static>> {
        let columns = self.layout().and_then(|layout| layout.page).map_or(0, |page| page.body.width);
        // A little air on the left, unless there is none to spare.
        let columns = columns.saturating_sub(1);
        let (Some(row), Some(known)) = (self.selected(), &self.known) else { return Vec::new() };
        match &row.subject {
            Subject::Run(episode) => page::run(episode, known, columns, self.ink),
            Subject::Job(job) => page::job(job, columns, self.ink),
            Subject::Lesson { id, .. } => match &self.answer {
                Some(Answer { id: own, grounds: Ok(grounds), .. }) if own == id => {
                    page::lesson(grounds, columns, self.ink)
                }
                Some(Answer { id: own, grounds: Err(why), .. }) if own == id => {
                    page::brief_of(row, why, columns, self.ink)
                }
                _ => page::brief_of(row, "reading…", columns, self.ink),
            },
        }
    }

    fn learn(&mut self, look: Look) {
        self.now = look.at;
        for message in look.told {
            self.feed.push_front(message);
        }
        self.feed.truncate(KEPT);
        self.trouble = look.trouble.map(|trouble| shown(&trouble));
        if let Some(waiting) = look.waiting {
            self.waiting = *waiting;
        }
        if let Some(known) = look.known {
            let keys = |known: &Known| -> BTreeSet<String> { known.all_lessons().map(|row| row.key.clone()).collect() };
            let here = keys(&known);
            // What was there at the first look is not news.
            let before = self.known.as_deref().map_or_else(|| here.clone(), keys);
            self.fresh.extend(here.difference(&before).cloned());
            self.fresh.retain(|key| here.contains(key));
            self.known = Some(known);
            if let Some(answer) = &mut self.answer {
                answer.is_old = true;
            }
        }
    }

    /// Finds what is selected again, and brings it into sight.
    fn settle(&mut self) {
        let shown = self.shown();
        let Cursor { key, at, .. } = self.cursor();
        let found = shown.iter().position(|row| Some(&row.key) == key.as_ref());
        let (at, count) = (found.unwrap_or(*at), shown.len());
        self.select(at);
        if count == 0 {
            self.focus = Focus::List;
        }
        let list = self.layout().and_then(|layout| layout.list);
        if let Some(height) = list.map(|list| usize::from(list.body.height).max(1)) {
            let cursor = self.cursor_mut();
            let first = (cursor.at + 1).saturating_sub(height);
            cursor.top = cursor.top.min(count.saturating_sub(height)).max(first).min(cursor.at);
        }
        self.turn_to(self.page_top);
    }

    /// Turns the page to this line, or as far as it goes.
    pub(super) fn turn_to(&mut self, line: usize) {
        let height = self.layout().and_then(|layout| layout.page).map_or(0, |page| usize::from(page.body.height));
        self.page_top = if line == 0 { 0 } else { line.min(self.page().len().saturating_sub(height)) };
    }

    /// What is to be found out about the lesson that is selected. One question at a time: whoever runs through a list
    /// asks of the lesson that they stop at.
    fn question(&mut self) -> Option<Effect> {
        let Some(Subject::Lesson { id, .. }) = self.selected().map(|row| &row.subject) else { return None };
        let is_known = self.answer.as_ref().is_some_and(|answer| answer.id == *id && !answer.is_old);
        if is_known || self.asked.is_some() {
            return None;
        }
        let id = id.clone();
        self.asked = Some(id.clone());
        Some(Effect::Ask(id))
    }
}
