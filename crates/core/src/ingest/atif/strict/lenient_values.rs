//! Converts values to integers, numbers and flags as leniently as Harbor's models do.

use serde_json::Value;

#[cfg(test)]
#[path = "lenient_values_tests.rs"]
mod tests;

/// Returns an integer from a number, a flag, a float without a fraction, or digits in a string.
pub(super) fn coerce_integer(value: &Value) -> Option<i128> {
    match value {
        Value::Bool(flag) => Some(i128::from(*flag)),
        Value::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            .or_else(|| float_to_integer(number.as_f64()?)),
        Value::String(text) => parse_integer_text(text),
        _ => None,
    }
}

fn float_to_integer(number: f64) -> Option<i128> {
    const LIMIT: f64 = 9_223_372_036_854_775_807.0;
    let is_whole = number.fract() == 0.0 && number.abs() < LIMIT;
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    is_whole.then_some(number as i128)
}

fn parse_integer_text(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => digits,
        Some(_) => return None,
        None => text,
    };
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, digits.strip_prefix('+').unwrap_or(digits)),
    };
    let digits = strip_underscores(digits)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Python's integers are unbounded; here all huge ones are treated alike.
    Some(sign * digits.parse().unwrap_or(i128::MAX))
}

/// Returns a number from a number, a flag, or a number in a string.
pub(super) fn coerce_number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        // A number with underscores must not have blanks around it.
        Value::String(text) if text.contains('_') => strip_underscores(text)?.parse().ok(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Removes underscores, which may only stand one at a time between digits.
fn strip_underscores(text: &str) -> Option<String> {
    let is_misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    (!is_misplaced).then(|| text.replace('_', ""))
}

/// Returns true for a flag, 0, 1, or one of Python's usual words for a flag.
pub(super) fn is_flag(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(number) => number.as_f64().is_some_and(|number| number == 0.0 || number == 1.0),
        Value::String(text) => ["0", "1", "off", "on", "f", "t", "false", "true", "n", "y", "no", "yes"]
            .iter()
            .any(|word| word.eq_ignore_ascii_case(text)),
        _ => false,
    }
}
