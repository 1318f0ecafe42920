//! The endpoints that list, show, write and decide about lessons.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ServerState;
use crate::endpoint::ApiEndpoint;
use crate::extractors::{AcceptedWord, JsonAnswer, JsonBody, QueryParams, check_range};
use crate::problem_response::HttpProblem;
use archivist_core::domain::{
    AgentMemory, ErrorFamily, FacetValues, Importance, MemoryCategory, MemoryKind, MemoryScope, MemoryState, SessionId,
    Severity,
};
use archivist_core::memory::{Lesson, LessonName, LessonStateFilter};
use archivist_core::service::LessonDecision;
use archivist_core::service::{
    LessonAuthor, LessonEffectRow, LessonEvidenceReport, LessonFilter, LessonVersion, NewLesson,
};
use archivist_core::text::one_line;

/// The most lessons that one answer lists.
const MAX_LISTED: u32 = 5_000;

pub(super) fn lesson_endpoints() -> Vec<ApiEndpoint> {
    let decided = "The lessons as they are now";
    vec![
        ApiEndpoint::new(Method::GET, "/v1/lessons", "Lessons, the one last known to hold first", get(list_lessons))
            .with_query::<LessonsQuery>()
            .with_json_response::<Vec<Lesson>>(200, "Lessons"),
        ApiEndpoint::new(Method::POST, "/v1/lessons", "Write a lesson, a preference or a decision", post(add_lesson))
            .with_body::<NewLessonBody>()
            .with_json_response::<AgentMemory>(201, "The lesson"),
        ApiEndpoint::new(Method::GET, "/v1/lessons/{id}", "A lesson in full", get(get_lesson))
            .with_json_response::<Lesson>(200, "The lesson"),
        ApiEndpoint::new(Method::GET, "/v1/lessons/{id}/why", "Why a lesson is believed", get(explain_lesson))
            .with_json_response::<LessonEvidenceReport>(200, "Its words, its runs, what came of it"),
        ApiEndpoint::new(Method::GET, "/v1/lessons/{id}/history", "The versions of a lesson", get(list_versions))
            .with_json_response::<Vec<LessonVersion>>(200, "Versions, the oldest first"),
        ApiEndpoint::new(
            Method::POST,
            "/v1/lessons/{id}/approve",
            "Let a lesson out of quarantine",
            post(approve_lesson),
        )
        .with_body::<EmptyBody>()
        .with_json_response::<Vec<AgentMemory>>(200, decided),
        ApiEndpoint::new(Method::POST, "/v1/lessons/{id}/reject", "Do not learn a lesson again", post(reject_lesson))
            .with_body::<ReasonBody>()
            .with_json_response::<Vec<AgentMemory>>(200, decided),
        ApiEndpoint::new(Method::POST, "/v1/lessons/{id}/promote", "Stand behind a lesson", post(promote_lesson))
            .with_body::<EmptyBody>()
            .with_json_response::<Vec<AgentMemory>>(200, decided),
        ApiEndpoint::new(Method::POST, "/v1/lessons/{id}/forget", "Take a lesson out of use", post(forget_lesson))
            .with_body::<ReasonBody>()
            .with_json_response::<Vec<Lesson>>(200, decided),
        ApiEndpoint::new(
            Method::POST,
            "/v1/lessons/{id}/restore",
            "Bring back an earlier version",
            post(restore_lesson),
        )
        .with_body::<RestoreBody>()
        .with_json_response::<Lesson>(200, "The lesson as it is now"),
        ApiEndpoint::new(
            Method::POST,
            "/v1/lessons/{id}/unmerge",
            "Make two lessons of one again",
            post(unmerge_lesson),
        )
        .with_body::<EmptyBody>()
        .with_json_response::<Vec<AgentMemory>>(200, decided),
        ApiEndpoint::new(Method::GET, "/v1/effect", "Whether lessons help", get(list_effects))
            .with_json_response::<Vec<LessonEffectRow>>(
                200,
                "Lessons that runs were given, those first that should be looked at",
            ),
    ]
}

/// Which lessons are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessonsQuery {
    /// `given`: those that may be given to anybody; `live`: those in use; `all`: retired ones too.
    which: Option<ListedLessonsChoice>,
    /// Only of this state.
    state: Option<AcceptedWord<MemoryState>>,
    /// Only of this kind.
    kind: Option<AcceptedWord<MemoryKind>>,
    /// Only of this category.
    category: Option<AcceptedWord<MemoryCategory>>,
    /// Only of this scope.
    scope: Option<AcceptedWord<MemoryScope>>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only about this tool.
    tool: Option<String>,
    /// Only about this provider.
    provider: Option<String>,
    /// Only about this task.
    task: Option<String>,
    /// Only learned in this session.
    session: Option<String>,
    /// Only with each of these words somewhere in it.
    text: Option<String>,
    /// At most this many.
    #[schemars(range(min = 1, max = 5_000))]
    limit: Option<u32>,
    /// Leave out so many first.
    #[schemars(range(min = 0, max = 1_000_000))]
    offset: Option<u32>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Wanted")]
enum ListedLessonsChoice {
    Given,
    Live,
    All,
}

/// A lesson to be written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "LessonBody")]
pub(crate) struct NewLessonBody {
    /// What is to be remembered, in a sentence.
    #[schemars(regex(pattern = r"[\w]"))]
    pub(crate) text: String,
    /// What sort of statement it is; `preference` otherwise.
    pub(crate) kind: Option<AcceptedWord<MemoryKind>>,
    /// What it is about; follows the kind if not given.
    pub(crate) category: Option<AcceptedWord<MemoryCategory>>,
    /// The narrowest circumstance it holds in; `project` otherwise.
    pub(crate) scope: Option<AcceptedWord<MemoryScope>>,
    /// How much it matters, from 0 to 1.
    pub(crate) importance: Option<Importance>,
    /// The lesson as a rule: IF condition THEN recommendation.
    pub(crate) rule: Option<String>,
    /// A short paragraph with nuance.
    pub(crate) detail: Option<String>,
    /// How bad it is when it is ignored.
    pub(crate) severity: Option<AcceptedWord<Severity>>,
    /// It never grows old.
    #[serde(default)]
    pub(crate) evergreen: bool,
    /// Words to find it by.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
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
    /// Which failure: the 16 hexadecimal digits of its fingerprint.
    #[schemars(regex(pattern = "^[0-9a-f]{16}$"))]
    pub(crate) error_family: Option<ErrorFamily>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Nothing")]
struct EmptyBody {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Reason")]
struct ReasonBody {
    /// Why; kept with the lesson.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Restoring")]
struct RestoreBody {
    /// Which version, as the history counts them.
    #[schemars(range(min = 1))]
    version: u64,
}

impl LessonsQuery {
    fn into_filter(self) -> Result<LessonFilter, HttpProblem> {
        check_range("limit", self.limit, 1..=MAX_LISTED)?;
        check_range("offset", self.offset, 0..=1_000_000)?;
        let session = self.session.as_deref().map(SessionId::parse).transpose();
        Ok(LessonFilter {
            state: self.state.map(|AcceptedWord(state)| state),
            kind: self.kind.map(|AcceptedWord(kind)| kind),
            category: self.category.map(|AcceptedWord(category)| category),
            scope: self.scope.map(|AcceptedWord(scope)| scope),
            tags: self.tag.into_iter().collect(),
            tool: self.tool,
            provider: self.provider,
            task: self.task,
            session: session.map_err(|invalid| HttpProblem::bad_request(invalid.to_string()))?,
            words: self.text.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect(),
            ..LessonFilter::from_selection(match self.which.unwrap_or(ListedLessonsChoice::Live) {
                ListedLessonsChoice::Given => LessonStateFilter::Given,
                ListedLessonsChoice::Live => LessonStateFilter::Live,
                ListedLessonsChoice::All => LessonStateFilter::All,
            })
        })
    }
}

impl NewLessonBody {
    pub(crate) fn into_new_lesson(self, author: LessonAuthor) -> NewLesson {
        let word = |text: Option<String>| text.as_deref().map(one_line).filter(|text| !text.is_empty());
        NewLesson {
            text: self.text,
            kind: self.kind.map_or(MemoryKind::Preference, |AcceptedWord(kind)| kind),
            category: self.category.map(|AcceptedWord(category)| category),
            scope: self.scope.map_or(MemoryScope::Project, |AcceptedWord(scope)| scope),
            importance: self.importance.unwrap_or(Importance::MANUAL),
            rule: self.rule,
            detail: self.detail,
            severity: self.severity.map(|AcceptedWord(severity)| severity),
            evergreen: self.evergreen,
            tags: self.tags.iter().map(|tag| one_line(tag)).filter(|tag| !tag.is_empty()).collect(),
            facets: FacetValues {
                task_id: word(self.task),
                provider: word(self.provider),
                tool: word(self.tool),
                component: word(self.component),
                role: word(self.role),
                domain: word(self.domain),
                phase: word(self.phase),
                error_family: self.error_family,
            },
            author,
        }
    }
}

/// Returns the lesson name in a path. An invalid name gives 404, like a name that no lesson has.
fn parse_lesson_name(id: &str) -> Result<LessonName, HttpProblem> {
    LessonName::parse(id).map_err(|invalid| HttpProblem::new(StatusCode::NOT_FOUND, invalid.to_string()))
}

async fn list_lessons(
    State(served): State<Arc<ServerState>>,
    QueryParams(query): QueryParams<LessonsQuery>,
) -> Result<JsonAnswer<Vec<Lesson>>, HttpProblem> {
    let (limit, offset) = (query.limit.unwrap_or(MAX_LISTED), query.offset.unwrap_or_default());
    let lessons = served.archivist.list_lessons(&query.into_filter()?).await?;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(JsonAnswer(lessons.into_iter().skip(count(offset)).take(count(limit)).collect()))
}

async fn add_lesson(
    State(served): State<Arc<ServerState>>,
    JsonBody(body): JsonBody<NewLessonBody>,
) -> Result<impl IntoResponse, HttpProblem> {
    let lesson = served.archivist.add_lesson(body.into_new_lesson(LessonAuthor::Person)).await?;
    Ok((StatusCode::CREATED, JsonAnswer(lesson)))
}

async fn get_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<JsonAnswer<Lesson>, HttpProblem> {
    Ok(JsonAnswer(
        served
            .archivist
            .get_lesson(&parse_lesson_name(&id)?)
            .await
            .map_err(archivist_core::service::RequestError::from)?,
    ))
}

async fn explain_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<JsonAnswer<LessonEvidenceReport>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.explain_lesson(&parse_lesson_name(&id)?).await?))
}

async fn list_versions(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<JsonAnswer<Vec<LessonVersion>>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.list_versions(&parse_lesson_name(&id)?).await?))
}

async fn decide_on_lesson(
    served: &ServerState,
    id: &str,
    decision: LessonDecision,
) -> Result<JsonAnswer<Vec<AgentMemory>>, HttpProblem> {
    Ok(JsonAnswer(vec![served.archivist.apply_decision(&parse_lesson_name(id)?, &decision).await?]))
}

async fn approve_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<JsonAnswer<Vec<AgentMemory>>, HttpProblem> {
    decide_on_lesson(&served, &id, LessonDecision::Approve).await
}

async fn reject_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
    JsonBody(ReasonBody { reason }): JsonBody<ReasonBody>,
) -> Result<JsonAnswer<Vec<AgentMemory>>, HttpProblem> {
    let reason = reason.as_deref().map(one_line).filter(|reason| !reason.is_empty());
    decide_on_lesson(&served, &id, LessonDecision::Reject { reason }).await
}

async fn promote_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<JsonAnswer<Vec<AgentMemory>>, HttpProblem> {
    decide_on_lesson(&served, &id, LessonDecision::Promote).await
}

async fn forget_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
    JsonBody(ReasonBody { reason }): JsonBody<ReasonBody>,
) -> Result<JsonAnswer<Vec<Lesson>>, HttpProblem> {
    let forgotten = served.archivist.forget_lessons(&[parse_lesson_name(&id)?], reason.as_deref()).await?;
    Ok(JsonAnswer(forgotten.into_iter().map(|one| one.lesson).collect()))
}

async fn restore_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
    JsonBody(RestoreBody { version }): JsonBody<RestoreBody>,
) -> Result<JsonAnswer<Lesson>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.restore_version(&parse_lesson_name(&id)?, version).await?))
}

async fn unmerge_lesson(
    State(served): State<Arc<ServerState>>,
    Path(id): Path<String>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<JsonAnswer<Vec<AgentMemory>>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.unmerge_lesson(&parse_lesson_name(&id)?, served.now()).await?.into()))
}

async fn list_effects(State(served): State<Arc<ServerState>>) -> Result<JsonAnswer<Vec<LessonEffectRow>>, HttpProblem> {
    Ok(JsonAnswer(served.archivist.measure_lesson_effects(&[]).await?))
}
