//! The waiting time that an endpoint asks for.

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Reads `retry-after-ms`, or else `retry-after` in seconds or as a date. A date counts from the `Date` of the same
/// reply, because the endpoint's clock may differ from ours.
pub(in crate::model) fn read_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|millis| parse_seconds(millis, 1000.0)) {
        return Some(wait);
    }
    let after = text(RETRY_AFTER.as_str())?;
    parse_seconds(after, 1.0).or_else(|| {
        let wait = parse_http_date(after)?.signed_duration_since(parse_http_date(text(DATE.as_str())?)?);
        Some(wait.to_std().unwrap_or_default())
    })
}

fn parse_seconds(number: &str, in_a_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? / in_a_second).ok()
}

/// Parses a date in the current or in an obsolete format of HTTP.
fn parse_http_date(date: &str) -> Option<NaiveDateTime> {
    let now = DateTime::parse_from_rfc2822(date).map(|moment| moment.naive_utc());
    let once = || NaiveDateTime::parse_from_str(date, "%A, %d-%b-%y %H:%M:%S GMT");
    let long_ago = || NaiveDateTime::parse_from_str(date, "%a %b %e %H:%M:%S %Y");
    now.or_else(|_| once()).or_else(|_| long_ago()).ok()
}

#[cfg(test)]
#[path = "retry_after_tests.rs"]
mod tests;
