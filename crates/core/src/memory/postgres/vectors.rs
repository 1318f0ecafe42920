//! Lesson vectors on the server. Where the extension `vector` is installed, the server compares them; elsewhere they
//! are read and compared here. Either way all are compared: nothing is approximate.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use deadpool_postgres::Object;
use futures_util::future::try_join_all;
use futures_util::{FutureExt, TryStreamExt};
use tokio::sync::OnceCell;
use tokio_postgres::types::ToSql;

use super::PostgresMemory;
use super::access_control::quote_identifier;
use super::database_error::PostgresFailure;
use super::lexemes::to_stored_term;
use super::row_parser::{self, LESSON, query_cached};
use super::server::ServerRole;
use super::transaction::OpenTransaction;
use crate::domain::MemoryId;
use crate::memory::{Lesson, LessonVectorStore, LessonVectors, MemoryError, VectorModel};
use crate::recall::{CHANCE, MOST_UNITS, closest_similarity, cosine_similarity};

/// The most numbers that a process caches: fifty thousand vectors of a small model, eighty megabytes. Further ones are
/// read each time.
const MAX_NUMBERS: usize = 20_000_000;

/// The most dimensions that the extension supports.
const MAX_COMPARED_THERE: usize = 16_000;

/// The key of the vectors of one model in one bank.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct VectorSetKey {
    bank: i64,
    model: String,
    dimensions: i32,
}

impl VectorSetKey {
    fn new(bank: i64, model: VectorModel<'_>) -> Self {
        let dimensions = i32::try_from(model.dimensions).unwrap_or(i32::MAX);
        Self { bank, model: to_stored_term(model.name), dimensions }
    }
}

/// The schema in which the extension is installed, if it is. It is looked up once.
#[derive(Debug, Default)]
struct VectorExtension(OnceCell<Option<String>>);

#[async_trait]
impl LessonVectorStore for PostgresMemory {
    async fn lessons_without_vectors(&self, model: VectorModel<'_>, most: usize) -> Result<Vec<Lesson>, MemoryError> {
        self.server
            .run_with_retries("look for lessons without vectors", || {
                self.try_lessons_without_vectors(model, most).boxed()
            })
            .await
    }

    async fn store_vectors(&self, model: VectorModel<'_>, measured: &[LessonVectors]) -> Result<usize, MemoryError> {
        self.server.run_with_retries("keep vectors", || self.try_store_vectors(model, measured).boxed()).await
    }

    async fn closest_lessons(
        &self,
        model: VectorModel<'_>,
        to: &[f32],
        most: usize,
    ) -> Result<Vec<(MemoryId, f64)>, MemoryError> {
        self.server
            .run_with_retries("look for what is close", || self.try_closest_lessons(model, to, most).boxed())
            .await
    }
}

impl PostgresMemory {
    async fn try_lessons_without_vectors(
        &self,
        model: VectorModel<'_>,
        most: usize,
    ) -> Result<Vec<Lesson>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let mut lessons = Vec::new();
        for bank in self.existing_banks(&client).await? {
            let key = VectorSetKey::new(bank, model);
            let left = i64::try_from(most.saturating_sub(lessons.len())).unwrap_or(i64::MAX);
            if left == 0 || is_complete(&client, &key).await? {
                continue;
            }
            let select = format!(
                "{LESSON} WHERE l.bank = $1 AND l.standing = 0 AND NOT EXISTS (SELECT FROM archivist.vectors v \
                 WHERE v.bank = l.bank AND v.model = $2 AND v.dimensions = $3 AND v.lesson = l.id \
                 AND v.version = l.version) LIMIT $4"
            );
            for row in query_cached(&client, &select, &[&key.bank, &key.model, &key.dimensions, &left]).await? {
                lessons.push(row_parser::parse_lesson(&row)?);
            }
        }
        Ok(lessons)
    }

    /// Stores vectors while the bank is locked: a lesson that changes in the meantime gets no outdated vectors.
    async fn try_store_vectors(
        &self,
        model: VectorModel<'_>,
        measured: &[LessonVectors],
    ) -> Result<usize, PostgresFailure> {
        let work = OpenTransaction::begin(self.server.write_connection().await?).await?;
        let client = work.client()?;
        let banks: BTreeSet<i64> = self.existing_banks(client).await?.into_iter().collect();
        let banks: Vec<i64> = banks.into_iter().collect();
        query_cached(
            client,
            "SELECT bank FROM archivist.banks WHERE bank = ANY($1) ORDER BY bank FOR UPDATE",
            &[&banks],
        )
        .await?;
        let ids: Vec<&str> = measured.iter().map(|one| one.lesson.as_str()).collect();
        let select = "SELECT bank, id, version FROM archivist.lessons \
             WHERE bank = ANY($1) AND id = ANY($2) AND standing = 0";
        // A lesson without units still counts as without vectors.
        let measured = measured.iter().filter(|one| !one.units.is_empty());
        let measured: HashMap<(&str, u64), &LessonVectors> =
            measured.map(|one| ((one.lesson.as_str(), one.version), one)).collect();
        let mut current: Vec<(VectorSetKey, &LessonVectors)> = Vec::new();
        for row in &query_cached(client, select, &[&banks, &ids]).await? {
            if let Some(one) = measured.get(&(row.try_get("id")?, row_parser::parse_version(row)?)) {
                current.push((VectorSetKey::new(row.try_get("bank")?, model), one));
            }
        }
        insert_vectors(client, &current).await?;
        work.commit().await?;
        Ok(current.len())
    }

    async fn try_closest_lessons(
        &self,
        model: VectorModel<'_>,
        to: &[f32],
        most: usize,
    ) -> Result<Vec<(MemoryId, f64)>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Reader).await?;
        let extension = self.server.shared_memo::<VectorExtension>();
        let extension = extension.0.get_or_try_init(|| find_extension(&client)).await?;
        let mut close = Vec::new();
        for bank in self.existing_banks(&client).await? {
            let key = VectorSetKey::new(bank, model);
            close.extend(match extension {
                Some(schema) if to.len() <= MAX_COMPARED_THERE => {
                    compare_on_server(&client, schema, &key, to, most).await?
                }
                _ => {
                    compare_in_process(&client, &self.server.shared_memo::<Mutex<LessonVectorCache>>(), &key, to)
                        .await?
                }
            });
        }
        let mut close: Vec<(MemoryId, f64)> =
            close.into_iter().filter_map(|(id, close)| Some((MemoryId::parse(&id).ok()?, close))).collect();
        close.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        close.truncate(most);
        Ok(close)
    }
}

/// Returns true if as many lessons have vectors as may be injected. Only those have any, so none is missing then.
async fn is_complete(client: &Object, key: &VectorSetKey) -> Result<bool, PostgresFailure> {
    let select = "SELECT given_lessons = (SELECT count(*) FROM archivist.vectors \
         WHERE bank = $1 AND model = $2 AND dimensions = $3 AND unit = 0) FROM archivist.banks WHERE bank = $1";
    let rows = query_cached(client, select, &[&key.bank, &key.model, &key.dimensions]).await?;
    Ok(rows.first().map_or(Ok(false), |row| row.try_get(0))?)
}

/// Writes all units at once, without waiting for one after the other.
async fn insert_vectors(client: &Object, lessons: &[(VectorSetKey, &LessonVectors)]) -> Result<(), PostgresFailure> {
    let insert = "INSERT INTO archivist.vectors (bank, model, dimensions, lesson, version, unit, units, numbers) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let statement = &client.prepare_cached(insert).await?;
    let rows = lessons.iter().flat_map(|(key, measured)| {
        let (lesson, version) = (measured.lesson.as_str(), i64::try_from(measured.version).unwrap_or(i64::MAX));
        let count = i16::try_from(measured.units.len()).unwrap_or(i16::MAX);
        (0_i16..).zip(&measured.units).map(move |(unit, numbers)| async move {
            let values: [&(dyn ToSql + Sync); 8] =
                [&key.bank, &key.model, &key.dimensions, &lesson, &version, &unit, &count, numbers];
            client.execute(statement, &values).await
        })
    });
    try_join_all(rows).await?;
    Ok(())
}

/// Returns the schema of the extension, if it is installed and this role may use it.
async fn find_extension(client: &Object) -> Result<Option<String>, PostgresFailure> {
    let select = "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = 'vector' AND has_schema_privilege(n.oid, 'USAGE')";
    let found = client.query_opt(select, &[]).await?.map(|row| row.try_get(0)).transpose()?;
    tracing::debug!(is_there = found.is_some(), "looked for the extension vector");
    Ok(found)
}

/// Returns the closest lessons as the server finds them. No lesson has more than [`MOST_UNITS`] units, so the closest
/// lessons are among that many times as many closest units, and the server need not group units.
async fn compare_on_server(
    client: &Object,
    schema: &str,
    key: &VectorSetKey,
    to: &[f32],
    most: usize,
) -> Result<Vec<(String, f64)>, PostgresFailure> {
    let schema = quote_identifier(schema);
    let select = format!(
        "WITH asked AS MATERIALIZED (SELECT $4::real[]::{schema}.vector AS numbers) \
         SELECT lesson, close FROM (SELECT v.lesson, \
         least(greatest(-(v.numbers::{schema}.vector OPERATOR({schema}.<#>) asked.numbers), -1), 1) \
         - $5::double precision * ln(v.units::double precision) AS close \
         FROM archivist.vectors v, asked WHERE v.bank = $1 AND v.model = $2 AND v.dimensions = $3) measured \
         ORDER BY close DESC, lesson COLLATE \"C\" LIMIT $6"
    );
    let limit = i64::try_from(most.saturating_mul(MOST_UNITS)).unwrap_or(i64::MAX);
    let to = to.to_vec();
    let values: [&(dyn ToSql + Sync); 6] = [&key.bank, &key.model, &key.dimensions, &to, &CHANCE, &limit];
    let mut met = BTreeSet::new();
    let mut close: Vec<(String, f64)> = Vec::new();
    for row in query_cached(client, &select, &values).await? {
        let lesson: String = row.try_get("lesson")?;
        if met.insert(lesson.clone()) {
            close.push((lesson, row.try_get("close")?));
        }
    }
    Ok(close)
}

/// Compares all vectors in this process. Only those that are not cached or have changed are read.
async fn compare_in_process(
    client: &Object,
    known: &Mutex<LessonVectorCache>,
    key: &VectorSetKey,
    to: &[f32],
) -> Result<Vec<(String, f64)>, PostgresFailure> {
    let values: [&(dyn ToSql + Sync); 3] = [&key.bank, &key.model, &key.dimensions];
    let select = "SELECT lesson, version FROM archivist.vectors \
         WHERE bank = $1 AND model = $2 AND dimensions = $3 AND unit = 0";
    let mut current: HashMap<String, i64> = HashMap::new();
    for row in query_cached(client, select, &values).await? {
        current.insert(row.try_get("lesson")?, row.try_get("version")?);
    }
    let (mut close, unread, room) = lock_cache(known).compare_cached(key, &current, to);
    if unread.is_empty() {
        return Ok(close);
    }
    let mut select = "SELECT lesson, version, numbers FROM archivist.vectors \
         WHERE bank = $1 AND model = $2 AND dimensions = $3"
        .to_owned();
    let mut values: Vec<&(dyn ToSql + Sync)> = values.to_vec();
    if unread.len() < current.len() {
        select.push_str(" AND lesson = ANY($4)");
        values.push(&unread);
    }
    let statement = client.prepare_cached(&select).await?;
    let mut stream = std::pin::pin!(client.query_raw(&statement, values).await?);
    let (mut cosines, mut fresh, mut numbers): (HashMap<String, Vec<f64>>, HashMap<String, LessonUnits>, usize) =
        Default::default();
    while let Some(row) = stream.try_next().await? {
        let (lesson, unit): (String, Vec<f32>) = (row.try_get("lesson")?, row.try_get("numbers")?);
        cosines.entry(lesson.clone()).or_default().push(f64::from(cosine_similarity(&unit, to)));
        numbers += unit.len();
        if numbers <= room {
            let version = row.try_get("version")?;
            fresh.entry(lesson).or_insert_with(|| LessonUnits { version, vectors: Vec::new() }).vectors.push(unit);
        } else {
            // A partly cached lesson would seem further away than it is.
            fresh.remove(&lesson);
        }
    }
    lock_cache(known).add_vectors(key, fresh);
    close.extend(cosines.into_iter().filter_map(|(lesson, units)| Some((lesson, closest_similarity(units)?))));
    Ok(close)
}

fn lock_cache(known: &Mutex<LessonVectorCache>) -> MutexGuard<'_, LessonVectorCache> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The vectors that a process has read.
#[derive(Debug, Default)]
struct LessonVectorCache {
    shelves: HashMap<VectorSetKey, HashMap<String, LessonUnits>>,
    numbers: usize,
}

/// The vectors of one version of a lesson.
#[derive(Debug)]
struct LessonUnits {
    version: i64,
    vectors: Vec<Vec<f32>>,
}

impl LessonUnits {
    fn number_count(&self) -> usize {
        self.vectors.iter().map(Vec::len).sum()
    }
}

impl LessonVectorCache {
    /// Drops changed vectors; returns the closeness of cached lessons, the lessons to read, and the room left.
    fn compare_cached(
        &mut self,
        key: &VectorSetKey,
        current: &HashMap<String, i64>,
        to: &[f32],
    ) -> (Vec<(String, f64)>, Vec<String>, usize) {
        let known = self.shelves.entry(key.clone()).or_default();
        known.retain(|lesson, units| {
            let is_current = current.get(lesson) == Some(&units.version);
            if !is_current {
                self.numbers = self.numbers.saturating_sub(units.number_count());
            }
            is_current
        });
        let cosines = |units: &LessonUnits| {
            closest_similarity(units.vectors.iter().map(|unit| f64::from(cosine_similarity(unit, to))))
        };
        let close = known.iter().filter_map(|(lesson, units)| Some((lesson.clone(), cosines(units)?))).collect();
        let unread = current.keys().filter(|lesson| !known.contains_key(*lesson)).cloned().collect();
        (close, unread, MAX_NUMBERS.saturating_sub(self.numbers))
    }

    /// Adds vectors to the cache.
    fn add_vectors(&mut self, key: &VectorSetKey, fresh: HashMap<String, LessonUnits>) {
        let known = self.shelves.entry(key.clone()).or_default();
        for (lesson, units) in fresh {
            self.numbers += units.number_count();
            if let Some(old) = known.insert(lesson, units) {
                self.numbers = self.numbers.saturating_sub(old.number_count());
            }
        }
    }
}
