//! Collects the best answers to a question from lessons that are offered one by one.

use super::lesson_matching::{LessonCard, LessonMatch, LessonWorth, MatchInput, PreparedQuery, SharedTraits};
use super::{LessonHit, LessonNeighbour, MemoryAnswer, SearchMethod};
use crate::domain::{MemoryQuery, Timestamp};
use crate::recall::{self, AgeingClass, RankingSettings, RecallScore, RelevanceMeasure, TermStatistics};

/// The multiple of the needed lessons that is collected before the surplus is dropped.
const SLACK: usize = 4;

/// The answers of one bank to a question.
#[derive(Debug)]
pub(super) struct BankAnswer {
    /// The lessons found, best first.
    pub(super) hits: Vec<LessonHit>,
    /// The number of lessons that matched the question.
    pub(super) met: usize,
    pub(super) method: SearchMethod,
}

/// Joins the answers of several banks into one.
pub(super) fn join_answers(
    found: Vec<BankAnswer>,
    query: &MemoryQuery,
    ranking: &RankingSettings,
    limit: usize,
) -> MemoryAnswer {
    let method = found.iter().map(|found| found.method).max().unwrap_or(SearchMethod::FullRead);
    let met: usize = found.iter().map(|found| found.met).sum();
    let mut hits: Vec<LessonHit> = found.into_iter().flat_map(|found| found.hits).collect();
    // Each bank's hits are ordered already; a stable sort keeps that order where scores are equal.
    hits.sort_by(|a, b| b.score.score.total_cmp(&a.score.score));
    if query.has_topic() {
        recall::arrange_answers(&mut hits, ranking, |hit| hit.score);
    }
    hits.truncate(limit);
    MemoryAnswer { dropped: met.saturating_sub(hits.len()), hits, method }
}

/// Joins the neighbours found in several banks into one list, the most similar first.
pub(super) fn join_neighbours(found: Vec<BankAnswer>, limit: usize) -> Vec<LessonNeighbour> {
    let hits = found.into_iter().flat_map(|found| found.hits);
    let mut near: Vec<LessonNeighbour> =
        hits.map(|hit| LessonNeighbour { lesson: hit.lesson, similarity: hit.score.relevance }).collect();
    near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    near.truncate(limit);
    near
}

/// The best lessons of a bank before their records are fetched.
#[derive(Debug, Clone)]
pub(super) struct SelectedLessons<S> {
    /// The selected lessons, best first.
    pub(super) best: Vec<(S, RecallScore)>,
    /// The number of lessons that matched the question.
    pub(super) met: usize,
    /// The value below which a lesson had no chance; `None` while there are places left.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "files look at everything that comes near"))]
    pub(super) bar: Option<f64>,
}

/// Accepts lessons in any order and keeps the best.
///
/// With a topic, the closest lessons pass the gate and the score orders them. Without a topic there is no relevance to
/// gate by, and the score orders everything. `S` locates a lesson once it has been selected.
pub(super) struct AnswerCollector<'a, S> {
    ask: &'a PreparedQuery,
    measure: RelevanceMeasure,
    ranking: &'a RankingSettings,
    limit: usize,
    at: Timestamp,
    worth: &'a dyn Fn(S) -> Option<LessonWorth>,
    kept: Vec<KeptCandidate<S>>,
    /// The value below which a lesson has no place any more.
    bar: f64,
    met: usize,
}

#[derive(Debug, Clone, Copy)]
struct KeptCandidate<S> {
    spot: S,
    ageing: AgeingClass,
    relevance: f64,
    /// The value it competes with: the closeness where there is a gate, else the score.
    value: f64,
}

impl<'a, S: Copy> AnswerCollector<'a, S> {
    pub(super) fn new(
        ask: &'a PreparedQuery,
        vocabulary: &TermStatistics,
        ranking: &'a RankingSettings,
        limit: usize,
        at: Timestamp,
        worth: &'a dyn Fn(S) -> Option<LessonWorth>,
    ) -> Self {
        let measure = vocabulary.build_measure(&ask.question);
        Self { ask, measure, ranking, limit, at, worth, kept: Vec::new(), bar: f64::NEG_INFINITY, met: 0 }
    }

    /// Returns true if a term of the question retrieves lessons by itself.
    pub(super) fn is_retrieval_term(&self, term: usize) -> bool {
        self.measure.is_retrieving_term(term)
    }

    /// Returns true if a lesson with these counts and traits is retrieved by its words or its topic.
    pub(super) fn is_retrieved(&self, counts: &[u32], common: &SharedTraits) -> bool {
        common.has_topic() || counts.iter().enumerate().any(|(term, count)| *count > 0 && self.is_retrieval_term(term))
    }

    /// Considers one lesson and keeps it if it is among the best so far.
    pub(super) fn offer_lesson(&mut self, spot: S, card: &LessonCard, common: &SharedTraits, counts: &[u32]) {
        let lot = || (self.worth)(spot).map_or(0, |worth| worth.lot);
        let seen = MatchInput { card, common, counts, lot: &lot };
        let Some(LessonMatch { relevance, closeness }) =
            self.ask.match_lesson(&self.measure, &seen, self.ranking.floor)
        else {
            return;
        };
        self.met += 1;
        let ageing = card.ageing;
        let value = if self.ask.has_topic() {
            closeness
        } else {
            (self.worth)(spot).map_or(f64::NEG_INFINITY, |worth| self.score_lesson(ageing, relevance, &worth).score)
        };
        if value >= self.bar {
            self.kept.push(KeptCandidate { spot, ageing, relevance, value });
            if self.kept.len() >= self.place_count() * SLACK {
                self.drop_surplus();
            }
        }
    }

    /// Returns the best of the offered lessons.
    pub(super) fn into_selection(mut self) -> SelectedLessons<S> {
        self.drop_surplus();
        let scored = self.kept.iter().filter_map(|kept| {
            let worth = (self.worth)(kept.spot)?;
            let score = self.score_lesson(kept.ageing, kept.relevance, &worth);
            let closeness = if self.ask.has_topic() { kept.value } else { score.closeness };
            Some((kept.spot, RecallScore { closeness, ..score }, worth))
        });
        let mut best: Vec<_> = scored.collect();
        best.sort_unstable_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.2.break_tie(&b.2)));
        if self.ask.has_topic() {
            recall::arrange_answers(&mut best, self.ranking, |(_, score, _)| *score);
        }
        best.truncate(self.limit);
        let bar = (self.bar > f64::NEG_INFINITY).then_some(self.bar);
        SelectedLessons { best: best.into_iter().map(|(spot, score, _)| (spot, score)).collect(), met: self.met, bar }
    }

    /// Keeps the best lessons, as many as there are places, and raises the bar.
    fn drop_surplus(&mut self) {
        let worth = |kept: &KeptCandidate<S>| (self.worth)(kept.spot);
        let tie = |a: &KeptCandidate<S>, b: &KeptCandidate<S>| {
            worth(a).zip(worth(b)).map_or(std::cmp::Ordering::Equal, |(a, b)| a.break_tie(&b))
        };
        self.kept.sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then_with(|| tie(a, b)));
        let places = self.place_count();
        self.kept.truncate(places);
        if let Some(last) = self.kept.last().filter(|_| self.kept.len() == places) {
            self.bar = last.value;
        }
    }

    fn place_count(&self) -> usize {
        if self.ask.has_topic() { self.ranking.gate.max(self.limit).max(1) } else { self.limit.max(1) }
    }

    fn score_lesson(&self, ageing: AgeingClass, relevance: f64, worth: &LessonWorth) -> RecallScore {
        let age = self.at.timestamp_millis().saturating_sub(worth.last_sign);
        let recency = recall::recency_score(age, self.ranking.half_lives.days_for(ageing));
        recall::weighted_score(&self.ranking.weights, worth.importance, recency, relevance)
    }
}
