//! The errors of embedding texts.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::model::ModelError;

/// The reason why texts could not be embedded. Search continues without vectors: words alone find most lessons.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// A file of the model's folder cannot be read.
    #[error("{} cannot be read ({why}); a model's folder holds config.json, tokenizer.json and model.safetensors", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        why: String,
    },
    /// A file of the model's folder does not fit a BERT sentence model.
    #[error("{}: {why}; {next}", path.display())]
    Unfit {
        /// The path of the file.
        path: PathBuf,
        /// The problem with the file.
        why: String,
        /// The advice on how to fix it.
        next: &'static str,
    },
    /// The model returned numbers without a direction.
    #[error("{source_name} gives no usable vector ({why}); use another model or switch embeddings off")]
    NoDirection {
        /// The folder or the endpoint.
        source_name: String,
        /// The problem with the numbers.
        why: String,
    },
    /// The endpoint gave no answer.
    #[error("embeddings endpoint {endpoint}: {why}; check the settings of embeddings")]
    Endpoint {
        /// The endpoint's address without secrets.
        endpoint: String,
        /// The error of the request.
        why: ModelError,
    },
    /// The endpoint answered, but not with one vector for each text.
    #[error("embeddings endpoint {endpoint}: {why}; check that its model is one for embeddings")]
    Answer {
        /// The endpoint's address without secrets.
        endpoint: String,
        /// The problem with the answer.
        why: String,
    },
    /// The endpoint's address is not valid.
    #[error("embeddings endpoint {endpoint}: {why}; give an address such as http://localhost:11434/v1")]
    Address {
        /// The given address without secrets.
        endpoint: String,
        /// The problem with the address.
        why: String,
    },
    /// The file of the endpoint's key cannot be used.
    #[error("{why}; check `embeddings.keyFile`")]
    Key {
        /// The problem with the file, without its content.
        why: String,
    },
    /// The work broke off, because of a bug or because the program is ending.
    #[error("embedding with {source_name} broke off ({why}); run it again, and report it if it stays")]
    BrokeOff {
        /// The folder or the endpoint.
        source_name: String,
        /// The known details of the interruption.
        why: String,
    },
}

impl EmbedError {
    /// Creates the error for a file with unexpected content.
    pub(super) fn unfit_file(path: &Path, why: impl Into<String>, next: &'static str) -> Self {
        Self::Unfit { path: path.to_owned(), why: why.into(), next }
    }

    /// Creates the error for a file that cannot be read.
    pub(super) fn unreadable_file(path: &Path, error: &std::io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), why: error.to_string() }
    }
}
