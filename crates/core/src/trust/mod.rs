//! What this machine wrote itself, and which repositories its user trusts.
//!
//! A repository may bring lessons, jobs and settings along. Nothing of that is used before a person trusts the
//! repository, so everything that this machine writes into a project carries a seal of a key that never leaves it. Here
//! are the key, the seals of memory folders and the list of trusted repositories. What follows from them is decided
//! where the files are used.

mod machine_key;
mod memory_seal;
mod trusted_repositories;

pub use self::machine_key::{MachineKey, MachineKeyError, SEAL_DIGITS, Seal, SealPurpose};
pub use self::memory_seal::{MemoryFolder, MemoryFolderOrigin};
pub use self::trusted_repositories::{RepositoryKey, RepositoryKind, TrustedRepositories, TrustedRepository};
