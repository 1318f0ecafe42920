//! What changes in a file, as people are used to see it.

use similar::TextDiff;

use crate::cli::console::{Console, Style};
use crate::cli::failure::Failure;
use crate::redact::Redactor;

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// What changes from one text to the other. Secrets that stand near by are not shown.
pub(super) fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let difference = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let shown = difference.unified_diff().context_radius(AROUND).header(name(before), name(after)).to_string();
    let visible: String = shown.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    Redactor::new().redact(&visible).text.into_owned()
}

/// Prints it, in colour where there is any.
pub(super) fn print(difference: &str, console: &mut Console) -> Result<(), Failure> {
    for line in difference.lines() {
        let style = match line.chars().next() {
            Some('+') => Some(Style::Cyan),
            Some('-') => Some(Style::Red),
            Some('@') => Some(Style::Dim),
            _ => None,
        };
        let line = style.map_or_else(|| line.to_owned(), |style| console.styled(style, line));
        console.line(&line)?;
    }
    Ok(())
}
