//! The state of the display and how it changes. It is pure: an update goes in, at most one action comes out.

use std::collections::{BTreeSet, VecDeque};

use crossterm::event::KeyEvent;
use ratatui::layout::Size;
use ratatui::text::Line;

use super::keys;
use super::layout::{FocusedPane, HudLayout};
use super::page;
use super::rows::{ListRow, MemoryRows, QueueRows, RowSubject, clean_line, search_words};
use super::styles::HudTheme;
use archivist_core::domain::{HudMessage, MemoryId, Timestamp};
use archivist_core::service::LessonEvidenceReport;

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

/// The most feed messages that are kept.
const KEPT: usize = 500;

/// An event that changes the display.
#[derive(Debug)]
pub(super) enum HudUpdate {
    /// A key was pressed.
    Key(KeyEvent),
    /// A text was pasted.
    Pasted(String),
    /// The screen has a new size.
    Resized(Size),
    /// The memory was refreshed.
    Looked(HudRefresh),
    /// The evidence report of a lesson was loaded, or could not be.
    Answered { id: MemoryId, report: Result<Box<LessonEvidenceReport>, String> },
    /// A decision was carried out or failed, with a message.
    Done(Result<String, String>),
}

/// The result of one refresh of the memory. A missing part did not change.
#[derive(Debug)]
pub(super) struct HudRefresh {
    pub(super) at: Timestamp,
    /// The feed messages since the last refresh, the oldest first.
    pub(super) told: Vec<HudMessage>,
    pub(super) known: Option<Box<MemoryRows>>,
    pub(super) waiting: Option<Box<QueueRows>>,
    /// The reason why something could not be read.
    pub(super) problem: Option<String>,
}

/// An action for the caller to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HudAction {
    /// Quits the display.
    Quit,
    /// Loads the evidence report of a lesson.
    Ask(MemoryId),
    /// Carries out a person's decision.
    Order(HudDecision),
}

/// A person's decision about a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HudDecision {
    pub(super) verb: DecisionVerb,
    pub(super) id: MemoryId,
    /// The name of the lesson for people.
    pub(super) name: String,
}

/// The kinds of decisions about a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecisionVerb {
    Approve,
    Reject,
    Promote,
    Forget,
}

/// One of the four lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HudTab {
    Lessons,
    Sessions,
    Quarantine,
    Queue,
}

impl HudTab {
    pub(super) const ALL: [Self; 4] = [Self::Lessons, Self::Sessions, Self::Quarantine, Self::Queue];
}

/// The meaning of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InputMode {
    /// Keys move in the list or the page.
    Browse,
    /// Keys are letters of a search.
    Search,
    /// Keys answer the question whether a decision is meant.
    Confirm(HudDecision),
    /// Keys scroll the help page; the number is its first visible line.
    Help(usize),
}

/// A message in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FooterNote {
    Good(String),
    Bad(String),
}

/// The position in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListCursor {
    /// The key of the selected row, by which it is found again after changes.
    key: Option<String>,
    /// The index of the selected row among the visible rows.
    pub(super) at: usize,
    /// The first visible line.
    pub(super) top: usize,
}

/// The evidence report that was loaded last.
#[derive(Debug)]
struct LoadedEvidence {
    id: MemoryId,
    report: Result<Box<LessonEvidenceReport>, String>,
    /// True if something was written since it was loaded.
    is_old: bool,
}

/// The state of the display.
#[derive(Debug)]
pub(super) struct HudModel {
    pub(super) project: String,
    pub(super) now: Timestamp,
    pub(super) size: Size,
    pub(super) ink: HudTheme,
    pub(super) view: HudTab,
    pub(super) focus: FocusedPane,
    pub(super) mode: InputMode,
    pub(super) search: String,
    pub(super) note: Option<FooterNote>,
    pub(super) problem: Option<String>,
    /// The rows of the memory, or `None` before the first refresh.
    pub(super) known: Option<Box<MemoryRows>>,
    pub(super) waiting: QueueRows,
    /// The feed messages, the newest first.
    pub(super) feed: VecDeque<HudMessage>,
    /// The keys of lessons that arrived while the display ran and were not selected yet.
    pub(super) fresh: BTreeSet<String>,
    cursors: [ListCursor; 4],
    pub(super) page_top: usize,
    answer: Option<LoadedEvidence>,
    /// The lesson whose evidence report is being loaded.
    asked: Option<MemoryId>,
}

impl HudModel {
    pub(super) fn new(project: &str, size: Size, ink: HudTheme, now: Timestamp) -> Self {
        Self {
            project: clean_line(project),
            now,
            size,
            ink,
            view: HudTab::Lessons,
            focus: FocusedPane::List,
            mode: InputMode::Browse,
            search: String::new(),
            note: None,
            problem: None,
            known: None,
            waiting: QueueRows::default(),
            feed: VecDeque::new(),
            fresh: BTreeSet::new(),
            cursors: Default::default(),
            page_top: 0,
            answer: None,
            asked: None,
        }
    }

    /// Applies an update, and returns the action that follows from it.
    pub(super) fn update(&mut self, message: HudUpdate) -> Option<HudAction> {
        let effect = match message {
            HudUpdate::Key(key) => {
                // A key press means that the selected row was seen.
                if let Some(key) = self.cursor().key.clone() {
                    self.fresh.remove(&key);
                }
                keys::handle_key(self, key)
            }
            HudUpdate::Pasted(text) => {
                keys::handle_paste(self, &text);
                None
            }
            HudUpdate::Resized(size) => {
                self.size = size;
                None
            }
            HudUpdate::Looked(look) => {
                self.apply_refresh(look);
                None
            }
            HudUpdate::Answered { id, report } => {
                self.asked = None;
                self.answer = Some(LoadedEvidence { id, report, is_old: false });
                None
            }
            HudUpdate::Done(done) => {
                self.note = Some(done.map_or_else(FooterNote::Bad, FooterNote::Good));
                None
            }
        };
        self.restore_selection();
        effect.or_else(|| self.request_evidence())
    }

    /// Returns true if a refresh changes what is drawn.
    pub(super) fn changes_display(&self, look: &HudRefresh) -> bool {
        let minute = |at: Timestamp| at.timestamp().div_euclid(60);
        let is_same = look.told.is_empty() && look.known.is_none() && look.waiting.is_none();
        !is_same || look.problem != self.problem || minute(look.at) != minute(self.now)
    }

    /// Returns the layout of the screen, or `None` if it is too small.
    pub(super) fn layout(&self) -> Option<HudLayout> {
        HudLayout::for_size(self.size, self.focus)
    }

    /// Returns all rows of a tab.
    pub(super) fn tab_rows(&self, view: HudTab) -> &[ListRow] {
        let known = self.known.as_deref();
        match view {
            HudTab::Lessons => known.map_or(&[], |known| &known.lessons),
            HudTab::Sessions => known.map_or(&[], |known| &known.sessions),
            HudTab::Quarantine => known.map_or(&[], |known| &known.quarantine),
            HudTab::Queue => &self.waiting.jobs,
        }
    }

    /// Returns the rows of the current tab that match the search.
    pub(super) fn visible_rows(&self) -> Vec<&ListRow> {
        let words = search_words(&self.search);
        self.tab_rows(self.view).iter().filter(|row| row.matches_words(&words)).collect()
    }

    /// Returns the position in the current tab.
    pub(super) fn cursor(&self) -> &ListCursor {
        let [lessons, sessions, quarantine, queue] = &self.cursors;
        match self.view {
            HudTab::Lessons => lessons,
            HudTab::Sessions => sessions,
            HudTab::Quarantine => quarantine,
            HudTab::Queue => queue,
        }
    }

    fn cursor_mut(&mut self) -> &mut ListCursor {
        let [lessons, sessions, quarantine, queue] = &mut self.cursors;
        match self.view {
            HudTab::Lessons => lessons,
            HudTab::Sessions => sessions,
            HudTab::Quarantine => quarantine,
            HudTab::Queue => queue,
        }
    }

    /// Returns the selected row, if there is one.
    pub(super) fn selected_row(&self) -> Option<&ListRow> {
        self.visible_rows().get(self.cursor().at).copied()
    }

    /// Selects the row at this index, or the last one.
    pub(super) fn select_row(&mut self, at: usize) {
        let shown = self.visible_rows();
        let at = at.min(shown.len().saturating_sub(1));
        let key = shown.get(at).map(|row| row.key.clone());
        if key != self.cursor().key {
            self.page_top = 0;
        }
        let cursor = self.cursor_mut();
        (cursor.at, cursor.key) = (at, key);
    }

    /// Returns the page about the selected row, wrapped to the width of its pane.
    pub(super) fn page_lines(&self) -> Vec<Line<'static>> {
        let columns = self.layout().and_then(|layout| layout.page).map_or(0, |page| page.body.width);
        // One column on the left stays empty.
        let columns = columns.saturating_sub(1);
        let (Some(row), Some(known)) = (self.selected_row(), &self.known) else { return Vec::new() };
        match &row.subject {
            RowSubject::Run(episode) => page::render_episode(episode, known, columns, self.ink),
            RowSubject::Job(job) => page::render_job(job, columns, self.ink),
            RowSubject::Lesson { id, .. } => match &self.answer {
                Some(LoadedEvidence { id: own, report: Ok(report), .. }) if own == id => {
                    page::render_lesson(report, columns, self.ink)
                }
                Some(LoadedEvidence { id: own, report: Err(why), .. }) if own == id => {
                    page::render_lesson_brief(row, why, columns, self.ink)
                }
                _ => page::render_lesson_brief(row, "reading…", columns, self.ink),
            },
        }
    }

    fn apply_refresh(&mut self, look: HudRefresh) {
        self.now = look.at;
        for message in look.told {
            self.feed.push_front(message);
        }
        self.feed.truncate(KEPT);
        self.problem = look.problem.map(|problem| clean_line(&problem));
        if let Some(waiting) = look.waiting {
            self.waiting = *waiting;
        }
        if let Some(known) = look.known {
            let keys =
                |known: &MemoryRows| -> BTreeSet<String> { known.all_lessons().map(|row| row.key.clone()).collect() };
            let here = keys(&known);
            // Lessons of the first refresh are not new.
            let before = self.known.as_deref().map_or_else(|| here.clone(), keys);
            self.fresh.extend(here.difference(&before).cloned());
            self.fresh.retain(|key| here.contains(key));
            self.known = Some(known);
            if let Some(answer) = &mut self.answer {
                answer.is_old = true;
            }
        }
    }

    /// Finds the selected row again, and scrolls it into view.
    fn restore_selection(&mut self) {
        let shown = self.visible_rows();
        let ListCursor { key, at, .. } = self.cursor();
        let found = shown.iter().position(|row| Some(&row.key) == key.as_ref());
        let (at, count) = (found.unwrap_or(*at), shown.len());
        self.select_row(at);
        if count == 0 {
            self.focus = FocusedPane::List;
        }
        let list = self.layout().and_then(|layout| layout.list);
        if let Some(height) = list.map(|list| usize::from(list.body.height).max(1)) {
            let cursor = self.cursor_mut();
            let first = (cursor.at + 1).saturating_sub(height);
            cursor.top = cursor.top.min(count.saturating_sub(height)).max(first).min(cursor.at);
        }
        self.scroll_page_to(self.page_top);
    }

    /// Scrolls the page to this line, or as far as it goes.
    pub(super) fn scroll_page_to(&mut self, line: usize) {
        let height = self.layout().and_then(|layout| layout.page).map_or(0, |page| usize::from(page.body.height));
        self.page_top = if line == 0 { 0 } else { line.min(self.page_lines().len().saturating_sub(height)) };
    }

    /// Returns the request for the evidence report of the selected lesson, if it is not loaded. Only one request runs
    /// at a time, so that scrolling through a list loads only the lesson at which it stops.
    fn request_evidence(&mut self) -> Option<HudAction> {
        let Some(RowSubject::Lesson { id, .. }) = self.selected_row().map(|row| &row.subject) else { return None };
        let is_known = self.answer.as_ref().is_some_and(|answer| answer.id == *id && !answer.is_old);
        if is_known || self.asked.is_some() {
            return None;
        }
        let id = id.clone();
        self.asked = Some(id.clone());
        Some(HudAction::Ask(id))
    }
}
