//! Bugs that return: what was settled in one of many sessions is given back when its matter comes up again, and what
//! strangers wrote into a session never is.
//!
//! A model answers each reflection with the last thing that the agent said, and every tenth time with nonsense or not at
//! all. The sessions are our own (`fixtures/e2e`) and, where they are at hand, 150 that nobody here wrote.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use archivist_core::text::Tokenizer;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use wiremock::{Request, Respond, ResponseTemplate};

use crate::endpoint::{Endpoint, words};
use crate::support::World;

/// When everybody asks: after all sessions.
const NOW: &str = "2026-08-01T00:00:00Z";

/// The shares of bug reports whose deciding lesson must be in a block of so many tokens.
const BARS: [(usize, f64); 2] = [(1_000, 0.9), (500, 0.8)];

/// The share of unrelated prompts that must be left alone.
const SILENCE: f64 = 0.95;

/// One question in so many is answered with a fault.
const FAULT_EVERY: u64 = 10;

/// Longer than an attempt may take.
const HANG: Duration = Duration::from_millis(1_500);

/// As much of the last thing said becomes a lesson.
const LESSON_CHARACTERS: usize = 200;

/// Sessions, reports, and which session decides which report.
#[derive(Debug)]
struct Set {
    name: &'static str,
    sessions: Vec<Session>,
    tasks: Vec<Task>,
    gold: BTreeMap<String, Gold>,
}

#[derive(Debug, Deserialize)]
struct Session {
    session_id: String,
    ended_at: DateTime<Utc>,
    turns: Vec<Turn>,
    /// What a model that obeys the strangers in it says, where there are any.
    obeyed: Option<Obeyed>,
    /// A prompt on exactly the strangers' matter.
    asks: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Turn {
    role: String,
    text: String,
    call: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
struct Obeyed {
    step: String,
    quote: String,
    summary: String,
    #[serde(rename = "if")]
    condition: String,
    then: String,
}

#[derive(Debug, Deserialize)]
struct Task {
    task: String,
    prompt: String,
}

#[derive(Debug, Deserialize)]
struct Gold {
    session_id: String,
    /// The session whose decision this one changed.
    amends: Option<String>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/e2e")
}

fn records<T: for<'d> Deserialize<'d>>(path: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

impl Set {
    fn read(name: &'static str, folder: &Path) -> Self {
        let gold = std::fs::read_to_string(folder.join("gold.json")).unwrap();
        Self {
            name,
            sessions: records(&folder.join("sessions.jsonl")),
            tasks: records(&folder.join("tasks.jsonl")),
            gold: serde_json::from_str(&gold).unwrap(),
        }
    }
}

/// Writes a session where it is found, as old as it is.
fn write(world: &World, session: &Session) {
    let folder = world.project().join(".openagents/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}.jsonl", session.session_id));
    let turns = i32::try_from(session.turns.len()).unwrap();
    let began = session.ended_at - chrono::TimeDelta::minutes(i64::from(turns));
    let mut lines = vec![json!({"session": {
        "id": session.session_id, "agent": "helper", "directory": world.project(),
        "startedAt": began, "finishedAt": session.ended_at,
    }})];
    let mut waiting = String::new();
    for (minute, turn) in (1_i64..).zip(&session.turns) {
        let at = began + chrono::TimeDelta::minutes(minute);
        let mut line = json!({"role": turn.role, "content": turn.text, "timestamp": at});
        if let Some(call) = &turn.call {
            waiting = format!("c{minute}");
            line["tool_calls"] = json!([{"id": waiting, "name": call["name"], "arguments": call["arguments"]}]);
        }
        if turn.role == "tool" {
            line["tool_call_id"] = json!(waiting);
        }
        lines.push(line);
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    File::options().append(true).open(&path).unwrap().set_modified(session.ended_at.into()).unwrap();
}

/// What the agent said last, and where, by the digest that the model is shown.
fn last_said(digest: &str) -> Option<(String, String)> {
    let mut said: Option<(String, Vec<&str>)> = None;
    let mut is_open = false;
    for line in digest.lines() {
        let Some(mark) = line.strip_prefix("§ ") else {
            if let Some((_, text)) = said.as_mut().filter(|_| is_open) {
                text.push(line);
            }
            continue;
        };
        let (step, speaker) = mark.split_once(' ').unwrap_or((mark, ""));
        let is_step = step.strip_prefix('s').is_some_and(|number| number.parse::<u32>().is_ok());
        is_open = is_step && speaker.starts_with("agent");
        if is_open {
            let begun = speaker.split_once(": ").map(|(_, text)| text.trim_end_matches('…'));
            said = Some((step.to_owned(), begun.into_iter().collect()));
        }
    }
    let (step, text) = said?;
    let text = text.join("\n").trim().to_owned();
    (!text.is_empty()).then_some((step, text))
}

/// The first sentences, or the first words of a very long one.
fn opening(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= LESSON_CHARACTERS {
        return flat;
    }
    let cut: String = flat.chars().take(LESSON_CHARACTERS).collect();
    match cut.rsplit_once(". ") {
        Some((whole, _)) if whole.len() > LESSON_CHARACTERS / 4 => format!("{whole}."),
        _ => cut.rsplit_once(' ').map_or(cut.clone(), |(whole, _)| whole.to_owned()),
    }
}

/// A model that learns from each session what was said last in it, unless a stranger tells it something better.
struct Parrot {
    seed: u64,
    poisoned: HashMap<String, Obeyed>,
    asked: Mutex<HashMap<String, u64>>,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Broken,
    Busy,
    Torn,
    Hangs,
    Misquotes,
    Silent,
}

impl Parrot {
    /// What goes wrong with the nth question about a session, if anything does: the same in every run.
    fn fault(&self, session: &str, nth: u64) -> Option<Fault> {
        const FAULTS: [Fault; 6] =
            [Fault::Broken, Fault::Busy, Fault::Torn, Fault::Hangs, Fault::Misquotes, Fault::Silent];
        let hash = blake3::hash(format!("{}/{session}/{nth}", self.seed).as_bytes());
        let number = hash.as_bytes()[..8].iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        number.is_multiple_of(FAULT_EVERY).then(|| FAULTS[(number / FAULT_EVERY % 6) as usize])
    }

    fn lesson(&self, session: &str, digest: &str) -> Value {
        let (step, quote, summary, condition, then, importance) = match self.poisoned.get(session) {
            Some(Obeyed { step, quote, summary, condition, then }) => {
                (step.clone(), quote.clone(), summary.clone(), condition.as_str(), then.as_str(), 0.9)
            }
            None => {
                let Some((step, text)) = last_said(digest) else { return json!([]) };
                let quote: String = text.lines().next().unwrap_or_default().chars().take(150).collect();
                (step, quote, opening(&text), "", "", 0.6)
            }
        };
        json!([{
            "quotes": [{"step": step, "text": quote}], "summary": summary, "rule": {"if": condition, "then": then},
            "detail": "", "category": "decision", "scope": "project", "tool": "", "provider": "", "component": "",
            "tags": [], "importance": importance, "importance_reason": "it was settled", "same_as": [],
        }])
    }
}

impl Respond for Parrot {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let request: Value = serde_json::from_slice(&request.body).unwrap();
        let messages = request["messages"].as_array().unwrap();
        let text: String = messages.iter().filter_map(|message| message["content"].as_str()).collect();
        let Some((_, named)) = text.split_once("Session: ") else {
            // Whether two lessons say the same it cannot tell.
            return words(r#"{"pairs": []}"#);
        };
        let session = named.split(',').next().unwrap().to_owned();
        let log = named.split_once("<session-log-").and_then(|(_, log)| log.split_once("\n</session-log-")).unwrap();
        let nth = {
            let mut asked = self.asked.lock().unwrap();
            let nth = asked.entry(session.clone()).or_default();
            *nth += 1;
            *nth
        };
        let answer = |candidates: Value| {
            json!({"outcome_summary": "It was talked over.", "what_worked": [], "what_failed": [], "key_decisions": [],
                   "candidates": candidates})
            .to_string()
        };
        let mut lesson = self.lesson(&session, log.0);
        match self.fault(&session, nth) {
            None => words(&answer(lesson)),
            Some(Fault::Broken) => ResponseTemplate::new(500),
            Some(Fault::Busy) => ResponseTemplate::new(429).insert_header("retry-after", "0"),
            Some(Fault::Torn) => words(&answer(lesson).chars().take(90).collect::<String>()),
            Some(Fault::Hangs) => words(&answer(lesson)).set_delay(HANG),
            Some(Fault::Silent) => words(""),
            Some(Fault::Misquotes) => {
                lesson[0]["quotes"][0]["text"] = json!("nobody ever said these words here");
                words(&answer(lesson))
            }
        }
    }
}

/// A lesson that was given back.
#[derive(Debug)]
struct Given {
    summary: String,
    sessions: BTreeSet<String>,
}

/// A project whose sessions were all reflected on.
struct Project {
    world: World,
    /// The sessions behind each lesson.
    sources: HashMap<String, BTreeSet<String>>,
    tokens: Tokenizer,
}

impl Project {
    fn reflected_on(set: &Set, poisoned: &[Session], seed: u64) -> Self {
        let world = World::new();
        for session in set.sessions.iter().chain(poisoned) {
            write(&world, session);
        }
        world.trust();
        let obeyed = |session: &Session| Some((session.session_id.clone(), session.obeyed.clone()?));
        let endpoint = Endpoint::responding(Parrot {
            seed,
            poisoned: poisoned.iter().filter_map(obeyed).collect(),
            asked: Mutex::default(),
        });
        let url = endpoint.url();
        let variables = [
            ("ARCHIVIST__MODEL__BASE_URL", url.as_str()),
            ("ARCHIVIST__MODEL__NAME", "parrot"),
            ("ARCHIVIST__MODEL__FORM", "json_schema"),
            ("ARCHIVIST__MODEL__ATTEMPT_TIMEOUT_SECONDS", "1"),
            ("ARCHIVIST__MODEL__CAPS__TOKENS_PER_DAY", "0"),
        ];
        let done = world.run_with(&["batch", "--days", "365", "--yes", "--json", "--now", NOW], &variables, "");
        assert_eq!(done.status, 0, "{done}");
        let harvest: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(harvest["reflected"], set.sessions.len() + poisoned.len(), "{}", done.stderr);
        let lessons: Value = serde_json::from_str(&world.ok(&["list", "--all", "--json", "--now", NOW])).unwrap();
        let sources = lessons.as_array().unwrap().iter().map(|lesson| {
            let sessions = lesson["evidence"]["sessionIds"].as_array().unwrap().iter();
            (said(&lesson["id"]), sessions.map(said).collect())
        });
        let sources: HashMap<String, BTreeSet<String>> = sources.collect();
        for Gold { session_id, .. } in set.gold.values() {
            if !sources.values().any(|sessions| sessions.contains(session_id)) {
                let outcomes = harvest["outcomes"].as_array().unwrap();
                let outcome = outcomes.iter().find(|outcome| outcome["sessionId"] == session_id.as_str()).unwrap();
                println!("{}: nothing was learned of {session_id}: {outcome}", set.name);
            }
        }
        let mut strange: BTreeMap<String, usize> = BTreeMap::new();
        for lesson in lessons.as_array().unwrap() {
            let is_strange = |session: &Session| sources[&said(&lesson["id"])].contains(&session.session_id);
            if poisoned.iter().any(is_strange) {
                *strange.entry(said(&lesson["state"])).or_default() += 1;
            }
        }
        println!("{}: of {} poisoned sessions: {strange:?}", set.name, poisoned.len());
        println!("{}: {} lessons of {} sessions", set.name, sources.len(), set.sessions.len() + poisoned.len());
        Self { world, sources, tokens: Tokenizer::new() }
    }

    /// What is given for a prompt, and the block that it is given in.
    fn given(&self, prompt: &str, budget: usize) -> (Vec<Given>, String) {
        let budget_said = budget.to_string();
        let arguments = ["recall", prompt, "--budget", &budget_said, "--now", NOW];
        let block = self.world.ok(&arguments);
        let tokens = self.tokens.count_tokens(&block);
        assert!(tokens <= budget, "{tokens} tokens instead of {budget}:\n{block}");
        let reply = self.world.ok(&[&arguments[..], &["--json"]].concat());
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let items = reply["items"].as_array().unwrap().iter().filter(|item| item["exposed"] == true);
        let given = items.map(|item| Given {
            summary: said(&item["summary"]),
            sessions: self.sources[item["id"].as_str().unwrap()].clone(),
        });
        let given: Vec<Given> = given.collect();
        assert_eq!(given.is_empty(), block.is_empty(), "{prompt}:\n{block}");
        for one in &given {
            let begins: String = one.summary.chars().take(40).collect();
            assert!(block.contains(&begins), "{begins} is not in the block:\n{block}");
        }
        (given, block)
    }
}

fn said(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Where a session's lesson stands among what was given.
fn place(given: &[Given], session: &str) -> Option<usize> {
    given.iter().position(|one| one.sessions.contains(session))
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// Asks for everything, tells the figures, and holds them against the bars.
fn measure(set: &Set, seed: u64) {
    let poisoned: Vec<Session> = records(&fixtures().join("poisoned.jsonl"));
    let unrelated = std::fs::read_to_string(fixtures().join("unrelated.txt")).unwrap();
    let project = Project::reflected_on(set, &poisoned, seed);
    let is_poisoned = |one: &Given| poisoned.iter().any(|session| one.sessions.contains(&session.session_id));
    let mut failures: Vec<String> = Vec::new();
    let mut strange: BTreeSet<String> = BTreeSet::new();

    for (budget, bar) in BARS {
        let mut found = 0;
        for Task { task, prompt } in &set.tasks {
            let gold = &set.gold[task];
            let (given, _) = project.given(prompt, budget);
            strange.extend(given.iter().filter(|one| is_poisoned(one)).map(|one| one.summary.clone()));
            let newer = place(&given, &gold.session_id);
            found += usize::from(newer.is_some());
            println!(
                "{} {task} at {budget}: {}",
                set.name,
                match newer {
                    Some(place) => format!("{} of {}", place + 1, given.len()),
                    None => format!("not among {}", given.len()),
                }
            );
            let older = gold.amends.as_deref().and_then(|session| place(&given, session));
            if older.is_some_and(|older| newer.is_none_or(|newer| older < newer)) {
                failures.push(format!("{task} at {budget}: what was decided before comes first"));
            }
        }
        println!("{} at {budget} tokens: {found} of {}", set.name, set.tasks.len());
        if share(found, set.tasks.len()) < bar {
            failures.push(format!("only {found} of {} at {budget} tokens", set.tasks.len()));
        }
    }

    let prompts: Vec<&str> = unrelated.lines().collect();
    assert_eq!(prompts.len(), 50);
    let mut silent = 0;
    for prompt in &prompts {
        let (given, block) = project.given(prompt, BARS[0].0);
        strange.extend(given.iter().filter(|one| is_poisoned(one)).map(|one| one.summary.clone()));
        silent += usize::from(given.is_empty());
        if !given.is_empty() {
            println!("{} not silent on “{prompt}”:\n{block}", set.name);
        }
    }
    println!("{} silent on {silent} of {} unrelated prompts", set.name, prompts.len());
    if share(silent, prompts.len()) < SILENCE {
        failures.push(format!("silent on {silent} of {} unrelated prompts only", prompts.len()));
    }

    assert!(poisoned.len() >= 12);
    for session in &poisoned {
        let (given, _) = project.given(session.asks.as_deref().unwrap(), BARS[0].0);
        strange.extend(given.iter().filter(|one| is_poisoned(one)).map(|one| one.summary.clone()));
    }
    println!("{} strangers' lessons given: {}", set.name, strange.len());
    failures.extend(strange.iter().map(|summary| format!("a stranger's lesson was given: {summary}")));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_was_settled_once_is_given_back_when_the_bug_returns() {
    measure(&Set::read("own", &fixtures()), 7);
}

#[test]
fn what_was_settled_once_is_given_back_in_sessions_that_nobody_here_wrote() {
    let Some(bench) = std::env::var_os("ARCHIVIST_BENCH").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_BENCH does not name a folder of yardsticks");
        return;
    };
    measure(&Set::read("public", &bench.join("e2e")), 7);
}

#[test]
fn the_model_repeats_what_was_said_last() {
    let digest = "# Session\n§ s1 user\nWhy?\n§ s2 agent: Because of the …\n§ s3 user\nNo.\n§ s4 agent\nThen it is\nseven.\n\
                  § [… 3 lines, 90 bytes …]\nDone.\n§ s5 user\nYes.";
    assert_eq!(last_said(digest), Some(("s4".to_owned(), "Then it is\nseven.".to_owned())));
    assert_eq!(last_said("§ s1 user\nWhy?"), None);
    assert_eq!(opening(&"It is seven. ".repeat(20)).len(), 194);
    let parrot = Parrot { seed: 7, poisoned: HashMap::new(), asked: Mutex::default() };
    let faults = (0..1_000).filter(|session| parrot.fault(&session.to_string(), 1).is_some()).count();
    assert!((70..130).contains(&faults), "{faults} of 1,000");
}
