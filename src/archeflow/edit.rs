//! Fields of a line of JSON set where they stand; every other byte of the line stays as it is.

use std::ops::Range;

use serde_json::Value;

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;

/// The line with these fields set: where they stand, or behind the last field if they are new. `None` if the line is no
/// JSON object.
pub(super) fn with_fields(line: &str, fields: &[(&str, Value)]) -> Option<String> {
    serde_json::from_str::<Value>(object_of(line)).ok().filter(Value::is_object)?;
    let members = members(line)?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut added = String::new();
    for (name, value) in fields {
        // Of a key that stands twice the last counts; both are set, so that nobody has to know.
        let own = members.list.iter().filter(|member| member.key == *name);
        let before = edits.len();
        edits.extend(own.map(|member| (member.value.clone(), value.to_string())));
        if edits.len() == before {
            let comma = if members.list.is_empty() && added.is_empty() { "" } else { "," };
            added.push_str(&format!("{comma}{}:{value}", Value::from(*name)));
        }
    }
    if !added.is_empty() {
        edits.push((members.end..members.end, added));
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(line.len() + 64);
    let mut at = 0;
    for (range, text) in edits {
        out.push_str(line.get(at..range.start)?);
        out.push_str(&text);
        at = range.end;
    }
    out.push_str(line.get(at..)?);
    Some(out)
}

/// The line without the mark that some editors put in front of a file.
pub(super) fn object_of(line: &str) -> &str {
    line.trim_start_matches('\u{feff}')
}

struct Member {
    key: String,
    /// Where its value stands.
    value: Range<usize>,
}

struct Members {
    list: Vec<Member>,
    /// Behind the last value, or behind the opening brace if there is none.
    end: usize,
}

/// The fields of an object that is known to be JSON.
fn members(line: &str) -> Option<Members> {
    let mut cursor = Cursor { bytes: line.as_bytes(), at: line.len() - object_of(line).len() };
    cursor.skip_blanks();
    cursor.expect(b'{')?;
    let mut members = Members { list: Vec::new(), end: cursor.at };
    loop {
        cursor.skip_blanks();
        match cursor.peek()? {
            b'}' => return Some(members),
            b',' => cursor.at += 1,
            _ => {
                let key = cursor.value()?;
                let key: String = serde_json::from_str(line.get(key)?).ok()?;
                cursor.skip_blanks();
                cursor.expect(b':')?;
                cursor.skip_blanks();
                let value = cursor.value()?;
                members.end = value.end;
                members.list.push(Member { key, value });
            }
        }
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Goes behind the value that begins here.
    fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_text()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                _ if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    while self
                        .peek()
                        .is_some_and(|byte| !matches!(byte, b',' | b'}' | b']' | b':') && !byte.is_ascii_whitespace())
                    {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                return Some(start..self.at);
            }
        }
    }

    /// Goes behind a text, whose first quote is here.
    fn skip_text(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }
}
