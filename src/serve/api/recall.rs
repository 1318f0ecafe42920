//! Lessons for a prompt, and what is said of them afterwards.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::http::request::Parts;
use axum::routing::post;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::complaint;
use crate::desk::{self, Evidence, Noted, Opinion, Reply, role};
use crate::domain::{EvidenceLevel, FeedbackVerdict, MemoryKind, MemoryQuery, MemoryScope, RunId};
use crate::memory::LessonName;
use crate::recall::{Point, Profile, Style};
use crate::redact::Redactor;
use crate::serve::Served;
use crate::serve::access::Wish;
use crate::serve::endpoint::Endpoint;
use crate::serve::extract::{Answer, Known, Said, within};
use crate::serve::problem::Problem;
use crate::text::one_line;

/// Nobody asks for more.
const MAX_LESSONS: u32 = 1_000;
const MAX_TOKENS: u32 = 1_000_000;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/recall", "Lessons that help with a matter", post(recall))
            .takes::<Question>()
            .answers::<Recalled>(200, "Lessons, the best first; none where nothing helps"),
        Endpoint::new(Method::POST, "/v1/feedback", "Say that lessons held or were noise in a run", post(feedback))
            .takes::<FeedbackBody>()
            .answers::<Vec<Noted>>(200, "What was noted"),
    ]
}

/// What it is about, and for whom.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(in crate::serve) struct Question {
    /// What it is about, in plain words.
    pub(in crate::serve) text: Option<String>,
    /// The output of something that failed: its fix comes first.
    pub(in crate::serve) error: Option<String>,
    /// Tags that would be welcome.
    pub(in crate::serve) tags: Vec<String>,
    /// Only lessons of this scope.
    pub(in crate::serve) scope: Option<Known<MemoryScope>>,
    /// Only lessons of this kind.
    pub(in crate::serve) kind: Option<Known<MemoryKind>>,
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
    /// Where in the run: `orchestrator`, `subagent`, `healer`, `planner`, `small-task` or a word of your own.
    pub(in crate::serve) point: Option<String>,
    /// At most this many.
    #[schemars(range(min = 1, max = 1_000))]
    pub(in crate::serve) max: Option<u32>,
    /// At most this many tokens, heading and all.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(in crate::serve) budget: Option<u32>,
    /// How the block is written.
    pub(in crate::serve) style: Option<BlockStyle>,
    /// By what lessons are put in order.
    pub(in crate::serve) profile: Option<Profile>,
    /// The run that gets them; it is noted that it did.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    pub(in crate::serve) run: Option<String>,
    /// Find lessons by their meaning as well.
    pub(in crate::serve) by_meaning: bool,
}

/// How a block is written.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::serve) enum BlockStyle {
    ProjectLessons,
    KnownIssues,
    Patterns,
    SystemReminder,
}

/// Lessons that were found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct Recalled {
    #[serde(flatten)]
    pub(in crate::serve) reply: Reply,
    /// What a prompt gets; empty where there is nothing to say.
    pub(in crate::serve) block: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::serve) struct FeedbackBody {
    /// Whether the lessons held, with proof, or were noise.
    pub(in crate::serve) verdict: Verdict,
    /// Short names or ids.
    #[schemars(length(min = 1, max = 100))]
    pub(in crate::serve) lessons: Vec<String>,
    /// In which run.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    pub(in crate::serve) run: String,
    /// Who says so, in one word.
    pub(in crate::serve) role: Option<String>,
    /// What shows it: a command with what it printed, or a file:line with words of that line.
    pub(in crate::serve) evidence: Option<String>,
}

/// What is said of lessons.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Said")]
pub(in crate::serve) enum Verdict {
    Validate,
    Ignore,
}

impl Question {
    /// What the desk is asked.
    pub(in crate::serve) fn asked(self, ours: MemoryQuery) -> Result<desk::Asked, Problem> {
        within("max", self.max, 1..=MAX_LESSONS)?;
        within("budget", self.budget, 0..=MAX_TOKENS)?;
        let word = |text: Option<String>| text.as_deref().map(one_line).filter(|text| !text.is_empty());
        let mut query = ours;
        query.scope = self.scope.map(|Known(scope)| scope);
        query.kind = self.kind.map(|Known(kind)| kind);
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
            let complaint = complaint(query.facets.tool.as_deref(), output, &Redactor::new())
                .ok_or_else(|| Problem::question("the output tells of no failure"))?;
            query.facets.error_family = Some(complaint.family);
            query.text.get_or_insert(complaint.headline);
        }
        let run = self.run.as_deref().map(RunId::parse).transpose();
        let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(desk::Asked {
            point: word(self.point).map(Point::from),
            style: match self.style {
                None | Some(BlockStyle::ProjectLessons) => Style::ProjectLessons,
                Some(BlockStyle::KnownIssues) => Style::KnownIssues,
                Some(BlockStyle::Patterns) => Style::Patterns,
                Some(BlockStyle::SystemReminder) => Style::SystemReminder,
            },
            profile: self.profile,
            items: self.max.map(number),
            tokens: self.budget.map(number),
            run: run.map_err(|invalid| Problem::question(invalid.to_string()))?,
            by_meaning: self.by_meaning,
            ..desk::Asked::about(query)
        })
    }
}

impl FeedbackBody {
    pub(in crate::serve) fn opinion(&self) -> Result<(Vec<LessonName>, Opinion), Problem> {
        let unclear = |why: String| Problem::question(why);
        if self.lessons.is_empty() {
            return Err(unclear("no lesson is named".to_owned()));
        }
        let names: Result<Vec<LessonName>, _> = self.lessons.iter().map(|name| LessonName::parse(name)).collect();
        let opinion = Opinion {
            verdict: match self.verdict {
                Verdict::Validate => FeedbackVerdict::Validated,
                Verdict::Ignore => FeedbackVerdict::Ignored,
            },
            role: self.role.as_deref().map(role).transpose().map_err(unclear)?,
            evidence: Evidence {
                run: RunId::parse(&self.run).map_err(|invalid| unclear(invalid.to_string()))?,
                text: self.evidence.clone(),
                stated: None::<EvidenceLevel>,
            },
        };
        Ok((names.map_err(|invalid| unclear(invalid.to_string()))?, opinion))
    }
}

async fn recall(
    State(served): State<Arc<Served>>,
    head: Parts,
    Said(question): Said<Question>,
) -> Result<Answer<Recalled>, Problem> {
    // What a run was given is noted, and not everybody may write.
    if question.run.is_some() {
        served.access.check(&head, Wish::Write)?;
    }
    Ok(Answer(served.recall(question).await?))
}

async fn feedback(
    State(served): State<Arc<Served>>,
    Said(body): Said<FeedbackBody>,
) -> Result<Answer<Vec<Noted>>, Problem> {
    let (names, opinion) = body.opinion()?;
    Ok(Answer(served.desk.feedback(&names, &opinion, served.now()).await?))
}

impl Served {
    /// Lessons for a prompt, and a note of it where a run gets them.
    pub(in crate::serve) async fn recall(&self, question: Question) -> Result<Recalled, Problem> {
        let asked = question.asked(self.desk.question())?;
        let (run, point) = (asked.run.clone(), asked.point.clone());
        let found = self.desk.recall(asked, self.now()).await?;
        if let Some(run) = &run {
            self.desk.note(&found, run, point.as_ref(), self.now()).await?;
        }
        Ok(Recalled { reply: Reply::of(&found.block, found.level), block: found.block.text })
    }
}
