//! What lessons mean, kept on the server. Where it has the extension `vector`, it compares; elsewhere the vectors are read
//! and compared here. Either way everything is compared: nothing is approximate.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use deadpool_postgres::Object;
use futures_util::future::try_join_all;
use futures_util::{FutureExt, TryStreamExt};
use tokio::sync::OnceCell;
use tokio_postgres::types::ToSql;

use super::PostgresMemory;
use super::access::quoted;
use super::rows::{self, LESSON, ask};
use super::server::Role;
use super::trouble::Trouble;
use super::words::kept;
use super::work::Work;
use crate::domain::MemoryId;
use crate::memory::{Lesson, MeaningModel, Meanings, Measured, MemoryError};
use crate::recall::{CHANCE, MOST_UNITS, closest, cosine};

/// Numbers that a process keeps of what it read: fifty thousand vectors of a small model, eighty megabytes. What is more
/// is read again.
const MAX_NUMBERS: usize = 20_000_000;

/// The extension takes no longer vectors.
const MAX_COMPARED_THERE: usize = 16_000;

/// The vectors of one model in one bank.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Shelf {
    bank: i64,
    model: String,
    dimensions: i32,
}

impl Shelf {
    fn new(bank: i64, model: MeaningModel<'_>) -> Self {
        let dimensions = i32::try_from(model.dimensions).unwrap_or(i32::MAX);
        Self { bank, model: kept(model.name), dimensions }
    }
}

/// The schema that the extension is installed in, where it is. Asked for once.
#[derive(Debug, Default)]
struct Extension(OnceCell<Option<String>>);

#[async_trait]
impl Meanings for PostgresMemory {
    async fn unmeasured(&self, model: MeaningModel<'_>, most: usize) -> Result<Vec<Lesson>, MemoryError> {
        self.server.persist("look for lessons without vectors", || self.try_unmeasured(model, most).boxed()).await
    }

    async fn keep(&self, model: MeaningModel<'_>, measured: &[Measured]) -> Result<usize, MemoryError> {
        self.server.persist("keep vectors", || self.try_keep(model, measured).boxed()).await
    }

    async fn closest(
        &self,
        model: MeaningModel<'_>,
        to: &[f32],
        most: usize,
    ) -> Result<Vec<(MemoryId, f64)>, MemoryError> {
        self.server.persist("look for what is close", || self.try_closest(model, to, most).boxed()).await
    }
}

impl PostgresMemory {
    async fn try_unmeasured(&self, model: MeaningModel<'_>, most: usize) -> Result<Vec<Lesson>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let mut lessons = Vec::new();
        for bank in self.banks(&client).await? {
            let shelf = Shelf::new(bank, model);
            let left = i64::try_from(most.saturating_sub(lessons.len())).unwrap_or(i64::MAX);
            if left == 0 || is_complete(&client, &shelf).await? {
                continue;
            }
            let select = format!(
                "{LESSON} WHERE l.bank = $1 AND l.standing = 0 AND NOT EXISTS (SELECT FROM archivist.vectors v \
                 WHERE v.bank = l.bank AND v.model = $2 AND v.dimensions = $3 AND v.lesson = l.id \
                 AND v.version = l.version) LIMIT $4"
            );
            for row in ask(&client, &select, &[&shelf.bank, &shelf.model, &shelf.dimensions, &left]).await? {
                lessons.push(rows::lesson(&row)?);
            }
        }
        Ok(lessons)
    }

    /// Behind the lock of the bank, as commits are: a lesson that changes meanwhile keeps no vectors of what it was.
    async fn try_keep(&self, model: MeaningModel<'_>, measured: &[Measured]) -> Result<usize, Trouble> {
        let work = Work::begin(self.server.writing().await?).await?;
        let client = work.client()?;
        let banks: BTreeSet<i64> = self.banks(client).await?.into_iter().collect();
        let banks: Vec<i64> = banks.into_iter().collect();
        ask(client, "SELECT bank FROM archivist.banks WHERE bank = ANY($1) ORDER BY bank FOR UPDATE", &[&banks])
            .await?;
        let ids: Vec<&str> = measured.iter().map(|one| one.lesson.as_str()).collect();
        let select = "SELECT bank, id, version FROM archivist.lessons \
             WHERE bank = ANY($1) AND id = ANY($2) AND standing = 0";
        // A lesson of which nothing was said is still without vectors.
        let measured = measured.iter().filter(|one| !one.units.is_empty());
        let measured: HashMap<(&str, u64), &Measured> =
            measured.map(|one| ((one.lesson.as_str(), one.version), one)).collect();
        let mut current: Vec<(Shelf, &Measured)> = Vec::new();
        for row in &ask(client, select, &[&banks, &ids]).await? {
            if let Some(one) = measured.get(&(row.try_get("id")?, rows::version(row)?)) {
                current.push((Shelf::new(row.try_get("bank")?, model), one));
            }
        }
        write(client, &current).await?;
        work.commit().await?;
        Ok(current.len())
    }

    async fn try_closest(
        &self,
        model: MeaningModel<'_>,
        to: &[f32],
        most: usize,
    ) -> Result<Vec<(MemoryId, f64)>, Trouble> {
        let client = self.server.reading(Role::Reader).await?;
        let extension = self.server.memo::<Extension>();
        let extension = extension.0.get_or_try_init(|| extension_of(&client)).await?;
        let mut close = Vec::new();
        for bank in self.banks(&client).await? {
            let shelf = Shelf::new(bank, model);
            close.extend(match extension {
                Some(schema) if to.len() <= MAX_COMPARED_THERE => {
                    compared_there(&client, schema, &shelf, to, most).await?
                }
                _ => compared_here(&client, &self.server.memo::<Mutex<Known>>(), &shelf, to).await?,
            });
        }
        let mut close: Vec<(MemoryId, f64)> =
            close.into_iter().filter_map(|(id, close)| Some((MemoryId::parse(&id).ok()?, close))).collect();
        close.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        close.truncate(most);
        Ok(close)
    }
}

/// Whether as many lessons have vectors as may be given. Only those have any, so then none is without.
async fn is_complete(client: &Object, shelf: &Shelf) -> Result<bool, Trouble> {
    let select = "SELECT given_lessons = (SELECT count(*) FROM archivist.vectors \
         WHERE bank = $1 AND model = $2 AND dimensions = $3 AND unit = 0) FROM archivist.banks WHERE bank = $1";
    let rows = ask(client, select, &[&shelf.bank, &shelf.model, &shelf.dimensions]).await?;
    Ok(rows.first().map_or(Ok(false), |row| row.try_get(0))?)
}

/// Writes all units at once: none waits for the answer to another.
async fn write(client: &Object, lessons: &[(Shelf, &Measured)]) -> Result<(), Trouble> {
    let insert = "INSERT INTO archivist.vectors (bank, model, dimensions, lesson, version, unit, units, numbers) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let statement = &client.prepare_cached(insert).await?;
    let rows = lessons.iter().flat_map(|(shelf, measured)| {
        let (lesson, version) = (measured.lesson.as_str(), i64::try_from(measured.version).unwrap_or(i64::MAX));
        let count = i16::try_from(measured.units.len()).unwrap_or(i16::MAX);
        (0_i16..).zip(&measured.units).map(move |(unit, numbers)| async move {
            let values: [&(dyn ToSql + Sync); 8] =
                [&shelf.bank, &shelf.model, &shelf.dimensions, &lesson, &version, &unit, &count, numbers];
            client.execute(statement, &values).await
        })
    });
    try_join_all(rows).await?;
    Ok(())
}

/// Where the extension is installed, if it is and this role may use it.
async fn extension_of(client: &Object) -> Result<Option<String>, Trouble> {
    let select = "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = 'vector' AND has_schema_privilege(n.oid, 'USAGE')";
    let found = client.query_opt(select, &[]).await?.map(|row| row.try_get(0)).transpose()?;
    tracing::debug!(is_there = found.is_some(), "looked for the extension vector");
    Ok(found)
}

/// The closest, as the server finds them. No lesson has more than [`MOST_UNITS`] units, so the closest lessons are among
/// that many times as many of the closest units, and the server need not put units together.
async fn compared_there(
    client: &Object,
    schema: &str,
    shelf: &Shelf,
    to: &[f32],
    most: usize,
) -> Result<Vec<(String, f64)>, Trouble> {
    let schema = quoted(schema);
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
    let values: [&(dyn ToSql + Sync); 6] = [&shelf.bank, &shelf.model, &shelf.dimensions, &to, &CHANCE, &limit];
    let mut met = BTreeSet::new();
    let mut close: Vec<(String, f64)> = Vec::new();
    for row in ask(client, &select, &values).await? {
        let lesson: String = row.try_get("lesson")?;
        if met.insert(lesson.clone()) {
            close.push((lesson, row.try_get("close")?));
        }
    }
    Ok(close)
}

/// All of them, compared here. What was read before is read again only where it changed.
async fn compared_here(
    client: &Object,
    known: &Mutex<Known>,
    shelf: &Shelf,
    to: &[f32],
) -> Result<Vec<(String, f64)>, Trouble> {
    let values: [&(dyn ToSql + Sync); 3] = [&shelf.bank, &shelf.model, &shelf.dimensions];
    let select = "SELECT lesson, version FROM archivist.vectors \
         WHERE bank = $1 AND model = $2 AND dimensions = $3 AND unit = 0";
    let mut current: HashMap<String, i64> = HashMap::new();
    for row in ask(client, select, &values).await? {
        current.insert(row.try_get("lesson")?, row.try_get("version")?);
    }
    let (mut close, unread, room) = lock(known).look(shelf, &current, to);
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
    let (mut cosines, mut fresh, mut numbers): (HashMap<String, Vec<f64>>, HashMap<String, Units>, usize) =
        Default::default();
    while let Some(row) = stream.try_next().await? {
        let (lesson, unit): (String, Vec<f32>) = (row.try_get("lesson")?, row.try_get("numbers")?);
        cosines.entry(lesson.clone()).or_default().push(f64::from(cosine(&unit, to)));
        numbers += unit.len();
        if numbers <= room {
            let version = row.try_get("version")?;
            fresh.entry(lesson).or_insert_with(|| Units { version, vectors: Vec::new() }).vectors.push(unit);
        } else {
            // A lesson of which only a part was kept would seem further away than it is.
            fresh.remove(&lesson);
        }
    }
    lock(known).take(shelf, fresh);
    close.extend(cosines.into_iter().filter_map(|(lesson, units)| Some((lesson, closest(units)?))));
    Ok(close)
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a process has read.
#[derive(Debug, Default)]
struct Known {
    shelves: HashMap<Shelf, HashMap<String, Units>>,
    numbers: usize,
}

/// The vectors of a version of a lesson.
#[derive(Debug)]
struct Units {
    version: i64,
    vectors: Vec<Vec<f32>>,
}

impl Units {
    fn numbers(&self) -> usize {
        self.vectors.iter().map(Vec::len).sum()
    }
}

impl Known {
    /// Forgets what changed; how close the rest is, what has to be read, and how many numbers there is room for.
    fn look(
        &mut self,
        shelf: &Shelf,
        current: &HashMap<String, i64>,
        to: &[f32],
    ) -> (Vec<(String, f64)>, Vec<String>, usize) {
        let known = self.shelves.entry(shelf.clone()).or_default();
        known.retain(|lesson, units| {
            let is_current = current.get(lesson) == Some(&units.version);
            if !is_current {
                self.numbers = self.numbers.saturating_sub(units.numbers());
            }
            is_current
        });
        let cosines = |units: &Units| closest(units.vectors.iter().map(|unit| f64::from(cosine(unit, to))));
        let close = known.iter().filter_map(|(lesson, units)| Some((lesson.clone(), cosines(units)?))).collect();
        let unread = current.keys().filter(|lesson| !known.contains_key(*lesson)).cloned().collect();
        (close, unread, MAX_NUMBERS.saturating_sub(self.numbers))
    }

    /// Keeps what was read.
    fn take(&mut self, shelf: &Shelf, fresh: HashMap<String, Units>) {
        let known = self.shelves.entry(shelf.clone()).or_default();
        for (lesson, units) in fresh {
            self.numbers += units.numbers();
            if let Some(old) = known.insert(lesson, units) {
                self.numbers = self.numbers.saturating_sub(old.numbers());
            }
        }
    }
}
