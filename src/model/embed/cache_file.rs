//! Vectors in a file: records of one size behind a header, only ever added to.
//!
//! Every record carries a checksum over the header and itself, so that a torn, overwritten or foreign record is never
//! taken for a vector. Whoever adds holds a lock on the file. What does not fit is written anew; the file is derived
//! and may be deleted at any time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Vector;

#[cfg(test)]
#[path = "cache_file_tests.rs"]
mod tests;

/// Changes with the form of the file.
const MAGIC: &[u8; 16] = b"archivist-vec-1\n";

const CHECKSUM_BYTES: usize = 8;

/// The dimension and the length of the name.
const MEASURES_BYTES: usize = 8;

const MAX_NAME_BYTES: usize = 4096;
const MAX_DIMENSIONS: usize = 65_536;

/// A file that has grown to this is written anew with what is in memory.
const MAX_FILE_BYTES: u64 = 512 * 1024 * 1024;

/// How often, and how far apart, a lock is asked for. Nobody waits longer for what is derived.
const LOCK_TRIES: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// What a vector is found by.
pub(super) type Key = [u8; 32];

/// A file of vectors of one model.
#[derive(Debug)]
pub(super) struct CacheFile {
    path: PathBuf,
    model: String,
    max_bytes: u64,
}

/// What came of adding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    /// The records are in the file, behind those that were there.
    Appended,
    /// The file was missing, foreign or full and was written anew.
    Rebuilt,
    /// Somebody else was writing for too long.
    Busy,
}

impl CacheFile {
    pub(super) fn new(path: &Path, model: &str) -> Self {
        let model = model.chars().take(MAX_NAME_BYTES / 4).collect();
        Self { path: path.to_owned(), model, max_bytes: MAX_FILE_BYTES }
    }

    /// Hands over what can be read, the oldest first. A missing or foreign file holds nothing.
    pub(super) fn load(&self, mut take: impl FnMut(Key, Vector)) -> std::io::Result<()> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        // Read without a lock: whatever a writer is in the middle of fails its checksum.
        let mut reader = BufReader::new(file);
        let Some(header) = Header::read(&mut reader)?.filter(|header| header.model == self.model.as_bytes()) else {
            return Ok(());
        };
        let mut record = vec![0; header.record_bytes()];
        while fill(&mut reader, &mut record)? {
            if let Some((key, vector)) = header.open(&record) {
                take(key, vector);
            }
        }
        Ok(())
    }

    /// Adds records, all of one dimension. `all` gives everything worth keeping, should the file be written anew.
    pub(super) fn add(
        &self,
        fresh: &[(Key, Vector)],
        all: impl FnOnce() -> Vec<(Key, Vector)>,
    ) -> std::io::Result<Added> {
        let Some(header) = fresh.first().and_then(|(_, vector)| Header::new(&self.model, vector.dimensions())) else {
            return Ok(Added::Appended);
        };
        if let Some(parent) = self.path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        if !lock(&file)? {
            return Ok(Added::Busy);
        }
        let found = Header::read(&mut BufReader::new(&file))?;
        let length = file.metadata()?.len();
        let added = u64::try_from(fresh.len() * header.record_bytes()).unwrap_or(u64::MAX);
        let fits = found.as_ref() == Some(&header) && length.saturating_add(added) <= self.max_bytes;
        if fits {
            // A writer that died has left a piece of a record; the next one begins where it began.
            let start = u64::try_from(header.bytes.len()).unwrap_or(u64::MAX);
            let size = u64::try_from(header.record_bytes()).unwrap_or(u64::MAX);
            let whole = length - length.saturating_sub(start) % size;
            file.set_len(whole)?;
            file.seek(SeekFrom::Start(whole))?;
            file.write_all(&header.records(fresh))?;
            return Ok(Added::Appended);
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header.bytes)?;
        for records in all().chunks(1024) {
            file.write_all(&header.records(records))?;
        }
        Ok(Added::Rebuilt)
    }
}

/// Whether the file is ours alone now. The lock goes with the handle.
fn lock(file: &File) -> std::io::Result<bool> {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

/// Whose vectors they are and how many numbers each has.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    model: Vec<u8>,
    dimensions: usize,
    /// As it stands in the file, the checksum at its end.
    bytes: Vec<u8>,
}

impl Header {
    /// `None` where no vector has so many dimensions.
    fn new(model: &str, dimensions: usize) -> Option<Self> {
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return None;
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u32::try_from(dimensions).ok()?.to_le_bytes());
        bytes.extend(u32::try_from(model.len()).ok()?.to_le_bytes());
        bytes.extend(model.as_bytes());
        bytes.extend(checksum(&[&bytes]));
        Some(Self { model: model.as_bytes().to_vec(), dimensions, bytes })
    }

    /// `None` where the file begins with anything else.
    fn read(reader: &mut impl Read) -> std::io::Result<Option<Self>> {
        let mut bytes = vec![0; MAGIC.len() + MEASURES_BYTES];
        if !fill(reader, &mut bytes)? {
            return Ok(None);
        }
        let Some((magic, measures)) = bytes.split_first_chunk::<{ MAGIC.len() }>() else { return Ok(None) };
        let measures = measures.as_chunks().0.iter().map(|&number| usize::try_from(u32::from_le_bytes(number)));
        let Ok([dimensions, name]) = <[_; 2]>::try_from(measures.collect::<Vec<_>>()) else { return Ok(None) };
        let (Ok(dimensions @ 1..=MAX_DIMENSIONS), Ok(name @ 0..=MAX_NAME_BYTES), true) =
            (dimensions, name, magic == MAGIC)
        else {
            return Ok(None);
        };
        let mut model = vec![0; name];
        let mut found = [0; CHECKSUM_BYTES];
        if !fill(reader, &mut model)? || !fill(reader, &mut found)? {
            return Ok(None);
        }
        bytes.extend(&model);
        if found != checksum(&[&bytes]) {
            return Ok(None);
        }
        bytes.extend(found);
        Ok(Some(Self { model, dimensions, bytes }))
    }

    fn record_bytes(&self) -> usize {
        size_of::<Key>() + self.dimensions * size_of::<f32>() + CHECKSUM_BYTES
    }

    /// Records as they stand in the file. Vectors of another dimension have no place in it.
    fn records(&self, records: &[(Key, Vector)]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(records.len() * self.record_bytes());
        for (key, vector) in records.iter().filter(|(_, vector)| vector.dimensions() == self.dimensions) {
            let numbers: Vec<u8> = vector.as_slice().iter().flat_map(|number| number.to_le_bytes()).collect();
            bytes.extend(key);
            bytes.extend(&numbers);
            bytes.extend(checksum(&[&self.bytes, key, &numbers]));
        }
        bytes
    }

    fn open(&self, record: &[u8]) -> Option<(Key, Vector)> {
        let (content, found) = record.split_last_chunk::<CHECKSUM_BYTES>()?;
        if *found != checksum(&[&self.bytes, content]) {
            return None;
        }
        let (key, numbers) = content.split_first_chunk()?;
        let numbers = numbers.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect();
        Some((*key, Vector::stored(numbers)?))
    }
}

fn checksum(parts: &[&[u8]]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut sum = [0; CHECKSUM_BYTES];
    hasher.finalize_xof().fill(&mut sum);
    sum
}

/// Fills the buffer; `false` where the file ends first.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match reader.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
