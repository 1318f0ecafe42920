use tokio::sync::Semaphore;
use tokio::time::advance;

use super::super::scripted_model::{ScriptedModel, every_error, text_reply, text_request};
use super::super::{ModelRetryPolicy, RetryingModel};
use super::*;

const SECOND: Duration = Duration::from_secs(1);
const CAUTION: CircuitBreakerSettings =
    CircuitBreakerSettings { failures: 3, rest: Duration::from_secs(10), max_rest: Duration::from_secs(35) };

fn down() -> ModelError {
    ModelError::Connection { said: "refused".to_owned() }
}

fn resting(failures: u32, seconds: u64) -> Result<ModelReply, ModelError> {
    Err(ModelError::Resting { failures, for_: Duration::from_secs(seconds) })
}

fn guarded(answers: Vec<Result<ModelReply, ModelError>>) -> BreakerGuardedModel<ScriptedModel> {
    BreakerGuardedModel::new(ScriptedModel::new(answers), Arc::new(CircuitBreaker::new(CAUTION)))
}

async fn ask(model: &impl LanguageModel) -> Result<ModelReply, ModelError> {
    model.send_request(&text_request("why?")).await
}

/// Lets it fail until it rests.
async fn exhaust(model: &impl LanguageModel) {
    for _ in 0..CAUTION.failures {
        assert_eq!(ask(model).await, Err(down()));
    }
}

fn failing(times: usize) -> Vec<Result<ModelReply, ModelError>> {
    vec![Err(down()); times]
}

#[tokio::test(start_paused = true)]
async fn after_failures_in_a_row_nobody_asks_until_the_rest_is_over() {
    let model = guarded([failing(3), vec![Ok(text_reply("because"))]].concat());
    exhaust(&model).await;
    assert_eq!(ask(&model).await, resting(3, 10));
    advance(9 * SECOND).await;
    assert_eq!(ask(&model).await, resting(3, 1));
    assert_eq!(model.inner.received_requests().len(), 3);
    advance(SECOND).await;
    assert_eq!(ask(&model).await, Ok(text_reply("because")));
}

#[tokio::test(start_paused = true)]
async fn an_answer_ends_the_row() {
    let answer = || vec![Ok(text_reply("because"))];
    let model = guarded([failing(2), answer(), failing(2), answer()].concat());
    for _ in 0..6 {
        assert!(!matches!(ask(&model).await, Err(ModelError::Resting { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn the_rest_doubles_up_to_a_limit_and_starts_anew_after_an_answer() {
    let model = guarded([failing(6), vec![Ok(text_reply("because"))], failing(3)].concat());
    exhaust(&model).await;
    for (failures, rest) in [(3, 10), (4, 20), (5, 35)] {
        assert_eq!(ask(&model).await, resting(failures, rest));
        advance(Duration::from_secs(rest)).await;
        assert_eq!(ask(&model).await, Err(down()));
    }
    assert_eq!(ask(&model).await, resting(6, 35));
    advance(35 * SECOND).await;
    assert_eq!(ask(&model).await, Ok(text_reply("because")));
    exhaust(&model).await;
    assert_eq!(ask(&model).await, resting(3, 10));
}

#[tokio::test(start_paused = true)]
async fn errors_that_say_nothing_of_its_health_neither_count_nor_end_the_row() {
    for error in every_error().into_iter().filter(|error| !error.is_transient()) {
        let silent = || vec![Err(error.clone()); 5];
        let model = guarded([silent(), failing(2), silent(), failing(1)].concat());
        for _ in 0..13 {
            ask(&model).await.unwrap_err();
        }
        assert_eq!(model.inner.received_requests().len(), 13, "{}", error.kind());
        assert_eq!(ask(&model).await, resting(3, 10), "{}", error.kind());
    }
}

#[tokio::test(start_paused = true)]
async fn every_error_that_may_pass_counts() {
    for error in every_error().into_iter().filter(ModelError::is_transient) {
        let model = guarded(vec![Err(error.clone()); 3]);
        for _ in 0..3 {
            assert_eq!(ask(&model).await, Err(error.clone()));
        }
        assert_eq!(ask(&model).await, resting(3, 10), "{}", error.kind());
    }
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_says_nothing_lets_the_next_one_through() {
    let declined = ModelError::Declined { said: "no".to_owned(), written: 0 };
    let model = guarded([failing(3), vec![Err(declined.clone())], failing(1)].concat());
    exhaust(&model).await;
    advance(10 * SECOND).await;
    assert_eq!(ask(&model).await, Err(declined));
    assert_eq!(ask(&model).await, Err(down()));
    assert_eq!(ask(&model).await, resting(4, 20));
}

/// Answers when it is let go, and with what it was told last.
#[derive(Debug)]
struct Slow {
    go: Semaphore,
    answer: Mutex<Result<ModelReply, ModelError>>,
}

#[async_trait]
impl LanguageModel for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    async fn send_request(&self, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        let answer = self.answer.lock().unwrap().clone();
        self.go.acquire().await.unwrap().forget();
        answer
    }
}

fn slow() -> (Arc<Slow>, Arc<BreakerGuardedModel<Arc<Slow>>>) {
    let slow = Arc::new(Slow { go: Semaphore::new(0), answer: Mutex::new(Err(down())) });
    let guarded = BreakerGuardedModel::new(Arc::clone(&slow), Arc::new(CircuitBreaker::new(CAUTION)));
    (slow, Arc::new(guarded))
}

/// Asks in the background, and comes back when the question is on its way.
async fn send(model: &Arc<BreakerGuardedModel<Arc<Slow>>>) -> tokio::task::JoinHandle<Result<ModelReply, ModelError>> {
    let model = Arc::clone(model);
    let task = tokio::spawn(async move { ask(&*model).await });
    tokio::task::yield_now().await;
    task
}

#[tokio::test(start_paused = true)]
async fn after_a_rest_one_asks_at_a_time() {
    let (slow, model) = slow();
    slow.go.add_permits(3);
    exhaust(&*model).await;
    advance(10 * SECOND).await;
    *slow.answer.lock().unwrap() = Ok(text_reply("because"));
    let first = send(&model).await;
    assert_eq!(ask(&*model).await, resting(3, 10));
    slow.go.add_permits(2);
    assert_eq!(first.await.unwrap(), Ok(text_reply("because")));
    assert_eq!(ask(&*model).await, Ok(text_reply("because")));
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_is_given_up_lets_the_next_one_through() {
    let (slow, model) = slow();
    slow.go.add_permits(3);
    exhaust(&*model).await;
    advance(10 * SECOND).await;
    let given_up = send(&model).await;
    assert_eq!(ask(&*model).await, resting(3, 10));
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());
    slow.go.add_permits(1);
    assert_eq!(ask(&*model).await, Err(down()), "the next one is let through");
    assert_eq!(ask(&*model).await, resting(4, 20), "and the rest has not been forgotten");
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_the_rest_changes_nothing() {
    for late in [Ok(text_reply("because")), Err(down())] {
        let (slow, model) = slow();
        *slow.answer.lock().unwrap() = late.clone();
        let during_rest = send(&model).await;
        let during_trial = send(&model).await;
        let door = BreakerGuardedModel::new(ScriptedModel::new(failing(3)), Arc::clone(&model.breaker));
        exhaust(&door).await;
        slow.go.add_permits(1);
        assert_eq!(during_rest.await.unwrap(), late);
        assert_eq!(ask(&door).await, resting(3, 10));

        advance(10 * SECOND).await;
        *slow.answer.lock().unwrap() = Err(down());
        let trial = send(&model).await;
        slow.go.add_permits(1);
        assert_eq!(during_trial.await.unwrap(), late);
        assert_eq!(ask(&door).await, resting(3, 10), "the trial is still out");
        slow.go.add_permits(1);
        assert_eq!(trial.await.unwrap(), Err(down()));
        assert_eq!(ask(&door).await, resting(4, 20));
    }
}

#[tokio::test(start_paused = true)]
async fn all_who_share_it_rest_together() {
    let one = guarded(failing(3));
    let other = BreakerGuardedModel::new(ScriptedModel::new(Vec::new()), Arc::clone(&one.breaker));
    exhaust(&one).await;
    assert_eq!(ask(&other).await, resting(3, 10));
}

#[tokio::test(start_paused = true)]
async fn each_attempt_counts_and_a_rest_ends_the_attempts() {
    let patience = ModelRetryPolicy {
        max_attempts: 10,
        first_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(1),
        max_retry_after: SECOND,
    };
    let inner = Arc::new(ScriptedModel::new(failing(3)));
    let model = RetryingModel::new(
        BreakerGuardedModel::new(Arc::clone(&inner), Arc::new(CircuitBreaker::new(CAUTION))),
        patience,
        7,
    );
    assert!(matches!(ask(&model).await, Err(ModelError::Resting { failures: 3, .. })));
    assert_eq!(inner.received_requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_strangest_caution_is_obeyed() {
    let caution = CircuitBreakerSettings { failures: 0, rest: Duration::MAX, max_rest: Duration::MAX };
    let model = BreakerGuardedModel::new(ScriptedModel::new(failing(1)), Arc::new(CircuitBreaker::new(caution)));
    assert_eq!(ask(&model).await, Err(down()));
    assert!(matches!(ask(&model).await, Err(ModelError::Resting { failures: 1, .. })));
    let caution = CircuitBreakerSettings { failures: 1, rest: Duration::ZERO, max_rest: Duration::ZERO };
    let model = BreakerGuardedModel::new(ScriptedModel::new(failing(3)), Arc::new(CircuitBreaker::new(caution)));
    for _ in 0..3 {
        assert_eq!(ask(&model).await, Err(down()));
    }
}
