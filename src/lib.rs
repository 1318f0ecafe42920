//! Archivist: the memory that coding agents trust.
//!
//! It turns what agents did into lessons that carry their evidence, and gives a lesson back only where it helps.

pub use archivist_core::service::Archivist;

/// The examples of the README are compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// And so are those on embedding.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
pub struct Embedding;
