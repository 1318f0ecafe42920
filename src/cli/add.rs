//! `archivist add`: a person writes a lesson.

use anyhow::Result;
use clap::Args;

use super::arguments::word;
use super::circumstances::Circumstances;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::lesson::short;
use super::prose::one_line;
use super::session::Session;
use crate::domain::{
    AgentMemory, Facets, Importance, MemoryCategory, MemoryKind, MemoryScope, MemorySource, MemoryState, Severity,
};
use crate::memory::MemoryService;

const EXAMPLES: &str = "\
Examples:
  archivist add \"Run the tests with `cargo nextest`, not with `cargo test`\"
  archivist add --kind decision --scope global \"All dates are kept in UTC\"
  archivist add --kind lesson --tool sed \"sed -i differs\" --rule \"IF on macOS THEN give -i ''\"
  git log -1 --format=%B | archivist add -";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Add {
    /// What is to be remembered, in a sentence; - reads it from stdin
    text: String,
    /// What sort of statement it is
    #[arg(long, value_parser = word::<MemoryKind>(MemoryKind::WORDS), default_value = "preference")]
    kind: MemoryKind,
    /// What it is about; follows the kind if not given
    #[arg(long, value_parser = word::<MemoryCategory>(MemoryCategory::WORDS))]
    category: Option<MemoryCategory>,
    /// The narrowest circumstance it holds in; global lessons are shared by all projects
    #[arg(long, value_parser = word::<MemoryScope>(MemoryScope::WORDS), default_value = "project")]
    scope: MemoryScope,
    /// How much it matters, from 0 to 1
    #[arg(long, value_name = "NUMBER", default_value_t = Importance::MANUAL, value_parser = str::parse::<Importance>)]
    importance: Importance,
    /// The lesson as a rule: IF condition THEN recommendation
    #[arg(long, value_name = "TEXT")]
    rule: Option<String>,
    /// A short paragraph with nuance
    #[arg(long, value_name = "TEXT")]
    detail: Option<String>,
    /// How bad it is when it is ignored
    #[arg(long, value_parser = word::<Severity>(Severity::WORDS))]
    severity: Option<Severity>,
    /// It never grows old
    #[arg(long)]
    evergreen: bool,
    /// Print the lesson as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    circumstances: Circumstances,
}

impl Add {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let mut memory = self.memory(session, console)?;
        let receipt = session.memory.add_memories(vec![memory.clone()], session.now).await?;
        memory.alias = receipt.lessons.into_iter().next().map(|(_, alias)| alias);
        if self.json {
            console.json(&memory)?;
        } else {
            console.line(&short(&memory))?;
        }
        Ok(Exit::Done)
    }

    fn memory(&self, session: &Session, console: &mut Console) -> Result<AgentMemory, Failure> {
        let text = if self.text == "-" { console.read_input()? } else { self.text.clone() };
        let summary = one_line(&text);
        if summary.is_empty() {
            return Err(Failure::usage("there is nothing to remember: the text is empty")
                .with_hint("say it in a sentence, as in `archivist add \"Prefer rg over grep\"`"));
        }
        let rule = self.rule.as_deref().map(one_line).filter(|rule| !rule.is_empty());
        if rule.as_deref().is_some_and(|rule| !has_rule_shape(rule)) {
            console.warn("the rule is kept, but it does not read as IF condition THEN recommendation");
        }
        let mut memory = AgentMemory::new(session.ids.memory(session.now, &summary), session.now, summary);
        memory.kind = self.kind.clone();
        memory.category = self.category.clone().unwrap_or_else(|| usual_category(&self.kind));
        memory.scope = self.scope.clone();
        memory.importance = self.importance;
        memory.severity = self.severity.clone();
        memory.rule = rule;
        memory.detail = self.detail.as_deref().map(str::trim).filter(|detail| !detail.is_empty()).map(str::to_owned);
        memory.evergreen = self.evergreen;
        memory.source = MemorySource::Manual;
        memory.state = Some(MemoryState::Active);
        self.circumstances.lay_over(&mut memory.facets, &mut memory.tags)?;
        says_where_it_holds(&memory.scope, &memory.facets)?;
        session.project().sign(&mut memory);
        if memory.scope == MemoryScope::Global && !session.has_global() {
            console.warn("`memory.globalDir` leads nowhere, so only this project will see the lesson");
        }
        Ok(memory)
    }
}

fn usual_category(kind: &MemoryKind) -> MemoryCategory {
    match kind {
        MemoryKind::Preference => MemoryCategory::Preference,
        MemoryKind::Decision => MemoryCategory::Decision,
        _ => MemoryCategory::Heuristic,
    }
}

fn has_rule_shape(rule: &str) -> bool {
    let mut words = rule.split_whitespace();
    words.any(|word| word.eq_ignore_ascii_case("if")) && words.any(|word| word.eq_ignore_ascii_case("then"))
}

/// A lesson that holds for one tool must say for which.
fn says_where_it_holds(scope: &MemoryScope, facets: &Facets) -> Result<(), Failure> {
    let (flag, value) = match scope {
        MemoryScope::Task => ("task ID", &facets.task_id),
        MemoryScope::Tool => ("tool NAME", &facets.tool),
        MemoryScope::Provider => ("provider NAME", &facets.provider),
        MemoryScope::Component => ("component PATH", &facets.component),
        MemoryScope::Role => ("role NAME", &facets.role),
        MemoryScope::Domain => ("domain NAME", &facets.domain),
        MemoryScope::Global | MemoryScope::Project | MemoryScope::Repo | MemoryScope::Other(_) => return Ok(()),
    };
    if value.is_some() {
        return Ok(());
    }
    Err(Failure::usage(format!("a lesson of scope {scope} must say which {scope}")).with_hint(format!("add --{flag}")))
}
