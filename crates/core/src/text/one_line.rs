//! Puts a text on one line, without invisible characters.

#[cfg(test)]
#[path = "one_line_tests.rs"]
mod tests;

/// Returns the text on one line: everything that could move a cursor, break a line, change the direction of writing or
/// hide from the eye becomes a space, and several spaces become one.
pub fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true for invisible characters that can only mislead; joiners are kept, because scripts and emoji need them.
fn is_invisible(c: char) -> bool {
    let turns_or_hides = matches!(
        c,
        '\u{061c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    c.is_control() || turns_or_hides
}
