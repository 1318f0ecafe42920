//! What models cost, on a server that machines share: caps hold for all of them together, whatever breaks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use archivist_core::domain::{Timestamp, TokenUsage};
use archivist_core::memory::postgres::{PostgresServer, PostgresServerSettings};
use archivist_core::model::{
    Clock, Finish, GovernedModel, LanguageModel, ModelError, ModelMessage, ModelReply, ModelRequest, RequestedFormat,
    SharedLedger, SpendCaps, SpendGovernor, TokenPrices, max_billable_tokens,
};
use archivist_core::service::FleetLedger;
use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use crate::fleet_events::{database, serving};
use crate::postgres_server::{shared, sql};
use crate::stores::server_at;
use crate::support::World;

const PRICES: TokenPrices = TokenPrices { input_per_million: 1.0, output_per_million: 2.0 };

/// Answers, or does not, and claims what it likes.
#[derive(Debug, Clone, Copy)]
enum Endpoint {
    Lost,
    Answers(Option<u64>),
}

#[async_trait]
impl LanguageModel for Endpoint {
    fn name(&self) -> &str {
        "m"
    }

    async fn send_request(&self, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        match self {
            Self::Lost => Err(ModelError::TimedOut { after: Duration::ZERO }),
            Self::Answers(claimed) => {
                let usage = TokenUsage { prompt_tokens: *claimed, completion_tokens: Some(3), ..TokenUsage::default() };
                Ok(ModelReply { text: "one two three".to_owned(), calls: vec![], finish: Finish::Stop, usage })
            }
        }
    }
}

fn request() -> ModelRequest {
    let messages = vec![ModelMessage::User { text: "Say one two three.".to_owned() }];
    ModelRequest { messages, form: RequestedFormat::Text, max_output_tokens: 40 }
}

fn most() -> u64 {
    let most = max_billable_tokens(&request());
    most.prompt + most.completion
}

fn noon() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

/// A governor as one machine has it.
fn governor(url: &str, account: &str, caps: SpendCaps) -> Arc<SpendGovernor> {
    let ledger = Arc::new(FleetLedger::new(server_at(url), account));
    SpendGovernor::with_shared_ledger(ledger, account, "http://e/v1", PRICES, caps, Arc::new(noon))
}

async fn ask(governor: &Arc<SpendGovernor>, endpoint: Endpoint) -> Result<ModelReply, ModelError> {
    GovernedModel::new(endpoint, Arc::new(governor.reflection_allowance("/a/path"))).send_request(&request()).await
}

async fn today(governor: &Arc<SpendGovernor>, project: &'static str) -> (u64, TokenUsage, TokenUsage) {
    let governor = Arc::clone(governor);
    let spent = spawn_blocking(move || governor.spent_today(project).unwrap()).await.unwrap();
    (spent.calls, spent.total, spent.project)
}

fn tokens(usage: &TokenUsage) -> u64 {
    usage.prompt_tokens.unwrap() + usage.completion_tokens.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_machines_that_race_for_a_cap_no_more_win_than_fit() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    for (round, (of_all, of_project)) in [(5, 0), (0, 1), (7, 2)].into_iter().enumerate() {
        let caps = SpendCaps {
            tokens_per_day: of_all * most(),
            tokens_per_project_day: of_project * most(),
            ..SpendCaps::default()
        };
        let at: Timestamp = format!("2026-12-{:02}T12:00:00Z", round + 1).parse().unwrap();
        let clock: Clock = Arc::new(move || at);
        let mut racers = JoinSet::new();
        for racer in 0..16 {
            let account = format!("project-{}", racer % 2);
            let ledger = Arc::new(FleetLedger::new(server_at(&url), &account));
            let governor =
                SpendGovernor::with_shared_ledger(ledger, &account, "http://e/v1", PRICES, caps, Arc::clone(&clock));
            racers.spawn(async move {
                let mut won = 0;
                while won <= 7 && matches!(ask(&governor, Endpoint::Lost).await, Err(ModelError::TimedOut { .. })) {
                    won += 1;
                }
                won
            });
        }
        let won: u64 = racers.join_all().await.into_iter().sum();
        let expected = match (of_all, of_project) {
            (0, one) => 2 * one,
            (all, 0) => all,
            (all, one) => all.min(2 * one),
        };
        assert_eq!(won, expected, "in round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_reflection_may_spend_holds_when_it_asks_many_at_once() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let governor = governor(&url, "p", SpendCaps { calls_per_reflection: 3, ..SpendCaps::default() });
    let allowance = Arc::new(governor.reflection_allowance("p"));
    let mut asked = JoinSet::new();
    for _ in 0..12 {
        let model = GovernedModel::new(Endpoint::Lost, Arc::clone(&allowance));
        asked.spawn(async move { matches!(model.send_request(&request()).await, Err(ModelError::TimedOut { .. })) });
    }
    assert_eq!(asked.join_all().await.into_iter().filter(|won| *won).count(), 3);
    assert_eq!(allowance.call_count(), 3);
    assert_eq!(today(&governor, "p").await.0, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_comes_to_the_same_in_files_and_on_the_server() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let folder = TempDir::new().unwrap();
    let in_files =
        |folder: &Path| SpendGovernor::new(folder, "http://e/v1", PRICES, SpendCaps::default(), Arc::new(noon));
    let (one, other) = (governor(&url, "one", SpendCaps::default()), governor(&url, "other", SpendCaps::default()));
    let files = in_files(folder.path());
    for (endpoint, project, machine) in [
        (Endpoint::Answers(None), "one", &one),
        (Endpoint::Lost, "one", &one),
        (Endpoint::Answers(Some(1)), "other", &other),
        (Endpoint::Answers(Some(9)), "other", &other),
        (Endpoint::Answers(None), "one", &one),
    ] {
        let shared = ask(machine, endpoint).await.is_ok();
        let model = GovernedModel::new(endpoint, Arc::new(files.reflection_allowance(project)));
        assert_eq!(shared, model.send_request(&request()).await.is_ok());
    }
    assert_eq!(today(&one, "one").await, today(&files, "one").await);
    assert_eq!(today(&other, "other").await, today(&files, "other").await);
    let (calls, total, own) = today(&one, "one").await;
    assert_eq!(calls, 5);
    assert!(tokens(&own) > most(), "the call that never came back counts for all it can have cost");
    assert!(tokens(&total) > tokens(&own));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_bills_too_much_is_not_asked_again_on_any_machine() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let (one, other) = (governor(&url, "one", SpendCaps::default()), governor(&url, "other", SpendCaps::default()));
    assert!(ask(&other, Endpoint::Answers(None)).await.is_ok());
    assert!(ask(&one, Endpoint::Answers(Some(1_000_000))).await.is_ok());
    let refused = ask(&other, Endpoint::Answers(None)).await.unwrap_err().to_string();
    assert!(refused.contains("billed more than was sent or asked for, see archivist.spend at "), "{refused}");
    assert!(ask(&one, Endpoint::Answers(None)).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_settled_once_and_one_that_never_is_counts() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let ledger = Arc::new(FleetLedger::new(server_at(&url), "p"));
    let governor = governor(&url, "p", SpendCaps { tokens_per_day: 2 * most(), ..SpendCaps::default() });
    assert!(ask(&governor, Endpoint::Answers(None)).await.is_ok());
    let before = today(&governor, "p").await;
    assert!(tokens(&before.1) < most());
    let again = Arc::clone(&ledger);
    let lines = spawn_blocking(move || {
        let lines = again.read_day_lines(noon().date_naive()).unwrap();
        let id = serde_json::from_str::<serde_json::Value>(&lines[0].1).unwrap()["id"].as_str().unwrap().to_owned();
        let free = json!({ "entry": "settle", "id": id, "promptTokens": 0, "completionTokens": 0, "microUsd": 0 });
        again.charge_call(&id, noon().date_naive(), &free.to_string()).unwrap();
        again.charge_call("nobody", noon().date_naive(), &free.to_string()).unwrap();
        again.read_day_lines(noon().date_naive()).unwrap()
    });
    let lines = lines.await.unwrap();
    assert_eq!(lines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(today(&governor, "p").await, before, "what is settled stays as it is");
    assert!(matches!(ask(&governor, Endpoint::Lost).await, Err(ModelError::TimedOut { .. })));
    assert_eq!(tokens(&today(&governor, "p").await.1), tokens(&before.1) + most());
    let refused = ask(&governor, Endpoint::Answers(None)).await.unwrap_err();
    assert!(matches!(refused, ModelError::Refused { .. }), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_server_cannot_be_reached_nothing_is_spent() {
    let settings = PostgresServerSettings {
        url: "postgres://nobody@127.0.0.1:1/none?sslmode=disable".to_owned(),
        read_url: None,
        ca_file: None,
        connections: 2,
        statement_timeout: Duration::from_secs(5),
        patience: Duration::from_millis(200),
    };
    let ledger = Arc::new(FleetLedger::new(PostgresServer::new(settings), "p"));
    let governor =
        SpendGovernor::with_shared_ledger(ledger, "p", "http://e/v1", PRICES, SpendCaps::default(), Arc::new(noon));
    let refused = ask(&governor, Endpoint::Answers(None)).await.unwrap_err().to_string();
    assert!(refused.contains("what a call costs cannot be written down"), "{refused}");
    assert!(refused.contains("127.0.0.1:1/none cannot be reached"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_reserve_nothing_twice_and_let_no_cap_be_passed() {
    const CALLS: u64 = 60;
    let Some(url) = shared() else { return };
    let url = database(url).await;
    let caps = SpendCaps { tokens_per_day: CALLS * most(), ..SpendCaps::default() };
    let (won, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let saboteur = tokio::spawn({
        let (url, is_over) = (url.clone(), Arc::clone(&is_over));
        async move {
            while !is_over.load(Ordering::Relaxed) {
                let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                           WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3";
                sql(&url, cut).await;
                sleep(Duration::from_millis(15)).await;
            }
        }
    });
    let mut racers = JoinSet::new();
    for _ in 0..8 {
        let (governor, won) = (governor(&url, "p", caps), Arc::clone(&won));
        racers.spawn(async move {
            loop {
                match ask(&governor, Endpoint::Lost).await {
                    Err(ModelError::TimedOut { .. }) => won.fetch_add(1, Ordering::Relaxed),
                    Err(ModelError::Refused { why }) => return assert!(why.contains("tokensPerDay"), "{why}"),
                    other => panic!("{other:?}"),
                };
            }
        });
    }
    racers.join_all().await;
    is_over.store(true, Ordering::Relaxed);
    saboteur.await.unwrap();
    assert_eq!(won.load(Ordering::Relaxed), CALLS);
    let (calls, total, _) = today(&governor(&url, "p", caps), "p").await;
    assert_eq!((calls, tokens(&total)), (CALLS, CALLS * most()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_tells_what_all_machines_spent_today() {
    let Some(url) = shared() else { return };
    let url = database(url).await;
    for account in ["one", "other"] {
        let ledger = Arc::new(FleetLedger::new(server_at(&url), account));
        let clock: Clock = Arc::new(|| std::time::SystemTime::now().into());
        let governor =
            SpendGovernor::with_shared_ledger(ledger, account, "http://e/v1", PRICES, SpendCaps::default(), clock);
        assert!(ask(&governor, Endpoint::Lost).await.is_err());
    }
    let world = World::new();
    let serving = serving(&world, &url);
    let spend = serving.get("/v1/spend?days=2").json();
    assert_eq!(spend["days"][1]["calls"], 2, "{spend}");
    assert_eq!(spend["days"][1]["tokens"], 2 * most());
}
