use tempfile::TempDir;

use super::*;
use archivist_core::domain::{ReflectionScenario, Timestamp};
use archivist_core::hud::{FileFeedReader, FileFeedSink, HudSink};

fn event(number: usize) -> ServerEvent {
    ServerEvent { id: Some(number as u64), name: "test", data: number.to_string().into() }
}

fn message(count: u64) -> HudMessage {
    let (scenario, ts) = (ReflectionScenario::Manual, Timestamp::default());
    HudMessage::ArchivistMemoriesAdded { count, scenario, ts }
}

async fn data(listener: &mut EventListener, hub: &EventHub) -> Vec<String> {
    listener.next(hub).await.unwrap().iter().map(|event| event.data.to_string()).collect()
}

#[test]
fn an_event_is_written_as_browsers_read_it() {
    let mut stream = String::new();
    event(7).write_to_stream(&mut stream);
    ServerEvent::events_lost(3).write_to_stream(&mut stream);
    assert_eq!(stream, "id: 7\nevent: test\ndata: 7\n\nevent: lost\ndata: {\"count\":3,\"type\":\"lost\"}\n\n");
}

#[tokio::test]
async fn everybody_who_listens_hears_everything_from_when_they_came() {
    let hub = EventHub::new(MemoryFeed::from_directory(TempDir::new().unwrap().path()));
    let mut early = hub.add_listener(None);
    hub.push([event(1)], None);
    let mut late = hub.add_listener(None);
    hub.push([event(2)], None);
    assert_eq!(data(&mut early, &hub).await, ["1", "2"]);
    assert_eq!(data(&mut late, &hub).await, ["2"]);
}

#[tokio::test]
async fn whoever_is_too_slow_is_told_how_much_they_missed_and_nobody_waits() {
    let hub = EventHub::new(MemoryFeed::from_directory(TempDir::new().unwrap().path()));
    let mut slow = hub.add_listener(None);
    hub.push((0..KEPT + 100).map(event), None);
    let heard = data(&mut slow, &hub).await;
    assert_eq!(heard[..2], ["{\"count\":100,\"type\":\"lost\"}".to_owned(), "100".to_owned()]);
    let mut count = heard.len() - 1;
    while count < KEPT {
        count += data(&mut slow, &hub).await.len();
    }
    assert_eq!(count, KEPT, "and hears the rest");
}

#[tokio::test]
async fn whoever_comes_back_hears_what_was_told_meanwhile_and_nothing_twice() {
    let memory = TempDir::new().unwrap();
    let sink = FileFeedSink::new(memory.path());
    let mut feed = FileFeedReader::starting_after(memory.path(), 0);
    let hub = EventHub::new(MemoryFeed::from_directory(memory.path()));
    (1..=3).for_each(|count| sink.send_message(&message(count)));
    let told = feed.read_new_messages().unwrap();
    hub.push(told.iter().filter_map(ServerEvent::from_feed_message), Some(feed.read_position()));
    let mut back = hub.add_listener(Some(told[0].id));
    (4..=5).for_each(|count| sink.send_message(&message(count)));
    let news = feed.read_new_messages().unwrap();
    hub.push(news.iter().filter_map(ServerEvent::from_feed_message), Some(feed.read_position()));
    let mut heard = Vec::new();
    while heard.len() < 4 {
        heard.extend(data(&mut back, &hub).await);
    }
    let counts: Vec<u64> = heard
        .iter()
        .map(|data| serde_json::from_str::<serde_json::Value>(data).unwrap()["count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [2, 3, 4, 5]);
}
