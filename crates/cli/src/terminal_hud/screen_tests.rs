use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::text::Line;

use super::*;

/// Tells a child process what to do with its terminal.
const CHILD: &str = "ARCHIVIST_TEST_SCREEN";

/// Not a test of its own: a process that takes its terminal over and does not get to its end.
#[test]
fn child() {
    let Ok(way) = std::env::var(CHILD) else { return };
    let mut screen = TerminalScreen::take_over_terminal(ColorMode::Plain).unwrap();
    screen.draw_frame(|frame| frame.render_widget(Line::raw("picture"), frame.area())).unwrap();
    match way.as_str() {
        "panic" => panic!("the view broke"),
        "thread" => {
            let _ = std::thread::spawn(|| panic!("a task broke")).join();
            screen.draw_frame(|frame| frame.render_widget(Line::raw("ghost"), frame.area())).unwrap();
        }
        _ => drop(screen),
    }
}

/// What the terminal shows after a child, and whether it is as it was.
fn left_behind(way: &str) -> (vt100::Parser, bool) {
    let pair = native_pty_system().openpty(PtySize { rows: 24, cols: 80, ..PtySize::default() }).unwrap();
    let before = pair.master.get_termios();
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["terminal_hud::screen::tests::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, way);
    command.env("RUST_BACKTRACE", "0");
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut child = pair.slave.spawn_command(command).unwrap();
    // Whoever holds this end sees the terminal stay open.
    drop(pair.slave);
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The end of a terminal is an error on some systems.
        let _ = reader.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    child.wait().unwrap();
    let bytes = receive.recv_timeout(Duration::from_secs(60)).unwrap();
    let mut parser = vt100::Parser::new(24, 80, 100);
    parser.process(&bytes);
    let has_drawn = String::from_utf8_lossy(&bytes).contains("picture");
    assert!(has_drawn, "{}", String::from_utf8_lossy(&bytes));
    let is_as_it_was = before.is_some() && before == pair.master.get_termios();
    (parser, is_as_it_was)
}

#[test]
fn however_it_ends_the_terminal_is_given_back() {
    for (way, expected) in [("end", ""), ("panic", "the view broke"), ("thread", "a task broke")] {
        let (parser, is_as_it_was) = left_behind(way);
        let screen = parser.screen();
        assert!(is_as_it_was, "{way}");
        assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste(), "{way}");
        let contents = screen.contents();
        assert!(contents.contains(expected), "{way}: {contents}");
        assert!(!contents.contains("picture") && !contents.contains("ghost"), "{way}: {contents}");
    }
}
