//! `archivist add`: stores a lesson that a person writes by hand.

use anyhow::Result;
use clap::Args;

use crate::arguments::word_parser;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::facet_flags::FacetFlags;
use crate::lesson_format::summary_line;
use archivist_core::domain::{FacetValues, Importance, MemoryCategory, MemoryKind, MemoryScope, Severity};
use archivist_core::service::{LessonAuthor, NewLesson};

const EXAMPLES: &str = "\
Examples:
  archivist add \"Run the tests with `cargo nextest`, not with `cargo test`\"
  archivist add --kind decision --scope global \"All dates are kept in UTC\"
  archivist add --kind lesson --tool sed \"sed -i differs\" --rule \"IF on macOS THEN give -i ''\"
  git log -1 --format=%B | archivist add -";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AddCommand {
    /// What is to be remembered, in a sentence; - reads it from stdin
    text: String,
    /// What sort of statement it is
    #[arg(long, value_parser = word_parser::<MemoryKind>(MemoryKind::WORDS), default_value = "preference")]
    kind: MemoryKind,
    /// What it is about; follows the kind if not given
    #[arg(long, value_parser = word_parser::<MemoryCategory>(MemoryCategory::WORDS))]
    category: Option<MemoryCategory>,
    /// The narrowest circumstance it holds in; global lessons are shared by all projects
    #[arg(long, value_parser = word_parser::<MemoryScope>(MemoryScope::WORDS), default_value = "project")]
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
    #[arg(long, value_parser = word_parser::<Severity>(Severity::WORDS))]
    severity: Option<Severity>,
    /// It never grows old
    #[arg(long)]
    evergreen: bool,
    /// Print the lesson as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    circumstances: FacetFlags,
}

impl AddCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let new = self.build_lesson(session, console)?;
        let memory = session.archivist.add_lesson(new).await?;
        if self.json {
            console.print_json(&memory)?;
        } else {
            console.print_line(&summary_line(&memory))?;
        }
        Ok(CommandExit::Done)
    }

    fn build_lesson(&self, session: &CommandContext, console: &mut Console) -> Result<NewLesson, CliError> {
        let text = if self.text == "-" { console.read_input()? } else { self.text.clone() };
        if self.rule.as_deref().is_some_and(|rule| !rule.trim().is_empty() && !has_rule_shape(rule)) {
            console.print_warning("the rule is kept, but it does not read as IF condition THEN recommendation");
        }
        if self.scope == MemoryScope::Global && !session.archivist.has_global_bank() {
            console.print_warning("`memory.globalDir` leads nowhere, so only this project will see the lesson");
        }
        let (mut facets, mut tags) = (FacetValues::default(), Vec::new());
        self.circumstances.apply_to(&mut facets, &mut tags)?;
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
            author: LessonAuthor::Person,
        })
    }
}

fn has_rule_shape(rule: &str) -> bool {
    let mut words = rule.split_whitespace();
    words.any(|word| word.eq_ignore_ascii_case("if")) && words.any(|word| word.eq_ignore_ascii_case("then"))
}
