//! Lessons that Archivist gave to the session: they were shown, they happened to nobody.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

#[cfg(test)]
#[path = "injected_tests.rs"]
mod tests;

/// Headings under which lessons are given, and what every line of theirs begins with.
const HEADINGS: &[(&str, LineStart)] =
    &[("### Project Lessons", LineStart::Number), ("## Known Issues (from past runs)", LineStart::Dash)];

const OPENING: &str = "<archivist-lessons";
const CLOSING: &str = "</archivist-lessons>";

/// Nearly every text holds none of these, and every text is asked.
static SUSPECTS: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| HEADINGS.iter().map(|(heading, _)| *heading).chain([OPENING]).map(Finder::new).collect());

#[derive(Clone, Copy)]
enum LineStart {
    Number,
    Dash,
}

/// The text without the lessons in it, and how many blocks of them there were.
pub(super) fn strip(text: &str) -> (Cow<'_, str>, u32) {
    if !SUSPECTS.iter().any(|finder| finder.find(text.as_bytes()).is_some()) {
        return (Cow::Borrowed(text), 0);
    }
    let mut kept = String::with_capacity(text.len());
    let mut blocks = 0;
    let mut inside = Inside::Nothing;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let goes_on = match inside {
            Inside::Nothing => false,
            Inside::Tag => true,
            Inside::List(start) => bare.is_empty() || start.begins(line),
        };
        if !goes_on {
            inside = Inside::opened_by(bare);
            match inside {
                Inside::Nothing => kept.push_str(line),
                _ => blocks += 1,
            }
        }
        if matches!(inside, Inside::Tag) && bare.ends_with(CLOSING) {
            inside = Inside::Nothing;
        }
    }
    (Cow::Owned(kept), blocks)
}

#[derive(Clone, Copy)]
enum Inside {
    Nothing,
    Tag,
    List(LineStart),
}

impl Inside {
    fn opened_by(line: &str) -> Self {
        if line.starts_with(OPENING) {
            return Self::Tag;
        }
        HEADINGS.iter().find(|(heading, _)| line == *heading).map_or(Self::Nothing, |(_, start)| Self::List(*start))
    }
}

impl LineStart {
    fn begins(self, line: &str) -> bool {
        match self {
            Self::Dash => line.starts_with("- "),
            Self::Number => {
                let digits = line.bytes().take_while(u8::is_ascii_digit).count();
                digits > 0 && line.get(digits..).is_some_and(|rest| rest.starts_with(". "))
            }
        }
    }
}
