use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::Notify;

use super::*;
use crate::model::{Finish, ModelMessage, RequestedFormat};

const PRICES: TokenPrices = TokenPrices { input_per_million: 1.0, output_per_million: 2.0 };

/// What a fake does when it is asked.
enum Turn {
    Answer(Result<ModelReply, ModelError>),
    /// Looks around before it answers.
    Do(Box<dyn Fn() + Send + Sync>),
    /// Never answers.
    Hang,
}

struct Fake {
    turns: Mutex<VecDeque<Turn>>,
    asked: AtomicU32,
    /// Rung when it is asked.
    bell: Notify,
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fake").finish_non_exhaustive()
    }
}

#[async_trait]
impl LanguageModel for Fake {
    fn name(&self) -> &str {
        "m"
    }

    async fn send_request(&self, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.bell.notify_one();
        let turn = self.turns.lock().unwrap().pop_front();
        match turn {
            Some(Turn::Answer(answer)) => answer,
            Some(Turn::Do(work)) => {
                work();
                Ok(reply(None, None))
            }
            Some(Turn::Hang) => std::future::pending().await,
            None => Ok(reply(None, None)),
        }
    }
}

fn fake(turns: impl IntoIterator<Item = Turn>) -> Arc<Fake> {
    Arc::new(Fake { turns: Mutex::new(turns.into_iter().collect()), asked: AtomicU32::new(0), bell: Notify::new() })
}

fn reply(prompt_tokens: Option<u64>, completion_tokens: Option<u64>) -> ModelReply {
    let usage = TokenUsage { prompt_tokens, completion_tokens, ..TokenUsage::default() };
    ModelReply { text: "one two three".to_owned(), calls: vec![], finish: Finish::Stop, usage }
}

fn request() -> ModelRequest {
    let messages = vec![ModelMessage::User { text: "Say one two three.".to_owned() }];
    ModelRequest { messages, form: RequestedFormat::Text, max_output_tokens: 40 }
}

fn most() -> u64 {
    let most = max_billable_tokens(&request());
    most.prompt + most.completion
}

/// A ledger and a clock that can be moved.
struct World {
    directory: TempDir,
    seconds: Arc<AtomicI64>,
}

impl World {
    fn new() -> Self {
        let noon: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        Self { directory: TempDir::new().unwrap(), seconds: Arc::new(AtomicI64::new(noon.timestamp())) }
    }

    fn clock(&self) -> Clock {
        let seconds = Arc::clone(&self.seconds);
        Arc::new(move || Timestamp::from_timestamp(seconds.load(Ordering::SeqCst), 0).unwrap())
    }

    fn governor(&self, prices: TokenPrices, caps: SpendCaps) -> Arc<SpendGovernor> {
        SpendGovernor::new(self.directory.path(), "http://e/v1", prices, caps, self.clock())
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("2026-11-16.jsonl")
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(self.file()).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

fn governed(governor: &Arc<SpendGovernor>, project: &str, fake: &Arc<Fake>) -> GovernedModel<Arc<Fake>> {
    GovernedModel::new(Arc::clone(fake), Arc::new(governor.reflection_allowance(project)))
}

fn why(answer: Result<ModelReply, ModelError>) -> String {
    match answer {
        Err(ModelError::Refused { why }) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_call_is_on_disk_before_it_is_made_and_settled_when_it_comes_back() {
    let world = World::new();
    let file = world.file();
    let looked = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&looked);
    let fake = fake([Turn::Do(Box::new(move || *seen.lock().unwrap() = std::fs::read_to_string(&file).unwrap()))]);
    let model = governed(&world.governor(PRICES, SpendCaps::default()), "p", &fake);
    assert_eq!(model.name(), "m");
    model.send_request(&request()).await.unwrap();
    let before = looked.lock().unwrap().clone();
    assert_eq!(before.lines().count(), 1);
    assert!(
        before.starts_with(r#"{"entry":"reserve","#) && before.contains(r#""at":"2026-11-16T12:00:00Z""#),
        "{before}"
    );
    let lines = world.lines();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].starts_with(r#"{"entry":"settle","#), "{}", lines[1]);
}

#[tokio::test]
async fn what_was_billed_is_told_to_people_and_what_counts_is_told_to_the_caps() {
    let world = World::new();
    let governor = world.governor(PRICES, SpendCaps::default());
    let size = CallSize::from_request(&request());
    let fake = fake([
        Turn::Answer(Ok(reply(Some(100), Some(9)))),
        Turn::Answer(Ok(reply(Some(0), Some(0)))),
        Turn::Answer(Err(ModelError::BadRequest { status: 400, said: String::new() })),
    ]);
    let model = governed(&governor, "p", &fake);
    for _ in 0..3 {
        model.send_request(&request()).await.ok();
    }
    let usage = |prompt: u64, completion: u64| TokenUsage {
        prompt_tokens: Some(prompt),
        completion_tokens: Some(completion),
        cost_usd: Some((prompt + 2 * completion) as f64 / 1e6),
        ..TokenUsage::default()
    };
    assert_eq!(model.allowance().billed_usage(), usage(100, 9));
    assert_eq!(model.allowance().call_count(), 3);
    let counted = usage(100 + size.whole_prompt, 9 + 3);
    assert_eq!(governor.spent_today("p").unwrap(), SpentToday { calls: 3, total: counted, project: counted });
    assert_eq!(governor.spent_today("q").unwrap().project, usage(0, 0));
}

/// A key, and the caps with nothing but it set, from so many calls, tokens and micro-dollars.
type OneCap = (&'static str, fn(u32, u64, f64) -> SpendCaps);

const EACH_CAP: [OneCap; 7] = [
    ("callsPerReflection", |calls_per_reflection, _, _| SpendCaps { calls_per_reflection, ..NONE }),
    ("tokensPerReflection", |_, tokens_per_reflection, _| SpendCaps { tokens_per_reflection, ..NONE }),
    ("tokensPerProjectDay", |_, tokens_per_project_day, _| SpendCaps { tokens_per_project_day, ..NONE }),
    ("tokensPerDay", |_, tokens_per_day, _| SpendCaps { tokens_per_day, ..NONE }),
    ("usdPerReflection", |_, _, usd_per_reflection| SpendCaps { usd_per_reflection, ..NONE }),
    ("usdPerProjectDay", |_, _, usd_per_project_day| SpendCaps { usd_per_project_day, ..NONE }),
    ("usdPerDay", |_, _, usd_per_day| SpendCaps { usd_per_day, ..NONE }),
];

const NONE: SpendCaps = SpendCaps {
    calls_per_reflection: 0,
    tokens_per_reflection: 0,
    usd_per_reflection: 0.0,
    tokens_per_day: 0,
    usd_per_day: 0.0,
    tokens_per_project_day: 0,
    usd_per_project_day: 0.0,
};

#[tokio::test]
async fn every_cap_lets_through_what_fits_to_the_last_token_and_no_more() {
    let (most, micro) = (most(), PRICES.price_tokens(max_billable_tokens(&request())).micro_usd);
    let usd = |micro: u64| micro as f64 / 1e6;
    for (key, cap) in EACH_CAP {
        for (caps, fit) in [(cap(2, 2 * most, usd(2 * micro)), 2), (cap(1, 2 * most - 1, usd(2 * micro - 1)), 1)] {
            // A call that times out stands at its reservation.
            let lost = || Turn::Answer(Err(ModelError::TimedOut { after: Duration::ZERO }));
            let world = World::new();
            let fake = fake([lost(), lost()]);
            let model = governed(&world.governor(PRICES, caps), "p", &fake);
            for _ in 0..fit {
                let answer = model.send_request(&request()).await;
                assert!(matches!(answer, Err(ModelError::TimedOut { .. })), "{key}: {answer:?}");
            }
            let why = why(model.send_request(&request()).await);
            assert!(why.contains(&format!("model.caps.{key} ")), "{why}");
            assert_eq!((fake.asked.load(Ordering::SeqCst), model.allowance().call_count()), (fit, fit), "{key}");
            assert_eq!(world.lines().len(), usize::try_from(fit).unwrap(), "{key}");
        }
    }
}

#[tokio::test]
async fn projects_and_reflections_have_purses_of_their_own() {
    let world = World::new();
    let caps = SpendCaps { calls_per_reflection: 1, tokens_per_project_day: most(), ..SpendCaps::default() };
    let governor = world.governor(TokenPrices::default(), caps);
    let lost = || Turn::Answer(Err(ModelError::Connection { said: String::new() }));
    let fake = fake([lost(), lost()]);
    governed(&governor, "p", &fake).send_request(&request()).await.unwrap_err();
    assert!(why(governed(&governor, "p", &fake).send_request(&request()).await).contains("tokensPerProjectDay"));
    let other = governed(&governor, "q", &fake);
    assert!(matches!(other.send_request(&request()).await, Err(ModelError::Connection { .. })));
    assert!(why(other.send_request(&request()).await).contains("callsPerReflection"));
}

#[tokio::test]
async fn a_cancelled_call_stays_reserved() {
    let world = World::new();
    let caps = SpendCaps { tokens_per_day: 2 * most() - 1, ..SpendCaps::default() };
    let governor = world.governor(PRICES, caps);
    let fake = fake([Turn::Hang]);
    let model = governed(&governor, "p", &fake);
    let request = request();
    tokio::select! {
        answer = model.send_request(&request) => panic!("answered: {answer:?}"),
        () = fake.bell.notified() => {}
    }
    let spent = governor.spent_today("p").unwrap().total;
    assert_eq!(spent.prompt_tokens.unwrap() + spent.completion_tokens.unwrap(), most());
    assert_eq!((model.allowance().billed_usage(), model.allowance().call_count()), (spent, 1));
    assert!(why(model.send_request(&request).await).contains("tokensPerDay"));
    assert!(
        why(governed(&world.governor(PRICES, caps), "q", &fake).send_request(&request).await).contains("tokensPerDay")
    );
}

#[tokio::test]
async fn an_endpoint_that_bills_more_than_was_sent_is_not_asked_again_that_day() {
    let most = max_billable_tokens(&request());
    for (prompt, completion) in [(most.prompt + 1, 1), (1, most.completion + 1), (u64::MAX, u64::MAX)] {
        let world = World::new();
        let governor = world.governor(PRICES, SpendCaps::default());
        let fake = fake([Turn::Answer(Ok(reply(Some(prompt), Some(completion))))]);
        let model = governed(&governor, "p", &fake);
        model.send_request(&request()).await.unwrap();
        let spent = governor.spent_today("p").unwrap().total;
        assert!(spent.prompt_tokens.unwrap() <= most.prompt && spent.completion_tokens.unwrap() <= most.completion);
        assert!(world.lines()[1].contains(&format!(r#""claimed":{{"promptTokens":{prompt},"#)), "{:?}", world.lines());
        // Not by this process, and not by another.
        for governor in [governor, world.governor(TokenPrices::default(), SpendCaps::default())] {
            assert!(
                why(governed(&governor, "q", &fake).send_request(&request()).await)
                    .contains("billed more than was sent")
            );
        }
        let elsewhere =
            SpendGovernor::new(world.directory.path(), "http://f", PRICES, SpendCaps::default(), world.clock());
        governed(&elsewhere, "p", &fake).send_request(&request()).await.unwrap();
        world.seconds.fetch_add(86_400, Ordering::SeqCst);
        model.send_request(&request()).await.unwrap();
        assert_eq!(fake.asked.load(Ordering::SeqCst), 3);
    }
}

#[tokio::test]
async fn a_call_over_midnight_belongs_to_the_day_it_was_made() {
    let world = World::new();
    let governor = world.governor(PRICES, SpendCaps::default());
    let seconds = Arc::clone(&world.seconds);
    let fake = fake([Turn::Do(Box::new(move || _ = seconds.fetch_add(86_400, Ordering::SeqCst)))]);
    governed(&governor, "p", &fake).send_request(&request()).await.unwrap();
    assert_eq!(governor.spent_today("p").unwrap().calls, 0);
    assert_eq!(world.lines().len(), 2);
    world.seconds.fetch_sub(86_400, Ordering::SeqCst);
    assert_eq!(governor.spent_today("p").unwrap().total.completion_tokens, Some(3));
}

#[tokio::test]
async fn without_a_ledger_only_what_is_free_and_without_caps_is_asked() {
    let cases = [
        (TokenPrices::default(), SpendCaps::default(), true),
        (PRICES, SpendCaps::default(), false),
        (TokenPrices::default(), SpendCaps { calls_per_reflection: 9, ..SpendCaps::default() }, false),
        (TokenPrices::default(), SpendCaps { usd_per_day: 9.0, ..SpendCaps::default() }, false),
    ];
    for (prices, caps, is_asked) in cases {
        let world = World::new();
        std::fs::create_dir(world.file()).unwrap();
        let fake = fake([]);
        let model = governed(&world.governor(prices, caps), "p", &fake);
        let answer = model.send_request(&request()).await;
        assert_eq!(answer.is_ok(), is_asked, "{answer:?}");
        assert_eq!(fake.asked.load(Ordering::SeqCst), u32::from(is_asked));
        assert_eq!(model.allowance().call_count(), u32::from(is_asked));
        if !is_asked {
            let why = why(answer);
            assert!(why.contains("cannot be written down") && why.contains("2026-11-16.jsonl"), "{why}");
        }
    }
}

#[tokio::test]
async fn a_busy_lock_refuses() {
    let world = World::new();
    let short = FileLedger::with_patience(world.directory.path().into(), Duration::from_millis(20));
    let governor = Arc::new(SpendGovernor {
        spend_ledger: SpendLedger::Files(Box::new(short)),
        account: None,
        endpoint: "http://e".to_owned(),
        prices: PRICES,
        caps: SpendCaps::default(),
        clock: world.clock(),
    });
    let fake = fake([]);
    let held = std::fs::File::create(world.directory.path().join("lock")).unwrap();
    held.lock().unwrap();
    let why = why(governed(&governor, "p", &fake).send_request(&request()).await);
    assert!(why.contains("another process has held"), "{why}");
    assert_eq!(fake.asked.load(Ordering::SeqCst), 0);
    drop(held);
    governed(&governor, "p", &fake).send_request(&request()).await.unwrap();
}

#[tokio::test]
async fn an_answer_that_cannot_be_settled_is_given_all_the_same() {
    let world = World::new();
    let governor = world.governor(PRICES, SpendCaps::default());
    let (file, aside) = (world.file(), world.directory.path().join("aside"));
    let fake = fake([Turn::Do(Box::new(move || {
        std::fs::rename(&file, &aside).unwrap();
        std::fs::create_dir(&file).unwrap();
    }))]);
    let model = governed(&governor, "p", &fake);
    model.send_request(&request()).await.unwrap();
    let spent = model.allowance().billed_usage();
    assert_eq!(spent.prompt_tokens.unwrap() + spent.completion_tokens.unwrap(), most());
}
