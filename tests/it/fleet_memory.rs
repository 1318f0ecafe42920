//! What only a memory on a server has to show: migrations, roles, turns, broken connections, questions by an index.

use std::sync::Arc;
use std::time::Duration;

use archivist_core::domain::AgentMemory;
use archivist_core::memory::postgres::{
    EventFeed, MigrationStepState, NewEvent, PostgresBankSettings, PostgresMemory, PostgresServer,
    PostgresServerSettings, RowSecurity, grant_access, list_migration_steps, migrate_schema, revoke_access,
    set_row_security,
};
use archivist_core::memory::{
    BankTenancy, CommitBatch, EpisodeFilter, FactFilter, LessonName, LessonStateFilter, LessonUsage, MemoryError,
    MemoryService,
};
use archivist_core::service::{FleetJobSource, FleetQueue, JobSource as _, WorkerReach, WorkerToken};
use tokio_postgres::NoTls;

use crate::postgres_proxy::{Fault, Proxy};
use crate::postgres_server::{Cluster, database, shared, sql, unique};
use crate::samples::{at, day, episode, id, job, lesson, name_of, project_query, queue_in, ranking, run};
use crate::stores::{Postgres, Store, server_at};

fn bank(server: &Arc<PostgresServer>, key: &str) -> PostgresMemory {
    let settings = PostgresBankSettings {
        bank: key.to_owned(),
        tenancy: BankTenancy::Own,
        global: None,
        max_record_bytes: 1024 * 1024,
    };
    PostgresMemory::open(Arc::clone(server), settings)
}

fn impatient(url: &str) -> Arc<PostgresServer> {
    PostgresServer::new(PostgresServerSettings {
        url: url.to_owned(),
        read_url: None,
        ca_file: None,
        connections: 4,
        statement_timeout: Duration::from_secs(10),
        patience: Duration::from_millis(600),
    })
}

async fn number(url: &str, select: &str) -> i64 {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.query_one(select, &[]).await.unwrap().get(0)
}

fn refused(found: Result<impl std::fmt::Debug, MemoryError>) -> String {
    let error = found.unwrap_err();
    format!("{error}\nhint: {}", error.hint().unwrap_or_default())
}

#[tokio::test]
async fn tables_are_made_once_also_by_two_at_a_time() {
    let Some(shared) = shared() else { return };
    let url = database(shared, "migrations").await;
    let missing = refused(bank(&server_at(&url), "a").list_lessons(LessonStateFilter::All).await);
    assert!(missing.contains("there is no memory at") && missing.contains("`archivist migrate`"), "{missing}");
    let pending = list_migration_steps(&server_at(&url)).await.unwrap();
    assert!(!pending.is_empty() && pending.iter().all(|step| step.state == MigrationStepState::Pending), "{pending:?}");
    let both: Vec<_> = (0..6).map(|_| server_at(&url)).collect();
    let both: Vec<_> = both.iter().map(|server| migrate_schema(server)).collect();
    let mut taken = 0;
    for steps in futures_util::future::join_all(both).await {
        taken += steps.unwrap().iter().filter(|step| step.state == MigrationStepState::New).count();
    }
    assert_eq!(taken, pending.len(), "each step is taken once");
    bank(&server_at(&url), "a").add_memories(vec![lesson("a", "There")], at()).await.unwrap();
}

#[tokio::test]
async fn an_older_program_reads_newer_tables_and_does_not_write() {
    let Some(shared) = shared() else { return };
    let url = database(shared, "newer").await;
    migrate_schema(&server_at(&url)).await.unwrap();
    bank(&server_at(&url), "a").add_memories(vec![lesson("a", "Old but gold")], at()).await.unwrap();
    sql(&url, "INSERT INTO archivist.schema_versions (version, name) VALUES (9000, 'from the future')").await;
    let memory = bank(&server_at(&url), "a");
    assert_eq!(memory.list_lessons(LessonStateFilter::All).await.unwrap().len(), 1);
    let why = refused(memory.add_memories(vec![lesson("b", "New")], at()).await);
    assert!(why.contains("of version 9000") && why.contains("only reads them"), "{why}");
    sql(&url, "DELETE FROM archivist.schema_versions WHERE version > 1").await;
    let why = refused(bank(&server_at(&url), "a").list_lessons(LessonStateFilter::All).await);
    assert!(why.contains("needs version") && why.contains("archivist migrate"), "{why}");
}

#[tokio::test]
async fn what_cannot_be_reached_is_named_with_the_next_step() {
    for (url, expected) in [
        (
            "postgres://nobody@127.0.0.1:1/nowhere?sslmode=disable",
            "the memory at 127.0.0.1:1/nowhere cannot be reached",
        ),
        ("", "neither it nor the variable"),
        ("postgres://", "it names no host"),
        ("http://example.org/", "`memory.postgres.url` cannot be used"),
        ("postgres://u:hunter2@127.0.0.1:1/nowhere?sslmode=disable", "127.0.0.1:1/nowhere"),
    ] {
        let why = refused(bank(&impatient(url), "a").list_lessons(LessonStateFilter::All).await);
        assert!(why.contains(expected) && why.contains("hint: ") && !why.contains("hunter2"), "{url}: {why}");
        assert!(!format!("{:?}", impatient(url)).contains("hunter2"));
    }
}

#[tokio::test]
async fn who_decides_what_is_new_decides_alone() {
    let Some(store) = Postgres::fresh().await else { return };
    let (one, other) = (store.memory(), store.memory());
    let turn = one.acquire_turn().await.unwrap();
    let waits = tokio::spawn(async move {
        let turn = other.acquire_turn().await.unwrap();
        let known = other.list_lessons(LessonStateFilter::All).await.unwrap().len();
        (other.commit_in_turn(turn, CommitBatch::default(), at()).await.unwrap(), known)
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waits.is_finished(), "the turn is taken");
    // Whoever only writes is not kept waiting.
    store.memory().add_memories(vec![lesson("by-hand", "Added meanwhile")], at()).await.unwrap();
    let batch = CommitBatch { memories: vec![lesson("a", "Decided")], ..CommitBatch::default() };
    one.commit_in_turn(turn, batch, at()).await.unwrap();
    assert_eq!(waits.await.unwrap().1, 2, "the next one sees what was decided");
}

#[tokio::test]
async fn a_turn_that_was_lost_writes_nothing() {
    let Some(shared) = shared() else { return };
    let url = database(shared, "turns").await;
    migrate_schema(&server_at(&url)).await.unwrap();
    let memory = bank(&server_at(&url), "a");
    let turn = memory.acquire_turn().await.unwrap();
    sql(
        &url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND state = 'idle in transaction'",
    )
    .await;
    let batch = CommitBatch { memories: vec![lesson("a", "Too late")], ..CommitBatch::default() };
    let lost = memory.commit_in_turn(turn, batch, at()).await;
    assert!(matches!(lost, Err(MemoryError::TurnLost)), "{lost:?}");
    assert!(memory.list_lessons(LessonStateFilter::All).await.unwrap().is_empty());
}

#[tokio::test]
async fn sixteen_who_judge_the_same_lesson_make_one() {
    let Some(store) = Postgres::fresh().await else { return };
    let mut judges = Vec::new();
    for number in 0..16 {
        let memory = store.memory();
        judges.push(tokio::spawn(async move {
            loop {
                let turn = memory.acquire_turn().await.unwrap();
                let mut near = project_query();
                near.text = Some("shard the slow suite".into());
                let known = memory.find_neighbours(&near, 3).await.unwrap();
                let mut batch = CommitBatch::default();
                match known.first() {
                    Some(known) => {
                        let mut memory = known.lesson.memory.clone();
                        memory.tags.push(format!("seen-{number}"));
                        batch.expected.push((memory.id.clone(), known.lesson.version));
                        batch.memories.push(memory);
                    }
                    None => batch.memories.push(lesson(&format!("by-{number}"), "Shard the slow suite")),
                }
                match memory.commit_in_turn(turn, batch, at()).await {
                    Err(error) if error.is_lost_race() => {}
                    done => return done.map(drop).unwrap(),
                }
            }
        }));
    }
    for judge in judges {
        judge.await.unwrap();
    }
    let lessons = store.memory().list_lessons(LessonStateFilter::All).await.unwrap();
    assert_eq!(lessons.len(), 1);
    assert_eq!((lessons[0].version, lessons[0].memory.tags.len()), (16, 15), "no update is lost");
}

#[tokio::test]
async fn what_is_derived_is_looked_over_and_made_anew() {
    let Some(store) = Postgres::fresh().await else { return };
    let memory = store.memory();
    let lessons = (0..20).map(|n| lesson(&format!("l-{n}"), &format!("Lesson {n} on sharding"))).collect();
    memory.add_memories(lessons, at()).await.unwrap();
    let usage = LessonUsage { run: run("r"), point: "orchestrator".into() };
    memory.record_usage(&[id("l-1")], &usage, day(1)).await.unwrap();
    assert_eq!(memory.find_problems().await.unwrap(), []);
    let bank = number(&store.url, &format!("SELECT bank FROM archivist.banks WHERE key = '{}'", store.bank)).await;
    sql(
        &store.url,
        &format!(
            "UPDATE archivist.lessons SET counters = '{{\"sightings\":9,\"exposures\":9,\"withheld\":0,\"validated\":0.0,\
             \"ignored\":0.0}}' WHERE bank = {bank} AND id = 'l-1'; \
             DELETE FROM archivist.lessons WHERE bank = {bank} AND id = 'l-2'; \
             UPDATE archivist.vocabulary SET given = given + 1 WHERE bank = {bank}"
        ),
    )
    .await;
    let found: Vec<String> = memory.find_problems().await.unwrap().into_iter().map(|finding| finding.problem).collect();
    assert_eq!(
        found,
        [
            "`l-1` is not as its versions and facts say",
            "`l-2` has versions but cannot be found",
            "it is not what the words of the lessons add up to",
        ]
    );
    assert_eq!(memory.repair_problems(at()).await.unwrap().len(), 3);
    assert_eq!(memory.find_problems().await.unwrap(), []);
    assert_eq!(memory.get_lesson(&LessonName::Id(id("l-1"))).await.unwrap().unwrap().memory.usage_count, 1);
}

#[tokio::test]
async fn two_projects_and_two_roles_see_nothing_of_each_other() {
    let Some(shared) = shared() else { return };
    let url = database(shared, "roles").await;
    let owner = server_at(&url);
    migrate_schema(&owner).await.unwrap();
    let (red, blue) = (unique("red"), unique("blue"));
    sql(&url, &format!("CREATE ROLE {red} LOGIN PASSWORD 'r'; CREATE ROLE {blue} LOGIN PASSWORD 'b'")).await;
    grant_access(&owner, &red, "red").await.unwrap();
    grant_access(&owner, &blue, "blue").await.unwrap();
    let as_role = |role: &str| {
        let (before, behind) = url.split_once("://").unwrap();
        let host = behind.split_once('@').map_or(behind, |(_, host)| host);
        server_at(&format!("{before}://{role}:x@{host}"))
    };
    for wanted in [RowSecurity::Off, RowSecurity::On] {
        set_row_security(&owner, wanted).await.unwrap();
        for (role, key) in [(&red, "red"), (&blue, "blue")] {
            let server = as_role(role);
            let queue = FleetQueue::new(Arc::clone(&server), key);
            queue.enqueue(&job(&format!("session-of-{key}"), 1), at()).await.unwrap();
            let told = NewEvent { key: format!("{wanted:?}"), record: format!("told by {key}") };
            EventFeed::new(Arc::clone(&server), key).append_events(&[told]).await.unwrap();
            let memory = bank(&server, key);
            memory.add_memories(vec![lesson(&format!("of-{key}"), "Rotate the secret token")], at()).await.unwrap();
            memory.record_episode(episode(&format!("of-{key}")), at()).await.unwrap();
            let usage = LessonUsage { run: run("r"), point: "orchestrator".into() };
            memory.record_usage(&[id(&format!("of-{key}"))], &usage, day(1)).await.unwrap();
        }
        for (role, key, other) in [(&red, "red", "blue"), (&blue, "blue", "red")] {
            let server = as_role(role);
            let memory = bank(&server, key);
            alone(&memory, key, other).await;
            let jobs = FleetQueue::new(Arc::clone(&server), key).list_jobs(at()).await.unwrap();
            let sessions: Vec<String> = jobs.iter().map(|listed| name_of(listed.job.as_ref().unwrap())).collect();
            assert_eq!(sessions, [format!("session-of-{key}")]);
            let told = EventFeed::new(Arc::clone(&server), key).read_after(0).await.unwrap().events;
            assert!(!told.is_empty() && told.iter().all(|event| event.record == format!("told by {key}")), "{told:?}");
            if wanted == RowSecurity::On {
                assert!(FleetQueue::new(Arc::clone(&server), other).list_jobs(at()).await.unwrap().is_empty());
                assert!(EventFeed::new(Arc::clone(&server), other).read_after(0).await.unwrap().events.is_empty());
                // A worker for all projects works for those that it may see.
                let spool = tempfile::tempdir().unwrap();
                let own = FleetQueue::new(Arc::clone(&server), key);
                let all = FleetJobSource::new(own, queue_in(spool.path()), WorkerReach::All, 9);
                let lease = Duration::from_secs(60);
                let taken = all.claim_job(&WorkerToken::new_unique(), lease, at()).await.unwrap().unwrap();
                assert_eq!(taken.bank_key(), Some(key));
                assert!(all.claim_job(&WorkerToken::new_unique(), lease, at()).await.unwrap().is_none());
                taken.release().await.unwrap();
                // Even asked for by name, the other's bank is not there.
                let strange = bank(&as_role(role), other);
                assert!(strange.list_lessons(LessonStateFilter::All).await.unwrap().is_empty());
                let why = refused(strange.add_memories(vec![lesson("intruder", "x")], at()).await);
                assert!(why.contains("this user may not do that"), "{why}");
            }
        }
    }
    assert!(revoke_access(&owner, &red, "red").await.unwrap());
    assert!(bank(&as_role(&red), "red").list_lessons(LessonStateFilter::All).await.unwrap().is_empty());
    sql(&url, &format!("DROP OWNED BY {red}, {blue}; DROP ROLE {red}, {blue}")).await;
}

/// Every question of the memory, asked in one bank, is answered from that bank.
async fn alone(memory: &PostgresMemory, key: &str, other: &str) {
    let (own, foreign) = (id(&format!("of-{key}")), id(&format!("of-{other}")));
    let ids = |lessons: Vec<AgentMemory>| lessons.into_iter().map(|memory| memory.id).collect::<Vec<_>>();
    let mut query = project_query();
    query.text = Some("rotate the secret token".into());
    let hits = memory.query_lessons(&query, &ranking(), at()).await.unwrap().hits;
    assert_eq!(ids(hits.into_iter().map(|hit| hit.lesson.memory).collect()), std::slice::from_ref(&own));
    let near = memory.find_neighbours(&query, 9).await.unwrap();
    assert_eq!(ids(near.into_iter().map(|near| near.lesson.memory).collect()), std::slice::from_ref(&own));
    let all = memory.list_lessons(LessonStateFilter::All).await.unwrap();
    assert_eq!(ids(all.into_iter().map(|lesson| lesson.memory).collect()), std::slice::from_ref(&own));
    assert!(memory.get_lesson(&LessonName::Id(foreign.clone())).await.unwrap().is_none());
    assert_eq!(memory.get_lesson(&LessonName::parse("m-001").unwrap()).await.unwrap().unwrap().memory.id, own);
    assert!(memory.lesson_history(&foreign).await.is_err());
    let episodes = memory.list_episodes(&EpisodeFilter::default()).await.unwrap();
    assert_eq!(episodes.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), [own.as_str()]);
    let facts = memory.list_facts(&FactFilter { memory: None, run: Some(run("r")) }).await.unwrap();
    assert_eq!(facts.iter().map(|fact| fact.memory_id().clone()).collect::<Vec<_>>(), [own]);
    let status = memory.bank_statuses().await.unwrap();
    assert_eq!((status[0].lessons, status[0].episodes, status[0].facts), (1, 1, 1));
    assert_eq!(memory.find_problems().await.unwrap(), []);
}

#[tokio::test]
async fn hot_questions_never_read_a_table_through() {
    let Some(shared) = shared() else { return };
    let url = database(shared, "plans").await;
    migrate_schema(&server_at(&url)).await.unwrap();
    let memory = bank(&server_at(&url), "plans");
    let words = ["shard", "retry", "cache", "proxy", "token", "queue", "lease", "index"];
    for batch in 0..10 {
        let number = |n: usize| batch * 300 + n;
        let text = |n: usize| format!("Lesson {n} {} w{} w{}", words[n % 8], n % 97, n % 1009);
        let lessons = (0..300).map(|n| lesson(&format!("l-{}", number(n)), &text(number(n)))).collect();
        let episodes = (0..300).map(|n| episode(&format!("e-{}", number(n)))).collect();
        memory.commit_batch(CommitBatch { memories: lessons, episodes, ..CommitBatch::default() }, at()).await.unwrap();
        let ids: Vec<_> = (0..300).map(|n| id(&format!("l-{}", number(n)))).collect();
        let usage = LessonUsage { run: run(&format!("r-{batch}")), point: "p".into() };
        memory.record_usage(&ids, &usage, at()).await.unwrap();
    }
    sql(&url, "INSERT INTO archivist.commits SELECT 1, n::text, now(), '' FROM generate_series(1, 5000) n").await;
    sql(&url, "ANALYZE").await;
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    for question in [
        "SELECT l.id, sum(q.gain) FROM unnest(ARRAY['''1:w5'' & (''1:w88'' | ''1:w9'')'], ARRAY[1.0]::float8[]) \
         AS q(search, gain) JOIN archivist.lessons l ON l.words @@ q.search::tsquery \
         WHERE l.standing <= 0 GROUP BY l.id HAVING sum(q.gain) >= 1.0",
        "SELECT id, words FROM archivist.lessons WHERE words @@ '''1:w5'' | ''1:w88'''::tsquery AND standing <= 0",
        "SELECT id, words FROM archivist.lessons WHERE bank = 1 AND id = ANY('{l-1,l-2}') AND standing <= 0",
        "SELECT word FROM archivist.vocabulary WHERE bank = 1 AND word = ANY('{shard,w5}')",
        "SELECT l.id FROM archivist.lessons l JOIN archivist.revisions r ON r.bank = l.bank AND r.lesson = l.id \
         AND r.version = l.version WHERE l.bank = 1 AND l.id = ANY('{l-1,l-2}')",
        "SELECT l.id FROM archivist.lessons l WHERE l.bank = 1 AND l.alias = 'm-007'",
        "SELECT record FROM archivist.facts WHERE bank = 1 AND lesson = 'l-7' ORDER BY written",
        "SELECT record FROM archivist.facts WHERE bank = 1 AND run = 'r-7' ORDER BY written",
        "SELECT key FROM archivist.facts WHERE bank = 1 AND key = ANY('{\"\\\\x00\"}'::bytea[])",
        "SELECT record FROM archivist.episodes WHERE bank = 1 AND id = ANY('{e-1}')",
        "SELECT record FROM archivist.episodes WHERE bank = 1 AND session = 'e-1'",
        "SELECT record FROM archivist.episodes WHERE bank = 1 AND written > 99990",
        "SELECT receipt FROM archivist.commits WHERE bank = 1 AND id = 'x'",
    ] {
        let rows = client.query(&format!("EXPLAIN {question}"), &[]).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert!(!plan.iter().any(|line| line.contains("Seq Scan")), "{question}\n{}", plan.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_the_network_does_a_commit_is_made_once_or_told_to_have_failed() {
    let Some(shared) = shared() else { return };
    let url = database(shared, "faults").await;
    migrate_schema(&server_at(&url)).await.unwrap();
    let proxy = Proxy::to(&url).await;
    let memory = bank(&server_at(&proxy.url), "faults");
    let truth = bank(&server_at(&url), "faults");
    let mut expected = 0;
    // Cut after so many bytes have gone either way: every point of a transaction is hit by one of them.
    for bytes in (0..6_000).step_by(97) {
        let fault = if bytes % 2 == 0 { Fault::CutToServer(bytes) } else { Fault::CutToClient(bytes) };
        proxy.next(fault);
        let key = format!("cut-{bytes}");
        let receipt = memory.add_memories(vec![lesson(&key, &format!("Lesson {bytes}"))], at()).await;
        expected += 1;
        let receipt = receipt.unwrap_or_else(|error| panic!("after {bytes} bytes: {error}"));
        assert_eq!((receipt.written, receipt.known), (1, 0), "after {bytes} bytes");
        assert_eq!(truth.lesson_history(&id(&key)).await.unwrap().len(), 1, "after {bytes} bytes");
    }
    // The same with an expectation, which a commit that went through unnoticed would no longer meet.
    let mut version = truth.get_lesson(&LessonName::Id(id("cut-0"))).await.unwrap().unwrap().version;
    for bytes in (0..6_000).step_by(389) {
        proxy.next(Fault::CutToClient(bytes));
        let batch = CommitBatch {
            memories: vec![lesson("cut-0", &format!("Version after {bytes}"))],
            expected: vec![(id("cut-0"), version)],
            ..CommitBatch::default()
        };
        memory.commit_batch(batch, at()).await.unwrap_or_else(|error| panic!("after {bytes} bytes: {error}"));
        version += 1;
        assert_eq!(truth.lesson_history(&id("cut-0")).await.unwrap().len() as u64, version);
    }
    proxy.next(Fault::Delay(Duration::from_millis(30)));
    memory.add_memories(vec![lesson("slow", "Slow")], at()).await.unwrap();
    assert_eq!(truth.list_lessons(LessonStateFilter::All).await.unwrap().len(), expected + 1);
    assert_eq!(truth.find_problems().await.unwrap(), []);
    // A server that does not answer at all: a clear error, and nothing in doubt.
    proxy.refuse();
    let impatient = bank(&impatient(&proxy.url), "faults");
    let why = refused(impatient.add_memories(vec![lesson("never", "Never")], at()).await);
    assert!(why.contains("cannot be reached"), "{why}");
    assert!(truth.get_lesson(&LessonName::Id(id("never"))).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_loses_no_commit_that_was_told_done() {
    let Some(cluster) = Cluster::start("-c max_connections=50") else {
        assert!(shared().is_some() || std::env::var_os("ARCHIVIST_REQUIRE_POSTGRES").is_none());
        return;
    };
    let url = cluster.url("postgres");
    migrate_schema(&server_at(&url)).await.unwrap();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let memory = bank(&server_at(&url), "crashes");
            tokio::spawn(async move {
                for number in 0..60 {
                    let key = format!("w{writer}-{number}");
                    memory.add_memories(vec![lesson(&key, &key)], at()).await.unwrap();
                }
            })
        })
        .collect();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(150)).await;
        cluster.crash();
        cluster.run(&[]);
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let memory = bank(&server_at(&url), "crashes");
    let lessons = memory.list_lessons(LessonStateFilter::All).await.unwrap();
    assert_eq!(lessons.len(), 240);
    assert!(lessons.iter().all(|lesson| lesson.version == 1), "none was written twice");
    assert_eq!(memory.find_problems().await.unwrap(), []);
}
