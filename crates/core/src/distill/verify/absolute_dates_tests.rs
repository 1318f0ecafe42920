use proptest::prelude::*;

use super::*;

/// A Monday.
fn end() -> Timestamp {
    "2026-11-16T01:30:00Z".parse().unwrap()
}

#[test]
fn days_get_their_dates() {
    for (text, expected) in [
        ("broke yesterday", "broke on 2026-11-15"),
        ("Yesterday the build broke", "On 2026-11-15 the build broke"),
        ("since yesterday, and until today.", "since 2026-11-15, and until 2026-11-16."),
        ("tomorrow and tonight", "on 2026-11-17 and the evening of 2026-11-16"),
        ("this morning", "on the morning of 2026-11-16"),
        ("this week", "in the week of 2026-11-16"),
        ("last week", "in the week of 2026-11-09"),
        ("next week", "in the week of 2026-11-23"),
        ("last month, this month", "in October 2026, in November 2026"),
        ("next year", "in 2027"),
        ("last Friday", "on 2026-11-13"),
        ("last monday and next monday", "on 2026-11-09 and 2026-11-23"),
        ("next Friday", "on 2026-11-20"),
        ("3 days ago", "on 2026-11-13"),
        ("two weeks ago", "on 2026-11-02"),
        ("a month ago", "in October 2026"),
        ("2 hours ago", "on 2026-11-15"),
        ("in 3 days", "on 2026-11-19"),
        ("the day before yesterday", "on 2026-11-14"),
        ("yesterday's release", "2026-11-15's release"),
    ] {
        assert_eq!(make_dates_absolute(text, end()), expected, "{text}");
    }
}

#[test]
fn what_is_no_date_stays() {
    for text in [
        "recently, currently, now",
        "read last_week.csv and today.log",
        "run `date --date yesterday`",
        "it says \"see you tomorrow\" and 'last week'",
        "the last line and the next step",
        "in 30 minutes",
        "this way",
        "yesterday-report and to-day",
        "today() is a function",
        "99999999999999999999 days ago",
        "9999 years ago is not a date here: x",
        "don't, it's fine",
    ] {
        assert_eq!(make_dates_absolute(text, end()), text);
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_and_dated_once(text in "([a-z'`\" ]|today|last week|\\PC){0,40}") {
        let once = make_dates_absolute(&text, end());
        prop_assert_eq!(make_dates_absolute(&once, end()), once.clone());
    }
}
