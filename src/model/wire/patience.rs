//! How long an endpoint asks to wait.

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Reads `retry-after-ms`, or else `retry-after` in seconds or as a date. A date counts from the `Date` of the same
/// reply: the endpoint's clock is not ours.
pub(in crate::model) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|millis| seconds(millis, 1000.0)) {
        return Some(wait);
    }
    let after = text(RETRY_AFTER.as_str())?;
    seconds(after, 1.0).or_else(|| {
        let wait = moment(after)?.signed_duration_since(moment(text(DATE.as_str())?)?);
        Some(wait.to_std().unwrap_or_default())
    })
}

fn seconds(number: &str, in_a_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? / in_a_second).ok()
}

/// A date as HTTP writes it now, or wrote it long ago.
fn moment(date: &str) -> Option<NaiveDateTime> {
    let now = DateTime::parse_from_rfc2822(date).map(|moment| moment.naive_utc());
    let once = || NaiveDateTime::parse_from_str(date, "%A, %d-%b-%y %H:%M:%S GMT");
    let long_ago = || NaiveDateTime::parse_from_str(date, "%a %b %e %H:%M:%S %Y");
    now.or_else(|_| once()).or_else(|_| long_ago()).ok()
}

#[cfg(test)]
#[path = "patience_tests.rs"]
mod tests;
