//! Which lessons a run is given: found, put in order, looked at, now and then held back, and fitted into a prompt.

use std::collections::BTreeSet;

use crate::domain::{
    AgentMemory, Exposure, Facets, Fact, MemoryId, MemoryKind, MemoryQuery, MemorySource, MemoryState, RunId, Timestamp,
};
use crate::judge::Runs;
use crate::memory::{Answer, Batch, EpisodeFilter, Hit, Lesson, MemoryError, MemoryService, Method};
use crate::recall::{
    Anchor, Budget, Caps, Fitted, Frame, Given, Presence, Profile, ProfileRules, Ranking, Rated, Reach, Score,
    Staleness, anchors, by_rate, coin, fit, judge_staleness,
};
use crate::text::Tokenizer;

/// So many answers are looked at for each that is given: some are stale, and some do not fit.
const SPARE: usize = 3;

/// By what lessons are chosen. Every part is configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Giving {
    /// How they are found and put in order.
    pub ranking: Ranking,
    /// By what else they may be put in order.
    pub profile: Profile,
    /// The numbers behind that.
    pub profile_rules: ProfileRules,
    /// What they may cost.
    pub budget: Budget,
    /// How narrow they may be.
    pub reach: Reach,
    /// How often one is held back, to learn whether it helps.
    pub holdout: f64,
    /// What the coin is thrown with.
    pub seed: u64,
}

/// A lesson that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The lesson.
    pub lesson: Lesson,
    /// What it was ordered by.
    pub score: Score,
    /// Whether what it names is still there.
    pub staleness: Staleness,
    /// Whether the run gets to see it.
    pub exposure: Exposure,
}

/// Lessons that were chosen, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The lessons.
    pub lessons: Vec<Chosen>,
    /// How many more met the question.
    pub dropped: usize,
    /// How they were found.
    pub method: Method,
}

/// What a prompt gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The text; empty if there is nothing to say.
    pub text: String,
    /// The lessons that have a place in it, in its order. Those that are held back have one, and are not shown.
    pub lessons: Vec<Chosen>,
    /// How many more met the question.
    pub dropped: usize,
    /// How they were found.
    pub method: Method,
}

impl Giving {
    /// Chooses lessons for a question. `look` says whether something that a lesson names is still there.
    pub async fn choose(
        &self,
        memory: &dyn MemoryService,
        query: &MemoryQuery,
        run: Option<&RunId>,
        look: &(dyn Fn(&Anchor) -> Presence + Sync),
        at: Timestamp,
    ) -> Result<Choice, MemoryError> {
        let items = query.max_results.unwrap_or(self.ranking.max_results);
        let wider = MemoryQuery { max_results: Some(items.saturating_mul(SPARE)), ..query.clone() };
        let Answer { hits, dropped, method } = memory.query(&wider, &self.ranking, at).await?;
        let mut hits = self.with_universal(memory, &wider, hits, at).await?;
        hits.retain(|hit| self.reach.takes(&hit.lesson.memory.scope));
        if !query.has_topic() {
            hits.retain(|hit| is_settled(&hit.lesson.memory));
        }
        let hits = self.in_order(memory, query, hits, at).await?;
        let lessons = hits.into_iter().map(|Hit { lesson, score }| {
            let staleness = judge_staleness(&anchors(&lesson.memory), look);
            let exposure = run.map_or(Exposure::Exposed, |run| self.throw(run, &lesson.memory));
            Chosen { lesson, score, staleness, exposure }
        });
        Ok(Choice { lessons: lessons.collect(), dropped, method })
    }

    /// Fits chosen lessons into a prompt. What is held back takes its place and leaves it empty: that alone must differ
    /// between a run that has a lesson and one that has not.
    pub fn fit(&self, choice: Choice, frame: &Frame, caps: &Caps) -> Block {
        let tokenizer = Tokenizer::new();
        let fitted = |lessons: &[Chosen]| {
            let given: Vec<Given<'_>> = lessons.iter().map(Chosen::given).collect();
            fit(&given, frame, caps, &tokenizer)
        };
        let Fitted { text, given, dropped, stale, .. } = fitted(&choice.lessons);
        let mut places: Vec<Option<Chosen>> = choice.lessons.into_iter().map(Some).collect();
        let lessons: Vec<Chosen> =
            given.iter().filter_map(|place| places.get_mut(*place).and_then(Option::take)).collect();
        let shown: Vec<Chosen> =
            lessons.iter().filter(|chosen| chosen.exposure == Exposure::Exposed).cloned().collect();
        let text = if shown.len() == lessons.len() { text } else { fitted(&shown).text };
        Block { text, lessons, dropped: choice.dropped + dropped + stale, method: choice.method }
    }

    /// Lessons that so many runs saw that they are given whatever the domain or the role.
    async fn with_universal(
        &self,
        memory: &dyn MemoryService,
        query: &MemoryQuery,
        mut hits: Vec<Hit>,
        at: Timestamp,
    ) -> Result<Vec<Hit>, MemoryError> {
        if query.facets.role.is_none() && query.facets.domain.is_none() {
            return Ok(hits);
        }
        let facets = Facets { role: None, domain: None, ..query.facets.clone() };
        let anybody = memory.query(&MemoryQuery { facets, ..query.clone() }, &self.ranking, at).await?;
        let known: BTreeSet<MemoryId> = hits.iter().map(|hit| hit.lesson.memory.id.clone()).collect();
        let is_new = |hit: &Hit| !known.contains(&hit.lesson.memory.id);
        hits.extend(
            anybody.hits.into_iter().filter(|hit| is_new(hit) && self.budget.is_universal(&hit.lesson.counters)),
        );
        Ok(hits)
    }

    /// Puts lessons into the profile's order. Ours is the one they come in.
    async fn in_order(
        &self,
        memory: &dyn MemoryService,
        query: &MemoryQuery,
        hits: Vec<Hit>,
        at: Timestamp,
    ) -> Result<Vec<Hit>, MemoryError> {
        let runs = match self.profile {
            Profile::Balanced => return Ok(hits),
            Profile::Frequency => {
                Runs::new(memory.episodes(&EpisodeFilter::default()).await?.into_iter().map(|one| one.finished_at))
            }
            Profile::Patterns | Profile::Decisions => Runs::default(),
        };
        let mut rated = Vec::new();
        for mut hit in hits {
            let Lesson { memory, counters, .. } = &hit.lesson;
            let last_seen = counters.last_seen_at.unwrap_or(memory.created_at);
            let unseen_runs = u64::try_from(runs.since(last_seen)).unwrap_or(u64::MAX);
            let similarity = query.cosines.get(&memory.id).copied();
            let seen = Rated { memory, counters, score: hit.score, unseen_runs, similarity };
            if let Some(rate) = self.profile.rate(&seen, &self.profile_rules, at) {
                hit.score.score = rate;
                rated.push((hit, rate));
            }
        }
        Ok(by_rate(rated))
    }

    /// Whether this run gets to see a lesson. What somebody stands behind is never held back.
    fn throw(&self, run: &RunId, memory: &AgentMemory) -> Exposure {
        let is_pinned = memory.state == Some(MemoryState::Active)
            || memory.source == MemorySource::Manual
            || memory.kind == MemoryKind::Preference;
        coin(self.seed, run, &memory.id, if is_pinned { 0.0 } else { self.holdout })
    }
}

impl Chosen {
    fn given(&self) -> Given<'_> {
        let (memory, counters) = (&self.lesson.memory, &self.lesson.counters);
        Given { memory, counters, score: self.score, staleness: self.staleness.clone() }
    }
}

impl Block {
    /// Notes in the ledger what a run was given, and what was held back from it.
    pub async fn note(
        &self,
        memory: &dyn MemoryService,
        run: &RunId,
        point: &str,
        at: Timestamp,
    ) -> Result<(), MemoryError> {
        let fact = |(rank, chosen): (u32, &Chosen)| Fact::Injection {
            run: run.clone(),
            memory: chosen.lesson.memory.id.clone(),
            point: point.to_owned(),
            rank,
            exposure: chosen.exposure.clone(),
            at,
            extra: Default::default(),
        };
        let facts: Vec<Fact> = (1..).zip(&self.lessons).map(fact).collect();
        if facts.is_empty() {
            return Ok(());
        }
        memory.commit(Batch { facts, ..Batch::default() }, at).await.map(drop)
    }
}

/// Whether a lesson may be given to somebody who has not said what it is about.
fn is_settled(memory: &AgentMemory) -> bool {
    matches!(memory.state, Some(MemoryState::Verified | MemoryState::Active))
        || memory.kind == MemoryKind::Preference
        || memory.evergreen
        || memory.source == MemorySource::Manual
}
