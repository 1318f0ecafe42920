//! A file of vectors: records of one size after a header, only ever appended to.
//!
//! Every record carries a checksum over the header and itself, so that a torn, overwritten or foreign record is never
//! taken for a vector. A writer holds a lock on the file. A file that does not fit is rewritten; it is derived and may
//! be deleted at any time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::EmbeddingVector;
use crate::domain::StableHash;
use crate::files::is_link;

#[cfg(test)]
#[path = "cache_file_tests.rs"]
mod tests;

/// The magic bytes, which change with the format of the file.
const MAGIC: &[u8; 16] = b"archivist-vec-1\n";

const CHECKSUM_BYTES: usize = 8;

/// The bytes of the dimension and of the length of the name.
const MEASURES_BYTES: usize = 8;

const MAX_NAME_BYTES: usize = 4096;
const MAX_DIMENSIONS: usize = 65_536;

/// A file that would grow beyond this is rewritten with what is in memory.
const MAX_FILE_BYTES: u64 = 512 * 1024 * 1024;

/// The number of attempts to lock the file, and the pause between them. Derived data is not worth a longer wait.
const LOCK_TRIES: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The key by which a vector is found.
pub(super) type Key = [u8; 32];

/// A file of vectors of one model.
#[derive(Debug)]
pub(super) struct VectorCacheFile {
    path: PathBuf,
    model: String,
    max_bytes: u64,
}

/// The outcome of adding records to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheAppendOutcome {
    /// The records were appended to the file.
    Appended,
    /// The file was missing, foreign or full and was rewritten.
    Rebuilt,
    /// Another process held the lock for too long.
    Busy,
}

impl VectorCacheFile {
    pub(super) fn new(path: &Path, model: &str) -> Self {
        let model = model.chars().take(MAX_NAME_BYTES / 4).collect();
        Self { path: path.to_owned(), model, max_bytes: MAX_FILE_BYTES }
    }

    /// Passes every readable record to `take`, the oldest first. A missing or foreign file has no records.
    pub(super) fn read_records(&self, mut take: impl FnMut(Key, EmbeddingVector)) -> std::io::Result<()> {
        self.refuse_links()?;
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        // Read without a lock: whatever a writer is in the middle of fails its checksum.
        let mut reader = BufReader::new(file);
        let Some(header) =
            CacheFileHeader::read_from(&mut reader)?.filter(|header| header.model == self.model.as_bytes())
        else {
            return Ok(());
        };
        let mut record = vec![0; header.record_size()];
        while fill_buffer(&mut reader, &mut record)? {
            if let Some((key, vector)) = header.decode_record(&record) {
                take(key, vector);
            }
        }
        Ok(())
    }

    /// Returns an error if the file or its folder is a symbolic link: it may have come with a repository, and lead
    /// anywhere.
    fn refuse_links(&self) -> std::io::Result<()> {
        match [Some(&*self.path), self.path.parent()].into_iter().flatten().find(|path| is_link(path)) {
            Some(link) => Err(std::io::Error::other(format!("{} is a symbolic link", link.display()))),
            None => Ok(()),
        }
    }

    /// Adds records, all of one dimension. `all` returns everything worth keeping, in case the file is rewritten.
    pub(super) fn add_records(
        &self,
        fresh: &[(Key, EmbeddingVector)],
        all: impl FnOnce() -> Vec<(Key, EmbeddingVector)>,
    ) -> std::io::Result<CacheAppendOutcome> {
        let Some(header) = fresh.first().and_then(|(_, vector)| CacheFileHeader::new(&self.model, vector.dimensions()))
        else {
            return Ok(CacheAppendOutcome::Appended);
        };
        self.refuse_links()?;
        if let Some(parent) = self.path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        if !try_lock_file(&file)? {
            return Ok(CacheAppendOutcome::Busy);
        }
        let found = CacheFileHeader::read_from(&mut BufReader::new(&file))?;
        let length = file.metadata()?.len();
        let added = u64::try_from(fresh.len() * header.record_size()).unwrap_or(u64::MAX);
        let fits = found.as_ref() == Some(&header) && length.saturating_add(added) <= self.max_bytes;
        if fits {
            // A writer that crashed has left a partial record; the next record overwrites it.
            let start = u64::try_from(header.bytes.len()).unwrap_or(u64::MAX);
            let size = u64::try_from(header.record_size()).unwrap_or(u64::MAX);
            let whole = length - length.saturating_sub(start) % size;
            file.set_len(whole)?;
            file.seek(SeekFrom::Start(whole))?;
            file.write_all(&header.encode_records(fresh))?;
            return Ok(CacheAppendOutcome::Appended);
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header.bytes)?;
        for records in all().chunks(1024) {
            file.write_all(&header.encode_records(records))?;
        }
        Ok(CacheAppendOutcome::Rebuilt)
    }
}

/// Tries to lock the file and returns true on success. The lock ends with the handle.
fn try_lock_file(file: &File) -> std::io::Result<bool> {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

/// The model and the dimension of all vectors in a file.
#[derive(Debug, PartialEq, Eq)]
struct CacheFileHeader {
    model: Vec<u8>,
    dimensions: usize,
    /// The header's bytes as stored, with the checksum at the end.
    bytes: Vec<u8>,
}

impl CacheFileHeader {
    /// Creates a header; `None` if the number of dimensions is out of range.
    fn new(model: &str, dimensions: usize) -> Option<Self> {
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return None;
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u32::try_from(dimensions).ok()?.to_le_bytes());
        bytes.extend(u32::try_from(model.len()).ok()?.to_le_bytes());
        bytes.extend(model.as_bytes());
        bytes.extend(compute_checksum(&[&bytes]));
        Some(Self { model: model.as_bytes().to_vec(), dimensions, bytes })
    }

    /// Reads a header; `None` if the file begins with anything else.
    fn read_from(reader: &mut impl Read) -> std::io::Result<Option<Self>> {
        let mut bytes = vec![0; MAGIC.len() + MEASURES_BYTES];
        if !fill_buffer(reader, &mut bytes)? {
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
        if !fill_buffer(reader, &mut model)? || !fill_buffer(reader, &mut found)? {
            return Ok(None);
        }
        bytes.extend(&model);
        if found != compute_checksum(&[&bytes]) {
            return Ok(None);
        }
        bytes.extend(found);
        Ok(Some(Self { model, dimensions, bytes }))
    }

    fn record_size(&self) -> usize {
        size_of::<Key>() + self.dimensions * size_of::<f32>() + CHECKSUM_BYTES
    }

    /// Encodes records as the file stores them. Vectors of another dimension are left out.
    fn encode_records(&self, records: &[(Key, EmbeddingVector)]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(records.len() * self.record_size());
        for (key, vector) in records.iter().filter(|(_, vector)| vector.dimensions() == self.dimensions) {
            let numbers: Vec<u8> = vector.as_slice().iter().flat_map(|number| number.to_le_bytes()).collect();
            bytes.extend(key);
            bytes.extend(&numbers);
            bytes.extend(compute_checksum(&[&self.bytes, key, &numbers]));
        }
        bytes
    }

    fn decode_record(&self, record: &[u8]) -> Option<(Key, EmbeddingVector)> {
        let (content, found) = record.split_last_chunk::<CHECKSUM_BYTES>()?;
        if *found != compute_checksum(&[&self.bytes, content]) {
            return None;
        }
        let (key, numbers) = content.split_first_chunk()?;
        let numbers = numbers.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect();
        Some((*key, EmbeddingVector::from_stored(numbers)?))
    }
}

fn compute_checksum(parts: &[&[u8]]) -> [u8; CHECKSUM_BYTES] {
    parts.iter().fold(StableHash::default(), |hash, part| hash.with_bytes(part)).to_bytes()
}

/// Fills the buffer; returns `false` if the file ends first.
fn fill_buffer(reader: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match reader.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
