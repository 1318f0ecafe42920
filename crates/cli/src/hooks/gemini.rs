//! How Gemini CLI speaks.

use super::dialect::{HookDialect, SessionPhase};

pub(super) const DIALECT: HookDialect = HookDialect {
    events: &[
        ("SessionStart", SessionPhase::Start),
        ("BeforeAgent", SessionPhase::Prompt),
        ("AfterAgent", SessionPhase::Pause),
        ("PreCompress", SessionPhase::Pause),
        ("SessionEnd", SessionPhase::End),
    ],
    ..HookDialect::USUAL
};
