//! Selects lessons for a session: finds and ranks them, withholds some for the control group, and fits them into a
//! block.

use std::collections::BTreeSet;

use crate::domain::{
    AgentMemory, Exposure, FacetValues, Fact, MemoryId, MemoryKind, MemoryQuery, MemorySource, MemoryState, RunId,
    Timestamp,
};
use crate::judge::SessionEnds;
use crate::memory::{
    CommitBatch, EpisodeFilter, Lesson, LessonHit, MemoryAnswer, MemoryError, MemoryService, SearchMethod,
};
use crate::recall::{
    AnchorPresence, BlockFrame, BlockLimits, FittedBlock, InjectionBudget, LessonAnchor, LessonReach, LessonStaleness,
    ProfileRules, PromptLesson, RankingProfile, RankingSettings, RatedLesson, RecallScore, SessionHistory,
    draw_exposure, find_failure_history, find_lesson_anchors, find_request_history, fit_lessons,
    is_recognizable_request, judge_staleness, sort_by_rate,
};
use crate::text::Tokenizer;

/// The number of lessons examined for each one injected: some are stale, and some do not fit.
const SPARE: usize = 3;

/// The number of episodes, from the last, in which a history is looked for.
const HISTORY_EPISODES: usize = 1_000;

/// Selects lessons. Every field is configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonSelector {
    /// The settings of search and ranking.
    pub ranking: RankingSettings,
    /// The profile that reorders the lessons.
    pub profile: RankingProfile,
    /// The numbers of the profiles.
    pub profile_rules: ProfileRules,
    /// The token budget.
    pub budget: InjectionBudget,
    /// The narrowest scope that is accepted.
    pub reach: LessonReach,
    /// The probability that a lesson is withheld, to measure its effect.
    pub holdout: f64,
    /// The seed of the random choice.
    pub seed: u64,
}

/// A lesson that was selected.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectedLesson {
    /// The selected lesson.
    pub lesson: Lesson,
    /// The score that it was ranked by.
    pub score: RecallScore,
    /// Tells whether the files and names that it mentions still exist.
    pub staleness: LessonStaleness,
    /// Tells whether the session sees it or it is withheld.
    pub exposure: Exposure,
}

/// The selected lessons, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonSelection {
    /// The lessons in order.
    pub lessons: Vec<SelectedLesson>,
    /// The number of further matches.
    pub dropped: usize,
    /// The search method used.
    pub method: SearchMethod,
    /// What earlier sessions met, where no lesson is about it.
    pub history: Option<SessionHistory>,
}

/// The block of lessons for a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectionBlock {
    /// The text; empty if there are no lessons.
    pub text: String,
    /// The lessons that have a place in the block, in order. Withheld lessons have a place but are not shown.
    pub lessons: Vec<SelectedLesson>,
    /// The number of further matches.
    pub dropped: usize,
    /// The search method used.
    pub method: SearchMethod,
    /// The history in the block, below the lessons.
    pub history: Option<SessionHistory>,
}

impl LessonSelector {
    /// Selects lessons for a query. `look` tells whether something that a lesson names still exists.
    pub async fn select_lessons(
        &self,
        memory: &dyn MemoryService,
        query: &MemoryQuery,
        run: Option<&RunId>,
        look: &(dyn Fn(&LessonAnchor) -> AnchorPresence + Sync),
        at: Timestamp,
    ) -> Result<LessonSelection, MemoryError> {
        let items = query.max_results.unwrap_or(self.ranking.max_results);
        let wider = MemoryQuery { max_results: Some(items.saturating_mul(SPARE)), ..query.clone() };
        let MemoryAnswer { hits, dropped, method } = memory.query_lessons(&wider, &self.ranking, at).await?;
        let mut hits = self.add_universal_lessons(memory, &wider, hits, at).await?;
        hits.retain(|hit| self.reach.includes_scope(&hit.lesson.memory.scope));
        if !query.has_topic() {
            hits.retain(|hit| is_established(&hit.lesson.memory));
        }
        let hits = self.order_by_profile(memory, query, hits, at).await?;
        let lessons = hits.into_iter().map(|LessonHit { lesson, score }| {
            let staleness = judge_staleness(&find_lesson_anchors(&lesson.memory), look);
            let exposure = run.map_or(Exposure::Exposed, |run| self.assign_exposure(run, &lesson.memory));
            SelectedLesson { lesson, score, staleness, exposure }
        });
        let lessons: Vec<SelectedLesson> = lessons.collect();
        let history = find_history(memory, query, &lessons).await?;
        Ok(LessonSelection { lessons, dropped, method, history })
    }

    /// Fits selected lessons into a block. A withheld lesson keeps its place but is left out of the text, so that it is
    /// the only difference between sessions with and without it.
    pub fn fit_block(&self, choice: LessonSelection, frame: &BlockFrame, caps: &BlockLimits) -> InjectionBlock {
        let tokenizer = Tokenizer::new();
        let history = choice.history.filter(|history| {
            frame.render_history(history).is_some_and(|line| caps.allow_text(&frame.append_line("", &line), &tokenizer))
        });
        let line = history.as_ref().and_then(|history| frame.render_history(history)).unwrap_or_default();
        let caps = caps.without_text(&line, &tokenizer);
        let fitted = |lessons: &[SelectedLesson]| {
            let given: Vec<PromptLesson<'_>> = lessons.iter().map(SelectedLesson::as_fit_input).collect();
            let block = fit_lessons(&given, frame, &caps, &tokenizer);
            FittedBlock { text: frame.append_line(&block.text, &line), ..block }
        };
        let FittedBlock { text, given, dropped, stale, .. } = fitted(&choice.lessons);
        let mut places: Vec<Option<SelectedLesson>> = choice.lessons.into_iter().map(Some).collect();
        let lessons: Vec<SelectedLesson> =
            given.iter().filter_map(|place| places.get_mut(*place).and_then(Option::take)).collect();
        let shown: Vec<SelectedLesson> =
            lessons.iter().filter(|chosen| chosen.exposure == Exposure::Exposed).cloned().collect();
        let text = if shown.len() == lessons.len() { text } else { fitted(&shown).text };
        InjectionBlock { text, lessons, dropped: choice.dropped + dropped + stale, method: choice.method, history }
    }

    /// Adds lessons seen in so many sessions that they apply to every domain and role.
    async fn add_universal_lessons(
        &self,
        memory: &dyn MemoryService,
        query: &MemoryQuery,
        mut hits: Vec<LessonHit>,
        at: Timestamp,
    ) -> Result<Vec<LessonHit>, MemoryError> {
        if query.facets.role.is_none() && query.facets.domain.is_none() {
            return Ok(hits);
        }
        let facets = FacetValues { role: None, domain: None, ..query.facets.clone() };
        let anybody = memory.query_lessons(&MemoryQuery { facets, ..query.clone() }, &self.ranking, at).await?;
        let known: BTreeSet<MemoryId> = hits.iter().map(|hit| hit.lesson.memory.id.clone()).collect();
        let is_new = |hit: &LessonHit| !known.contains(&hit.lesson.memory.id);
        hits.extend(
            anybody.hits.into_iter().filter(|hit| is_new(hit) && self.budget.is_universal(&hit.lesson.counters)),
        );
        Ok(hits)
    }

    /// Sorts lessons in the profile's order. The balanced profile keeps the order of the search.
    async fn order_by_profile(
        &self,
        memory: &dyn MemoryService,
        query: &MemoryQuery,
        hits: Vec<LessonHit>,
        at: Timestamp,
    ) -> Result<Vec<LessonHit>, MemoryError> {
        let runs = match self.profile {
            RankingProfile::Balanced => return Ok(hits),
            RankingProfile::Frequency => SessionEnds::new(
                memory
                    .list_episodes(&EpisodeFilter::newest(HISTORY_EPISODES))
                    .await?
                    .into_iter()
                    .map(|one| one.finished_at),
            ),
            RankingProfile::Patterns | RankingProfile::Decisions => SessionEnds::default(),
        };
        let mut rated = Vec::new();
        for mut hit in hits {
            let Lesson { memory, counters, .. } = &hit.lesson;
            let last_seen = counters.last_seen_at.unwrap_or(memory.created_at);
            let unseen_runs = u64::try_from(runs.count_since(last_seen)).unwrap_or(u64::MAX);
            let similarity = query.cosines.get(&memory.id).copied();
            let seen = RatedLesson { memory, counters, score: hit.score, unseen_runs, similarity };
            if let Some(rate) = self.profile.rate_lesson(&seen, &self.profile_rules, at) {
                hit.score.score = rate;
                rated.push((hit, rate));
            }
        }
        Ok(sort_by_rate(rated))
    }

    /// Decides whether the session sees a lesson. Lessons that a person vouches for are never withheld.
    fn assign_exposure(&self, run: &RunId, memory: &AgentMemory) -> Exposure {
        let is_pinned = memory.state == Some(MemoryState::Active)
            || memory.source == MemorySource::Manual
            || memory.kind == MemoryKind::Preference;
        draw_exposure(self.seed, run, &memory.id, if is_pinned { 0.0 } else { self.holdout })
    }
}

impl SelectedLesson {
    fn as_fit_input(&self) -> PromptLesson<'_> {
        let (memory, counters) = (&self.lesson.memory, &self.lesson.counters);
        PromptLesson { memory, counters, score: self.score, staleness: self.staleness.clone() }
    }
}

impl InjectionBlock {
    /// Records in the ledger which lessons a session was given, and which were withheld from it.
    pub async fn record_injections(
        &self,
        memory: &dyn MemoryService,
        run: &RunId,
        point: &str,
        at: Timestamp,
    ) -> Result<(), MemoryError> {
        let fact = |(rank, chosen): (u32, &SelectedLesson)| Fact::Injection {
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
        memory.commit_batch(CommitBatch { facts, ..CommitBatch::default() }, at).await.map(drop)
    }
}

/// Returns the history of the failure that a query is about, unless a selected lesson is about it, or of its request.
async fn find_history(
    memory: &dyn MemoryService,
    query: &MemoryQuery,
    lessons: &[SelectedLesson],
) -> Result<Option<SessionHistory>, MemoryError> {
    let family = query.facets.error_family.as_ref();
    let is_answered =
        lessons.iter().any(|chosen| family.is_some() && chosen.lesson.memory.facets.error_family.as_ref() == family);
    let wants_lessons_alone = query.kind.is_some() || query.scope.is_some();
    let has_subject = family.is_some() || query.text.as_deref().is_some_and(is_recognizable_request);
    if wants_lessons_alone || is_answered || !has_subject {
        return Ok(None);
    }
    let episodes = memory.list_episodes(&EpisodeFilter::newest(HISTORY_EPISODES)).await?;
    Ok(match (family, query.text.as_deref()) {
        (Some(family), _) => find_failure_history(&episodes, family),
        (None, Some(text)) => find_request_history(&episodes, text),
        (None, None) => None,
    })
}

/// Returns true if a lesson may be injected without a topic to match.
fn is_established(memory: &AgentMemory) -> bool {
    matches!(memory.state, Some(MemoryState::Verified | MemoryState::Active))
        || memory.kind == MemoryKind::Preference
        || memory.evergreen
        || memory.source == MemorySource::Manual
}
