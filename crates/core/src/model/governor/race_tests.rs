//! Many ask for the last of a cap at once, from threads and from processes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::model::{ModelMessage, RequestedFormat};

/// Tells a process that this test started where the ledger is.
const VARIABLE: &str = "ARCHIVIST_TEST_LEDGER";

const WINNERS: u64 = 5;

/// Takes the call and never answers in time, so that every reservation stands.
#[derive(Debug)]
struct Lost;

#[async_trait]
impl LanguageModel for Lost {
    fn name(&self) -> &str {
        "m"
    }

    async fn send_request(&self, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        Err(ModelError::TimedOut { after: Duration::ZERO })
    }
}

fn request() -> ModelRequest {
    let messages = vec![ModelMessage::User { text: "Go.".to_owned() }];
    ModelRequest { messages, form: RequestedFormat::Text, max_output_tokens: 10 }
}

fn governor(directory: &Path, winners: u64) -> Arc<SpendGovernor> {
    let most = max_billable_tokens(&request());
    let caps = SpendCaps { tokens_per_day: winners * (most.prompt + most.completion), ..SpendCaps::default() };
    let clock: Clock = Arc::new(|| "2026-11-16T12:00:00Z".parse().unwrap());
    SpendGovernor::new(directory, "e", TokenPrices::default(), caps, clock)
}

/// Asks until it is refused, or has won more than there is, and says how often it was not.
fn calls(governor: &Arc<SpendGovernor>, project: &str) -> u64 {
    let model = GovernedModel::new(Lost, Arc::new(governor.reflection_allowance(project)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut calls = 0;
    while calls <= WINNERS
        && let Err(ModelError::TimedOut { .. }) = runtime.block_on(model.send_request(&request()))
    {
        calls += 1;
    }
    calls
}

#[test]
fn of_threads_that_race_for_the_last_of_a_cap_exactly_one_wins() {
    for round in 0..10 {
        let directory = TempDir::new().unwrap();
        let barrier = Barrier::new(4);
        let shared = governor(directory.path(), 1);
        let won: u64 = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4)
                .map(|racer| {
                    // Two share a governor, two have one of their own, as processes do.
                    let own = governor(directory.path(), 1);
                    let governor = if racer < 2 { Arc::clone(&shared) } else { own };
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        calls(&governor, "p")
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).sum()
        });
        assert_eq!(won, 1, "in round {round}");
    }
}

#[test]
fn processes_together_make_as_many_calls_as_fit() {
    let directory = TempDir::new().unwrap();
    let racers: Vec<_> = (0..4)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "model::governor::race_tests::one_process_of_many", "--nocapture"])
                .env(VARIABLE, directory.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut won = 0;
    for racer in racers {
        let output = racer.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let calls = said.lines().find_map(|line| line.split_once("calls made: ")).map(|(_, calls)| calls.trim());
        won += calls.unwrap_or_else(|| panic!("{said}")).parse::<u64>().unwrap();
    }
    assert_eq!(won, WINNERS);
    assert_eq!(governor(directory.path(), WINNERS).spent_today("p").unwrap().calls, WINNERS);
}

/// Nothing but what the test above starts.
#[test]
fn one_process_of_many() {
    if let Some(directory) = std::env::var_os(VARIABLE) {
        println!("calls made: {}", calls(&governor(Path::new(&directory), WINNERS), "p"));
    }
}
