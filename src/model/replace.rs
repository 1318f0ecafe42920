//! Files that are whole at any time.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Puts a file in place of another, or where there was none. Whoever reads sees all of the old one or all of the new.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
