//! Answers questions: the server finds candidate lessons, and they are ranked here as in every store.

use std::collections::{HashMap, HashSet};

use deadpool_postgres::Object;
use futures_util::future::try_join;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresMemory;
use super::database_error::PostgresFailure;
use super::lexemes::{render_term_query, render_topic_query, to_stored_term};
use super::row_parser::{self, LESSON, NEAR, NearbyLesson, query_cached};
use super::server::ServerRole;
use crate::domain::{MemoryId, MemoryQuery, Timestamp};
use crate::memory::answer_collector::{AnswerCollector, BankAnswer, SelectedLessons};
use crate::memory::lesson_matching::{PreparedQuery, SharedTraits};
use crate::memory::{BankTenancy, Lesson, LessonHit, LessonStateFilter, SearchMethod};
use crate::recall::{RankingSettings, TermStatistics};

#[cfg(test)]
#[path = "lesson_query_tests.rs"]
mod tests;

/// The most words that are looked up in pairs; the number of pairs is about half its square.
const MOST_PAIRED: usize = 64;

/// The most matches of words that are looked up one by one for one question. If its words have more, only the rarest
/// retrieve lessons and the others only count: a lesson that shares nothing but common words is no answer.
const MOST_LOOKED_UP: u64 = 50_000;

/// The share of the question's words that neighbours must be able to reach in the first search.
const HOPED: f64 = 0.3;

/// The number of lessons that are ranked at once when it is unknown how many are close enough.
const AT_ONCE: usize = 200;

/// The number of matches up to which all are ranked, because a search for the right ones would cost another query.
const FEW: u64 = 400;

/// The tolerance for rounding when bounds are compared.
const TOLERANCE: f64 = 1e-9;

/// A question to the banks, with the number of answers wanted.
pub(super) struct BankQuery<'q> {
    pub(super) query: &'q MemoryQuery,
    pub(super) ask: fn(&MemoryQuery, BankTenancy) -> PreparedQuery,
    pub(super) ranking: &'q RankingSettings,
    pub(super) limit: usize,
    pub(super) at: Timestamp,
}

impl PostgresMemory {
    /// Returns each bank's best answers.
    pub(super) async fn find_best(
        &self,
        role: ServerRole,
        wanted: &BankQuery<'_>,
    ) -> Result<Vec<BankAnswer>, PostgresFailure> {
        let client = self.server.read_connection(role).await?;
        let mut found = Vec::new();
        for (key, tenancy) in self.bank_keys() {
            if let Some(bank) = self.server.find_bank(&client, key).await? {
                let ask = (wanted.ask)(wanted.query, tenancy);
                found.push(answer_query(&client, bank, &ask, wanted).await?);
            }
        }
        Ok(found)
    }
}

/// A lesson that was found, and what it has in common with the question.
struct SearchCandidate {
    near: NearbyLesson,
    common: SharedTraits,
    counts: Vec<u32>,
}

/// A lesson that was found, and an upper bound of its closeness in the measure of the search.
struct BoundedLesson {
    id: String,
    most: f64,
}

/// The least value a lesson must be able to reach by its words to be found.
#[derive(Clone, Copy)]
enum SearchBound {
    /// A lower bound of the relevance.
    Relevance(f64),
    /// A lower bound of the share of the question's words.
    Share(f64),
}

async fn answer_query(
    client: &Object,
    bank: i64,
    ask: &PreparedQuery,
    wanted: &BankQuery<'_>,
) -> Result<BankAnswer, PostgresFailure> {
    let vocabulary = read_vocabulary(client, bank, ask).await?;
    let (candidates, SelectedLessons { best, met, .. }) = find_and_rank(client, bank, ask, &vocabulary, wanted).await?;
    let ids: Vec<&str> =
        best.iter().filter_map(|(place, _)| candidates.get(*place)).map(|one| one.near.id.as_str()).collect();
    let mut lessons = read_lessons(client, bank, &ids).await?;
    let hits = best.into_iter().filter_map(|(place, score)| {
        let id = &candidates.get(place)?.near.id;
        let lesson = lessons.remove(id).filter(|lesson| ask.which.includes_state(lesson.memory.availability()))?;
        Some(LessonHit { lesson, score })
    });
    Ok(BankAnswer { hits: hits.collect(), met, method: SearchMethod::Index })
}

/// Finds the candidates and selects the best of them.
async fn find_and_rank(
    client: &Object,
    bank: i64,
    ask: &PreparedQuery,
    vocabulary: &TermStatistics,
    wanted: &BankQuery<'_>,
) -> Result<(Vec<SearchCandidate>, SelectedLessons<usize>), PostgresFailure> {
    if !ask.has_topic() {
        let candidates = all_candidates(client, bank, ask).await?;
        let selection = select_best(&candidates, vocabulary, ask, wanted);
        return Ok((candidates, selection));
    }
    let floor = wanted.ranking.floor;
    if let Some(search) = search_for_few(bank, ask, vocabulary) {
        let candidates = candidates_by_search(client, bank, ask, &search).await?;
        let selection = select_best(&candidates, vocabulary, ask, wanted);
        return Ok((candidates, selection));
    }
    let bound = if floor > 0.0 { SearchBound::Relevance(floor) } else { SearchBound::Share(HOPED) };
    let found = find_by_words(client, bank, ask, vocabulary, bound).await?;
    let ids: Vec<&str> = found.iter().map(|sighted| sighted.id.as_str()).collect();
    let candidates = candidates_by_id(client, bank, ask, &ids).await?;
    let selection = select_best(&candidates, vocabulary, ask, wanted);
    let most_left = HOPED + ask.max_nearness() + TOLERANCE;
    if floor > 0.0 || selection.bar.is_some_and(|bar| bar > most_left) {
        return Ok((candidates, selection));
    }
    rank_by_closeness(client, bank, ask, vocabulary, wanted).await
}

/// Ranks lessons in the order of their upper bounds, until no remaining lesson can be closer than the selected ones.
async fn rank_by_closeness(
    client: &Object,
    bank: i64,
    ask: &PreparedQuery,
    vocabulary: &TermStatistics,
    wanted: &BankQuery<'_>,
) -> Result<(Vec<SearchCandidate>, SelectedLessons<usize>), PostgresFailure> {
    let mut found = find_by_words(client, bank, ask, vocabulary, SearchBound::Share(f64::NEG_INFINITY)).await?;
    found.sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then_with(|| a.id.cmp(&b.id)));
    let mut candidates = Vec::new();
    let mut pieces = found.chunks(AT_ONCE).peekable();
    loop {
        let ids = pieces.next().unwrap_or_default().iter().map(|sighted| sighted.id.as_str());
        candidates.extend(candidates_by_id(client, bank, ask, &ids.collect::<Vec<_>>()).await?);
        let selection = select_best(&candidates, vocabulary, ask, wanted);
        let left = pieces.peek().and_then(|piece| piece.first());
        let most_left = left.map(|left| left.most + ask.max_nearness() + TOLERANCE);
        if most_left.is_none_or(|most| selection.bar.is_some_and(|bar| bar > most)) {
            return Ok((candidates, selection));
        }
    }
}

/// Selects the best candidates, by their positions.
fn select_best(
    candidates: &[SearchCandidate],
    vocabulary: &TermStatistics,
    ask: &PreparedQuery,
    wanted: &BankQuery<'_>,
) -> SelectedLessons<usize> {
    let worth = |place: usize| candidates.get(place).map(|candidate| candidate.near.worth);
    let mut answers = AnswerCollector::new(ask, vocabulary, wanted.ranking, wanted.limit, wanted.at, &worth);
    for (place, candidate) in candidates.iter().enumerate() {
        answers.offer_lesson(place, &candidate.near.card, &candidate.common, &candidate.counts);
    }
    answers.into_selection()
}

/// Reads how many lessons of the bank hold each word of the question.
async fn read_vocabulary(client: &Object, bank: i64, ask_: &PreparedQuery) -> Result<TermStatistics, PostgresFailure> {
    let of_given = ask_.which == LessonStateFilter::Given;
    let words: Vec<String> = ask_.question.terms().iter().map(|term| to_stored_term(term)).collect();
    let select = "SELECT given_lessons, given_length, all_lessons, all_length FROM archivist.banks WHERE bank = $1";
    let bank_alone: [&(dyn ToSql + Sync); 1] = [&bank];
    let sizes = query_cached(client, select, &bank_alone);
    let select = "SELECT word, given, total FROM archivist.vocabulary WHERE bank = $1 AND word = ANY($2)";
    let values: [&(dyn ToSql + Sync); 2] = [&bank, &words];
    let (sizes, holders) = try_join(sizes, query_cached(client, select, &values)).await?;
    let number = |row: &Row, column: &str| -> Result<u64, PostgresFailure> {
        Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or_default())
    };
    let mut vocabulary = TermStatistics::empty(&ask_.question);
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

/// Returns a search for every lesson that a word retrieves, if they are few and nothing else retrieves lessons; it is
/// unknown how many share a topic or are close in meaning.
fn search_for_few(bank: i64, ask: &PreparedQuery, vocabulary: &TermStatistics) -> Option<String> {
    let measure = vocabulary.build_measure(&ask.question);
    let terms = ask.question.terms().iter().zip(&vocabulary.holders).enumerate();
    let bringing = terms.filter(|(place, (_, holders))| **holders > 0 && measure.is_retrieving_term(*place));
    let (searches, holders): (Vec<String>, Vec<u64>) =
        bringing.map(|(_, (term, holders))| (render_term_query(bank, term), *holders)).unzip();
    let has_more = !ask.close.is_empty() || ask.traits.iter().any(|(_, what)| what.is_topic());
    let are_few = holders.iter().fold(0, |sum: u64, holders| sum.saturating_add(*holders)) <= FEW;
    (are_few && !has_more).then(|| searches.join(" | "))
}

/// The searches of a question, the most that each can add, and the sum that a lesson must reach.
#[derive(Default)]
struct WordSearch {
    searches: Vec<String>,
    gains: Vec<f64>,
    least: f64,
    /// The most that words outside of the searches can add.
    unseen: f64,
}

/// A word of the question that retrieves lessons.
struct SearchWord {
    holders: u64,
    search: String,
    gain: f64,
}

impl WordSearch {
    /// Builds the searches for the words that retrieve lessons by themselves. Together they must add what is needed
    /// less all that the other words can add. If every lesson needs several words, they are looked up in pairs, which
    /// the server's index finds without reading a lesson.
    fn for_query(bank: i64, ask: &PreparedQuery, vocabulary: &TermStatistics, bound: SearchBound) -> Self {
        let measure = vocabulary.build_measure(&ask.question);
        let (most, needed): (&dyn Fn(usize) -> f64, f64) = match bound {
            SearchBound::Relevance(floor) => (&|place| measure.max_gain(place), measure.needed_gain(floor)),
            SearchBound::Share(share) => (&|place| measure.max_share(place), share),
        };
        let (mut words, mut others) = (Vec::new(), 0.0);
        for (place, (term, holders)) in ask.question.terms().iter().zip(&vocabulary.holders).enumerate() {
            match (holders, measure.is_retrieving_term(place)) {
                (0, _) => {}
                (_, false) => others += most(place),
                (_, true) => words.push(SearchWord {
                    holders: *holders,
                    search: render_term_query(bank, term),
                    gain: most(place),
                }),
            }
        }
        words.sort_unstable_by(|a, b| a.holders.cmp(&b.holders).then_with(|| a.search.cmp(&b.search)));
        let mut search = Self { least: needed - TOLERANCE - others, unseen: others, ..Self::default() };
        if words.len() <= MOST_PAIRED && search.least > 0.0 {
            search.add_word_pairs(&words);
        } else {
            search.add_rarest_words(words);
        }
        // A lesson that shares a tag or the error family is an answer whatever its words are.
        for (topic, _) in ask.traits.iter().filter(|(_, what)| what.is_topic()) {
            search.add_search(render_topic_query(bank, topic), f64::INFINITY);
        }
        search
    }

    /// Adds the rarest words, until lessons that hold none of them cannot reach what is needed.
    fn add_rarest_words(&mut self, words: Vec<SearchWord>) {
        let (mut left, mut looked_up) = (words.iter().map(|word| word.gain).sum::<f64>(), 0_u64);
        for word in words {
            looked_up = looked_up.saturating_add(word.holders);
            if left < self.least || (looked_up > MOST_LOOKED_UP && !self.searches.is_empty()) {
                break;
            }
            left -= word.gain;
            self.add_search(word.search, word.gain);
        }
        self.least -= left;
        self.unseen += left;
    }

    /// Adds the words that suffice alone, and each of the others together with any less rare one.
    fn add_word_pairs(&mut self, words: &[SearchWord]) {
        let (strong, weak): (Vec<&SearchWord>, Vec<&SearchWord>) =
            words.iter().partition(|word| word.gain >= self.least);
        for word in strong {
            self.add_search(word.search.clone(), f64::INFINITY);
        }
        let mut rest = weak.as_slice();
        while let Some((word, others)) = rest.split_first() {
            let together = word.gain + others.iter().map(|other| other.gain).sum::<f64>();
            if others.is_empty() || together < self.least {
                break;
            }
            let others_said: Vec<&str> = others.iter().map(|other| other.search.as_str()).collect();
            self.add_search(format!("{} & ({})", word.search, others_said.join(" | ")), f64::INFINITY);
            rest = others;
        }
    }

    fn add_search(&mut self, search: String, gain: f64) {
        self.searches.push(search);
        self.gains.push(gain);
    }
}

/// The words contain the bank's number: another condition might keep the server from using the index.
const SIGHTED: &str = "SELECT l.id, sum(q.gain) FROM unnest($1::text[], $2::float8[]) AS q(search, gain) \
     JOIN archivist.lessons l ON l.words @@ q.search::tsquery \
     WHERE l.standing <= $3 GROUP BY l.id HAVING sum(q.gain) >= $4";

/// Finds the lessons that may be an answer by their words, and those of the same topic or close in meaning.
async fn find_by_words(
    client: &Object,
    bank: i64,
    ask_: &PreparedQuery,
    vocabulary: &TermStatistics,
    bound: SearchBound,
) -> Result<Vec<BoundedLesson>, PostgresFailure> {
    let WordSearch { searches, gains, least, unseen } = WordSearch::for_query(bank, ask_, vocabulary, bound);
    let close = ask_.close.iter().map(|id| BoundedLesson { id: id.as_str().to_owned(), most: f64::INFINITY });
    let mut sighted: Vec<BoundedLesson> = close.collect();
    let met: HashSet<&str> = ask_.close.iter().map(MemoryId::as_str).collect();
    if !searches.is_empty() {
        for row in query_cached(client, SIGHTED, &[&searches, &gains, &highest_state_number(ask_), &least]).await? {
            let id: &str = row.try_get(0)?;
            if !met.contains(id) {
                let seen: f64 = row.try_get(1)?;
                sighted.push(BoundedLesson { id: id.to_owned(), most: seen + unseen });
            }
        }
    }
    Ok(sighted)
}

/// Returns the highest state number of the lessons that may answer.
fn highest_state_number(ask: &PreparedQuery) -> i16 {
    if ask.which == LessonStateFilter::Given { 0 } else { i16::MAX }
}

/// Reads the candidates that match a search.
async fn candidates_by_search(
    client: &Object,
    bank: i64,
    ask_: &PreparedQuery,
    search: &str,
) -> Result<Vec<SearchCandidate>, PostgresFailure> {
    if search.is_empty() {
        return Ok(Vec::new());
    }
    let select =
        format!("SELECT {NEAR}, words FROM archivist.lessons WHERE words @@ $1::text::tsquery AND standing <= $2");
    count_question_words(&query_cached(client, &select, &[&search, &highest_state_number(ask_)]).await?, bank, ask_)
}

/// Reads the candidates with these ids.
async fn candidates_by_id(
    client: &Object,
    bank: i64,
    ask_: &PreparedQuery,
    ids: &[&str],
) -> Result<Vec<SearchCandidate>, PostgresFailure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let select =
        format!("SELECT {NEAR}, words FROM archivist.lessons WHERE bank = $1 AND id = ANY($2) AND standing <= $3");
    count_question_words(&query_cached(client, &select, &[&bank, &ids, &highest_state_number(ask_)]).await?, bank, ask_)
}

/// Counts the words of the question in each lesson.
fn count_question_words(rows: &[Row], bank: i64, ask: &PreparedQuery) -> Result<Vec<SearchCandidate>, PostgresFailure> {
    let terms = ask.question.terms();
    let places: HashMap<String, usize> =
        terms.iter().enumerate().map(|(place, term)| (to_stored_term(term), place)).collect();
    let counted = |row: &Row| {
        let mut counts = vec![0; terms.len()];
        for (word, count) in row_parser::word_vector(row)?.term_counts(bank) {
            if let Some(of) = places.get(word).and_then(|place| counts.get_mut(*place)) {
                *of = count;
            }
        }
        parse_candidate(row, ask, counts)
    };
    rows.iter().map(counted).collect()
}

/// Reads all lessons of a bank as candidates, because each matches a question without a topic.
async fn all_candidates(
    client: &Object,
    bank: i64,
    ask_: &PreparedQuery,
) -> Result<Vec<SearchCandidate>, PostgresFailure> {
    let select = format!("SELECT {NEAR} FROM archivist.lessons WHERE bank = $1 AND standing <= $2");
    let rows = query_cached(client, &select, &[&bank, &highest_state_number(ask_)]).await?;
    rows.iter().map(|row| parse_candidate(row, ask_, vec![0; ask_.question.terms().len()])).collect()
}

fn parse_candidate(row: &Row, ask: &PreparedQuery, counts: Vec<u32>) -> Result<SearchCandidate, PostgresFailure> {
    let traits: Vec<&str> = row.try_get("traits")?;
    Ok(SearchCandidate {
        near: NearbyLesson::from_row(row)?,
        common: ask.shared_traits_among(traits.into_iter()),
        counts,
    })
}

/// Reads the current version of these lessons.
pub(super) async fn read_lessons(
    client: &Object,
    bank: i64,
    ids: &[&str],
) -> Result<HashMap<MemoryId, Lesson>, PostgresFailure> {
    let mut lessons = HashMap::new();
    if !ids.is_empty() {
        let select = format!("{LESSON} WHERE l.bank = $1 AND l.id = ANY($2)");
        for row in query_cached(client, &select, &[&bank, &ids]).await? {
            let lesson = row_parser::parse_lesson(&row)?;
            lessons.insert(lesson.memory.id.clone(), lesson);
        }
    }
    Ok(lessons)
}
