//! Sets fields of a JSON line in place; every other byte of the line stays as it is.

use std::ops::Range;

use serde_json::Value;

#[cfg(test)]
#[path = "line_edit_tests.rs"]
mod tests;

/// Returns the line with these fields set: in place if they exist, else added after the last field. Returns `None` if
/// the line is not a JSON object.
pub(super) fn set_json_fields(line: &str, fields: &[(&str, Value)]) -> Option<String> {
    serde_json::from_str::<Value>(strip_byte_order_mark(line)).ok().filter(Value::is_object)?;
    let members = parse_object_fields(line)?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut added = String::new();
    for (name, value) in fields {
        // If a key appears twice, the last one counts; both are set, so that every reader sees the new value.
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

/// Returns the line without the byte order mark that some editors put at the start of a file.
pub(super) fn strip_byte_order_mark(line: &str) -> &str {
    line.trim_start_matches('\u{feff}')
}

struct ObjectField {
    key: String,
    /// The byte range of the value.
    value: Range<usize>,
}

struct ObjectFields {
    list: Vec<ObjectField>,
    /// The position after the last value, or after the opening brace if there is no field.
    end: usize,
}

/// Parses the fields of an object that is known to be valid JSON.
fn parse_object_fields(line: &str) -> Option<ObjectFields> {
    let mut cursor = JsonCursor { bytes: line.as_bytes(), at: line.len() - strip_byte_order_mark(line).len() };
    cursor.skip_blanks();
    cursor.expect_byte(b'{')?;
    let mut members = ObjectFields { list: Vec::new(), end: cursor.at };
    loop {
        cursor.skip_blanks();
        match cursor.peek_byte()? {
            b'}' => return Some(members),
            b',' => cursor.at += 1,
            _ => {
                let key = cursor.skip_value()?;
                let key: String = serde_json::from_str(line.get(key)?).ok()?;
                cursor.skip_blanks();
                cursor.expect_byte(b':')?;
                cursor.skip_blanks();
                let value = cursor.skip_value()?;
                members.end = value.end;
                members.list.push(ObjectField { key, value });
            }
        }
    }
}

struct JsonCursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl JsonCursor<'_> {
    fn peek_byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn expect_byte(&mut self, byte: u8) -> Option<()> {
        (self.peek_byte()? == byte).then(|| self.at += 1)
    }

    fn skip_blanks(&mut self) {
        while self.peek_byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Moves past the value that begins here and returns its range.
    fn skip_value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek_byte()? {
                b'"' => self.skip_string()?,
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
                        .peek_byte()
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

    /// Moves past the string whose opening quote is here.
    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek_byte()? {
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
