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
use super::words::{kept, search_term, search_topic};
use crate::domain::{MemoryId, MemoryQuery, Timestamp};
use crate::memory::answers::{Answers, Best, Selection};
use crate::memory::search::{Ask, Common};
use crate::memory::{Hit, Lesson, Method, Tenancy, Which};
use crate::recall::{Ranking, Vocabulary};

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;

/// Words are looked up in pairs where there are no more of them than this; there are half as many pairs as its square.
const MOST_PAIRED: usize = 64;

/// So many words of lessons are looked up one by one for the sake of one question. Where its words stand in more, its
/// rarest bring lessons up and the others only count: what shares nothing but common words with a question is no answer.
const MOST_LOOKED_UP: u64 = 50_000;

/// Neighbours are first looked for among those that can share so much. That there are enough of them is hoped, not known.
const HOPED: f64 = 0.3;

/// So many lessons are weighed at once where nobody knows how many are close enough.
const AT_ONCE: usize = 200;

/// Where the words of a question stand in no more lessons than this, all of them are weighed: looking for the right ones
/// would be another question to the server.
const FEW: u64 = 400;

/// What is not known for certain below this difference is looked at.
const TOLERANCE: f64 = 1e-9;

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

/// A lesson that was found, and how close it can be at most, in the measure of what was looked for.
struct Sighted {
    id: String,
    most: f64,
}

/// What a lesson must come to by its words, or it is not looked for.
#[derive(Clone, Copy)]
enum Bound {
    /// This relevance.
    Relevance(f64),
    /// This share of what the words of the question are worth.
    Share(f64),
}

async fn answer(client: &Object, bank: i64, ask: &Ask, wanted: &Wanted<'_>) -> Result<Best, Trouble> {
    let vocabulary = vocabulary(client, bank, ask).await?;
    let (candidates, Selection { best, met, .. }) = weighed(client, bank, ask, &vocabulary, wanted).await?;
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

/// The lessons that come near, and the best of them.
async fn weighed(
    client: &Object,
    bank: i64,
    ask: &Ask,
    vocabulary: &Vocabulary,
    wanted: &Wanted<'_>,
) -> Result<(Vec<Candidate>, Selection<usize>), Trouble> {
    if !ask.has_topic() {
        let candidates = everything(client, bank, ask).await?;
        let selection = select(&candidates, vocabulary, ask, wanted);
        return Ok((candidates, selection));
    }
    let floor = wanted.ranking.floor;
    if let Some(search) = search_for_few(bank, ask, vocabulary) {
        let candidates = holding(client, bank, ask, &search).await?;
        let selection = select(&candidates, vocabulary, ask, wanted);
        return Ok((candidates, selection));
    }
    let bound = if floor > 0.0 { Bound::Relevance(floor) } else { Bound::Share(HOPED) };
    let found = sighted(client, bank, ask, vocabulary, bound).await?;
    let ids: Vec<&str> = found.iter().map(|sighted| sighted.id.as_str()).collect();
    let candidates = nearby(client, bank, ask, &ids).await?;
    let selection = select(&candidates, vocabulary, ask, wanted);
    let most_left = HOPED + ask.most_nearness() + TOLERANCE;
    if floor > 0.0 || selection.bar.is_some_and(|bar| bar > most_left) {
        return Ok((candidates, selection));
    }
    closest(client, bank, ask, vocabulary, wanted).await
}

/// Weighs lessons in the order of how close they can be, until none that is left can be closer than those that are.
async fn closest(
    client: &Object,
    bank: i64,
    ask: &Ask,
    vocabulary: &Vocabulary,
    wanted: &Wanted<'_>,
) -> Result<(Vec<Candidate>, Selection<usize>), Trouble> {
    let mut found = sighted(client, bank, ask, vocabulary, Bound::Share(f64::NEG_INFINITY)).await?;
    found.sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then_with(|| a.id.cmp(&b.id)));
    let mut candidates = Vec::new();
    let mut pieces = found.chunks(AT_ONCE).peekable();
    loop {
        let ids = pieces.next().unwrap_or_default().iter().map(|sighted| sighted.id.as_str());
        candidates.extend(nearby(client, bank, ask, &ids.collect::<Vec<_>>()).await?);
        let selection = select(&candidates, vocabulary, ask, wanted);
        let left = pieces.peek().and_then(|piece| piece.first());
        let most_left = left.map(|left| left.most + ask.most_nearness() + TOLERANCE);
        if most_left.is_none_or(|most| selection.bar.is_some_and(|bar| bar > most)) {
            return Ok((candidates, selection));
        }
    }
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

/// A search for every lesson that a word or the topic brings up, where they are few; no one knows how many share a topic or
/// come near in meaning.
fn search_for_few(bank: i64, ask: &Ask, vocabulary: &Vocabulary) -> Option<String> {
    let measure = vocabulary.measure(&ask.question);
    let terms = ask.question.terms().iter().zip(&vocabulary.holders).enumerate();
    let bringing = terms.filter(|(place, (_, holders))| **holders > 0 && measure.brings(*place));
    let (searches, holders): (Vec<String>, Vec<u64>) =
        bringing.map(|(_, (term, holders))| (search_term(bank, term), *holders)).unzip();
    let has_more = !ask.close.is_empty() || ask.traits.iter().any(|(_, what)| what.is_topic());
    let are_few = holders.iter().fold(0, |sum: u64, holders| sum.saturating_add(*holders)) <= FEW;
    (are_few && !has_more).then(|| searches.join(" | "))
}

/// What is looked up of a question, what each can bring at most, and how much must come together.
#[derive(Default)]
struct Search {
    searches: Vec<String>,
    gains: Vec<f64>,
    least: f64,
    /// What words that are not looked up can add.
    unseen: f64,
}

/// A word of the question that brings lessons up.
struct Word {
    holders: u64,
    search: String,
    gain: f64,
}

impl Search {
    /// Looks up the words that bring a lesson up by themselves. What must come by them is what is needed without all that
    /// the others can add. Where none of them brings so much alone they are looked up in pairs, which the server's index
    /// finds without looking at a lesson.
    fn of(bank: i64, ask: &Ask, vocabulary: &Vocabulary, bound: Bound) -> Self {
        let measure = vocabulary.measure(&ask.question);
        let (most, needed): (&dyn Fn(usize) -> f64, f64) = match bound {
            Bound::Relevance(floor) => (&|place| measure.most_gain(place), measure.needed(floor)),
            Bound::Share(share) => (&|place| measure.most_share(place), share),
        };
        let (mut words, mut others) = (Vec::new(), 0.0);
        for (place, (term, holders)) in ask.question.terms().iter().zip(&vocabulary.holders).enumerate() {
            match (holders, measure.brings(place)) {
                (0, _) => {}
                (_, false) => others += most(place),
                (_, true) => words.push(Word { holders: *holders, search: search_term(bank, term), gain: most(place) }),
            }
        }
        words.sort_unstable_by(|a, b| a.holders.cmp(&b.holders).then_with(|| a.search.cmp(&b.search)));
        let mut search = Self { least: needed - TOLERANCE - others, unseen: others, ..Self::default() };
        if words.len() <= MOST_PAIRED && search.least > 0.0 {
            search.add_pairs(&words);
        } else {
            search.add_rarest(words);
        }
        // What shares a tag or the failure is an answer whatever its words are.
        for (topic, _) in ask.traits.iter().filter(|(_, what)| what.is_topic()) {
            search.add(search_topic(bank, topic), f64::INFINITY);
        }
        search
    }

    /// The rarest words, until lessons that hold none but the words that are left cannot come to what is needed.
    fn add_rarest(&mut self, words: Vec<Word>) {
        let (mut left, mut looked_up) = (words.iter().map(|word| word.gain).sum::<f64>(), 0_u64);
        for word in words {
            looked_up = looked_up.saturating_add(word.holders);
            if left < self.least || (looked_up > MOST_LOOKED_UP && !self.searches.is_empty()) {
                break;
            }
            left -= word.gain;
            self.add(word.search, word.gain);
        }
        self.least -= left;
        self.unseen += left;
    }

    /// Words that bring enough alone, and each of the others together with one that is less rare.
    fn add_pairs(&mut self, words: &[Word]) {
        let (strong, weak): (Vec<&Word>, Vec<&Word>) = words.iter().partition(|word| word.gain >= self.least);
        for word in strong {
            self.add(word.search.clone(), f64::INFINITY);
        }
        let mut rest = weak.as_slice();
        while let Some((word, others)) = rest.split_first() {
            let together = word.gain + others.iter().map(|other| other.gain).sum::<f64>();
            if others.is_empty() || together < self.least {
                break;
            }
            let others_said: Vec<&str> = others.iter().map(|other| other.search.as_str()).collect();
            self.add(format!("{} & ({})", word.search, others_said.join(" | ")), f64::INFINITY);
            rest = others;
        }
    }

    fn add(&mut self, search: String, gain: f64) {
        self.searches.push(search);
        self.gains.push(gain);
    }
}

/// The words carry the number of the bank: no other condition is needed, and none may tempt the server away from the index.
const SIGHTED: &str = "SELECT l.id, sum(q.gain) FROM unnest($1::text[], $2::float8[]) AS q(search, gain) \
     JOIN archivist.lessons l ON l.words @@ q.search::tsquery \
     WHERE l.standing <= $3 GROUP BY l.id HAVING sum(q.gain) >= $4";

/// The lessons whose words can make them an answer, and those that share the question's topic or come near in meaning.
async fn sighted(
    client: &Object,
    bank: i64,
    ask_: &Ask,
    vocabulary: &Vocabulary,
    bound: Bound,
) -> Result<Vec<Sighted>, Trouble> {
    let Search { searches, gains, least, unseen } = Search::of(bank, ask_, vocabulary, bound);
    let close = ask_.close.iter().map(|id| Sighted { id: id.as_str().to_owned(), most: f64::INFINITY });
    let mut sighted: Vec<Sighted> = close.collect();
    let met: HashSet<&str> = ask_.close.iter().map(MemoryId::as_str).collect();
    if !searches.is_empty() {
        for row in ask(client, SIGHTED, &[&searches, &gains, &highest(ask_), &least]).await? {
            let id: &str = row.try_get(0)?;
            if !met.contains(id) {
                let seen: f64 = row.try_get(1)?;
                sighted.push(Sighted { id: id.to_owned(), most: seen + unseen });
            }
        }
    }
    Ok(sighted)
}

/// How low a lesson may stand.
fn highest(ask: &Ask) -> i16 {
    if ask.which == Which::Given { 0 } else { i16::MAX }
}

/// What lessons that answer a search have in common with the question.
async fn holding(client: &Object, bank: i64, ask_: &Ask, search: &str) -> Result<Vec<Candidate>, Trouble> {
    if search.is_empty() {
        return Ok(Vec::new());
    }
    let select =
        format!("SELECT {NEAR}, words FROM archivist.lessons WHERE words @@ $1::text::tsquery AND standing <= $2");
    counted(&ask(client, &select, &[&search, &highest(ask_)]).await?, bank, ask_)
}

/// The same for these lessons.
async fn nearby(client: &Object, bank: i64, ask_: &Ask, ids: &[&str]) -> Result<Vec<Candidate>, Trouble> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let select =
        format!("SELECT {NEAR}, words FROM archivist.lessons WHERE bank = $1 AND id = ANY($2) AND standing <= $3");
    counted(&ask(client, &select, &[&bank, &ids, &highest(ask_)]).await?, bank, ask_)
}

/// How often the words of the question stand in lessons.
fn counted(rows: &[Row], bank: i64, ask: &Ask) -> Result<Vec<Candidate>, Trouble> {
    let terms = ask.question.terms();
    let places: HashMap<String, usize> = terms.iter().enumerate().map(|(place, term)| (kept(term), place)).collect();
    let counted = |row: &Row| {
        let mut counts = vec![0; terms.len()];
        for (word, count) in rows::words(row)?.counts(bank) {
            if let Some(of) = places.get(word).and_then(|place| counts.get_mut(*place)) {
                *of = count;
            }
        }
        candidate(row, ask, counts)
    };
    rows.iter().map(counted).collect()
}

/// All lessons of a bank: a question without a topic is met by each.
async fn everything(client: &Object, bank: i64, ask_: &Ask) -> Result<Vec<Candidate>, Trouble> {
    let select = format!("SELECT {NEAR} FROM archivist.lessons WHERE bank = $1 AND standing <= $2");
    let rows = ask(client, &select, &[&bank, &highest(ask_)]).await?;
    rows.iter().map(|row| candidate(row, ask_, vec![0; ask_.question.terms().len()])).collect()
}

fn candidate(row: &Row, ask: &Ask, counts: Vec<u32>) -> Result<Candidate, Trouble> {
    let traits: Vec<&str> = row.try_get("traits")?;
    Ok(Candidate { near: Near::of(row)?, common: ask.common_among(traits.into_iter()), counts })
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
