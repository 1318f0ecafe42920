//! Exchanges that are recorded and played back.
//!
//! An exchange is one file, named by what was asked of which model. Requests come here without secrets already. They are
//! cleaned once more, because a recording is made to be passed on.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::replace::replace;
use super::{LanguageModel, ModelError, Reply, Request};

#[cfg(test)]
#[path = "cassette_tests.rs"]
mod tests;

/// How many hex digits of a hash name an exchange.
const KEY_DIGITS: usize = 32;

/// Takes secrets out of a text; what is clean stays as it is.
pub type Clean = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The part of a recording that is known before there is an answer.
fn exchange(request: &Request, model: &str) -> Value {
    json!({ "model": model, "request": request })
}

/// What names an exchange: a hash of the model's name and the request. The order of members in a schema does not count.
fn key_of(exchange: &Value) -> String {
    let mut sorted = exchange.clone();
    sorted.sort_all_objects();
    blake3::hash(sorted.to_string().as_bytes()).to_hex().chars().take(KEY_DIGITS).collect()
}

fn path_of(directory: &Path, key: &str) -> PathBuf {
    directory.join(format!("{key}.json"))
}

/// Cleans every text in a value. Names of members stay: they come from our own types and schemas.
fn cleaned(value: Value, clean: &Clean) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(items) => items.into_iter().map(|item| cleaned(item, clean)).collect(),
        Value::Object(members) => members.into_iter().map(|(name, member)| (name, cleaned(member, clean))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// A model whose answers are written down, errors among them.
///
/// The answer is handed on as it came; only the recording is cleaned. What was never asked is not recorded, and an error
/// takes no earlier answer's place: it says nothing about what the model would have answered.
pub struct Recorder<M> {
    inner: M,
    directory: PathBuf,
    clean: Clean,
}

impl<M> Recorder<M> {
    /// The directory is made when the first answer comes.
    pub fn new(inner: M, directory: PathBuf, clean: Clean) -> Self {
        Self { inner, directory, clean }
    }

    /// Failing to record is no reason to lose an answer.
    fn record(&self, mut exchange: Value, answer: &Result<Reply, ModelError>) {
        let (member, value) = match answer {
            Ok(reply) => ("reply", json!(reply)),
            Err(error) => ("error", json!(error)),
        };
        let path = path_of(&self.directory, &key_of(&exchange));
        if answer.is_err() && path.exists() {
            return;
        }
        if let Value::Object(members) = &mut exchange {
            members.insert(member.to_owned(), cleaned(value, &self.clean));
        }
        if let Err(error) = replace(&path, format!("{exchange:#}\n").as_bytes()) {
            tracing::warn!(path = %path.display(), %error, "an exchange is not recorded");
        }
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Recorder<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        let answer = self.inner.ask(request).await;
        let was_asked = !matches!(
            answer,
            Err(ModelError::Refused { .. } | ModelError::Resting { .. } | ModelError::NotRecorded { .. })
        );
        if was_asked {
            self.record(cleaned(exchange(request, self.name()), &self.clean), &answer);
        }
        answer
    }
}

impl<M: fmt::Debug> fmt::Debug for Recorder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("inner", &self.inner)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// Recorded answers instead of a model. Nothing is sent anywhere.
pub struct Player {
    model: String,
    directory: PathBuf,
    clean: Clean,
}

/// As much of a recording as an answer takes.
#[derive(Deserialize)]
struct Recording {
    reply: Option<Reply>,
    error: Option<ModelError>,
}

impl Player {
    /// Finds what a [`Recorder`] wrote for a model of this name, if both clean alike.
    pub fn new(model: String, directory: PathBuf, clean: Clean) -> Self {
        Self { model, directory, clean }
    }

    fn play(&self, key: String) -> Result<Reply, ModelError> {
        let path = path_of(&self.directory, &key);
        let unreadable = |why: String| ModelError::Unreadable { why: format!("recording {}: {why}", path.display()) };
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(ModelError::NotRecorded { key }),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        match serde_json::from_slice(&bytes) {
            Ok(Recording { reply: Some(reply), error: None }) => Ok(reply),
            Ok(Recording { reply: None, error: Some(error) }) => Err(error),
            Ok(_) => Err(unreadable("it holds not one of `reply` and `error`".to_owned())),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }
}

#[async_trait]
impl LanguageModel for Player {
    fn name(&self) -> &str {
        &self.model
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        self.play(key_of(&cleaned(exchange(request, &self.model), &self.clean)))
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player").field("model", &self.model).field("directory", &self.directory).finish_non_exhaustive()
    }
}
