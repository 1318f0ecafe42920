//! Bytes through a reader and everything behind it.

use archivist_core::context::{GatheredLogs, LogGatherer};
use archivist_core::ingest::{LogFormat, SessionReader, ReaderSettings};
use archivist_core::redact::Redactor;

/// Reads bytes as one of these formats, chosen by the first byte, and gathers what they tell.
pub fn read_as(formats: &[LogFormat], data: &[u8]) -> Option<GatheredLogs> {
    let (choice, log) = data.split_first()?;
    let format = formats[usize::from(*choice) % formats.len()];
    let rules = ReaderSettings { strict: choice & 0x80 != 0 };
    let redactor = Redactor::new();
    let mut gathering = LogGatherer::new(&redactor);
    // An error is a fair answer; a panic, a hang or a flood of memory is not.
    let _ = SessionReader::new(rules).read_log_as(format, &mut &log[..], &mut gathering);
    let gathered = gathering.finish();
    for trajectory in &gathered.trajectories {
        assert!(trajectory.steps.windows(2).all(|pair| pair[0].number < pair[1].number), "steps are out of order");
    }
    Some(gathered)
}
