//! The outermost keys of a JSON object, also of one that is cut off.

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;

/// Longer values say nothing about a format.
const MAX_VALUE_BYTES: usize = 64;

/// More keys say nothing more.
const MAX_KEYS: usize = 64;

/// What an object looks like from outside.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    keys: Vec<Key>,
    /// The keys of the first of its steps.
    step: Vec<Key>,
    is_whole: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Key {
    name: String,
    /// How its value begins: with an array, also how the array does.
    start: [u8; 2],
    /// A short string.
    text: Option<String>,
}

impl Shape {
    /// The shape of the object at the beginning of a text.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let mut scan = Scan { rest: trimmed(text) };
        if scan.next_byte()? != b'{' {
            return None;
        }
        let mut shape = Self::default();
        shape.is_whole = scan.keys(&mut shape.keys, Some(&mut shape.step));
        Some(shape)
    }

    /// Whether it has a key.
    pub(super) fn has(&self, name: &str) -> bool {
        self.key(name).is_some()
    }

    /// How many keys it has.
    pub(super) fn keys(&self) -> usize {
        self.keys.len()
    }

    /// A short string under a key.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.key(name)?.text.as_deref()
    }

    /// Whether there is a string under a key, however long.
    pub(super) fn is_text(&self, name: &str) -> bool {
        self.key(name).is_some_and(|key| key.start.starts_with(b"\""))
    }

    /// Whether there is an object under a key.
    pub(super) fn is_object(&self, name: &str) -> bool {
        self.key(name).is_some_and(|key| key.start.starts_with(b"{"))
    }

    /// Whether there is an array of objects under a key, or an empty one.
    pub(super) fn is_list(&self, name: &str) -> bool {
        self.key(name).is_some_and(|key| matches!(&key.start, b"[{" | b"[]"))
    }

    /// Whether the first of its steps has a key.
    pub(super) fn step_has(&self, name: &str) -> bool {
        self.step.iter().any(|key| key.name == name)
    }

    /// Whether it ends, and its line with it.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// A text without the blanks, or the zeros that a crash left, before it.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0);
    text.get(start.unwrap_or(text.len())..).unwrap_or_default()
}

struct Scan<'t> {
    rest: &'t [u8],
}

impl Scan<'_> {
    /// The keys of an object whose first brace is read, and whether it ends. If asked, those of its first step as well.
    fn keys(&mut self, keys: &mut Vec<Key>, mut step: Option<&mut Vec<Key>>) -> bool {
        loop {
            self.skip_blank();
            match self.next_byte() {
                Some(b'"') => {}
                Some(b',') => continue,
                Some(b'}') => {
                    let line = self.rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    return trimmed(line).is_empty();
                }
                _ => return false,
            }
            let Some(name) = self.string() else { return false };
            self.skip_blank();
            if self.next_byte() != Some(b':') {
                return false;
            }
            let start = self.start();
            if let Some(step) = step.take_if(|_| name == "steps" && start == *b"[{") {
                let mut inner = Scan { rest: self.rest };
                inner.next_byte();
                inner.skip_blank();
                inner.next_byte();
                inner.keys(step, None);
            }
            let text = self.value();
            if keys.len() < MAX_KEYS {
                keys.push(Key { name, start, text });
            }
        }
    }

    /// How the value that follows begins.
    fn start(&mut self) -> [u8; 2] {
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

    /// The rest of a string whose first quote is read; long ones are cut, escapes stay as they are.
    fn string(&mut self) -> Option<String> {
        let mut kept = Vec::new();
        // A string that runs over the end of a line was cut off there.
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

    /// Passes over a value; a short string is kept.
    fn value(&mut self) -> Option<String> {
        self.skip_blank();
        match self.rest.first()? {
            b'"' => {
                self.next_byte();
                self.string()
            }
            b'{' | b'[' => {
                let mut depth = 0usize;
                loop {
                    match self.next_byte()? {
                        b'"' => {
                            self.string()?;
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
