//! The command line. The only room that picks a memory, reads the clock and the environment, and prints.
//!
//! stdout is data, stderr is talk. [`run`] is the whole program; `main` only calls it.

mod process;

mod arguments;
mod circumstances;
mod question;

mod adviser;
mod reflecting;
mod session;
mod start;
mod stop;

mod add;
mod archeflow;
mod audit;
mod audit_check;
mod batch;
mod decide;
mod demo;
mod effect;
mod episodes;
mod eval;
mod feedback;
mod forget;
mod history;
mod hook;
mod hud;
mod init;
mod inspect;
mod list;
mod mcp;
#[cfg(feature = "postgres")]
mod migrate;
mod moving;
mod prompt;
mod recall;
mod reference;
mod reflect;
mod serve;
mod settings;
mod show;
mod upkeep;
mod why;
mod worker;

mod console;
mod crew;
mod failure;
mod lesson;
mod log;
mod prose;
mod table;
mod telemetry;

use std::ffi::OsString;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use self::arguments::{Arguments, Command, Globals, MemoryCommand, OtherCommand, ReflectingCommand};
use self::console::{ColorChoice, Console, Paint, Talk, is_gone};
use self::failure::{Exit, Failure, report};
use self::prose::one_line;
use self::session::Session;
use self::telemetry::Telemetry;
use crate::config::Surroundings;
use crate::domain::Timestamp;
use crate::hooks::Agent;
use crate::memory::jsonl::is_shielded;

pub use self::process::{Process, Reader, Stream};

/// Runs one command and says how it ended.
pub fn run(arguments: impl IntoIterator<Item = OsString>, process: Process) -> ExitCode {
    let given: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::parse_from(&given) {
        Ok(arguments) => arguments,
        // An agent takes 2 for an order to stop what it is doing.
        Err(stop) if is_hook(&given) && stop.use_stderr() => {
            explain(&stop, &given, process);
            return Exit::Done.into();
        }
        Err(stop) => return explain(&stop, &given, process).into(),
    };
    let globals = &arguments.globals;
    let surroundings = process.surroundings.clone();
    let now = globals.now.unwrap_or(process.now);
    let seed = globals.seed.unwrap_or(process.seed);
    let mut console = Console::new(process, globals.color, globals.talk());
    let paint = console.errors_paint();
    // Whatever is said while a command draws would stand in the middle of its picture.
    let is_drawn_over = arguments.command.draws() && console.watches_stderr();
    let talk = if is_drawn_over { Talk::Quiet } else { globals.talk() };
    let observe = |telemetry: Option<&Telemetry>| log::observe(talk, globals.verbose, paint, telemetry);
    let open = || Session::open(globals, &surroundings, now, seed);
    let done = match &arguments.command {
        Command::Other(command) => {
            observe(None);
            run_other(command, &arguments, &surroundings, (now, seed), &mut console)
        }
        Command::Memory(command) => {
            observe(None);
            open().and_then(|session| run_with_memory(command, &session, &mut console))
        }
        Command::Reflecting(command) => open().and_then(|session| {
            let telemetry = Telemetry::open(&session.desk.config().telemetry)?;
            observe(telemetry.as_ref());
            let done = run_reflecting(command, &session, globals, &surroundings, &mut console);
            telemetry.into_iter().for_each(Telemetry::close);
            done
        }),
    };
    let flushed = console.flush();
    let exit = done.and_then(|exit| flushed.map(|()| exit).map_err(anyhow::Error::from));
    exit.unwrap_or_else(|error| report(&error, &mut console)).into()
}

/// Whether an agent calls, as far as arguments tell that make no sense.
fn is_hook(given: &[OsString]) -> bool {
    let is_agent = |word: &OsString| word.to_str().is_some_and(|word| Agent::parse(word).is_ok());
    let called = given.windows(2).any(|pair| matches!(pair, [hook, agent] if hook == "hook" && is_agent(agent)));
    called || given.get(1).is_some_and(|word| word == "hook")
}

/// The exit code of a fault of ours. An agent that calls a hook is not to notice it.
pub fn broke(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let given: Vec<OsString> = arguments.into_iter().collect();
    if is_hook(&given) { Exit::Done.into() } else { Exit::Ours.into() }
}

/// Tells of a panic in the words of an error. Where a store expects broken files to panic a library, and catches that,
/// nothing is said.
pub fn report_panic(panic: &PanicHookInfo<'_>) {
    if is_shielded() {
        return;
    }
    let what = panic.payload_as_str().unwrap_or("no reason given");
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    let what = one_line(what);
    // There is nobody left to tell if this fails.
    let _ = writeln!(std::io::stderr(), "error: internal error: {what}{place}\nhint: please report it");
}

fn run_other(
    command: &OtherCommand,
    arguments: &Arguments,
    surroundings: &Surroundings,
    (now, seed): (Timestamp, u64),
    console: &mut Console,
) -> anyhow::Result<Exit> {
    match command {
        OtherCommand::Demo(command) => command.run(surroundings, console),
        OtherCommand::Init(command) => command.run(&arguments.globals, surroundings, console),
        OtherCommand::Inspect(command) => command.run(&arguments.globals, surroundings, now, seed, console),
        OtherCommand::Hook(command) => {
            command.run(&arguments.globals, surroundings, now, console);
            Ok(Exit::Done)
        }
        OtherCommand::Archeflow(command) => command.run(&arguments.globals, surroundings, now, console),
        OtherCommand::Config(command) => command.run(&arguments.globals, surroundings, console),
        OtherCommand::Prompt(command) => command.run(&arguments.globals, surroundings, console),
        OtherCommand::Eval(command) => command.run(now, arguments.globals.seed, console),
        OtherCommand::Completions(command) => command.run(console),
        OtherCommand::Man(command) => command.run(console),
    }
}

fn run_with_memory(command: &MemoryCommand, session: &Session, console: &mut Console) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Start)?;
    runtime.block_on(async {
        let done = match command {
            MemoryCommand::Add(command) => command.run(session, console).await,
            MemoryCommand::List(command) => command.run(session, console).await,
            MemoryCommand::Show(command) => command.run(session, console).await,
            MemoryCommand::Why(command) => command.run(session, console).await,
            MemoryCommand::Forget(command) => command.run(session, console).await,
            MemoryCommand::History(command) => command.run(session, console).await,
            MemoryCommand::Restore(command) => command.run(session, console).await,
            MemoryCommand::Promote(command) => command.run(session, console).await,
            MemoryCommand::Approve(command) => command.run(session, console).await,
            MemoryCommand::Reject(command) => command.run(session, console).await,
            MemoryCommand::Unmerge(command) => command.run(session, console).await,
            MemoryCommand::Episodes(command) => command.run(session, console).await,
            MemoryCommand::Recall(command) => command.run(session, console).await,
            MemoryCommand::Effect(command) => command.run(session, console).await,
            MemoryCommand::Feedback(command) => command.run(session, console).await,
            MemoryCommand::Audit(command) => command.run(session, console).await,
            MemoryCommand::AuditCheck(command) => command.run(session, console).await,
            MemoryCommand::Decay(command) => command.run(session, console).await,
            MemoryCommand::Import(command) => command.run(session, console).await,
            MemoryCommand::Export(command) => command.run(session, console).await,
            MemoryCommand::Status(command) => command.run(session, console).await,
            MemoryCommand::Doctor(command) => command.run(session, console).await,
            MemoryCommand::Compact(command) => command.run(session, console).await,
            #[cfg(feature = "postgres")]
            MemoryCommand::Migrate(command) => command.run(session, console).await,
        };
        // Whoever asked has the answer before the memory looks after itself.
        let flushed = console.flush();
        session.desk.memory.maintain().await;
        let exit = done?;
        flushed?;
        Ok(exit)
    })
}

fn run_reflecting(
    command: &ReflectingCommand,
    session: &Session,
    globals: &Globals,
    surroundings: &Surroundings,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    match command {
        ReflectingCommand::Serve(command) => command.run(session, globals, surroundings, console),
        ReflectingCommand::Hud(command) => command.run(session, surroundings, console),
        ReflectingCommand::Mcp(command) => command.run(session, globals, surroundings),
        ReflectingCommand::Reflect(command) => command.run(session, surroundings, console),
        ReflectingCommand::Batch(command) => command.run(session, surroundings, console),
        ReflectingCommand::Worker(command) => command.run(session, globals, surroundings, console),
    }
}

/// Help, the version or what is wrong with the arguments.
fn explain(stop: &clap::Error, given: &[OsString], process: Process) -> Exit {
    let (mut stream, exit) =
        if stop.use_stderr() { (process.errors, Exit::Usage) } else { (process.output, Exit::Done) };
    let text = match Paint::of(asked_colour(given), stream.reader, &process.surroundings.environment) {
        Paint::Colour => stop.render().ansi().to_string(),
        Paint::Plain => stop.render().to_string(),
    };
    match stream.bytes.write_all(text.as_bytes()).and_then(|()| stream.bytes.flush()) {
        Err(error) if exit == Exit::Done && !is_gone(&error) => Exit::Refused,
        _ => exit,
    }
}

/// `--color`, where the arguments as a whole could not be read.
fn asked_colour(given: &[OsString]) -> ColorChoice {
    let mut words = given.iter().filter_map(|word| word.to_str());
    let asked = words.find_map(|word| word.strip_prefix("--color").map(|rest| rest.strip_prefix('=')));
    match asked.and_then(|joined| joined.or_else(|| words.next())) {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}
