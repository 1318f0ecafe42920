//! Files that are read before and written after, whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::cli::failure::Failure;

/// Settings are small.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file as it was found, or a place where there is none.
#[derive(Debug)]
pub(super) struct File {
    /// Where it was looked for.
    pub(super) path: PathBuf,
    /// The same for people: below the project, from there.
    pub(super) shown: String,
    /// Where it really lies.
    pub(super) target: PathBuf,
    /// What stands in it.
    pub(super) text: Option<String>,
    permissions: Option<Permissions>,
}

impl File {
    /// Looks at a file that must lie in one of these directories, whatever links lead to it, and be fit to be edited.
    pub(super) fn look(path: &Path, root: &Path, bounds: &[PathBuf]) -> Result<Self, Failure> {
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let unusable = |error: io::Error| cannot("read", &shown, &error);
        let target = real(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::user(format!("{shown} is a link that leads nowhere")).with_hint("mend the link, or remove it")
            }
            _ => unusable(error),
        })?;
        let is_inside = |bound: &PathBuf| real(bound).is_ok_and(|bound| target.starts_with(bound));
        if !bounds.iter().any(is_inside) {
            let message = format!("{shown} is a link to {}, which lies elsewhere", target.display());
            return Err(
                Failure::user(message).with_hint("edit that file by hand: docs/hooks.md shows what belongs there")
            );
        }
        let metadata = match fs::metadata(&target) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path: path.to_path_buf(), shown, target, text: None, permissions: None });
            }
            Err(error) => return Err(unusable(error)),
        };
        if !metadata.is_file() {
            return Err(Failure::user(format!("{shown} is no file")));
        }
        if metadata.len() > MAX_BYTES {
            return Err(Failure::user(format!("{shown} is too long for settings")));
        }
        let text = fs::read(&target).map_err(unusable)?;
        let text = String::from_utf8(text)
            .map_err(|_| Failure::user(format!("{shown} is not UTF-8 text")).with_hint("convert it to UTF-8 first"))?;
        Ok(Self {
            path: path.to_path_buf(),
            shown,
            target,
            text: Some(text),
            permissions: Some(metadata.permissions()),
        })
    }

    /// Whether it may be written, and is still what was found: agents write their settings too, and nobody's writing may
    /// be lost.
    pub(super) fn can_be_written(&self) -> Result<(), Failure> {
        if self.permissions.as_ref().is_some_and(Permissions::readonly) {
            return Err(Failure::user(format!("{} is read-only", self.shown)).with_hint("allow writing to it first"));
        }
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot("read", &self.shown, &error)),
        };
        if now.as_deref() == self.text.as_deref().map(str::as_bytes) {
            return Ok(());
        }
        Err(Failure::user(format!("{} was changed by somebody else meanwhile", self.shown)).with_hint("try again"))
    }

    /// Puts a text in the place of what was found, and says which folders it had to make for that.
    pub(super) fn replace(&self, text: &str) -> Result<Vec<PathBuf>, Failure> {
        self.can_be_written()?;
        let folder = self.target.parent().unwrap_or(Path::new("."));
        let made: Vec<PathBuf> =
            folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
        self.put(folder, text).map_err(|error| cannot("write", &self.shown, &error))?;
        Ok(made)
    }

    /// Takes the file away, and those of these folders that are empty then.
    pub(super) fn delete(&self, folders: &[PathBuf]) -> Result<(), Failure> {
        self.can_be_written()?;
        fs::remove_file(&self.target).map_err(|error| cannot("remove", &self.shown, &error))?;
        for folder in folders {
            // A folder that holds something else by now stays, and so do those above it.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn put(&self, folder: &Path, text: &str) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = fresh(folder)?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = &self.permissions {
            file.as_file().set_permissions(permissions.clone())?;
        }
        file.as_file().sync_all()?;
        file.persist(&self.target)?;
        Ok(())
    }
}

/// Where a path really leads, even if its end does not exist yet; an error of the kind `NotFound` for a broken link.
fn real(path: &Path) -> io::Result<PathBuf> {
    if path.symlink_metadata().is_ok() {
        return path.canonicalize();
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(real(folder)?.join(name)),
        _ => path.canonicalize(),
    }
}

/// A file of no name yet, with the permissions that new files have.
#[cfg(unix)]
fn fresh(folder: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn fresh(folder: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::new_in(folder)
}

fn cannot(what: &str, shown: &str, error: &io::Error) -> Failure {
    Failure::user(format!("cannot {what} {shown}: {error}")).with_hint("allow reading and writing there")
}
