//! The endpoints that recall lessons for a prompt and record feedback on them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::http::request::Parts;
use axum::routing::post;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ServerState;
use crate::access::Permission;
use crate::endpoint::ApiEndpoint;
use crate::extractors::{AcceptedWord, JsonAnswer, JsonBody, check_range};
use crate::problem_response::HttpProblem;
use archivist_core::context::identify_error;
use archivist_core::domain::{EvidenceLevel, FeedbackVerdict, MemoryKind, MemoryQuery, MemoryScope, RunId};
use archivist_core::memory::LessonName;
use archivist_core::recall::{LessonBlockStyle, Point, RankingProfile};
use archivist_core::redact::Redactor;
use archivist_core::service::{self, FeedbackEvidence, LessonOpinion, RecallReply, RecordedFeedback, parse_role};
use archivist_core::text::one_line;

/// The most lessons and tokens that a request may ask for.
const MAX_LESSONS: u32 = 1_000;
const MAX_TOKENS: u32 = 1_000_000;

pub(super) fn recall_endpoints() -> Vec<ApiEndpoint> {
    vec![
        ApiEndpoint::new(Method::POST, "/v1/recall", "Lessons that help with a matter", post(handle_recall))
            .with_body::<RecallBody>()
            .with_json_response::<RecallAnswer>(200, "Lessons, the best first; none where nothing helps"),
        ApiEndpoint::new(
            Method::POST,
            "/v1/feedback",
            "Say that lessons held or were noise in a run",
            post(handle_feedback),
        )
        .with_body::<FeedbackBody>()
        .with_json_response::<Vec<RecordedFeedback>>(200, "What was noted"),
    ]
}

/// What it is about, and for whom.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
#[schemars(rename = "Question")]
pub(crate) struct RecallBody {
    /// What it is about, in plain words.
    pub(crate) text: Option<String>,
    /// The output of something that failed: its fix comes first.
    pub(crate) error: Option<String>,
    /// Tags that would be welcome.
    pub(crate) tags: Vec<String>,
    /// Only lessons of this scope.
    pub(crate) scope: Option<AcceptedWord<MemoryScope>>,
    /// Only lessons of this kind.
    pub(crate) kind: Option<AcceptedWord<MemoryKind>>,
    /// The id of a task.
    pub(crate) task: Option<String>,
    /// The name of a tool.
    pub(crate) tool: Option<String>,
    /// Which agent or model vendor.
    pub(crate) provider: Option<String>,
    /// The role that acts.
    pub(crate) role: Option<String>,
    /// The domain of the work.
    pub(crate) domain: Option<String>,
    /// A path of the repository.
    pub(crate) component: Option<String>,
    /// Where in the work.
    pub(crate) phase: Option<String>,
    /// Where in the run: `orchestrator`, `subagent`, `healer`, `planner`, `small-task` or a word of your own.
    pub(crate) point: Option<String>,
    /// At most this many.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) max: Option<u32>,
    /// At most this many tokens, heading and all.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(crate) budget: Option<u32>,
    /// How the block is written.
    pub(crate) style: Option<BlockStyleChoice>,
    /// By what lessons are put in order.
    pub(crate) profile: Option<RankingProfile>,
    /// The run that gets them; it is noted that it did.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    pub(crate) run: Option<String>,
    /// Find lessons by their meaning as well.
    pub(crate) by_meaning: bool,
}

/// How a block is written.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "BlockStyle")]
pub(crate) enum BlockStyleChoice {
    ProjectLessons,
    KnownIssues,
    Patterns,
    SystemReminder,
}

/// Lessons that were found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Recalled")]
pub(crate) struct RecallAnswer {
    #[serde(flatten)]
    pub(crate) reply: RecallReply,
    /// What a prompt gets; empty where there is nothing to say.
    pub(crate) block: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct FeedbackBody {
    /// Whether the lessons held, with proof, or were noise.
    pub(crate) verdict: FeedbackChoice,
    /// Short names or ids.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) lessons: Vec<String>,
    /// In which run.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    pub(crate) run: String,
    /// Who says so, in one word.
    pub(crate) role: Option<String>,
    /// What shows it: a command with what it printed, or a file:line with words of that line.
    pub(crate) evidence: Option<String>,
}

/// What is said of lessons.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Said")]
pub(crate) enum FeedbackChoice {
    Validate,
    Ignore,
}

impl RecallBody {
    /// Converts the body into a request to the façade, starting from the project's own query.
    pub(crate) fn into_recall_request(self, ours: MemoryQuery) -> Result<service::RecallRequest, HttpProblem> {
        check_range("max", self.max, 1..=MAX_LESSONS)?;
        check_range("budget", self.budget, 0..=MAX_TOKENS)?;
        let word = |text: Option<String>| text.as_deref().map(one_line).filter(|text| !text.is_empty());
        let mut query = ours;
        query.scope = self.scope.map(|AcceptedWord(scope)| scope);
        query.kind = self.kind.map(|AcceptedWord(kind)| kind);
        query.text = self.text;
        query.tags = self.tags;
        query.facets.task_id = word(self.task);
        query.facets.tool = word(self.tool);
        query.facets.provider = word(self.provider);
        query.facets.role = word(self.role);
        query.facets.domain = word(self.domain);
        query.facets.component = word(self.component);
        query.facets.phase = word(self.phase);
        if let Some(output) = &self.error {
            let error_text = identify_error(query.facets.tool.as_deref(), output, &Redactor::new())
                .ok_or_else(|| HttpProblem::bad_request("the output tells of no failure"))?;
            query.facets.error_family = Some(error_text.family);
            query.text.get_or_insert(error_text.headline);
        }
        let run = self.run.as_deref().map(RunId::parse).transpose();
        let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(service::RecallRequest {
            point: word(self.point).map(Point::from),
            style: match self.style {
                None | Some(BlockStyleChoice::ProjectLessons) => LessonBlockStyle::ProjectLessons,
                Some(BlockStyleChoice::KnownIssues) => LessonBlockStyle::KnownIssues,
                Some(BlockStyleChoice::Patterns) => LessonBlockStyle::Patterns,
                Some(BlockStyleChoice::SystemReminder) => LessonBlockStyle::SystemReminder,
            },
            profile: self.profile,
            items: self.max.map(number),
            tokens: self.budget.map(number),
            run: run.map_err(|invalid| HttpProblem::bad_request(invalid.to_string()))?,
            by_meaning: self.by_meaning,
            ..service::RecallRequest::for_query(query)
        })
    }
}

impl FeedbackBody {
    pub(crate) fn to_lesson_opinion(&self) -> Result<(Vec<LessonName>, LessonOpinion), HttpProblem> {
        let unclear = |why: String| HttpProblem::bad_request(why);
        if self.lessons.is_empty() {
            return Err(unclear("no lesson is named".to_owned()));
        }
        let names: Result<Vec<LessonName>, _> = self.lessons.iter().map(|name| LessonName::parse(name)).collect();
        let opinion = LessonOpinion {
            verdict: match self.verdict {
                FeedbackChoice::Validate => FeedbackVerdict::Validated,
                FeedbackChoice::Ignore => FeedbackVerdict::Ignored,
            },
            role: self.role.as_deref().map(parse_role).transpose().map_err(unclear)?,
            evidence: FeedbackEvidence {
                run: RunId::parse(&self.run).map_err(|invalid| unclear(invalid.to_string()))?,
                text: self.evidence.clone(),
                stated: None::<EvidenceLevel>,
            },
        };
        Ok((names.map_err(|invalid| unclear(invalid.to_string()))?, opinion))
    }
}

async fn handle_recall(
    State(served): State<Arc<ServerState>>,
    head: Parts,
    JsonBody(question): JsonBody<RecallBody>,
) -> Result<JsonAnswer<RecallAnswer>, HttpProblem> {
    // An injection into a session is recorded, and not every client may write.
    if question.run.is_some() {
        served.access.check_request(&head, Permission::Write)?;
    }
    Ok(JsonAnswer(served.recall_lessons(question).await?))
}

async fn handle_feedback(
    State(served): State<Arc<ServerState>>,
    JsonBody(body): JsonBody<FeedbackBody>,
) -> Result<JsonAnswer<Vec<RecordedFeedback>>, HttpProblem> {
    let (names, opinion) = body.to_lesson_opinion()?;
    Ok(JsonAnswer(served.archivist.feedback(&names, &opinion).await?))
}

impl ServerState {
    /// Recalls lessons for a prompt, and records the injection if a session gets them.
    pub(crate) async fn recall_lessons(&self, question: RecallBody) -> Result<RecallAnswer, HttpProblem> {
        let asked = question.into_recall_request(self.archivist.new_query())?;
        let (run, point) = (asked.run.clone(), asked.point.clone());
        let found = self.archivist.recall_unrecorded(asked).await?;
        if let Some(run) = &run {
            self.archivist.record_injections(&found, run, point.as_ref()).await?;
        }
        Ok(RecallAnswer { reply: RecallReply::from_block(&found.block, found.level), block: found.block.text })
    }
}
