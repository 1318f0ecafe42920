//! Reads a memory query that is given as JSON.

use anyhow::Result;
use serde_json::{Map, Value};

use super::cli_error::CliError;
use super::command_context::CommandContext;
use super::console::Console;
use archivist_core::domain::{MemoryKind, MemoryQuery, MemoryScope};

const PROJECT_ROOT: &str = "projectRoot";

/// Reads a query from a file, or from stdin for `-`. Without a project it applies to the current one.
pub(super) fn read_query(source: &str, session: &CommandContext, console: &mut Console) -> Result<MemoryQuery> {
    let text = if source == "-" {
        console.read_input()?
    } else {
        std::fs::read_to_string(source)
            .map_err(|error| CliError::user_error(format!("cannot read question {source}: {error}")))?
    };
    let mut fields: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
        CliError::user_error(format!("the question is not a JSON object: {error}"))
            .with_hint("write it like {\"text\": \"linker error\", \"tool\": \"bash\"}")
    })?;
    fields.retain(|_, value| !value.is_null());
    let ours = session.archivist.new_query();
    if !fields.contains_key(PROJECT_ROOT) {
        fields.insert(PROJECT_ROOT.to_owned(), Value::from(ours.project_root.clone()));
    }
    let named: Vec<String> = fields.keys().cloned().collect();
    let mut query: MemoryQuery = serde_json::from_value(Value::Object(fields))
        .map_err(|error| CliError::user_error(format!("the question cannot be understood: {error}")))?;
    if query.repo_id.is_none() && query.project_root == ours.project_root {
        query.repo_id = ours.repo_id;
    }
    query.scope.as_ref().map(|scope| MemoryScope::parse(scope.as_str())).transpose()?;
    query.kind.as_ref().map(|kind| MemoryKind::parse(kind.as_str())).transpose()?;
    warn_about_unknown_fields(&named, &query, console)?;
    Ok(query)
}

/// Warns about unknown fields, because a misspelt one would widen the query.
fn warn_about_unknown_fields(named: &[String], query: &MemoryQuery, console: &mut Console) -> Result<(), CliError> {
    let understood = serde_json::to_value(query).map_err(CliError::Encode)?;
    // An empty list of tags is understood too, but not written back.
    for name in named.iter().filter(|name| understood.get(name.as_str()).is_none() && *name != "tags") {
        console.print_warning(&format!("the question's field `{name}` is not known and was left out"));
    }
    Ok(())
}
