//! A fleet on one machine: real workers, a real PostgreSQL, a model that answers at once. `cargo bench --bench fleet`.
//!
//! - `-- chaos` gives many workers many jobs, kills workers at random and crashes the server three times, and then counts
//!   whether everything is there, once. `--jobs N --workers N --projects N`
//! - `-- throughput` gives the same jobs to 1, 2, 4 and 8 workers, and holds what they do against `pgbench` with as many
//!   statements. `--jobs N`
//! - `-- recall` asks the same questions of a server and of files, at 100,000 lessons and at a million. `--lessons N,N`
//! - `-- meaning` asks for what is closest in meaning, with the extension `vector` (where `ARCHIVIST_TEST_PGVECTOR_BIN`
//!   names the programs of a server that has it) and without. `--vectors N`
//! - `-- neighbours` looks for lessons that say the same by their words, by trigrams (`pg_trgm`) and by both
//! - `-- day` lets the sessions of a day arrive in minutes, as many in the afternoon and few at night, and says how long
//!   they wait, how late a display hears of them and how much room they take. `--sessions N --seconds N --workers N`
//!
//! The server keeps its promises while it is measured: nothing of it is switched off.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    dead_code,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

#[path = "fleet/day.rs"]
mod day;
#[path = "fleet/fleet.rs"]
mod fleet;
#[path = "fleet/meaning.rs"]
mod meaning;
#[path = "fleet/neighbours.rs"]
mod neighbours;
#[path = "../tests/it/postgres_server.rs"]
mod postgres_server;
#[path = "fleet/recall.rs"]
mod recall;
mod support;

use std::time::{Duration, Instant};

use self::fleet::{Counts, Fleet, Plan};
use self::postgres_server::Cluster;

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let text = |flag: &str| given.iter().position(|word| word == flag).and_then(|at| given.get(at + 1));
    let number = |flag: &str, usual: usize| text(flag).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let is_asked = |word: &str| given.iter().any(|given| given == word);
    let wants_all =
        !["chaos", "throughput", "recall", "meaning", "neighbours", "day"].iter().any(|word| is_asked(word));
    if wants_all || is_asked("throughput") {
        throughput(number("--jobs", 1_000));
    }
    if wants_all || is_asked("recall") {
        let sizes = text("--lessons").map_or("100000,1000000", String::as_str);
        recall::run(&sizes.split(',').map(|size| size.parse().unwrap()).collect::<Vec<usize>>());
    }
    if wants_all || is_asked("meaning") {
        meaning::run(number("--vectors", 100_000));
    }
    if wants_all || is_asked("neighbours") {
        neighbours::run();
    }
    if wants_all || is_asked("day") {
        day::run(number("--sessions", 6_000), number("--seconds", 180), number("--workers", 8));
    }
    if wants_all || is_asked("chaos") {
        chaos(number("--jobs", 20_000), number("--workers", 16), number("--projects", 100));
    }
}

/// Many workers, many jobs, and no peace.
fn chaos(jobs: usize, workers: usize, projects: usize) {
    println!("\n== chaos: {jobs} jobs of {projects} projects, {workers} workers");
    let cluster = Cluster::start("-c max_connections=300 -c shared_buffers=256MB").expect("a PostgreSQL server");
    let mut fleet = Fleet::new(&cluster, &Plan { jobs, projects });
    let began = Instant::now();
    let since = |began: Instant| format!("{:>7.1} s", began.elapsed().as_secs_f64());
    println!("{}  all jobs are in the queue", since(began));
    for _ in 0..workers {
        fleet.start_worker();
    }
    let (mut killed, mut crashed, mut dice) = (0_u64, 0, 7_u64);
    let mut last_kill = Instant::now();
    let mut told = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let counts = fleet.counts();
        if told.elapsed() > Duration::from_secs(15) {
            println!(
                "{}  {} done, {} in hand, {} waiting, {} dead",
                since(began),
                counts.done,
                counts.claimed,
                counts.new,
                counts.dead
            );
            told = Instant::now();
        }
        if counts.new + counts.claimed == 0 {
            break;
        }
        if last_kill.elapsed() > Duration::from_secs(3) {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            fleet.kill_worker((dice >> 33) as usize);
            fleet.start_worker();
            killed += 1;
            last_kill = Instant::now();
        }
        if crashed < 3 && counts.done > (crashed + 1) * jobs / 4 {
            crashed += 1;
            println!(
                "{}  crash {crashed}: the server is stopped as by a power cut at {} done",
                since(began),
                counts.done
            );
            cluster.crash();
            std::thread::sleep(Duration::from_millis(1_500));
            cluster.run(&[]);
            println!("{}  the server runs again", since(began));
        }
    }
    let took = began.elapsed();
    println!("{}  nothing is left to do; {killed} workers were killed", since(began));
    fleet.stop_workers();
    let Counts { done, dead, attempts, .. } = fleet.counts();
    let found = fleet.kept();
    println!(
        "jobs done {done}, dead {dead}, tries that failed {attempts}; {:.0} jobs/s",
        jobs as f64 / took.as_secs_f64()
    );
    println!(
        "episodes {} of {jobs}, lessons {} of {}, sightings {} of {jobs}, versions of lessons {}",
        found.episodes,
        found.lessons,
        fleet.lessons_expected(),
        found.sightings,
        found.versions
    );
    println!("what was last said of the jobs: {}", fleet.notes());
    println!("the same lesson twice in a project: {}; sessions without a run: {}", found.twice, found.missing);
    assert_eq!((done, dead), (jobs, 0));
    assert_eq!((found.episodes, found.sightings, found.twice, found.missing), (jobs, jobs, 0, 0));
    assert_eq!(found.lessons, fleet.lessons_expected());
    assert_eq!(fleet.findings(), 0, "what is derived agrees with what it is derived from");
    println!("everything is there, once");
}

/// The same jobs for 1, 2, 4 and 8 workers, beside pgbench.
fn throughput(jobs: usize) {
    println!("\n== throughput: {jobs} jobs of 20 projects");
    let cluster =
        Cluster::start("-c max_connections=300 -c shared_buffers=256MB -c shared_preload_libraries=pg_stat_statements")
            .expect("a PostgreSQL server");
    println!("{:<10}{:>10}{:>16}{:>22}{:>10}", "workers", "jobs/s", "statements/job", "pgbench, same/s", "ratio");
    for workers in [1, 2, 4, 8] {
        let mut fleet = Fleet::new(&cluster, &Plan { jobs, projects: 20 });
        fleet.forget_statements();
        // A worker reads a vocabulary and settings when it starts; that is not what is measured.
        for _ in 0..workers {
            fleet.start_worker();
        }
        while fleet.counts().done < workers * 2 {
            std::thread::sleep(Duration::from_millis(20));
        }
        let (began, first) = (Instant::now(), fleet.counts().done);
        while fleet.counts().new + fleet.counts().claimed > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        let took = began.elapsed().as_secs_f64();
        let rate = (jobs - first) as f64 / took;
        fleet.stop_workers();
        let statements = fleet.statements() as f64 / jobs as f64;
        let bare = fleet.pgbench(&cluster, workers, statements.round() as usize);
        println!("{workers:<10}{rate:>10.1}{statements:>16.1}{bare:>22.1}{:>10.2}", rate / bare);
    }
}
