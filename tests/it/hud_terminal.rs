//! `archivist hud` in a real terminal: what a person sees, and what is left when it ends.

use std::io::{Read, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::support::{NOW, World};

/// Nothing is measured here; a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with the display in it, and somebody who reads it.
pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

impl Terminal {
    pub(crate) fn open(world: &World, variables: &[(&str, &str)]) -> Self {
        Self::start(world, &["hud"], variables)
    }

    /// Runs a command in a terminal.
    pub(crate) fn start(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(PtySize { rows: 24, cols: 80, ..PtySize::default() }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_archivist"));
        command.args(arguments);
        command.args(["--now", NOW]);
        command.cwd(world.project());
        command.env_clear();
        command.env("HOME", world.home());
        command.env("TERM", "xterm-256color");
        variables.iter().for_each(|(name, value)| command.env(name, value));
        let seen = Arc::new(Mutex::new(Seen { screen: vt100::Parser::new(24, 80, 0), bytes: Vec::new() }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let reading = Arc::clone(&seen);
        let child = pair.slave.spawn_command(command).unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut seen = reading.lock().unwrap();
                seen.screen.process(&bytes[..count]);
                seen.bytes.extend(&bytes[..count]);
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { master: pair.master, keyboard, child, seen }
    }

    fn text(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    pub(crate) fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().bytes).into_owned()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits until the screen shows this.
    pub(crate) fn shows(&self, text: &str) {
        self.until(&format!("the screen shows {text:?}"), || self.text().contains(text));
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < PATIENCE, "{what}, but it is\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end of the command, and returns its exit code and what it printed.
    pub(crate) fn finish(mut self) -> (u32, String) {
        let status = self.child.wait().unwrap();
        drop(self.keyboard);
        (status.exit_code(), self.seen.lock().unwrap().screen.screen().contents())
    }

    /// Ends the command.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn signal(&self, name: &str) {
        let order = format!("kill -{name} {}", self.child.process_id().unwrap());
        assert!(Command::new("sh").args(["-c", &order]).status().unwrap().success());
    }

    /// Waits for the end; the terminal must be as it was before.
    fn ends(mut self, before: &impl PartialEq<Option<Mode>>) {
        let status = self.child.wait().unwrap();
        assert_eq!((status.exit_code(), status.signal()), (0, None), "{}", self.text());
        self.until("the other screen is left", || {
            let seen = self.seen.lock().unwrap();
            let screen = seen.screen.screen();
            !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
        });
        assert_eq!(self.text(), "", "nothing is left behind");
        assert!(*before == self.mode(), "keys are echoed again");
    }

    /// How the terminal takes keys.
    fn mode(&self) -> Option<Mode> {
        self.master.get_termios().map(|termios| format!("{termios:?}"))
    }
}

type Mode = String;

/// A terminal in which the display has drawn its first screen, and how it took keys before.
fn opened(world: &World, variables: &[(&str, &str)]) -> (Terminal, Option<Mode>) {
    let fresh = native_pty_system().openpty(PtySize::default()).unwrap();
    let before = fresh.master.get_termios().map(|termios| format!("{termios:?}"));
    assert!(before.is_some());
    let terminal = Terminal::open(world, variables);
    terminal.shows("m-001");
    (terminal, before)
}

fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep", "--rule", "IF you search THEN use rg"]);
    world
}

#[test]
fn a_person_reads_sees_a_lesson_come_and_leaves() {
    let world = world();
    let (mut terminal, before) = opened(&world, &[]);
    terminal.shows("IF you search THEN use rg");
    assert_ne!(terminal.mode(), before, "keys are not echoed");
    assert!(terminal.seen.lock().unwrap().screen.screen().alternate_screen());
    world.ok(&["add", "Shard large test runs", "--seed", "8"]);
    terminal.shows("* m-002  Shard large test runs");
    world.ok(&["reflect", "--file", concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/logs/generic/billing.jsonl")]);
    terminal.shows("reflection done: 2 new lessons");
    terminal.press("q");
    terminal.ends(&before);
}

#[test]
fn whoever_ends_it_gets_the_terminal_back() {
    let world = world();
    for signal in ["TERM", "HUP", "INT"] {
        let (terminal, before) = opened(&world, &[]);
        terminal.signal(signal);
        terminal.ends(&before);
    }
    let (mut terminal, before) = opened(&world, &[]);
    terminal.press("\u{3}");
    terminal.ends(&before);
}

#[test]
fn a_decision_is_made_by_two_keys_and_never_by_pasting() {
    let world = world();
    world.ok(&["add", "Shard large test runs", "--seed", "8"]);
    let (mut terminal, before) = opened(&world, &[]);
    terminal.press("\u{1b}[200~fy\u{1b}[201~");
    terminal.press("f");
    terminal.shows("Forget m-002?");
    terminal.press("n");
    terminal.shows("m-002 stays as it is");
    terminal.press("\u{1b}[Bf");
    terminal.shows("Forget m-001?");
    terminal.press("y");
    terminal.shows("m-001 is forgotten");
    terminal.shows("1 lesson in use");
    terminal.press("q");
    terminal.ends(&before);
    let left = world.ok(&["list", "--json"]);
    assert!(left.contains("m-002") && !left.contains("m-001"), "{left}");
}

#[test]
fn what_was_decided_last_is_done_before_it_ends() {
    let world = world();
    let (mut terminal, before) = opened(&world, &[]);
    terminal.press("fyq");
    terminal.ends(&before);
    assert_eq!(world.ok(&["list", "--json"]).trim(), "[]");
}

#[test]
fn another_size_is_drawn_anew() {
    let world = world();
    let (mut terminal, before) = opened(&world, &[]);
    let resize = |terminal: &Terminal, cols: u16, rows: u16| {
        terminal.seen.lock().unwrap().screen.screen_mut().set_size(rows, cols);
        terminal.master.resize(PtySize { rows, cols, ..PtySize::default() }).unwrap();
    };
    resize(&terminal, 20, 5);
    terminal.shows("This terminal is");
    resize(&terminal, 120, 40);
    terminal.shows("1 lesson in use");
    terminal.press("q");
    terminal.ends(&before);
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let world = world();
    let has_colours = |variables: &[(&str, &str)]| {
        let (mut terminal, before) = opened(&world, variables);
        terminal.shows("State       active");
        let bytes = terminal.bytes();
        terminal.press("q");
        terminal.ends(&before);
        bytes.contains("38;5;")
    };
    assert!(has_colours(&[]));
    assert!(!has_colours(&[("NO_COLOR", "1")]));
}

#[test]
fn without_a_terminal_it_says_where_else_to_look() {
    let world = world();
    insta::assert_snapshot!(world.run(&["hud"]), @r"
    ! error: stdout is not a terminal
    ! hint: `archivist list` prints lessons, `archivist serve` shows them in a browser
    exit 1
    ");
}
