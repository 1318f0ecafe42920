//! Reads logs that are compressed with zstd.

use std::io::Cursor;
use std::io::Error;
use std::io::ErrorKind;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::json_lines::read_some;

#[cfg(test)]
#[path = "zstd_log_tests.rs"]
mod tests;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns true if a log with this beginning is compressed.
pub(super) fn is_zstd_compressed(beginning: &[u8]) -> bool {
    beginning.starts_with(&MAGIC)
}

/// A shared flag that is set when a compressed log turns out to be damaged while it is read.
#[derive(Debug, Clone, Default)]
pub(super) struct DamageFlag(Arc<AtomicBool>);

impl DamageFlag {
    /// Returns true if a part of the log is missing.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Decompresses a log that may consist of several frames. A damaged log ends where the damage is.
pub(super) struct DecompressedLog<'i> {
    frame: ZstdFrame<'i>,
    damage: DamageFlag,
}

enum ZstdFrame<'i> {
    Open(Box<StreamingDecoder<CompressedSource<'i>, FrameDecoder>>),
    /// The position before the first frame, between two frames, or after the last one.
    Between(CompressedSource<'i>),
    Over,
}

/// The compressed bytes: those that were read already, then the rest.
struct CompressedSource<'i> {
    ahead: Cursor<Vec<u8>>,
    rest: &'i mut (dyn Read + Send),
    /// The read error that ended the input, if the compression is not at fault.
    error: Option<Error>,
}

impl Read for CompressedSource<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.ahead.read(buffer)? {
            0 => read_some(self.rest, buffer).map_err(|error| {
                let same = Error::from(error.kind());
                self.error = Some(error);
                same
            }),
            read => Ok(read),
        }
    }
}

impl<'i> CompressedSource<'i> {
    /// Opens the next frame that contains log data.
    fn next_frame(mut self) -> std::io::Result<ZstdFrame<'i>> {
        loop {
            let start = self.read_four_bytes()?;
            match <[u8; 4]>::try_from(start.as_slice()) {
                Err(_) if start.is_empty() => return Ok(ZstdFrame::Over),
                // A frame for other programs, and its length.
                Ok([0x50..=0x5f, 0x2a, 0x4d, 0x18]) => {
                    let length = <[u8; 4]>::try_from(self.read_four_bytes()?.as_slice()).map_or(0, u32::from_le_bytes);
                    std::io::copy(&mut Read::by_ref(&mut self).take(u64::from(length)), &mut std::io::sink())?;
                }
                _ => {
                    let read = self.ahead.position();
                    let ahead = self.ahead.into_inner();
                    let unread = ahead.get(usize::try_from(read).unwrap_or(usize::MAX)..).unwrap_or_default();
                    self.ahead = Cursor::new([start.as_slice(), unread].concat());
                    let decoder = StreamingDecoder::new(self);
                    return Ok(ZstdFrame::Open(Box::new(
                        decoder.map_err(|error| Error::new(ErrorKind::InvalidData, error))?,
                    )));
                }
            }
        }
    }

    fn read_four_bytes(&mut self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Read::by_ref(self).take(4).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl<'i> DecompressedLog<'i> {
    /// Decompresses the input that begins with these bytes.
    pub(super) fn new(beginning: Vec<u8>, rest: &'i mut (dyn Read + Send)) -> Self {
        let source = CompressedSource { ahead: Cursor::new(beginning), rest, error: None };
        Self { frame: ZstdFrame::Between(source), damage: DamageFlag::default() }
    }

    /// Returns the flag that is set if the log is damaged.
    pub(super) fn damage_flag(&self) -> DamageFlag {
        self.damage.clone()
    }
}

impl Read for DecompressedLog<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let next = match std::mem::replace(&mut self.frame, ZstdFrame::Over) {
                ZstdFrame::Over => return Ok(0),
                ZstdFrame::Between(source) => source.next_frame(),
                ZstdFrame::Open(mut decoder) => match read_some(&mut decoder, buffer) {
                    Ok(0) if !buffer.is_empty() => Ok(ZstdFrame::Between(decoder.into_inner())),
                    Ok(read) => {
                        self.frame = ZstdFrame::Open(decoder);
                        return Ok(read);
                    }
                    Err(_) => Err(decoder.get_mut().error.take().unwrap_or_else(|| ErrorKind::InvalidData.into())),
                },
            };
            match next {
                Ok(frame) => self.frame = frame,
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    self.damage.0.store(true, Ordering::Relaxed);
                    return Ok(0);
                }
                Err(error) => return Err(error),
            }
        }
    }
}
