//! One agent at the other end of a pipe: a message a line, until it hangs up.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Caller, Mcp};
use crate::serve::Served;

/// A longer line is dropped without an answer, for nobody knows which question it was. So this is far more than what a
/// call may say: whoever says too much is to be told.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Answers until the input ends or `stop` is done. Calls under way get a few seconds to come to their end.
pub async fn converse<R, W>(
    served: Arc<Served>,
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
        begun = serve_server(Mcp { served, caller: Caller::Parent }, transport) => begun,
        () = &mut stop => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // Whoever hangs up before a word was said wanted nothing.
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
