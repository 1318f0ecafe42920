//! Errors of a memory, worded so that a user knows the next step.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::LessonName;
use crate::domain::{Alias, InvalidValue, MemoryId};

/// An error of a memory.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// No lesson has this name.
    #[error("there is no lesson `{name}`")]
    NoSuchLesson {
        /// The unknown name.
        name: LessonName,
    },
    /// The lesson never had that version.
    #[error("lesson `{id}` has no version {version}; it has {known}")]
    NoSuchVersion {
        /// The id of the lesson.
        id: MemoryId,
        /// The requested version.
        version: u64,
        /// The number of versions it has.
        known: usize,
    },
    /// One short name belongs to several lessons, as after a merge of two branches.
    #[error("`{alias}` names {} lessons: {}", ids.len(), join_ids(ids))]
    Ambiguous {
        /// The ambiguous short name.
        alias: Alias,
        /// The lessons that have it.
        ids: Vec<MemoryId>,
    },
    /// Another writer changed the lesson first.
    #[error("lesson `{id}` changed meanwhile: it was expected at version {expected} and is at {found}")]
    Conflict {
        /// The id of the lesson.
        id: MemoryId,
        /// The version that the writer expected.
        expected: u64,
        /// The version that was found.
        found: u64,
    },
    /// The judging turn ended before its decision was written.
    #[error("the turn to write was lost before it was used, and nothing was written")]
    TurnLost,
    /// A record is longer than the longest line that readers accept.
    #[error("record `{id}` is {size} bytes long; the limit is {limit}")]
    TooLarge {
        /// The record's id.
        id: String,
        /// The record's length in bytes.
        size: usize,
        /// The value of `memory.maxLineBytes`.
        limit: usize,
    },
    /// A record holds a secret where no mark can stand.
    #[error("record `{id}` holds a secret in a place where it cannot be masked, and was not stored")]
    NotRedactable {
        /// The record's id.
        id: String,
    },
    /// Another process has held the lock for too long.
    #[error("another process has held {} for {} s", path.display(), waited.as_secs())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The time that was waited for it.
        waited: Duration,
    },
    /// A store file is a symbolic link.
    #[error("{} is a symbolic link; Archivist does not write through links", path.display())]
    Symlink {
        /// The path of the link.
        path: PathBuf,
    },
    /// The operating system reported an error.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The attempted action, as in "cannot read".
        doing: &'static str,
        /// The file it concerned.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A value could not be written as JSON.
    #[error("cannot write record `{id}` as JSON: {source}")]
    Encode {
        /// The record's id.
        id: String,
        /// The serializer's error.
        source: serde_json::Error,
    },
    /// The short names are used up.
    #[error("there are no short names left: {0}")]
    NoMoreAliases(InvalidValue),
    /// The server that holds the memory cannot be reached.
    #[error("the memory at {place} cannot be reached: {why}")]
    Unreachable {
        /// The server's address, without the password.
        place: String,
        /// The reason that was reported.
        why: String,
    },
    /// The certificate of the server that holds the memory is not trusted.
    #[error("the certificate of the server at {place} is not trusted: {why}")]
    Untrusted {
        /// The server's address, without the password.
        place: String,
        /// The reason why it is not trusted.
        why: String,
    },
    /// The server does not offer TLS, which the settings require.
    #[error("the server at {place} does not offer TLS, and `sslmode=require` asks for it")]
    Unencrypted {
        /// The server's address, without the password.
        place: String,
    },
    /// The server refused a statement.
    #[error("the server at {place} refused to {doing}: {why} (code {code})")]
    Server {
        /// The attempted action, as in "refused to read".
        doing: &'static str,
        /// The server's address, without the password.
        place: String,
        /// The server's error code.
        code: String,
        /// The server's error message.
        why: String,
    },
    /// The server does not permit this user to do it.
    #[error("this user may not do that in the memory at {place}: {why}")]
    Forbidden {
        /// The server's address, without the password.
        place: String,
        /// The server's error message.
        why: String,
    },
    /// The tables have not been created yet.
    #[error("there is no memory at {place} yet")]
    SchemaMissing {
        /// The server's address, without the password.
        place: String,
    },
    /// The tables were made by an older program.
    #[error("the tables are of version {found}; this archivist needs version {needed}")]
    SchemaOlder {
        /// The version that was found.
        found: i32,
        /// The version that is needed.
        needed: i32,
    },
    /// The tables were made by a newer program; an older one does not write to them.
    #[error("the tables are of version {found}; this archivist knows version {known} and only reads them")]
    SchemaNewer {
        /// The version that was found.
        found: i32,
        /// The newest version that this program knows.
        known: i32,
    },
    /// A setting cannot be used.
    #[error("`{key}` cannot be used: {why}")]
    Settings {
        /// The key of the setting.
        key: &'static str,
        /// The reason why it cannot be used.
        why: String,
    },
    /// A task of the store ended early, or stored data could not be read.
    #[error("the memory stopped in the middle of an operation: {0}")]
    Interrupted(String),
}

impl MemoryError {
    pub(crate) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// Returns advice for the user, where there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchLesson { .. } => Some("`archivist list --all` shows every lesson".into()),
            Self::NoSuchVersion { id, .. } => Some(format!("`archivist history {id}` shows its versions")),
            Self::Ambiguous { .. } => {
                Some("use the id, or give new short names with `archivist doctor --repair`".into())
            }
            Self::Locked { .. } => Some("wait for it, or raise `memory.lockTimeoutSeconds`".into()),
            Self::NotRedactable { .. } => Some("take the secret out of its names and ids".into()),
            Self::TooLarge { .. } => Some("shorten its detail, or raise `memory.maxLineBytes`".into()),
            Self::Symlink { .. } => Some("put the real file there, or point `memory.dir` at its directory".into()),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("allow reading and writing there, or choose another directory with --memory-dir".into())
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    Some("free some space and run the command again; nothing was half written".into())
                }
                io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
                | io::ErrorKind::AlreadyExists
                | io::ErrorKind::InvalidInput => {
                    Some("something else stands where a file or a directory is needed; move it away".into())
                }
                _ => None,
            },
            Self::Conflict { .. } | Self::TurnLost => Some("run the command again".into()),
            Self::Unreachable { .. } => Some("start the server, or look at `memory.postgres.url`".into()),
            Self::Untrusted { .. } => Some(
                "name the certificate of its authority in `memory.postgres.caFile`, and the server as its certificate does"
                    .into(),
            ),
            Self::Unencrypted { .. } => {
                Some("switch `ssl` on at the server, or write `sslmode=disable` into `memory.postgres.url`".into())
            }
            Self::Forbidden { .. } => {
                Some("the owner of the tables lets you in with `archivist migrate --grant`".into())
            }
            Self::SchemaMissing { .. } | Self::SchemaOlder { .. } => {
                Some("`archivist migrate` makes the tables".into())
            }
            Self::SchemaNewer { .. } => Some("use the archivist that made them, or a newer one".into()),
            Self::Server { code, .. } => match code.as_str() {
                "57014" | "55P03" => Some("raise `memory.postgres.statementTimeoutSeconds`".into()),
                "53100" | "53200" => Some("free some space on the server and run the command again".into()),
                _ => None,
            },
            Self::Settings { .. } => Some("`archivist config show --origin` says where it is set".into()),
            Self::Encode { .. } | Self::NoMoreAliases(_) | Self::Interrupted(_) => None,
        }
    }

    /// Returns true if another writer was faster, so that a new decision may succeed.
    pub fn is_lost_race(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::TurnLost)
    }

    /// Returns true if the fault is Archivist's own.
    pub fn is_internal_fault(&self) -> bool {
        matches!(self, Self::Encode { .. } | Self::Interrupted(_))
    }
}

fn join_ids(ids: &[MemoryId]) -> String {
    ids.iter().map(MemoryId::as_str).collect::<Vec<_>>().join(", ")
}
