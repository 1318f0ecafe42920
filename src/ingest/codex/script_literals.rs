//! Words and literals of JavaScript, read without running anything.

use std::cell::Cell;
use std::collections::HashMap;

use serde_json::Value;

use crate::ingest::pick::Object;

/// Literals within literals are followed so deep.
const MAX_DEPTH: usize = 16;

/// Constants may be put in for so many bytes: a few of them that stand for one another would make texts without end.
const MAX_CONSTANT_BYTES: usize = 1024 * 1024;

/// A regular expression is looked for so far.
const MAX_PATTERN_CHARS: usize = 1024;

/// Texts, numbers and flags by name.
#[derive(Debug, Default)]
pub(super) struct Constants {
    values: HashMap<String, Value>,
    used_bytes: Cell<usize>,
}

impl Constants {
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

/// Reads a script from its beginning to its end.
#[derive(Debug, Clone)]
pub(super) struct LiteralReader<'s> {
    rest: &'s str,
    /// What was read last ends a value, so that a slash behind it divides.
    is_behind_value: bool,
}

impl<'s> LiteralReader<'s> {
    pub(super) fn new(script: &'s str) -> Self {
        Self { rest: script, is_behind_value: false }
    }

    /// Moves behind the next word that stands in no text and no comment, and returns it.
    pub(super) fn next_word(&mut self) -> Option<&'s str> {
        loop {
            self.skip_blanks();
            let next = self.peek()?;
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
                    self.bump();
                }
            }
        }
    }

    /// Reads the name and the value of a constant behind the word `const`. Nothing is passed over if it is no literal.
    pub(super) fn read_constant(&mut self, constants: &Constants) -> Option<(String, Value)> {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let name = ahead.read_word()?.to_owned();
        ahead.take('=')?;
        let value = ahead.read_value(constants, MAX_DEPTH)?;
        // A word can only follow on another line.
        ahead.peek().is_none_or(|next| next == ';' || is_word_start(next)).then_some(())?;
        *self = ahead;
        self.is_behind_value = true;
        Some((name, value))
    }

    /// Reads the name of the member that is called: `.name(`.
    pub(super) fn read_called_member(&mut self) -> Option<&'s str> {
        let mut ahead = self.clone();
        ahead.take('.')?;
        ahead.skip_blanks();
        let name = ahead.read_word()?;
        ahead.take('(')?;
        *self = ahead;
        self.is_behind_value = false;
        Some(name)
    }

    /// Reads the only argument of a call, behind its opening bracket; within the result there is none if there is none.
    #[expect(clippy::option_option, reason = "no argument is something else than an unreadable one")]
    pub(super) fn read_argument(&mut self, constants: &Constants) -> Option<Option<Value>> {
        let mut ahead = self.clone();
        let value = match ahead.take(')') {
            Some(()) => None,
            None => {
                let value = ahead.read_value(constants, MAX_DEPTH)?;
                let _ = ahead.take(',');
                ahead.take(')')?;
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
            ahead.take('(')?;
            ahead.skip_blanks();
            match ahead.read_word()? {
                "await" => Some(()),
                _ => ahead.take(')'),
            }
        })();
        result.is_some()
    }

    /// Reads the texts that stand before each `name.output` of a sum in brackets: `("A\n" + a.output + "B\n" + b.output)`.
    pub(super) fn read_labels(&self) -> Option<Vec<String>> {
        let mut ahead = self.clone();
        let mut labels = Vec::new();
        ahead.take('(')?;
        loop {
            ahead.skip_blanks();
            let quote = ahead.peek().filter(|next| matches!(next, '"' | '\''))?;
            labels.push(ahead.read_quoted(quote)?);
            ahead.take('+')?;
            ahead.skip_blanks();
            ahead.read_word()?;
            ahead.take('.')?;
            (ahead.read_word()? == "output").then_some(())?;
            if ahead.take(')').is_some() {
                return Some(labels);
            }
            ahead.take('+')?;
        }
    }

    /// Reads a literal, a constant, or a sum of texts; nothing else may follow it but the end of an expression.
    fn read_value(&mut self, constants: &Constants, depth: usize) -> Option<Value> {
        let mut value = self.read_operand(constants, depth)?;
        loop {
            let is_on_same_line = !self.skip_blanks();
            match self.peek() {
                Some('+') => {
                    self.bump();
                    let more = self.read_operand(constants, depth)?;
                    value = Value::String(format!("{}{}", text_of(&value)?, text_of(&more)?));
                }
                None | Some(',' | ')' | ']' | '}' | ';') => return Some(value),
                Some(next) => return (!is_on_same_line && is_word_start(next)).then_some(value),
            }
        }
    }

    fn read_operand(&mut self, constants: &Constants, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.skip_blanks();
        match self.peek()? {
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
                    self.take('.')?;
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

    fn read_array(&mut self, constants: &Constants, depth: usize) -> Option<Value> {
        self.take('[')?;
        let mut values = Vec::new();
        while self.take(']').is_none() {
            values.push(self.read_value(constants, depth)?);
            if self.take(',').is_none() {
                self.take(']')?;
                break;
            }
        }
        Some(Value::Array(values))
    }

    /// Reads an object. A value that is no literal is left out.
    fn read_object(&mut self, constants: &Constants, depth: usize) -> Option<Value> {
        self.take('{')?;
        let mut object = Object::new();
        while self.take('}').is_none() {
            self.skip_blanks();
            let key = match self.peek()? {
                quote @ ('"' | '\'') => self.read_quoted(quote)?,
                next if is_word_start(next) => self.read_word()?.to_owned(),
                _ => return None,
            };
            if self.take(':').is_some() {
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
            if self.take(',').is_none() {
                self.take('}')?;
                break;
            }
        }
        Some(Value::Object(object))
    }

    /// Moves to the comma or the bracket that ends a value.
    fn skip_value(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            self.skip_blanks();
            match self.peek()? {
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
            self.bump();
        }
    }

    fn read_quoted(&mut self, quote: char) -> Option<String> {
        self.take(quote)?;
        let mut text = String::new();
        loop {
            match self.bump()? {
                '\\' => self.read_escape(&mut text)?,
                '\n' => return None,
                next if next == quote => return Some(text),
                next => text.push(next),
            }
        }
    }

    fn read_template(&mut self, constants: &Constants, is_raw: bool) -> Option<String> {
        self.take('`')?;
        let mut text = String::new();
        loop {
            match self.bump()? {
                '`' => return Some(text),
                '\\' if is_raw => {
                    text.push('\\');
                    text.push(self.bump()?);
                }
                '\\' => self.read_escape(&mut text)?,
                '$' if self.peek() == Some('{') => {
                    self.bump();
                    self.skip_blanks();
                    let name = self.read_word()?;
                    text.push_str(&text_of(&constants.get(name)?)?);
                    self.take('}')?;
                }
                next => text.push(next),
            }
        }
    }

    /// Reads what follows a backslash.
    fn read_escape(&mut self, text: &mut String) -> Option<()> {
        let unescaped = match self.bump()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' => '\0',
            '\n' => return Some(()),
            'x' => self.read_code(2).and_then(char::from_u32)?,
            'u' if self.peek() == Some('{') => {
                let (code, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
                self.rest = rest;
                char::from_u32(u32::from_str_radix(code, 16).ok()?)?
            }
            'u' => {
                let first = self.read_code(4)?;
                match first {
                    0xd800..=0xdbff => {
                        self.rest = self.rest.strip_prefix("\\u")?;
                        let second = self.read_code(4)?.checked_sub(0xdc00).filter(|second| *second < 0x400)?;
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

    fn read_code(&mut self, digits: usize) -> Option<u32> {
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

    /// Moves behind a text in quotes, whatever stands in it.
    fn skip_quoted(&mut self, quote: char) -> Option<()> {
        self.take(quote)?;
        loop {
            match self.bump()? {
                '\\' => {
                    self.bump()?;
                }
                next if next == quote => return Some(()),
                _ => {}
            }
        }
    }

    /// Moves behind a regular expression, or behind a slash that begins none.
    fn skip_pattern(&mut self) {
        self.bump();
        let mut ahead = self.clone();
        let mut is_in_class = false;
        for _ in 0..MAX_PATTERN_CHARS {
            match ahead.bump().unwrap_or('\n') {
                '\n' => return,
                '\\' => {
                    ahead.bump();
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

    /// Moves behind blanks and comments; returns whether a line ended among them.
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

    /// Moves behind a character, and the blanks before it, if it comes next.
    fn take(&mut self, expected: char) -> Option<()> {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        (ahead.bump()? == expected).then_some(())?;
        *self = ahead;
        Some(())
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }
}

fn is_word_start(next: char) -> bool {
    next.is_alphabetic() || matches!(next, '_' | '$')
}

/// The text that a value becomes in a sum of texts.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
