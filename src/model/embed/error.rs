//! Why there are no vectors.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::model::ModelError;

/// Why texts could not be embedded. Search goes on without: words alone find most lessons.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// A file of the model's folder cannot be read.
    #[error("{} cannot be read ({why}); a model's folder holds config.json, tokenizer.json and model.safetensors", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A file of the model's folder is not what a BERT sentence model has there.
    #[error("{}: {why}; {next}", path.display())]
    Unfit {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        next: &'static str,
    },
    /// The model gave numbers without a direction.
    #[error("{source_name} gives no usable vector ({why}); use another model or switch embeddings off")]
    NoDirection {
        /// The folder or the endpoint.
        source_name: String,
        /// What is wrong with them.
        why: String,
    },
    /// The endpoint gave no answer.
    #[error("embeddings endpoint {endpoint}: {why}; check the settings of embeddings")]
    Endpoint {
        /// Where, without anything secret.
        endpoint: String,
        /// Why not.
        why: ModelError,
    },
    /// The endpoint answered, but not with one vector for each text.
    #[error("embeddings endpoint {endpoint}: {why}; check that its model is one for embeddings")]
    Answer {
        /// Where, without anything secret.
        endpoint: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// The endpoint's address is none.
    #[error("embeddings endpoint {endpoint}: {why}; give an address such as http://localhost:11434/v1")]
    Address {
        /// What was given, without anything secret.
        endpoint: String,
        /// What is wrong with it.
        why: String,
    },
    /// The work broke off: a fault in the program, or it is ending.
    #[error("embedding with {source_name} broke off ({why}); run it again, and report it if it stays")]
    BrokeOff {
        /// The folder or the endpoint.
        source_name: String,
        /// What is known about it.
        why: String,
    },
}

impl EmbedError {
    /// For a file that is not what it should be.
    pub(super) fn unfit(path: &Path, why: impl Into<String>, next: &'static str) -> Self {
        Self::Unfit { path: path.to_owned(), why: why.into(), next }
    }

    /// For a file that the system does not give.
    pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), why: error.to_string() }
    }
}
