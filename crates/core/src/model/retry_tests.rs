use proptest::prelude::*;
use tokio::time::Instant;

use super::super::scripted_model::{ScriptedModel, every_error, text_reply, text_request};
use super::*;

const PATIENCE: ModelRetryPolicy = ModelRetryPolicy {
    max_attempts: 4,
    first_delay: Duration::from_secs(1),
    max_delay: Duration::from_secs(3),
    max_retry_after: Duration::from_secs(60),
};

fn busy(retry_after: Option<u64>) -> ModelError {
    ModelError::RateLimited { retry_after: retry_after.map(Duration::from_secs), said: "busy".to_owned() }
}

fn unreadable() -> ModelError {
    ModelError::Unreadable { why: "half a body".to_owned() }
}

/// Asks, and tells what came, how often it was asked and how long that took.
async fn ask(
    answers: Vec<Result<ModelReply, ModelError>>,
    patience: ModelRetryPolicy,
) -> (Result<ModelReply, ModelError>, usize, Duration) {
    let model = RetryingModel::new(ScriptedModel::new(answers), patience, 7);
    let started = Instant::now();
    let answer = model.send_request(&text_request("why?")).await;
    (answer, model.inner.received_requests().len(), started.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_asked_again_with_the_same_question() {
    let model = RetryingModel::new(ScriptedModel::new(vec![Err(busy(None)), Ok(text_reply("because"))]), PATIENCE, 7);
    assert_eq!(model.send_request(&text_request("why?")).await, Ok(text_reply("because")));
    assert_eq!(model.inner.received_requests(), [text_request("why?"), text_request("why?")]);
    assert_eq!(model.name(), "scripted");
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_error_is_asked_again_or_handed_on() {
    for error in every_error() {
        let again = error.is_transient() || matches!(error, ModelError::Unreadable { .. });
        let (answer, asked, took) = ask(vec![Err(error.clone()), Ok(text_reply("because"))], PATIENCE).await;
        let expected = if again { (Ok(text_reply("because")), 2) } else { (Err(error.clone()), 1) };
        assert_eq!((answer, asked), expected, "{}", error.kind());
        assert!(again || took.is_zero(), "{}", error.kind());
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_implemented_is_not_asked_again() {
    let error = ModelError::Server { status: 501, retry_after: None, said: "no tools".to_owned() };
    assert_eq!(ask(vec![Err(error.clone())], PATIENCE).await, (Err(error), 1, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_handed_on_when_patience_ends() {
    let down = ModelError::Connection { said: "refused".to_owned() };
    let answers = vec![Err(busy(None)), Err(busy(None)), Err(busy(None)), Err(down.clone())];
    let (answer, asked, took) = ask(answers, PATIENCE).await;
    assert_eq!((answer, asked), (Err(down), 4));
    assert!(took <= Duration::from_secs(1 + 2 + 3), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn no_attempts_are_one() {
    for max_attempts in [0, 1] {
        let (answer, asked, _) = ask(vec![Err(busy(None))], ModelRetryPolicy { max_attempts, ..PATIENCE }).await;
        assert_eq!((answer, asked), (Err(busy(None)), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_is_not_asked_before_the_time_it_names() {
    for seconds in [0, 1, 10, 60] {
        let (answer, _, took) = ask(vec![Err(busy(Some(seconds))), Ok(text_reply("because"))], PATIENCE).await;
        assert_eq!(answer, Ok(text_reply("because")));
        let least = Duration::from_secs(seconds);
        // The clock of a paused runtime goes in whole milliseconds.
        assert!((least..=least + Duration::from_millis(1001)).contains(&took), "{took:?} for {seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_hour() {
    let (answer, asked, took) = ask(vec![Err(busy(Some(61)))], PATIENCE).await;
    assert_eq!((answer, asked, took), (Err(busy(Some(61))), 1, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_answer_is_worth_one_more_try() {
    let (answer, asked, _) = ask(vec![Err(unreadable()), Err(unreadable())], PATIENCE).await;
    assert_eq!((answer, asked), (Err(unreadable()), 2));
    let between = vec![Err(unreadable()), Err(busy(None)), Err(unreadable())];
    let (answer, asked, _) = ask(between, PATIENCE).await;
    assert_eq!((answer, asked), (Err(unreadable()), 3));
}

#[test]
fn an_error_is_logged_by_the_word_that_stands_in_files() {
    for error in every_error() {
        assert_eq!(serde_json::to_value(&error).unwrap()["kind"], error.kind());
    }
}

#[test]
fn the_longest_wait_doubles_up_to_a_limit() {
    let longest = |failures| PATIENCE.longest_wait(failures).as_secs();
    assert_eq!([1, 2, 3, 4, 40, u32::MAX].map(longest), [1, 2, 3, 3, 3, 3]);
}

#[test]
fn equal_seeds_draw_equal_waits_and_others_do_not() {
    let draws = |seed| {
        let model = RetryingModel::new((), PATIENCE, seed);
        (1..4).map(|failures| model.wait_before_retry(&busy(None), failures, 0)).collect::<Vec<_>>()
    };
    assert_eq!(draws(7), draws(7));
    assert_ne!(draws(7), draws(8));
}

#[test]
fn draws_fill_the_whole_range() {
    let chance = JitterSource(AtomicU64::new(3));
    let mut tenths = [0; 10];
    for _ in 0..10_000 {
        let draw = chance.draw_up_to(Duration::from_nanos(9));
        tenths[usize::try_from(draw.as_nanos()).unwrap()] += 1;
    }
    assert!(tenths.iter().all(|count| (900..1100).contains(count)), "{tenths:?}");
}

proptest! {
    #[test]
    fn no_setting_and_no_error_makes_a_wait_too_long(
        seed: u64,
        failures in 1u32..,
        first: Duration,
        most: Duration,
        asked_for: Option<Duration>,
        accepted: Duration,
    ) {
        let patience =
            ModelRetryPolicy { max_attempts: u32::MAX, first_delay: first, max_delay: most, max_retry_after: accepted };
        let model = RetryingModel::new((), patience, seed);
        let error = ModelError::RateLimited { retry_after: asked_for, said: String::new() };
        let asked_for = asked_for.unwrap_or_default();
        match model.wait_before_retry(&error, failures, 0) {
            Some(wait) => {
                prop_assert!(asked_for <= accepted);
                prop_assert!(wait >= asked_for && wait <= asked_for.saturating_add(most));
            }
            None => prop_assert!(asked_for > accepted || failures == u32::MAX),
        }
    }
}
