//! Erasing records for good: rows are deleted from every table of a memory's banks in one transaction.

use std::collections::BTreeSet;

use deadpool_postgres::Object;
use tokio_postgres::Row;

use super::PostgresMemory;
use super::bank_status::rewrite_from_records;
use super::database_error::PostgresFailure;
use super::jobs::{lock_lane, refresh_lane, resolve_subject_jobs};
use super::row_parser::{execute_cached, query_cached};
use super::server::ServerRole;
use super::transaction::OpenTransaction;
use crate::memory::{ErasureNote, ErasurePlan, ErasureSelection, MemoryError, RecordFate, RecordKind, StoredRecord};

/// The tables that hold whole records: what a row is, its key, and its record, both as texts.
const RECORDS: [(RecordKind, &str, &str, &str); 3] = [
    (RecordKind::Lesson, "revisions", "lesson || '/' || version", "written"),
    (RecordKind::Episode, "episodes", "id", "written"),
    (RecordKind::Fact, "facts", "encode(key, 'hex')", "written"),
];

/// A table whose rows are records beside those of the memory.
struct OtherTable {
    name: &'static str,
    /// What a row is called in counts.
    kind: &'static str,
    key: &'static str,
    record: &'static str,
}

const OTHERS: [OtherTable; 4] = [
    OtherTable {
        name: "jobs",
        kind: "jobs",
        key: "name",
        record: "record || chr(10) || coalesce(to_json(note)::text, '')",
    },
    OtherTable { name: "events", kind: "display messages", key: "number::text", record: "record" },
    OtherTable { name: "commits", kind: "receipts", key: "id", record: "receipt" },
    OtherTable {
        name: "spend",
        kind: "spend entries",
        key: "id",
        record: "json_build_array(project, endpoint, model, reserved, settled)::text",
    },
];

/// The tables that a purge may have deleted rows from, or rewritten.
const CHANGED: [&str; 9] =
    ["revisions", "episodes", "facts", "lessons", "vocabulary", "vectors", "jobs", "events", "commits"];

impl PostgresMemory {
    /// Plans what a selection erases.
    pub(super) async fn try_plan_erasure(&self, selection: &ErasureSelection) -> Result<ErasurePlan, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let banks = self.existing_banks(&client).await?;
        let mut records = Vec::new();
        for bank in &banks {
            for (kind, table, _, order) in RECORDS {
                let select = format!("SELECT record FROM archivist.{table} WHERE bank = $1 ORDER BY {order}");
                for row in query_cached(&client, &select, &[bank]).await? {
                    let record: &str = row.try_get("record")?;
                    records.push(StoredRecord { kind, bytes: record.as_bytes().to_vec() });
                }
            }
        }
        let mut plan = ErasurePlan::from_records(&records, selection);
        for bank in &banks {
            for table in &OTHERS {
                for row in read_other_rows(&client, table, *bank).await? {
                    plan.plan_other_record(selection, table.kind, row.try_get::<_, &str>("record")?.as_bytes());
                }
            }
        }
        Ok(plan)
    }

    /// Erases what is planned from all tables, in one transaction.
    pub(super) async fn try_erase_records(&self, plan: &ErasurePlan) -> Result<(), PostgresFailure> {
        let work = OpenTransaction::begin(self.server.write_connection().await?).await?;
        let client = work.client()?;
        let banks: BTreeSet<i64> = self.existing_banks(client).await?.into_iter().collect();
        for bank in banks {
            query_cached(client, "SELECT bank FROM archivist.banks WHERE bank = $1 FOR UPDATE", &[&bank]).await?;
            erase_stored_records(client, bank, plan).await?;
            erase_other_records(client, bank, plan).await?;
        }
        work.commit().await?;
        self.vacuum_tables().await;
        Ok(())
    }

    /// Stores a note of an erasure, or its newer form.
    pub(super) async fn try_record_erasure(&self, note: &ErasureNote) -> Result<(), PostgresFailure> {
        let client = self.open_banks().await?;
        let bank = self.server.find_bank(&client, &self.bank).await?;
        let record =
            serde_json::to_string(note).map_err(|source| MemoryError::Encode { id: note.id.clone(), source })?;
        let upsert = "INSERT INTO archivist.erasures AS e (bank, id, at, record) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (bank, id) DO UPDATE SET record = excluded.record, times = e.times + 1";
        execute_cached(&client, upsert, &[&bank, &note.id, &note.at, &record]).await?;
        Ok(())
    }

    /// Returns the notes of all erasures, the oldest first.
    pub(super) async fn try_list_erasures(&self) -> Result<Vec<ErasureNote>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let Some(bank) = self.server.find_bank(&client, &self.bank).await? else { return Ok(Vec::new()) };
        let select = "SELECT record FROM archivist.erasures WHERE bank = $1 ORDER BY at, id";
        let rows = query_cached(&client, select, &[&bank]).await?;
        Ok(rows.iter().filter_map(|row| serde_json::from_str(row.try_get("record").ok()?).ok()).collect())
    }

    /// Lets the server reuse the room of deleted rows at once, where this role may. Until then they lie in its files.
    async fn vacuum_tables(&self) {
        let Ok(client) = self.server.write_connection().await else { return };
        for table in CHANGED {
            if let Err(error) = client.batch_execute(&format!("VACUUM archivist.{table}")).await {
                tracing::debug!(%error, table, "deleted rows are left to the server's own vacuum");
                return;
            }
        }
    }
}

/// Deletes and rewrites the records of a bank, and derives what is searched anew.
async fn erase_stored_records(client: &Object, bank: i64, plan: &ErasurePlan) -> Result<(), PostgresFailure> {
    let mut changed_lessons = BTreeSet::new();
    let mut is_changed = false;
    for (kind, table, key, order) in RECORDS {
        let select = format!("SELECT {key} AS key, record FROM archivist.{table} WHERE bank = $1 ORDER BY {order}");
        let (mut gone, mut kept, mut rewritten) = (Vec::new(), Vec::new(), Vec::new());
        for row in query_cached(client, &select, &[&bank]).await? {
            let (row_key, record): (String, &str) = (row.try_get("key")?, row.try_get("record")?);
            let fate = plan.judge_record(kind, record.as_bytes());
            if let (RecordKind::Lesson, false, Some((id, _))) =
                (kind, fate == RecordFate::Kept, row_key.rsplit_once('/'))
            {
                changed_lessons.insert(id.to_owned());
            }
            match fate {
                RecordFate::Kept => {}
                RecordFate::Erased => gone.push(row_key),
                RecordFate::Rewritten(json) => {
                    kept.push(row_key);
                    rewritten.push(json);
                }
            }
        }
        is_changed |= !gone.is_empty() || !kept.is_empty();
        let delete = format!("DELETE FROM archivist.{table} WHERE bank = $1 AND {key} = ANY($2::text[])");
        let update = format!(
            "UPDATE archivist.{table} t SET record = new.record FROM unnest($2::text[], $3::text[]) AS new (key, record) \
             WHERE t.bank = $1 AND {} = new.key",
            prefix_columns(key)
        );
        if !gone.is_empty() {
            execute_cached(client, &delete, &[&bank, &gone]).await?;
        }
        if !kept.is_empty() {
            execute_cached(client, &update, &[&bank, &kept, &rewritten]).await?;
        }
    }
    if is_changed {
        let lessons: Vec<String> = changed_lessons.into_iter().collect();
        let delete = "DELETE FROM archivist.vectors WHERE bank = $1 AND lesson = ANY($2)";
        execute_cached(client, delete, &[&bank, &lessons]).await?;
        rewrite_from_records(client, bank).await?;
        // Whoever looks for news finds some.
        execute_cached(client, "UPDATE archivist.banks SET written = written + 1 WHERE bank = $1", &[&bank]).await?;
    }
    Ok(())
}

/// Returns the expression of a key with its columns taken from the table `t`.
fn prefix_columns(key: &str) -> String {
    match key {
        "id" => "t.id".to_owned(),
        "encode(key, 'hex')" => "encode(t.key, 'hex')".to_owned(),
        _ => "t.lesson || '/' || t.version".to_owned(),
    }
}

/// Deletes jobs, events, receipts and spend of a bank.
async fn erase_other_records(client: &Object, bank: i64, plan: &ErasurePlan) -> Result<(), PostgresFailure> {
    let has_lane = lock_lane(client, bank).await?;
    for table in &OTHERS {
        let mut gone: Vec<String> = Vec::new();
        for row in read_other_rows(client, table, bank).await? {
            if plan.erases_other_record(row.try_get::<_, &str>("record")?.as_bytes()) {
                gone.push(row.try_get("key")?);
            }
        }
        if gone.is_empty() {
            continue;
        }
        let OtherTable { name, key, .. } = table;
        if *name == "jobs" {
            let subjects = "SELECT DISTINCT subject FROM archivist.jobs WHERE bank = $1 AND name = ANY($2::text[])";
            let subjects = query_cached(client, subjects, &[&bank, &gone]).await?;
            delete_rows(client, (name, key), bank, &gone).await?;
            for subject in &subjects {
                resolve_subject_jobs(client, bank, subject.try_get("subject")?).await?;
            }
            if has_lane {
                refresh_lane(client, bank).await?;
            }
        } else {
            delete_rows(client, (name, key), bank, &gone).await?;
        }
    }
    Ok(())
}

async fn delete_rows(
    client: &Object,
    (table, key): (&str, &str),
    bank: i64,
    gone: &Vec<String>,
) -> Result<(), PostgresFailure> {
    let delete = format!("DELETE FROM archivist.{table} WHERE bank = $1 AND {key} = ANY($2::text[])");
    execute_cached(client, &delete, &[&bank, gone]).await?;
    Ok(())
}

async fn read_other_rows(client: &Object, table: &OtherTable, bank: i64) -> Result<Vec<Row>, PostgresFailure> {
    let OtherTable { name, key, record, .. } = table;
    let select = format!("SELECT {key} AS key, {record} AS record FROM archivist.{name} WHERE bank = $1");
    query_cached(client, &select, &[&bank]).await
}
