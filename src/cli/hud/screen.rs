//! The terminal: taken over, drawn on, and given back as it was, whatever happens.

use std::io::{self, BufWriter, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::force_color_output;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};

use super::super::console::Paint;
use crate::memory::jsonl::is_shielded;

#[cfg(unix)]
#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

/// Whether the terminal is ours now. A process has one, so this is the process's.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, for as long as this lives.
pub(super) struct Screen {
    // Dropped first: what it still holds belongs on our screen, not on the one that comes back.
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    _taken: Taken,
}

impl Screen {
    /// Takes the terminal over. Panics give it back before they are told, or nobody could read them.
    pub(super) fn take(paint: Paint) -> io::Result<Self> {
        force_color_output(paint == Paint::Colour);
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let taken = Taken;
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !is_shielded() {
                give_back();
            }
            before(panic);
        }));
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(io::stdout())))?;
        Ok(Self { terminal, _taken: taken })
    }

    /// Draws, unless the terminal was given back meanwhile.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if IS_TAKEN.load(Ordering::SeqCst) {
            self.terminal.draw(draw)?;
        }
        Ok(())
    }
}

/// Gives the terminal back when it goes.
struct Taken;

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back, once. There is nobody left to tell if that fails.
fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut stdout = io::stdout();
    let _ = queue!(stdout, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = stdout.flush();
    let _ = disable_raw_mode();
}
