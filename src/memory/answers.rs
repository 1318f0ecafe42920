//! The best answers to a question, while lessons pass by.

use super::search::{Ask, Card, Common, Met, Seen, Worth};
use super::{Answer, Hit, Method, Neighbour};
use crate::domain::{MemoryQuery, Timestamp};
use crate::recall::{self, Ageing, Measure, Ranking, Score, Vocabulary};

/// How many times more than needed are kept before the rest is let go.
const SLACK: usize = 4;

/// One bank's answers.
#[derive(Debug)]
pub(super) struct Best {
    /// Best first.
    pub(super) hits: Vec<Hit>,
    /// How many lessons met the question.
    pub(super) met: usize,
    pub(super) method: Method,
}

/// The answers of several banks as one.
pub(super) fn joined(found: Vec<Best>, query: &MemoryQuery, ranking: &Ranking, limit: usize) -> Answer {
    let method = found.iter().map(|found| found.method).max().unwrap_or(Method::FullRead);
    let met: usize = found.iter().map(|found| found.met).sum();
    let mut hits: Vec<Hit> = found.into_iter().flat_map(|found| found.hits).collect();
    // Within a bank the order is settled; a stable sort keeps it where two banks' scores are equal.
    hits.sort_by(|a, b| b.score.score.total_cmp(&a.score.score));
    if query.has_topic() {
        recall::arrange(&mut hits, ranking, |hit| hit.score);
    }
    hits.truncate(limit);
    Answer { dropped: met.saturating_sub(hits.len()), hits, method }
}

/// The same for neighbours.
pub(super) fn nearest(found: Vec<Best>, limit: usize) -> Vec<Neighbour> {
    let hits = found.into_iter().flat_map(|found| found.hits);
    let mut near: Vec<Neighbour> =
        hits.map(|hit| Neighbour { lesson: hit.lesson, similarity: hit.score.relevance }).collect();
    near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    near.truncate(limit);
    near
}

/// The same, before the lessons are fetched.
#[derive(Debug, Clone)]
pub(super) struct Selection<S> {
    /// Best first.
    pub(super) best: Vec<(S, Score)>,
    /// How many lessons met the question.
    pub(super) met: usize,
    /// Whoever is not as close as this had no chance; `None` while there are places left.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "files look at everything that comes near"))]
    pub(super) bar: Option<f64>,
}

/// Takes lessons in any order and keeps the best.
///
/// With a topic the most relevant go through the gate, and the score orders those. Without one there is no relevance
/// to gate by, and the score orders everything. `S` says where to find a lesson once it has proved to be an answer.
pub(super) struct Answers<'a, S> {
    ask: &'a Ask,
    measure: Measure,
    ranking: &'a Ranking,
    limit: usize,
    at: Timestamp,
    worth: &'a dyn Fn(S) -> Option<Worth>,
    kept: Vec<Kept<S>>,
    /// Whoever is below this has no place any more.
    bar: f64,
    met: usize,
}

#[derive(Debug, Clone, Copy)]
struct Kept<S> {
    spot: S,
    ageing: Ageing,
    relevance: f64,
    /// What it competes with: closeness at the gate, the score without one.
    value: f64,
}

impl<'a, S: Copy> Answers<'a, S> {
    pub(super) fn new(
        ask: &'a Ask,
        vocabulary: &Vocabulary,
        ranking: &'a Ranking,
        limit: usize,
        at: Timestamp,
        worth: &'a dyn Fn(S) -> Option<Worth>,
    ) -> Self {
        let measure = vocabulary.measure(&ask.question);
        Self { ask, measure, ranking, limit, at, worth, kept: Vec::new(), bar: f64::NEG_INFINITY, met: 0 }
    }

    /// Whether a term of the question brings a lesson up by itself.
    pub(super) fn brings(&self, term: usize) -> bool {
        self.measure.brings(term)
    }

    /// Whether a lesson with so much in common is found by its words or its topic.
    pub(super) fn is_brought_up(&self, counts: &[u32], common: &Common) -> bool {
        common.has_topic() || counts.iter().enumerate().any(|(term, count)| *count > 0 && self.brings(term))
    }

    /// Looks at one lesson.
    pub(super) fn offer(&mut self, spot: S, card: &Card, common: &Common, counts: &[u32]) {
        let lot = || (self.worth)(spot).map_or(0, |worth| worth.lot);
        let seen = Seen { card, common, counts, lot: &lot };
        let Some(Met { relevance, closeness }) = self.ask.meets(&self.measure, &seen, self.ranking.floor) else {
            return;
        };
        self.met += 1;
        let ageing = card.ageing;
        let value = if self.ask.has_topic() {
            closeness
        } else {
            (self.worth)(spot).map_or(f64::NEG_INFINITY, |worth| self.score(ageing, relevance, &worth).score)
        };
        if value >= self.bar {
            self.kept.push(Kept { spot, ageing, relevance, value });
            if self.kept.len() >= self.places() * SLACK {
                self.let_go();
            }
        }
    }

    /// The best of what passed by.
    pub(super) fn finish(mut self) -> Selection<S> {
        self.let_go();
        let scored = self.kept.iter().filter_map(|kept| {
            let worth = (self.worth)(kept.spot)?;
            let score = self.score(kept.ageing, kept.relevance, &worth);
            let closeness = if self.ask.has_topic() { kept.value } else { score.closeness };
            Some((kept.spot, Score { closeness, ..score }, worth))
        });
        let mut best: Vec<_> = scored.collect();
        best.sort_unstable_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.2.tie(&b.2)));
        if self.ask.has_topic() {
            recall::arrange(&mut best, self.ranking, |(_, score, _)| *score);
        }
        best.truncate(self.limit);
        let bar = (self.bar > f64::NEG_INFINITY).then_some(self.bar);
        Selection { best: best.into_iter().map(|(spot, score, _)| (spot, score)).collect(), met: self.met, bar }
    }

    /// Keeps as many as there are places.
    fn let_go(&mut self) {
        let worth = |kept: &Kept<S>| (self.worth)(kept.spot);
        let tie =
            |a: &Kept<S>, b: &Kept<S>| worth(a).zip(worth(b)).map_or(std::cmp::Ordering::Equal, |(a, b)| a.tie(&b));
        self.kept.sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then_with(|| tie(a, b)));
        let places = self.places();
        self.kept.truncate(places);
        if let Some(last) = self.kept.last().filter(|_| self.kept.len() == places) {
            self.bar = last.value;
        }
    }

    fn places(&self) -> usize {
        if self.ask.has_topic() { self.ranking.gate.max(self.limit).max(1) } else { self.limit.max(1) }
    }

    fn score(&self, ageing: Ageing, relevance: f64, worth: &Worth) -> Score {
        let age = self.at.timestamp_millis().saturating_sub(worth.last_sign);
        let recency = recall::recency(age, self.ranking.half_lives.of(ageing));
        recall::score(&self.ranking.weights, worth.importance, recency, relevance)
    }
}
