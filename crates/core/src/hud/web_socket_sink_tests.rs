use std::time::Instant;

use tokio::net::TcpListener;
use tokio_tungstenite::accept_async;

use super::super::tests::{number, numbered};
use super::*;

const PATIENCE: Duration = Duration::from_secs(5);

/// Everything as it is, but in a hurry.
const HURRIED: DisplayConnectionSettings = DisplayConnectionSettings { pause: Duration::from_millis(20), ..MANNERS };

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("ws://{}/ws", listener.local_addr().unwrap());
    (listener, address)
}

async fn accepted(listener: &TcpListener) -> WebSocketStream<TcpStream> {
    accept_async(listener.accept().await.unwrap().0).await.unwrap()
}

/// Hears as many messages as there are, or so many.
async fn hear(socket: &mut WebSocketStream<TcpStream>, most: usize) -> Vec<u64> {
    let mut heard = Vec::new();
    while heard.len() < most {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => heard.push(number(&text)),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break,
        }
    }
    heard
}

/// An address at which nobody listens.
async fn deserted() -> String {
    listener().await.1
}

#[tokio::test]
async fn a_display_hears_everything_in_order_before_the_process_ends() {
    let (listener, address) = listener().await;
    let display = tokio::spawn(async move {
        let mut socket = accepted(&listener).await;
        // It tells newcomers what it has heard from others.
        for old in 0..100 {
            socket.send(Message::text(format!("{{\"type\":\"old\",\"n\":{old}}}"))).await.unwrap();
        }
        hear(&mut socket, usize::MAX).await
    });
    let sink = WebSocketSink::new(&address).unwrap();
    (0..500).for_each(|count| sink.send_message(&numbered(count)));
    sink.flush_messages(PATIENCE).await;
    assert!(sink.courier.queue.is_empty());
    drop(sink);
    assert_eq!(display.await.unwrap(), (0..500).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_sink_that_finished_can_be_told_more() {
    let (listener, address) = listener().await;
    let display = tokio::spawn(async move {
        let first = hear(&mut accepted(&listener).await, usize::MAX).await;
        (first, hear(&mut accepted(&listener).await, usize::MAX).await)
    });
    let sink = WebSocketSink::new(&address).unwrap();
    for count in 1..=2 {
        sink.send_message(&numbered(count));
        sink.flush_messages(PATIENCE).await;
    }
    assert_eq!(display.await.unwrap(), (vec![1], vec![2]));
}

#[tokio::test]
async fn where_nobody_listens_telling_costs_nothing_and_finishing_hardly_anything() {
    let sink = WebSocketSink::new(&deserted().await).unwrap();
    let began = Instant::now();
    (0..5000).for_each(|count| sink.send_message(&numbered(count)));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    // The oldest are forgotten.
    let (first, _) = sink.courier.queue.first_message().unwrap();
    assert_eq!(first, 4000);
    let began = Instant::now();
    sink.flush_messages(Duration::from_secs(60)).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(sink.courier.queue.link_state(), LinkState::Down);
    let began = Instant::now();
    sink.flush_messages(Duration::from_secs(60)).await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn nothing_to_deliver_is_delivered_at_once() {
    let sink = WebSocketSink::new(&deserted().await).unwrap();
    sink.flush_messages(Duration::from_secs(60)).await;
    assert_eq!(sink.courier.queue.link_state(), LinkState::Untried);
}

#[tokio::test]
async fn a_display_is_looked_for_ten_times_and_then_no_more() {
    let sink = WebSocketSink::with_settings(&deserted().await, HURRIED).unwrap();
    sink.send_message(&numbered(1));
    let given_up = async {
        while sink.courier.queue.link_state() != LinkState::GivenUp {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(30), given_up).await.unwrap();
    sink.send_message(&numbered(2));
    assert!(sink.courier.queue.is_empty());
    sink.flush_messages(Duration::from_secs(60)).await;
}

#[tokio::test]
async fn a_display_that_comes_late_hears_what_waited_for_it() {
    let (listener, address) = listener().await;
    let at = listener.local_addr().unwrap();
    drop(listener);
    let sink = WebSocketSink::with_settings(&address, DisplayConnectionSettings { attempts: 1000, ..HURRIED }).unwrap();
    (1..=3).for_each(|count| sink.send_message(&numbered(count)));
    while sink.courier.queue.link_state() != LinkState::Down {
        sleep(Duration::from_millis(5)).await;
    }
    let listener = TcpListener::bind(at).await.unwrap();
    assert_eq!(hear(&mut accepted(&listener).await, 3).await, [1, 2, 3]);
}

#[tokio::test]
async fn a_display_that_dies_and_comes_back_goes_on_hearing() {
    let (listener, address) = listener().await;
    let sink = WebSocketSink::with_settings(&address, HURRIED).unwrap();
    for life in 0..3 {
        sink.send_message(&numbered(2 * life));
        let mut socket = accepted(&listener).await;
        assert_eq!(hear(&mut socket, 1).await, [2 * life]);
        sink.send_message(&numbered(2 * life + 1));
        assert_eq!(hear(&mut socket, 1).await, [2 * life + 1]);
        // Without a goodbye.
        drop(socket);
        while sink.courier.queue.link_state() == LinkState::Up {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_display_that_never_reads_holds_nobody_up() {
    let (listener, address) = listener().await;
    let settings = DisplayConnectionSettings { sending: Duration::from_millis(100), ..HURRIED };
    let sink = WebSocketSink::with_settings(&address, settings).unwrap();
    let display = tokio::spawn(async move {
        let mut deaf = Vec::new();
        loop {
            deaf.push(accepted(&listener).await);
        }
    });
    let long = HudMessage::ArchivistMemoryHighlight {
        memory_id: crate::domain::MemoryId::parse("mem-1").unwrap(),
        summary: "long ".repeat(4000),
        importance: crate::domain::Importance::MANUAL,
        ts: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    for _ in 0..20 {
        let began = Instant::now();
        (0..100).for_each(|_| sink.send_message(&long));
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        sleep(Duration::from_millis(10)).await;
    }
    let began = Instant::now();
    sink.flush_messages(Duration::from_millis(500)).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    display.abort();
}

#[tokio::test]
async fn somebody_who_listens_but_is_no_display_holds_nobody_up() {
    let (listener, address) = listener().await;
    let settings = DisplayConnectionSettings { connecting: Duration::from_millis(100), ..HURRIED };
    let sink = WebSocketSink::with_settings(&address, settings).unwrap();
    sink.send_message(&numbered(1));
    // It takes the connection and never answers.
    let _held = listener.accept().await.unwrap();
    let began = Instant::now();
    sink.flush_messages(Duration::from_secs(60)).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn outside_of_a_runtime_messages_wait_for_one() {
    let sink = WebSocketSink::new("ws://127.0.0.1:9/ws").unwrap();
    sink.send_message(&numbered(1));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (listener, address) = runtime().block_on(listener());
    drop(listener);
    let sink = WebSocketSink::new(&address).unwrap();
    sink.send_message(&numbered(1));
    assert_eq!(sink.courier.queue.link_state(), LinkState::Untried);
    let heard = |count| {
        runtime().block_on(async {
            let listener =
                TcpListener::bind(address.trim_start_matches("ws://").trim_end_matches("/ws")).await.unwrap();
            let display = tokio::spawn(async move { hear(&mut accepted(&listener).await, usize::MAX).await });
            sink.send_message(&numbered(count));
            sink.flush_messages(PATIENCE).await;
            display.await.unwrap()
        })
    };
    assert_eq!(heard(2), [1, 2]);
    // The runtime is gone, and so is whoever delivered on it.
    sink.send_message(&numbered(3));
    assert_eq!(heard(4), [3, 4]);
}

#[test]
fn addresses_are_looked_at_before_they_are_used() {
    #[track_caller]
    fn check(address: &str, expected: &str) {
        let error = WebSocketSink::new(address).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().is_some());
    }
    check("", "`` is not the address of a display: empty string");
    check(
        "http://localhost:8080/ws",
        "`http://localhost:8080/ws` is not the address of a display: it begins with ws://",
    );
    check("localhost:8080", "`localhost:8080` is not the address of a display: it begins with ws://");
    check(
        "wss://me:secret@example.com/ws?token=secret",
        "`wss://example.com/ws` asks for an encrypted connection, and displays are spoken to without",
    );
    check(
        "ws://me:secret@ho st/ws?token=secret",
        "`ws://ho st/ws` is not the address of a display: invalid uri character",
    );
    for address in ["ws://localhost:8080/ws", "ws://localhost", "ws://[::1]:8080/", " ws://u:p@h/?token=secret\n"] {
        let sink = WebSocketSink::new(address).unwrap();
        assert!(!format!("{sink:?}").contains("secret"));
    }
}
