//! Everything that is tested from outside, in one binary.

// Helpers may state what they expect as plainly as the tests do: see clippy.toml.
#![cfg(test)]

mod damage;
mod samples;
mod stores;
mod support;

mod bad_files;
mod bad_stores;
mod cli;
mod cli_lessons;
mod cli_projects;
mod cli_recall;
mod contract;
mod crash;
mod docs;
mod eval;
mod frozen;
mod full_disk;
mod index_trouble;
mod inspect;
mod interference;
mod laws;
mod logs;
#[cfg(unix)]
mod no_permission;
mod processes;
mod semantics;
mod tidy;
mod yardsticks;
