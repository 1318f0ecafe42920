//! Recording of model exchanges, and their replay.
//!
//! An exchange is one file, named by a hash of the model's name and the request. Requests arrive here without secrets.
//! They are cleaned again, because a recording is made to be passed on.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{LanguageModel, ModelError, ModelReply, ModelRequest};
use crate::domain::StableHash;
use crate::files::FileReplacement;

#[cfg(test)]
#[path = "cassette_tests.rs"]
mod tests;

/// The number of hex digits of the hash that names an exchange.
const KEY_DIGITS: usize = 32;

/// A function that removes secrets from a text and leaves clean text as it is.
pub type Clean = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Returns the part of a recording that exists before there is an answer.
fn build_exchange(request: &ModelRequest, model: &str) -> Value {
    json!({ "model": model, "request": request })
}

/// Returns the name of an exchange: a hash of the model's name and the request. The order of members in a schema does
/// not matter.
fn exchange_key(exchange: &Value) -> String {
    let mut sorted = exchange.clone();
    sorted.sort_all_objects();
    StableHash::from_text(&sorted.to_string()).to_digits(KEY_DIGITS)
}

fn recording_path(directory: &Path, key: &str) -> PathBuf {
    directory.join(format!("{key}.json"))
}

/// Cleans every text in a value. Member names stay: they come from our own types and schemas.
fn clean_value(value: Value, clean: &Clean) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(items) => items.into_iter().map(|item| clean_value(item, clean)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, clean_value(member, clean))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// A model whose answers and errors are written to files.
///
/// The answer is returned unchanged; only the recording is cleaned. A request that was never sent is not recorded, and
/// an error never replaces a recorded answer: it says nothing about the answer that the model would have given.
pub struct RecordingModel<M> {
    inner: M,
    directory: PathBuf,
    clean: Clean,
}

impl<M> RecordingModel<M> {
    /// Creates the model; the directory is created with the first recording.
    pub fn new(inner: M, directory: PathBuf, clean: Clean) -> Self {
        Self { inner, directory, clean }
    }

    /// Writes one recording and only warns if that fails, so that no answer is lost.
    fn write_recording(&self, mut exchange: Value, answer: &Result<ModelReply, ModelError>) {
        let (member, value) = match answer {
            Ok(reply) => ("reply", json!(reply)),
            Err(error) => ("error", json!(error)),
        };
        let path = recording_path(&self.directory, &exchange_key(&exchange));
        if answer.is_err() && path.exists() {
            return;
        }
        if let Value::Object(members) = &mut exchange {
            members.insert(member.to_owned(), clean_value(value, &self.clean));
        }
        if let Err(error) = FileReplacement::new(&path).write(format!("{exchange:#}\n").as_bytes()) {
            tracing::warn!(path = %path.display(), %error, "an exchange is not recorded");
        }
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for RecordingModel<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let answer = self.inner.send_request(request).await;
        let was_asked = !matches!(
            answer,
            Err(ModelError::Refused { .. } | ModelError::Resting { .. } | ModelError::NotRecorded { .. })
        );
        if was_asked {
            self.write_recording(clean_value(build_exchange(request, self.name()), &self.clean), &answer);
        }
        answer
    }
}

impl<M: fmt::Debug> fmt::Debug for RecordingModel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingModel")
            .field("inner", &self.inner)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A model that gives recorded answers and sends nothing anywhere.
pub struct ReplayModel {
    model: String,
    directory: PathBuf,
    clean: Clean,
}

/// The members of a recording that hold the answer.
#[derive(Deserialize)]
struct RecordedExchange {
    reply: Option<ModelReply>,
    error: Option<ModelError>,
}

impl ReplayModel {
    /// Creates a model that finds what a [`RecordingModel`] wrote for a model of this name, if both clean alike.
    pub fn new(model: String, directory: PathBuf, clean: Clean) -> Self {
        Self { model, directory, clean }
    }

    fn replay_exchange(&self, key: String) -> Result<ModelReply, ModelError> {
        let path = recording_path(&self.directory, &key);
        let unreadable = |why: String| ModelError::Unreadable { why: format!("recording {}: {why}", path.display()) };
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(ModelError::NotRecorded { key }),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        match serde_json::from_slice(&bytes) {
            Ok(RecordedExchange { reply: Some(reply), error: None }) => Ok(reply),
            Ok(RecordedExchange { reply: None, error: Some(error) }) => Err(error),
            Ok(_) => Err(unreadable("it holds not one of `reply` and `error`".to_owned())),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }
}

#[async_trait]
impl LanguageModel for ReplayModel {
    fn name(&self) -> &str {
        &self.model
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        self.replay_exchange(exchange_key(&clean_value(build_exchange(request, &self.model), &self.clean)))
    }
}

impl fmt::Debug for ReplayModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayModel")
            .field("model", &self.model)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
