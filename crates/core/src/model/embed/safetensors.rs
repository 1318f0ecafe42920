//! A reader for safetensors files, which hold a model's weights.
//!
//! The file is eight bytes with the length of its header, a header in JSON with the position of each tensor, and the
//! tensors. Everything in the header is checked against the length of the file before it is used.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::EmbedError;

#[cfg(test)]
#[path = "safetensors_tests.rs"]
mod tests;

/// The longest header that is read; a header of a hundred tensors takes ten kilobytes.
const MAX_HEADER_BYTES: u64 = 16 * 1024 * 1024;

/// The offset at which the header begins.
const LENGTH_BYTES: u64 = 8;

const DOWNLOAD_AGAIN: &str = "download the file again, whole";
const OTHER_MODEL: &str = "take the files of one BERT sentence model";

/// An open safetensors file with its parsed header.
#[derive(Debug)]
pub(super) struct SafetensorsFile {
    path: PathBuf,
    file: File,
    header: Map<String, Value>,
    /// The offset at which the tensors begin, and their length in bytes.
    start: u64,
    length: u64,
    /// The prefix of every tensor name: nothing, or `bert.`.
    prefix: &'static str,
}

/// The header's entry for one tensor.
#[derive(Debug, Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

impl SafetensorsFile {
    /// Opens a file and reads its header.
    pub(super) fn open(path: &Path) -> Result<Self, EmbedError> {
        let unreadable = |error: std::io::Error| EmbedError::unreadable_file(path, &error);
        let mut file = File::open(path).map_err(unreadable)?;
        let whole = file.metadata().map_err(unreadable)?.len();
        let short =
            || EmbedError::unfit_file(path, "not a safetensors file, or only the beginning of one", DOWNLOAD_AGAIN);
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
            .map_err(|error| EmbedError::unfit_file(path, format!("its header is broken ({error})"), DOWNLOAD_AGAIN))?;
        let prefix = if header.contains_key("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let start = LENGTH_BYTES + header_length;
        Ok(Self { path: path.to_owned(), file, header, start, length: after_length - header_length, prefix })
    }

    /// Reads a tensor of two dimensions.
    pub(super) fn read_matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, EmbedError> {
        let numbers = self.read_numbers(name, &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|error| self.unfit_tensor(name, &error.to_string(), OTHER_MODEL))
    }

    /// Reads a tensor of one dimension.
    pub(super) fn read_row(&mut self, name: &str, length: usize) -> Result<Array1<f32>, EmbedError> {
        Ok(Array1::from_vec(self.read_numbers(name, &[length])?))
    }

    fn read_numbers(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        let Some(entry) = self.header.get(&format!("{}{name}", self.prefix)) else {
            return Err(self.unfit_tensor(name, "it is not there", OTHER_MODEL));
        };
        let entry = TensorEntry::deserialize(entry)
            .map_err(|error| self.unfit_tensor(name, &error.to_string(), DOWNLOAD_AGAIN))?;
        if entry.shape != shape {
            let why = format!("its shape is {:?}, config.json says {shape:?}", entry.shape);
            return Err(self.unfit_tensor(name, &why, OTHER_MODEL));
        }
        let Some(kind) = TensorNumberFormat::from_dtype(&entry.dtype) else {
            let why = format!(
                "it is made of {:?}, not of F32, F16 or BF16",
                entry.dtype.chars().take(16).collect::<String>()
            );
            return Err(self.unfit_tensor(name, &why, "take the file with plain weights, not a quantised one"));
        };
        let (begin, end) = entry.data_offsets;
        let expected = shape.iter().try_fold(kind.byte_width(), |bytes, &side| bytes.checked_mul(side));
        let given = end.checked_sub(begin).and_then(|bytes| usize::try_from(bytes).ok());
        let Some(bytes) = given.filter(|_| given == expected) else {
            return Err(self.unfit_tensor(name, "its place in the file does not fit its shape", DOWNLOAD_AGAIN));
        };
        if end > self.length {
            return Err(self.unfit_tensor(name, "the file ends before it does", DOWNLOAD_AGAIN));
        }
        let mut read = vec![0; bytes];
        self.file
            .seek(SeekFrom::Start(self.start + begin))
            .and_then(|_| self.file.read_exact(&mut read))
            .map_err(|error| EmbedError::unreadable_file(&self.path, &error))?;
        Ok(kind.decode_numbers(&read))
    }

    fn unfit_tensor(&self, name: &str, why: &str, next: &'static str) -> EmbedError {
        EmbedError::unfit_file(&self.path, format!("tensor {name}: {why}"), next)
    }
}

/// The encoding of a tensor's numbers.
#[derive(Debug, Clone, Copy)]
enum TensorNumberFormat {
    F32,
    F16,
    Bf16,
}

impl TensorNumberFormat {
    fn from_dtype(dtype: &str) -> Option<Self> {
        match dtype {
            "F32" => Some(Self::F32),
            "F16" => Some(Self::F16),
            "BF16" => Some(Self::Bf16),
            _ => None,
        }
    }

    fn byte_width(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    fn decode_numbers(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::F32 => bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect(),
            Self::F16 => bytes.as_chunks().0.iter().map(|&number| from_f16(u16::from_le_bytes(number))).collect(),
            Self::Bf16 => bytes.as_chunks().0.iter().map(|&number| from_bf16(u16::from_le_bytes(number))).collect(),
        }
    }
}

/// Converts a `bf16`, which is the upper half of an `f32`.
fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Converts an `f16`: one bit of sign, five of exponent, ten of fraction.
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
