//! Defines the flags that describe what a lesson or a query is about.

use clap::Args;

use super::cli_error::CliError;
use super::text_format::one_line;
use archivist_core::domain::{ErrorFamily, FacetValues};

/// Tool, provider and the other circumstances, and tags.
#[derive(Debug, Args)]
#[command(next_help_heading = "Circumstances")]
pub(super) struct FacetFlags {
    /// A word to find it by; may be given more than once
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// Which tool: bash, grep
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Which agent or model vendor: claude-code, openai
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Who acts: a role or an archetype
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// Which domain: code, writing or the project's own
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// The id of a task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// A path of the repository; it stands for everything below it
    #[arg(long, value_name = "PATH")]
    component: Option<String>,
    /// Where in the work: plan, verify
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// Which failure: the 16 hexadecimal digits of its fingerprint
    #[arg(long, value_name = "HEX", value_parser = ErrorFamily::parse)]
    error_family: Option<ErrorFamily>,
}

impl FacetFlags {
    /// Overwrites the facets with the given flags, and adds the given tags.
    pub(super) fn apply_to(&self, facets: &mut FacetValues, tags: &mut Vec<String>) -> Result<(), CliError> {
        let component = self.component.as_deref().map(|path| path.trim_start_matches("./").trim_end_matches('/'));
        set_facet(&mut facets.task_id, "task", self.task.as_deref())?;
        set_facet(&mut facets.provider, "provider", self.provider.as_deref())?;
        set_facet(&mut facets.tool, "tool", self.tool.as_deref())?;
        set_facet(&mut facets.component, "component", component)?;
        set_facet(&mut facets.role, "role", self.role.as_deref())?;
        set_facet(&mut facets.domain, "domain", self.domain.as_deref())?;
        set_facet(&mut facets.phase, "phase", self.phase.as_deref())?;
        if let Some(family) = &self.error_family {
            facets.error_family = Some(family.clone());
        }
        for tag in &self.tags {
            let tag = require_value("tag", tag)?;
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        Ok(())
    }
}

fn set_facet(place: &mut Option<String>, flag: &str, said: Option<&str>) -> Result<(), CliError> {
    if let Some(said) = said {
        *place = Some(require_value(flag, said)?);
    }
    Ok(())
}

fn require_value(flag: &str, text: &str) -> Result<String, CliError> {
    let text = one_line(text);
    if text.is_empty() {
        return Err(CliError::usage_error(format!("--{flag} is empty")).with_hint("leave it out, or give it a value"));
    }
    Ok(text)
}
