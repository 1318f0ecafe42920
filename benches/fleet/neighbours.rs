//! Whether trigrams would find neighbours that words do not: of lessons that say the same in other words, how many are
//! among those that a judge gets to see. `docs/decisions.md` says what followed from it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::domain::{AgentMemory, MemoryId, MemoryQuery, MemoryState};
use archivist_core::memory::postgres::migrate_schema;
use archivist_core::memory::{CommitBatch, MemoryService, RecordOrigin};
use serde_json::Value;
use tokio_postgres::{Client, NoTls};

use crate::fleet::server;
use crate::postgres_server::{Cluster, database};
use crate::recall::large;
use crate::support::at;

/// One text that is known and one that comes.
struct Pair {
    known: AgentMemory,
    new: AgentMemory,
    is_same: bool,
}

fn own_pairs() -> Vec<Pair> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pairs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut pairs = Vec::new();
    for line in files.iter().flat_map(|path| lines(&std::fs::read_to_string(path).unwrap())) {
        let side = |key: &str| {
            let side = &line[key];
            let mut memory = lesson(side["summary"].as_str().unwrap(), side["rule"].as_str());
            memory.facets = serde_json::from_value(side.clone()).unwrap();
            memory
        };
        pairs.push(Pair { known: side("a"), new: side("b"), is_same: line["relation"] == "same" });
    }
    pairs
}

fn public_pairs(file: &Path) -> Vec<Pair> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    let side = |line: &Value, key: &str| lesson(line[key].as_str().unwrap(), None);
    let pair = |line: Value| Pair { known: side(&line, "a"), new: side(&line, "b"), is_same: line["label"] == 1 };
    lines(&text).into_iter().map(pair).collect()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A lesson whose id is what it says: the same text is the same lesson.
fn lesson(summary: &str, rule: Option<&str>) -> AgentMemory {
    let said = format!("{summary}\n{}", rule.unwrap_or_default());
    let id = MemoryId::parse(&blake3::hash(said.as_bytes()).to_hex()).unwrap();
    let mut memory = AgentMemory::new(id, at(), summary);
    memory.rule = rule.map(str::to_owned);
    memory.state = Some(MemoryState::Verified);
    memory
}

/// As a judge asks.
fn statement(memory: &AgentMemory) -> String {
    memory.rule.as_ref().map_or_else(|| memory.summary.clone(), |rule| format!("{}\n{rule}", memory.summary))
}

/// How many of the pairs each way finds.
#[derive(Debug, Default)]
struct Found {
    lessons: usize,
    pairs: usize,
    words: usize,
    twice_as_many_words: usize,
    trigrams: usize,
    either: usize,
}

impl Found {
    fn share(&self, found: usize) -> f64 {
        100.0 * found as f64 / self.pairs as f64
    }
}

async fn measure(cluster: &Cluster, pairs: &[Pair], most: usize) -> Option<Found> {
    let url = database(&cluster.url("postgres"), "neighbours").await;
    migrate_schema(&server(&url)).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    if client.batch_execute("CREATE EXTENSION pg_trgm").await.is_err() {
        eprintln!("skipped: the server has no extension pg_trgm");
        return None;
    }
    let memory = large(&url);
    // What comes again is not there yet; everything else is.
    let again: BTreeSet<&MemoryId> = pairs.iter().filter(|pair| pair.is_same).map(|pair| &pair.new.id).collect();
    let sides = pairs.iter().flat_map(|pair| [(&pair.known, true), (&pair.new, !again.contains(&pair.new.id))]);
    let there: BTreeMap<&MemoryId, &AgentMemory> =
        sides.filter(|(_, is_there)| *is_there).map(|(memory, _)| (&memory.id, memory)).collect();
    let memories: Vec<AgentMemory> = there.values().map(|memory| (*memory).clone()).collect();
    memory
        .commit_batch(CommitBatch { memories, records: RecordOrigin::Copied, ..CommitBatch::default() }, at())
        .await
        .unwrap();
    client.batch_execute("CREATE TABLE texts (id text PRIMARY KEY, said text NOT NULL)").await.unwrap();
    let (ids, texts): (Vec<&str>, Vec<String>) =
        there.iter().map(|(id, memory)| (id.as_str(), statement(memory))).unzip();
    let insert = "INSERT INTO texts SELECT * FROM unnest($1::text[], $2::text[])";
    client.execute(insert, &[&ids, &texts]).await.unwrap();
    client.batch_execute("CREATE INDEX ON texts USING gist (said gist_trgm_ops); ANALYZE texts").await.unwrap();
    let mut found = Found { lessons: there.len(), ..Found::default() };
    for pair in pairs.iter().filter(|pair| pair.is_same && pair.known.id != pair.new.id) {
        let mut near = MemoryQuery { text: Some(statement(&pair.new)), ..MemoryQuery::for_project("/large") };
        near.facets.error_family.clone_from(&pair.new.facets.error_family);
        let by_words = memory.find_neighbours(&near, 2 * most).await.unwrap();
        let place = by_words.iter().position(|one| one.lesson.memory.id == pair.known.id);
        let by_trigrams = trigrams(&client, &statement(&pair.new), most).await;
        let (in_words, in_trigrams) =
            (place.is_some_and(|place| place < most), by_trigrams.contains(pair.known.id.as_str()));
        found.pairs += 1;
        found.words += usize::from(in_words);
        found.twice_as_many_words += usize::from(place.is_some());
        found.trigrams += usize::from(in_trigrams);
        found.either += usize::from(in_words || in_trigrams);
    }
    Some(found)
}

async fn trigrams(client: &Client, text: &str, most: usize) -> BTreeSet<String> {
    let select = "SELECT id FROM texts ORDER BY said <-> $1, id LIMIT $2";
    let rows = client.query(select, &[&text, &i64::try_from(most).unwrap()]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

pub(crate) fn run() {
    let most = config::load_config(&ConfigLoadRequest::default()).unwrap().config.reflection_settings().neighbours;
    println!("\n== neighbours: of texts that say the same in other words, how many are found among {most}");
    let mut sets = vec![("own pairs".to_owned(), own_pairs())];
    match std::env::var_os("ARCHIVIST_BENCH").map(PathBuf::from) {
        Some(bench) => {
            for name in ["nl2bash_pairs", "mrpc_test", "stsb_test"] {
                let pairs = public_pairs(&bench.join("dedup").join(format!("{name}.jsonl.gz")));
                sets.push((name.to_owned(), pairs));
            }
        }
        None => println!("skipped: ARCHIVIST_BENCH names no public pairs"),
    }
    let twice = format!("words in {}", 2 * most);
    println!("{:<16}{:>8}{:>8}{:>10}{:>10}{:>10}{twice:>14}", "%", "lessons", "pairs", "words", "trigrams", "either");
    let cluster = Cluster::start("-c fsync=off").expect("a server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (name, pairs) in sets {
        let Some(found) = runtime.block_on(measure(&cluster, &pairs, most)) else { return };
        let [words, trigrams, either, twice] =
            [found.words, found.trigrams, found.either, found.twice_as_many_words].map(|count| found.share(count));
        println!(
            "{name:<16}{:>8}{:>8}{words:>10.2}{trigrams:>10.2}{either:>10.2}{twice:>14.2}",
            found.lessons, found.pairs
        );
    }
}
