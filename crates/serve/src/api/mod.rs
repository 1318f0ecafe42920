//! The endpoints under `/v1`. Each answers what the command of its name prints with `--json`.

mod episodes;
mod health;
mod lessons;
mod recall;
mod reflect;

use super::endpoint::ApiEndpoint;

pub(super) use lessons::NewLessonBody;
pub(super) use recall::{FeedbackBody, RecallAnswer, RecallBody};
pub(super) use reflect::{QueuedReflection, ReflectionAnswer, ReflectionBody};

/// Returns all endpoints, in the order of the documentation.
pub(super) fn api_endpoints() -> Vec<ApiEndpoint> {
    [
        health::health_endpoints(),
        lessons::lesson_endpoints(),
        recall::recall_endpoints(),
        episodes::episode_endpoints(),
        reflect::reflect_endpoints(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
