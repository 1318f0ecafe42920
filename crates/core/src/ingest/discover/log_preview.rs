//! Previews the beginning of a log: its short strings by their paths.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::domain::Timestamp;
use crate::ingest::json_fields;

#[cfg(test)]
#[path = "log_preview_tests.rs"]
mod tests;

/// The number of bytes that are read first, and the number if these are not enough.
const LOOKS_BYTES: [u64; 2] = [8 * 1024, 64 * 1024];

/// The length to which longer strings are truncated.
const MAX_STRING_BYTES: usize = 4096;

/// The maximum number and depth of strings that are kept.
const MAX_STRINGS: usize = 128;
const MAX_DEPTH: usize = 5;

/// The strings of one JSON object, each under its dotted path. Only the first element of an array counts, and only the
/// first of two values at one path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ObjectPreview(BTreeMap<String, String>);

impl ObjectPreview {
    /// Reads the strings of an object, up to the point where it is broken or cut off.
    pub(super) fn from_text(text: &str) -> Self {
        let mut peek = Self::default();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        // An error ends the preview; the strings before it are kept.
        let _ = PreviewSeed { peek: &mut peek, path: String::new(), depth: 0 }.deserialize(&mut deserializer);
        peek
    }

    /// Returns the string at a path, if it is not empty.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// Returns the string at the first of these paths that has one.
    pub(super) fn first_text(&self, paths: &[&str]) -> Option<&str> {
        paths.iter().find_map(|path| self.text(path))
    }

    /// Returns the time at the first of these paths that has one.
    pub(super) fn first_time(&self, paths: &[&str]) -> Option<Timestamp> {
        paths.iter().find_map(|path| json_fields::parse_time_text(self.text(path)?))
    }

    fn store_text(&mut self, path: String, text: &str) {
        if self.0.len() < MAX_STRINGS {
            self.0.entry(path).or_insert_with(|| truncate_string(text).to_owned());
        }
    }
}

/// Previews the first lines of a log, until they are enough or the limit is reached. Lines that are not objects are
/// skipped.
pub(super) fn preview_lines(
    path: &Path,
    is_enough: impl Fn(&[ObjectPreview]) -> bool,
) -> std::io::Result<Vec<ObjectPreview>> {
    let mut found = Vec::new();
    for limit in LOOKS_BYTES {
        let (text, is_whole) = read_beginning(path, limit)?;
        found = text.lines().filter(|line| line.trim_start().starts_with('{')).map(ObjectPreview::from_text).collect();
        if is_whole || is_enough(&found) {
            break;
        }
    }
    Ok(found)
}

/// Previews the beginning of a log that is one document.
pub(super) fn preview_document(path: &Path) -> std::io::Result<ObjectPreview> {
    let [_, limit] = LOOKS_BYTES;
    Ok(ObjectPreview::from_text(&read_beginning(path, limit)?.0))
}

/// Returns the beginning of a file as text, decompressed if necessary, and whether that is the whole file.
pub(super) fn read_beginning(path: &Path, limit: u64) -> std::io::Result<(String, bool)> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "zst") {
        let invalid = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
        ruzstd::decoding::StreamingDecoder::new(file).map_err(invalid)?.take(limit).read_to_end(&mut bytes)?;
    } else {
        Read::by_ref(&mut file).take(limit).read_to_end(&mut bytes)?;
    }
    let is_whole = u64::try_from(bytes.len()).unwrap_or(u64::MAX) < limit;
    let text = String::from_utf8_lossy(&bytes);
    Ok((text.trim_start_matches('\u{feff}').to_owned(), is_whole))
}

/// Returns true if a file ends with a closing brace, as a JSON object does.
pub(super) fn ends_like_object(path: &Path) -> bool {
    const TAIL_BYTES: u64 = 64;
    let tail = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut tail = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut tail)?;
        Ok(tail)
    };
    tail().is_ok_and(|tail| tail.trim_ascii_end().ends_with(b"}"))
}

fn truncate_string(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_STRING_BYTES)).unwrap_or(text)
}

/// Deserializes the value at one path of an object into a preview.
struct PreviewSeed<'p> {
    peek: &'p mut ObjectPreview,
    path: String,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for PreviewSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PreviewSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if self.depth >= MAX_DEPTH {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let path = if self.path.is_empty() { key } else { format!("{}.{key}", self.path) };
            map.next_value_seed(PreviewSeed { peek: self.peek, path, depth: self.depth + 1 })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let first = PreviewSeed { peek: self.peek, path: self.path, depth: self.depth + 1 };
        elements.next_element_seed(first)?;
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.peek.store_text(self.path, text);
        Ok(())
    }

    fn visit_bool<E>(self, flag: bool) -> Result<(), E> {
        self.peek.store_text(self.path, if flag { "true" } else { "false" });
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
