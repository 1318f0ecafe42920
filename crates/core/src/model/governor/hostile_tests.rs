//! Whatever an endpoint does, no cap is passed: neither by what is written down nor by what was truly taken.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::*;
use crate::model::{AnswerSchema, Finish, ModelMessage, ModelTool, RequestedFormat};
use crate::text::Tokenizer;

const RUNS: u64 = 1000;
const STEPS: u64 = 12;
const PROJECTS: [&str; 2] = ["p", "q"];

/// Small numbers that a seed decides.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[usize::try_from(self.below(things.len() as u64)).unwrap()]
    }
}

/// Tokens and micro-dollars.
type Taken = (u64, u64);

/// What was truly taken: by reflection, by day and project, by day.
#[derive(Debug, Default)]
struct Truth {
    reflections: BTreeMap<u64, (u32, Taken)>,
    projects: BTreeMap<(String, String), Taken>,
    days: BTreeMap<String, Taken>,
}

fn add(taken: &mut Taken, more: Taken) {
    *taken = (taken.0 + more.0, taken.1 + more.1);
}

/// An endpoint that takes what it can and says what it likes.
#[derive(Debug)]
struct Hostile {
    dice: Mutex<Dice>,
    truth: Arc<Mutex<Truth>>,
    seconds: Arc<AtomicI64>,
    prices: TokenPrices,
    project: String,
    reflection: u64,
    hung: Arc<Notify>,
}

impl Hostile {
    fn take(&self, prompt: u64, completion: u64) {
        let amount = self.prices.price_tokens(CallTokens { prompt, completion });
        let taken = (prompt + completion, amount.micro_usd);
        let day = moment(&self.seconds).format("%Y-%m-%d").to_string();
        let mut truth = self.truth.lock().unwrap();
        let reflection = truth.reflections.entry(self.reflection).or_default();
        reflection.0 += 1;
        add(&mut reflection.1, taken);
        add(truth.projects.entry((day.clone(), self.project.clone())).or_default(), taken);
        add(truth.days.entry(day).or_default(), taken);
    }
}

fn moment(seconds: &AtomicI64) -> Timestamp {
    Timestamp::from_timestamp(seconds.load(Ordering::SeqCst), 0).unwrap()
}

/// What was sent, in tokens, as a bill would count it: without the frames, for not every template has them.
fn sent(request: &ModelRequest) -> u64 {
    let mut text: Vec<String> = request
        .messages
        .iter()
        .map(|message| match message {
            ModelMessage::System { text } | ModelMessage::User { text } => text.clone(),
            other => panic!("never sent: {other:?}"),
        })
        .collect();
    match &request.form {
        RequestedFormat::Tools(tools) => text.extend(tools.iter().map(|tool| tool.parameters.to_string())),
        RequestedFormat::Schema(schema) => text.push(schema.schema.to_string()),
        RequestedFormat::Json | RequestedFormat::Text => {}
    }
    text.iter().map(|text| Tokenizer::new().count_tokens(text) as u64).sum()
}

#[async_trait]
impl LanguageModel for Hostile {
    fn name(&self) -> &str {
        "m"
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let most = max_billable_tokens(request);
        let said = String::new;
        let (what, share, amount) = {
            let mut dice = self.dice.lock().unwrap();
            (dice.below(24), dice.below(101), dice.below(most.completion + 1))
        };
        let text = "word ".repeat(usize::try_from(amount).unwrap());
        let (prompt, written) = (sent(request), Tokenizer::new().count_tokens(&text) as u64);
        let answer = |prompt_tokens: Option<u64>, completion_tokens: Option<u64>| {
            let usage = TokenUsage { prompt_tokens, completion_tokens, ..TokenUsage::default() };
            Ok(ModelReply { text: text.clone(), calls: vec![], finish: Finish::Stop, usage })
        };
        let full = |answer| {
            self.take(prompt, written.min(most.completion));
            answer
        };
        // Nobody knows what it took: it may be all it can.
        let lost = |error| {
            self.take(most.prompt, most.completion);
            Err(error)
        };
        let turned_away = |error| {
            self.take(0, 0);
            Err(error)
        };
        match what {
            // Honest, with more or fewer tokens than we count, and thoughts that nobody sees.
            0..=5 => {
                let prompt = prompt + (most.prompt - prompt) * share / 100;
                self.take(prompt, most.completion);
                answer(Some(prompt), Some(most.completion))
            }
            6 | 7 => full(answer(None, None)),
            8 => full(answer(Some(0), Some(0))),
            9 => full(answer(Some(prompt * share / 100), Some(written * share / 100))),
            10 => full(answer(None, Some(written * share / 100))),
            11 if share < 20 => full(answer(Some(most.prompt + 1 + share), None)),
            11 if share < 40 => full(answer(Some(prompt), Some(most.completion + 1))),
            11 if share < 60 => full(answer(Some(u64::MAX), Some(u64::MAX))),
            11 => full(answer(Some(prompt), None)),
            12 => turned_away(ModelError::Unauthorized { status: 401, said: said() }),
            13 => turned_away(ModelError::NotFound { said: said() }),
            14 => turned_away(ModelError::BadRequest { status: 400, said: said() }),
            15 => turned_away(ModelError::RateLimited { retry_after: None, said: said() }),
            16 => turned_away(ModelError::TooLong { said: said() }),
            17 => {
                self.take(prompt, 0);
                Err(ModelError::Declined { said: said(), written: 0 })
            }
            18 => lost(ModelError::Server { status: 500, retry_after: None, said: said() }),
            19 => lost(ModelError::Connection { said: said() }),
            20 => lost(ModelError::TimedOut { after: Duration::ZERO }),
            21 => lost(ModelError::Oversized { max_bytes: 1 }),
            22 => lost(ModelError::Unreadable { why: said() }),
            _ => {
                self.take(most.prompt, most.completion);
                self.hung.notify_one();
                std::future::pending().await
            }
        }
    }
}

fn request(dice: &mut Dice) -> ModelRequest {
    let texts =
        ["Say hi.", "error[E0308]: mismatched types at src/main.rs:12345:67 0x7fff5694dc58", "नमस्ते, यह क्या है? ====="];
    let text = dice.pick(&texts).repeat(usize::try_from(1 + dice.below(6)).unwrap());
    let schema = json!({ "type": "object", "properties": { "lessons": { "type": "array" } } });
    let form = match dice.below(4) {
        0 => RequestedFormat::Text,
        1 => RequestedFormat::Json,
        2 => RequestedFormat::Schema(AnswerSchema { name: "s".to_owned(), schema }),
        _ => RequestedFormat::Tools(vec![ModelTool {
            name: "f".to_owned(),
            description: "Does.".to_owned(),
            parameters: schema,
        }]),
    };
    let messages = vec![ModelMessage::System { text: "Be brief.".to_owned() }, ModelMessage::User { text }];
    ModelRequest { messages, form, max_output_tokens: u32::try_from(dice.below(200)).unwrap() }
}

/// Some caps, each now and then none, and rather too small than too large.
fn caps(dice: &mut Dice) -> SpendCaps {
    let mut some = |most: u64| if dice.below(3) == 0 { 0 } else { 400 + dice.below(most) };
    SpendCaps {
        calls_per_reflection: u32::try_from(some(1) % 7).unwrap(),
        tokens_per_reflection: some(4000),
        usd_per_reflection: some(8000) as f64 / 1e6,
        tokens_per_day: some(12_000),
        usd_per_day: some(24_000) as f64 / 1e6,
        tokens_per_project_day: some(8000),
        usd_per_project_day: some(16_000) as f64 / 1e6,
    }
}

/// What the files say, read in the simplest way: by day and project, and by day.
fn recorded(directory: &Path) -> (BTreeMap<(String, String), Taken>, BTreeMap<String, Taken>) {
    let (mut projects, mut days) = (BTreeMap::<_, Taken>::new(), BTreeMap::<_, Taken>::new());
    for file in std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()) {
        let day = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut calls = BTreeMap::<String, (String, Taken)>::new();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let number = |key: &str| line[key].as_u64().unwrap();
            let taken = (number("promptTokens") + number("completionTokens"), number("microUsd"));
            let call = calls.entry(line["id"].as_str().unwrap().to_owned()).or_default();
            call.1 = taken;
            if let Some(project) = line["project"].as_str() {
                call.0 = project.to_owned();
            }
        }
        for (project, taken) in calls.into_values() {
            add(projects.entry((day.clone(), project)).or_default(), taken);
            add(days.entry(day.clone()).or_default(), taken);
        }
    }
    (projects, days)
}

fn assert_within(taken: Taken, tokens: u64, usd: f64, what: &str) {
    assert!(tokens == 0 || taken.0 <= tokens, "{what}: {} tokens of {tokens}", taken.0);
    assert!(usd == 0.0 || taken.1 as f64 <= usd * 1e6 + 1e-6, "{what}: {} micro-dollars of {usd} dollars", taken.1);
}

fn check(seed: u64, caps: &SpendCaps, truth: &Truth, directory: &Path) {
    let (projects, days) = recorded(directory);
    for (id, (calls, taken)) in &truth.reflections {
        let what = format!("seed {seed}, truth of reflection {id}");
        assert!(caps.calls_per_reflection == 0 || *calls <= caps.calls_per_reflection, "{what}: {calls} calls");
        assert_within(*taken, caps.tokens_per_reflection, caps.usd_per_reflection, &what);
    }
    for (name, found) in [("truth", &truth.projects), ("ledger", &projects)] {
        for (key, taken) in found {
            let what = format!("seed {seed}, {name} of project {key:?}");
            assert_within(*taken, caps.tokens_per_project_day, caps.usd_per_project_day, &what);
        }
    }
    for (name, found) in [("truth", &truth.days), ("ledger", &days)] {
        for (day, taken) in found {
            assert_within(*taken, caps.tokens_per_day, caps.usd_per_day, &format!("seed {seed}, {name} of {day}"));
        }
    }
    // What was taken is written down.
    for (day, taken) in &truth.days {
        let written = days.get(day).copied().unwrap_or_default();
        assert!(written.0 >= taken.0 && written.1 >= taken.1, "seed {seed}: {written:?} of {taken:?} on {day}");
    }
}

/// A directory in memory where there is one: thousands of syncs are waited for here.
fn directory() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// Asks as a retrying caller does, and lets go of a call that hangs. Says how many questions were answered and refused.
async fn ask(model: &GovernedModel<Hostile>, request: &ModelRequest) -> (u64, u64) {
    for _ in 0..3 {
        let hung = Arc::clone(&model.inner.hung);
        let answer = tokio::select! {
            answer = model.send_request(request) => answer,
            () = hung.notified() => return (0, 0),
        };
        match answer {
            Err(ModelError::Refused { .. }) => return (0, 1),
            Err(error) if error.is_transient() => {}
            _ => return (1, 0),
        }
    }
    (0, 0)
}

async fn run(seed: u64) -> (u64, u64) {
    let mut dice = Dice(seed);
    let directory = directory();
    let caps = caps(&mut dice);
    let prices =
        TokenPrices { input_per_million: dice.below(400) as f64 / 100.0, output_per_million: dice.below(9) as f64 };
    let seconds = Arc::new(AtomicI64::new(1_794_830_400));
    let truth = Arc::new(Mutex::new(Truth::default()));
    let governor = |_| {
        let seconds = Arc::clone(&seconds);
        SpendGovernor::new(directory.path().join("ledger"), "e", prices, caps, Arc::new(move || moment(&seconds)))
    };
    let governors = [0, 1].map(governor);
    let mut made = 0;
    let mut reflection = |dice: &mut Dice| {
        made += 1;
        let project = *dice.pick(&PROJECTS);
        let hostile = Hostile {
            dice: Mutex::new(Dice(dice.below(u64::MAX))),
            truth: Arc::clone(&truth),
            seconds: Arc::clone(&seconds),
            prices,
            project: project.to_owned(),
            reflection: made,
            hung: Arc::new(Notify::new()),
        };
        GovernedModel::new(hostile, Arc::new(dice.pick(&governors).reflection_allowance(project)))
    };
    let mut models = [reflection(&mut dice), reflection(&mut dice)];
    let mut total = (0, 0);
    for _ in 0..STEPS {
        match dice.below(8) {
            0 => _ = seconds.fetch_add(40_000, Ordering::SeqCst),
            1 | 2 => models[usize::try_from(dice.below(2)).unwrap()] = reflection(&mut dice),
            3 => {
                let (one, two) = (request(&mut dice), request(&mut dice));
                let (one, two) = tokio::join!(ask(&models[0], &one), ask(&models[1], &two));
                add(&mut total, one);
                add(&mut total, two);
            }
            _ => add(&mut total, ask(dice.pick(&models), &request(&mut dice)).await),
        }
    }
    if directory.path().join("ledger").exists() {
        std::fs::remove_file(directory.path().join("ledger/lock")).unwrap();
        check(seed, &caps, &truth.lock().unwrap(), &directory.path().join("ledger"));
    }
    total
}

#[test]
fn no_cap_is_passed_whatever_an_endpoint_does() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut total = (0, 0);
    for seed in 0..RUNS {
        add(&mut total, runtime.block_on(run(seed)));
    }
    // Caps that let nothing or everything through would prove nothing.
    let (answered, refused) = total;
    assert!(answered > RUNS && refused > RUNS, "{answered} answered, {refused} refused");
}
