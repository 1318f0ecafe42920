//! Texts to vectors that lie close together where the texts mean the same. Off unless a folder or an endpoint is named.
//!
//! [`LocalEmbedder`] runs a small BERT model from a folder: `weights.rs` reads its numbers, `bert.rs` is its arithmetic.
//! [`EndpointEmbedder`] asks an OpenAI-compatible endpoint. [`Cached`] stands in front of either, so that a text is
//! embedded once.

mod bert;
mod cache;
mod cache_file;
mod endpoint;
mod error;
mod local;
mod transport;
mod vector;
mod weights;

#[cfg(test)]
mod test_support;

use async_trait::async_trait;

pub use cache::Cached;
pub use endpoint::EndpointEmbedder;
pub use error::EmbedError;
pub use local::LocalEmbedder;
pub use transport::Transport;
pub use vector::Vector;

/// No more of a text is embedded than its beginning; sentence models read a few hundred words at best.
const MAX_CHARACTERS: usize = 8_000;

/// Something that turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// What it is called. Two embedders of one name give the same vectors: caches rely on it.
    fn name(&self) -> &str;

    /// How many numbers a vector has, once that is known.
    fn dimensions(&self) -> Option<usize>;

    /// One vector for each text, in the order of the texts.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError>;
}

#[async_trait]
impl<E: Embedder + ?Sized> Embedder for Box<E> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dimensions(&self) -> Option<usize> {
        (**self).dimensions()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError> {
        (**self).embed(texts).await
    }
}

/// As much of a text as is looked at.
fn beginning(text: &str) -> &str {
    let text = text.trim_start();
    text.char_indices().nth(MAX_CHARACTERS).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
