//! The embedding model that the settings choose: a folder, else an endpoint, else none.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;
use tokio::sync::OnceCell;

use crate::config::{ConfigError, EmbeddingSettings, ProcessEnvironment};
#[cfg(feature = "embeddings")]
use crate::model::embed::LocalEmbedder;
use crate::model::embed::{
    CachedEmbedder, EmbedError, Embedder, EmbeddingTransport, EmbeddingVector, EndpointEmbedder,
};
use crate::model::read_key_file;
use crate::redact::Redactor;

#[cfg(test)]
#[path = "embedder_choice_tests.rs"]
mod tests;

/// The time that one request may take. A question that gets no answer in time is answered by words alone.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the embedding model that the settings choose, behind a cache in this file. Nothing is read, and nothing is
/// sent, before a text is embedded.
pub(super) fn choose_embedder(
    settings: &EmbeddingSettings,
    environment: &ProcessEnvironment,
    cache: &Path,
) -> Result<Option<Arc<dyn Embedder>>, ConfigError> {
    let home = environment.home.as_deref();
    if let Some(folder) = settings.model_path(home) {
        return open_sentence_model(&folder, cache).map(Some);
    }
    if settings.base_url.is_empty() {
        return Ok(None);
    }
    let variable = environment.environment_variable(settings.key_variable_name());
    let variable = variable.map(str::trim).filter(|value| !value.is_empty());
    let endpoint = RedactedEndpoint {
        name: EndpointEmbedder::name_model(&settings.base_url, &settings.model, None),
        base_url: settings.base_url.clone(),
        model: settings.model.clone(),
        key_file: settings.key_path(home),
        key: variable.map(SecretString::from),
        redactor: LazyLock::new(Redactor::new),
        opened: OnceCell::new(),
    };
    Ok(Some(Arc::new(CachedEmbedder::new(endpoint).with_file(cache))))
}

#[cfg(feature = "embeddings")]
fn open_sentence_model(folder: &Path, cache: &Path) -> Result<Arc<dyn Embedder>, ConfigError> {
    Ok(Arc::new(CachedEmbedder::new(LocalEmbedder::new(folder)).with_file(cache)))
}

#[cfg(not(feature = "embeddings"))]
fn open_sentence_model(_folder: &Path, _cache: &Path) -> Result<Arc<dyn Embedder>, ConfigError> {
    Err(ConfigError::missing_feature("embeddings.dir", "embeddings"))
}

/// An embeddings endpoint that gets texts without secrets only, and is opened at the first text.
#[derive(Debug)]
struct RedactedEndpoint {
    name: String,
    base_url: String,
    model: String,
    /// The file of the key, which is taken before the variable's value.
    key_file: Option<PathBuf>,
    key: Option<SecretString>,
    redactor: LazyLock<Redactor>,
    opened: OnceCell<EndpointEmbedder>,
}

impl RedactedEndpoint {
    fn open_endpoint(&self) -> Result<EndpointEmbedder, EmbedError> {
        let key = match &self.key_file {
            Some(path) => Some(read_key_file(path).map_err(|error| EmbedError::Key { why: error.to_string() })?),
            None => self.key.clone(),
        };
        let transport = EmbeddingTransport::new(&self.base_url, key, REQUEST_TIMEOUT)?;
        Ok(EndpointEmbedder::new(transport, &self.model, None))
    }
}

#[async_trait]
impl Embedder for RedactedEndpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        self.opened.get().and_then(Embedder::dimensions)
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        let endpoint = self.opened.get_or_try_init(async || self.open_endpoint()).await?;
        let clean: Vec<String> = texts.iter().map(|text| self.redactor.redact(text).text.into_owned()).collect();
        endpoint.embed_texts(&clean).await
    }
}
