//! Erasing for good, beside the store: `kept_files.rs` knows every other file that Archivist writes and erases records
//! from them, `purge_journal.rs` keeps what an interrupted purge has to go on with.
//!
//! What goes is decided in `memory/erasure.rs`; the order of the steps is in `archivist/purge.rs`.

mod kept_files;
mod progress_sections;
mod purge_journal;

pub(super) use self::kept_files::{PurgePlaces, erase_kept_files, plan_kept_files};
pub(super) use self::purge_journal::{PurgeJournal, PurgeLock, is_purge_pending, journal_path};
