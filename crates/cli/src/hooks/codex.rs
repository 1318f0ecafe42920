//! How Codex speaks: like Claude Code, and before that by one program that is told of every finished turn.

use super::dialect::{HookDialect, SessionPhase};

pub(super) const DIALECT: HookDialect = HookDialect {
    events: &[
        ("SessionStart", SessionPhase::Start),
        ("UserPromptSubmit", SessionPhase::Prompt),
        ("Stop", SessionPhase::Pause),
        ("SubagentStop", SessionPhase::Pause),
        ("PreCompact", SessionPhase::Pause),
        ("SessionEnd", SessionPhase::End),
        // The older way: `notify` on the command line, and in the payload which notice it is.
        ("notify", SessionPhase::Pause),
        ("agent-turn-complete", SessionPhase::Pause),
    ],
    event: &["hook_event_name", "type"],
    session: &["session_id", "thread-id"],
    logs: &["transcript_path", "agent_transcript_path"],
    ..HookDialect::USUAL
};
