//! A text on one line, with nothing in it that the eye does not see.

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;

/// The text on one line, whatever it holds: everything that could move a cursor, break a line, turn the direction of
/// writing or hide from the eye is a space, and spaces in a row are one.
pub fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Joiners stay, because scripts and emoji need them; what is left out here can only mislead.
fn is_unseen(c: char) -> bool {
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
