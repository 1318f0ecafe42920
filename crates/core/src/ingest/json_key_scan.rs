//! Scans the outermost keys of a JSON object, even if it is cut off.

#[cfg(test)]
#[path = "json_key_scan_tests.rs"]
mod tests;

/// The maximum length of values that are kept.
const MAX_VALUE_BYTES: usize = 64;

/// The maximum number of keys that are kept.
const MAX_KEYS: usize = 64;

/// The outermost keys of an object and the kinds of their values.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ObjectShape {
    keys: Vec<ObjectKey>,
    /// The keys of its first step.
    step: Vec<ObjectKey>,
    is_whole: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct ObjectKey {
    name: String,
    /// The first byte of its value and, for an array, the first byte inside.
    start: [u8; 2],
    /// The value, if it is a string; cut if it is long.
    text: Option<String>,
}

impl ObjectShape {
    /// Scans the object at the beginning of a text.
    pub(super) fn from_bytes(text: &[u8]) -> Option<Self> {
        let mut scan = ShapeScanner { rest: trim_leading_blanks(text) };
        if scan.next_byte()? != b'{' {
            return None;
        }
        let mut shape = Self::default();
        shape.is_whole = scan.read_keys(&mut shape.keys, Some(&mut shape.step));
        Some(shape)
    }

    /// Returns true if it has this key.
    pub(super) fn has_key(&self, name: &str) -> bool {
        self.find_key(name).is_some()
    }

    /// Returns the number of its keys.
    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// Returns the string under a key, cut if it is long.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.find_key(name)?.text.as_deref()
    }

    /// Returns true if there is a string of any length under a key.
    pub(super) fn has_string(&self, name: &str) -> bool {
        self.find_key(name).is_some_and(|key| key.start.starts_with(b"\""))
    }

    /// Returns true if there is an object under a key.
    pub(super) fn has_object(&self, name: &str) -> bool {
        self.find_key(name).is_some_and(|key| key.start.starts_with(b"{"))
    }

    /// Returns true if there is an array of objects under a key, or an empty array.
    pub(super) fn has_object_array(&self, name: &str) -> bool {
        self.find_key(name).is_some_and(|key| matches!(&key.start, b"[{" | b"[]"))
    }

    /// Returns true if its first step has this key.
    pub(super) fn step_has_key(&self, name: &str) -> bool {
        self.step.iter().any(|key| key.name == name)
    }

    /// Returns true if the object is complete and nothing follows it on its line.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn find_key(&self, name: &str) -> Option<&ObjectKey> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// Returns the text without leading whitespace and null bytes, which a crash may leave.
pub(super) fn trim_leading_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0);
    text.get(start.unwrap_or(text.len())..).unwrap_or_default()
}

struct ShapeScanner<'t> {
    rest: &'t [u8],
}

impl ShapeScanner<'_> {
    /// Reads the keys of an object after its first brace, optionally those of its first step. Returns true if it ends.
    fn read_keys(&mut self, keys: &mut Vec<ObjectKey>, mut step: Option<&mut Vec<ObjectKey>>) -> bool {
        loop {
            self.skip_blank();
            match self.next_byte() {
                Some(b'"') => {}
                Some(b',') => continue,
                Some(b'}') => {
                    let line = self.rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    return trim_leading_blanks(line).is_empty();
                }
                _ => return false,
            }
            let Some(name) = self.read_string() else { return false };
            self.skip_blank();
            if self.next_byte() != Some(b':') {
                return false;
            }
            let start = self.peek_value_start();
            if let Some(step) = step.take_if(|_| name == "steps" && start == *b"[{") {
                let mut inner = ShapeScanner { rest: self.rest };
                inner.next_byte();
                inner.skip_blank();
                inner.next_byte();
                inner.read_keys(step, None);
            }
            let text = self.skip_value();
            if keys.len() < MAX_KEYS {
                keys.push(ObjectKey { name, start, text });
            }
        }
    }

    /// Returns the first bytes of the value that follows.
    fn peek_value_start(&mut self) -> [u8; 2] {
        self.skip_blank();
        let first = self.rest.first().copied().unwrap_or_default();
        let second = match self.rest.get(1..) {
            Some(rest) if first == b'[' => rest.trim_ascii_start().first().copied().unwrap_or_default(),
            _ => 0,
        };
        [first, second]
    }

    fn next_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip_blank(&mut self) {
        while self.rest.first().is_some_and(u8::is_ascii_whitespace) {
            self.next_byte();
        }
    }

    /// Reads the rest of a string after its first quote; long ones are cut and escapes are dropped.
    fn read_string(&mut self) -> Option<String> {
        let mut kept = Vec::new();
        // A string that reaches the end of a line was cut off there.
        while self.rest.first() != Some(&b'\n') {
            match self.next_byte()? {
                b'"' => return Some(String::from_utf8_lossy(&kept).into_owned()),
                b'\\' => {
                    self.next_byte()?;
                }
                byte if kept.len() < MAX_VALUE_BYTES => kept.push(byte),
                _ => {}
            }
        }
        None
    }

    /// Skips a value; returns it if it is a string.
    fn skip_value(&mut self) -> Option<String> {
        self.skip_blank();
        match self.rest.first()? {
            b'"' => {
                self.next_byte();
                self.read_string()
            }
            b'{' | b'[' => {
                let mut depth = 0usize;
                loop {
                    match self.next_byte()? {
                        b'"' => {
                            self.read_string()?;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' if depth == 1 => return None,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                }
            }
            _ => {
                while self.rest.first().is_some_and(|byte| !matches!(byte, b',' | b'}' | b']')) {
                    self.next_byte();
                }
                None
            }
        }
    }
}
