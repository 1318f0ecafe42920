//! claude-mem's database: the rows of `observations`, and the rules of `directives`.
//!
//! The columns have changed with every other version, so only those that are there are asked for.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, params};
use serde_json::{Map, Value};

use super::loss::{THE_LESSON, in_use, losses, whole};
use super::origin::{OURS, Origin, name_of, returned, time};
use super::{Brought, Format, Parcel, Shelf, Shelved, Skipped, Unreadable, Unwritable, Written, within};
use crate::domain::{AgentMemory, MemoryCategory, MemoryKind, Timestamp};
use crate::text::one_line;

#[cfg(test)]
#[path = "claude_mem_tests.rs"]
mod tests;

const FORMAT: Format = Format::ClaudeMem;
const FILE: &str = "claude-mem.db";
const WHAT: &str = "database of claude-mem";

/// The session that lessons of ours are put under.
const SESSION: &str = "archivist";

/// The tables that claude-mem itself looks for, with the columns that it needs.
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

/// The columns of an observation that we write, in the order of the table.
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

pub(super) fn read(path: &Path, now: Timestamp) -> Result<Parcel, Unreadable> {
    let path = within(path, FILE);
    // SQLite would make a file that is not there, and read an empty one as an empty database.
    let length = std::fs::metadata(&path).map_err(|source| Unreadable::Io { path: path.clone(), source })?.len();
    let broken = |error: rusqlite::Error| Unreadable::malformed(&path, WHAT, error);
    if length == 0 {
        return Err(Unreadable::malformed(&path, WHAT, "it is empty"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&path, flags).map_err(broken)?;
    let mut parcel = Parcel::default();
    let columns = columns(&database, "observations").map_err(broken)?;
    if !columns.iter().any(|column| column == "title" || column == "text") {
        return Err(Unreadable::malformed(&path, WHAT, "there is no table `observations` with texts in it"));
    }
    rows(&database, "observations", &columns, |row| {
        let place = format!("{} observation {}", path.display(), row.get("id").cloned().unwrap_or_default());
        match observation(row, now) {
            Some(brought) => parcel.lessons.push(brought),
            None => parcel.skipped.push(Skipped { place, why: "it says nothing".to_owned() }),
        }
    })
    .map_err(broken)?;
    let directives = self::columns(&database, "directives").map_err(broken)?;
    if directives.iter().any(|column| column == "content") {
        rows(&database, "directives", &directives, |row| parcel.lessons.extend(directive(row, now))).map_err(broken)?;
    }
    for (table, what) in [("session_summaries", "summaries of sessions"), ("user_prompts", "prompts")] {
        let count = format!("SELECT count(*) FROM {table}");
        let found: i64 = database.query_row(&count, [], |row| row.get(0)).unwrap_or_default();
        if found > 0 {
            let place = format!("{} table {table}", path.display());
            parcel
                .skipped
                .push(Skipped { place, why: format!("{found} {what} tell what happened, not what was learned") });
        }
    }
    Ok(parcel)
}

fn columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare(&format!("PRAGMA table_info({table})"))?;
    statement.query_map([], |row| row.get::<_, String>("name"))?.collect()
}

/// Every row of a table, by the names of its columns; what has no value is not there.
fn rows(
    database: &Connection,
    table: &str,
    columns: &[String],
    mut each: impl FnMut(Map<String, Value>),
) -> rusqlite::Result<()> {
    let mut statement = database.prepare(&format!("SELECT * FROM {table} ORDER BY id"))?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let fields = columns.iter().enumerate().filter_map(|(place, name)| Some((name.clone(), value(row, place)?)));
        each(fields.collect());
    }
    Ok(())
}

fn value(row: &Row<'_>, place: usize) -> Option<Value> {
    match row.get_ref(place).ok()? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Some(number.into()),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned().into()),
    }
}

fn observation(mut row: Map<String, Value>, now: Timestamp) -> Option<Brought> {
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
    let at = text(&row, "created_at").and_then(|at| time(&at)).unwrap_or(now);
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
    let mut memory = Origin::lesson(FORMAT, &name, at, &summary, row);
    (memory.kind, memory.category) = kind;
    memory.detail = detail;
    memory.tags = tags;
    let memory = returned(memory, metadata.as_ref().and_then(|data| data.get(OURS)));
    Some(Brought { name, versions: vec![memory], facts: Vec::new(), used: None })
}

/// A rule that somebody wrote down, to be followed in every session.
fn directive(row: Map<String, Value>, now: Timestamp) -> Option<Brought> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
    let summary = one_line(text("content"));
    if summary.is_empty() || text("status") == "inactive" {
        return None;
    }
    let name = format!("directive {}", row.get("id").cloned().unwrap_or_default());
    let at = time(text("created_at")).unwrap_or(now);
    let mut memory = Origin::lesson(FORMAT, &name, at, &summary, Map::new());
    (memory.kind, memory.category) = (MemoryKind::Preference, MemoryCategory::Preference);
    Some(Brought { name, versions: vec![memory], facts: Vec::new(), used: None })
}

pub(super) fn write(shelf: &Shelf) -> Result<Written, Unwritable> {
    let mut lost = Vec::new();
    let mut kept = in_use(&shelf.lessons, &mut lost);
    lost.extend(losses(&kept, FORMAT, THE_LESSON));
    // Rows that came from there keep their numbers, and ours come behind them.
    kept.sort_by_key(|shelved| {
        let memory = &shelved.lesson.memory;
        let number = Origin::of_format(memory, FORMAT).and_then(|origin| origin.name.parse::<i64>().ok());
        (number.unwrap_or(i64::MAX), memory.created_at, name_of(memory, FORMAT))
    });
    let bytes = database(&kept).map_err(|why| Unwritable::new(FORMAT, why))?;
    Ok(Written::one(FILE, bytes, lost))
}

fn database(lessons: &[&Shelved]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(FILE);
    let mut database = Connection::open(&path)?;
    database.execute_batch("PRAGMA journal_mode = OFF; PRAGMA page_size = 4096;")?;
    let change = database.transaction()?;
    change.execute_batch(TABLES)?;
    let placed: Vec<Map<String, Value>> = rows_of(lessons);
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

fn rows_of(lessons: &[&Shelved]) -> Vec<Map<String, Value>> {
    let mut highest = 0_i64;
    let mut rows = Vec::new();
    for shelved in lessons {
        let memory = &shelved.lesson.memory;
        let known = Origin::of_format(memory, FORMAT).filter(|origin| origin.rest.contains_key("id"));
        let mut row = match known {
            Some(origin) => again(origin.rest, memory),
            None => fresh(memory),
        };
        let number = row.get("id").and_then(Value::as_i64).filter(|number| *number > highest);
        highest = number.unwrap_or(highest.saturating_add(1));
        row.insert("id".to_owned(), highest.into());
        rows.push(row);
    }
    rows
}

/// A row that came from there, with the words it has now.
fn again(mut row: Map<String, Value>, memory: &AgentMemory) -> Map<String, Value> {
    let key = row.remove("said").and_then(|key| key.as_str().map(str::to_owned)).unwrap_or_else(|| "title".to_owned());
    let said = row.get(&key).and_then(Value::as_str).unwrap_or_default();
    if one_line(said) != memory.summary {
        row.insert(key, memory.summary.as_str().into());
    }
    row
}

fn fresh(memory: &AgentMemory) -> Map<String, Value> {
    let kind = match (&memory.kind, &memory.category) {
        (MemoryKind::Decision, _) => "decision",
        (_, MemoryCategory::BugfixPattern) => "bugfix",
        _ => "discovery",
    };
    let facts: Vec<&str> = memory.rule.iter().map(String::as_str).collect();
    let ours = whole(memory).map(|ours| serde_json::json!({ OURS: ours }).to_string());
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
