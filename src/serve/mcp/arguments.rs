//! What an agent may say. Each type has fewer fields than its sister in `api/`: an agent pays for reading every one.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::{MemoryCategory, MemoryKind, MemoryScope};
use crate::redact::Redactor;
use crate::serve::api::{FeedbackBody, LessonBody, Question, Wish};
use crate::serve::extract::{Known, within};
use crate::serve::problem::Problem;

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

/// The longest question, output of a failure or proof.
const MAX_MATTER: usize = 16_000;

/// The longest name of a tool, a path, a run or a tag.
const MAX_WORD: usize = 200;

/// The most tags of a lesson and logs of one session, and the most lessons that are judged at once.
const MAX_NAMED: usize = 20;
const MAX_JUDGED: usize = 100;

/// Reads the arguments of a call.
pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Problem> {
    let arguments = Value::Object(arguments);
    let length = arguments.to_string().len();
    if length > MAX_ARGUMENT_BYTES {
        return Err(Problem::question(format!("the arguments are {length} bytes long"))
            .with_hint(format!("{MAX_ARGUMENT_BYTES} bytes is the most; send what matters")));
    }
    serde_json::from_value(arguments)
        .map_err(|error| Problem::question(format!("the arguments cannot be understood: {error}")))
}

/// What lessons are wanted for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(super) struct Recalling {
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
    kind: Option<Known<MemoryKind>>,
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

impl Recalling {
    /// Whether something will be noted of it.
    pub(super) fn is_noted(&self) -> bool {
        self.run.is_some()
    }

    pub(super) fn question(self) -> Result<Question, Problem> {
        within("max", self.max, 1..=MAX_LESSONS)?;
        within("budget", self.budget, 0..=MAX_TOKENS)?;
        no_longer("text", self.text.as_deref(), MAX_MATTER)?;
        no_longer("error", self.error.as_deref(), MAX_MATTER)?;
        let words = [("tool", &self.tool), ("component", &self.component), ("task", &self.task)];
        words.into_iter().try_for_each(|(name, word)| no_longer(name, word.as_deref(), MAX_WORD))?;
        Ok(Question {
            text: self.text,
            error: self.error,
            tool: self.tool,
            component: self.component,
            task: self.task,
            kind: self.kind,
            max: self.max,
            budget: self.budget,
            run: self.run,
            ..Question::default()
        })
    }
}

/// What is to be remembered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Recording {
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
    kind: Option<Known<MemoryKind>>,
    /// What it is about.
    category: Option<Known<MemoryCategory>>,
    /// Where it holds; `project` otherwise. `tool`, `component` and `task` need the field of that name.
    scope: Option<Holds>,
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
enum Holds {
    Global,
    Project,
    Tool,
    Component,
    Task,
}

impl From<Holds> for MemoryScope {
    fn from(holds: Holds) -> Self {
        match holds {
            Holds::Global => Self::Global,
            Holds::Project => Self::Project,
            Holds::Tool => Self::Tool,
            Holds::Component => Self::Component,
            Holds::Task => Self::Task,
        }
    }
}

impl Recording {
    /// The lesson as it is written down: what an agent copies out of its session may hold secrets.
    pub(super) fn body(self) -> Result<LessonBody, Problem> {
        no_longer("text", Some(&self.text), MAX_SENTENCE)?;
        no_longer("rule", self.rule.as_deref(), MAX_SENTENCE)?;
        no_longer("detail", self.detail.as_deref(), MAX_PARAGRAPH)?;
        let words = [("tool", &self.tool), ("component", &self.component), ("task", &self.task)];
        words.into_iter().try_for_each(|(name, word)| no_longer(name, word.as_deref(), MAX_WORD))?;
        no_more("tags", self.tags.len(), MAX_NAMED)?;
        self.tags.iter().try_for_each(|tag| no_longer("tags", Some(tag), MAX_WORD))?;
        let redactor = Redactor::new();
        let clean = |text: String| redactor.redact(&text).text.into_owned();
        Ok(LessonBody {
            text: clean(self.text),
            kind: Some(self.kind.unwrap_or(Known(MemoryKind::Lesson))),
            category: self.category,
            scope: self.scope.map(|holds| Known(holds.into())),
            importance: None,
            rule: self.rule.map(clean),
            detail: self.detail.map(|detail| clean(detail.replace(is_hidden, " "))),
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

/// Turns feedback down that is too long.
pub(super) fn bounded(body: FeedbackBody) -> Result<FeedbackBody, Problem> {
    no_more("lessons", body.lessons.len(), MAX_JUDGED)?;
    body.lessons.iter().try_for_each(|name| no_longer("lessons", Some(name), MAX_WORD))?;
    no_longer("run", Some(&body.run), MAX_WORD)?;
    no_longer("role", body.role.as_deref(), MAX_WORD)?;
    no_longer("evidence", body.evidence.as_deref(), MAX_MATTER)?;
    Ok(body)
}

/// Which lesson.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asking {
    /// The lesson's short name, as in `m-001`, or its id.
    #[schemars(length(min = 1, max = 200))]
    pub(super) lesson: String,
}

/// Which session to learn from.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Reflecting {
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

impl Reflecting {
    pub(super) fn wish(self) -> Result<Wish, Problem> {
        no_more("files", self.files.len(), MAX_NAMED)?;
        self.files.iter().try_for_each(|file| no_longer("files", Some(file), MAX_PARAGRAPH))?;
        no_longer("task", self.task.as_deref(), MAX_WORD)?;
        Ok(Wish { session: self.session, files: self.files, scenario: None, task: self.task, wait: self.wait })
    }
}

/// Nothing but a task, for a prompt.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Starting {
    task: Option<String>,
}

impl Starting {
    pub(super) fn task(self) -> Result<Option<String>, Problem> {
        no_longer("task", self.task.as_deref(), MAX_MATTER)?;
        Ok(self.task.filter(|task| !task.trim().is_empty()))
    }
}

/// Lines and tabs may stand in a paragraph; nothing else that steers a terminal may.
fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

fn no_longer(name: &str, text: Option<&str>, most: usize) -> Result<(), Problem> {
    match text.map(|text| text.chars().count()) {
        Some(length) if length > most => {
            Err(Problem::question(format!("`{name}` has {length} characters; {most} is the most")))
        }
        _ => Ok(()),
    }
}

fn no_more(name: &str, count: usize, most: usize) -> Result<(), Problem> {
    if count > most {
        return Err(Problem::question(format!("`{name}` names {count}; {most} is the most")));
    }
    Ok(())
}
