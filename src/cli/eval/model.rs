//! A sentence model, for measures that ask one.

use std::path::Path;

use anyhow::Result;

use crate::cli::failure::Failure;
use crate::model::embed::{Embedder, LocalEmbedder, Vector};

/// Texts that are embedded at once.
const BATCH: usize = 256;

/// A sentence model and what it takes to ask it.
pub(super) struct Model {
    embedder: LocalEmbedder,
    runtime: tokio::runtime::Runtime,
}

impl Model {
    pub(super) fn new(directory: &Path) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Start)?;
        Ok(Self { embedder: LocalEmbedder::new(directory), runtime })
    }

    pub(super) fn embed(&self, texts: &[String]) -> Result<Vec<Vector>> {
        let mut vectors: Vec<Vector> = Vec::new();
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.runtime.block_on(self.embedder.embed(batch))?);
        }
        Ok(vectors)
    }
}
