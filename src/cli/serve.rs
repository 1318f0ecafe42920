//! `archivist serve`: the memory over HTTP.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use tokio::net::TcpListener;

use super::arguments::Globals;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::reflecting::{hud_patience, runtime, service};
use super::session::Session;
use super::start::WorkerStart;
use super::stop::asked_to_stop;
use crate::config::{ServeSettings, Surroundings, WritesChoice};
use crate::domain::IdSource;
use crate::model::key_from_file;
use crate::serve::{self, Access, Bounds, Served, Writes};

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
pub(super) struct Serve {
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

impl Serve {
    pub(super) fn run(
        &self,
        session: &Session,
        globals: &Globals,
        surroundings: &Surroundings,
        console: &mut Console,
    ) -> Result<Exit> {
        if self.openapi {
            console.json(&serve::document())?;
            return Ok(Exit::Done);
        }
        let address = self.address(&session.desk.config().serve)?;
        let access = access(&session.desk.config().serve, surroundings, address)?;
        let served = served(session, globals, surroundings, access)?;
        runtime()?.block_on(async {
            let listener = TcpListener::bind(address).await.map_err(|error| {
                Failure::user(format!("cannot listen at {address}: {error}"))
                    .with_hint("another server may listen there; `--port 0` takes any port that is free")
            })?;
            let bound = listener.local_addr()?;
            console.line(&format!("http://{bound}/"))?;
            console.flush()?;
            serve::serve(listener, Arc::clone(&served), asked_to_stop()).await?;
            served.finish(hud_patience(session)).await;
            session.desk.memory.maintain().await;
            Ok(Exit::Done)
        })
    }

    fn address(&self, settings: &ServeSettings) -> Result<SocketAddr, Failure> {
        let text = self.address.as_deref().unwrap_or(&settings.address);
        let mut address: SocketAddr = text.replace("localhost:", "127.0.0.1:").parse().map_err(|_| {
            Failure::usage(format!("`{text}` is not an address and a port")).with_hint("write it like 127.0.0.1:4664")
        })?;
        address.set_port(self.port.unwrap_or(address.port()));
        Ok(address)
    }
}

/// Who may ask at this address.
fn access(settings: &ServeSettings, surroundings: &Surroundings, address: SocketAddr) -> Result<Access, Failure> {
    let token = token(settings, surroundings)?;
    let writes = match settings.writes {
        WritesChoice::Open => Writes::Open,
        WritesChoice::Token => Writes::Token,
        WritesChoice::Closed => Writes::Closed,
    };
    Access::new(address.ip(), &settings.other_names(), token.as_deref(), writes).map_err(|error| {
        Failure::user(error.to_string()).with_hint("put one into a file and name it in `serve.tokenFile`")
    })
}

/// What the server answers from.
pub(super) fn served(
    session: &Session,
    globals: &Globals,
    surroundings: &Surroundings,
    access: Access,
) -> Result<Arc<Served>> {
    let settings = &session.desk.config().serve;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let (patience, head_patience, parting) = settings.patience();
    let bounds = Bounds {
        requests_per_second: settings.requests_per_second,
        connections: count(settings.max_connections),
        listeners: count(settings.max_listeners),
        body_bytes: usize::try_from(settings.max_body_bytes).unwrap_or(usize::MAX),
        patience,
        head_patience,
        parting,
    };
    let start = WorkerStart::new(session, globals, surroundings);
    let (clock, ids) = (session.clock.clone(), IdSource::new(session.seed));
    let start_worker = Box::new(move || start.start());
    Ok(Served::new(session.desk.clone(), service(session, surroundings)?, (clock, ids), (access, bounds), start_worker))
}

/// The token, from its file, else from its variable.
fn token(settings: &ServeSettings, surroundings: &Surroundings) -> Result<Option<String>, Failure> {
    use secrecy::ExposeSecret;
    if let Some(path) = settings.token_path(surroundings.home.as_deref()) {
        let read = |path: &Path| key_from_file(path).map(|token| token.expose_secret().to_owned());
        return read(&path)
            .map(Some)
            .map_err(|error| Failure::user(error.to_string()).with_hint("look at `serve.tokenFile`"));
    }
    let value = surroundings.variable(&settings.token_variable).map(str::trim).filter(|value| !value.is_empty());
    Ok(value.map(str::to_owned))
}
