//! The messages that a model gets to read.

use std::fmt::Write;

use super::PromptInputs;
use crate::context::{DigestInput, render_digest};
use crate::domain::{AgentMemory, EpisodeStatus, ReflectionScenario, StableHash};
use crate::model::ModelMessage;
use crate::text::Tokenizer;

/// The most known lessons that are shown, and the most characters of each.
const MAX_KNOWN: usize = 10;
const KNOWN_CHARACTERS: usize = 240;

/// Builds the first messages: the model's role, and the log with its context. `request` names the prompt that says how
/// to answer.
pub(super) fn build_messages(matter: &PromptInputs<'_>, request: &str, tokens: usize) -> Vec<ModelMessage> {
    let context = matter.context;
    let prompts = matter.asked.prompts;
    let max = matter.max_candidates.to_string();
    let material = DigestInput {
        trajectories: &context.trajectories,
        signals: &context.signals,
        notes: context.progress_md.as_deref(),
    };
    let digest = render_digest(&material, tokens, &Tokenizer::new()).text;
    let known = render_known_lessons(&context.existing_memories);
    let values = [
        ("project", project_name(&context.project_root)),
        ("session", context.episode.session_id.as_str()),
        ("finished", &context.episode.finished_at.to_rfc3339()),
        ("status", context.episode.status.as_str()),
        ("guidance", &prompts.fill_prompt(choose_guidance(matter), &[])),
        ("known", &known),
        ("digest", digest.trim_end()),
        ("fence", &derive_fence(&digest, &known)),
        ("request", &prompts.fill_prompt(request, &[("max_candidates", &max)])),
    ];
    let clean = |text: String| matter.redactor.redact(&text).text.into_owned();
    vec![
        ModelMessage::System { text: clean(prompts.fill_prompt("archivist.md", &[("max_candidates", &max)])) },
        ModelMessage::User { text: clean(prompts.fill_prompt("frame.md", &values)) },
    ]
}

/// Returns the project's own name, so that its path on this machine is not disclosed.
fn project_name(root: &str) -> &str {
    root.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Returns the name of the guidance prompt, which depends on the scenario and on how the session ended.
fn choose_guidance(matter: &PromptInputs<'_>) -> &'static str {
    match (matter.asked.scenario, &matter.context.episode.status) {
        (ReflectionScenario::PatternDetected, _) => "pattern.md",
        (ReflectionScenario::SessionFailed | ReflectionScenario::HealerInvocation, _) => "failure.md",
        (_, EpisodeStatus::Success) => "success.md",
        _ => "failure.md",
    }
}

/// Renders lessons with their ids, one on each line.
pub(super) fn render_known_lessons(memories: &[AgentMemory]) -> String {
    if memories.is_empty() {
        return "none".to_owned();
    }
    memories.iter().take(MAX_KNOWN).fold(String::new(), |mut lines, memory| {
        let words = memory.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: String = words.chars().take(KNOWN_CHARACTERS).collect();
        let _ = writeln!(lines, "{} · {shown}", memory.id);
        lines
    })
}

/// Derives a tag that no author of the log could know, so that a closing tag in the log closes nothing.
pub(super) fn derive_fence(digest: &str, known: &str) -> String {
    StableHash::default().with_part(digest).with_text(known).to_digits(10)
}
