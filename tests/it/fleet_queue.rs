//! The queue of a fleet among many: fair, bounded, each job to one, whatever breaks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use archivist_core::domain::Timestamp;
use archivist_core::memory::MemoryError;
use archivist_core::memory::postgres::{PostgresServer, PostgresServerSettings, migrate_schema};
use archivist_core::service::{
    ClaimedJob, EnqueueResult, FleetJobSource, FleetQueue, Job, JobFolder, JobKind, JobOwnership, JobSource,
    JobUrgency, QueueError, WorkerReach, WorkerToken,
};
use tempfile::TempDir;
use tokio_postgres::NoTls;

use crate::postgres_server::{Cluster, shared, unique};
use crate::samples::{job, name_of, queue_in};

const LEASE: Duration = Duration::from_secs(60);

/// So many seconds after a moment long ago.
pub(crate) fn at_second(second: i64) -> Timestamp {
    crate::samples::at() + chrono::TimeDelta::seconds(second)
}

pub(crate) fn settings(url: &str, patience: Duration) -> PostgresServerSettings {
    PostgresServerSettings {
        url: url.to_owned(),
        read_url: None,
        ca_file: None,
        connections: 8,
        statement_timeout: Duration::from_secs(30),
        patience,
    }
}

/// A database of its own.
pub(crate) struct Fleet {
    pub(crate) url: String,
    pub(crate) server: Arc<PostgresServer>,
}

impl Fleet {
    /// One with its tables made; `None` where there is no server.
    pub(crate) async fn fresh() -> Option<Self> {
        let shared = shared()?;
        let name = unique("jobs");
        execute(shared, &format!("CREATE DATABASE {name}")).await;
        let (place, options) = shared.split_once('?').unwrap_or((shared, ""));
        let (host, _) = place.rsplit_once('/').unwrap();
        let fleet = Self::at(format!("{host}/{name}?{options}"), Duration::from_secs(20));
        migrate_schema(&fleet.server).await.unwrap();
        Some(fleet)
    }

    pub(crate) fn at(url: String, patience: Duration) -> Self {
        Self { server: PostgresServer::new(settings(&url, patience)), url }
    }

    pub(crate) fn queue(&self, bank: &str) -> FleetQueue {
        FleetQueue::new(Arc::clone(&self.server), bank)
    }

    /// A worker's look at it, with a spool of its own.
    pub(crate) fn source(&self, bank: &str, reach: WorkerReach, per_project: u32) -> (FleetJobSource, TempDir) {
        let spool = TempDir::new().unwrap();
        (FleetJobSource::new(self.queue(bank), queue_in(spool.path()), reach, per_project), spool)
    }
}

pub(crate) async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    driver.await.unwrap().unwrap();
}

async fn fill(queue: &FleetQueue, stem: &str, count: usize, urgency: JobUrgency) {
    for number in 0..count {
        let job = Job { urgency, ..job(&format!("{stem}{number}"), 1) };
        assert_eq!(queue.enqueue(&job, chrono::Utc::now()).await.unwrap(), EnqueueResult::New);
    }
}

async fn claim(source: &FleetJobSource, who: &str) -> Option<Arc<dyn ClaimedJob>> {
    source.claim_job(&WorkerToken::parse(who).unwrap(), LEASE, chrono::Utc::now()).await.unwrap()
}

#[tokio::test]
async fn a_small_project_is_not_starved_by_a_large_one() {
    let Some(fleet) = Fleet::fresh().await else { return };
    fill(&fleet.queue("large"), "l", 1000, JobUrgency::Over).await;
    fill(&fleet.queue("small"), "s", 10, JobUrgency::Over).await;
    let (source, _spool) = fleet.source("elsewhere", WorkerReach::All, 8);
    let mut order = Vec::new();
    for _ in 0..30 {
        let claimed = claim(&source, "w").await.unwrap();
        order.push(claimed.bank_key().unwrap().to_owned());
        claimed.complete("", chrono::Utc::now()).await.unwrap();
    }
    for pair in order[..20].chunks(2) {
        assert_ne!(pair[0], pair[1], "they are served by turns: {order:?}");
    }
    assert!(order[20..].iter().all(|bank| bank == "large"), "{order:?}");
    // Whoever works for one project sees no other's.
    let (own, _spool) = fleet.source("small", WorkerReach::Own, 8);
    assert!(claim(&own, "w").await.is_none());
    assert_eq!(own.next_due(LEASE, chrono::Utc::now()).await.unwrap(), None);
}

#[tokio::test]
async fn a_session_that_is_over_comes_before_a_sweep_of_any_project() {
    let Some(fleet) = Fleet::fresh().await else { return };
    let (one, other) = (fleet.queue("one"), fleet.queue("other"));
    let now = chrono::Utc::now();
    let kind = JobKind::Sweep { project_root: "/shop".to_owned() };
    let sweep = Job { kind, urgency: JobUrgency::Sweep, log_bytes: None, ..job("none", 0) };
    one.enqueue(&sweep, now).await.unwrap();
    one.enqueue(&Job { not_before: Some(now + Duration::from_secs(60)), ..job("later", 1) }, now).await.unwrap();
    fill(&other, "p", 1, JobUrgency::Pause).await;
    fill(&other, "o", 2, JobUrgency::Over).await;
    let (source, _spool) = fleet.source("elsewhere", WorkerReach::All, 8);
    let mut order = Vec::new();
    while let Some(claimed) = claim(&source, "w").await {
        order.push(name_of(claimed.job()));
    }
    // What is urgent and not due yet lets nothing else of its project go ahead.
    assert_eq!(order, ["o0", "o1", "p0", "sweep"]);
}

/// So many workers at once, until nobody finds anything; each holds its job for a moment. Says which job went to whom, how
/// often, and how many were in hands at once.
async fn race(fleet: &Fleet, workers: usize, bound: u32, hold: Duration) -> (BTreeMap<String, usize>, usize) {
    let (held, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let racers = (0..workers).map(|number| {
        let (held, most) = (Arc::clone(&held), Arc::clone(&most));
        // A process has connections of its own.
        let fleet = Fleet::at(fleet.url.clone(), Duration::from_secs(20));
        tokio::spawn(async move {
            let (source, _spool) = fleet.source("shop", WorkerReach::Own, bound);
            let (mut taken, mut idle) = (Vec::new(), 0);
            while idle < 20 {
                let Some(claimed) = claim(&source, &format!("w{number}")).await else {
                    if source.next_due(LEASE, chrono::Utc::now()).await.unwrap().is_none() {
                        break;
                    }
                    idle += 1;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                };
                idle = 0;
                most.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(hold).await;
                held.fetch_sub(1, Ordering::SeqCst);
                assert_eq!(claimed.complete("", chrono::Utc::now()).await.unwrap(), JobOwnership::Yes);
                taken.push(name_of(claimed.job()));
            }
            taken
        })
    });
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for racer in racers.collect::<Vec<_>>() {
        for name in racer.await.unwrap() {
            *times.entry(name).or_default() += 1;
        }
    }
    (times, most.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_claim_at_once_each_job_goes_to_one() {
    let Some(fleet) = Fleet::fresh().await else { return };
    fill(&fleet.queue("shop"), "s", 500, JobUrgency::Over).await;
    let (times, most) = race(&fleet, 16, 1000, Duration::from_millis(5)).await;
    assert_eq!((times.len(), times.values().max()), (500, Some(&1)));
    assert!(most > 1, "they hardly met: {most}");
    let listed = fleet.queue("shop").list_jobs(chrono::Utc::now()).await.unwrap();
    assert!(
        listed.iter().all(|listed| listed.place == JobFolder::Done && listed.job.as_ref().unwrap().attempts.is_empty())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_jobs_of_one_project_are_in_hands_than_may_be() {
    let Some(fleet) = Fleet::fresh().await else { return };
    fill(&fleet.queue("shop"), "s", 60, JobUrgency::Over).await;
    let (times, most) = race(&fleet, 8, 3, Duration::from_millis(30)).await;
    assert_eq!((times.len(), times.values().max()), (60, Some(&1)));
    assert_eq!(most, 3);
}

#[tokio::test]
async fn a_project_at_its_bound_lets_others_be_served() {
    let Some(fleet) = Fleet::fresh().await else { return };
    fill(&fleet.queue("large"), "l", 10, JobUrgency::Over).await;
    fill(&fleet.queue("small"), "s", 1, JobUrgency::Sweep).await;
    let (source, _spool) = fleet.source("elsewhere", WorkerReach::All, 2);
    let mut taken = Vec::new();
    while let Some(claimed) = claim(&source, "w").await {
        taken.push(claimed);
    }
    let banks: Vec<&str> = taken.iter().filter_map(|claimed| claimed.bank_key()).collect();
    assert_eq!(banks, ["large", "large", "small"]);
    taken[0].release().await.unwrap();
    assert_eq!(claim(&source, "w").await.unwrap().bank_key(), Some("large"));
}

#[tokio::test]
async fn settling_twice_is_settling_once() {
    let Some(fleet) = Fleet::fresh().await else { return };
    let (source, _spool) = fleet.source("shop", WorkerReach::Own, 8);
    fill(&fleet.queue("shop"), "s", 1, JobUrgency::Over).await;
    let now = chrono::Utc::now();
    let claimed = claim(&source, "w").await.unwrap();
    assert_eq!(claimed.retry("busy", now, now).await.unwrap(), JobOwnership::Yes);
    assert_eq!(claimed.retry("busy", now, now).await.unwrap(), JobOwnership::Yes);
    let claimed = claim(&source, "w").await.unwrap();
    assert_eq!(claimed.job().attempts.len(), 1);
    for _ in 0..2 {
        assert_eq!(claimed.complete("ok", now).await.unwrap(), JobOwnership::Yes);
    }
}

#[tokio::test]
async fn a_job_that_cannot_be_read_stops_nobody() {
    let Some(fleet) = Fleet::fresh().await else { return };
    let queue = fleet.queue("shop");
    fill(&queue, "s", 2, JobUrgency::Over).await;
    let name = job("s0", 1).name();
    execute(&fleet.url, &format!("UPDATE archivist.jobs SET record = '{{\"errand\"' WHERE name = '{name}'")).await;
    let (source, _spool) = fleet.source("shop", WorkerReach::Own, 8);
    assert_eq!(name_of(claim(&source, "w").await.unwrap().job()), "s1");
    let listed = queue.list_jobs(chrono::Utc::now()).await.unwrap();
    let dead = listed.iter().find(|listed| listed.place == JobFolder::Dead).unwrap();
    assert!(dead.job.is_err() && dead.note.as_deref().unwrap().contains("EOF"), "{dead:?}");
}

/// Connections break at any moment, before a commit and after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_break_lose_no_job_and_give_none_twice() {
    let Some(fleet) = Fleet::fresh().await else { return };
    fill(&fleet.queue("shop"), "s", 150, JobUrgency::Over).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let (url, over) = (fleet.url.clone(), Arc::clone(&is_over));
    let vandal = tokio::spawn(async move {
        let mut cuts = 0;
        while !over.load(Ordering::Relaxed) {
            let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
                 AND pid <> pg_backend_pid() AND application_name = 'archivist' ORDER BY random() LIMIT 1";
            execute(&url, cut).await;
            cuts += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        cuts
    });
    let (times, _) = race(&fleet, 6, 1000, Duration::from_millis(2)).await;
    is_over.store(true, Ordering::Relaxed);
    let cuts = vandal.await.unwrap();
    assert_eq!((times.len(), times.values().max()), (150, Some(&1)));
    assert!(cuts > 0, "nothing broke");
    let listed = fleet.queue("shop").list_jobs(chrono::Utc::now()).await.unwrap();
    assert!(listed.iter().all(|listed| listed.place == JobFolder::Done), "a job was left in nobody's hands");
}

#[tokio::test]
async fn what_hooks_wrote_waits_while_the_server_is_away() {
    if shared().is_none() {
        return;
    }
    let Some(cluster) = Cluster::start("-c fsync=off") else { return };
    let fleet = Fleet::at(cluster.url("postgres"), Duration::from_millis(300));
    migrate_schema(&fleet.server).await.unwrap();
    let spool = TempDir::new().unwrap();
    let files = queue_in(spool.path());
    let source = FleetJobSource::new(fleet.queue("shop"), files.clone(), WorkerReach::Own, 8);
    let waiting = || files.list_jobs(LEASE, chrono::Utc::now()).unwrap().len();
    for number in 0..3 {
        files.enqueue(&job(&format!("s{number}"), 1)).unwrap();
    }
    cluster.crash();
    let token = WorkerToken::parse("w").unwrap();
    let refused = source.claim_job(&token, LEASE, chrono::Utc::now()).await.unwrap_err();
    assert!(matches!(refused, QueueError::Fleet(MemoryError::Unreachable { .. })), "{refused}");
    assert!(refused.hint().is_some() && !refused.is_ours());
    assert_eq!(waiting(), 3);
    let places: Vec<JobFolder> =
        files.list_jobs(LEASE, chrono::Utc::now()).unwrap().iter().map(|job| job.place).collect();
    assert_eq!(places, [JobFolder::New; 3], "it is there for the next worker at once");
    cluster.run(&[]);
    let claimed = claim(&source, "w").await.unwrap();
    assert_eq!((waiting(), fleet.queue("shop").list_jobs(chrono::Utc::now()).await.unwrap().len()), (0, 3));
    claimed.mark_dead("hopeless", chrono::Utc::now()).await.unwrap();
    // What was handed on is the fleet's to remember: the spool lets it be asked for again.
    files.enqueue(claimed.job()).unwrap();
    assert_eq!(source.forward_spooled_jobs(&token, LEASE, chrono::Utc::now()).await.unwrap(), 1);
    let listed = fleet.queue("shop").list_jobs(chrono::Utc::now()).await.unwrap();
    assert!(listed.len() == 3 && listed.iter().all(|listed| listed.place == JobFolder::New), "{listed:?}");
}

/// What is done all day long never reads the whole table.
#[tokio::test]
async fn many_jobs_make_nobody_slow() {
    let Some(fleet) = Fleet::fresh().await else { return };
    fill(&fleet.queue("shop"), "s", 1, JobUrgency::Over).await;
    let many = "INSERT INTO archivist.banks (key, channel) SELECT 'b' || n, 'c' || n FROM generate_series(1, 200) n; \
        INSERT INTO archivist.lanes (bank, due_pause) SELECT bank, now() + interval '1 day' FROM archivist.banks \
        ON CONFLICT DO NOTHING; \
        INSERT INTO archivist.jobs (bank, name, subject, place, urgency, enqueued_at, due_at, record, settled_at) \
        SELECT bank, n || '.json', n::text, CASE WHEN n % 5 = 0 THEN 0 ELSE 3 END, 1, now(), \
            now() + interval '1 day', '{}', now() FROM archivist.banks, generate_series(1, 200) n; ANALYZE";
    execute(&fleet.url, many).await;
    let one = PostgresServerSettings { connections: 1, ..settings(&fleet.url, Duration::from_secs(20)) };
    let fleet = Fleet { url: fleet.url, server: PostgresServer::new(one) };
    let (source, _spool) = fleet.source("shop", WorkerReach::All, 8);
    // The server counts with a delay, and only while something is done.
    for round in 0..12 {
        fill(&fleet.queue("shop"), &format!("r{round}-"), 3, JobUrgency::Over).await;
        for _ in 0..3 {
            claim(&source, "w").await.unwrap().complete("", chrono::Utc::now()).await.unwrap();
        }
        source.next_due(LEASE, chrono::Utc::now()).await.unwrap();
        source.prune_done_jobs(LEASE, chrono::Utc::now()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let scans = "DO $$ DECLARE scans bigint; BEGIN \
        SELECT seq_scan INTO scans FROM pg_stat_user_tables WHERE relname = 'jobs' AND idx_scan > 100; \
        IF scans IS NULL THEN RAISE 'nothing was counted'; END IF; \
        IF scans > 10 THEN RAISE 'the table was read % times', scans; END IF; END $$";
    execute(&fleet.url, scans).await;
}

/// Whatever happens to jobs, a lane says what waits in it.
#[tokio::test]
async fn lanes_tell_the_truth_after_everything() {
    let Some(fleet) = Fleet::fresh().await else { return };
    let (queue, now) = (fleet.queue("shop"), chrono::Utc::now());
    let (source, _spool) = fleet.source("shop", WorkerReach::Own, 1000);
    let mut random = 0x5eed_u64;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % bound
    };
    let mut hands: Vec<Arc<dyn ClaimedJob>> = Vec::new();
    for _ in 0..400 {
        match below(8) {
            0..=2 => {
                let urgency = [JobUrgency::Over, JobUrgency::Pause][usize::try_from(below(2)).unwrap()];
                let asked = Job { urgency, ..job(&format!("s{}", below(20)), below(3)) };
                queue.enqueue(&asked, now).await.unwrap();
            }
            3..=4 => hands.extend(claim(&source, "w").await),
            chosen if !hands.is_empty() => {
                let at = usize::try_from(below(u64::try_from(hands.len()).unwrap())).unwrap();
                let handler = hands.swap_remove(at);
                let settled = match chosen + below(3) {
                    5 => handler.complete("", now).await,
                    6 => handler.retry("x", now, now).await,
                    7 => handler.mark_dead("x", now).await,
                    8 => handler.postpone(now + Duration::from_millis(50), now).await,
                    _ => handler.release().await,
                };
                assert_eq!(settled.unwrap(), JobOwnership::Yes);
            }
            _ => {}
        }
    }
    let truth = "DO $$ BEGIN \
        IF EXISTS (SELECT 1 FROM archivist.lanes l WHERE busy <> \
            (SELECT count(*) FROM archivist.jobs j WHERE j.bank = l.bank AND place = 1)) THEN RAISE 'busy'; END IF; \
        IF EXISTS (SELECT 1 FROM archivist.lanes l WHERE (due_over, due_pause) IS DISTINCT FROM \
            (SELECT (min(due_at) FILTER (WHERE urgency = 0), min(due_at) FILTER (WHERE urgency = 1)) \
             FROM archivist.jobs j WHERE j.bank = l.bank AND place = 0 AND NOT EXISTS \
                 (SELECT 1 FROM archivist.jobs c WHERE c.bank = j.bank AND c.subject = j.subject AND c.place = 1))) \
        THEN RAISE 'due'; END IF; \
        IF EXISTS (SELECT 1 FROM archivist.jobs WHERE place IN (0, 1) GROUP BY bank, subject, place HAVING count(*) > 1) \
        THEN RAISE 'twice'; END IF; END $$";
    execute(&fleet.url, truth).await;
}
