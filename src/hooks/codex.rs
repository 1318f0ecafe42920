//! How Codex speaks: like Claude Code, and before that by one program that is told of every finished turn.

use super::dialect::{Dialect, Moment};

pub(super) const DIALECT: Dialect = Dialect {
    events: &[
        ("SessionStart", Moment::Start),
        ("UserPromptSubmit", Moment::Prompt),
        ("Stop", Moment::Pause),
        ("SubagentStop", Moment::Pause),
        ("PreCompact", Moment::Pause),
        ("SessionEnd", Moment::End),
        // The older way: `notify` on the command line, and in the payload which notice it is.
        ("notify", Moment::Pause),
        ("agent-turn-complete", Moment::Pause),
    ],
    event: &["hook_event_name", "type"],
    session: &["session_id", "thread-id"],
    logs: &["transcript_path", "agent_transcript_path"],
    ..Dialect::USUAL
};
