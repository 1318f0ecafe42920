//! The replacement of whole files, the sync of folders, symbolic links, and the reading of small files that anybody may
//! have put there. Every file that is replaced as a whole is replaced by this room, but for those of a bank:
//! `memory/jsonl/` does each step through its own `Disk`, which tests make fail.
//!
//! Appending and locking do not belong here.

mod file_replacement;
mod small_file;
mod symbolic_links;

pub use file_replacement::{FileReplacement, PreparedFile, sync_folder};
pub use small_file::read_small_file;
pub use symbolic_links::is_link;
