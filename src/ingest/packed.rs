//! Logs that were packed with zstd.

use std::io::Cursor;
use std::io::Error;
use std::io::ErrorKind;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::lines::read_some;

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a log that begins like this is packed.
pub(super) fn is_packed(beginning: &[u8]) -> bool {
    beginning.starts_with(&MAGIC)
}

/// Whether a packed log turned out to be damaged; known when it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Damage(Arc<AtomicBool>);

impl Damage {
    /// Whether something is missing.
    pub(super) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Unpacks a log that may have been packed in several pieces. Where it is damaged it ends.
pub(super) struct Unpacked<'i> {
    frame: Frame<'i>,
    damage: Damage,
}

enum Frame<'i> {
    Open(Box<StreamingDecoder<Source<'i>, FrameDecoder>>),
    /// Before the first frame, between two, or behind the last one.
    Between(Source<'i>),
    Over,
}

/// The packed bytes: some that were read already, then the rest.
struct Source<'i> {
    ahead: Cursor<Vec<u8>>,
    rest: &'i mut (dyn Read + Send),
    /// Why there is no more, if that is no fault of the packing.
    error: Option<Error>,
}

impl Read for Source<'_> {
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

impl<'i> Source<'i> {
    /// The next frame that holds something.
    fn next(mut self) -> std::io::Result<Frame<'i>> {
        loop {
            let start = self.four()?;
            match <[u8; 4]>::try_from(start.as_slice()) {
                Err(_) if start.is_empty() => return Ok(Frame::Over),
                // A frame for other programs, and its length.
                Ok([0x50..=0x5f, 0x2a, 0x4d, 0x18]) => {
                    let length = <[u8; 4]>::try_from(self.four()?.as_slice()).map_or(0, u32::from_le_bytes);
                    std::io::copy(&mut Read::by_ref(&mut self).take(u64::from(length)), &mut std::io::sink())?;
                }
                _ => {
                    let read = self.ahead.position();
                    let ahead = self.ahead.into_inner();
                    let unread = ahead.get(usize::try_from(read).unwrap_or(usize::MAX)..).unwrap_or_default();
                    self.ahead = Cursor::new([start.as_slice(), unread].concat());
                    let decoder = StreamingDecoder::new(self);
                    return Ok(Frame::Open(Box::new(
                        decoder.map_err(|error| Error::new(ErrorKind::InvalidData, error))?,
                    )));
                }
            }
        }
    }

    fn four(&mut self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Read::by_ref(self).take(4).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl<'i> Unpacked<'i> {
    /// Unpacks what begins with these bytes.
    pub(super) fn new(beginning: Vec<u8>, rest: &'i mut (dyn Read + Send)) -> Self {
        let source = Source { ahead: Cursor::new(beginning), rest, error: None };
        Self { frame: Frame::Between(source), damage: Damage::default() }
    }

    /// What will be known of its damage.
    pub(super) fn damage(&self) -> Damage {
        self.damage.clone()
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let next = match std::mem::replace(&mut self.frame, Frame::Over) {
                Frame::Over => return Ok(0),
                Frame::Between(source) => source.next(),
                Frame::Open(mut decoder) => match read_some(&mut decoder, buffer) {
                    Ok(0) if !buffer.is_empty() => Ok(Frame::Between(decoder.into_inner())),
                    Ok(read) => {
                        self.frame = Frame::Open(decoder);
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
