//! The seal of this machine in a job's file: a worker does nothing that another machine asked for.

use super::error::QueueError;
use super::job::Job;
use super::job_folder::MAX_JOB_BYTES;
use crate::trust::{MachineKey, SEAL_DIGITS, SealPurpose};

#[cfg(test)]
#[path = "job_seal_tests.rs"]
mod tests;

/// The field of the seal, which is the last of a job's file.
pub(super) const SEAL_FIELD: &str = "seal";

/// The reason why a job without a valid seal is put aside.
pub(super) const UNSEALED: &str = "this machine did not write it: it came with a clone, or is older than seals are; \
    after `archivist trust`, `archivist worker --retry-dead` takes it over";

/// The text before and after the digits of a seal.
const BEFORE_DIGITS: &str = ",\"seal\":\"";
const AFTER_DIGITS: &str = "\"}";

/// The writer of a job, as its seal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobAuthor {
    /// This machine, or a server that all its machines share.
    Ours,
    /// Another machine, a person with an editor, or a program older than seals.
    Unknown,
}

/// Renders a job with the seal of this machine, or returns an error if it is too long to be read again.
pub(super) fn render_sealed_job(job: &Job, key: &MachineKey) -> Result<Vec<u8>, QueueError> {
    let mut bytes = serde_json::to_vec(job).map_err(QueueError::Encode)?;
    let whole = bytes.len() + BEFORE_DIGITS.len() + SEAL_DIGITS + AFTER_DIGITS.len() - 1;
    if whole > MAX_JOB_BYTES {
        return Err(QueueError::TooLarge { bytes: whole, most: MAX_JOB_BYTES });
    }
    // The seal goes into the object, so that a job that was not written to its end has none.
    bytes.pop();
    let seal = key.seal_bytes(SealPurpose::Job, &bytes).map_err(QueueError::Key)?;
    bytes.extend([BEFORE_DIGITS, seal.as_str(), AFTER_DIGITS].concat().into_bytes());
    Ok(bytes)
}

/// Returns who wrote a job, given its bytes without the events behind them.
pub(super) fn find_author(job: &[u8], key: &MachineKey) -> Result<JobAuthor, QueueError> {
    let text = std::str::from_utf8(job).unwrap_or_default().trim_end();
    let sealed = text.strip_suffix(AFTER_DIGITS).and_then(|text| text.rsplit_once(BEFORE_DIGITS));
    let Some((content, seal)) = sealed else { return Ok(JobAuthor::Unknown) };
    let is_ours = key.is_sealed(SealPurpose::Job, content.as_bytes(), seal).map_err(QueueError::Key)?;
    Ok(if is_ours { JobAuthor::Ours } else { JobAuthor::Unknown })
}
