//! A network on the loopback that breaks when it is told to: between a program and its server, byte for byte.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What happens to the traffic from now on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// The connection is cut once so many bytes have gone to the server; what was under way is lost.
    CutToServer(usize),
    /// The same on the way back.
    CutToClient(usize),
    /// Everything takes this much longer.
    Delay(Duration),
}

#[derive(Debug, Default)]
struct State {
    /// How many bytes may still go to the server, and back; `None`: as many as there are.
    to_server: Option<usize>,
    to_client: Option<usize>,
    delay: Duration,
}

/// The broken network.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// The server's address as it is seen through it.
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    is_refusing: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
enum Way {
    ToServer,
    ToClient,
}

impl Proxy {
    /// A network to the server at this address, whole at first.
    pub(crate) async fn to(url: &str) -> Self {
        let (before, behind) = url.split_once("://").expect("an address");
        let (host, rest) = behind.split_once('/').expect("a database");
        let (user, host) = host.split_once('@').map_or(("", host), |(user, host)| (user, host));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (state, is_refusing) = (Arc::new(Mutex::new(State::default())), Arc::new(AtomicBool::new(false)));
        let (server, shared, refusing) = (host.to_owned(), Arc::clone(&state), Arc::clone(&is_refusing));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if refusing.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(&server).await else { continue };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let (one, other) = (Arc::clone(&shared), Arc::clone(&shared));
                tokio::spawn(async move {
                    // Whichever way ends first takes the other one along.
                    tokio::select! {
                        () = carry(from_client, to_server, one, Way::ToServer) => {}
                        () = carry(from_server, to_client, other, Way::ToClient) => {}
                    }
                });
            }
        });
        Self { url: format!("{before}://{user}@127.0.0.1:{port}/{rest}"), state, is_refusing }
    }

    /// Arms one fault. After a cut everything is whole again.
    pub(crate) fn next(&self, fault: Fault) {
        let mut state = self.state.lock().expect("a state");
        *state = State::default();
        match fault {
            Fault::CutToServer(bytes) => state.to_server = Some(bytes),
            Fault::CutToClient(bytes) => state.to_client = Some(bytes),
            Fault::Delay(by) => state.delay = by,
        }
    }

    /// Lets nobody through any more, and ends what there is.
    pub(crate) fn refuse(&self) {
        self.is_refusing.store(true, Ordering::Relaxed);
        self.next(Fault::CutToServer(0));
    }
}

async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, state: Arc<Mutex<State>>, way: Way) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = from.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        let (allowed, delay) = {
            let mut state = state.lock().expect("a state");
            let delay = state.delay;
            let left = match way {
                Way::ToServer => &mut state.to_server,
                Way::ToClient => &mut state.to_client,
            };
            let allowed = left.map_or(read, |left| left.min(read));
            if let Some(left) = left {
                *left -= allowed;
            }
            if allowed < read {
                *state = State::default();
            }
            (allowed, delay)
        };
        tokio::time::sleep(delay).await;
        if to.write_all(&buffer[..allowed]).await.is_err() || allowed < read {
            return;
        }
    }
}
