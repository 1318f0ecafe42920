//! `archivist serve`: serves the memory over HTTP.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use tokio::net::TcpListener;

use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::session_trigger::build_runtime;
use crate::stop_signal::wait_for_stop_signal;
use crate::worker_start::WorkerLauncher;
use archivist_core::config::{ProcessEnvironment, ServeSettings, WriteAccessChoice};
use archivist_core::model::read_key_file;
use archivist_serve::{self as serve, AccessPolicy, ServerLimits, ServerState, WriteAccess};

const EXAMPLES: &str = "\
Examples:
  archivist serve
  archivist serve --port 0
  ARCHIVIST_TOKEN=… archivist serve --address 0.0.0.0:4664
  archivist serve --openapi > openapi.json

The first line on stdout is the address of the panel. The API is under /v1, its description at /v1/openapi.json, figures
for Prometheus at /metrics. Stopped by an interrupt or a TERM signal, it lets requests under way come to their end.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeCommand {
    /// Where to listen; `serve.address` otherwise
    #[arg(long, value_name = "ADDRESS:PORT")]
    address: Option<String>,
    /// Listen at this port of the address; 0 takes any that is free
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Print the OpenAPI description of the API, and end
    #[arg(long)]
    openapi: bool,
}

impl ServeCommand {
    pub(crate) fn run(
        &self,
        session: &CommandContext,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        if self.openapi {
            console.print_json(&serve::openapi_document())?;
            return Ok(CommandExit::Done);
        }
        let address = self.listen_address(&session.archivist.config().serve)?;
        let access = build_access(&session.archivist.config().serve, environment, address)?;
        let access = if access.has_decision_token() { access } else { show_decision_token(access, console)? };
        let served = build_server_state(session, globals, environment, access)?;
        build_runtime()?.block_on(async {
            let listener = TcpListener::bind(address).await.map_err(|error| {
                CliError::user_error(format!("cannot listen at {address}: {error}"))
                    .with_hint("another server may listen there; `--port 0` takes any port that is free")
            })?;
            let bound = listener.local_addr()?;
            console.print_line(&format!("http://{bound}/"))?;
            console.flush()?;
            serve::run_server(listener, Arc::clone(&served), wait_for_stop_signal()).await?;
            session.archivist.flush_displays().await;
            session.archivist.memory.run_maintenance().await;
            Ok(CommandExit::Done)
        })
    }

    fn listen_address(&self, settings: &ServeSettings) -> Result<SocketAddr, CliError> {
        let text = self.address.as_deref().unwrap_or(&settings.address);
        let mut address: SocketAddr = text.replace("localhost:", "127.0.0.1:").parse().map_err(|_| {
            CliError::usage_error(format!("`{text}` is not an address and a port"))
                .with_hint("write it like 127.0.0.1:4664")
        })?;
        address.set_port(self.port.unwrap_or(address.port()));
        Ok(address)
    }
}

/// Returns the access rules for this address.
fn build_access(
    settings: &ServeSettings,
    environment: &ProcessEnvironment,
    address: SocketAddr,
) -> Result<AccessPolicy, CliError> {
    let token = read_token(settings, environment)?;
    let writes = match settings.writes {
        WriteAccessChoice::Open => WriteAccess::Open,
        WriteAccessChoice::Token => WriteAccess::Token,
        WriteAccessChoice::Closed => WriteAccess::Closed,
    };
    AccessPolicy::new(address.ip(), &settings.other_names(), token.as_deref(), writes).map_err(|error| {
        CliError::user_error(error.to_string()).with_hint("put one into a file and name it in `serve.tokenFile`")
    })
}

/// Tells the person who starts a server without a token what decisions in the panel ask for. Where no person is at a
/// terminal, nobody can decide over HTTP.
fn show_decision_token(access: AccessPolicy, console: &mut Console) -> Result<AccessPolicy, CliError> {
    if !console.is_person_there() || access.write_access() == WriteAccess::Closed {
        return Ok(access);
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| CliError::user_error(format!("no random numbers: {error}")))?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    console.print_note(&format!("to approve or promote lessons, the panel asks for this token: {token}"));
    Ok(access.with_decision_token(&token))
}

/// Returns the state that the server answers from.
pub(crate) fn build_server_state(
    session: &CommandContext,
    globals: &GlobalFlags,
    environment: &ProcessEnvironment,
    access: AccessPolicy,
) -> Result<Arc<ServerState>> {
    let settings = &session.archivist.config().serve;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let (patience, head_patience, parting) = settings.request_timeouts();
    let bounds = ServerLimits {
        requests_per_second: settings.requests_per_second,
        connections: count(settings.max_connections),
        listeners: count(settings.max_listeners),
        body_bytes: usize::try_from(settings.max_body_bytes).unwrap_or(usize::MAX),
        patience,
        head_patience,
        parting,
    };
    // Settings that no reflection could work with are refused now, not at the first request.
    session.archivist.reflection_service()?;
    let start = WorkerLauncher::new(session, globals, environment);
    let start_worker = Box::new(move || start.launch_worker());
    Ok(ServerState::new(session.archivist.clone(), (access, bounds), start_worker))
}

/// Reads the token from its file, else from its variable.
fn read_token(settings: &ServeSettings, environment: &ProcessEnvironment) -> Result<Option<String>, CliError> {
    use secrecy::ExposeSecret;
    if let Some(path) = settings.token_path(environment.home.as_deref()) {
        let read = |path: &Path| read_key_file(path).map(|token| token.expose_secret().to_owned());
        return read(&path)
            .map(Some)
            .map_err(|error| CliError::user_error(error.to_string()).with_hint("look at `serve.tokenFile`"));
    }
    let value =
        environment.environment_variable(&settings.token_variable).map(str::trim).filter(|value| !value.is_empty());
    Ok(value.map(str::to_owned))
}
