//! What is purged is gone: from every file, after a kill at any moment, and nothing else goes with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, words};
use crate::hud_terminal::Terminal;
use crate::support::{Output, World, text};

/// Words that stand in one session, its lessons and what it leaves, and nowhere else.
const PLANTED: [&str; 3] = ["zanzibar heron", "quokka-77", "Ibis\"Kranich"];

/// The session that has them, and one that has not.
const SESSION: &str = "planted-session-4711";
const OTHER: &str = "other-session-0815";

/// What every command here is set to.
struct PurgeWorld {
    world: World,
    variables: Vec<(&'static str, String)>,
}

impl PurgeWorld {
    fn new() -> Self {
        let world = World::new();
        world.let_scripts_decide();
        let home = world.home();
        let place = |name: &str| text(&home.join(name)).to_owned();
        let variables = vec![
            ("ARCHIVIST__HOOKS__START_WORKER", "false".to_owned()),
            ("ARCHIVIST__WORKER__SETTLE_SECONDS", "0".to_owned()),
            ("ARCHIVIST__HUD__FILE", place("hud.jsonl")),
            ("ARCHIVIST__MODEL__CASSETTE_DIR", place("cassettes")),
            ("ARCHIVIST__PROGRESS__APPEND_LESSONS", "true".to_owned()),
            ("ARCHIVIST__MEMORY__FOLD_IN_BYTES", "1".to_owned()),
            ("ARCHIVIST__MEMORY__VERSIONS_KEPT", "1".to_owned()),
        ];
        Self { world, variables }
    }

    fn run_with(&self, arguments: &[&str], more: &[(&str, &str)], input: &str) -> Output {
        let variables: Vec<(&str, &str)> =
            self.variables.iter().map(|(name, value)| (*name, value.as_str())).chain(more.iter().copied()).collect();
        self.world.run_with(arguments, &variables, input)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[], "")
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status, 0, "{arguments:?} failed:\n{output}");
        output.stdout
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(arguments)).unwrap()
    }

    /// Writes the log of a session in which `what` failed and was mended.
    fn write_log(&self, session: &str, what: &str) -> PathBuf {
        let [check, error, fix, wish] = if session == OTHER {
            [
                "cargo build --release",
                "error: No space left on device while linking {}",
                "cargo clean -p assets",
                "Use tabs in the templates of {}.",
            ]
        } else {
            [
                "pytest -q",
                "E   ConnectionError: cannot reach {}\n1 failed",
                "docker compose up -d cache",
                "Always start the cache of {} before the tests.",
            ]
        };
        let fill = |text: &str| text.replace("{}", what);
        let path = self.world.project().join(format!("{session}.jsonl"));
        let lines = [
            json!({"session": {"id": session, "agent": "helper", "directory": self.world.project(), "title": what}}),
            json!({"role": "user", "content": if session == OTHER { "Build the templates.".to_owned() } else { format!("Please make the tests of {what} pass.") }}),
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a", "name": "bash", "arguments": {"command": check}}]}),
            json!({"role": "tool", "tool_call_id": "a", "exit_code": 1, "content": fill(error)}),
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "b", "name": "bash", "arguments": {"command": fix}}]}),
            json!({"role": "tool", "tool_call_id": "b", "exit_code": 0, "content": "Started"}),
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "bash", "arguments": {"command": check}}]}),
            json!({"role": "tool", "tool_call_id": "c", "exit_code": 0, "content": "1 passed"}),
            json!({"role": "user", "content": fill(wish)}),
        ];
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    }

    /// Reports a session as a hook does.
    fn report(&self, event: &str, session: &str, log: &Path, note: &str) {
        let payload = json!({
            "sessionId": session, "cwd": self.world.project(), "outcome": "failed", "logPaths": [text(log)],
            "taskId": note,
        });
        let output = self.run_with(&["hook", "generic", event], &[], &payload.to_string());
        assert_eq!(output.status, 0, "{output}");
    }

    /// Everything that happens in a project: two sessions, one of which has the planted words in all its parts.
    fn live(&self) {
        let all = PLANTED.join(" and ");
        let notes = self.world.project().join(".openagents/progress.md");
        std::fs::write(notes, "# Session Progress\n\n## Notes\n\nOurs.\n").unwrap();
        let plain = || {
            json!({
                "outcome_summary": "It is built.", "what_worked": [], "what_failed": [], "key_decisions": [],
                "candidates": [{
                    "kind": "preference", "category": "preference", "scope": "project", "importance": 0.9,
                    "summary": "Templates of the plain shop are indented with tabs",
                    "evidence": [{"step": 8, "quote": "Use tabs in the templates of the plain shop."}],
                }],
            })
            .to_string()
        };
        let answer = |what: &str| {
            json!({
                "outcome_summary": format!("It works with {what}."),
                "what_worked": [], "what_failed": [], "key_decisions": [],
                "candidates": [{
                    "kind": "lesson", "category": "environment", "scope": "project", "importance": 0.9,
                    "summary": format!("Start the cache of {what} before the tests"),
                    "rule": format!("IF {what} cannot be reached THEN start its cache"),
                    "evidence": [{"step": 8, "quote": format!("Always start the cache of {what} before the tests.")}],
                }],
            })
            .to_string()
        };
        for (session, what) in [(OTHER, "the plain shop"), (SESSION, all.as_str())] {
            let said = if session == OTHER { plain() } else { answer(what) };
            let model = Endpoint::answering([words(&said)]);
            let url = model.url();
            let with_model = [
                ("ARCHIVIST__MODEL__BASE_URL", url.as_str()),
                ("ARCHIVIST__MODEL__NAME", "tiny"),
                ("ARCHIVIST__MODEL__FORM", "json_schema"),
                ("ARCHIVIST__MODEL__CASSETTE", "record"),
            ];
            let log = self.write_log(session, what);
            self.report("session-end", session, &log, what);
            let output = self.run_with(&["worker", "--once"], &with_model, "");
            assert_eq!(output.status, 0, "{output}");
        }
        self.ok(&["add", "Dates are kept in UTC", "--tag", "time"]);
        self.ok(&["add", "Push images before the deployment", "--detail", "The registry is slow."]);
        // Something of the session that came later, by other ways.
        let log = self.world.project().join(format!("{SESSION}.jsonl"));
        self.report("session-start", SESSION, &log, &all);
        self.report("session-start", OTHER, &log, "plain");
        let mut longer = std::fs::read_to_string(&log).unwrap();
        longer += &format!("{}\n", json!({"role": "user", "content": "And once more."}));
        std::fs::write(&log, longer).unwrap();
        self.report("session-end", SESSION, &log, &all);
        let lesson = self.planted_lesson();
        self.ok(&["feedback", "ignore", &lesson, "--run", SESSION]);
        self.ok(&["forget", &lesson]);
        self.ok(&["restore", &lesson, "--version", "1"]);
        self.ok(&["compact"]);
    }

    /// The short name of a lesson with the planted words.
    fn planted_lesson(&self) -> String {
        let lessons = self.json(&["list", "--all", "--json"]);
        let found = lessons.as_array().unwrap().iter().find(|lesson| lesson.to_string().contains("zanzibar"));
        found.expect("a lesson with the planted words")["alias"].as_str().unwrap().to_owned()
    }

    /// The files below the home that are Archivist's.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect_files(&self.world.home(), &mut files);
        // The agents' logs are theirs.
        files.retain(|path, _| path.parent() != Some(&*self.world.project()));
        files
    }

    /// Where any of these words stands: as it is, escaped, and in UTF-16, also in names.
    fn find(&self, words: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        for (path, bytes) in self.files() {
            let is_packed = [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd]].iter().any(|magic| bytes.starts_with(magic));
            assert!(!is_packed, "{} is compressed, so this test must unpack it", path.display());
            for word in words {
                let name = path.to_string_lossy();
                if is_in(&bytes, word) || name.contains(word) {
                    found.push(format!("`{word}` is in {}", path.display()));
                }
            }
        }
        found
    }

    fn assert_gone(&self, words: &[&str]) {
        let found = self.find(words);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    /// The lessons without the planted words, as they are listed, and what is recalled of them.
    fn rest(&self) -> (Vec<Value>, Vec<Value>) {
        let planted = |value: &Value| ["zanzibar", "quokka"].iter().any(|word| value.to_string().contains(word));
        let list = self.json(&["list", "--all", "--json"]).as_array().unwrap().clone();
        let mut list: Vec<Value> = list.into_iter().filter(|lesson| !planted(lesson)).collect();
        // That they were given to the session that is purged is not to be known.
        for lesson in &mut list {
            let lesson = lesson.as_object_mut().unwrap();
            lesson.remove("usageCount");
            lesson.remove("lastUsedAt");
            lesson["counters"].as_object_mut().unwrap().retain(|name, _| name != "exposures" && name != "lastUsedAt");
        }
        let recalled = self.json(&["recall", "dates in UTC", "--json"]);
        let items: Vec<Value> = recalled["items"].as_array().into_iter().flatten().cloned().collect();
        (list, items.into_iter().filter(|item| !planted(item)).map(|item| item["id"].clone()).collect())
    }
}

fn collect_files(folder: &Path, out: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_files(&path, out);
        } else {
            out.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
        }
    }
}

/// Returns true if a word is in these bytes, in any spelling.
fn is_in(bytes: &[u8], word: &str) -> bool {
    let escaped = serde_json::to_string(word).unwrap();
    let escaped = escaped.trim_matches('"').to_owned();
    let twice = serde_json::to_string(&escaped).unwrap().trim_matches('"').to_owned();
    let wide: String = word.chars().flat_map(|character| [character, '\0']).collect();
    let stored = String::from_utf8_lossy(bytes);
    [word.to_owned(), word.to_lowercase(), word.to_uppercase(), escaped, twice, wide]
        .iter()
        .any(|form| stored.contains(form.as_str()))
}

/// The planted words and the names of what has them.
fn traces(setting: &PurgeWorld) -> Vec<String> {
    let lessons = setting.json(&["list", "--all", "--json"]);
    let planted = lessons.as_array().unwrap().iter().filter(|lesson| lesson.to_string().contains("zanzibar"));
    let mut traces: Vec<String> = planted.map(|lesson| lesson["id"].as_str().unwrap().to_owned()).collect();
    let episodes = setting.json(&["episodes", "--json"]);
    let own = episodes.as_array().unwrap().iter().filter(|episode| episode["sessionId"] == SESSION);
    traces.extend(own.map(|episode| episode["id"].as_str().unwrap().to_owned()));
    assert!(traces.len() >= 2, "{traces:?}");
    traces
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn a_session_is_purged_with_everything_that_it_left() {
    let setting = PurgeWorld::new();
    setting.live();
    let before = setting.find(&PLANTED);
    for name in ["lessons", "episodes.jsonl", "ledger.jsonl", "queue/new", "queue/done", "cassettes", "progress.md"] {
        assert!(before.iter().any(|found| found.contains(name)), "{name} has nothing planted: {before:#?}");
    }
    let traces = traces(&setting);
    let rest = setting.rest();
    let planned = setting.json(&["purge", "--session", SESSION, "--dry-run", "--json"]);
    let untouched = setting.files();
    setting.ok(&["purge", "--session", SESSION, "--dry-run"]);
    assert_eq!(setting.files(), untouched, "a dry run wrote something");
    let done = setting.json(&["purge", "--session", SESSION, "--yes", "--json"]);
    assert_eq!(planned["erased"], done["erased"], "{planned} {done}");
    assert_eq!(planned["agentLogs"].as_array().unwrap().len(), 1, "{planned}");
    setting.assert_gone(&PLANTED);
    setting.assert_gone(&[SESSION]);
    setting.assert_gone(&strs(&traces));
    assert_eq!(setting.rest(), rest);
    setting.ok(&["doctor"]);
    assert!(!setting.ok(&["recall", "start the cache of the zanzibar heron"]).contains("zanzibar"));
    // Its log is still there, and is not learned from again.
    let log = setting.world.project().join(format!("{SESSION}.jsonl"));
    setting.report("session-end", SESSION, &log, "again");
    setting.ok(&["worker", "--once"]);
    let refused = setting.run(&["reflect", "--file", text(&log), "--again"]);
    assert!(refused.to_string().contains("the session was purged"), "{refused}");
    setting.assert_gone(&PLANTED);
    let nothing = setting.run(&["purge", "--session", "no-such-session", "--yes"]);
    assert_eq!(nothing.status, 1);
    assert!(nothing.stderr.contains("nothing to erase: nothing is kept of session"), "{nothing}");
    let notes = std::fs::read_to_string(setting.world.memory().join("erasures.jsonl")).unwrap();
    let note: Value = serde_json::from_str(notes.lines().next().unwrap()).unwrap();
    assert_eq!((&note["askedBy"], &note["erased"]), (&json!("person"), &done["erased"]));
    let feed = std::fs::read_to_string(setting.world.home().join("hud.jsonl")).unwrap();
    assert!(feed.contains("archivist_records_erased"), "{feed}");
}

#[test]
fn a_text_is_purged_in_every_spelling() {
    let setting = PurgeWorld::new();
    setting.live();
    let rest = setting.rest();
    for planted in PLANTED {
        assert!(!setting.find(&[planted]).is_empty(), "{planted} is nowhere");
    }
    setting.ok(&["purge", "--match", "ZANZIBAR  Heron", "--yes"]);
    setting.assert_gone(&PLANTED[..1]);
    assert_eq!(setting.rest(), rest);
    for planted in &PLANTED[1..] {
        let said = setting.run(&["purge", "--match", planted, "--yes"]);
        assert!(said.status == 0 || said.stderr.contains("nothing to erase: no record holds this text"), "{said}");
        assert!(!said.to_string().contains(planted), "{said}");
        setting.assert_gone(&[planted]);
    }
    assert_eq!(setting.rest(), rest);
    let by_stdin = setting.run_with(&["purge", "--match", "-", "--yes"], &[], "registry is slow\n");
    assert!(by_stdin.status == 0 && by_stdin.stdout.contains("lessons: 1"), "{by_stdin}");
    let short = setting.run(&["purge", "--match", "a b", "--yes"]);
    assert!(short.status == 2 && short.stderr.contains("must have 4 characters at least"), "{short}");
}

#[test]
fn a_lesson_and_an_episode_are_purged_by_their_names() {
    let setting = PurgeWorld::new();
    setting.live();
    let lesson = setting.planted_lesson();
    let id = setting.json(&["show", &lesson, "--json"])["id"].as_str().unwrap().to_owned();
    let rest = setting.rest();
    setting.ok(&["purge", &lesson, "--yes"]);
    setting.assert_gone(&[&id]);
    assert_eq!(setting.rest(), rest);
    let episodes = setting.json(&["episodes", "--json"]);
    let own = episodes.as_array().unwrap().iter().find(|episode| episode["sessionId"] == SESSION).unwrap();
    let episode = own["id"].as_str().unwrap();
    setting.ok(&["purge", episode.get(..12).unwrap(), "--yes"]);
    setting.assert_gone(&[episode]);
    assert_eq!(setting.rest(), rest);
    let unknown = setting.run(&["purge", "mem-nothing", "--yes"]);
    assert!(unknown.status == 1 && unknown.stderr.contains("there is no lesson and no episode"), "{unknown}");
    let many = setting.run(&["purge", "mem-01", "--yes"]);
    assert!(many.status == 1 && many.stderr.contains("is the beginning of"), "{many}");
}

#[test]
fn a_purge_takes_a_person() {
    let world = World::new();
    world.ok(&["add", "Dates are kept in UTC"]);
    world.ok(&["purge", "m-001", "--dry-run"]);
    let refused = world.run(&["purge", "m-001", "--yes"]);
    assert_eq!(refused.status, 1, "{refused}");
    assert!(refused.stderr.contains("this is for a person to decide"), "{refused}");
    let variable = [("ARCHIVIST__DECISIONS__WITHOUT_TERMINAL", "true")];
    assert_ne!(world.run_with(&["purge", "m-001", "--yes"], &variable, "").status, 0);
    assert!(world.ok(&["list"]).contains("Dates are kept in UTC"));
    for (answer, is_left) in [("n\r", true), ("y\r", false)] {
        let mut terminal = Terminal::start(&world, &["purge", "m-001"], &[]);
        terminal.shows("erase for good: ");
        terminal.press(answer);
        terminal.finish();
        assert_eq!(world.ok(&["list"]).contains("Dates are kept in UTC"), is_left, "{answer}");
    }
}

/// How many purges are killed.
fn kills() -> u64 {
    std::env::var("ARCHIVIST_TEST_PURGE_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(60)
}

#[test]
fn a_purge_that_is_killed_is_finished_by_the_next_command() {
    let setting = PurgeWorld::new();
    setting.live();
    let traces = traces(&setting);
    let rest = setting.rest();
    let home = setting.world.home();
    let saved = tempfile::tempdir().unwrap();
    let state = [".local", "project", "hud.jsonl", "cassettes"];
    let copy = |from: &Path, to: &Path| {
        for name in state {
            let _ = std::fs::remove_dir_all(to.join(name));
            copy_all(&from.join(name), &to.join(name));
        }
    };
    copy(&home, saved.path());
    let purge = ["purge", "--session", SESSION, "--yes"];
    let began = Instant::now();
    setting.ok(&purge);
    let whole = began.elapsed();
    let (mut done, mut half, mut none) = (0, 0, 0);
    for number in 0..kills() {
        copy(saved.path(), &home);
        let mut command = setting.world.command(&purge);
        command.envs(setting.variables.iter().map(|(name, value)| (*name, value.as_str())));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The moments of death are spread over the whole purge, in no order.
        let part = u32::try_from(number * 7919 % 1000).unwrap();
        std::thread::sleep(whole * part / 1000);
        let _ = child.kill();
        child.wait().unwrap();
        let is_interrupted = setting.world.memory().join("purge.next").exists();
        let left = setting.find(&PLANTED);
        setting.ok(&["status"]);
        assert!(!setting.world.memory().join("purge.next").exists());
        match (is_interrupted, left.is_empty()) {
            (true, _) => half += 1,
            (false, true) => done += 1,
            (false, false) => {
                // It had not begun.
                none += 1;
                setting.ok(&purge);
            }
        }
        setting.assert_gone(&PLANTED);
        setting.assert_gone(&[SESSION]);
        setting.assert_gone(&strs(&traces));
        assert_eq!(setting.rest(), rest, "kill {number}");
    }
    assert!(half > 0, "none of {done} + {none} purges was killed midway");
    println!("{} kills: {none} before it began, {half} midway, {done} after the end", kills());
}

fn copy_all(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    let Ok(entries) = std::fs::read_dir(from) else { return };
    std::fs::create_dir_all(to).unwrap();
    for entry in entries.flatten() {
        copy_all(&entry.path(), &to.join(entry.file_name()));
    }
}

#[test]
fn writers_lose_nothing_while_a_purge_runs() {
    let setting = PurgeWorld::new();
    setting.live();
    let stop = AtomicBool::new(false);
    let log = setting.world.project().join(format!("{OTHER}.jsonl"));
    let added: Vec<BTreeSet<String>> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let (setting, stop, log) = (&setting, &stop, &log);
                scope.spawn(move || {
                    let mut added = BTreeSet::new();
                    for number in 0..200 {
                        let text = format!("Writer {writer} keeps its note {number} for later use");
                        setting.ok(&["add", &text]);
                        setting.report("session-end", &format!("w{writer}-n{number}"), log, "plain");
                        added.insert(text);
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                    added
                })
            })
            .collect();
        let first = setting.run(&["purge", "--match", "zanzibar heron", "--yes"]);
        let second = setting.run(&["purge", "--session", SESSION, "--yes"]);
        stop.store(true, Ordering::Relaxed);
        assert_eq!((first.status, second.status), (0, 0), "{first}{second}");
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    setting.assert_gone(&PLANTED[..1]);
    setting.assert_gone(&[SESSION]);
    let listed = setting.ok(&["list", "--all", "--json"]);
    for text in added.iter().flatten() {
        assert!(listed.contains(text), "`{text}` is lost");
    }
    let jobs = added.iter().map(BTreeSet::len).sum::<usize>();
    let waiting = std::fs::read_dir(setting.world.memory().join("queue/new")).unwrap().count();
    assert!(waiting >= jobs, "{waiting} of {jobs} jobs are left");
}

/// A server that runs sees at once that something is gone.
#[cfg(feature = "serve")]
#[test]
fn a_server_that_runs_no_longer_gives_what_is_purged() {
    let setting = PurgeWorld::new();
    setting.live();
    let variables: Vec<(&str, &str)> = setting.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let server = crate::server::Server::start_with(&setting.world, &[], &variables);
    assert!(server.get("/v1/lessons").body.contains("zanzibar"));
    assert!(server.get("/v1/episodes").body.contains(SESSION));
    setting.ok(&["purge", "--session", SESSION, "--yes"]);
    assert!(!server.get("/v1/lessons").body.contains("zanzibar"));
    assert!(!server.get("/v1/episodes").body.contains(SESSION));
    drop(server);
    std::thread::sleep(Duration::from_millis(50));
    setting.assert_gone(&PLANTED);
}

/// In a fleet every table of the server is looked through, and every file of the machine.
#[cfg(feature = "postgres")]
#[test]
fn a_session_is_purged_from_every_table_of_a_server() {
    let Some(shared) = crate::postgres_server::shared() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let url = runtime.block_on(async {
        let url = crate::postgres_server::database(shared, "purge").await;
        archivist_core::memory::postgres::migrate_schema(&crate::stores::server_at(&url)).await.unwrap();
        url
    });
    let mut setting = PurgeWorld::new();
    setting.variables.extend([
        ("ARCHIVIST__MEMORY__BACKEND", "postgres".to_owned()),
        ("ARCHIVIST_POSTGRES_URL", url.clone()),
        ("ARCHIVIST__PROJECT__KEY", "shop".to_owned()),
    ]);
    setting.live();
    let traces = traces(&setting);
    let rest = setting.rest();
    let dump = || runtime.block_on(dump_tables(&url));
    let before = dump();
    let words: Vec<&str> = PLANTED.into_iter().chain([SESSION]).chain(strs(&traces)).collect();
    for table in ["revisions", "episodes", "facts", "jobs", "events", "commits", "lessons", "vocabulary"] {
        let has_some = words.iter().chain(&["zanzibar"]).any(|word| is_in(before[table].as_bytes(), word));
        assert!(has_some, "{table} has nothing planted");
    }
    setting.ok(&["purge", "--session", SESSION, "--yes"]);
    for (table, rows) in dump() {
        for word in words.iter().chain(&["zanzibar", "quokka"]) {
            assert!(!is_in(rows.as_bytes(), word), "`{word}` is in {table}: {rows}");
        }
    }
    setting.assert_gone(&PLANTED);
    setting.assert_gone(&[SESSION]);
    assert_eq!(setting.rest(), rest);
    setting.ok(&["doctor"]);
    setting.ok(&["purge", "--match", "registry is slow", "--yes"]);
    assert!(dump().values().all(|rows| !rows.contains("registry is slow")));
    let log = setting.world.project().join(format!("{SESSION}.jsonl"));
    let refused = setting.run(&["reflect", "--file", text(&log), "--again"]);
    assert!(refused.to_string().contains("the session was purged"), "{refused}");
}

/// Every row of every table, as text.
#[cfg(feature = "postgres")]
async fn dump_tables(url: &str) -> BTreeMap<String, String> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'archivist'";
    let mut dumped = BTreeMap::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        let select = format!("SELECT coalesce(string_agg(t::text, chr(10)), '') FROM archivist.{table} t");
        let rows: String = client.query_one(&select, &[]).await.unwrap().get(0);
        // Rows as text double the quotes and the backslashes of JSON.
        dumped.insert(table, rows.replace("\"\"", "\"").replace("\\\\", "\\"));
    }
    drop(client);
    driver.abort();
    dumped
}
