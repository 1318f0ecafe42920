//! What reflections tell, on a server that machines share: heard everywhere, once, in order, whatever breaks.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use archivist_core::domain::{HudMessage, ReflectionScenario};
use archivist_core::hud::{FeedFollower, FleetFeedSink, HudSink, MemoryFeed};
use archivist_core::memory::postgres::{EventFeed, NewEvent, migrate_schema};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::postgres_server::{Cluster, shared, sql, unique};
use crate::samples::at;
use crate::server::{self, next_line};
use crate::stores::server_at;
use crate::support::World;

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/logs/generic/billing.jsonl");
const PATIENCE: Duration = Duration::from_secs(20);

/// A database of one's own, with its tables made.
pub(crate) async fn database(url: &str) -> String {
    let name = unique("fleet");
    sql(url, &format!("CREATE DATABASE {name}")).await;
    let (before, query) = url.split_once('?').map_or((url, String::new()), |(url, query)| (url, format!("?{query}")));
    let (host, _) = before.rsplit_once('/').unwrap();
    let url = format!("{host}/{name}{query}");
    migrate_schema(&server_at(&url)).await.unwrap();
    url
}

fn numbered(count: u64) -> HudMessage {
    HudMessage::ArchivistMemoriesAdded { count, scenario: ReflectionScenario::Manual, ts: at() }
}

fn number(message: &HudMessage) -> u64 {
    match message {
        HudMessage::ArchivistMemoriesAdded { count, .. } => *count,
        other => panic!("{other:?}"),
    }
}

fn event(key: &str) -> NewEvent {
    NewEvent { key: key.to_owned(), record: format!("\"{key}\"") }
}

/// Reads along until so many were heard.
async fn heard(follower: &mut FeedFollower, count: usize) -> Vec<u64> {
    let began = Instant::now();
    let mut heard = Vec::new();
    while heard.len() < count {
        assert!(began.elapsed() < Duration::from_secs(60), "{} of {count} were heard", heard.len());
        match follower.read_new_messages().await {
            Ok(told) if told.is_empty() => sleep(Duration::from_millis(5)).await,
            Ok(told) => heard.extend(told.iter().map(|told| number(&told.message))),
            Err(error) => eprintln!("the server is away: {error}"),
        }
    }
    heard
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_reads_along_sees_every_message_of_twenty_tellers_once_and_no_number_too_late() {
    const TELLERS: usize = 20;
    const MESSAGES: usize = 200;
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let mut tellers = JoinSet::new();
    for teller in 0..TELLERS {
        // Each has connections of its own, as processes do.
        let events = EventFeed::new(server_at(&url), "bank");
        tellers.spawn(async move {
            let messages: Vec<NewEvent> = (0..MESSAGES).map(|number| event(&format!("{teller}-{number}"))).collect();
            for batch in messages.chunks(1 + teller % 7) {
                events.append_events(batch).await.unwrap();
            }
        });
    }
    let events = EventFeed::new(server_at(&url), "bank");
    let (mut seen, mut at, began) = (Vec::new(), 0, Instant::now());
    while seen.len() < TELLERS * MESSAGES {
        assert!(began.elapsed() < Duration::from_secs(60), "{} messages were seen", seen.len());
        let page = events.read_after(at).await.unwrap();
        for event in page.events {
            assert_eq!(event.number, at + 1, "a number that was passed over appears later, or never");
            at = event.number;
            seen.push(event.record);
        }
    }
    while let Some(told) = tellers.join_next().await {
        told.unwrap();
    }
    assert_eq!(events.last_number().await.unwrap(), 4_000);
    for teller in 0..TELLERS {
        let own = seen.iter().filter(|record| record.starts_with(&format!("\"{teller}-")));
        let expected = (0..MESSAGES).map(|number| format!("\"{teller}-{number}\""));
        assert!(own.cloned().eq(expected), "what one tells stays in its order");
    }
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>().len(), TELLERS * MESSAGES);
}

#[tokio::test]
async fn what_is_told_twice_under_one_key_is_there_once() {
    let Some(url) = shared() else { return };
    let events = EventFeed::new(server_at(&database(url).await), "bank");
    events.append_events(&[event("a"), event("b")]).await.unwrap();
    events.append_events(&[event("b"), event("c"), event("a")]).await.unwrap();
    events.append_events(&[event("a")]).await.unwrap();
    events.append_events(&[]).await.unwrap();
    let page = events.read_after(0).await.unwrap();
    let told: Vec<(u64, &str)> = page.events.iter().map(|event| (event.number, event.record.as_str())).collect();
    assert_eq!(told, [(1, "\"a\""), (2, "\"b\""), (3, "\"c\"")]);
    assert_eq!((page.last, events.last_number().await.unwrap()), (3, 3));
    let beyond = events.read_after(99).await.unwrap();
    assert_eq!((beyond.events.len(), beyond.last), (0, 3), "a number that was never given out is told from the last");
}

#[tokio::test]
async fn a_bank_never_sees_what_another_tells() {
    let Some(url) = shared() else { return };
    let server = server_at(&database(url).await);
    let (one, other) = (EventFeed::new(Arc::clone(&server), "one"), EventFeed::new(Arc::clone(&server), "other"));
    assert_eq!(other.last_number().await.unwrap(), 0, "where nobody told anything there is nothing");
    other.append_events(&[event("mine")]).await.unwrap();
    let mut bell = other.start_listener();
    bell.wait_for_notification().await;
    one.append_events(&[event("theirs"), event("mine")]).await.unwrap();
    assert_eq!(one.last_number().await.unwrap(), 2);
    let page = other.read_after(0).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.record.as_str()).collect::<Vec<_>>(), ["\"mine\""]);
    let answer_format = tokio::time::timeout(Duration::from_millis(300), bell.wait_for_notification()).await;
    assert!(answer_format.is_err(), "nor does its bell ring");
}

#[tokio::test]
async fn old_messages_go_piece_by_piece_and_numbers_go_on() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let events = EventFeed::new(server_at(&url), "bank");
    let old: Vec<NewEvent> = (0..2_500).map(|number| event(&format!("old-{number}"))).collect();
    events.append_events(&old).await.unwrap();
    sql(&url, "UPDATE archivist.events SET at = now() - interval '8 days'").await;
    events.append_events(&[event("new")]).await.unwrap();
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    let mut pieces = Vec::new();
    while pieces.last() != Some(&0) {
        pieces.push(events.prune_events(week).await.unwrap());
    }
    assert_eq!(pieces, [1_000, 1_000, 500, 0]);
    let page = events.read_after(0).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.number).collect::<Vec<_>>(), [2_501]);
    events.append_events(&[event("newer")]).await.unwrap();
    assert_eq!(events.last_number().await.unwrap(), 2_502);
}

#[tokio::test(flavor = "multi_thread")]
async fn finishing_delivers_everything_before_a_process_ends() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let sink = FleetFeedSink::new(EventFeed::new(server_at(&url), "bank"));
    for round in 1..=2 {
        let began = Instant::now();
        (0..1_200).for_each(|count| sink.send_message(&numbered(count)));
        assert!(began.elapsed() < Duration::from_secs(1), "telling waits for nobody: {:?}", began.elapsed());
        sink.flush_messages(PATIENCE).await;
        assert_eq!(EventFeed::new(server_at(&url), "bank").last_number().await.unwrap(), round * 1_200);
    }
    drop(sink);
    let mut follower = MemoryFeed::from_fleet(EventFeed::new(server_at(&url), "bank")).follow_after(0);
    let expected: Vec<u64> = (0..1_200).chain(0..1_200).collect();
    assert_eq!(heard(&mut follower, 2_400).await, expected);
    let feed = MemoryFeed::from_fleet(EventFeed::new(server_at(&url), "bank"));
    assert_eq!(
        heard(&mut feed.follow_recent(3).await.unwrap(), 3).await,
        [1_197, 1_198, 1_199],
        "the last few are enough"
    );
    assert!(feed.follow_recent(0).await.unwrap().read_new_messages().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_message_is_on_disk_before_it_is_seen_whatever_the_server_is_set_to() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let name = url.split('?').next().and_then(|url| url.rsplit('/').next()).unwrap();
    sql(&url, &format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
    // Looks at the setting when a transaction that tells is about to commit.
    let look = "CREATE TABLE seen (setting text);
        CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER look AFTER INSERT ON archivist.events
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look();";
    sql(&url, look).await;
    let events = EventFeed::new(server_at(&url), "bank");
    events.append_events(&[event("first")]).await.unwrap();
    events.append_events(&[event("second")]).await.unwrap();
    sql(&url, "DO $$ BEGIN ASSERT (SELECT array_agg(setting) FROM seen) = '{on,on}'; END $$").await;
}

#[tokio::test]
async fn where_there_is_no_server_telling_costs_nothing_and_finishing_little() {
    let sink =
        FleetFeedSink::new(EventFeed::new(server_at("postgres://nobody@127.0.0.1:1/none?sslmode=disable"), "bank"));
    let began = Instant::now();
    (0..20_000).for_each(|count| sink.send_message(&numbered(count)));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let began = Instant::now();
    sink.flush_messages(Duration::from_secs(60)).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_and_comes_back_costs_no_message_and_repeats_none() {
    const MESSAGES: u64 = 600;
    if shared().is_none() {
        return;
    }
    let Some(cluster) = Cluster::start("-c fsync=off") else { return };
    let url = database(&cluster.url("postgres")).await;
    let feed = || MemoryFeed::from_fleet(EventFeed::new(server_at(&url), "bank"));
    let (telling, is_told) = (feed().open_sink(), Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&is_told);
    let teller = tokio::spawn(async move {
        for count in 0..MESSAGES {
            telling.send_message(&numbered(count));
            sleep(Duration::from_millis(5)).await;
        }
        told.store(true, Ordering::Relaxed);
        telling.flush_messages(Duration::from_secs(60)).await;
    });
    let reading = feed();
    let mut bell = reading.start_listener();
    let answer_format = tokio::spawn(async move {
        let mut count = 0_u32;
        while tokio::time::timeout(Duration::from_secs(8), bell.wait_for_news()).await.is_ok() {
            count += 1;
        }
        count
    });
    let reader = tokio::spawn(async move { heard(&mut reading.follow_after(0), 600).await });
    for _ in 0..2 {
        sleep(Duration::from_millis(700)).await;
        let cluster = &cluster;
        tokio::task::block_in_place(|| {
            cluster.crash();
            cluster.run(&[]);
        });
    }
    assert_eq!(reader.await.unwrap(), (0..MESSAGES).collect::<Vec<_>>());
    teller.await.unwrap();
    assert!(is_told.load(Ordering::Relaxed));
    assert!(answer_format.await.unwrap() > 2, "the bell rings again after the server was away");
}

/// What makes a process a part of the fleet.
pub(crate) fn fleet(url: &str) -> [(&'static str, String); 3] {
    [
        ("ARCHIVIST__MEMORY__BACKEND", "postgres".to_owned()),
        ("ARCHIVIST_POSTGRES_URL", url.to_owned()),
        ("ARCHIVIST__PROJECT__KEY", "the-project".to_owned()),
    ]
}

pub(crate) fn serving(world: &World, url: &str) -> server::Server {
    let variables = fleet(url);
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    server::Server::start_with(world, &[], &variables)
}

fn next_id(lines: &mut impl BufRead) -> u64 {
    next_line(lines, "id: ").trim_start_matches("id: ").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_on_two_machines_show_what_a_third_process_tells() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let worlds = [World::new(), World::new(), World::new()];
    let sink = FleetFeedSink::new(EventFeed::new(server_at(&url), "the-project"));
    sink.send_message(&numbered(0));
    sink.flush_messages(PATIENCE).await;
    let servers = [serving(&worlds[0], &url), serving(&worlds[1], &url)];
    let mut streams: Vec<_> = servers.iter().map(|server| server.listen("/v1/events")).collect();
    // Their bells are hung once they have heard something.
    sleep(Duration::from_secs(1)).await;
    let mut delays = Vec::new();
    for count in 1..=30 {
        let began = Instant::now();
        sink.send_message(&numbered(count));
        for stream in &mut streams {
            let data = next_line(stream, "data: {\"type\":\"archivist");
            assert!(data.contains(&format!("\"count\":{count},")), "{data}");
            delays.push(began.elapsed());
        }
        sleep(Duration::from_millis(40)).await;
    }
    delays.sort();
    eprintln!("from tell to a listener: median {:?}, slowest {:?}", delays[delays.len() / 2], delays.last().unwrap());
    assert!(delays.last().unwrap() < &Duration::from_secs(5));

    let variables = fleet(&url);
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let output = worlds[2].run_with(&["reflect", "--file", LOG], &variables, "");
    assert_eq!(output.status, 0, "{output}");
    let ids: Vec<u64> = streams
        .iter_mut()
        .map(|stream| {
            let id = loop {
                let id = next_id(stream);
                if next_line(stream, "event: ").ends_with("reflection_start") {
                    break id;
                }
            };
            next_line(stream, "event: archivist_memory_highlight");
            next_line(stream, "event: archivist_reflection_complete");
            id
        })
        .collect();
    assert_eq!(ids[0], ids[1], "a message has the same number everywhere");
    assert!(!worlds[2].memory().join("hud").exists(), "there is no feed in a file beside the one on the server");

    // Whoever comes back goes on behind the last event they saw, at whichever server.
    let mut back = servers[1].listen(&format!("/v1/events?after={}", ids[0] - 2));
    assert_eq!(next_id(&mut back), ids[0] - 1);
    assert_eq!(next_id(&mut back), ids[0]);
    assert_eq!(next_line(&mut back, "event"), "event: archivist_reflection_start");
    let mut all = servers[0].listen("/v1/events?after=0");
    assert_eq!(next_id(&mut all), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_misses_nothing_and_hears_nothing_twice_while_the_database_is_away() {
    if shared().is_none() {
        return;
    }
    let Some(cluster) = Cluster::start("-c fsync=off") else { return };
    let url = database(&cluster.url("postgres")).await;
    let world = World::new();
    let serving = serving(&world, &url);
    let mut stream: std::io::BufReader<TcpStream> = serving.listen("/v1/events?after=0");
    let sink = FleetFeedSink::new(EventFeed::new(server_at(&url), "the-project"));
    for round in 0..3 {
        (0..50).for_each(|count| sink.send_message(&numbered(round * 100 + count)));
        tokio::task::block_in_place(|| {
            cluster.crash();
            (50..100).for_each(|count| sink.send_message(&numbered(round * 100 + count)));
            cluster.run(&[]);
        });
        sink.flush_messages(PATIENCE).await;
        for count in 0..100 {
            assert_eq!(next_id(&mut stream), round * 100 + count + 1);
            let data = next_line(&mut stream, "data: {\"type\":\"archivist");
            assert!(data.contains(&format!("\"count\":{},", round * 100 + count)), "{data}");
        }
    }
}
