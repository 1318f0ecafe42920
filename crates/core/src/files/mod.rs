//! The replacement of whole files, the sync of folders, and symbolic links. Every file that is replaced as a whole is replaced by this
//! room, but for those of a bank: `memory/jsonl/` does each step through its own `Disk`, which tests make fail.
//!
//! Appending, locking and reading do not belong here.

mod file_replacement;
mod symbolic_links;

pub use file_replacement::{FileReplacement, PreparedFile, sync_folder};
pub use symbolic_links::is_link;
