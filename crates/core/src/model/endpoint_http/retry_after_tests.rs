use reqwest::header::{HeaderName, HeaderValue};

use super::*;

#[track_caller]
fn check(headers: &[(&str, &str)], expected: Option<u64>) {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect();
    assert_eq!(read_retry_after(&headers), expected.map(Duration::from_millis), "{headers:?}");
}

#[test]
fn seconds_fractions_and_milliseconds_are_read() {
    check(&[("retry-after", "2")], Some(2_000));
    check(&[("retry-after", " 0.25 ")], Some(250));
    check(&[("retry-after", "0")], Some(0));
    check(&[("retry-after-ms", "1500"), ("retry-after", "9")], Some(1_500));
    check(&[("retry-after-ms", "soon"), ("retry-after", "9")], Some(9_000));
}

#[test]
fn a_date_counts_from_the_date_of_the_reply() {
    let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    check(&[date, ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], Some(30_000));
    check(&[date, ("retry-after", "Sunday, 06-Nov-94 08:50:07 GMT")], Some(30_000));
    check(&[date, ("retry-after", "Sun Nov  6 08:50:07 1994")], Some(30_000));
    check(&[date, ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0));
    check(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], None);
    check(&[("date", "now"), ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], None);
}

#[test]
fn what_is_no_time_is_ignored() {
    for value in ["", "soon", "-1", "NaN", "inf", "1e400", "1e30", "2 seconds", "0x10"] {
        check(&[("retry-after", value)], None);
        check(&[("retry-after-ms", value)], None);
    }
    check(&[], None);
}
