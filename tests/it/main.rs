//! Everything that is tested from outside, in one binary.

// Helpers may state what they expect as plainly as the tests do: see clippy.toml.
#![cfg(test)]

mod damage;
mod samples;
mod stores;
mod support;

mod bad_files;
mod bad_stores;
mod cassettes;
mod cli;
mod cli_lessons;
mod cli_projects;
mod cli_recall;
mod contract;
mod crash;
mod distill;
mod docs;
mod endpoint;
mod eval;
mod frozen;
mod full_disk;
mod index_trouble;
mod inspect;
mod interference;
mod laws;
mod logs;
mod model;
#[cfg(unix)]
mod no_permission;
mod processes;
mod semantics;
mod tidy;
mod yardsticks;
