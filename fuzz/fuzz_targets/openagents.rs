#![no_main]

mod support;

use archivist_core::ingest::LogFormat::{OpenAgentsRunLog, OpenAgentsSession, OpenAgentsState, OpenAgentsTrajectories, ProgressNotes};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[OpenAgentsRunLog, OpenAgentsSession, OpenAgentsState, OpenAgentsTrajectories, ProgressNotes], data);
});
