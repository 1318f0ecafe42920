//! Reads the payload of a hook from stdin. The payload is over where its JSON is: many agents leave the pipe open.

use std::io::{self, BufReader, Read};
use std::sync::mpsc;
use std::time::Duration;

use serde::de::IgnoredAny;

use crate::cli_error::CliError;

#[cfg(test)]
#[path = "hook_input_tests.rs"]
mod tests;

/// The longest wait for a whole payload. A machine under load may take this long to write one.
const PAYLOAD_PATIENCE: Duration = Duration::from_secs(2);

/// The most bytes that are read.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// Returns the payload as text, with bytes that are not UTF-8 replaced.
pub(crate) fn read_payload(input: Box<dyn Read + Send>) -> Result<String, CliError> {
    let bytes = read_within(PAYLOAD_PATIENCE, input)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Reads in a thread of its own, because a read cannot be interrupted. The thread ends with the process.
fn read_within(patience: Duration, input: Box<dyn Read + Send>) -> Result<Vec<u8>, CliError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let reader = std::thread::Builder::new().name("payload".to_owned());
    // Nobody receives what arrives too late.
    reader.spawn(move || drop(sender.send(read_first_value(input)))).map_err(CliError::Start)?;
    let cannot_read = |why: &dyn std::fmt::Display| CliError::user_error(format!("cannot read stdin: {why}"));
    match receiver.recv_timeout(patience) {
        Ok(read) => read.map_err(|error| cannot_read(&error)),
        Err(_) => Err(cannot_read(&format_args!("no whole payload came within {} s", patience.as_secs_f32()))),
    }
}

/// Reads the first JSON value of the input, or all of an input that does not begin with one.
fn read_first_value(input: impl Read) -> io::Result<Vec<u8>> {
    let mut recorded = BufReader::new(RecordingReader { input: input.take(MAX_PAYLOAD_BYTES), bytes: Vec::new() });
    let mut values = serde_json::Deserializer::from_reader(&mut recorded).into_iter::<IgnoredAny>();
    let is_json = matches!(values.next(), Some(Ok(_)));
    let end = values.byte_offset();
    let RecordingReader { mut input, mut bytes } = recorded.into_inner();
    match is_json {
        true => bytes.truncate(end),
        false => drop(input.read_to_end(&mut bytes)?),
    }
    Ok(bytes)
}

/// A reader that keeps what was read from it.
struct RecordingReader<R> {
    input: R,
    bytes: Vec<u8>,
}

impl<R: Read> Read for RecordingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.extend(buffer.iter().take(count));
        Ok(count)
    }
}
