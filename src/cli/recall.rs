//! `archivist recall`: the lessons that help with a matter.

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::arguments::word;
use super::circumstances::Circumstances;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::prose::one_line;
use super::question;
use super::session::Session;
use crate::domain::{AgentMemory, Alias, MemoryId, MemoryKind, MemoryQuery, MemoryScope, MemoryState, RunId};
use crate::memory::{Answer, Hit, MemoryService, Method, Usage};

/// What finds lessons by words and ranks them by age; embeddings would be level 0.
const KEYWORD_LEVEL: u8 = 1;
/// The longest that a lesson's summary, or its rule, gets in a prompt.
const MAX_CHARACTERS: usize = 500;
/// Scores are rounded to this many parts, so that the last bits of a float do not reach a reader.
const PARTS: f64 = 1e6;

const EXAMPLES: &str = "\
Examples:
  archivist recall \"the linker cannot find libssl\" --tool bash
  archivist recall --tag flaky --max 3 --json
  archivist recall \"add a login page\" --task auth-42 --run run-7 --point subagent
  echo '{\"text\": \"linker error\", \"maxResults\": 3}' | archivist recall --query -

With nothing to say it prints nothing and ends with 0.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Recall {
    /// What it is about, in plain words; - reads it from stdin
    text: Option<String>,
    /// Only lessons of this scope
    #[arg(long, value_parser = word::<MemoryScope>(MemoryScope::WORDS))]
    scope: Option<MemoryScope>,
    /// Only lessons of this kind
    #[arg(long, value_parser = word::<MemoryKind>(MemoryKind::WORDS))]
    kind: Option<MemoryKind>,
    /// At most this many; `recall.maxResults` otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    max: Option<u16>,
    /// A question as JSON, from a file or - for stdin; other flags are laid over it
    #[arg(long, value_name = "FILE")]
    query: Option<String>,
    /// Note in the ledger that this run was given the lessons
    #[arg(long, value_name = "ID", value_parser = RunId::parse)]
    run: Option<RunId>,
    /// Where in the run: orchestrator, subagent, healer
    #[arg(long, value_name = "NAME", default_value = "orchestrator", value_parser = point)]
    point: String,
    /// How the answer is written: project-lessons or json
    #[arg(long, value_enum, hide_possible_values = true, default_value = "project-lessons")]
    style: AnswerStyle,
    /// The same as --style json
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    circumstances: Circumstances,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswerStyle {
    /// A heading and a numbered list, one line a lesson
    ProjectLessons,
    /// Scores and all
    Json,
}

/// The answer as a program reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
    level: u8,
    method: &'static str,
    items: Vec<Item<'a>>,
    dropped: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    id: &'a MemoryId,
    alias: Option<&'a Alias>,
    summary: &'a str,
    rule: Option<&'a str>,
    score: f64,
    importance: f64,
    recency: f64,
    relevance: f64,
    state: Option<&'a MemoryState>,
    exposed: bool,
}

impl Recall {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let query = self.question(session, console)?;
        let answer = session.memory.query(&query, &session.ranking(), session.now).await?;
        tracing::info!(hits = answer.hits.len(), dropped = answer.dropped, method = method(&answer), "recalled");
        if self.json || self.style == AnswerStyle::Json {
            console.json(&Reply::of(&answer))?;
        } else if !answer.hits.is_empty() {
            console.print(project_lessons(&answer.hits).as_bytes())?;
        }
        // A run that did not get the lessons was not exposed to them, so they are out before they are noted.
        console.flush()?;
        if let Some(run) = &self.run
            && !answer.hits.is_empty()
        {
            let ids: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.lesson.memory.id.clone()).collect();
            let usage = Usage { run: run.clone(), point: self.point.clone() };
            session.memory.record_usage(&ids, &usage, session.now).await?;
        }
        Ok(Exit::Done)
    }

    fn question(&self, session: &Session, console: &mut Console) -> Result<MemoryQuery> {
        let mut query = match &self.query {
            Some(source) => question::read(source, session, console)?,
            None => session.question(),
        };
        match self.text.as_deref() {
            Some("-") if self.query.as_deref() == Some("-") => {
                return Err(Failure::usage("stdin cannot be both the text and the question").into());
            }
            Some("-") => query.text = Some(console.read_input()?),
            Some(text) => query.text = Some(text.to_owned()),
            None => {}
        }
        if let Some(scope) = &self.scope {
            query.scope = Some(scope.clone());
        }
        if let Some(kind) = &self.kind {
            query.kind = Some(kind.clone());
        }
        if let Some(max) = self.max {
            query.max_results = Some(usize::from(max));
        }
        self.circumstances.lay_over(&mut query.facets, &mut query.tags)?;
        Ok(query)
    }
}

impl<'a> Reply<'a> {
    fn of(answer: &'a Answer) -> Self {
        let items = answer.hits.iter().map(Item::of).collect();
        Self { level: KEYWORD_LEVEL, method: method(answer), items, dropped: answer.dropped }
    }
}

impl<'a> Item<'a> {
    fn of(hit: &'a Hit) -> Self {
        let AgentMemory { id, alias, summary, rule, state, .. } = &hit.lesson.memory;
        Self {
            id,
            alias: alias.as_ref(),
            summary,
            rule: rule.as_deref(),
            score: rounded(hit.score.score),
            importance: rounded(hit.score.importance),
            recency: rounded(hit.score.recency),
            relevance: rounded(hit.score.relevance),
            state: state.as_ref(),
            exposed: true,
        }
    }
}

/// The block that goes into a prompt: one line a lesson, whatever its text holds.
fn project_lessons(hits: &[Hit]) -> String {
    let mut text = String::from("### Project Lessons\n\n");
    for (number, hit) in (1..).zip(hits) {
        text.push_str(&format!("{number}. {}\n", line(&hit.lesson.memory)));
    }
    text
}

/// A lesson on one line, whatever its text holds.
pub(super) fn line(memory: &AgentMemory) -> String {
    let summary = capped(one_line(&memory.summary));
    let rule = memory.rule.as_deref().map(|rule| capped(one_line(rule)));
    let rule = rule.filter(|rule| !rule.is_empty() && *rule != summary);
    rule.map_or_else(|| summary.clone(), |rule| format!("{summary} ({rule})"))
}

/// A prompt is no place for a novel, whoever wrote it.
fn capped(text: String) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn method(answer: &Answer) -> &'static str {
    match answer.method {
        Method::Index => "index",
        Method::FullRead => "full read",
    }
}

fn rounded(number: f64) -> f64 {
    (number * PARTS).round() / PARTS
}

fn point(text: &str) -> Result<String, String> {
    let text = one_line(text);
    if text.is_empty() || text.contains(' ') { Err("a point is one word, as in subagent".to_owned()) } else { Ok(text) }
}
