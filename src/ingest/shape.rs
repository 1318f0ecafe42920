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
    keys: Vec<(String, Option<String>)>,
    is_one_line: bool,
}

impl Shape {
    /// The shape of the object at the beginning of a text.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let mut scan = Scan { rest: text.trim_ascii_start(), passed_newline: false };
        if scan.next_byte()? != b'{' {
            return None;
        }
        let mut shape = Self::default();
        while shape.keys.len() < MAX_KEYS {
            scan.skip_blank();
            match scan.next_byte() {
                Some(b'"') => {}
                Some(b',') => continue,
                _ => break,
            }
            let Some(key) = scan.string() else { break };
            scan.skip_blank();
            if scan.next_byte() != Some(b':') {
                break;
            }
            shape.keys.push((key, scan.value()));
        }
        shape.is_one_line = !scan.passed_newline;
        Some(shape)
    }

    /// Whether it has a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(known, _)| known == key)
    }

    /// Whether it has no other.
    pub(super) fn has_one_key(&self) -> bool {
        self.keys.len() == 1
    }

    /// A short string under a key.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(known, _)| known == key)?.1.as_deref()
    }

    /// Whether it stays on the line on which it begins.
    pub(super) fn is_one_line(&self) -> bool {
        self.is_one_line
    }
}

struct Scan<'t> {
    rest: &'t [u8],
    passed_newline: bool,
}

impl Scan<'_> {
    fn next_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.passed_newline |= *first == b'\n';
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
