//! A local sentence model, for the measures that use embeddings.

use std::path::Path;

use anyhow::Result;

use crate::cli_error::CliError;
use archivist_core::model::embed::{Embedder, EmbeddingVector, LocalEmbedder};

/// The number of texts that are embedded at once.
const BATCH: usize = 256;

/// A local sentence model and the runtime that its calls run on.
pub(super) struct SentenceModel {
    embedder: LocalEmbedder,
    runtime: tokio::runtime::Runtime,
}

impl SentenceModel {
    pub(super) fn new(directory: &Path) -> Result<Self, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Start)?;
        Ok(Self { embedder: LocalEmbedder::new(directory), runtime })
    }

    pub(super) fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>> {
        let mut vectors: Vec<EmbeddingVector> = Vec::new();
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.runtime.block_on(self.embedder.embed_texts(batch))?);
        }
        Ok(vectors)
    }
}
