//! Takes over the terminal, draws on it, and always restores it.

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

use super::super::console::ColorMode;
use archivist_core::memory::jsonl::is_shielded;

#[cfg(unix)]
#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

/// True while this process has taken over the terminal.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is taken over.
pub(super) struct TerminalScreen {
    // This is dropped first, so that its buffered output goes to our screen and not to the restored one.
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    _taken: TerminalGuard,
}

impl TerminalScreen {
    /// Takes over the terminal. A panic restores it before it is reported, so that the report is readable.
    pub(super) fn take_over_terminal(paint: ColorMode) -> io::Result<Self> {
        force_color_output(paint == ColorMode::Colour);
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let taken = TerminalGuard;
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !is_shielded() {
                restore_terminal();
            }
            before(panic);
        }));
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(io::stdout())))?;
        Ok(Self { terminal, _taken: taken })
    }

    /// Draws a frame, unless the terminal was restored meanwhile.
    pub(super) fn draw_frame(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if IS_TAKEN.load(Ordering::SeqCst) {
            self.terminal.draw(draw)?;
        }
        Ok(())
    }
}

/// Restores the terminal when it is dropped.
struct TerminalGuard;

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Restores the terminal once. Errors are ignored, because nothing could report them.
fn restore_terminal() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut stdout = io::stdout();
    let _ = queue!(stdout, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = stdout.flush();
    let _ = disable_raw_mode();
}
