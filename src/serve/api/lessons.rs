//! Lessons: listed, shown, written and decided about.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{Author, EffectRow, Grounds, LessonFilter, NewLesson, Version};
use crate::domain::{
    AgentMemory, ErrorFamily, Facets, Importance, MemoryCategory, MemoryKind, MemoryScope, MemoryState, SessionId,
    Severity,
};
use crate::memory::{Lesson, LessonName, Which};
use crate::serve::Served;
use crate::serve::endpoint::Endpoint;
use crate::serve::extract::{Answer, Asked, Known, Said, within};
use crate::serve::problem::Problem;
use crate::service::Decision;
use crate::text::one_line;

/// The most that one answer lists.
const MAX_LISTED: u32 = 5_000;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let decided = "The lessons as they are now";
    vec![
        Endpoint::new(Method::GET, "/v1/lessons", "Lessons, the one last known to hold first", get(list))
            .asks::<LessonsQuery>()
            .answers::<Vec<Lesson>>(200, "Lessons"),
        Endpoint::new(Method::POST, "/v1/lessons", "Write a lesson, a preference or a decision", post(add))
            .takes::<LessonBody>()
            .answers::<AgentMemory>(201, "The lesson"),
        Endpoint::new(Method::GET, "/v1/lessons/{id}", "A lesson in full", get(show))
            .answers::<Lesson>(200, "The lesson"),
        Endpoint::new(Method::GET, "/v1/lessons/{id}/why", "Why a lesson is believed", get(why))
            .answers::<Grounds>(200, "Its words, its runs, what came of it"),
        Endpoint::new(Method::GET, "/v1/lessons/{id}/history", "The versions of a lesson", get(history))
            .answers::<Vec<Version>>(200, "Versions, the oldest first"),
        Endpoint::new(Method::POST, "/v1/lessons/{id}/approve", "Let a lesson out of quarantine", post(approve))
            .takes::<Nothing>()
            .answers::<Vec<AgentMemory>>(200, decided),
        Endpoint::new(Method::POST, "/v1/lessons/{id}/reject", "Do not learn a lesson again", post(reject))
            .takes::<Reason>()
            .answers::<Vec<AgentMemory>>(200, decided),
        Endpoint::new(Method::POST, "/v1/lessons/{id}/promote", "Stand behind a lesson", post(promote))
            .takes::<Nothing>()
            .answers::<Vec<AgentMemory>>(200, decided),
        Endpoint::new(Method::POST, "/v1/lessons/{id}/forget", "Take a lesson out of use", post(forget))
            .takes::<Reason>()
            .answers::<Vec<Lesson>>(200, decided),
        Endpoint::new(Method::POST, "/v1/lessons/{id}/restore", "Bring back an earlier version", post(restore))
            .takes::<Restoring>()
            .answers::<Lesson>(200, "The lesson as it is now"),
        Endpoint::new(Method::POST, "/v1/lessons/{id}/unmerge", "Make two lessons of one again", post(unmerge))
            .takes::<Nothing>()
            .answers::<Vec<AgentMemory>>(200, decided),
        Endpoint::new(Method::GET, "/v1/effect", "Whether lessons help", get(effect))
            .answers::<Vec<EffectRow>>(200, "Lessons that runs were given, those first that should be looked at"),
    ]
}

/// Which lessons are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessonsQuery {
    /// `given`: those that may be given to anybody; `live`: those in use; `all`: retired ones too.
    which: Option<Wanted>,
    /// Only of this state.
    state: Option<Known<MemoryState>>,
    /// Only of this kind.
    kind: Option<Known<MemoryKind>>,
    /// Only of this category.
    category: Option<Known<MemoryCategory>>,
    /// Only of this scope.
    scope: Option<Known<MemoryScope>>,
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
enum Wanted {
    Given,
    Live,
    All,
}

/// A lesson to be written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::serve) struct LessonBody {
    /// What is to be remembered, in a sentence.
    #[schemars(regex(pattern = r"[\w]"))]
    pub(in crate::serve) text: String,
    /// What sort of statement it is; `preference` otherwise.
    pub(in crate::serve) kind: Option<Known<MemoryKind>>,
    /// What it is about; follows the kind if not given.
    pub(in crate::serve) category: Option<Known<MemoryCategory>>,
    /// The narrowest circumstance it holds in; `project` otherwise.
    pub(in crate::serve) scope: Option<Known<MemoryScope>>,
    /// How much it matters, from 0 to 1.
    pub(in crate::serve) importance: Option<Importance>,
    /// The lesson as a rule: IF condition THEN recommendation.
    pub(in crate::serve) rule: Option<String>,
    /// A short paragraph with nuance.
    pub(in crate::serve) detail: Option<String>,
    /// How bad it is when it is ignored.
    pub(in crate::serve) severity: Option<Known<Severity>>,
    /// It never grows old.
    #[serde(default)]
    pub(in crate::serve) evergreen: bool,
    /// Words to find it by.
    #[serde(default)]
    pub(in crate::serve) tags: Vec<String>,
    /// Which task.
    pub(in crate::serve) task: Option<String>,
    /// Which tool.
    pub(in crate::serve) tool: Option<String>,
    /// Which agent or model vendor.
    pub(in crate::serve) provider: Option<String>,
    /// Who acts.
    pub(in crate::serve) role: Option<String>,
    /// Which domain.
    pub(in crate::serve) domain: Option<String>,
    /// A path of the repository.
    pub(in crate::serve) component: Option<String>,
    /// Where in the work.
    pub(in crate::serve) phase: Option<String>,
    /// Which failure: the 16 hexadecimal digits of its fingerprint.
    #[schemars(regex(pattern = "^[0-9a-f]{16}$"))]
    pub(in crate::serve) error_family: Option<ErrorFamily>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reason {
    /// Why; kept with the lesson.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Restoring {
    /// Which version, as the history counts them.
    #[schemars(range(min = 1))]
    version: u64,
}

impl LessonsQuery {
    fn filter(self) -> Result<LessonFilter, Problem> {
        within("limit", self.limit, 1..=MAX_LISTED)?;
        within("offset", self.offset, 0..=1_000_000)?;
        let session = self.session.as_deref().map(SessionId::parse).transpose();
        Ok(LessonFilter {
            state: self.state.map(|Known(state)| state),
            kind: self.kind.map(|Known(kind)| kind),
            category: self.category.map(|Known(category)| category),
            scope: self.scope.map(|Known(scope)| scope),
            tags: self.tag.into_iter().collect(),
            tool: self.tool,
            provider: self.provider,
            task: self.task,
            session: session.map_err(|invalid| Problem::question(invalid.to_string()))?,
            words: self.text.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect(),
            ..LessonFilter::of(match self.which.unwrap_or(Wanted::Live) {
                Wanted::Given => Which::Given,
                Wanted::Live => Which::Live,
                Wanted::All => Which::All,
            })
        })
    }
}

impl LessonBody {
    pub(in crate::serve) fn lesson(self, author: Author) -> NewLesson {
        let word = |text: Option<String>| text.as_deref().map(one_line).filter(|text| !text.is_empty());
        NewLesson {
            text: self.text,
            kind: self.kind.map_or(MemoryKind::Preference, |Known(kind)| kind),
            category: self.category.map(|Known(category)| category),
            scope: self.scope.map_or(MemoryScope::Project, |Known(scope)| scope),
            importance: self.importance.unwrap_or(Importance::MANUAL),
            rule: self.rule,
            detail: self.detail,
            severity: self.severity.map(|Known(severity)| severity),
            evergreen: self.evergreen,
            tags: self.tags.iter().map(|tag| one_line(tag)).filter(|tag| !tag.is_empty()).collect(),
            facets: Facets {
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

/// The lesson that a path names. What cannot be a name is nobody's.
fn named(id: &str) -> Result<LessonName, Problem> {
    LessonName::parse(id).map_err(|invalid| Problem::new(StatusCode::NOT_FOUND, invalid.to_string()))
}

async fn list(
    State(served): State<Arc<Served>>,
    Asked(query): Asked<LessonsQuery>,
) -> Result<Answer<Vec<Lesson>>, Problem> {
    let (limit, offset) = (query.limit.unwrap_or(MAX_LISTED), query.offset.unwrap_or_default());
    let lessons = served.desk.lessons(&query.filter()?).await?;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Answer(lessons.into_iter().skip(count(offset)).take(count(limit)).collect()))
}

async fn add(State(served): State<Arc<Served>>, Said(body): Said<LessonBody>) -> Result<impl IntoResponse, Problem> {
    let lesson = served.desk.add(body.lesson(Author::Person), &served.ids, served.now()).await?;
    Ok((StatusCode::CREATED, Answer(lesson)))
}

async fn show(State(served): State<Arc<Served>>, Path(id): Path<String>) -> Result<Answer<Lesson>, Problem> {
    Ok(Answer(served.desk.lesson(&named(&id)?).await.map_err(crate::desk::Refusal::from)?))
}

async fn why(State(served): State<Arc<Served>>, Path(id): Path<String>) -> Result<Answer<Grounds>, Problem> {
    Ok(Answer(served.desk.why(&named(&id)?).await?))
}

async fn history(State(served): State<Arc<Served>>, Path(id): Path<String>) -> Result<Answer<Vec<Version>>, Problem> {
    Ok(Answer(served.desk.versions(&named(&id)?).await?))
}

async fn decide(served: &Served, id: &str, decision: Decision) -> Result<Answer<Vec<AgentMemory>>, Problem> {
    Ok(Answer(vec![served.desk.decide(&named(id)?, &decision, served.now()).await?]))
}

async fn approve(
    State(served): State<Arc<Served>>,
    Path(id): Path<String>,
    Said(Nothing {}): Said<Nothing>,
) -> Result<Answer<Vec<AgentMemory>>, Problem> {
    decide(&served, &id, Decision::Approve).await
}

async fn reject(
    State(served): State<Arc<Served>>,
    Path(id): Path<String>,
    Said(Reason { reason }): Said<Reason>,
) -> Result<Answer<Vec<AgentMemory>>, Problem> {
    let reason = reason.as_deref().map(one_line).filter(|reason| !reason.is_empty());
    decide(&served, &id, Decision::Reject { reason }).await
}

async fn promote(
    State(served): State<Arc<Served>>,
    Path(id): Path<String>,
    Said(Nothing {}): Said<Nothing>,
) -> Result<Answer<Vec<AgentMemory>>, Problem> {
    decide(&served, &id, Decision::Promote).await
}

async fn forget(
    State(served): State<Arc<Served>>,
    Path(id): Path<String>,
    Said(Reason { reason }): Said<Reason>,
) -> Result<Answer<Vec<Lesson>>, Problem> {
    let forgotten = served.desk.forget(&[named(&id)?], reason.as_deref(), served.now()).await?;
    Ok(Answer(forgotten.into_iter().map(|one| one.lesson).collect()))
}

async fn restore(
    State(served): State<Arc<Served>>,
    Path(id): Path<String>,
    Said(Restoring { version }): Said<Restoring>,
) -> Result<Answer<Lesson>, Problem> {
    Ok(Answer(served.desk.restore(&named(&id)?, version, served.now()).await?))
}

async fn unmerge(
    State(served): State<Arc<Served>>,
    Path(id): Path<String>,
    Said(Nothing {}): Said<Nothing>,
) -> Result<Answer<Vec<AgentMemory>>, Problem> {
    Ok(Answer(served.desk.unmerge(&named(&id)?, served.now()).await?.into()))
}

async fn effect(State(served): State<Arc<Served>>) -> Result<Answer<Vec<EffectRow>>, Problem> {
    Ok(Answer(served.desk.effect(&[]).await?))
}
