//! The command `archivist`: hands the process over to the command line and ends with its exit code.

use std::panic;
use std::process::ExitCode;

// The façade names what is linked instead of the shared libgcc (see build.rs); without this line nothing of it is linked.
use archivist as _;
use archivist_cli::{self as cli, ProcessContext};

fn main() -> ExitCode {
    panic::set_hook(Box::new(cli::report_panic));
    panic::catch_unwind(|| cli::run(std::env::args_os(), ProcessContext::from_running_process()))
        .unwrap_or_else(|_| cli::internal_error_exit(std::env::args_os()))
}
