//! The flags that say what a lesson, or a question, is about.

use clap::Args;

use super::failure::Failure;
use super::prose::one_line;
use crate::domain::{ErrorFamily, Facets};

/// Tool, provider and the other circumstances, and tags.
#[derive(Debug, Args)]
#[command(next_help_heading = "Circumstances")]
pub(super) struct Circumstances {
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
    /// Which task
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

impl Circumstances {
    /// Lays what was said over what is there.
    pub(super) fn lay_over(&self, facets: &mut Facets, tags: &mut Vec<String>) -> Result<(), Failure> {
        let component = self.component.as_deref().map(|path| path.trim_start_matches("./").trim_end_matches('/'));
        set(&mut facets.task_id, "task", self.task.as_deref())?;
        set(&mut facets.provider, "provider", self.provider.as_deref())?;
        set(&mut facets.tool, "tool", self.tool.as_deref())?;
        set(&mut facets.component, "component", component)?;
        set(&mut facets.role, "role", self.role.as_deref())?;
        set(&mut facets.domain, "domain", self.domain.as_deref())?;
        set(&mut facets.phase, "phase", self.phase.as_deref())?;
        if let Some(family) = &self.error_family {
            facets.error_family = Some(family.clone());
        }
        for tag in &self.tags {
            let tag = not_empty("tag", tag)?;
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        Ok(())
    }
}

fn set(place: &mut Option<String>, flag: &str, said: Option<&str>) -> Result<(), Failure> {
    if let Some(said) = said {
        *place = Some(not_empty(flag, said)?);
    }
    Ok(())
}

fn not_empty(flag: &str, text: &str) -> Result<String, Failure> {
    let text = one_line(text);
    if text.is_empty() {
        return Err(Failure::usage(format!("--{flag} is empty")).with_hint("leave it out, or give it a value"));
    }
    Ok(text)
}
