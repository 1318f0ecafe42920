//! Real logs of public projects, where they are at hand; and a session made here, with facts hidden in it.

use std::path::{Path, PathBuf};

use archivist_core::context::{DigestInput, GatheredLogs, LogGatherer, SignalKind, render_digest};
use archivist_core::ingest::{LogFormat, ReaderSettings, SessionReader};
use archivist_core::redact::Redactor;
use archivist_core::service::{ReadProgress, inspect_log};
use archivist_core::text::Tokenizer;
use serde_json::{Value, json};

/// The folder of real logs, if there is one.
fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("ARCHIVIST_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: ARCHIVIST_CORPUS names no folder of real logs");
    }
    folder
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn read(path: &Path) -> Result<(LogFormat, GatheredLogs), String> {
    let redactor = Redactor::new();
    inspect_log(path, ReaderSettings { strict: true }, &redactor, &ReadProgress::default())
        .map(|log| (log.format, log.gathered))
        .map_err(|unreadable| unreadable.to_string())
}

/// Files of the corpus that hold no session.
fn is_stranger(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    let strangers =
        ["README", "expected", "memories", "reflections", "episodes", "checkpoint", "parallel-run", "project.json"];
    strangers.iter().any(|stranger| name.starts_with(stranger))
}

#[test]
fn every_real_log_is_read() {
    let Some(corpus) = corpus() else { return };
    let mut read_files = 0;
    for path in files(&corpus).into_iter().filter(|path| !is_stranger(path)) {
        let (_, gathered) = read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let is_told = gathered.survey.counts.steps > 0 || !gathered.trajectories.is_empty();
        assert!(is_told, "nothing was read of {}", path.display());
        read_files += 1;
    }
    assert!(read_files > 80, "{read_files}");
}

#[test]
fn counts_and_verdicts_are_those_of_independent_readers() {
    let Some(corpus) = corpus() else { return };
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(corpus.join("expected.json")).unwrap()).unwrap();
    for (name, figures) in expected.as_object().unwrap() {
        let (_, gathered) = read(&corpus.join(name)).unwrap();
        let survey = &gathered.survey;
        let mut wrong = Vec::new();
        let mut check = |what: &str, found: Value| {
            if let Some(figure) = figures.get(what).filter(|figure| **figure != found) {
                wrong.push(format!("{what}: {found} instead of {figure}"));
            }
        };
        let usage = survey.usage;
        let input = usage.prompt_tokens.unwrap_or_default()
            - usage.cached_tokens.unwrap_or_default()
            - usage.cache_write_tokens.unwrap_or_default();
        check("steps", json!(survey.counts.steps));
        check("toolCalls", json!(survey.counts.tool_calls));
        check("copiedSteps", json!(survey.counts.copied_steps));
        check("schemaVersion", json!(gathered.trajectories[0].about.schema_version));
        check("harborValid", json!(survey.findings_total == 0));
        check("promptTokensOverSteps", json!(usage.prompt_tokens));
        check("completionTokensOverSteps", json!(usage.completion_tokens));
        check("inputTokens", json!(input));
        check("outputTokens", json!(usage.completion_tokens.unwrap_or_default()));
        check("cacheReadTokens", json!(usage.cached_tokens.unwrap_or_default()));
        check("cacheCreationTokens", json!(usage.cache_write_tokens.unwrap_or_default()));
        check("flaggedToolErrors", json!(survey.counts.flagged_tool_errors));
        check("unparsableLines", json!(survey.skipped_total));
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

#[test]
fn counting_tokens_line_by_line_would_be_wrong() {
    let Some(corpus) = corpus() else { return };
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(corpus.join("expected.json")).unwrap()).unwrap();
    let mut inflated = 0;
    for (name, figures) in expected.as_object().unwrap() {
        let Some(by_line) = figures["outputTokensIfCountedPerLine"].as_u64() else { continue };
        let (_, gathered) = read(&corpus.join(name)).unwrap();
        let by_message = gathered.survey.usage.completion_tokens.unwrap_or_default();
        assert!(by_message <= by_line, "{name}");
        inflated += u64::from(by_message < by_line);
    }
    assert!(inflated >= 8, "{inflated}");
}

#[test]
fn the_big_failures_of_a_real_project_are_found() {
    let Some(corpus) = corpus() else { return };
    let (format, gathered) = read(&corpus.join("openagents/trajectories.jsonl")).unwrap();
    assert_eq!((format, gathered.survey.counts.trajectories), (LogFormat::OpenAgentsTrajectories, 140));
    let times = |passage: &str| {
        let repeated = gathered.signals.iter().filter(|signal| signal.kind == SignalKind::RepeatedFailure);
        repeated.filter(|signal| signal.text.contains(passage)).map(|signal| signal.times).collect::<Vec<_>>()
    };
    assert_eq!(times("Exceeded model context window size"), [85]);
    assert_eq!(times("FM_MAX_CONTEXT_CHARS is not defined"), [20]);
}

/// A long session in which twenty things are worth remembering, and each of the twenty in its own words.
fn planted() -> (String, Vec<String>) {
    let mut lines = vec![json!({"session": {"id": "long-1", "agent": "helper"}})];
    let mut facts = Vec::new();
    let mut call = 0;
    let mut dice = 7_u64;
    let mut roll = move |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(dice >> 33).unwrap() % sides
    };
    let mut run = |lines: &mut Vec<Value>, command: &str, code: i32, output: &str| {
        call += 1;
        let id = format!("c{call}");
        lines.push(json!({"role": "assistant", "content": "", "tool_calls": [{"id": id, "name": "shell", "arguments": {"command": command}}]}));
        lines.push(json!({"role": "tool", "tool_call_id": id, "exit_code": code, "content": output}));
    };
    const WORDS: &[&str] = &[
        "module", "returns", "the", "parsed", "order", "when", "cache", "holds", "an", "entry", "of", "kind", "x",
        "=>", "fn", "let",
    ];
    for fact in 0..20 {
        for filler in 0..24 {
            let mut output = String::new();
            while output.len() < 2600 {
                output.push_str(WORDS[roll(WORDS.len())]);
                output.push(if roll(12) == 0 { '\n' } else { ' ' });
            }
            run(&mut lines, &format!("sed -n 1,80p src/part{fact}_{filler}.rs"), 0, &output);
            lines.push(
                json!({"role": "assistant", "content": format!("Part {fact}-{filler} looks as expected, going on.")}),
            );
        }
        let name =
            ["alpha", "bravo", "cedar", "delta", "ember", "fjord", "grove", "heron", "ivory", "jetty"][fact % 10];
        match fact % 4 {
            0 => {
                let error = format!("error[E0{}]: cannot find function `{name}_total` in this scope", 400 + fact);
                run(
                    &mut lines,
                    &format!("cargo build -p {name}"),
                    101,
                    &format!("{error}\n --> src/{name}.rs:7:3\nerror: could not compile `{name}`"),
                );
                facts.push(error);
            }
            1 => {
                let error = format!("TypeError: {name}Client.connect is not a function");
                run(&mut lines, &format!("node {name}{fact}.js"), 1, &error);
                let edit = json!({"id": format!("e{fact}"), "name": "edit", "arguments": {"path": format!("src/{name}{fact}.js"), "old_string": "connect", "new_string": "open"}});
                lines.push(json!({"role": "assistant", "content": "", "tool_calls": [edit]}));
                lines.push(json!({"role": "tool", "tool_call_id": format!("e{fact}"), "content": "edited"}));
                run(&mut lines, &format!("node {name}{fact}.js"), 0, "ok");
                facts.push(format!("src/{name}{fact}.js"));
            }
            2 => {
                let words = format!("No, don't touch the {name} migration number {fact}; write a new one.");
                lines.push(json!({"role": "user", "content": words}));
                facts.push(words);
            }
            _ => {
                let test = format!("{name}::retries_{fact}");
                let red = format!(
                    "test {test} ... FAILED\n\nfailures:\n    {test}\n\ntest result: FAILED. 9 passed; 1 failed; 0 ignored"
                );
                run(&mut lines, &format!("cargo test -p {name}{fact}"), 101, &red);
                run(
                    &mut lines,
                    &format!("cargo test -p {name}{fact}"),
                    0,
                    "test result: ok. 10 passed; 0 failed; 0 ignored",
                );
                facts.push(test);
            }
        }
    }
    (lines.iter().map(|line| format!("{line}\n")).collect(), facts)
}

#[test]
fn twenty_facts_in_a_long_session_are_all_in_its_digest() {
    let (log, facts) = planted();
    let tokenizer = Tokenizer::new();
    let redactor = Redactor::new();
    let mut gathering = LogGatherer::new(&redactor);
    SessionReader::new(ReaderSettings::default()).read_log(&mut log.as_bytes(), &mut gathering).unwrap();
    let gathered = gathering.finish();
    let material = DigestInput { trajectories: &gathered.trajectories, signals: &gathered.signals, notes: None };
    let digest = render_digest(&material, 24_000, &tokenizer);
    assert!(log.len() > 1_200_000, "{} bytes are no 300,000 tokens", log.len());
    assert!(tokenizer.count_tokens(&digest.text) <= 24_000, "{}", digest.tokens);
    let lost: Vec<&String> = facts.iter().filter(|fact| !digest.text.contains(fact.as_str())).collect();
    assert!(lost.is_empty(), "{} of {} facts are lost: {lost:#?}", lost.len(), facts.len());
}
