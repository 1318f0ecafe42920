//! What an endpoint may do to a connection.

use std::sync::atomic::AtomicU64;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::tests::{endpoint, request};
use super::*;

/// A server that takes one connection, reads the question and does something to whoever asked.
async fn raw<F>(answer: impl FnOnce(TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut question = Vec::new();
        while !question.ends_with(b"}") {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).await.unwrap();
            question.extend_from_slice(&part[..length]);
        }
        answer(stream).await;
    });
    format!("http://{address}/v1")
}

async fn ask(endpoint: ChatEndpoint) -> Result<ModelReply, ModelError> {
    OpenAiModel::new(endpoint).unwrap().send_request(&request(RequestedFormat::Text)).await
}

/// A server that says exactly these bytes and goes.
async fn statement(bytes: &[u8]) -> Result<ModelReply, ModelError> {
    let bytes = bytes.to_vec();
    let url = raw(|mut stream| async move { stream.write_all(&bytes).await.unwrap() }).await;
    ask(endpoint(&url)).await
}

#[tokio::test]
async fn a_connection_that_breaks_off_in_the_middle_is_a_failed_connection() {
    for start in [
        "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\": [",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"cho\r\n",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "",
        "nonsense\r\n\r\n",
    ] {
        let error = statement(start.as_bytes()).await.unwrap_err();
        assert!(matches!(error, ModelError::Connection { .. }), "{start:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_reset_connection_is_a_failed_connection() {
    let url = raw(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{").await.unwrap();
        stream.flush().await.unwrap();
        stream.set_zero_linger().unwrap();
    })
    .await;
    let error = ask(endpoint(&url)).await.unwrap_err();
    assert!(matches!(error, ModelError::Connection { .. }), "{error:?}");
}

#[tokio::test]
async fn a_refusal_that_breaks_off_still_says_its_status() {
    let error = statement(b"HTTP/1.1 503 Busy\r\ncontent-length: 1000\r\n\r\nout to lunch").await.unwrap_err();
    assert_eq!(error, ModelError::Server { status: 503, retry_after: None, said: "out to lunch".to_owned() });
}

#[tokio::test]
async fn a_slow_drip_is_cut_off() {
    let url = raw(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await.unwrap();
        while stream.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let after = Duration::from_millis(100);
    let started = std::time::Instant::now();
    assert_eq!(
        ask(ChatEndpoint { attempt_timeout: after, ..endpoint(&url) }).await,
        Err(ModelError::TimedOut { after })
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn silence_is_cut_off() {
    let url = raw(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let after = Duration::from_millis(50);
    assert_eq!(
        ask(ChatEndpoint { attempt_timeout: after, ..endpoint(&url) }).await,
        Err(ModelError::TimedOut { after })
    );
}

#[tokio::test]
async fn an_endless_answer_is_not_read_to_its_end() {
    const MAX: u64 = 100_000;
    const ENDLESS: u64 = 100_000_000;
    let sent = Arc::new(AtomicU64::new(0));
    for head in ["", "transfer-encoding: chunked\r\n"] {
        sent.store(0, Ordering::SeqCst);
        let (counter, is_chunked) = (Arc::clone(&sent), !head.is_empty());
        let (over, is_over) = tokio::sync::oneshot::channel();
        let url = raw(move |mut stream| async move {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes()).await.unwrap();
            let block = if is_chunked { format!("1000\r\n{}\r\n", " ".repeat(0x1000)) } else { " ".repeat(0x1000) };
            while counter.load(Ordering::SeqCst) < ENDLESS && stream.write_all(block.as_bytes()).await.is_ok() {
                counter.fetch_add(0x1000, Ordering::SeqCst);
            }
            over.send(()).unwrap();
        })
        .await;
        let error = ask(ChatEndpoint { max_reply_bytes: MAX, ..endpoint(&url) }).await.unwrap_err();
        assert_eq!(error, ModelError::Oversized { max_bytes: MAX });
        is_over.await.unwrap();
        // What lies beyond the limit was on its way in buffers, not in our hands.
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent < ENDLESS / 4, "{sent} bytes were taken");
    }
}

#[tokio::test]
async fn an_answer_that_announces_its_size_is_not_read_at_all() {
    let url = raw(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(ask(endpoint(&url)).await, Err(ModelError::Oversized { max_bytes: 1 << 20 }));
}

#[tokio::test]
async fn an_endless_refusal_is_read_for_its_first_words() {
    let url = raw(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        while stream.write_all("no ".repeat(1000).as_bytes()).await.is_ok() {}
    })
    .await;
    let error = ask(endpoint(&url)).await.unwrap_err();
    assert!(matches!(&error, ModelError::BadRequest { status: 400, said } if said.starts_with("no no")), "{error:?}");
}

#[tokio::test]
async fn an_answer_of_just_the_limit_is_read() {
    let body = json!({"choices": [{"message": {"content": "Hello"}}]}).to_string();
    let length = body.len();
    for (max_reply_bytes, is_read) in [(length, true), (length - 1, false)] {
        let body = body.clone();
        let url = raw(move |mut stream| async move {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{body}").as_bytes()).await.unwrap();
        })
        .await;
        let max_reply_bytes = u64::try_from(max_reply_bytes).unwrap();
        assert_eq!(ask(ChatEndpoint { max_reply_bytes, ..endpoint(&url) }).await.is_ok(), is_read);
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_unreadable() {
    let error = statement(b"HTTP/1.1 200 OK\r\n\r\n{\"choices\": \"\xff\xfe\"}").await.unwrap_err();
    assert_eq!(error, ModelError::Unreadable { why: "it is not UTF-8 from byte 13 on".to_owned() });
}

#[tokio::test]
async fn one_question_is_one_request_even_when_it_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 16]).await;
        }
    });
    let error = ask(endpoint(&url)).await.unwrap_err();
    assert!(matches!(error, ModelError::Connection { .. }), "{error:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
