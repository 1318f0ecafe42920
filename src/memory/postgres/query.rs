//! Questions: the server finds the lessons that come near, and they are weighed here as every store weighs them.

use std::collections::{HashMap, HashSet};

use deadpool_postgres::Object;
use futures_util::future::try_join;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresMemory;
use super::rows::{self, LESSON, NEAR, Near, ask};
use super::server::Role;
use super::trouble::Trouble;
use super::words::{kept, search};
use crate::domain::{MemoryId, MemoryQuery, Timestamp};
use crate::memory::answers::{Answers, Best, Selection};
use crate::memory::search::{Ask, Common};
use crate::memory::{Hit, Lesson, Method, Tenancy, Which};
use crate::recall::{Ranking, Vocabulary};

/// So many lessons are looked at for the sake of their words. In a bank where the words of a question stand in more of
/// them, its rarest bring lessons up and the others only count: what shares nothing but common words with a question is
/// no answer to it anyway.
const MOST_CANDIDATES: u64 = 10_000;

/// How many answers are wanted of which question.
pub(super) struct Wanted<'q> {
    pub(super) query: &'q MemoryQuery,
    pub(super) ask: fn(&MemoryQuery, Tenancy) -> Ask,
    pub(super) ranking: &'q Ranking,
    pub(super) limit: usize,
    pub(super) at: Timestamp,
}

impl PostgresMemory {
    /// Each bank's best answers.
    pub(super) async fn best(&self, role: Role, wanted: &Wanted<'_>) -> Result<Vec<Best>, Trouble> {
        let client = self.server.reading(role).await?;
        let mut found = Vec::new();
        for (key, tenancy) in self.keys() {
            if let Some(bank) = self.server.bank(&client, key).await? {
                let ask = (wanted.ask)(wanted.query, tenancy);
                found.push(answer(&client, bank, &ask, wanted).await?);
            }
        }
        Ok(found)
    }
}

/// A lesson that came near, and what it has in common with the question.
struct Candidate {
    near: Near,
    common: Common,
    counts: Vec<u32>,
}

async fn answer(client: &Object, bank: i64, ask: &Ask, wanted: &Wanted<'_>) -> Result<Best, Trouble> {
    let vocabulary = vocabulary(client, bank, ask).await?;
    let candidates = candidates(client, bank, ask, &vocabulary).await?;
    let Selection { best, met } = select(&candidates, &vocabulary, ask, wanted);
    let ids: Vec<&str> =
        best.iter().filter_map(|(place, _)| candidates.get(*place)).map(|one| one.near.id.as_str()).collect();
    let mut lessons = lessons(client, bank, &ids).await?;
    let hits = best.into_iter().filter_map(|(place, score)| {
        let id = &candidates.get(place)?.near.id;
        let lesson = lessons.remove(id).filter(|lesson| ask.which.includes(lesson.memory.standing()))?;
        Some(Hit { lesson, score })
    });
    Ok(Best { hits: hits.collect(), met, method: Method::Index })
}

/// The best of what came near, by their places.
fn select(candidates: &[Candidate], vocabulary: &Vocabulary, ask: &Ask, wanted: &Wanted<'_>) -> Selection<usize> {
    let worth = |place: usize| candidates.get(place).map(|candidate| candidate.near.worth);
    let mut answers = Answers::new(ask, vocabulary, wanted.ranking, wanted.limit, wanted.at, &worth);
    for (place, candidate) in candidates.iter().enumerate() {
        answers.offer(place, &candidate.near.card, &candidate.common, &candidate.counts);
    }
    answers.finish()
}

/// What the bank knows about the words of the question.
async fn vocabulary(client: &Object, bank: i64, ask_: &Ask) -> Result<Vocabulary, Trouble> {
    let of_given = ask_.which == Which::Given;
    let words: Vec<String> = ask_.question.terms().iter().map(|term| kept(term)).collect();
    let select = "SELECT given_lessons, given_length, all_lessons, all_length FROM archivist.banks WHERE bank = $1";
    let bank_alone: [&(dyn ToSql + Sync); 1] = [&bank];
    let sizes = ask(client, select, &bank_alone);
    let select = "SELECT word, given, total FROM archivist.vocabulary WHERE bank = $1 AND word = ANY($2)";
    let values: [&(dyn ToSql + Sync); 2] = [&bank, &words];
    let (sizes, holders) = try_join(sizes, ask(client, select, &values)).await?;
    let number = |row: &Row, column: &str| -> Result<u64, Trouble> {
        Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or_default())
    };
    let mut vocabulary = Vocabulary::empty(&ask_.question);
    if let Some(row) = sizes.first() {
        let (lessons, length) =
            if of_given { ("given_lessons", "given_length") } else { ("all_lessons", "all_length") };
        (vocabulary.documents, vocabulary.length) = (number(row, lessons)?, number(row, length)?);
    }
    let mut known: HashMap<String, u64> = HashMap::new();
    for row in &holders {
        known.insert(row.try_get("word")?, number(row, if of_given { "given" } else { "total" })?);
    }
    for (holders, word) in vocabulary.holders.iter_mut().zip(&words) {
        *holders = known.get(word).copied().unwrap_or_default();
    }
    Ok(vocabulary)
}

/// The lessons that hold a word of the question or share its topic; all of them if it has none.
async fn candidates(
    client: &Object,
    bank: i64,
    ask_: &Ask,
    vocabulary: &Vocabulary,
) -> Result<Vec<Candidate>, Trouble> {
    let places: HashMap<String, usize> =
        ask_.question.terms().iter().enumerate().map(|(place, term)| (kept(term), place)).collect();
    let highest: i16 = if ask_.which == Which::Given { 0 } else { i16::MAX };
    let rows = if !ask_.has_topic() {
        let select =
            format!("SELECT {NEAR}, ''::tsvector AS words FROM archivist.lessons WHERE bank = $1 AND standing <= $2");
        ask(client, &select, &[&bank, &highest]).await?
    } else {
        let topics = ask_.traits.iter().filter(|(_, what)| what.is_topic()).map(|(term, _)| term.as_str());
        let terms = bringing(ask_, vocabulary);
        let mut rows = Vec::new();
        if let Some(search) = search(bank, terms.iter().copied(), topics) {
            // The words carry the number of the bank: no other condition is needed, and none may tempt the server away
            // from the index.
            let select = format!(
                "SELECT {NEAR}, words FROM archivist.lessons WHERE words @@ $1::text::tsquery AND standing <= $2"
            );
            rows = ask(client, &select, &[&search, &highest]).await?;
        }
        if !ask_.close.is_empty() {
            let close: Vec<&str> = ask_.close.iter().map(MemoryId::as_str).collect();
            let select = format!(
                "SELECT {NEAR}, words FROM archivist.lessons WHERE bank = $1 AND id = ANY($2) AND standing <= $3"
            );
            rows.extend(ask(client, &select, &[&bank, &close, &highest]).await?);
        }
        rows
    };
    let mut met: HashSet<MemoryId> = HashSet::new();
    let mut candidates = Vec::new();
    for row in &rows {
        let near = Near::of(row)?;
        if !met.insert(near.id.clone()) {
            continue;
        }
        let mut counts = vec![0; ask_.question.terms().len()];
        for (word, count) in rows::words(row)?.counts(bank) {
            if let Some(of) = places.get(word).and_then(|place| counts.get_mut(*place)) {
                *of = count;
            }
        }
        let traits: Vec<&str> = row.try_get("traits")?;
        let common = ask_.common_among(traits.into_iter());
        candidates.push(Candidate { near, common, counts });
    }
    Ok(candidates)
}

/// The words that lessons are looked for by: those that bring one up by themselves, the rarest first, for as many lessons
/// as are looked at.
fn bringing<'a>(ask: &'a Ask, vocabulary: &Vocabulary) -> Vec<&'a str> {
    let measure = vocabulary.measure(&ask.question);
    let terms = ask.question.terms().iter().zip(&vocabulary.holders).enumerate();
    let mut held: Vec<(u64, &str)> = terms
        .filter(|(place, (_, holders))| **holders > 0 && measure.brings(*place))
        .map(|(_, (term, holders))| (*holders, term.as_str()))
        .collect();
    held.sort_unstable();
    let mut seen = 0_u64;
    let is_within = |(at, (holders, _)): &(usize, (u64, &str))| {
        seen = seen.saturating_add(*holders);
        *at == 0 || seen <= MOST_CANDIDATES
    };
    held.into_iter().enumerate().take_while(is_within).map(|(_, (_, term))| term).collect()
}

/// These lessons as they stand now.
pub(super) async fn lessons(client: &Object, bank: i64, ids: &[&str]) -> Result<HashMap<MemoryId, Lesson>, Trouble> {
    let mut lessons = HashMap::new();
    if !ids.is_empty() {
        let select = format!("{LESSON} WHERE l.bank = $1 AND l.id = ANY($2)");
        for row in ask(client, &select, &[&bank, &ids]).await? {
            let lesson = rows::lesson(&row)?;
            lessons.insert(lesson.memory.id.clone(), lesson);
        }
    }
    Ok(lessons)
}
