//! From session logs to lessons and back into prompts.
//!
//! This is the inside of `archivist`, for those who write a store, a model client or an edge of their own. Programs that
//! only want a memory use the package `archivist`, whose names are few and stay. `ARCHITECTURE.md` shows the rooms and how
//! a record passes through them.

#![cfg_attr(
    not(all(feature = "embeddings", feature = "index", feature = "postgres", feature = "web-socket")),
    allow(dead_code, reason = "some parts serve features that are off")
)]

// Keep the order in which data flows.
pub mod domain;
pub mod files;
pub mod text;
pub mod trust;

pub mod ingest;
pub mod redact;

pub mod context;

pub mod distill;
pub mod model;

pub mod judge;
pub mod memory;
pub mod recall;

pub mod hud;

pub mod config;

pub mod service;
