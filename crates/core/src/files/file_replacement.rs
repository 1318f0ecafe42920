//! Replaces a file in one step: its content is written to a draft beside it, and the draft takes its name.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

#[cfg(test)]
#[path = "file_replacement_tests.rs"]
mod tests;

/// The replacement of a file by new content. A reader finds all of the old content or all of the new.
///
/// A symbolic link at the path is replaced and not followed. Without further settings, only the owner may read and
/// write the new file, and it survives a loss of power.
#[derive(Debug, Clone)]
pub struct FileReplacement<'a> {
    path: &'a Path,
    access: DraftAccess,
    draft_name: (&'a str, &'a str),
    is_synced: bool,
}

/// The permissions of a draft.
#[derive(Debug, Clone)]
enum DraftAccess {
    OwnerOnly,
    NewFiles,
    Given(Permissions),
}

impl<'a> FileReplacement<'a> {
    /// Prepares the replacement of the file at this path, which need not exist.
    pub fn new(path: &'a Path) -> Self {
        Self { path, access: DraftAccess::OwnerOnly, draft_name: (".tmp", ""), is_synced: true }
    }

    /// Gives the new file these permissions, which are usually those of the old one.
    #[must_use]
    pub fn with_permissions(self, permissions: Permissions) -> Self {
        Self { access: DraftAccess::Given(permissions), ..self }
    }

    /// Gives the new file the permissions that any new file has.
    #[must_use]
    pub fn with_default_permissions(self) -> Self {
        Self { access: DraftAccess::NewFiles, ..self }
    }

    /// Sets the prefix and the suffix of the draft's name, by which drafts that a crash left behind can be found.
    #[must_use]
    pub fn with_draft_name(self, prefix: &'a str, suffix: &'a str) -> Self {
        Self { draft_name: (prefix, suffix), ..self }
    }

    /// Sets whether the content is on the disk before it takes the place of the old one.
    #[must_use]
    pub fn with_sync(self, is_synced: bool) -> Self {
        Self { is_synced, ..self }
    }

    /// Replaces the file. Missing folders are created.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.prepare(bytes)?.put_in_place()
    }

    /// Writes the draft without replacing the file yet.
    pub fn prepare(&self, bytes: &[u8]) -> io::Result<PreparedFile<'a>> {
        let folder = folder_of(self.path);
        fs::create_dir_all(folder)?;
        let (prefix, suffix) = self.draft_name;
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(suffix);
        #[cfg(unix)]
        if matches!(self.access, DraftAccess::NewFiles) {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let mut draft = builder.tempfile_in(folder)?;
        draft.write_all(bytes)?;
        if let DraftAccess::Given(permissions) = &self.access {
            draft.as_file().set_permissions(permissions.clone())?;
        }
        if self.is_synced {
            draft.as_file().sync_all()?;
        }
        Ok(PreparedFile { path: self.path, draft, is_synced: self.is_synced })
    }
}

/// A draft that is written and has not yet replaced its file. It is removed if it is dropped.
#[derive(Debug)]
pub struct PreparedFile<'a> {
    path: &'a Path,
    draft: NamedTempFile,
    is_synced: bool,
}

impl PreparedFile<'_> {
    /// Puts the draft in the place of the file.
    pub fn put_in_place(self) -> io::Result<()> {
        self.draft.persist(self.path)?;
        if self.is_synced {
            // The file is replaced already. Where a folder cannot be synced, its names are left to the system.
            let _ = sync_folder(folder_of(self.path));
        }
        Ok(())
    }
}

/// Returns once the names in a folder survive a loss of power. Only Unix can open a folder, and only Unix needs this.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Returns the folder of a file. A bare name is in the current one.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
