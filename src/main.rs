//! The command `archivist`: hands the process over to the command line and ends with its exit code.

use std::panic;
use std::process::ExitCode;

use archivist::cli::{self, Process};

fn main() -> ExitCode {
    panic::set_hook(Box::new(cli::report_panic));
    panic::catch_unwind(|| cli::run(std::env::args_os(), Process::of_this_one()))
        .unwrap_or_else(|_| cli::broke(std::env::args_os()))
}
