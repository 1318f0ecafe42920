//! How Claude Code speaks. `Stop` comes after every turn and says nothing about the end of a session.

use super::dialect::{Dialect, Moment};

pub(super) const DIALECT: Dialect = Dialect {
    events: &[
        ("SessionStart", Moment::Start),
        ("UserPromptSubmit", Moment::Prompt),
        ("Stop", Moment::Pause),
        // In place of `Stop` where the model could not be reached.
        ("StopFailure", Moment::Pause),
        ("SubagentStop", Moment::Pause),
        ("PreCompact", Moment::Pause),
        ("SessionEnd", Moment::End),
    ],
    logs: &["transcript_path", "agent_transcript_path"],
    ..Dialect::USUAL
};
