//! What keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::prose::one_line;
use super::help;
use super::layout::Focus;
use super::model::{Effect, Mode, Model, Note, Order, Verb, View};
use super::rows::Subject;

/// A search needs no more letters.
const LONGEST_SEARCH: usize = 100;

/// Takes a key.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Option<Effect> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if has_control && key.code == KeyCode::Char('c') {
        return Some(Effect::Quit);
    }
    // Terminals say both alike, and on a slow line Esc and the key after it come together.
    if key.modifiers.contains(KeyModifiers::ALT) {
        press(model, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        return press(model, KeyEvent { modifiers: key.modifiers - KeyModifiers::ALT, ..key });
    }
    model.note = None;
    match model.mode.clone() {
        Mode::Browse if has_control => None,
        Mode::Browse => browse(model, key.code),
        Mode::Search => {
            search(model, key.code, has_control);
            None
        }
        Mode::Confirm(order) => confirm(model, order, key.code),
        Mode::Help(top) => {
            turn_help(model, top, key.code);
            None
        }
    }
}

/// Takes a text that came in one piece. It is never taken for keys: nobody decides about a lesson by pasting.
pub(super) fn paste(model: &mut Model, text: &str) {
    if model.mode == Mode::Search {
        one_line(text).chars().for_each(|c| letter(model, c));
    }
}

fn browse(model: &mut Model, code: KeyCode) -> Option<Effect> {
    match code {
        KeyCode::Char('q') => return Some(Effect::Quit),
        KeyCode::Char('?') => model.mode = Mode::Help(0),
        KeyCode::Char('/') => {
            model.mode = Mode::Search;
            model.focus = Focus::List;
        }
        KeyCode::Tab => turn_view(model, 1),
        KeyCode::BackTab => turn_view(model, View::ALL.len() - 1),
        KeyCode::Char(digit @ '1'..='4') => {
            let at = digit.to_digit(10).and_then(|number| usize::try_from(number).ok()).unwrap_or(1) - 1;
            View::ALL.get(at).iter().for_each(|view| look_at(model, **view));
        }
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') if model.selected().is_some() => model.focus = Focus::Page,
        KeyCode::Left | KeyCode::Char('h') => model.focus = Focus::List,
        KeyCode::Esc if model.focus == Focus::Page => model.focus = Focus::List,
        KeyCode::Esc => model.search.clear(),
        KeyCode::Char('a') => ask(model, Verb::Approve),
        KeyCode::Char('r') => ask(model, Verb::Reject),
        KeyCode::Char('p') => ask(model, Verb::Promote),
        KeyCode::Char('f') => ask(model, Verb::Forget),
        other => travel(model, other),
    }
    None
}

/// Moves in the list, or turns the page.
fn travel(model: &mut Model, code: KeyCode) {
    let layout = model.layout();
    match model.focus {
        Focus::List => {
            let height = layout.and_then(|layout| layout.list).map_or(1, |list| list.body.height);
            if let Some(at) = moved(model.cursor().at, code, height) {
                model.select(at);
            }
        }
        Focus::Page => {
            let height = layout.and_then(|layout| layout.page).map_or(1, |page| page.body.height);
            moved(model.page_top, code, height).into_iter().for_each(|line| model.turn_to(line));
        }
    }
}

/// Where a key leads from a line, when so many are in sight.
fn moved(from: usize, code: KeyCode, height: u16) -> Option<usize> {
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

fn turn_view(model: &mut Model, by: usize) {
    let at = View::ALL.iter().position(|view| *view == model.view).unwrap_or_default();
    View::ALL.iter().cycle().nth(at + by).iter().for_each(|view| look_at(model, **view));
}

fn look_at(model: &mut Model, view: View) {
    model.view = view;
    model.focus = Focus::List;
    model.page_top = 0;
}

fn search(model: &mut Model, code: KeyCode, has_control: bool) {
    match code {
        KeyCode::Esc => {
            model.search.clear();
            model.mode = Mode::Browse;
        }
        KeyCode::Enter => model.mode = Mode::Browse,
        KeyCode::Backspace if model.search.pop().is_none() => model.mode = Mode::Browse,
        KeyCode::Char('u') if has_control => model.search.clear(),
        KeyCode::Char('w') if has_control => {
            let kept = model.search.trim_end().rfind(' ').map_or(0, |space| space + 1);
            model.search.truncate(kept);
        }
        KeyCode::Char(c) if !has_control => letter(model, c),
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => travel(model, code),
        _ => {}
    }
}

fn letter(model: &mut Model, c: char) {
    if model.search.chars().count() < LONGEST_SEARCH && !c.is_control() {
        model.search.push(c);
    }
}

/// Asks whether a decision is meant, where it makes sense.
fn ask(model: &mut Model, verb: Verb) {
    let Some(row) = model.selected() else { return };
    let Subject::Lesson { id, .. } = &row.subject else {
        model.note = Some(Note::Bad("only lessons are decided about".to_owned()));
        return;
    };
    let order = Order { verb, id: id.clone(), name: row.name.clone() };
    match (verb, model.view) {
        (Verb::Approve, View::Lessons) => {
            model.note = Some(Note::Bad(format!("{} is not in quarantine; p promotes it", order.name)));
        }
        (Verb::Promote, View::Quarantine) => {
            model.note = Some(Note::Bad(format!("{} is in quarantine; a approves it", order.name)));
        }
        _ => model.mode = Mode::Confirm(order),
    }
}

fn confirm(model: &mut Model, order: Order, code: KeyCode) -> Option<Effect> {
    match code {
        KeyCode::Char('y' | 'Y') => {
            model.mode = Mode::Browse;
            Some(Effect::Order(order))
        }
        KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => {
            model.mode = Mode::Browse;
            model.note = Some(Note::Good(format!("{} stays as it is", order.name)));
            None
        }
        // Whoever hits another key has not answered.
        _ => None,
    }
}

fn turn_help(model: &mut Model, top: usize, code: KeyCode) {
    let height = model.size.height.saturating_sub(help::AROUND);
    let last = help::lines(model.size.width, model.ink).len().saturating_sub(usize::from(height));
    model.mode = moved(top, code, height).map_or(Mode::Browse, |line| Mode::Help(line.min(last)));
}
