//! The numbers of a model: a safetensors file, read tensor by tensor.
//!
//! The file is eight bytes that say how long its header is, a header in JSON that says where each tensor lies, and the
//! tensors. Nothing the header says is believed before it was held against the length of the file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::EmbedError;

#[cfg(test)]
#[path = "weights_tests.rs"]
mod tests;

/// A header of a hundred tensors takes ten kilobytes.
const MAX_HEADER_BYTES: u64 = 16 * 1024 * 1024;

/// Where the header begins.
const LENGTH_BYTES: u64 = 8;

const DOWNLOAD_AGAIN: &str = "download the file again, whole";
const OTHER_MODEL: &str = "take the files of one BERT sentence model";

/// A safetensors file, its header read.
#[derive(Debug)]
pub(super) struct Weights {
    path: PathBuf,
    file: File,
    header: Map<String, Value>,
    /// Where the tensors begin, and how many bytes they have.
    start: u64,
    length: u64,
    /// What stands before every name: nothing, or `bert.`.
    prefix: &'static str,
}

/// What the header says of a tensor.
#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

impl Weights {
    /// Reads the header.
    pub(super) fn open(path: &Path) -> Result<Self, EmbedError> {
        let unreadable = |error: std::io::Error| EmbedError::unreadable(path, &error);
        let mut file = File::open(path).map_err(unreadable)?;
        let whole = file.metadata().map_err(unreadable)?.len();
        let short = || EmbedError::unfit(path, "not a safetensors file, or only the beginning of one", DOWNLOAD_AGAIN);
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|_| short())?;
        let header_length = u64::from_le_bytes(length);
        let after_length = whole.saturating_sub(LENGTH_BYTES);
        if header_length > MAX_HEADER_BYTES || header_length > after_length {
            return Err(short());
        }
        let mut header = vec![0; usize::try_from(header_length).map_err(|_| short())?];
        file.read_exact(&mut header).map_err(unreadable)?;
        let header: Map<String, Value> = serde_json::from_slice(&header)
            .map_err(|error| EmbedError::unfit(path, format!("its header is broken ({error})"), DOWNLOAD_AGAIN))?;
        let prefix = if header.contains_key("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let start = LENGTH_BYTES + header_length;
        Ok(Self { path: path.to_owned(), file, header, start, length: after_length - header_length, prefix })
    }

    /// A tensor of two dimensions.
    pub(super) fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, EmbedError> {
        let numbers = self.numbers(name, &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|error| self.unfit(name, &error.to_string(), OTHER_MODEL))
    }

    /// A tensor of one dimension.
    pub(super) fn row(&mut self, name: &str, length: usize) -> Result<Array1<f32>, EmbedError> {
        Ok(Array1::from_vec(self.numbers(name, &[length])?))
    }

    fn numbers(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        let Some(entry) = self.header.get(&format!("{}{name}", self.prefix)) else {
            return Err(self.unfit(name, "it is not there", OTHER_MODEL));
        };
        let entry = Entry::deserialize(entry).map_err(|error| self.unfit(name, &error.to_string(), DOWNLOAD_AGAIN))?;
        if entry.shape != shape {
            let why = format!("its shape is {:?}, config.json says {shape:?}", entry.shape);
            return Err(self.unfit(name, &why, OTHER_MODEL));
        }
        let Some(kind) = Kind::of(&entry.dtype) else {
            let why = format!(
                "it is made of {:?}, not of F32, F16 or BF16",
                entry.dtype.chars().take(16).collect::<String>()
            );
            return Err(self.unfit(name, &why, "take the file with plain weights, not a quantised one"));
        };
        let (begin, end) = entry.data_offsets;
        let expected = shape.iter().try_fold(kind.width(), |bytes, &side| bytes.checked_mul(side));
        let given = end.checked_sub(begin).and_then(|bytes| usize::try_from(bytes).ok());
        let Some(bytes) = given.filter(|_| given == expected) else {
            return Err(self.unfit(name, "its place in the file does not fit its shape", DOWNLOAD_AGAIN));
        };
        if end > self.length {
            return Err(self.unfit(name, "the file ends before it does", DOWNLOAD_AGAIN));
        }
        let mut read = vec![0; bytes];
        self.file
            .seek(SeekFrom::Start(self.start + begin))
            .and_then(|_| self.file.read_exact(&mut read))
            .map_err(|error| EmbedError::unreadable(&self.path, &error))?;
        Ok(kind.read(&read))
    }

    fn unfit(&self, name: &str, why: &str, next: &'static str) -> EmbedError {
        EmbedError::unfit(&self.path, format!("tensor {name}: {why}"), next)
    }
}

/// How a number is written.
#[derive(Debug, Clone, Copy)]
enum Kind {
    F32,
    F16,
    Bf16,
}

impl Kind {
    fn of(dtype: &str) -> Option<Self> {
        match dtype {
            "F32" => Some(Self::F32),
            "F16" => Some(Self::F16),
            "BF16" => Some(Self::Bf16),
            _ => None,
        }
    }

    fn width(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    fn read(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::F32 => bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect(),
            Self::F16 => bytes.as_chunks().0.iter().map(|&number| from_f16(u16::from_le_bytes(number))).collect(),
            Self::Bf16 => bytes.as_chunks().0.iter().map(|&number| from_bf16(u16::from_le_bytes(number))).collect(),
        }
    }
}

/// The upper half of an `f32` is a `bf16`.
fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// One bit of sign, five of exponent, ten of fraction.
fn from_f16(bits: u16) -> f32 {
    let fraction = bits & 0x3ff;
    let magnitude = match (bits >> 10) & 0x1f {
        // Too small for an exponent: a multiple of 2^-24.
        0 => f32::from(fraction) / 16_777_216.0,
        0x1f => f32::from_bits(0x7f80_0000 | u32::from(fraction) << 13),
        exponent => f32::from_bits((u32::from(exponent) + 112) << 23 | u32::from(fraction) << 13),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}
