use super::*;
use crate::lesson_origin::parse_timestamp;

fn bundle(statements: &str) -> Result<ImportBundle, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claude-mem.db");
    Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    read_memory(folder.path(), parse_timestamp("2026-01-01T00:00:00Z").unwrap()).map_err(|error| error.to_string())
}

fn said(bundle: &ImportBundle) -> String {
    let lines = bundle.lessons.iter().map(|brought| {
        let memory = brought.current_version().unwrap();
        let detail = memory.detail.as_deref().unwrap_or("-").replace('\n', "/");
        format!(
            "{} | {} {} | {} | {detail} | {:?}",
            brought.name, memory.kind, memory.category, memory.summary, memory.tags
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_tables_of_today() {
    let bundle = bundle(&format!(
        "{TABLES}
         CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, learned TEXT);
         CREATE TABLE directives (id INTEGER PRIMARY KEY, content TEXT, status TEXT, created_at TEXT);
         INSERT INTO session_summaries (learned) VALUES ('a'), ('b');
         INSERT INTO directives (content, status, created_at) VALUES
           ('Always answer in German', 'active', '2025-11-01T00:00:00.000Z'), ('Old', 'inactive', '');
         INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts, narrative, concepts,
           created_at, created_at_epoch) VALUES
           ('s1', 'p', 'bugfix', 'Pool leaked on timeout', 'Now closed', '[\"close() in finally\"]', 'It leaked.',
            '[\"gotcha\"]', '2025-10-30T12:00:00.000Z', 1761825600000),
           ('s1', 'p', 'decision', 'Use SQLite', NULL, 'not json', NULL, NULL, 'yesterday', 0),
           ('s1', 'p', 'change', NULL, NULL, NULL, NULL, NULL, '', 0);"
    ))
    .unwrap();
    insta::assert_snapshot!(said(&bundle), @r#"
    1 | lesson bugfix_pattern | Pool leaked on timeout | Now closed/It leaked./close() in finally | ["gotcha"]
    2 | decision decision | Use SQLite | - | []
    directive 1 | preference preference | Always answer in German | - | []
    "#);
    let why: Vec<&str> = bundle.skipped.iter().map(|skipped| skipped.why.as_str()).collect();
    assert_eq!(why, ["it says nothing", "2 summaries of sessions tell what happened, not what was learned"]);
}

#[test]
fn the_tables_of_before() {
    let bundle = bundle(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL, project TEXT NOT NULL,
           text TEXT NOT NULL, type TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
         INSERT INTO observations (sdk_session_id, project, text, type, created_at, created_at_epoch)
           VALUES ('s', 'p', 'The linter needs Node 20', 'discovery', '2025-09-01T00:00:00.000Z', 0);",
    )
    .unwrap();
    assert_eq!(said(&bundle), "1 | fact heuristic | The linter needs Node 20 | - | []");
}

#[test]
fn a_database_of_something_else() {
    let why = bundle("CREATE TABLE cookies (id INTEGER PRIMARY KEY, value TEXT);").unwrap_err();
    assert!(why.ends_with("there is no table `observations` with texts in it"), "{why}");
}

#[test]
fn a_damaged_database_changes_nothing_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claude-mem.db");
    let values: Vec<String> = (0..400).map(|n| format!("('s', 'p', 'discovery', 'Fact {n}', '', 0)")).collect();
    let insert =
        "INSERT INTO observations (memory_session_id, project, type, title, created_at, created_at_epoch) VALUES";
    Connection::open(&path).unwrap().execute_batch(&format!("{TABLES} {insert} {};", values.join(","))).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.iter_mut().skip(4096 * 5).for_each(|byte| *byte = 0xa5);
    std::fs::write(&path, bytes).unwrap();
    let why = read_memory(&path, Timestamp::default()).unwrap_err().to_string();
    assert!(why.contains("is no database of claude-mem: database disk image is malformed"), "{why}");
}
