//! Messages to displays, seen from outside.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use archivist_core::domain::{HudMessage, Importance, MemoryId};
use archivist_core::hud::{HudBroadcaster, JsonlSink};
use tempfile::TempDir;

use crate::samples::at;
use crate::support::World;

const WRITERS: usize = 8;
const MESSAGES: usize = 500;

/// Tells a child process which file to write to, and who it is.
const CHILD_FILE: &str = "ARCHIVIST_TEST_HUD_FILE";
const CHILD_PART: &str = "ARCHIVIST_TEST_HUD_PART";

fn message(writer: &str, number: usize) -> HudMessage {
    HudMessage::ArchivistMemoryHighlight {
        memory_id: MemoryId::parse(&format!("mem-{writer}-{number}")).unwrap(),
        summary: format!("{writer} says\n{}", "something long ".repeat(number % 200)),
        importance: Importance::MANUAL,
        ts: at(),
    }
}

/// Not a test of its own: a process that tells.
#[test]
fn child() {
    let (Ok(file), Ok(part)) = (std::env::var(CHILD_FILE), std::env::var(CHILD_PART)) else {
        return;
    };
    let hud = HudBroadcaster::new(vec![Box::new(JsonlSink::to_file(Path::new(&file)).unwrap())]);
    (0..MESSAGES).for_each(|number| hud.send_message(&message(&part, number)));
}

fn spawn(file: &Path, part: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["hud::child", "--exact", "--nocapture"])
        .env(CHILD_FILE, file)
        .env(CHILD_PART, format!("w{part}"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn processes_that_share_a_file_leave_whole_lines() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("hud.jsonl");
    let mut writers: Vec<Child> = (0..WRITERS).map(|part| spawn(&file, part)).collect();
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let mut told: Vec<String> = text
        .lines()
        .map(|line| match serde_json::from_str(line).unwrap() {
            HudMessage::ArchivistMemoryHighlight { memory_id, .. } => memory_id.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told.len(), WRITERS * MESSAGES);
    // Everybody's own messages are in their order.
    for part in 0..WRITERS {
        let own: Vec<&String> = told.iter().filter(|id| id.starts_with(&format!("mem-w{part}-"))).collect();
        let expected: Vec<String> = (0..MESSAGES).map(|number| format!("mem-w{part}-{number}")).collect();
        assert!(own.into_iter().eq(&expected));
    }
    told.sort();
    told.dedup();
    assert_eq!(told.len(), WRITERS * MESSAGES);
}

/// A display at a free port, and what it hears on its first connection.
fn display() -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/ws", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut socket = tokio_tungstenite::tungstenite::accept(stream).unwrap();
        let mut heard = Vec::new();
        while let Ok(message) = socket.read() {
            if message.is_text() {
                heard.push(message.to_text().unwrap().to_owned());
            }
        }
        heard
    });
    (url, heard)
}

#[test]
fn a_display_of_openagents_gets_all_four_messages_in_order() {
    let world = World::new();
    let (url, heard) = display();
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/logs/generic/billing.jsonl");
    let output = world.run_with(&["reflect", "--file", log], &[("ARCHIVIST__HUD__WEB_SOCKET", &url)], "");
    assert_eq!(output.status, 0, "{output}");
    insta::with_settings!({filters => vec![(r"mem-[0-9a-z]+", "[id]")]}, {
        insta::assert_snapshot!(heard.join().unwrap().join("\n"), @r#"
        {"type":"archivist_reflection_start","scenario":"manual","sessionId":"billing-3","ts":"2026-03-01T12:00:00Z"}
        {"type":"archivist_memory_highlight","memoryId":"[id]","summary":"`pytest tests/billing -q` needs a service that may not be running (ConnectionError: Error 111 connecting to localhost:6379): run `docker compose up -d redis` first.","importance":0.6,"ts":"2026-03-01T12:00:00Z"}
        {"type":"archivist_memory_highlight","memoryId":"[id]","summary":"Don't refactor while you fix things, please. We always do that in a separate commit.","importance":0.55,"ts":"2026-03-01T12:00:00Z"}
        {"type":"archivist_memories_added","count":2,"scenario":"manual","ts":"2026-03-01T12:00:00Z"}
        {"type":"archivist_reflection_complete","scenario":"manual","memoriesCreated":2,"memoriesUpdated":0,"ts":"2026-03-01T12:00:00Z"}
        "#);
    });
}
