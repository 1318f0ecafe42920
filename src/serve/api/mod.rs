//! The endpoints under `/v1`. Each answers what the command of its name prints with `--json`.

mod health;
mod lessons;
mod recall;
mod reflect;
mod runs;

use super::endpoint::Endpoint;

pub(super) use lessons::LessonBody;
pub(super) use recall::{FeedbackBody, Question, Recalled};
pub(super) use reflect::{Granted, Waiting, Wish};

/// All of them, in the order of the documentation.
pub(super) fn endpoints() -> Vec<Endpoint> {
    [health::endpoints(), lessons::endpoints(), recall::endpoints(), runs::endpoints(), reflect::endpoints()]
        .into_iter()
        .flatten()
        .collect()
}
