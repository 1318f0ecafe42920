//! Messages for a display behind a WebSocket, such as the HUD of OpenAgents.
//!
//! The display may come late, go away and come back, stop reading, or never be there at all: none of it is felt by
//! whoever tells.

mod address;

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::courier::Courier;
use super::queue::{Link, Queue};
use super::{HudError, HudSink};
use crate::domain::HudMessage;

use address::Address;

#[cfg(test)]
#[path = "web_socket_tests.rs"]
mod tests;

/// A display sends hardly anything; what is longer is not read.
const MAX_HEARD_BYTES: usize = 1024 * 1024;

/// How a display is dealt with.
#[derive(Debug, Clone, Copy)]
struct Manners {
    /// The most messages that wait for it.
    queued: usize,
    /// How often it is looked for in vain before it is looked for no more.
    attempts: u32,
    /// How long between two attempts.
    pause: Duration,
    /// How long one attempt may take.
    connecting: Duration,
    /// How long it may take one message in.
    sending: Duration,
    /// How long it may take to say goodbye.
    parting: Duration,
}

/// What the HUD of OpenAgents is used to.
const MANNERS: Manners = Manners {
    queued: 1000,
    attempts: 10,
    pause: Duration::from_secs(2),
    connecting: Duration::from_secs(1),
    sending: Duration::from_secs(5),
    parting: Duration::from_millis(250),
};

/// Sends every message as a text frame to a display, if one listens.
#[derive(Debug)]
pub struct WebSocketSink {
    address: Arc<Address>,
    manners: Manners,
    courier: Courier,
}

impl WebSocketSink {
    /// A display at an address such as `ws://localhost:8080/ws`. Nothing is connected before there is something to say.
    pub fn new(address: &str) -> Result<Self, HudError> {
        Self::with_manners(address, MANNERS)
    }

    fn with_manners(address: &str, manners: Manners) -> Result<Self, HudError> {
        Ok(Self { address: Arc::new(Address::parse(address)?), manners, courier: Courier::new(manners.queued) })
    }

    fn deliver(&self, queue: Arc<Queue>) -> impl Future<Output = ()> + Send + use<> {
        deliver(Arc::clone(&self.address), self.manners, queue)
    }
}

#[async_trait]
impl HudSink for WebSocketSink {
    fn tell(&self, message: &HudMessage) {
        self.courier.take(message, |queue| self.deliver(queue));
    }

    async fn finish(&self, patience: Duration) {
        self.courier.finish(patience, |queue| self.deliver(queue)).await;
    }
}

/// How a conversation ended.
enum End {
    /// All was said.
    Closed,
    /// The display is gone; whether it heard anything.
    Lost { heard: bool },
}

/// Looks for the display, tells it what waits, and looks for it again when it is gone.
async fn deliver(address: Arc<Address>, manners: Manners, queue: Arc<Queue>) {
    let mut in_vain = 0;
    while in_vain < manners.attempts {
        match connect(&address, manners.connecting).await {
            Ok(socket) => {
                queue.set_link(Link::Up);
                match converse(socket, manners, &queue).await {
                    End::Closed => return queue.set_link(Link::Closed),
                    End::Lost { heard: true } => in_vain = 0,
                    End::Lost { heard: false } => in_vain += 1,
                }
            }
            Err(error) => {
                in_vain += 1;
                tracing::trace!(display = %address, %error, "nobody listens");
            }
        }
        queue.set_link(Link::Down);
        sleep(manners.pause).await;
    }
    tracing::debug!(display = %address, "nobody listened for too long; nothing more is sent");
    queue.set_link(Link::GivenUp);
}

async fn connect(address: &Address, patience: Duration) -> Result<WebSocketStream<TcpStream>, tungstenite::Error> {
    let connecting = async {
        let stream = TcpStream::connect(resolved(address).await?.as_slice()).await?;
        // A message is small and wants to be seen now.
        stream.set_nodelay(true)?;
        let limits =
            WebSocketConfig::default().max_message_size(Some(MAX_HEARD_BYTES)).max_frame_size(Some(MAX_HEARD_BYTES));
        let (socket, _) = client_async_with_config(address.uri(), stream, Some(limits)).await?;
        Ok(socket)
    };
    timeout(patience, connecting).await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
}

/// Asks the system in a thread of its own: it may take its time over a name, and a process that ends would wait for it.
async fn resolved(address: &Address) -> io::Result<Vec<SocketAddr>> {
    let (tell, told) = oneshot::channel();
    let (host, port) = address.host_and_port();
    thread::Builder::new().name("display-address".to_owned()).spawn(move || {
        let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // Nobody may want to know any more.
        let _ = tell.send(found);
    })?;
    told.await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()))
}

/// Tells the display what there is to tell, until it is gone or all is said.
async fn converse(mut socket: WebSocketStream<TcpStream>, manners: Manners, queue: &Queue) -> End {
    let mut heard = false;
    loop {
        while let Some((number, message)) = queue.first() {
            match timeout(manners.sending, socket.send(Message::Text(message))).await {
                Ok(Ok(())) => queue.done(number),
                Ok(Err(_)) | Err(_) => return End::Lost { heard },
            }
            heard = true;
        }
        if queue.is_closing() {
            let _ = timeout(manners.parting, part(&mut socket)).await;
            return End::Closed;
        }
        // What a display says is not for us, but it must be read: a connection that is closed over unread words may
        // take the last message with it.
        tokio::select! {
            biased;
            said = socket.next() => if !matches!(said, Some(Ok(_))) { return End::Lost { heard } },
            () = queue.arrived() => {}
        }
    }
}

/// Says goodbye, and waits until the display has heard everything and says so too.
async fn part(socket: &mut WebSocketStream<TcpStream>) -> Result<(), tungstenite::Error> {
    socket.close(None).await?;
    while let Some(said) = socket.next().await {
        said?;
    }
    Ok(())
}
