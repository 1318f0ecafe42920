use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn request(flags: &[(&str, &str)]) -> ConfigLoadRequest {
    let flags = flags.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let environment = ProcessEnvironment { home: Some("/dev/null/home".into()), ..ProcessEnvironment::default() };
    ConfigLoadRequest { environment, project_root: "/nowhere/project".into(), flags, ..ConfigLoadRequest::default() }
}

fn check_error(request: &ConfigLoadRequest, expected: &str) {
    let error = load_config(request).map(|loaded| loaded.config).expect_err("must be refused");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn the_published_defaults() {
    let config = load_config(&request(&[])).expect("the defaults must load").config;
    let archivist = serde_json::to_value(&config.archivist).expect("plain data");
    assert_eq!(
        archivist,
        serde_json::json!({
            "enabled": true, "maxMemoriesPerRun": 5, "minImportanceToPersist": 0.3,
            "reflectOn": {"sessionSuccess": true, "sessionFailure": true, "healerInvocation": true}
        })
    );
    assert_eq!((config.memory.backend, config.memory.sync), (MemoryBackend::Jsonl, SyncMode::Durable));
    assert_eq!(config.memory.max_line_bytes, 4 * 1024 * 1024);
}

#[test]
fn every_bound_holds() {
    let check = |key: &str, allowed: &[&str], refused: &[&str]| {
        for text in allowed {
            assert!(load_config(&request(&[(key, text)])).is_ok(), "{key} = {text}");
        }
        for text in refused {
            let error = load_config(&request(&[(key, text)])).map(|loaded| loaded.config).expect_err(key).to_string();
            assert!(error.starts_with(&format!("`{key}` must be ")), "{error}");
        }
    };
    check("maxMemoriesPerRun", &["1", "1000"], &["0", "1001", "-1", "1.5", "many"]);
    check("minImportanceToPersist", &["0", "1"], &["-0.1", "1.1", "NaN"]);
    let backends: &[&str] = if cfg!(feature = "postgres") { &["jsonl", "postgres"] } else { &["jsonl"] };
    check("memory.backend", backends, &["JSONL", "mysql", ""]);
    check("memory.dir", &["a", "/a"], &[""]);
    check("memory.sync", &["durable", "lazy"], &["never"]);
    check("memory.lockTimeoutSeconds", &["1", "3600"], &["0", "3601"]);
    check("memory.versionsKept", &["1"], &["0"]);
    check("memory.maxLineBytes", &["1024"], &["1023", "1073741825"]);
    check("memory.foldInBytes", &["1"], &["0", "1073741825"]);
    check("recall.maxResults", &["1"], &["0", "1001"]);
    check("recall.gate", &["1"], &["0", "10001"]);
    check("recall.floor", &["0", "1"], &["-0.1", "1.1"]);
    check("recall.near", &["0", "1"], &["-0.1", "1.1"]);
    check("recall.far", &["0", "1"], &["-0.1", "1.1"]);
    check("recall.weights.recency", &["0", "1000"], &["-0.1", "1000.1", "inf"]);
    check("recall.halfLifeDays.lesson", &["0.01", "36500"], &["0", "-1", "inf"]);
    check("recall.halfLifeDays.decision", &["90"], &["0", "40000"]);
}

#[test]
fn the_weights_are_not_all_zero() {
    let zero = |key| (key, "0");
    let weights = ["recall.weights.importance", "recall.weights.recency", "recall.weights.relevance"].map(zero);
    assert!(load_config(&request(&weights[..2])).is_ok());
    check_error(
        &request(&weights),
        "the keys of `recall.weights` must not all be 0, found 0 for each in \
         command-line flag for recall.weights.importance and \
         command-line flag for recall.weights.recency and \
         command-line flag for recall.weights.relevance\n\
         hint: set at least one of them above 0",
    );
}

#[test]
fn a_project_memory_at_home_needs_a_home() {
    let mut request = request(&[("memory.dir", "~/memory")]);
    assert!(load_config(&request).is_ok());
    request.environment.home = None;
    check_error(
        &request,
        "`memory.dir` starts with ~ but the home directory is not known, found in command-line flag for memory.dir\n\
         hint: set HOME, or give the path in full",
    );
    // Without a home there are simply no shared memories.
    request.flags.clear();
    let memory = load_config(&request).expect("no home is no problem").config.memory;
    assert_eq!(memory.global_path(&request.project_root, None), None);
}

proptest! {
    /// A value is either refused by the check, in our words, or fits the typed configuration and comes out unchanged.
    #[test]
    fn what_the_check_lets_through_fits(
        key in prop::sample::select(layers::default_values().into_keys().collect::<Vec<_>>()),
        text in prop_oneof![
            any::<i64>().prop_map(|number| number.to_string()),
            (0..5000_i64).prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| number.to_string()),
            (0.0..1.0).prop_map(|number: f64| number.to_string()),
            ".*",
        ],
    ) {
        match load_config(&request(&[(&key, &text)])) {
            Ok(loaded) => {
                let whole = serde_json::to_value(&loaded.config).expect("plain data");
                for setting in &loaded.values {
                    let pointer = format!("/{}", setting.key.replace('.', "/"));
                    prop_assert_eq!(whole.pointer(&pointer), Some(&setting.value), "{}", setting.key);
                    prop_assert!(setting.value != Value::Null);
                }
            }
            Err(error) => {
                let why = error.to_string();
                // One threshold may be fine by itself and not beside the other.
                let is_refused = why.starts_with(&format!("`{key}` must be "))
                    || why.contains("must not be above")
                    || why.contains("by the user's own file alone");
                prop_assert!(is_refused, "{}", why);
            }
        }
    }
}
