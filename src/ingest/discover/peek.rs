//! The beginning of a log: its short strings, by where they stand.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::domain::Timestamp;
use crate::ingest::pick;

#[cfg(test)]
#[path = "peek_tests.rs"]
mod tests;

/// How much is read at first, and how much if that does not tell enough.
const LOOKS_BYTES: [u64; 2] = [8 * 1024, 64 * 1024];

/// Longer strings lose their end.
const MAX_STRING_BYTES: usize = 4096;

/// More strings, or deeper ones, tell nothing more.
const MAX_STRINGS: usize = 128;
const MAX_DEPTH: usize = 5;

/// The strings of one JSON object, each under its dotted path. Of an array only the first element counts; of two
/// values in one place the first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Peek(BTreeMap<String, String>);

impl Peek {
    /// What stands in an object, up to where it is broken or cut off.
    pub(super) fn of(text: &str) -> Self {
        let mut peek = Self::default();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        // An error ends the look; what was seen before it counts.
        let _ = At { peek: &mut peek, path: String::new(), depth: 0 }.deserialize(&mut deserializer);
        peek
    }

    /// A string that is not empty.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// The first of these places that has a string.
    pub(super) fn first(&self, paths: &[&str]) -> Option<&str> {
        paths.iter().find_map(|path| self.text(path))
    }

    /// The first of these places that has a moment.
    pub(super) fn time(&self, paths: &[&str]) -> Option<Timestamp> {
        paths.iter().find_map(|path| pick::moment_of(self.text(path)?))
    }

    fn hold(&mut self, path: String, text: &str) {
        if self.0.len() < MAX_STRINGS {
            self.0.entry(path).or_insert_with(|| cut(text).to_owned());
        }
    }
}

/// The first lines of a log, each looked at, until they tell enough or too much was read. Lines that are no objects
/// tell nothing.
pub(super) fn lines(path: &Path, is_enough: impl Fn(&[Peek]) -> bool) -> std::io::Result<Vec<Peek>> {
    let mut found = Vec::new();
    for limit in LOOKS_BYTES {
        let (text, is_whole) = beginning(path, limit)?;
        found = text.lines().filter(|line| line.trim_start().starts_with('{')).map(Peek::of).collect();
        if is_whole || is_enough(&found) {
            break;
        }
    }
    Ok(found)
}

/// The beginning of a log that is one document.
pub(super) fn document(path: &Path) -> std::io::Result<Peek> {
    let [_, limit] = LOOKS_BYTES;
    Ok(Peek::of(&beginning(path, limit)?.0))
}

/// The beginning of a file as text, unpacked if it was packed, and whether that is all of it.
pub(super) fn beginning(path: &Path, limit: u64) -> std::io::Result<(String, bool)> {
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

/// Whether a file ends where a JSON object may end.
pub(super) fn ends_like_an_object(path: &Path) -> bool {
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

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_STRING_BYTES)).unwrap_or(text)
}

/// A place in an object.
struct At<'p> {
    peek: &'p mut Peek,
    path: String,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
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
            map.next_value_seed(At { peek: self.peek, path, depth: self.depth + 1 })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let first = At { peek: self.peek, path: self.path, depth: self.depth + 1 };
        elements.next_element_seed(first)?;
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.peek.hold(self.path, text);
        Ok(())
    }

    fn visit_bool<E>(self, flag: bool) -> Result<(), E> {
        self.peek.hold(self.path, if flag { "true" } else { "false" });
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
