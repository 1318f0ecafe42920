//! How Gemini CLI speaks.

use super::dialect::{Dialect, Moment};

pub(super) const DIALECT: Dialect = Dialect {
    events: &[
        ("SessionStart", Moment::Start),
        ("BeforeAgent", Moment::Prompt),
        ("AfterAgent", Moment::Pause),
        ("PreCompress", Moment::Pause),
        ("SessionEnd", Moment::End),
    ],
    ..Dialect::USUAL
};
