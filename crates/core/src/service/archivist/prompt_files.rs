//! The user's own prompt files.

use std::fs;
use std::path::Path;

use super::RequestError;
use crate::distill::PromptSet;

/// The most bytes of a prompt file.
const MAX_BYTES: u64 = 256 * 1024;

/// Loads the prompts, with the files of the user's directory in place of the built-in ones.
pub fn load_prompts(folder: Option<&Path>) -> Result<PromptSet, RequestError> {
    let mut own = Vec::new();
    if let Some(folder) = folder {
        let unusable = |error: std::io::Error| {
            RequestError::impossible_request(
                format!("the prompts in {} cannot be read: {error}", folder.display()),
                "set `distill.promptDir` to a directory of prompts, or leave it empty",
            )
        };
        if !folder.is_dir() {
            return Err(unusable(std::io::ErrorKind::NotADirectory.into()));
        }
        for name in PromptSet::NAMES {
            let path = folder.join(name);
            match fs::metadata(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unusable(error)),
                Ok(metadata) if !metadata.is_file() => {
                    return Err(RequestError::impossible_request(
                        format!("{} is no file", path.display()),
                        "put a text file there, or remove it",
                    ));
                }
                Ok(metadata) if metadata.len() > MAX_BYTES => {
                    return Err(RequestError::impossible_request(
                        format!("{} is too long for a prompt", path.display()),
                        "a prompt has at most 256 KiB",
                    ));
                }
                Ok(_) => own.push((name.to_owned(), fs::read_to_string(&path).map_err(unusable)?)),
            }
        }
    }
    PromptSet::with_overrides(own).map_err(|error| {
        RequestError::impossible_request(
            error.to_string(),
            "`archivist prompt show --builtin NAME` prints a prompt to start from",
        )
    })
}
