//! Shows the changes to a file as a unified diff.

use similar::TextDiff;

use crate::cli_error::CliError;
use crate::console::{Console, TextStyle};
use archivist_core::redact::Redactor;
use archivist_core::text::{JoinerPolicy, strip_hidden_text};

/// The number of unchanged lines around a change.
const AROUND: usize = 3;

/// Returns the unified diff of two texts. Secrets in it are masked.
pub(super) fn render_unified_diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let difference = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let shown = difference.unified_diff().context_radius(AROUND).header(name(before), name(after)).to_string();
    // A carriage return would let a line be overwritten.
    let visible = strip_hidden_text(&shown, JoinerPolicy::Keep).replace('\r', "");
    Redactor::new().redact(&visible).text.into_owned()
}

/// Prints a diff, in colour where stdout allows it.
pub(super) fn print_diff(difference: &str, console: &mut Console) -> Result<(), CliError> {
    for line in difference.lines() {
        let style = match line.chars().next() {
            Some('+') => Some(TextStyle::Cyan),
            Some('-') => Some(TextStyle::Red),
            Some('@') => Some(TextStyle::Dim),
            _ => None,
        };
        let line = style.map_or_else(|| line.to_owned(), |style| console.style_text(style, line));
        console.print_line(&line)?;
    }
    Ok(())
}
