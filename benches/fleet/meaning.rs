//! The lessons that are closest to a question in meaning, found on a server with the extension `vector` and without.

use std::time::Instant;

use archivist_core::domain::MemoryId;
use archivist_core::memory::{LessonVectorStore, LessonVectors, VectorModel};
use tokio_postgres::NoTls;

use crate::postgres_server::Cluster;
use crate::recall::{filled, large};
use crate::support::lesson;

const MODEL: VectorModel<'static> = VectorModel { name: "random", dimensions: 384 };
/// As many as a question is told of.
const CLOSEST: usize = 200;
const QUESTIONS: u64 = 40;
/// Lessons whose vectors are kept at once.
const AT_ONCE: usize = 1_000;

/// Numbers by chance, brought to length one.
fn random(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    let numbers: Vec<f32> = (0..MODEL.dimensions).map(|_| number()).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.into_iter().map(|number| number / length).collect()
}

pub(crate) fn run(size: usize) {
    println!("\n== meaning: the {CLOSEST} closest of {size} lessons, {} dimensions", MODEL.dimensions);
    println!("{:<44}{:>10}{:>10}{:>10}", "ms", "first", "p50", "p99");
    let options = "-c max_connections=50 -c shared_buffers=2GB";
    let programs = std::env::var_os("ARCHIVIST_TEST_PGVECTOR_BIN");
    let has_vector = programs.is_some();
    let cluster = match programs {
        Some(programs) => Cluster::start_from(programs.into(), options),
        None => Cluster::start(options).expect("a server"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let (url, memory) = filled(&cluster, size).await;
        let began = Instant::now();
        for first in (0..size).step_by(AT_ONCE) {
            let measured = |number: usize| LessonVectors {
                lesson: lesson(number).id,
                version: 1,
                units: vec![random(number as u64)],
            };
            let measured: Vec<LessonVectors> = (first..size.min(first + AT_ONCE)).map(measured).collect();
            assert_eq!(memory.store_vectors(MODEL, &measured).await.unwrap(), measured.len());
        }
        eprintln!("{size} vectors brought to the server in {:.0} s", began.elapsed().as_secs_f64());
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("VACUUM ANALYZE").await.unwrap();
        let without = measure("read once and compared here", &url).await;
        if has_vector {
            client.batch_execute("CREATE EXTENSION vector").await.unwrap();
            let with = measure("compared by the server (vector)", &url).await;
            let same = without.iter().zip(&with).filter(|(one, other)| one == other).count();
            println!("{same} of {QUESTIONS} answers are the same, in the same order");
        } else {
            println!("skipped: ARCHIVIST_TEST_PGVECTOR_BIN names no server with the extension vector");
        }
        let began = Instant::now();
        assert!(memory.lessons_without_vectors(MODEL, 64).await.unwrap().is_empty());
        println!("to find that no lesson is without vectors: {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
    });
}

/// The ids of each answer, asked by a process that has read nothing yet.
async fn measure(name: &str, url: &str) -> Vec<Vec<MemoryId>> {
    let memory = large(url);
    let (mut times, mut answers) = (Vec::new(), Vec::new());
    for question in 0..QUESTIONS {
        let asked = random(u64::MAX - question);
        let began = Instant::now();
        let close = memory.closest_lessons(MODEL, &asked, CLOSEST).await.unwrap();
        times.push(began.elapsed().as_secs_f64() * 1e3);
        assert_eq!(close.len(), CLOSEST);
        answers.push(close.into_iter().map(|(id, _)| id).collect());
    }
    let first = times.remove(0);
    times.sort_by(f64::total_cmp);
    let share = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{name:<44}{first:>10.1}{:>10.1}{:>10.1}", share(0.5), share(0.99));
    answers
}
