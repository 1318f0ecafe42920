//! The sessions of a day, in minutes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use archivist_core::memory::postgres::EventFeed;
use archivist_core::service::FleetQueue;

use crate::fleet::{Fleet, server};
use crate::postgres_server::Cluster;

/// Orchestrators that work at the same time.
const ORCHESTRATORS: usize = 1_000;

/// Projects that somebody looks at.
const DISPLAYS: usize = 20;

pub(crate) fn run(sessions: usize, seconds: usize, workers: usize) {
    println!("\n== day: {sessions} sessions of {ORCHESTRATORS} orchestrators in {seconds} s, {workers} workers");
    let cluster = Cluster::start("-c max_connections=300 -c shared_buffers=256MB").expect("a PostgreSQL server");
    let mut fleet = Fleet::empty(&cluster, ORCHESTRATORS);
    let empty = fleet.number("SELECT pg_database_size(current_database())");
    for _ in 0..workers {
        fleet.start_worker();
    }
    std::thread::sleep(Duration::from_secs(3));
    let (delays, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let listener = listen(&fleet, Arc::clone(&delays), Arc::clone(&ended));
    let asked = server(&fleet.url);
    let began = Instant::now();
    for number in 0..sessions {
        // Three times as many at noon as at midnight.
        let share = when(number as f64 / sessions as f64);
        let due = Duration::from_secs_f64(share * seconds as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        let (bank, job) = fleet.job(number);
        let queue = FleetQueue::new(Arc::clone(&asked), bank);
        fleet.runtime().block_on(queue.enqueue(&job, chrono::Utc::now())).unwrap();
    }
    let arrived = began.elapsed();
    while fleet.counts().new + fleet.counts().claimed > 0 {
        std::thread::sleep(Duration::from_millis(200));
    }
    let took = began.elapsed();
    std::thread::sleep(Duration::from_secs(3));
    ended.store(true, Ordering::Relaxed);
    fleet.stop_workers();
    listener.join().unwrap();
    println!("all had arrived after {:.0} s, all were done after {:.0} s", arrived.as_secs_f64(), took.as_secs_f64());
    let age = |share: &str| {
        format!(
            "SELECT coalesce(percentile_cont({share}) WITHIN GROUP (ORDER BY extract(epoch FROM settled_at - enqueued_at) \
             * 1000), 0)::bigint FROM archivist.jobs"
        )
    };
    let (p50, p99) = (fleet.number(&age("0.5")), fleet.number(&age("0.99")));
    println!("from the end of a session to its lessons: p50 {p50} ms, p99 {p99} ms");
    let waited = |share: &str| {
        format!(
            "SELECT coalesce(percentile_cont({share}) WITHIN GROUP (ORDER BY extract(epoch FROM waited) * 1000), 0)::bigint \
             FROM archivist.jobs"
        )
    };
    let (p50, p99) = (fleet.number(&waited("0.5")), fleet.number(&waited("0.99")));
    println!("in the queue until a worker took it: p50 {p50} ms, p99 {p99} ms");
    let mut delays = delays.lock().unwrap();
    delays.sort_by(f64::total_cmp);
    if let Some(last) = delays.len().checked_sub(1) {
        let share = |share: f64| delays[(last as f64 * share) as usize];
        println!(
            "{} messages, from the server to a display: p50 {:.1} ms, p99 {:.1} ms",
            delays.len(),
            share(0.5),
            share(0.99)
        );
    }
    let kept = fleet.kept();
    let bytes = fleet.number("SELECT pg_database_size(current_database())") - empty;
    let per = bytes as f64 / kept.episodes.max(1) as f64;
    println!(
        "{} runs, {} lessons, {} sightings; {:.1} MB for a thousand runs",
        kept.episodes,
        kept.lessons,
        kept.sightings,
        per / 1e3
    );
    for table in ["episodes", "revisions", "lessons", "vocabulary", "facts", "commits", "jobs", "events"] {
        let size = fleet.number(&format!("SELECT pg_total_relation_size('archivist.{table}')"));
        println!("  {table:<12}{:>8.1} KB a run", size as f64 / 1e3 / kept.episodes.max(1) as f64);
    }
}

/// At which share of the day the session of this share of all of them ends.
fn when(share: f64) -> f64 {
    // The rate is 1 - 0.5 cos(2πt); its sum is solved by halves.
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        let sum = middle - 0.5 * (std::f64::consts::TAU * middle).sin() / std::f64::consts::TAU;
        if sum < share { low = middle } else { high = middle }
    }
    low
}

/// Listens for the messages of some projects, as displays do, and notes how old each is when it comes.
fn listen(fleet: &Fleet, delays: Arc<Mutex<Vec<f64>>>, ended: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let url = fleet.url.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let displays = (0..DISPLAYS).map(|project| display(&url, project, &delays, &ended));
            futures_util::future::join_all(displays).await;
        });
    })
}

/// One display. Looking at the clock of the server beside each page says how old a message is without a second clock.
async fn display(url: &str, project: usize, delays: &Mutex<Vec<f64>>, ended: &AtomicBool) {
    let bank = format!("team/p-{project:04}");
    let events = EventFeed::new(server(url), &bank);
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let select = "SELECT extract(epoch FROM clock_timestamp() - e.at)::float8 * 1000 FROM archivist.events e \
         JOIN archivist.banks b USING (bank) WHERE b.key = $1 AND e.number = $2";
    let mut bell = events.start_listener();
    let mut seen = 0;
    while !ended.load(Ordering::Relaxed) {
        let page = events.read_after(seen).await.unwrap();
        // The last of a page is the youngest: those before it came with the same ring.
        if let Some(last) = page.events.last() {
            let number = last.number as i64;
            let row = client.query_one(select, &[&bank, &number]).await.unwrap();
            delays.lock().unwrap().push(row.get(0));
            seen = last.number;
            continue;
        }
        let _ = tokio::time::timeout(Duration::from_millis(500), bell.wait_for_notification()).await;
    }
}
