//! Skips the escape sequences that control a terminal, as ECMA-48 defines them.

use std::str::Chars;

#[cfg(test)]
#[path = "ansi_escapes_tests.rs"]
mod tests;

/// Returns true for characters that begin an escape sequence: ESC, and the C1 controls that stand for ESC and a letter.
pub(super) fn begins_sequence(c: char) -> bool {
    matches!(c, '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}')
}

/// Skips the rest of an escape sequence whose first character was read.
///
/// A control string (a title, a link, data for the terminal) is skipped with its content only if it ends on its line.
/// Of an unclosed one only the introducer is skipped, so that it cannot hide the text behind it.
pub(super) fn skip_sequence(first: char, rest: &mut Chars<'_>) {
    let mut ahead = rest.clone();
    match read_introducer(first, &mut ahead) {
        Some('[') => {
            while skip_if(&mut ahead, |c| matches!(c, ' '..='?')) {}
            skip_if(&mut ahead, |c| matches!(c, '@'..='~'));
        }
        Some(introducer) if begins_control_string(introducer) => skip_control_string(&mut ahead),
        Some(' '..='/') => {
            while skip_if(&mut ahead, |c| matches!(c, ' '..='/')) {}
            skip_if(&mut ahead, |c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {}
        _ => return,
    }
    *rest = ahead;
}

/// Skips the rest of a control string that ends on its line, and returns true if there was one.
pub(super) fn skip_closed_control_string(first: char, rest: &mut Chars<'_>) -> bool {
    let mut ahead = rest.clone();
    if !read_introducer(first, &mut ahead).is_some_and(begins_control_string) {
        return false;
    }
    let content = ahead.as_str().len();
    skip_control_string(&mut ahead);
    let is_closed = ahead.as_str().len() < content;
    if is_closed {
        *rest = ahead;
    }
    is_closed
}

/// Returns the character that says which sequence begins.
fn read_introducer(first: char, rest: &mut Chars<'_>) -> Option<char> {
    match first {
        '\u{1b}' => rest.next(),
        // A C1 control is 0x40 above the letter that it stands for.
        c1 => char::from_u32(u32::from(c1).saturating_sub(0x40)),
    }
}

fn begins_control_string(introducer: char) -> bool {
    matches!(introducer, 'P' | 'X' | ']' | '^' | '_')
}

/// Skips the content of a control string and its terminator, if it ends on this line. Another sequence ends it, too.
fn skip_control_string(rest: &mut Chars<'_>) {
    let mut ahead = rest.clone();
    loop {
        let here = ahead.clone();
        match ahead.next() {
            Some('\u{1b}') if skip_if(&mut ahead, |c| c == '\\') => *rest = ahead,
            Some('\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}') => *rest = ahead,
            Some(c) if begins_sequence(c) => *rest = here,
            Some('\n' | '\r') | None => {}
            Some(_) => continue,
        }
        return;
    }
}

/// Skips the next character if it is one of these, and returns true if it was.
fn skip_if(rest: &mut Chars<'_>, is_skipped: impl Fn(char) -> bool) -> bool {
    let is_next = rest.clone().next().is_some_and(is_skipped);
    if is_next {
        rest.next();
    }
    is_next
}
