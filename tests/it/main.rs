//! Everything that is tested from outside, in one binary.

// Helpers may state what they expect as plainly as the tests do: see clippy.toml.
#![cfg(test)]

mod damage;
#[cfg(unix)]
#[allow(dead_code)]
mod postgres_proxy;
#[cfg(unix)]
#[allow(dead_code)]
mod postgres_server;
mod samples;
mod server;
mod sessions;
mod stores;
mod support;

mod archeflow;
mod archeflow_checks;
mod archeflow_runs;
mod archeflow_stress;
mod audit;
mod bad_files;
mod bad_stores;
mod batch;
mod canaries;
mod cassettes;
mod chaos;
mod cli;
mod cli_effect;
mod cli_feedback;
mod cli_lessons;
mod cli_projects;
mod cli_recall;
mod contract;
mod contract_newest;
mod crash;
#[cfg(unix)]
mod decisions;
mod demo;
mod distill;
mod docs;
mod e2e;
mod endpoint;
mod eval;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_cli;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_connections;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_differential;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_events;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_isolation;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_meaning;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_memory;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_queue;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_spend;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_teams;
#[cfg(all(unix, feature = "postgres"))]
mod fleet_workers;
mod frozen;
mod full_disk;
mod giving;
mod hook;
#[cfg(unix)]
mod hook_patience;
mod hud;
#[cfg(unix)]
mod hud_terminal;
mod impersonation;
mod impersonation_claude;
mod impersonation_codex;
mod index_trouble;
mod init;
mod inspect;
mod interference;
mod judge;
mod laws;
mod logs;
mod mcp;
mod mcp_http;
mod mcp_safety;
mod model;
mod moving;
#[cfg(unix)]
mod no_permission;
mod poison;
mod processes;
#[cfg(unix)]
mod purge;
mod purge_rest;
mod queue;
#[cfg(all(unix, feature = "postgres"))]
mod queue_contract;
mod returning;
mod semantics;
mod serve;
mod serve_security;
mod telemetry;
mod tidy;
mod transfer;
mod trust;
mod trust_links;
mod yardsticks;
