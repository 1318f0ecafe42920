//! The same questions, asked of a server and of files.

use std::time::Instant;

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::domain::MemoryQuery;
use archivist_core::memory::jsonl::JsonlMemory;
use archivist_core::memory::postgres::{PostgresBankSettings, PostgresMemory, migrate_schema};
use archivist_core::memory::{BankTenancy, CommitBatch, MemoryService, RecordOrigin};
use tokio_postgres::NoTls;

use crate::fleet::server;
use crate::postgres_server::{Cluster, database};
use crate::support::{at, build_index, lesson, settings, write_store};

const QUESTIONS: usize = 300;
/// Lessons that are written at once.
const AT_ONCE: usize = 5_000;

pub(crate) fn run(sizes: &[usize]) {
    println!("\n== recall: {QUESTIONS} questions of about ten words, all lessons in one project");
    println!("{:<28}{:>10}{:>10}{:>12}{:>12}", "ms", "p50", "p99", "first", "room");
    let cluster = Cluster::start("-c max_connections=50 -c shared_buffers=2GB -c work_mem=64MB").expect("a server");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for &size in sizes {
        let home = tempfile::tempdir().unwrap();
        write_store(home.path(), size);
        build_index(home.path());
        let files = JsonlMemory::open(settings(home.path()));
        let (url, on_server) = runtime.block_on(filled(&cluster, size));
        let bytes = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client.query_one("SELECT pg_database_size(current_database())", &[]).await.unwrap().get::<_, i64>(0)
        });
        let in_files = std::fs::metadata(home.path().join("lessons.jsonl")).unwrap().len() as i64;
        runtime.block_on(async {
            let one = measure(&format!("{size} in files"), &files, in_files).await;
            let other = measure(&format!("{size} on a server"), &on_server, bytes).await;
            let same = one.iter().zip(&other).filter(|(one, other)| one == other).count();
            println!("{:<28}{same} of {QUESTIONS} answers are the same, in the same order", "");
        });
    }
}

/// That bank, as a process that has just started sees it.
pub(crate) fn large(url: &str) -> PostgresMemory {
    let settings = PostgresBankSettings {
        bank: "large".to_owned(),
        tenancy: BankTenancy::Own,
        global: None,
        max_record_bytes: 4 * 1024 * 1024,
    };
    PostgresMemory::open(server(url), settings)
}

/// A database with so many lessons in one bank.
pub(crate) async fn filled(cluster: &Cluster, size: usize) -> (String, PostgresMemory) {
    let url = database(&cluster.url("postgres"), "recall").await;
    migrate_schema(&server(&url)).await.unwrap();
    let memory = large(&url);
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    // As anybody would who brings in a million at once: the index is made when they are there.
    client.batch_execute("DROP INDEX archivist.lessons_words").await.unwrap();
    let began = Instant::now();
    for first in (0..size).step_by(AT_ONCE) {
        let memories = (first..size.min(first + AT_ONCE)).map(lesson).collect();
        let batch = CommitBatch { memories, records: RecordOrigin::Copied, ..CommitBatch::default() };
        memory.commit_batch(batch, at()).await.unwrap();
    }
    client
        .batch_execute(
            "SET maintenance_work_mem = '1GB'; \
             CREATE INDEX lessons_words ON archivist.lessons USING gin (words) WITH (fastupdate = off)",
        )
        .await
        .unwrap();
    client.batch_execute("VACUUM ANALYZE").await.unwrap();
    eprintln!("{size} lessons brought to the server in {:.0} s", began.elapsed().as_secs_f64());
    (url, memory)
}

/// The ids of each answer.
async fn measure(name: &str, memory: &dyn MemoryService, bytes: i64) -> Vec<Vec<String>> {
    let ranking = config::load_config(&ConfigLoadRequest::default()).unwrap().config.recall.ranking_settings();
    let (mut times, mut answers, mut first) = (Vec::new(), Vec::new(), None);
    for round in 0..2 {
        for number in 0..QUESTIONS {
            // The words of a lesson that is there, with a few left out.
            let summary = lesson(number * 31 + 7).summary;
            let words: Vec<&str> =
                summary.split(' ').enumerate().filter(|(at, _)| at % 5 != 0).map(|(_, w)| w).collect();
            let query = MemoryQuery { text: Some(words.join(" ")), ..MemoryQuery::for_project("/large") };
            let began = Instant::now();
            let answer = memory.query_lessons(&query, &ranking, at()).await.unwrap();
            let took = began.elapsed().as_secs_f64() * 1e3;
            first.get_or_insert(took);
            if round == 1 {
                times.push(took);
                answers.push(answer.hits.iter().map(|hit| hit.lesson.memory.id.as_str().to_owned()).collect());
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let share = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{name:<28}{:>10.2}{:>10.2}{:>12.1}{:>9.0} MB",
        share(0.5),
        share(0.99),
        first.unwrap_or_default(),
        bytes as f64 / 1e6
    );
    answers
}
