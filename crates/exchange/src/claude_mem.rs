//! Reads and writes claude-mem's database: the rows of `observations`, and the rules of `directives`.
//!
//! The columns have changed between versions, so only the existing ones are queried.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, params};
use serde_json::{Map, Value};

use super::export_loss::{THE_LESSON, count_losses, select_exportable, to_portable_json};
use super::lesson_origin::{LessonOrigin, OURS, export_name, parse_timestamp, restore_exported};
use super::{
    ExportBundle, ExportWriteError, ExportedFiles, ImportBundle, ImportReadError, IncomingLesson, MemoryFormat,
    OutgoingLesson, SkippedRecord, resolve_file,
};
use archivist_core::domain::{AgentMemory, MemoryCategory, MemoryKind, Timestamp};
use archivist_core::text::one_line;

#[cfg(test)]
#[path = "claude_mem_tests.rs"]
mod tests;

const FORMAT: MemoryFormat = MemoryFormat::ClaudeMem;
const FILE: &str = "claude-mem.db";
const WHAT: &str = "database of claude-mem";

/// The session to which exported lessons belong.
const SESSION: &str = "archivist";

/// The tables that claude-mem itself expects, with the columns that it needs.
const TABLES: &str = "
    CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL);
    CREATE TABLE sdk_sessions (
      id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL, memory_session_id TEXT UNIQUE,
      project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT, started_at TEXT NOT NULL,
      started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER,
      status TEXT NOT NULL DEFAULT 'active', worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT);
    CREATE TABLE observations (
      id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
      type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
      files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, agent_type TEXT,
      agent_id TEXT, merged_into_project TEXT, generated_by_model TEXT, metadata TEXT, created_at TEXT NOT NULL,
      created_at_epoch INTEGER NOT NULL);";

/// The columns of an observation that are written, in the order of the table.
const COLUMNS: [&str; 22] = [
    "id",
    "memory_session_id",
    "project",
    "text",
    "type",
    "title",
    "subtitle",
    "facts",
    "narrative",
    "concepts",
    "files_read",
    "files_modified",
    "prompt_number",
    "discovery_tokens",
    "content_hash",
    "agent_type",
    "agent_id",
    "merged_into_project",
    "generated_by_model",
    "metadata",
    "created_at",
    "created_at_epoch",
];

pub(super) fn read_memory(path: &Path, now: Timestamp) -> Result<ImportBundle, ImportReadError> {
    let path = resolve_file(path, FILE);
    // SQLite would create a missing file, and read an empty one as an empty database.
    let length = std::fs::metadata(&path).map_err(|source| ImportReadError::Io { path: path.clone(), source })?.len();
    let broken = |error: rusqlite::Error| ImportReadError::malformed(&path, WHAT, error);
    if length == 0 {
        return Err(ImportReadError::malformed(&path, WHAT, "it is empty"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&path, flags).map_err(broken)?;
    let mut incoming = ImportBundle::default();
    let columns = list_columns(&database, "observations").map_err(broken)?;
    if !columns.iter().any(|column| column == "title" || column == "text") {
        return Err(ImportReadError::malformed(&path, WHAT, "there is no table `observations` with texts in it"));
    }
    for_each_row(&database, "observations", &columns, |row| {
        let place = format!("{} observation {}", path.display(), row.get("id").cloned().unwrap_or_default());
        match import_observation(row, now) {
            Some(brought) => incoming.lessons.push(brought),
            None => incoming.skipped.push(SkippedRecord { place, why: "it says nothing".to_owned() }),
        }
    })
    .map_err(broken)?;
    let directives = self::list_columns(&database, "directives").map_err(broken)?;
    if directives.iter().any(|column| column == "content") {
        for_each_row(&database, "directives", &directives, |row| incoming.lessons.extend(import_directive(row, now)))
            .map_err(broken)?;
    }
    for (table, what) in [("session_summaries", "summaries of sessions"), ("user_prompts", "prompts")] {
        let count = format!("SELECT count(*) FROM {table}");
        let found: i64 = database.query_row(&count, [], |row| row.get(0)).unwrap_or_default();
        if found > 0 {
            let place = format!("{} table {table}", path.display());
            incoming
                .skipped
                .push(SkippedRecord { place, why: format!("{found} {what} tell what happened, not what was learned") });
        }
    }
    Ok(incoming)
}

fn list_columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare(&format!("PRAGMA table_info({table})"))?;
    statement.query_map([], |row| row.get::<_, String>("name"))?.collect()
}

/// Passes every row of a table to `each`, by column name and without empty values.
fn for_each_row(
    database: &Connection,
    table: &str,
    columns: &[String],
    mut each: impl FnMut(Map<String, Value>),
) -> rusqlite::Result<()> {
    let mut statement = database.prepare(&format!("SELECT * FROM {table} ORDER BY id"))?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let fields =
            columns.iter().enumerate().filter_map(|(place, name)| Some((name.clone(), read_value(row, place)?)));
        each(fields.collect());
    }
    Ok(())
}

fn read_value(row: &Row<'_>, place: usize) -> Option<Value> {
    match row.get_ref(place).ok()? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Some(number.into()),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned().into()),
    }
}

fn import_observation(mut row: Map<String, Value>, now: Timestamp) -> Option<IncomingLesson> {
    let text = |row: &Map<String, Value>, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |row: &Map<String, Value>, key: &str| -> Vec<String> {
        text(row, key).and_then(|list| serde_json::from_str(&list).ok()).unwrap_or_default()
    };
    let title = ["title", "subtitle", "text", "narrative"].iter().find_map(|key| {
        let said = one_line(&text(&row, key)?);
        (!said.is_empty()).then_some((*key, said))
    });
    let (key, summary) = title?;
    let name = row.get("id").map_or_else(|| summary.clone(), ToString::to_string);
    let at = text(&row, "created_at").and_then(|at| parse_timestamp(&at)).unwrap_or(now);
    let told = ["subtitle", "narrative", "text"].into_iter().filter(|other| *other != key);
    let told: Vec<String> = told.filter_map(|key| text(&row, key)).chain(list(&row, "facts")).collect();
    let detail = Some(told.join("\n")).filter(|detail| !detail.trim().is_empty());
    let tags = list(&row, "concepts");
    let metadata: Option<Value> = text(&row, "metadata").and_then(|data| serde_json::from_str(&data).ok());
    let kind = match row.get("type").and_then(Value::as_str).unwrap_or_default() {
        "decision" => (MemoryKind::Decision, MemoryCategory::Decision),
        "bugfix" => (MemoryKind::Lesson, MemoryCategory::BugfixPattern),
        "discovery" => (MemoryKind::Fact, MemoryCategory::Heuristic),
        "change" | "feature" | "refactor" => (MemoryKind::Note, MemoryCategory::Workflow),
        _ => (MemoryKind::Lesson, MemoryCategory::Heuristic),
    };
    if row.get(key).and_then(Value::as_str) == Some(summary.as_str()) {
        row.insert(key.to_owned(), "".into());
    }
    row.insert("said".to_owned(), key.into());
    let mut memory = LessonOrigin::new_lesson(FORMAT, &name, at, &summary, row);
    (memory.kind, memory.category) = kind;
    memory.detail = detail;
    memory.tags = tags;
    let memory = restore_exported(memory, metadata.as_ref().and_then(|data| data.get(OURS)));
    Some(IncomingLesson { name, versions: vec![memory], facts: Vec::new(), used: None })
}

/// Converts a rule that a user wrote for every session; returns `None` if it is empty or inactive.
fn import_directive(row: Map<String, Value>, now: Timestamp) -> Option<IncomingLesson> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
    let summary = one_line(text("content"));
    if summary.is_empty() || text("status") == "inactive" {
        return None;
    }
    let name = format!("directive {}", row.get("id").cloned().unwrap_or_default());
    let at = parse_timestamp(text("created_at")).unwrap_or(now);
    let mut memory = LessonOrigin::new_lesson(FORMAT, &name, at, &summary, Map::new());
    (memory.kind, memory.category) = (MemoryKind::Preference, MemoryCategory::Preference);
    Some(IncomingLesson { name, versions: vec![memory], facts: Vec::new(), used: None })
}

pub(super) fn write_memory(bundle: &ExportBundle) -> Result<ExportedFiles, ExportWriteError> {
    let mut lost = Vec::new();
    let mut kept = select_exportable(&bundle.lessons, &mut lost);
    lost.extend(count_losses(&kept, FORMAT, THE_LESSON));
    // Rows that came from claude-mem keep their numbers, and the others follow them.
    kept.sort_by_key(|shelved| {
        let memory = &shelved.lesson.memory;
        let number = LessonOrigin::for_format(memory, FORMAT).and_then(|origin| origin.name.parse::<i64>().ok());
        (number.unwrap_or(i64::MAX), memory.created_at, export_name(memory, FORMAT))
    });
    let bytes = build_database(&kept).map_err(|why| ExportWriteError::new(FORMAT, why))?;
    Ok(ExportedFiles::single_file(FILE, bytes, lost))
}

fn build_database(lessons: &[&OutgoingLesson]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(FILE);
    let mut database = Connection::open(&path)?;
    database.execute_batch("PRAGMA journal_mode = OFF; PRAGMA page_size = 4096;")?;
    let change = database.transaction()?;
    change.execute_batch(TABLES)?;
    let placed: Vec<Map<String, Value>> = build_rows(lessons);
    let mut sessions: Vec<(&str, &str, &Value)> = Vec::new();
    for row in &placed {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        let session = text("memory_session_id");
        if !sessions.iter().any(|(known, ..)| *known == session) {
            sessions.push((session, text("created_at"), row.get("created_at_epoch").unwrap_or(&Value::Null)));
        }
    }
    for (session, at, epoch) in sessions {
        change.execute(
            "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch, \
             status) VALUES (?1, ?1, ?2, ?3, ?4, 'completed')",
            params![session, SESSION, at, epoch.as_i64().unwrap_or_default()],
        )?;
    }
    let marks: Vec<String> = (1..=COLUMNS.len()).map(|number| format!("?{number}")).collect();
    let insert = format!("INSERT INTO observations ({}) VALUES ({})", COLUMNS.join(", "), marks.join(", "));
    for row in &placed {
        let values = COLUMNS.map(|column| match row.get(column) {
            None | Some(Value::Null) => rusqlite::types::Value::Null,
            Some(Value::Number(number)) => match number.as_i64() {
                Some(number) => number.into(),
                None => number.as_f64().unwrap_or_default().into(),
            },
            Some(Value::String(text)) => text.clone().into(),
            Some(other) => other.to_string().into(),
        });
        change.execute(&insert, rusqlite::params_from_iter(values))?;
    }
    change.commit()?;
    database.close().map_err(|(_, error)| error)?;
    Ok(std::fs::read(&path)?)
}

fn build_rows(lessons: &[&OutgoingLesson]) -> Vec<Map<String, Value>> {
    let mut highest = 0_i64;
    let mut rows = Vec::new();
    for shelved in lessons {
        let memory = &shelved.lesson.memory;
        let known = LessonOrigin::for_format(memory, FORMAT).filter(|origin| origin.rest.contains_key("id"));
        let mut row = match known {
            Some(origin) => update_row(origin.rest, memory),
            None => build_row(memory),
        };
        let number = row.get("id").and_then(Value::as_i64).filter(|number| *number > highest);
        highest = number.unwrap_or(highest.saturating_add(1));
        row.insert("id".to_owned(), highest.into());
        rows.push(row);
    }
    rows
}

/// Updates a row that came from claude-mem with the lesson's current summary.
fn update_row(mut row: Map<String, Value>, memory: &AgentMemory) -> Map<String, Value> {
    let key = row.remove("said").and_then(|key| key.as_str().map(str::to_owned)).unwrap_or_else(|| "title".to_owned());
    let said = row.get(&key).and_then(Value::as_str).unwrap_or_default();
    if one_line(said) != memory.summary {
        row.insert(key, memory.summary.as_str().into());
    }
    row
}

fn build_row(memory: &AgentMemory) -> Map<String, Value> {
    let kind = match (&memory.kind, &memory.category) {
        (MemoryKind::Decision, _) => "decision",
        (_, MemoryCategory::BugfixPattern) => "bugfix",
        _ => "discovery",
    };
    let facts: Vec<&str> = memory.rule.iter().map(String::as_str).collect();
    let ours = to_portable_json(memory).map(|ours| serde_json::json!({ OURS: ours }).to_string());
    let mut row = Map::new();
    let mut set = |key: &str, value: Value| drop(row.insert(key.to_owned(), value));
    set("memory_session_id", SESSION.into());
    set("project", SESSION.into());
    set("type", kind.into());
    set("title", memory.summary.as_str().into());
    set("narrative", memory.detail.as_deref().into());
    set("facts", serde_json::json!(facts).to_string().into());
    set("concepts", serde_json::json!(memory.tags).to_string().into());
    set("metadata", ours.into());
    set("created_at", memory.created_at.to_rfc3339().into());
    set("created_at_epoch", memory.created_at.timestamp_millis().into());
    row
}
