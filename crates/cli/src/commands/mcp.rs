//! `archivist mcp`: serves the memory to one agent over stdin and stdout.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;

use super::serve::build_server_state;
use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::session_trigger::build_runtime;
use crate::stop_signal::wait_for_stop_signal;
use archivist_core::config::ProcessEnvironment;
use archivist_serve::{self as serve, AccessPolicy, WriteAccess};

const EXAMPLES: &str = "\
Examples:
  claude mcp add archivist -- archivist mcp
  codex mcp add archivist -- archivist mcp
  gemini mcp add archivist archivist mcp

An agent starts it; a person has no use for it. stdout is the protocol and nothing else. It ends when stdin does, or by an
interrupt or a TERM signal. `archivist serve` has the same at /mcp. docs/mcp.md lists the tools.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct McpCommand {}

impl McpCommand {
    pub(crate) fn run(
        &self,
        session: &CommandContext,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
    ) -> Result<CommandExit> {
        // The process that started this one can write into the memory anyway, so a token would protect nothing.
        let access = AccessPolicy::new(Ipv4Addr::LOCALHOST.into(), &[], None, WriteAccess::Open)
            .map_err(|error| CliError::user_error(error.to_string()))?;
        let served = build_server_state(session, globals, environment, access)?;
        let runtime = build_runtime()?;
        let ended = runtime.block_on(async {
            let ended = serve::serve_mcp(
                Arc::clone(&served),
                (tokio::io::stdin(), tokio::io::stdout()),
                wait_for_stop_signal(),
            )
            .await;
            session.archivist.flush_displays().await;
            session.archivist.memory.run_maintenance().await;
            ended
        });
        // A pending read of stdin cannot be cancelled, so it is not awaited.
        runtime.shutdown_background();
        ended.map_err(|error| {
            CliError::user_error(format!("the conversation broke off: {error}"))
                .with_hint("an agent must begin with `initialize`; docs/mcp.md says how to register it")
        })?;
        Ok(CommandExit::Done)
    }
}
