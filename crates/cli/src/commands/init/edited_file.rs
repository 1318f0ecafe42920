//! Files that are read before they are edited, and replaced atomically.

use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use crate::cli_error::CliError;
use archivist_core::files::FileReplacement;

/// The most bytes of a settings file.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file as it was found, or a path without a file.
#[derive(Debug)]
pub(super) struct EditableFile {
    /// The path that was asked for.
    pub(super) path: PathBuf,
    /// The path for messages, relative to the project if it is below it.
    pub(super) shown: String,
    /// The path with all links resolved.
    pub(super) target: PathBuf,
    /// The text of the file, or `None` if there is no file.
    pub(super) text: Option<String>,
    permissions: Option<Permissions>,
}

impl EditableFile {
    /// Reads a file that must lie in one of these directories after links are resolved, and must be editable text.
    pub(super) fn read_within(path: &Path, root: &Path, bounds: &[PathBuf]) -> Result<Self, CliError> {
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let unusable = |error: io::Error| file_error("read", &shown, &error);
        let target = resolve_links(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CliError::user_error(format!("{shown} is a link that leads nowhere"))
                .with_hint("mend the link, or remove it"),
            _ => unusable(error),
        })?;
        let is_inside = |bound: &PathBuf| resolve_links(bound).is_ok_and(|bound| target.starts_with(bound));
        if !bounds.iter().any(is_inside) {
            let message = format!("{shown} is a link to {}, which lies elsewhere", target.display());
            return Err(CliError::user_error(message)
                .with_hint("edit that file by hand: docs/hooks.md shows what belongs there"));
        }
        let metadata = match fs::metadata(&target) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path: path.to_path_buf(), shown, target, text: None, permissions: None });
            }
            Err(error) => return Err(unusable(error)),
        };
        if !metadata.is_file() {
            return Err(CliError::user_error(format!("{shown} is no file")));
        }
        if metadata.len() > MAX_BYTES {
            return Err(CliError::user_error(format!("{shown} is too long for settings")));
        }
        let text = fs::read(&target).map_err(unusable)?;
        let text = String::from_utf8(text).map_err(|_| {
            CliError::user_error(format!("{shown} is not UTF-8 text")).with_hint("convert it to UTF-8 first")
        })?;
        Ok(Self {
            path: path.to_path_buf(),
            shown,
            target,
            text: Some(text),
            permissions: Some(metadata.permissions()),
        })
    }

    /// Returns an error if the file is read-only or was changed since it was read, so that no other program's edit is
    /// lost.
    pub(super) fn check_writable(&self) -> Result<(), CliError> {
        if self.permissions.as_ref().is_some_and(Permissions::readonly) {
            return Err(
                CliError::user_error(format!("{} is read-only", self.shown)).with_hint("allow writing to it first")
            );
        }
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(file_error("read", &self.shown, &error)),
        };
        if now.as_deref() == self.text.as_deref().map(str::as_bytes) {
            return Ok(());
        }
        Err(CliError::user_error(format!("{} was changed by somebody else meanwhile", self.shown))
            .with_hint("try again"))
    }

    /// Replaces the file's text, and returns the folders that had to be created.
    pub(super) fn replace_text(&self, text: &str) -> Result<Vec<PathBuf>, CliError> {
        self.check_writable()?;
        let folder = self.target.parent().unwrap_or(Path::new("."));
        let made: Vec<PathBuf> =
            folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
        self.write_atomically(text).map_err(|error| file_error("write", &self.shown, &error))?;
        Ok(made)
    }

    /// Deletes the file, and those of these folders that are empty afterwards.
    pub(super) fn delete_file(&self, folders: &[PathBuf]) -> Result<(), CliError> {
        self.check_writable()?;
        fs::remove_file(&self.target).map_err(|error| file_error("remove", &self.shown, &error))?;
        for folder in folders {
            // A folder that holds something else stays, and so do those above it.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn write_atomically(&self, text: &str) -> io::Result<()> {
        let replacement = FileReplacement::new(&self.target);
        let replacement = match &self.permissions {
            Some(permissions) => replacement.with_permissions(permissions.clone()),
            None => replacement.with_default_permissions(),
        };
        replacement.write(text.as_bytes())
    }
}

/// Resolves the links of a path whose end need not exist. A broken link is an error of the kind `NotFound`.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    if path.symlink_metadata().is_ok() {
        return path.canonicalize();
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(resolve_links(folder)?.join(name)),
        _ => path.canonicalize(),
    }
}

fn file_error(what: &str, shown: &str, error: &io::Error) -> CliError {
    CliError::user_error(format!("cannot {what} {shown}: {error}")).with_hint("allow reading and writing there")
}
