//! Archivist: the memory that coding agents trust.
//!
//! It turns what agents did into lessons that carry their evidence, and gives a lesson back only where it helps.
//! `ARCHITECTURE.md` shows the rooms and how a record passes through them.

// Keep the order in which data flows.
pub mod domain;
pub mod text;

pub mod ingest;
pub mod redact;

pub mod context;

pub mod distill;
pub mod model;

pub mod judge;
pub mod memory;
pub mod recall;

pub mod audit;

pub mod archeflow;
pub mod exchange;

pub mod hooks;
pub mod hud;

pub mod config;

pub mod service;

pub mod desk;

pub mod serve;

pub mod cli;

/// The examples of the README are compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// And so are those on embedding.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
pub struct Embedding;
