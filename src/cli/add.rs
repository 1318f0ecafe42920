//! `archivist add`: a person writes a lesson.

use anyhow::Result;
use clap::Args;

use super::arguments::word;
use super::circumstances::Circumstances;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::lesson::short;
use super::session::Session;
use crate::desk::{Author, NewLesson};
use crate::domain::{Facets, Importance, MemoryCategory, MemoryKind, MemoryScope, Severity};

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
        let new = self.lesson(session, console)?;
        let memory = session.desk.add(new, &session.ids, session.now).await?;
        if self.json {
            console.json(&memory)?;
        } else {
            console.line(&short(&memory))?;
        }
        Ok(Exit::Done)
    }

    fn lesson(&self, session: &Session, console: &mut Console) -> Result<NewLesson, Failure> {
        let text = if self.text == "-" { console.read_input()? } else { self.text.clone() };
        if self.rule.as_deref().is_some_and(|rule| !rule.trim().is_empty() && !has_rule_shape(rule)) {
            console.warn("the rule is kept, but it does not read as IF condition THEN recommendation");
        }
        if self.scope == MemoryScope::Global && !session.desk.has_global() {
            console.warn("`memory.globalDir` leads nowhere, so only this project will see the lesson");
        }
        let (mut facets, mut tags) = (Facets::default(), Vec::new());
        self.circumstances.lay_over(&mut facets, &mut tags)?;
        Ok(NewLesson {
            text,
            kind: self.kind.clone(),
            category: self.category.clone(),
            scope: self.scope.clone(),
            importance: self.importance,
            rule: self.rule.clone(),
            detail: self.detail.clone(),
            severity: self.severity.clone(),
            evergreen: self.evergreen,
            facets,
            tags,
            author: Author::Person,
        })
    }
}

fn has_rule_shape(rule: &str) -> bool {
    let mut words = rule.split_whitespace();
    words.any(|word| word.eq_ignore_ascii_case("if")) && words.any(|word| word.eq_ignore_ascii_case("then"))
}
