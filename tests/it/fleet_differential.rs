//! Two stores, the same operations, the same answers: whatever the memory in files says, the one on a server says too.
//!
//! Ids and their order must be the same. Scores may differ by [`TOLERANCE`]: weights of judgements are added up by both in
//! the order in which they came, and everything else is the same arithmetic on the same numbers.

use std::sync::Arc;

use archivist_core::domain::{
    AgentMemory, EvidenceLevel, Exposure, Fact, FeedbackVerdict, Importance, ImportanceScale, MemoryKind, MemoryQuery,
    MemoryScope, MemoryState, Timestamp,
};
use archivist_core::memory::{
    CommitBatch, EpisodeFilter, FactFilter, LessonName, LessonRemoval, LessonStateFilter, MemoryAnswer, MemoryError,
    MemoryService,
};

use crate::samples::{PROJECT, day, episode, episode_id, id, project_query, ranking, run, session};
use crate::stores::{Jsonl, Postgres, Store};

/// How far two scores may lie apart.
const TOLERANCE: f64 = 1e-9;

/// How many operations; `ARCHIVIST_DIFFERENTIAL_OPERATIONS` asks for more.
const OPERATIONS: u64 = 2_000;

const WORDS: &[&str] = &[
    "shard",
    "bun",
    "test",
    "timeout",
    "redis",
    "connection",
    "refused",
    "commit",
    "lint",
    "cache",
    "docker",
    "migrate",
    "postgres",
    "retry",
    "flaky",
    "snapshot",
    "secret",
    "token",
    "build",
    "linker",
    "borrow",
    "async",
    "panic",
    "proxy",
    "certificate",
    "queue",
    "worker",
    "lease",
    "index",
    "schema",
    "ümlaut",
    "naïve",
    "it's",
    "a\\b",
    "C++",
    "getUserById",
];

/// Chance that repeats itself.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }

    fn words(&mut self, count: usize) -> String {
        // Some words are more common than others.
        let word = |dice: &mut Self| {
            let reach = 1 + dice.roll(WORDS.len());
            WORDS[dice.roll(reach)]
        };
        (0..count).map(|_| word(self)).collect::<Vec<_>>().join(" ")
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }

    fn sometimes<T>(&mut self, one_in: usize, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.roll(one_in) == 0).then(|| value(self))
    }
}

struct Pair {
    files: Arc<dyn MemoryService>,
    server: Arc<dyn MemoryService>,
}

#[tokio::test]
async fn the_same_operations_get_the_same_answers() {
    let (Some(files), Some(server)) = (Jsonl::fresh().await, Postgres::fresh().await) else { return };
    let pair = Pair { files: Arc::new(files.lazy_memory()), server: server.open().await };
    let operations = std::env::var("ARCHIVIST_DIFFERENTIAL_OPERATIONS").ok().and_then(|text| text.parse().ok());
    let seed = std::env::var("ARCHIVIST_DIFFERENTIAL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    let mut dice = Dice(seed);
    let mut hits = 0;
    for number in 0..operations.unwrap_or(OPERATIONS) {
        hits += operation(&pair, &mut dice, number).await;
    }
    // Questions that nothing answers would show nothing.
    assert!(hits > 500, "only {hits} answers");
    whole(&pair).await;
}

/// Does one thing to both, and says how many lessons it was answered.
async fn operation(pair: &Pair, dice: &mut Dice, number: u64) -> usize {
    let now = day(i64::try_from(number / 50).unwrap());
    match dice.roll(20) {
        0..=5 => commit(pair, dice, now).await,
        6 => change(pair, dice, now).await,
        7..=14 => return query(pair, dice, now).await,
        15 | 16 => return neighbours(pair, dice).await,
        17 => look_up(pair, dice).await,
        18 => read_some(pair, dice, now).await,
        _ if number.is_multiple_of(20) => whole(pair).await,
        _ => return query(pair, dice, now).await,
    }
    0
}

fn lesson(dice: &mut Dice, now: Timestamp) -> AgentMemory {
    let count = 3 + dice.roll(12);
    let key = dice.roll(400).to_string();
    let summary = dice.words(count);
    let mut memory = AgentMemory::new(id(&key), now, summary);
    memory.importance = Importance::parse(dice.roll(101) as f64 / 100.0, ImportanceScale::Undeclared).unwrap();
    memory.rule = dice.sometimes(3, |dice| format!("IF {} THEN {}", dice.words(3), dice.words(3)));
    memory.detail = dice.sometimes(3, |dice| dice.words(20));
    memory.tags = (0..dice.roll(3)).map(|_| dice.words(1)).collect();
    memory.facets.tool = dice.sometimes(4, |dice| dice.one(&["bash", "grep"]).to_owned());
    memory.facets.provider = dice.sometimes(5, |dice| dice.one(&["claude-code", "openai"]).to_owned());
    memory.facets.component = dice.sometimes(5, |dice| dice.one(&["src", "src/auth", "docs"]).to_owned());
    memory.facets.task_id = dice.sometimes(6, |dice| dice.one(&["t-1", "t-2"]).to_owned());
    memory.facets.error_family =
        dice.sometimes(5, |dice| dice.one(&["0123456789abcdef", "fedcba9876543210"]).parse().unwrap());
    memory.kind = match dice.roll(8) {
        0 => MemoryKind::Preference,
        1 => MemoryKind::Decision,
        _ => MemoryKind::Lesson,
    };
    memory.scope = match dice.roll(12) {
        0 => MemoryScope::Global,
        1 => MemoryScope::Task,
        2 => MemoryScope::Tool,
        _ => MemoryScope::Project,
    };
    memory.state = dice.sometimes(4, |dice| match dice.roll(3) {
        0 => MemoryState::Observed,
        1 => MemoryState::Candidate,
        _ => MemoryState::Quarantined,
    });
    memory.repo_id = dice.sometimes(4, |dice| dice.one(&["host/here", "host/there"]).to_owned());
    memory.project_root = dice.sometimes(4, |dice| dice.one(&[PROJECT, "/elsewhere"]).to_owned());
    memory.evergreen = dice.roll(15) == 0;
    memory
}

fn fact(dice: &mut Dice, at: Timestamp) -> Fact {
    let memory = id(&dice.roll(400).to_string());
    let number = dice.roll(60).to_string();
    match dice.roll(4) {
        0 => Fact::Sighting {
            memory,
            episode: episode_id(&number),
            at,
            level: EvidenceLevel::Execution,
            context: None,
            quotes: Vec::new(),
            extra: Default::default(),
        },
        1 => Fact::Feedback {
            memory,
            episode: episode_id(&number),
            verdict: if dice.roll(2) == 0 { FeedbackVerdict::Validated } else { FeedbackVerdict::Ignored },
            weight: dice.roll(30) as f64 / 10.0,
            role: dice.sometimes(2, |dice| dice.words(1)),
            level: EvidenceLevel::Execution,
            at,
            extra: Default::default(),
        },
        _ => Fact::Injection {
            run: run(&number),
            memory,
            point: "orchestrator".into(),
            rank: 1,
            exposure: if dice.roll(9) == 0 { Exposure::Withheld } else { Exposure::Exposed },
            at,
            extra: Default::default(),
        },
    }
}

async fn commit(pair: &Pair, dice: &mut Dice, now: Timestamp) {
    let mut batch = CommitBatch {
        memories: (0..dice.roll(3)).map(|_| lesson(dice, now)).collect(),
        facts: (0..dice.roll(4)).map(|_| fact(dice, now)).collect(),
        ..CommitBatch::default()
    };
    batch.episodes.extend(dice.sometimes(3, |dice| {
        let mut episode = episode(&dice.roll(60).to_string());
        episode.finished_at = now;
        episode
    }));
    if dice.roll(10) == 0 {
        let expected = u64::try_from(dice.roll(4)).unwrap();
        batch.expected.extend(batch.memories.first().map(|memory| (memory.id.clone(), expected)));
    }
    same(pair.files.commit_batch(batch.clone(), now).await, pair.server.commit_batch(batch, now).await);
}

async fn change(pair: &Pair, dice: &mut Dice, now: Timestamp) {
    let id = id(&dice.roll(400).to_string());
    if dice.roll(2) == 0 {
        let removal = LessonRemoval::Forgotten { reason: Some("tried".into()) };
        same(
            pair.files.archive_memory(&id, removal.clone(), now).await,
            pair.server.archive_memory(&id, removal, now).await,
        );
    } else {
        let version = 1 + u64::try_from(dice.roll(3)).unwrap();
        same(pair.files.restore_version(&id, version, now).await, pair.server.restore_version(&id, version, now).await);
    }
}

fn question(dice: &mut Dice) -> MemoryQuery {
    let mut query = project_query();
    let count = 1 + dice.roll(6);
    query.text = if dice.roll(6) == 0 { None } else { Some(dice.words(count)) };
    query.tags = dice.sometimes(4, |dice| vec![dice.words(1)]).unwrap_or_default();
    query.repo_id = dice.sometimes(2, |dice| dice.one(&["host/here", "host/there"]).to_owned());
    query.facets.tool = dice.sometimes(4, |dice| dice.one(&["bash", "grep"]).to_owned());
    query.facets.component = dice.sometimes(6, |dice| dice.one(&["src/auth/login.rs", "docs"]).to_owned());
    query.facets.error_family = dice.sometimes(8, |_| "0123456789abcdef".parse().unwrap());
    query.kind = dice.sometimes(12, |_| MemoryKind::Preference);
    query.scope = dice.sometimes(15, |_| MemoryScope::Global);
    query.max_results = dice.sometimes(3, |dice| 1 + dice.roll(30));
    if dice.roll(10) == 0 {
        query.cosines = (0..5).map(|_| (id(&dice.roll(400).to_string()), dice.roll(100) as f64 / 100.0)).collect();
    }
    query
}

async fn query(pair: &Pair, dice: &mut Dice, now: Timestamp) -> usize {
    let question = question(dice);
    let (files, server) = (
        pair.files.query_lessons(&question, &ranking(), now).await,
        pair.server.query_lessons(&question, &ranking(), now).await,
    );
    let (files, server): (MemoryAnswer, MemoryAnswer) = (files.unwrap(), server.unwrap());
    let order = |answer: &MemoryAnswer| answer.hits.iter().map(|hit| hit.lesson.memory.id.clone()).collect::<Vec<_>>();
    assert_eq!(order(&files), order(&server), "{question:?}\n{files:#?}\n{server:#?}");
    assert_eq!(files.dropped, server.dropped, "{question:?}");
    for (one, other) in files.hits.iter().zip(&server.hits) {
        assert_eq!(one.lesson, other.lesson);
        assert!((one.score.score - other.score.score).abs() <= TOLERANCE, "{question:?}");
        assert!((one.score.relevance - other.score.relevance).abs() <= TOLERANCE, "{question:?}");
    }
    files.hits.len()
}

async fn neighbours(pair: &Pair, dice: &mut Dice) -> usize {
    let (question, limit) = (question(dice), 1 + dice.roll(12));
    let files = pair.files.find_neighbours(&question, limit).await.unwrap();
    let server = pair.server.find_neighbours(&question, limit).await.unwrap();
    let ids = |near: &[archivist_core::memory::LessonNeighbour]| {
        near.iter().map(|near| near.lesson.memory.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&files), ids(&server), "{question:?}");
    for (one, other) in files.iter().zip(&server) {
        assert!((one.similarity - other.similarity).abs() <= TOLERANCE);
    }
    files.len()
}

async fn look_up(pair: &Pair, dice: &mut Dice) {
    let id = id(&dice.roll(400).to_string());
    let name = match dice.roll(2) {
        0 => LessonName::Id(id.clone()),
        _ => LessonName::parse(&format!("m-{:03}", 1 + dice.roll(300))).unwrap(),
    };
    same(pair.files.get_lesson(&name).await, pair.server.get_lesson(&name).await);
    same(pair.files.lesson_history(&id).await, pair.server.lesson_history(&id).await);
}

async fn read_some(pair: &Pair, dice: &mut Dice, now: Timestamp) {
    let number = dice.roll(60).to_string();
    let facts = match dice.roll(3) {
        0 => FactFilter { memory: Some(id(&dice.roll(400).to_string())), run: None },
        1 => FactFilter { memory: None, run: Some(run(&number)) },
        _ => FactFilter { memory: Some(id(&number)), run: Some(run(&number)) },
    };
    same(pair.files.list_facts(&facts).await, pair.server.list_facts(&facts).await);
    let episodes = match dice.roll(4) {
        0 => EpisodeFilter { id: Some(episode_id(&number)), ..EpisodeFilter::default() },
        1 => EpisodeFilter { session: Some(session(&number)), ..EpisodeFilter::default() },
        2 => EpisodeFilter { since: Some(now), ..EpisodeFilter::default() },
        _ => EpisodeFilter::default(),
    };
    same(pair.files.list_episodes(&episodes).await, pair.server.list_episodes(&episodes).await);
}

async fn whole(pair: &Pair) {
    for which in [LessonStateFilter::Given, LessonStateFilter::Live, LessonStateFilter::All] {
        same(pair.files.list_lessons(which).await, pair.server.list_lessons(which).await);
    }
    let all = FactFilter::default();
    same(pair.files.list_facts(&all).await, pair.server.list_facts(&all).await);
    assert_eq!(pair.server.find_problems().await.unwrap(), [], "what is derived agrees with what it is derived from");
}

/// The same answer, or the same refusal.
fn same<T: PartialEq + std::fmt::Debug>(files: Result<T, MemoryError>, server: Result<T, MemoryError>) {
    match (files, server) {
        (Ok(files), Ok(server)) => assert_eq!(files, server),
        (Err(files), Err(server)) => assert_eq!(files.to_string(), server.to_string()),
        (files, server) => panic!("one answers and the other does not: {files:?} / {server:?}"),
    }
}
