//! Reads words and literals of JavaScript without running anything.

use std::cell::Cell;
use std::collections::HashMap;

use serde_json::Value;

use crate::ingest::json_fields::Object;

/// The maximum depth of nested literals.
const MAX_DEPTH: usize = 16;

/// The maximum size of inserted constants, as constants that contain each other could grow without bound.
const MAX_CONSTANT_BYTES: usize = 1024 * 1024;

/// The maximum length of a regular expression.
const MAX_PATTERN_CHARS: usize = 1024;

/// The texts, numbers and flags of a script, by name.
#[derive(Debug, Default)]
pub(super) struct ScriptConstants {
    values: HashMap<String, Value>,
    used_bytes: Cell<usize>,
}

impl ScriptConstants {
    pub(super) fn insert(&mut self, name: String, value: Value) {
        if !value.is_array() && !value.is_object() {
            self.values.insert(name, value);
        }
    }

    fn get(&self, name: &str) -> Option<Value> {
        let value = self.values.get(name)?;
        let used = self.used_bytes.get().saturating_add(value.as_str().map_or(8, str::len));
        self.used_bytes.set(used);
        (used <= MAX_CONSTANT_BYTES).then(|| value.clone())
    }
}

/// Reads a script from beginning to end.
#[derive(Debug, Clone)]
pub(super) struct LiteralReader<'s> {
    rest: &'s str,
    /// True if the last token ends a value, so that a slash after it is a division.
    is_behind_value: bool,
}

impl<'s> LiteralReader<'s> {
    pub(super) fn new(script: &'s str) -> Self {
        Self { rest: script, is_behind_value: false }
    }

    /// Moves past the next word outside texts and comments, and returns it.
    pub(super) fn next_word(&mut self) -> Option<&'s str> {
        loop {
            self.skip_blanks();
            let next = self.peek_char()?;
            if is_word_start(next) {
                let word = self.read_word()?;
                self.is_behind_value = !matches!(word, "return" | "case" | "typeof" | "of" | "in" | "await");
                return Some(word);
            }
            match next {
                '"' | '\'' | '`' => {
                    if self.skip_quoted(next).is_none() {
                        self.rest = "";
                    }
                    self.is_behind_value = true;
                }
                '/' if !self.is_behind_value => self.skip_pattern(),
                _ => {
                    self.is_behind_value = matches!(next, ')' | ']' | '}') || next.is_ascii_digit();
                    self.next_char();
                }
            }
        }
    }

    /// Reads the name and value of a constant after the word `const`. If it is no literal, the position stays.
    pub(super) fn read_constant(&mut self, constants: &ScriptConstants) -> Option<(String, Value)> {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let name = ahead.read_word()?.to_owned();
        ahead.consume_char('=')?;
        let value = ahead.read_value(constants, MAX_DEPTH)?;
        // A word can only follow on another line.
        ahead.peek_char().is_none_or(|next| next == ';' || is_word_start(next)).then_some(())?;
        *self = ahead;
        self.is_behind_value = true;
        Some((name, value))
    }

    /// Reads the name of a called member: `.name(`.
    pub(super) fn read_called_member(&mut self) -> Option<&'s str> {
        let mut ahead = self.clone();
        ahead.consume_char('.')?;
        ahead.skip_blanks();
        let name = ahead.read_word()?;
        ahead.consume_char('(')?;
        *self = ahead;
        self.is_behind_value = false;
        Some(name)
    }

    /// Reads the only argument of a call after its opening bracket; the inner option is empty if there is no argument.
    #[expect(clippy::option_option, reason = "no argument is something else than an unreadable one")]
    pub(super) fn read_argument(&mut self, constants: &ScriptConstants) -> Option<Option<Value>> {
        let mut ahead = self.clone();
        let value = match ahead.consume_char(')') {
            Some(()) => None,
            None => {
                let value = ahead.read_value(constants, MAX_DEPTH)?;
                let _ = ahead.consume_char(',');
                ahead.consume_char(')')?;
                Some(value)
            }
        };
        *self = ahead;
        self.is_behind_value = true;
        Some(value)
    }

    /// Tells whether a whole result follows in brackets: `(r)` or `(await …`.
    pub(super) fn is_called_with_result(&self) -> bool {
        let mut ahead = self.clone();
        let result = (|| {
            ahead.consume_char('(')?;
            ahead.skip_blanks();
            match ahead.read_word()? {
                "await" => Some(()),
                _ => ahead.consume_char(')'),
            }
        })();
        result.is_some()
    }

    /// Reads the texts before each `name.output` of a sum in brackets: `("A\n" + a.output + "B\n" + b.output)`.
    pub(super) fn read_labels(&self) -> Option<Vec<String>> {
        let mut ahead = self.clone();
        let mut labels = Vec::new();
        ahead.consume_char('(')?;
        loop {
            ahead.skip_blanks();
            let quote = ahead.peek_char().filter(|next| matches!(next, '"' | '\''))?;
            labels.push(ahead.read_quoted(quote)?);
            ahead.consume_char('+')?;
            ahead.skip_blanks();
            ahead.read_word()?;
            ahead.consume_char('.')?;
            (ahead.read_word()? == "output").then_some(())?;
            if ahead.consume_char(')').is_some() {
                return Some(labels);
            }
            ahead.consume_char('+')?;
        }
    }

    /// Reads a literal, a constant, or a sum of texts, which must be followed by the end of the expression.
    fn read_value(&mut self, constants: &ScriptConstants, depth: usize) -> Option<Value> {
        let mut value = self.read_operand(constants, depth)?;
        loop {
            let is_on_same_line = !self.skip_blanks();
            match self.peek_char() {
                Some('+') => {
                    self.next_char();
                    let more = self.read_operand(constants, depth)?;
                    value = Value::String(format!("{}{}", literal_text(&value)?, literal_text(&more)?));
                }
                None | Some(',' | ')' | ']' | '}' | ';') => return Some(value),
                Some(next) => return (!is_on_same_line && is_word_start(next)).then_some(value),
            }
        }
    }

    fn read_operand(&mut self, constants: &ScriptConstants, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.skip_blanks();
        match self.peek_char()? {
            quote @ ('"' | '\'') => self.read_quoted(quote).map(Value::String),
            '`' => self.read_template(constants, false).map(Value::String),
            '{' => self.read_object(constants, depth),
            '[' => self.read_array(constants, depth),
            '-' | '0'..='9' => self.read_number(),
            next if is_word_start(next) => match self.read_word()? {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                "null" | "undefined" => Some(Value::Null),
                "String" => {
                    self.consume_char('.')?;
                    (self.read_word()? == "raw").then_some(())?;
                    self.read_template(constants, true).map(Value::String)
                }
                name => constants.get(name),
            },
            _ => None,
        }
    }

    fn read_number(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_'));
        let (number, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest;
        serde_json::from_str(&number.replace('_', "")).ok()
    }

    fn read_array(&mut self, constants: &ScriptConstants, depth: usize) -> Option<Value> {
        self.consume_char('[')?;
        let mut values = Vec::new();
        while self.consume_char(']').is_none() {
            values.push(self.read_value(constants, depth)?);
            if self.consume_char(',').is_none() {
                self.consume_char(']')?;
                break;
            }
        }
        Some(Value::Array(values))
    }

    /// Reads an object, without the values that are no literals.
    fn read_object(&mut self, constants: &ScriptConstants, depth: usize) -> Option<Value> {
        self.consume_char('{')?;
        let mut object = Object::new();
        while self.consume_char('}').is_none() {
            self.skip_blanks();
            let key = match self.peek_char()? {
                quote @ ('"' | '\'') => self.read_quoted(quote)?,
                next if is_word_start(next) => self.read_word()?.to_owned(),
                _ => return None,
            };
            if self.consume_char(':').is_some() {
                let mut ahead = self.clone();
                match ahead.read_value(constants, depth) {
                    Some(value) => {
                        *self = ahead;
                        object.insert(key, value);
                    }
                    None => self.skip_value()?,
                }
            } else if let Some(value) = constants.get(&key) {
                object.insert(key, value);
            }
            if self.consume_char(',').is_none() {
                self.consume_char('}')?;
                break;
            }
        }
        Some(Value::Object(object))
    }

    /// Moves to the comma or bracket that ends a value.
    fn skip_value(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            self.skip_blanks();
            match self.peek_char()? {
                quote @ ('"' | '\'' | '`') => {
                    self.skip_quoted(quote)?;
                    continue;
                }
                '(' | '[' | '{' => open += 1,
                ',' if open == 0 => return Some(()),
                ')' | ']' | '}' => match open.checked_sub(1) {
                    Some(fewer) => open = fewer,
                    None => return Some(()),
                },
                ';' => return None,
                _ => {}
            }
            self.next_char();
        }
    }

    fn read_quoted(&mut self, quote: char) -> Option<String> {
        self.consume_char(quote)?;
        let mut text = String::new();
        loop {
            match self.next_char()? {
                '\\' => self.read_escape(&mut text)?,
                '\n' => return None,
                next if next == quote => return Some(text),
                next => text.push(next),
            }
        }
    }

    fn read_template(&mut self, constants: &ScriptConstants, is_raw: bool) -> Option<String> {
        self.consume_char('`')?;
        let mut text = String::new();
        loop {
            match self.next_char()? {
                '`' => return Some(text),
                '\\' if is_raw => {
                    text.push('\\');
                    text.push(self.next_char()?);
                }
                '\\' => self.read_escape(&mut text)?,
                '$' if self.peek_char() == Some('{') => {
                    self.next_char();
                    self.skip_blanks();
                    let name = self.read_word()?;
                    text.push_str(&literal_text(&constants.get(name)?)?);
                    self.consume_char('}')?;
                }
                next => text.push(next),
            }
        }
    }

    /// Reads the escape sequence after a backslash.
    fn read_escape(&mut self, text: &mut String) -> Option<()> {
        let unescaped = match self.next_char()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' => '\0',
            '\n' => return Some(()),
            'x' => self.read_hex_code(2).and_then(char::from_u32)?,
            'u' if self.peek_char() == Some('{') => {
                let (code, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
                self.rest = rest;
                char::from_u32(u32::from_str_radix(code, 16).ok()?)?
            }
            'u' => {
                let first = self.read_hex_code(4)?;
                match first {
                    0xd800..=0xdbff => {
                        self.rest = self.rest.strip_prefix("\\u")?;
                        let second = self.read_hex_code(4)?.checked_sub(0xdc00).filter(|second| *second < 0x400)?;
                        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second)?
                    }
                    code => char::from_u32(code)?,
                }
            }
            other => other,
        };
        text.push(unescaped);
        Some(())
    }

    fn read_hex_code(&mut self, digits: usize) -> Option<u32> {
        let (code, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        u32::from_str_radix(code, 16).ok()
    }

    fn read_word(&mut self) -> Option<&'s str> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'));
        let (word, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// Moves past a quoted text, whatever it contains.
    fn skip_quoted(&mut self, quote: char) -> Option<()> {
        self.consume_char(quote)?;
        loop {
            match self.next_char()? {
                '\\' => {
                    self.next_char()?;
                }
                next if next == quote => return Some(()),
                _ => {}
            }
        }
    }

    /// Moves past a regular expression, or past a slash that begins none.
    fn skip_pattern(&mut self) {
        self.next_char();
        let mut ahead = self.clone();
        let mut is_in_class = false;
        for _ in 0..MAX_PATTERN_CHARS {
            match ahead.next_char().unwrap_or('\n') {
                '\n' => return,
                '\\' => {
                    ahead.next_char();
                }
                '[' => is_in_class = true,
                ']' => is_in_class = false,
                '/' if !is_in_class => {
                    *self = ahead;
                    self.is_behind_value = true;
                    return;
                }
                _ => {}
            }
        }
    }

    /// Moves past blanks and comments; returns true if a line ended among them.
    fn skip_blanks(&mut self) -> bool {
        let before = self.rest;
        loop {
            let trimmed = self.rest.trim_start();
            self.rest = if let Some(comment) = trimmed.strip_prefix("//") {
                comment.split_once('\n').map_or("", |(_, rest)| rest)
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                comment.split_once("*/").map_or("", |(_, rest)| rest)
            } else {
                self.rest = trimmed;
                let (blanks, _) = before.split_at_checked(before.len() - trimmed.len()).unwrap_or_default();
                return blanks.contains('\n');
            };
        }
    }

    /// Moves past this character and the blanks before it, if it comes next.
    fn consume_char(&mut self, expected: char) -> Option<()> {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        (ahead.next_char()? == expected).then_some(())?;
        *self = ahead;
        Some(())
    }

    fn peek_char(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next_char(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }
}

fn is_word_start(next: char) -> bool {
    next.is_alphabetic() || matches!(next, '_' | '$')
}

/// Returns the text that a value becomes in a sum of texts.
fn literal_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
