use super::*;
use crate::context::failure::identify_family;

fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

fn failure(headline: &str) -> (DetectedFailure, ErrorFamily) {
    let failure = DetectedFailure { class: FailureClass::Exception, headline: headline.to_owned(), exit_code: None };
    let family = identify_family("bash", failure.class.as_str(), headline);
    (failure, family)
}

#[test]
fn a_new_family_is_noted_however_many_came_before() {
    let mut families = FamilyTracker::default();
    let mut saw = |step: u32, headline: &str| {
        let (failure, family) = failure(headline);
        families.record_failure(StepPlace { trajectory: 0, step }, "bash", &failure, &family)
    };
    saw(1, "TypeError: kept");
    saw(1, "TypeError: kept");
    for number in 0..MAX_FAMILIES + 50 {
        saw(2, &format!("TypeError: thing_{} is not a function", letters(number)));
    }
    for step in 3..13 {
        saw(step, "RuntimeError: the real one");
    }
    saw(20, "TypeError: kept");
    assert_eq!(families.seen.len(), MAX_FAMILIES);
    let told: Vec<(u32, String)> =
        families.into_repeated_signals().into_iter().map(|signal| (signal.times, signal.quote.unwrap())).collect();
    assert_eq!(told, [(10, "RuntimeError: the real one".to_owned()), (3, "TypeError: kept".to_owned())]);
}

#[test]
fn a_limit_is_repeated_from_the_second_time_on() {
    let mut families = FamilyTracker::default();
    for (class, headline) in
        [(FailureClass::RateLimit, "429 Too Many Requests"), (FailureClass::Exception, "TypeError: once more")]
    {
        let failure = DetectedFailure { class, headline: headline.to_owned(), exit_code: None };
        let family = identify_family("model", class.as_str(), headline);
        for step in 1..3 {
            families.record_failure(StepPlace { trajectory: 0, step }, "model", &failure, &family);
        }
    }
    let told: Vec<String> = families.into_repeated_signals().into_iter().filter_map(|signal| signal.quote).collect();
    assert_eq!(told, ["429 Too Many Requests"]);
}
