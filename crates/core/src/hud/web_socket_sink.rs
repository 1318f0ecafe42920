//! A sink for a display behind a WebSocket, such as the HUD of OpenAgents.
//!
//! The display may start late, disconnect and return, stop reading, or never be there at all; senders never notice.

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

use super::background_delivery::BackgroundDelivery;
use super::delivery_queue::{LinkState, MessageQueue};
use super::{HudError, HudSink};
use crate::domain::HudMessage;

use address::DisplayAddress;

#[cfg(test)]
#[path = "web_socket_sink_tests.rs"]
mod tests;

/// The longest message that is read from a display.
const MAX_HEARD_BYTES: usize = 1024 * 1024;

/// The limits and timeouts of a connection to a display.
#[derive(Debug, Clone, Copy)]
struct DisplayConnectionSettings {
    /// The most messages that are queued.
    queued: usize,
    /// The number of failed attempts after which delivery is given up.
    attempts: u32,
    /// The pause between two attempts.
    pause: Duration,
    /// The time limit of one attempt to connect.
    connecting: Duration,
    /// The time limit for sending one message.
    sending: Duration,
    /// The time limit for closing the connection.
    parting: Duration,
}

/// The settings that fit the HUD of OpenAgents.
const MANNERS: DisplayConnectionSettings = DisplayConnectionSettings {
    queued: 1000,
    attempts: 10,
    pause: Duration::from_secs(2),
    connecting: Duration::from_secs(1),
    sending: Duration::from_secs(5),
    parting: Duration::from_millis(250),
};

/// Sends every message as a text frame to a display, if one is connected.
#[derive(Debug)]
pub struct WebSocketSink {
    address: Arc<DisplayAddress>,
    settings: DisplayConnectionSettings,
    courier: BackgroundDelivery,
}

impl WebSocketSink {
    /// Creates a sink for an address such as `ws://localhost:8080/ws`. It connects when the first message is sent.
    pub fn new(address: &str) -> Result<Self, HudError> {
        Self::with_settings(address, MANNERS)
    }

    fn with_settings(address: &str, settings: DisplayConnectionSettings) -> Result<Self, HudError> {
        Ok(Self {
            address: Arc::new(DisplayAddress::parse(address)?),
            settings,
            courier: BackgroundDelivery::new(settings.queued),
        })
    }

    fn deliver_queue(&self, queue: Arc<MessageQueue>) -> impl Future<Output = ()> + Send + use<> {
        deliver_messages(Arc::clone(&self.address), self.settings, queue)
    }
}

#[async_trait]
impl HudSink for WebSocketSink {
    fn send_message(&self, message: &HudMessage) {
        self.courier.enqueue_message(message, |queue| self.deliver_queue(queue));
    }

    async fn flush_messages(&self, patience: Duration) {
        self.courier.flush_queue(patience, |queue| self.deliver_queue(queue)).await;
    }
}

/// The way in which a connection ended.
enum ConnectionEnd {
    /// Everything was sent and the connection closed.
    Closed,
    /// The connection was lost; `heard` is true if a message had been sent on it.
    Lost { heard: bool },
}

/// Connects to the display, sends the queued messages, and reconnects when the connection is lost.
async fn deliver_messages(address: Arc<DisplayAddress>, settings: DisplayConnectionSettings, queue: Arc<MessageQueue>) {
    let mut in_vain = 0;
    while in_vain < settings.attempts {
        match connect_to_display(&address, settings.connecting).await {
            Ok(socket) => {
                queue.set_link_state(LinkState::Up);
                match send_queued_messages(socket, settings, &queue).await {
                    ConnectionEnd::Closed => return queue.set_link_state(LinkState::Closed),
                    ConnectionEnd::Lost { heard: true } => in_vain = 0,
                    ConnectionEnd::Lost { heard: false } => in_vain += 1,
                }
            }
            Err(error) => {
                in_vain += 1;
                tracing::trace!(display = %address, %error, "nobody listens");
            }
        }
        queue.set_link_state(LinkState::Down);
        sleep(settings.pause).await;
    }
    tracing::debug!(display = %address, "nobody listened for too long; nothing more is sent");
    queue.set_link_state(LinkState::GivenUp);
}

async fn connect_to_display(
    address: &DisplayAddress,
    patience: Duration,
) -> Result<WebSocketStream<TcpStream>, tungstenite::Error> {
    let connecting = async {
        let stream = TcpStream::connect(resolve_address(address).await?.as_slice()).await?;
        // Messages are small and must not be delayed.
        stream.set_nodelay(true)?;
        let limits =
            WebSocketConfig::default().max_message_size(Some(MAX_HEARD_BYTES)).max_frame_size(Some(MAX_HEARD_BYTES));
        let (socket, _) = client_async_with_config(address.uri(), stream, Some(limits)).await?;
        Ok(socket)
    };
    timeout(patience, connecting).await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
}

/// Resolves the host in a thread of its own: a slow name lookup must not delay the end of the process.
async fn resolve_address(address: &DisplayAddress) -> io::Result<Vec<SocketAddr>> {
    let (tell, told) = oneshot::channel();
    let (host, port) = address.host_and_port();
    thread::Builder::new().name("display-address".to_owned()).spawn(move || {
        let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // The receiver may be gone already.
        let _ = tell.send(found);
    })?;
    told.await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()))
}

/// Sends queued messages until the connection is lost, or until all are sent and closing is requested.
async fn send_queued_messages(
    mut socket: WebSocketStream<TcpStream>,
    settings: DisplayConnectionSettings,
    queue: &MessageQueue,
) -> ConnectionEnd {
    let mut heard = false;
    loop {
        while let Some((number, message)) = queue.first_message() {
            match timeout(settings.sending, socket.send(Message::Text((*message).into()))).await {
                Ok(Ok(())) => queue.remove_delivered(number),
                Ok(Err(_)) | Err(_) => return ConnectionEnd::Lost { heard },
            }
            heard = true;
        }
        if queue.is_closing() {
            let _ = timeout(settings.parting, close_connection(&mut socket)).await;
            return ConnectionEnd::Closed;
        }
        // Messages from the display are ignored, but they must be read: closing a connection with unread data may
        // lose the last message.
        tokio::select! {
            biased;
            said = socket.next() => if !matches!(said, Some(Ok(_))) { return ConnectionEnd::Lost { heard } },
            () = queue.wait_for_work() => {}
        }
    }
}

/// Closes the connection and waits for the display to confirm that it received everything.
async fn close_connection(socket: &mut WebSocketStream<TcpStream>) -> Result<(), tungstenite::Error> {
    socket.close(None).await?;
    while let Some(said) = socket.next().await {
        said?;
    }
    Ok(())
}
