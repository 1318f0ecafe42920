//! `archivist mcp`: the memory for one agent, at the other end of stdin and stdout.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;

use super::arguments::Globals;
use super::failure::{Exit, Failure};
use super::reflecting::{hud_patience, runtime};
use super::serve::served;
use super::session::Session;
use super::stop::asked_to_stop;
use crate::config::Surroundings;
use crate::serve::{self, Access, Writes};

const EXAMPLES: &str = "\
Examples:
  claude mcp add archivist -- archivist mcp
  codex mcp add archivist -- archivist mcp
  gemini mcp add archivist archivist mcp

An agent starts it; a person has no use for it. stdout is the protocol and nothing else. It ends when stdin does, or by an
interrupt or a TERM signal. `archivist serve` has the same at /mcp. docs/mcp.md lists the tools.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Mcp {}

impl Mcp {
    pub(super) fn run(&self, session: &Session, globals: &Globals, surroundings: &Surroundings) -> Result<Exit> {
        // Whoever started this process may write into the memory anyway: a token would keep nobody out.
        let access = Access::new(Ipv4Addr::LOCALHOST.into(), &[], None, Writes::Open)
            .map_err(|error| Failure::user(error.to_string()))?;
        let served = served(session, globals, surroundings, access)?;
        let runtime = runtime()?;
        let ended = runtime.block_on(async {
            let ended =
                serve::converse(Arc::clone(&served), (tokio::io::stdin(), tokio::io::stdout()), asked_to_stop()).await;
            served.finish(hud_patience(session)).await;
            session.desk.memory.maintain().await;
            ended
        });
        // A read of stdin cannot be taken back; nobody waits for it.
        runtime.shutdown_background();
        ended.map_err(|error| {
            Failure::user(format!("the conversation broke off: {error}"))
                .with_hint("an agent must begin with `initialize`; docs/mcp.md says how to register it")
        })?;
        Ok(Exit::Done)
    }
}
