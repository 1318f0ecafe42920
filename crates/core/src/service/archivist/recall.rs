//! Recall of lessons for a prompt, as the configuration and the request define it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::file_probe::ProjectFileProbe;
use super::recall_reply::{RecallLevel, method_name};
use super::{Archivist, RequestError};
use crate::domain::{MemoryId, MemoryQuery, RunId};
use crate::memory::MemoryService;
use crate::recall::{AnchorPresence, BlockFrame, BlockLimits, LessonBlockStyle, LessonReach, Point, RankingProfile};
use crate::service::{InjectionBlock, LessonSelector, SelectedLesson, find_closest_lessons};

/// A request for lessons; the configuration supplies what is not set.
#[derive(Debug, Clone)]
pub struct RecallRequest {
    /// The query to match.
    pub query: MemoryQuery,
    /// The injection point. Without one, every matching lesson may be selected.
    pub point: Option<Point>,
    /// The style of the block.
    pub style: LessonBlockStyle,
    /// The profile that lessons are ranked by.
    pub profile: Option<RankingProfile>,
    /// The most lessons to return.
    pub items: Option<usize>,
    /// The most tokens, including the heading.
    pub tokens: Option<usize>,
    /// The most characters of the block.
    pub characters: Option<usize>,
    /// The session that gets the lessons; some lessons may be withheld from it as a control group.
    pub run: Option<RunId>,
    /// True if lessons must be found by meaning as well.
    pub by_meaning: bool,
}

impl RecallRequest {
    /// Makes a request with a query and nothing else.
    pub fn for_query(query: MemoryQuery) -> Self {
        Self {
            query,
            point: None,
            style: LessonBlockStyle::ProjectLessons,
            profile: None,
            items: None,
            tokens: None,
            characters: None,
            run: None,
            by_meaning: false,
        }
    }
}

impl RecallRequest {
    /// Names the session that gets the lessons, so that their effect can be measured.
    #[must_use]
    pub fn for_session(self, run: RunId) -> Self {
        Self { run: Some(run), ..self }
    }

    /// Names the point of the session at which the lessons are injected; it limits how many there may be.
    #[must_use]
    pub fn at_point(self, point: Point) -> Self {
        Self { point: Some(point), ..self }
    }
}

impl From<MemoryQuery> for RecallRequest {
    fn from(query: MemoryQuery) -> Self {
        Self::for_query(query)
    }
}

impl From<&str> for RecallRequest {
    /// Makes a request about a topic in plain words, such as the task at hand or the text of an error.
    fn from(topic: &str) -> Self {
        Self::for_query(MemoryQuery { text: Some(topic.to_owned()), ..MemoryQuery::default() })
    }
}

/// The result of a recall.
#[derive(Debug, Clone)]
pub struct RecallResult {
    /// The lessons, and the block for the prompt.
    pub block: InjectionBlock,
    /// The level at which they were found.
    pub level: RecallLevel,
    /// The reason why meaning was not used although it was wanted.
    pub unmeasured: Option<String>,
}

impl RecallResult {
    /// Returns the text for the prompt: sanitized, within its limits, and empty if no lesson helps.
    pub fn text(&self) -> &str {
        &self.block.text
    }

    /// Returns the lessons in the block, the best first. Those that are withheld from the control group are not in the
    /// text.
    pub fn lessons(&self) -> &[SelectedLesson] {
        &self.block.lessons
    }
}

impl Archivist {
    /// Finds the lessons that help, fits them into a block for a prompt, and records who got them if the request names
    /// its session. A query without a project is about this one.
    pub async fn recall(&self, request: impl Into<RecallRequest>) -> Result<RecallResult, RequestError> {
        let mut request = request.into();
        if request.query.project_root.is_empty() {
            let MemoryQuery { project_root, repo_id, .. } = self.new_query();
            request.query = MemoryQuery { project_root, repo_id, ..request.query };
        }
        let (run, point) = (request.run.clone(), request.point.clone());
        let found = self.recall_unrecorded(request).await?;
        if let Some(run) = run {
            self.record_injections(&found, &run, point.as_ref()).await?;
        }
        Ok(found)
    }

    /// Finds lessons and fits them into a block. [`record_injections`](Self::record_injections) records them once they
    /// were delivered.
    pub async fn recall_unrecorded(&self, asked: RecallRequest) -> Result<RecallResult, RequestError> {
        let now = self.now();
        let recall = &self.config().recall;
        let rule = asked.point.as_ref().map(|point| *recall.point_rules().rule_for(point));
        let budget = recall.token_budget();
        let role = asked.query.facets.role.clone();
        let caps = BlockLimits {
            items: asked
                .items
                .or(asked.query.max_results)
                .or(rule.map(|rule| rule.max_items))
                .unwrap_or(recall.ranking_settings().max_results),
            tokens: asked.tokens.unwrap_or_else(|| budget.token_budget(role.as_deref(), asked.query.kind.as_ref())),
            characters: asked.characters.unwrap_or(usize::MAX),
            preference_places: budget.preference_places,
            min_space: budget.min_space,
        };
        let mut query = MemoryQuery { max_results: Some(caps.items), ..asked.query };
        let memory = self.given_memory();
        let unmeasured = match self.compute_similarities(&*memory, &query, asked.by_meaning).await? {
            Ok(cosines) => {
                query.cosines = cosines;
                None
            }
            Err(why) => Some(why),
        };
        let has_meaning = !query.cosines.is_empty();
        let selector = LessonSelector {
            ranking: recall.ranking_settings(),
            profile: asked.profile.unwrap_or(recall.profile),
            profile_rules: self.config().profile_rules(),
            budget,
            reach: rule.map_or(LessonReach::Any, |rule| rule.reach),
            holdout: recall.holdout,
            seed: recall.seed,
        };
        let project = Mutex::new(ProjectFileProbe::new(&self.project().root));
        let look = |anchor: &_| match project.lock() {
            Ok(project) => project.find_anchor(anchor),
            Err(_) => AnchorPresence::Unknown,
        };
        let choice = selector.select_lessons(&*memory, &query, asked.run.as_ref(), &look, now).await?;
        let block = selector.fit_block(choice, &BlockFrame::new(asked.style, role.as_deref()), &caps);
        let level = if has_meaning { RecallLevel::Meaning } else { RecallLevel::from_method(block.method) };
        tracing::info!(
            given = block.lessons.len(),
            dropped = block.dropped,
            level = u8::from(level),
            method = method_name(block.method),
            "recalled"
        );
        Ok(RecallResult { block, level, unmeasured })
    }

    /// Records that a session was given these lessons. It is called after they were delivered: a session that did not
    /// get them was not exposed to them.
    pub async fn record_injections(
        &self,
        found: &RecallResult,
        run: &RunId,
        point: Option<&Point>,
    ) -> Result<(), RequestError> {
        let now = self.now();
        let point = point.map_or(Point::Orchestrator.as_str(), Point::as_str);
        Ok(found.block.record_injections(&*self.memory, run, point, now).await?)
    }

    /// Computes how similar lessons are in meaning to the query, if that is wanted. If it fails, returns the reason,
    /// and the recall falls back to words.
    async fn compute_similarities(
        &self,
        memory: &dyn MemoryService,
        query: &MemoryQuery,
        is_demanded: bool,
    ) -> Result<Result<BTreeMap<MemoryId, f64>, String>, RequestError> {
        let Some(text) = query.text.as_deref().filter(|text| !text.trim().is_empty()) else {
            return Ok(Ok(BTreeMap::new()));
        };
        let embedder = match self.embedder() {
            Some(embedder) if is_demanded || self.config().recall.by_meaning => embedder,
            None if is_demanded => {
                let hint =
                    "set `embeddings.dir` to the folder of a sentence model, or `embeddings.baseUrl` to an endpoint";
                return Err(RequestError::impossible_request("there is no model to tell meanings by", hint));
            }
            _ => return Ok(Ok(BTreeMap::new())),
        };
        Ok(find_closest_lessons(memory, embedder.as_ref(), text).await.map_err(|error| error.to_string()))
    }
}
