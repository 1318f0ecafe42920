//! Stores of a given size, the same every time.

use std::io::Write;
use std::path::Path;

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::domain::{AgentMemory, Alias, Importance, ImportanceScale, MemoryId, Timestamp};
use archivist_core::memory::jsonl::{JsonlMemory, JsonlSettings};
use archivist_core::memory::{BankTenancy, MemoryService as _};

/// Words in the order of how common they are; the first few make up much of every text.
const WORDS: &str = "test run build error file fix check type command config failed commit branch retry cache server \
    client token parse path import module function async timeout lock thread memory index query schema migrate \
    deploy docker image network proxy header cookie session login auth permission role policy audit log trace metric \
    alert queue worker job batch stream socket buffer encode decode hash sign verify key certificate domain record \
    cluster node shard replica leader follower snapshot backup restore upgrade rollback feature flag experiment \
    variant cohort funnel report export template render layout style theme color font icon button form input select \
    option label modal dialog tooltip menu table row column cell grid chart graph plot axis legend filter sort page \
    cursor offset limit total count sum average median percentile histogram bucket window slide merge split join";

/// How many different words there are in all.
const VOCABULARY: usize = 8_000;

/// A word that nobody uses, the same for the same number.
fn invented(number: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "ke", "li", "mo", "nu", "pra", "sto", "tri", "vel", "zan", "cor", "dex", "fil", "gor", "hin", "jas",
        "lum", "mer", "nox", "quil",
    ];
    let digits = [number % 20, (number / 20) % 20, (number / 400) % 20, (number * 7) % 20];
    digits.map(|digit| SYLLABLES[digit]).concat()
}

/// A small generator, so that a store of one size is always the same store.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }

    /// The word of this rank is as much rarer than the first as its rank says, as in language.
    fn word(&mut self, words: &[&str]) -> String {
        let rank = (VOCABULARY as f64).powf(self.below(1_000_000) as f64 / 1e6) as usize - 1;
        words.get(rank).map_or_else(|| invented(rank), |word| (*word).to_owned())
    }
}

pub(crate) fn at() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn lesson(number: usize) -> AgentMemory {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = Random(number as u64 + 1);
    let mut text = |count: usize| {
        let mut picked: Vec<String> = (0..count).map(|_| random.word(&words)).collect();
        picked.push(format!("item{}", random.below(5000)));
        picked.join(" ")
    };
    let id = MemoryId::parse(&format!("mem-{number:08}")).unwrap();
    let created = at() - chrono::Duration::hours((number % 5000) as i64);
    let mut memory = AgentMemory::new(id, created, text(12));
    memory.rule = Some(format!("IF {} THEN {}", text(5), text(5)));
    memory.detail = Some(text(18));
    memory.tags = vec![words[number % words.len()].to_owned(), words[(number / 7) % words.len()].to_owned()];
    memory.facets.tool = number.is_multiple_of(3).then(|| "bash".to_owned());
    let importance = (number % 100) as f64 / 100.0;
    memory.importance = Importance::parse(importance, ImportanceScale::Undeclared).unwrap();
    memory.alias = Alias::from_number('m', number as u64 + 1).ok();
    memory
}

pub(crate) fn settings(directory: &Path) -> JsonlSettings {
    let memory = config::load_config(&ConfigLoadRequest::default()).unwrap().config.memory;
    JsonlSettings {
        project: directory.to_owned(),
        tenancy: BankTenancy::Own,
        global: None,
        ..memory.jsonl_settings(directory, None)
    }
}

/// Writes a store of so many lessons, without an index.
pub(crate) fn write_store(directory: &Path, lessons: usize) {
    std::fs::create_dir_all(directory).unwrap();
    let file = std::fs::File::create(directory.join("lessons.jsonl")).unwrap();
    let mut file = std::io::BufWriter::new(file);
    for number in 0..lessons {
        serde_json::to_writer(&mut file, &lesson(number)).unwrap();
        file.write_all(b"\n").unwrap();
    }
    file.flush().unwrap();
}

/// Builds the index of a store.
pub(crate) fn build_index(directory: &Path) {
    block_on(async { JsonlMemory::open(settings(directory)).compact_banks().await.unwrap() });
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
