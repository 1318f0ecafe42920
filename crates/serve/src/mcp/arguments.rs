//! The arguments of the tools. Each type has fewer fields than its counterpart in `api/`: an agent pays for reading
//! each.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{FeedbackBody, NewLessonBody, RecallBody, ReflectionBody};
use crate::extractors::{AcceptedWord, check_range};
use crate::problem_response::HttpProblem;
use archivist_core::domain::{MemoryCategory, MemoryKind, MemoryScope};
use archivist_core::redact::Redactor;
use archivist_core::text::{JoinerPolicy, strip_hidden_text};

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;

/// The longest arguments of a call, as JSON.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// The most lessons that one call gets, and the most tokens that they may cost.
const MAX_LESSONS: u32 = 20;
const MAX_TOKENS: u32 = 4_000;

/// The longest texts of a lesson: a sentence, a rule, a paragraph.
const MAX_SENTENCE: usize = 500;
const MAX_PARAGRAPH: usize = 4_000;

/// The longest query, output of a failure or proof.
const MAX_MATTER: usize = 16_000;

/// The longest name of a tool, a path, a session or a tag.
const MAX_WORD: usize = 200;

/// The most tags of a lesson and logs of one session, and the most lessons that are judged at once.
const MAX_NAMED: usize = 20;
const MAX_JUDGED: usize = 100;

/// Parses the arguments of a call.
pub(super) fn parse_arguments<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, HttpProblem> {
    let arguments = Value::Object(arguments);
    let length = arguments.to_string().len();
    if length > MAX_ARGUMENT_BYTES {
        return Err(HttpProblem::bad_request(format!("the arguments are {length} bytes long"))
            .with_hint(format!("{MAX_ARGUMENT_BYTES} bytes is the most; send what matters")));
    }
    serde_json::from_value(arguments)
        .map_err(|error| HttpProblem::bad_request(format!("the arguments cannot be understood: {error}")))
}

/// What lessons are wanted for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
#[schemars(rename = "Recalling")]
pub(super) struct RecallArguments {
    /// What you are about to do, or what went wrong: a sentence or two in plain words.
    #[schemars(length(max = 16_000))]
    text: Option<String>,
    /// What a failed command printed, word for word. A known fix for this very failure comes first.
    #[schemars(length(max = 16_000))]
    error: Option<String>,
    /// The tool or program it is about, as in `cargo` or `bash`.
    #[schemars(length(max = 200))]
    tool: Option<String>,
    /// The path in the repository that it is about.
    #[schemars(length(max = 200))]
    component: Option<String>,
    /// The task that you work on, by its id.
    #[schemars(length(max = 200))]
    task: Option<String>,
    /// Only lessons of this kind.
    kind: Option<AcceptedWord<MemoryKind>>,
    /// At most this many lessons.
    #[schemars(range(min = 1, max = 20))]
    max: Option<u32>,
    /// At most this many tokens for all of them.
    #[schemars(range(min = 0, max = 4_000))]
    budget: Option<u32>,
    /// Your session's id, if you know it. Then it is noted that this run was given these lessons.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    run: Option<String>,
}

impl RecallArguments {
    /// Returns true if the recall will be recorded as an injection.
    pub(super) fn is_recorded(&self) -> bool {
        self.run.is_some()
    }

    pub(super) fn into_recall_body(self) -> Result<RecallBody, HttpProblem> {
        check_range("max", self.max, 1..=MAX_LESSONS)?;
        check_range("budget", self.budget, 0..=MAX_TOKENS)?;
        check_length("text", self.text.as_deref(), MAX_MATTER)?;
        check_length("error", self.error.as_deref(), MAX_MATTER)?;
        let words = [("tool", &self.tool), ("component", &self.component), ("task", &self.task)];
        words.into_iter().try_for_each(|(name, word)| check_length(name, word.as_deref(), MAX_WORD))?;
        Ok(RecallBody {
            text: self.text,
            error: self.error,
            tool: self.tool,
            component: self.component,
            task: self.task,
            kind: self.kind,
            max: self.max,
            budget: self.budget,
            run: self.run,
            ..RecallBody::default()
        })
    }
}

/// What is to be remembered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Recording")]
pub(super) struct RecordLessonArguments {
    /// What later sessions should know, in one sentence that makes sense without this conversation.
    #[schemars(length(min = 1, max = 500))]
    text: String,
    /// The same as a rule: IF this THEN that.
    #[schemars(length(max = 500))]
    rule: Option<String>,
    /// How you know it: what you ran and what came back.
    #[schemars(length(max = 4_000))]
    detail: Option<String>,
    /// `lesson`: learned from what happened (this, if you say nothing); `fact`: how things are; `decision`: settled,
    /// with reasons; `preference`: how a person wants it; `note`: a remark.
    kind: Option<AcceptedWord<MemoryKind>>,
    /// What it is about.
    category: Option<AcceptedWord<MemoryCategory>>,
    /// Where it holds; `project` otherwise. `tool`, `component` and `task` need the field of that name.
    scope: Option<LessonScopeChoice>,
    /// The tool or program it is about.
    #[schemars(length(max = 200))]
    tool: Option<String>,
    /// The path in the repository that it is about.
    #[schemars(length(max = 200))]
    component: Option<String>,
    /// The task that it is about, by its id.
    #[schemars(length(max = 200))]
    task: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    #[schemars(length(max = 20))]
    tags: Vec<String>,
}

/// Where a lesson holds, as far as an agent can tell.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Holds")]
enum LessonScopeChoice {
    Global,
    Project,
    Tool,
    Component,
    Task,
}

impl From<LessonScopeChoice> for MemoryScope {
    fn from(holds: LessonScopeChoice) -> Self {
        match holds {
            LessonScopeChoice::Global => Self::Global,
            LessonScopeChoice::Project => Self::Project,
            LessonScopeChoice::Tool => Self::Tool,
            LessonScopeChoice::Component => Self::Component,
            LessonScopeChoice::Task => Self::Task,
        }
    }
}

impl RecordLessonArguments {
    /// Converts the arguments into a lesson without secrets, which an agent may have copied from its session.
    pub(super) fn into_lesson_body(self) -> Result<NewLessonBody, HttpProblem> {
        check_length("text", Some(&self.text), MAX_SENTENCE)?;
        check_length("rule", self.rule.as_deref(), MAX_SENTENCE)?;
        check_length("detail", self.detail.as_deref(), MAX_PARAGRAPH)?;
        let words = [("tool", &self.tool), ("component", &self.component), ("task", &self.task)];
        words.into_iter().try_for_each(|(name, word)| check_length(name, word.as_deref(), MAX_WORD))?;
        check_count("tags", self.tags.len(), MAX_NAMED)?;
        self.tags.iter().try_for_each(|tag| check_length("tags", Some(tag), MAX_WORD))?;
        let redactor = Redactor::new();
        // A secret is recognized only once nothing hidden is inside it.
        let clean = |text: String| redactor.redact(&strip_hidden_text(&text, JoinerPolicy::Keep)).text.into_owned();
        Ok(NewLessonBody {
            text: clean(self.text),
            kind: Some(self.kind.unwrap_or(AcceptedWord(MemoryKind::Lesson))),
            category: self.category,
            scope: self.scope.map(|holds| AcceptedWord(holds.into())),
            importance: None,
            rule: self.rule.map(clean),
            detail: self.detail.map(clean),
            severity: None,
            evergreen: false,
            tags: self.tags.into_iter().map(clean).collect(),
            task: self.task.map(clean),
            tool: self.tool.map(clean),
            provider: None,
            role: None,
            domain: None,
            component: self.component.map(clean),
            phase: None,
            error_family: None,
        })
    }
}

/// Refuses feedback that is too long.
pub(super) fn check_feedback_length(body: FeedbackBody) -> Result<FeedbackBody, HttpProblem> {
    check_count("lessons", body.lessons.len(), MAX_JUDGED)?;
    body.lessons.iter().try_for_each(|name| check_length("lessons", Some(name), MAX_WORD))?;
    check_length("run", Some(&body.run), MAX_WORD)?;
    check_length("role", body.role.as_deref(), MAX_WORD)?;
    check_length("evidence", body.evidence.as_deref(), MAX_MATTER)?;
    Ok(body)
}

/// The lesson to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Asking")]
pub(super) struct WhyArguments {
    /// The lesson's short name, as in `m-001`, or its id.
    #[schemars(length(min = 1, max = 200))]
    pub(super) lesson: String,
}

/// Which session to learn from.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Reflecting")]
pub(super) struct ReflectArguments {
    /// The session's id, as its agent names it. Its logs are looked for.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    session: Option<String>,
    /// Its logs, where you know them: files of the project or in the folder of a known agent.
    #[schemars(length(max = 20))]
    files: Vec<String>,
    /// The task that was worked on, by its id.
    #[schemars(length(max = 200))]
    task: Option<String>,
    /// Wait for what comes of it, which can take minutes, instead of leaving it to be done soon.
    wait: bool,
}

impl ReflectArguments {
    pub(super) fn into_reflection_body(self) -> Result<ReflectionBody, HttpProblem> {
        check_count("files", self.files.len(), MAX_NAMED)?;
        self.files.iter().try_for_each(|file| check_length("files", Some(file), MAX_PARAGRAPH))?;
        check_length("task", self.task.as_deref(), MAX_WORD)?;
        Ok(ReflectionBody {
            session: self.session,
            files: self.files,
            scenario: None,
            task: self.task,
            wait: self.wait,
        })
    }
}

/// The arguments of the prompt: an optional task.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SessionStartArguments {
    task: Option<String>,
}

impl SessionStartArguments {
    pub(super) fn into_task(self) -> Result<Option<String>, HttpProblem> {
        check_length("task", self.task.as_deref(), MAX_MATTER)?;
        Ok(self.task.filter(|task| !task.trim().is_empty()))
    }
}

fn check_length(name: &str, text: Option<&str>, most: usize) -> Result<(), HttpProblem> {
    match text.map(|text| text.chars().count()) {
        Some(length) if length > most => {
            Err(HttpProblem::bad_request(format!("`{name}` has {length} characters; {most} is the most")))
        }
        _ => Ok(()),
    }
}

fn check_count(name: &str, count: usize, most: usize) -> Result<(), HttpProblem> {
    if count > most {
        return Err(HttpProblem::bad_request(format!("`{name}` names {count}; {most} is the most")));
    }
    Ok(())
}
