//! What a model gets to read.

use std::fmt::Write;

use super::Matter;
use crate::context::{Material, digest};
use crate::domain::{AgentMemory, EpisodeStatus, ReflectionScenario};
use crate::model::Message;
use crate::text::Tokenizer;

/// Known lessons that are shown, and how much of each.
const MAX_KNOWN: usize = 10;
const KNOWN_CHARACTERS: usize = 240;

/// The first messages: who the model is, and the log with what belongs to it. `request` names the prompt that says how
/// to answer.
pub(super) fn messages(matter: &Matter<'_>, request: &str, tokens: usize) -> Vec<Message> {
    let context = matter.context;
    let prompts = matter.asked.prompts;
    let max = matter.max_candidates.to_string();
    let material = Material {
        trajectories: &context.trajectories,
        signals: &context.signals,
        notes: context.progress_md.as_deref(),
    };
    let digest = digest(&material, tokens, &Tokenizer::new()).text;
    let known = known(&context.existing_memories);
    let values = [
        ("project", name(&context.project_root)),
        ("session", context.episode.session_id.as_str()),
        ("finished", &context.episode.finished_at.to_rfc3339()),
        ("status", context.episode.status.as_str()),
        ("guidance", &prompts.fill(guidance(matter), &[])),
        ("known", &known),
        ("digest", digest.trim_end()),
        ("fence", &fence(&digest, &known)),
        ("request", &prompts.fill(request, &[("max_candidates", &max)])),
    ];
    let clean = |text: String| matter.redactor.redact(&text).text.into_owned();
    vec![
        Message::System { text: clean(prompts.fill("archivist.md", &[("max_candidates", &max)])) },
        Message::User { text: clean(prompts.fill("frame.md", &values)) },
    ]
}

/// The project's own name: where it stands on this machine is nobody's business.
fn name(root: &str) -> &str {
    root.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default()
}

/// What to look for depends on what set the reflection off and on how the run ended.
fn guidance(matter: &Matter<'_>) -> &'static str {
    match (matter.asked.scenario, &matter.context.episode.status) {
        (ReflectionScenario::PatternDetected, _) => "pattern.md",
        (ReflectionScenario::SessionFailed | ReflectionScenario::HealerInvocation, _) => "failure.md",
        (_, EpisodeStatus::Success) => "success.md",
        _ => "failure.md",
    }
}

/// Lessons with their ids, one a line.
pub(super) fn known(memories: &[AgentMemory]) -> String {
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

/// A word that nobody who wrote into the log could know: a closing tag in the log closes nothing.
pub(super) fn fence(digest: &str, known: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(digest.as_bytes()).update(&[0]).update(known.as_bytes());
    hasher.finalize().to_hex().chars().take(10).collect()
}
