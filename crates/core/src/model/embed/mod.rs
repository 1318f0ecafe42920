//! Turns texts into vectors that are close together if the texts mean the same. Off unless a folder or an endpoint is
//! set.
//!
//! [`LocalEmbedder`] runs a small BERT model from a folder: `safetensors.rs` reads its numbers, `bert.rs` does its
//! arithmetic. [`EndpointEmbedder`] calls an OpenAI-compatible endpoint. [`CachedEmbedder`] wraps either, so that a
//! text is embedded once.

#[cfg(feature = "embeddings")]
mod bert;
mod cache;
mod cache_file;
mod endpoint_embedder;
mod error;
mod http_transport;
#[cfg(feature = "embeddings")]
mod local_embedder;
#[cfg(feature = "embeddings")]
mod safetensors;
mod vector;

#[cfg(test)]
mod test_support;

use async_trait::async_trait;

pub use cache::CachedEmbedder;
pub use endpoint_embedder::EndpointEmbedder;
pub use error::EmbedError;
pub use http_transport::EmbeddingTransport;
#[cfg(feature = "embeddings")]
pub use local_embedder::LocalEmbedder;
pub use vector::EmbeddingVector;

/// The most characters of a text that are embedded; sentence models read a few hundred words at best.
const MAX_CHARACTERS: usize = 8_000;

/// An interface that turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Returns the embedder's name. Two embedders of one name give the same vectors: caches rely on it.
    fn name(&self) -> &str;

    /// Returns the number of dimensions of a vector, once it is known.
    fn dimensions(&self) -> Option<usize>;

    /// Returns one vector for each text, in the order of the texts.
    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError>;
}

#[async_trait]
impl<E: Embedder + ?Sized> Embedder for Box<E> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dimensions(&self) -> Option<usize> {
        (**self).dimensions()
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        (**self).embed_texts(texts).await
    }
}

/// Returns the beginning of a text that is embedded.
fn truncate_text(text: &str) -> &str {
    let text = text.trim_start();
    text.char_indices().nth(MAX_CHARACTERS).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
