//! Passwords in the rows of a Markdown table below a column that is called so.

use std::ops::Range;

use super::SecretFinding;
use super::bytes::{skip_back_while, skip_while};
use super::value_shape::is_placeholder;

/// The most bytes of a table's line.
const MAX_LINE_BYTES: usize = 1024;

/// The most rows of a table.
const MAX_ROWS: usize = 100;

/// Finds the passwords of a table in whose head a name stands.
pub(super) fn find_column_passwords(text: &str, name: Range<usize>, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let line_start = skip_back_while(bytes, name.start, MAX_LINE_BYTES, |byte| byte != b'\n');
    let line_end = skip_while(bytes, name.end, MAX_LINE_BYTES, |byte| byte != b'\n');
    let Some((before, head)) = text.get(line_start..name.start).zip(text.get(line_start..line_end)) else { return };
    let column = before.matches('|').count();
    let has_cells = head.trim_start().starts_with('|') && head.matches('|').count() > column;
    let mut rows = text.get(line_end..).unwrap_or_default().split_inclusive('\n').skip(1);
    let is_rule =
        |row: &str| row.contains("--") && row.trim().bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '));
    if column == 0 || !has_cells || !rows.next().is_some_and(is_rule) {
        return;
    }
    for row in rows.take(MAX_ROWS).take_while(|row| row.trim_start().starts_with('|')) {
        let Some(cell) = row.split('|').nth(column) else { continue };
        let value = cell.trim().trim_matches(['`', '*', '"']);
        let Some(start) = value.as_ptr().addr().checked_sub(text.as_ptr().addr()) else { continue };
        if value.len() >= 4 && !value.contains(' ') && !is_placeholder(value) {
            found.push(SecretFinding { kind: "password", span: start..start + value.len() });
        }
    }
}
