//! How Claude Code speaks. `Stop` comes after every turn and says nothing about the end of a session.

use super::dialect::{HookDialect, SessionPhase};

pub(super) const DIALECT: HookDialect = HookDialect {
    events: &[
        ("SessionStart", SessionPhase::Start),
        ("UserPromptSubmit", SessionPhase::Prompt),
        ("Stop", SessionPhase::Pause),
        // In place of `Stop` where the model could not be reached.
        ("StopFailure", SessionPhase::Pause),
        ("SubagentStop", SessionPhase::Pause),
        ("PreCompact", SessionPhase::Pause),
        ("SessionEnd", SessionPhase::End),
    ],
    logs: &["transcript_path", "agent_transcript_path"],
    ..HookDialect::USUAL
};
