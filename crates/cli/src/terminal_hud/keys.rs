//! Handles keys and pasted text.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::text_format::one_line;
use super::help;
use super::layout::FocusedPane;
use super::model::{DecisionVerb, FooterNote, HudAction, HudDecision, HudModel, HudTab, InputMode};
use super::rows::RowSubject;
use archivist_core::text::is_hidden_character;

/// The most characters of a search.
const LONGEST_SEARCH: usize = 100;

/// Handles a key, and returns the action that it causes.
pub(super) fn handle_key(model: &mut HudModel, key: KeyEvent) -> Option<HudAction> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if has_control && key.code == KeyCode::Char('c') {
        return Some(HudAction::Quit);
    }
    // Terminals send Alt and a preceding Esc alike, and on a slow line Esc and the next key arrive together.
    if key.modifiers.contains(KeyModifiers::ALT) {
        handle_key(model, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        return handle_key(model, KeyEvent { modifiers: key.modifiers - KeyModifiers::ALT, ..key });
    }
    model.note = None;
    match model.mode.clone() {
        InputMode::Browse if has_control => None,
        InputMode::Browse => handle_browse_key(model, key.code),
        InputMode::Search => {
            handle_search_key(model, key.code, has_control);
            None
        }
        InputMode::Confirm(order) => handle_confirm_key(model, order, key.code),
        InputMode::Help(top) => {
            handle_help_key(model, top, key.code);
            None
        }
    }
}

/// Handles pasted text. It is never read as keys, so pasting cannot decide about a lesson.
pub(super) fn handle_paste(model: &mut HudModel, text: &str) {
    if model.mode == InputMode::Search {
        one_line(text).chars().for_each(|c| push_search_letter(model, c));
    }
}

fn handle_browse_key(model: &mut HudModel, code: KeyCode) -> Option<HudAction> {
    match code {
        KeyCode::Char('q') => return Some(HudAction::Quit),
        KeyCode::Char('?') => model.mode = InputMode::Help(0),
        KeyCode::Char('/') => {
            model.mode = InputMode::Search;
            model.focus = FocusedPane::List;
        }
        KeyCode::Tab => cycle_tab(model, 1),
        KeyCode::BackTab => cycle_tab(model, HudTab::ALL.len() - 1),
        KeyCode::Char(digit @ '1'..='4') => {
            let at = digit.to_digit(10).and_then(|number| usize::try_from(number).ok()).unwrap_or(1) - 1;
            HudTab::ALL.get(at).iter().for_each(|view| show_tab(model, **view));
        }
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') if model.selected_row().is_some() => {
            model.focus = FocusedPane::Page;
        }
        KeyCode::Left | KeyCode::Char('h') => model.focus = FocusedPane::List,
        KeyCode::Esc if model.focus == FocusedPane::Page => model.focus = FocusedPane::List,
        KeyCode::Esc => model.search.clear(),
        KeyCode::Char('a') => request_confirmation(model, DecisionVerb::Approve),
        KeyCode::Char('r') => request_confirmation(model, DecisionVerb::Reject),
        KeyCode::Char('p') => request_confirmation(model, DecisionVerb::Promote),
        KeyCode::Char('f') => request_confirmation(model, DecisionVerb::Forget),
        other => handle_move_key(model, other),
    }
    None
}

/// Moves the selection in the list, or scrolls the page.
fn handle_move_key(model: &mut HudModel, code: KeyCode) {
    let layout = model.layout();
    match model.focus {
        FocusedPane::List => {
            let height = layout.and_then(|layout| layout.list).map_or(1, |list| list.body.height);
            if let Some(at) = target_line(model.cursor().at, code, height) {
                model.select_row(at);
            }
        }
        FocusedPane::Page => {
            let height = layout.and_then(|layout| layout.page).map_or(1, |page| page.body.height);
            target_line(model.page_top, code, height).into_iter().for_each(|line| model.scroll_page_to(line));
        }
    }
}

/// Returns the line that a movement key leads to, for a view of this height.
fn target_line(from: usize, code: KeyCode, height: u16) -> Option<usize> {
    let leap = usize::from(height).saturating_sub(1).max(1);
    Some(match code {
        KeyCode::Up | KeyCode::Char('k') => from.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => from.saturating_add(1),
        KeyCode::PageUp => from.saturating_sub(leap),
        KeyCode::PageDown | KeyCode::Char(' ') => from.saturating_add(leap),
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => usize::MAX,
        _ => return None,
    })
}

fn cycle_tab(model: &mut HudModel, by: usize) {
    let at = HudTab::ALL.iter().position(|view| *view == model.view).unwrap_or_default();
    HudTab::ALL.iter().cycle().nth(at + by).iter().for_each(|view| show_tab(model, **view));
}

fn show_tab(model: &mut HudModel, view: HudTab) {
    model.view = view;
    model.focus = FocusedPane::List;
    model.page_top = 0;
}

fn handle_search_key(model: &mut HudModel, code: KeyCode, has_control: bool) {
    match code {
        KeyCode::Esc => {
            model.search.clear();
            model.mode = InputMode::Browse;
        }
        KeyCode::Enter => model.mode = InputMode::Browse,
        KeyCode::Backspace if model.search.pop().is_none() => model.mode = InputMode::Browse,
        KeyCode::Char('u') if has_control => model.search.clear(),
        KeyCode::Char('w') if has_control => {
            let kept = model.search.trim_end().rfind(' ').map_or(0, |space| space + 1);
            model.search.truncate(kept);
        }
        KeyCode::Char(c) if !has_control => push_search_letter(model, c),
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => handle_move_key(model, code),
        _ => {}
    }
}

fn push_search_letter(model: &mut HudModel, c: char) {
    if model.search.chars().count() < LONGEST_SEARCH && !is_hidden_character(c) {
        model.search.push(c);
    }
}

/// Asks for confirmation of a decision, if it applies to the selected row.
fn request_confirmation(model: &mut HudModel, verb: DecisionVerb) {
    let Some(row) = model.selected_row() else { return };
    let RowSubject::Lesson { id, .. } = &row.subject else {
        model.note = Some(FooterNote::Bad("only lessons are decided about".to_owned()));
        return;
    };
    let order = HudDecision { verb, id: id.clone(), name: row.name.clone() };
    match (verb, model.view) {
        (DecisionVerb::Approve, HudTab::Lessons) => {
            model.note = Some(FooterNote::Bad(format!("{} is not in quarantine; p promotes it", order.name)));
        }
        (DecisionVerb::Promote, HudTab::Quarantine) => {
            model.note = Some(FooterNote::Bad(format!("{} is in quarantine; a approves it", order.name)));
        }
        _ => model.mode = InputMode::Confirm(order),
    }
}

fn handle_confirm_key(model: &mut HudModel, order: HudDecision, code: KeyCode) -> Option<HudAction> {
    match code {
        KeyCode::Char('y' | 'Y') => {
            model.mode = InputMode::Browse;
            Some(HudAction::Order(order))
        }
        KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => {
            model.mode = InputMode::Browse;
            model.note = Some(FooterNote::Good(format!("{} stays as it is", order.name)));
            None
        }
        // Any other key is no answer.
        _ => None,
    }
}

fn handle_help_key(model: &mut HudModel, top: usize, code: KeyCode) {
    let height = model.size.height.saturating_sub(help::AROUND);
    let last = help::help_lines(model.size.width, model.ink).len().saturating_sub(usize::from(height));
    model.mode = target_line(top, code, height).map_or(InputMode::Browse, |line| InputMode::Help(line.min(last)));
}
