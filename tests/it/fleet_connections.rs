//! The ways to a server that holds the memory: encrypted, through a lock, by a standby, and past a server that is gone.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use archivist_core::memory::postgres::{
    EventFeed, NewEvent, PostgresBankSettings, PostgresMemory, PostgresServer, PostgresServerSettings, migrate_schema,
};
use archivist_core::memory::{BankTenancy, LessonStateFilter, MemoryError, MemoryService};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use crate::postgres_server::{Cluster, database, shared};
use crate::samples::{at, lesson, project_query, ranking};
use crate::stores::server_at;

/// A machine may be busy, but nothing here takes minutes.
const PATIENCE: Duration = Duration::from_secs(60);

fn settings(url: &str) -> PostgresServerSettings {
    PostgresServerSettings {
        url: url.to_owned(),
        read_url: None,
        ca_file: None,
        connections: 4,
        statement_timeout: Duration::from_secs(30),
        patience: PATIENCE,
    }
}

fn memory(server: &Arc<PostgresServer>) -> PostgresMemory {
    let settings = PostgresBankSettings {
        bank: "shop".to_owned(),
        tenancy: BankTenancy::Own,
        global: None,
        max_record_bytes: 1024 * 1024,
    };
    PostgresMemory::open(Arc::clone(server), settings)
}

/// A server of the test's own; `None`, where there is none to be had and that is no failure.
fn cluster(options: &str) -> Option<Cluster> {
    let cluster = Cluster::start(options);
    assert!(cluster.is_some() || shared().is_some() || std::env::var_os("ARCHIVIST_REQUIRE_POSTGRES").is_none());
    cluster
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Asks until the answer is yes.
async fn until(url: &str, question: &str) {
    let (client, began) = (client(url).await, Instant::now());
    while !client.query_one(question, &[]).await.unwrap().get::<_, bool>(0) {
        assert!(began.elapsed() < PATIENCE, "never: {question}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn refused(found: Result<impl std::fmt::Debug, MemoryError>) -> String {
    let error = found.unwrap_err();
    format!("{error}\nhint: {}", error.hint().unwrap_or_default())
}

/// The lessons that are recalled on a matter.
async fn recalled(memory: &PostgresMemory, text: &str) -> Vec<String> {
    let mut query = project_query();
    query.text = Some(text.to_owned());
    let hits = memory.query_lessons(&query, &ranking(), at()).await.unwrap().hits;
    hits.into_iter().map(|hit| hit.lesson.memory.id.to_string()).collect()
}

/// An authority's certificate in a file, and a certificate of the loopback by that authority, with its key.
fn certificates() -> (TempDir, PathBuf, String, String) {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let signed = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("authority.pem");
    std::fs::write(&path, certificate.pem()).unwrap();
    (directory, path, signed.pem(), key.serialize_pem())
}

#[tokio::test]
async fn a_connection_is_encrypted_and_only_to_a_server_that_is_trusted() {
    let Some(cluster) = cluster("-c fsync=off") else { return };
    let (_directory, authority, certificate, key) = certificates();
    let open = cluster.url("postgres");
    let encrypted = open.replace("sslmode=disable", "sslmode=require");
    // Before it has a certificate: nothing goes over the wire in the open, and nobody waits for it to change.
    let began = Instant::now();
    let why = refused(migrate_schema(&PostgresServer::new(settings(&encrypted))).await);
    assert!(why.contains("does not offer TLS, and `sslmode=require` asks for it\nhint: switch `ssl` on"), "{why}");
    let (certificate, key) = (cluster.keep("server.crt", &certificate), cluster.keep("server.key", &key));
    cluster.crash();
    cluster.run(&["-c ssl=on", &format!("-c ssl_cert_file={certificate}"), &format!("-c ssl_key_file={key}")]);
    for mode in ["sslmode=require", "sslmode=prefer", "sslmode=verify-full"] {
        let stranger = PostgresServer::new(settings(&open.replace("sslmode=disable", mode)));
        let why = refused(migrate_schema(&stranger).await);
        assert!(why.contains("the certificate of the server at 127.0.0.1:"), "{mode}: {why}");
        assert!(why.contains("is not trusted: ") && why.contains("`memory.postgres.caFile`"), "{mode}: {why}");
    }
    // A certificate of another name is none.
    let by_name = PostgresServer::new(PostgresServerSettings {
        ca_file: Some(authority.clone()),
        ..settings(&encrypted.replace("127.0.0.1", "localhost"))
    });
    let why = refused(migrate_schema(&by_name).await);
    assert!(why.contains("is not trusted: ") && why.contains("localhost"), "{why}");
    let nowhere = PostgresServerSettings { ca_file: Some(authority.with_extension("gone")), ..settings(&encrypted) };
    let why = refused(migrate_schema(&PostgresServer::new(nowhere)).await);
    assert!(why.contains("`memory.postgres.caFile` cannot be used"), "{why}");
    assert!(began.elapsed() < PATIENCE, "somebody waited for what does not pass: {:?}", began.elapsed());
    let server = PostgresServer::new(PostgresServerSettings { ca_file: Some(authority), ..settings(&encrypted) });
    migrate_schema(&server).await.unwrap();
    memory(&server).add_memories(vec![lesson("a", "Rotate the token")], at()).await.unwrap();
    assert_eq!(recalled(&memory(&server), "rotate the token").await, ["a"]);
    let events = EventFeed::new(Arc::clone(&server), "shop");
    let mut bell = events.start_listener();
    bell.wait_for_notification().await;
    events.append_events(&[NewEvent { key: "a".into(), record: "{}".into() }]).await.unwrap();
    tokio::time::timeout(PATIENCE, bell.wait_for_notification()).await.unwrap();
    let connections = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl \
         JOIN pg_stat_activity USING (pid) WHERE application_name = 'archivist'";
    let row = client(&open).await.query_one(connections, &[]).await.unwrap();
    let (safe, unsafe_ones): (i64, i64) = (row.get(0), row.get(1));
    assert!(safe >= 2 && unsafe_ones == 0, "{safe} are encrypted, {unsafe_ones} are not");
}

#[tokio::test]
async fn a_statement_that_waits_too_long_for_others_is_stopped_and_told() {
    let Some(shared) = shared() else { return };
    let url = database(shared, "locks").await;
    migrate_schema(&server_at(&url)).await.unwrap();
    let blocked = memory(&PostgresServer::new(PostgresServerSettings {
        statement_timeout: Duration::from_millis(300),
        ..settings(&url)
    }));
    blocked.add_memories(vec![lesson("before", "Before")], at()).await.unwrap();
    let other = client(&url).await;
    other.batch_execute("BEGIN; LOCK TABLE archivist.revisions, archivist.lessons").await.unwrap();
    let began = Instant::now();
    for why in [
        refused(blocked.list_lessons(LessonStateFilter::All).await),
        refused(blocked.add_memories(vec![lesson("during", "During")], at()).await),
    ] {
        assert!(why.contains("canceling statement due to") && why.contains(" timeout (code 5"), "{why}");
        assert!(why.contains("hint: raise `memory.postgres.statementTimeoutSeconds`"), "{why}");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    other.batch_execute("ROLLBACK").await.unwrap();
    blocked.add_memories(vec![lesson("after", "After")], at()).await.unwrap();
    assert_eq!(
        memory(&server_at(&url)).list_lessons(LessonStateFilter::All).await.unwrap().len(),
        2,
        "what was refused is not there"
    );
}

#[tokio::test]
async fn a_standby_answers_what_is_recalled_and_the_server_itself_when_it_is_gone() {
    let Some(primary) = cluster("-c fsync=off") else { return };
    let url = primary.url("postgres");
    migrate_schema(&server_at(&url)).await.unwrap();
    let standby = primary.standby("standby");
    let read_url = standby.url("postgres");
    let memory =
        memory(&PostgresServer::new(PostgresServerSettings { read_url: Some(read_url.clone()), ..settings(&url) }));
    let caught_up = "SELECT coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) FROM pg_stat_replication";
    memory.add_memories(vec![lesson("old", "Rotate the token")], at()).await.unwrap();
    until(&url, caught_up).await;
    assert_eq!(recalled(&memory, "rotate the token").await, ["old"]);
    // The standby stands still: whoever is answered by it does not hear of what is new.
    let by_hand = client(&read_url).await;
    by_hand.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
    until(&read_url, "SELECT pg_get_wal_replay_pause_state() = 'paused'").await;
    memory.add_memories(vec![lesson("new", "Rotate the token twice")], at()).await.unwrap();
    assert_eq!(recalled(&memory, "rotate the token").await, ["old"], "the standby answers");
    assert_eq!(memory.list_lessons(LessonStateFilter::All).await.unwrap().len(), 2, "lists are the server's own");
    let mut near = project_query();
    near.text = Some("rotate the token".to_owned());
    assert_eq!(memory.find_neighbours(&near, 9).await.unwrap().len(), 2, "what is new is judged on the server itself");
    by_hand.batch_execute("SELECT pg_wal_replay_resume()").await.unwrap();
    until(&url, caught_up).await;
    assert_eq!(recalled(&memory, "rotate the token").await.len(), 2);
    drop(by_hand);
    standby.crash();
    memory.add_memories(vec![lesson("newest", "Rotate the token thrice")], at()).await.unwrap();
    let began = Instant::now();
    assert_eq!(recalled(&memory, "rotate the token").await.len(), 3, "the server itself answers");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    standby.run(&[]);
    until(&url, caught_up).await;
    assert_eq!(recalled(&memory, "rotate the token").await.len(), 3);
    let asked = "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'archivist'";
    until(&read_url, asked).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_a_standby_takes_over_commits_go_on_and_none_that_was_told_done_is_lost() {
    const WRITERS: usize = 4;
    const BEFORE: usize = 20;
    const AFTER: usize = 20;
    let Some(primary) = cluster("-c fsync=off") else { return };
    let standby = primary.standby("standby");
    let url =
        format!("postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?sslmode=disable", primary.port, standby.port);
    migrate_schema(&server_at(&url)).await.unwrap();
    let by_hand = client(&primary.url("postgres")).await;
    by_hand.batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'").await.unwrap();
    by_hand.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    until(&primary.url("postgres"), "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'").await;
    let (told, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let memory = memory(&PostgresServer::new(settings(&url)));
            let (told, is_over) = (Arc::clone(&told), Arc::clone(&is_over));
            tokio::spawn(async move {
                let (mut number, mut after) = (0, 0);
                // Until so many were made by the one that took over.
                while after < AFTER {
                    let key = format!("w{writer}-{number}");
                    let began_after = is_over.load(Ordering::SeqCst) > 0;
                    memory.add_memories(vec![lesson(&key, &key)], at()).await.unwrap();
                    told.lock().unwrap().push(key);
                    number += 1;
                    after += usize::from(began_after);
                }
            })
        })
        .collect();
    let began = Instant::now();
    while told.lock().unwrap().len() < WRITERS * BEFORE {
        assert!(began.elapsed() < PATIENCE, "nobody gets on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // In the middle of it, with commits on their way.
    primary.crash();
    standby.promote();
    is_over.store(1, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    let memory = memory(&PostgresServer::new(settings(&standby.url("postgres"))));
    let lessons = memory.list_lessons(LessonStateFilter::All).await.unwrap();
    assert!(lessons.iter().all(|lesson| lesson.version == 1), "none was made twice");
    let mut found: Vec<String> = lessons.iter().map(|lesson| lesson.memory.id.to_string()).collect();
    let mut told = told.lock().unwrap().clone();
    found.sort();
    told.sort();
    assert_eq!(found, told, "what was told done is there, and nothing else");
    assert_eq!(memory.find_problems().await.unwrap(), []);
}
