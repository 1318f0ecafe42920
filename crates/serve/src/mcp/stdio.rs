//! MCP over a pipe: one message per line, until the client closes it.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{McpCaller, McpServer};
use crate::ServerState;

/// The longest line. A longer one is dropped without an answer, because its request is unknown. So this is far more
/// than a call may send: a call with arguments that are too long gets an answer.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Serves one client until the input ends or `stop` is done. Running calls get a few seconds to finish.
pub async fn serve_mcp<R, W>(
    served: Arc<ServerState>,
    (input, output): (R, W),
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut stop = pin!(stop);
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_LINE_BYTES);
    let begun = tokio::select! {
        begun = serve_server(McpServer { served, caller: McpCaller::Parent }, transport) => begun,
        () = &mut stop => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // A client that disconnects before the first message is no error.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    let token = running.cancellation_token();
    let mut ended = pin!(running.waiting());
    let ended = tokio::select! {
        ended = &mut ended => ended,
        () = &mut stop => {
            token.cancel();
            ended.await
        }
    };
    ended.map(|_| ()).map_err(io::Error::other)
}
