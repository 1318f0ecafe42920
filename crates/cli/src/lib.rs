//! The command line. It is the only part that chooses a memory, reads the clock and the environment, and prints.
//!
//! stdout carries data, stderr carries messages. [`run`] is the whole program; `main` only calls it.

#![cfg_attr(
    not(all(feature = "eval", feature = "hud", feature = "otel", feature = "serve")),
    allow(dead_code, reason = "some parts serve features that are off")
)]

mod process_context;

mod arguments;
mod facet_flags;
mod hook_input;
mod query_json;

mod command_context;
mod session_trigger;
mod stop_signal;
mod worker_start;

mod commands;
#[cfg(feature = "eval")]
mod eval;
mod hooks;
mod memory_audit;
#[cfg(feature = "hud")]
mod terminal_hud;

mod cli_error;
mod console;
mod lesson_format;
mod table;
#[cfg_attr(not(feature = "otel"), path = "absent_telemetry.rs")]
mod telemetry;
mod text_format;
mod tracing_setup;

use std::ffi::OsString;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use self::arguments::{CliArguments, CliCommand, GlobalFlags, MemoryCommand, OtherCommand, ReflectingCommand};
use self::cli_error::{CliError, CommandExit, report_error};
use self::command_context::{CommandContext, warn_about_ignored, warn_about_strange_memory};
use self::console::{ColorChoice, ColorMode, Console, StderrVerbosity, is_broken_pipe};
use self::telemetry::TelemetryExporter;
use self::text_format::one_line;
use crate::hooks::HookAgent;
use archivist_core::config::ProcessEnvironment;
use archivist_core::domain::Timestamp;
use archivist_core::memory::jsonl::is_shielded;

pub use self::process_context::{OutputStream, OutputTarget, ProcessContext};

/// Runs one command and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, process: ProcessContext) -> ExitCode {
    let given: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match CliArguments::parse_from(&given) {
        Ok(arguments) => arguments,
        // An agent takes exit code 2 as an order to stop what it is doing.
        Err(stop) if is_hook_call(&given) && stop.use_stderr() => {
            print_clap_message(&stop, &given, process);
            return CommandExit::Done.into();
        }
        Err(stop) => return print_clap_message(&stop, &given, process).into(),
    };
    let globals = &arguments.globals;
    let environment = process.environment.clone();
    let now = globals.now.unwrap_or(process.now);
    let seed = globals.seed.unwrap_or(process.seed);
    let mut console = Console::new(process, globals.color, globals.stderr_verbosity());
    let paint = console.stderr_color_mode();
    // Messages on stderr would disturb a command that draws on the terminal.
    let is_drawn_over = arguments.command.takes_over_terminal() && console.is_stderr_watched();
    let talk = if is_drawn_over { StderrVerbosity::Quiet } else { globals.stderr_verbosity() };
    let observe = |telemetry: Option<&TelemetryExporter>| {
        tracing_setup::install_subscriber(talk, globals.verbose, paint, telemetry);
    };
    let warn = |session: CommandContext, console: &mut Console| {
        warn_about_ignored(&session.ignored_settings, console);
        warn_about_strange_memory(&session.archivist, console);
        session
    };
    let done = match &arguments.command {
        CliCommand::Other(command) => {
            observe(None);
            run_other(command, &arguments, &environment, (now, seed), &mut console)
        }
        CliCommand::Memory(command) => {
            observe(None);
            CommandContext::open_for_person(globals, &environment, now, seed)
                .map(|session| warn(session, &mut console))
                .and_then(|session| run_with_memory(command, &session, &mut console))
        }
        CliCommand::Reflecting(command) => CommandContext::open(globals, &environment, now, seed).and_then(|session| {
            let session = warn(session, &mut console);
            let telemetry = TelemetryExporter::open(&session.archivist.config().telemetry)?;
            observe(telemetry.as_ref());
            let done = run_reflecting(command, &session, globals, &environment, &mut console);
            telemetry.into_iter().for_each(TelemetryExporter::close);
            done
        }),
    };
    // The agent of a hook must not notice that its end of the pipe, or its disk, takes nothing.
    let flushed = console.flush().or_else(|error| if arguments.command.is_hook() { Ok(()) } else { Err(error) });
    let exit = done.and_then(|exit| flushed.map(|()| exit).map_err(anyhow::Error::from));
    exit.unwrap_or_else(|error| report_error(&error, &mut console)).into()
}

/// Returns true if an agent's hook makes the call, judged by arguments that may be invalid.
fn is_hook_call(given: &[OsString]) -> bool {
    let is_agent = |word: &OsString| word.to_str().is_some_and(|word| HookAgent::parse(word).is_ok());
    let called = given.windows(2).any(|pair| matches!(pair, [hook, agent] if hook == "hook" && is_agent(agent)));
    called || given.get(1).is_some_and(|word| word == "hook")
}

/// Returns the exit code of an internal error. For a hook it is 0, because the agent must not notice.
pub fn internal_error_exit(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let given: Vec<OsString> = arguments.into_iter().collect();
    if is_hook_call(&given) { CommandExit::Done.into() } else { CommandExit::Ours.into() }
}

/// Reports a panic as an error message. A panic that a store expects of a library and catches is not reported.
pub fn report_panic(panic: &PanicHookInfo<'_>) {
    if is_shielded() {
        return;
    }
    let what = panic.payload_as_str().unwrap_or("no reason given");
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    let what = one_line(what);
    // If this fails, there is no other way to report the panic.
    let _ = writeln!(std::io::stderr(), "error: internal error: {what}{place}\nhint: please report it");
}

fn run_other(
    command: &OtherCommand,
    arguments: &CliArguments,
    environment: &ProcessEnvironment,
    (now, seed): (Timestamp, u64),
    console: &mut Console,
) -> anyhow::Result<CommandExit> {
    match command {
        OtherCommand::Demo(command) => command.run(environment, console),
        OtherCommand::Init(command) => command.run(&arguments.globals, environment, now, console),
        OtherCommand::Trust(command) => command.run(&arguments.globals, environment, now, console),
        OtherCommand::Inspect(command) => command.run(&arguments.globals, environment, now, seed, console),
        OtherCommand::Hook(command) => {
            command.run(&arguments.globals, environment, now, console);
            Ok(CommandExit::Done)
        }
        OtherCommand::Archeflow(command) => command.run(&arguments.globals, environment, now, console),
        OtherCommand::Config(command) => command.run(&arguments.globals, environment, console),
        OtherCommand::Prompt(command) => command.run(&arguments.globals, environment, console),
        #[cfg(feature = "eval")]
        OtherCommand::Eval(command) => command.run(now, arguments.globals.seed, console),
        OtherCommand::Completions(command) => command.run(console),
        OtherCommand::Man(command) => command.run(console),
    }
}

fn run_with_memory(
    command: &MemoryCommand,
    session: &CommandContext,
    console: &mut Console,
) -> anyhow::Result<CommandExit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Start)?;
    runtime.block_on(async {
        if !matches!(command, MemoryCommand::Purge(_)) {
            finish_interrupted_purge(session, console).await;
        }
        let done = match command {
            MemoryCommand::Add(command) => command.run(session, console).await,
            MemoryCommand::List(command) => command.run(session, console).await,
            MemoryCommand::Show(command) => command.run(session, console).await,
            MemoryCommand::Why(command) => command.run(session, console).await,
            MemoryCommand::Forget(command) => command.run(session, console).await,
            MemoryCommand::Purge(command) => command.run(session, console).await,
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
        // The output is flushed before the memory is maintained.
        let flushed = console.flush();
        session.archivist.memory.run_maintenance().await;
        let exit = done?;
        flushed?;
        Ok(exit)
    })
}

/// Finishes a purge that was interrupted, so that nothing of it is left for long.
async fn finish_interrupted_purge(session: &CommandContext, console: &mut Console) {
    match session.archivist.resume_purge().await {
        Ok(Some(_)) => console.print_note("a purge that was interrupted is finished"),
        Ok(None) => {}
        Err(error) => console.print_warning(&format!("a purge was interrupted and cannot be finished: {error}")),
    }
}

fn run_reflecting(
    command: &ReflectingCommand,
    session: &CommandContext,
    globals: &GlobalFlags,
    environment: &ProcessEnvironment,
    console: &mut Console,
) -> anyhow::Result<CommandExit> {
    if session.archivist.is_purge_interrupted() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Start)?;
        runtime.block_on(finish_interrupted_purge(session, console));
    }
    match command {
        #[cfg(feature = "serve")]
        ReflectingCommand::Serve(command) => command.run(session, globals, environment, console),
        #[cfg(feature = "hud")]
        ReflectingCommand::Hud(command) => command.run(session, environment, console),
        #[cfg(feature = "serve")]
        ReflectingCommand::Mcp(command) => command.run(session, globals, environment),
        ReflectingCommand::Reflect(command) => command.run(session, environment, console),
        ReflectingCommand::Batch(command) => command.run(session, console),
        ReflectingCommand::Worker(command) => command.run(session, globals, environment, console),
    }
}

/// Prints the help, the version or the error about the arguments.
fn print_clap_message(stop: &clap::Error, given: &[OsString], process: ProcessContext) -> CommandExit {
    let (mut stream, exit) =
        if stop.use_stderr() { (process.errors, CommandExit::Usage) } else { (process.output, CommandExit::Done) };
    let text = match ColorMode::for_stream(requested_color(given), stream.reader, &process.environment.variables) {
        ColorMode::Colour => stop.render().ansi().to_string(),
        ColorMode::Plain => stop.render().to_string(),
    };
    match stream.bytes.write_all(text.as_bytes()).and_then(|()| stream.bytes.flush()) {
        Err(error) if exit == CommandExit::Done && !is_broken_pipe(&error) => CommandExit::Refused,
        _ => exit,
    }
}

/// Returns the value of `--color` for arguments that could not be parsed as a whole.
fn requested_color(given: &[OsString]) -> ColorChoice {
    let mut words = given.iter().filter_map(|word| word.to_str());
    let asked = words.find_map(|word| word.strip_prefix("--color").map(|rest| rest.strip_prefix('=')));
    match asked.and_then(|joined| joined.or_else(|| words.next())) {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}
