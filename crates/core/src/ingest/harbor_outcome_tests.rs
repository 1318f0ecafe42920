use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::*;

/// The outcome of a trial with these files.
fn trial(files: &[(&str, &str)]) -> Option<SessionOutcome> {
    let folder = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join("sort__a").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("agent/trajectory.json", "{}");
    files.iter().for_each(|(path, text)| write(path, text));
    read_trial_outcome(&folder.path().join("sort__a/agent/trajectory.json"))
}

fn expect(status: EpisodeStatus, reward: Option<f64>, error: Option<&str>, from: &str) -> Option<SessionOutcome> {
    Some(SessionOutcome { status, reward, error: error.map(str::to_owned), from: from.to_owned() })
}

#[test]
fn rewards_decide() {
    let check = |rewards: serde_json::Value, status: EpisodeStatus, reward: f64| {
        let result = json!({"verifier_result": {"rewards": rewards}, "exception_info": null, "finished_at": "2026-03-01T10:00:00Z"});
        assert_eq!(trial(&[("result.json", &result.to_string())]), expect(status, Some(reward), None, "result.json"));
    };
    check(json!({"reward": 1.0}), EpisodeStatus::Success, 1.0);
    check(json!({"reward": 1}), EpisodeStatus::Success, 1.0);
    check(json!({"reward": 0.4}), EpisodeStatus::Partial, 0.4);
    check(json!({"reward": 0.0}), EpisodeStatus::Failed, 0.0);
    check(json!({"reward": -1.0}), EpisodeStatus::Failed, -1.0);
    check(json!({"reward": 1.0, "partial": 0, "f2p": 1}), EpisodeStatus::Success, 1.0);
    check(json!({"style": 0.0, "tests": 1.0}), EpisodeStatus::Partial, 0.5);
    check(json!({"tests": 1.0}), EpisodeStatus::Success, 1.0);
    check(json!(1.0), EpisodeStatus::Success, 1.0);
}

#[test]
fn exceptions_fail_unless_a_reward_says_otherwise() {
    let result = |reward: serde_json::Value, exception: serde_json::Value| {
        json!({"verifier_result": reward, "exception_info": exception}).to_string()
    };
    let timeout = json!({
        "exception_type": "AgentTimeoutError",
        "exception_message": "Agent execution timed out after 900 seconds",
        "exception_traceback": "Traceback (most recent call last):\n  File \"trial.py\", line 1\nAgentTimeoutError: x\n",
        "occurred_at": "2026-03-01T10:00:00"
    });
    let said = "AgentTimeoutError: Agent execution timed out after 900 seconds";
    let reward = |reward: f64| json!({"rewards": {"reward": reward}});
    let check = |text: String, expected: Option<SessionOutcome>| {
        assert_eq!(trial(&[("result.json", &text)]), expected, "{text}");
    };
    check(result(json!(null), timeout.clone()), expect(EpisodeStatus::Failed, None, Some(said), "result.json"));
    check(result(reward(0.0), timeout.clone()), expect(EpisodeStatus::Failed, Some(0.0), Some(said), "result.json"));
    check(result(reward(1.0), timeout), expect(EpisodeStatus::Success, Some(1.0), Some(said), "result.json"));
    check(
        result(json!(null), json!({"exception_type": "Stop"})),
        expect(EpisodeStatus::Failed, None, Some("Stop"), "result.json"),
    );
    check(
        result(json!(null), json!({"exception_traceback": "Traceback\nValueError: bad\n\n"})),
        expect(EpisodeStatus::Failed, None, Some("ValueError: bad"), "result.json"),
    );
    check(result(json!(null), json!(null)), None);
    check("{\"verifier_result\": 7, \"exception_info\": [1]}".to_owned(), None);
    check("{\"verifier_result\": {\"rewards\"".to_owned(), None);
    check("[]".to_owned(), None);
}

#[test]
fn smaller_files_stand_in() {
    let traceback =
        "Traceback (most recent call last):\n  File \"a.py\", line 3\nasyncio.TimeoutError: took too long\n";
    assert_eq!(trial(&[]), None);
    assert_eq!(trial(&[("verifier/reward.txt", "1\n")]), expect(EpisodeStatus::Success, Some(1.0), None, "reward.txt"));
    assert_eq!(trial(&[("verifier/reward.txt", "0.5")]), expect(EpisodeStatus::Partial, Some(0.5), None, "reward.txt"));
    assert_eq!(trial(&[("verifier/reward.txt", "nan")]), None);
    assert_eq!(trial(&[("verifier/reward.txt", "")]), None);
    assert_eq!(
        trial(&[("verifier/reward.json", "{\"reward\": 0}")]),
        expect(EpisodeStatus::Failed, Some(0.0), None, "reward.json")
    );
    assert_eq!(
        trial(&[("exception.txt", traceback)]),
        expect(EpisodeStatus::Failed, None, Some("asyncio.TimeoutError: took too long"), "exception.txt")
    );
    assert_eq!(
        trial(&[("exception.txt", traceback), ("verifier/reward.txt", "0"), ("result.json", "{}")]),
        expect(EpisodeStatus::Failed, Some(0.0), Some("asyncio.TimeoutError: took too long"), "reward.txt")
    );
    let long = format!("{traceback}{}ValueError: the end\n", "line\n".repeat(100_000));
    assert_eq!(
        trial(&[("exception.txt", &long)]),
        expect(EpisodeStatus::Failed, None, Some("ValueError: the end"), "exception.txt")
    );
}

#[test]
fn only_the_folder_and_its_trial_are_looked_at() {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("runs")).unwrap();
    fs::write(folder.path().join("exception.txt"), "boom").unwrap();
    assert_eq!(read_trial_outcome(&folder.path().join("runs/t.json")), None);
    fs::write(folder.path().join("runs/exception.txt"), "bang").unwrap();
    assert_eq!(
        read_trial_outcome(&folder.path().join("runs/t.json")),
        expect(EpisodeStatus::Failed, None, Some("bang"), "exception.txt")
    );
    assert_eq!(read_trial_outcome(Path::new("")), None);
}

#[test]
fn what_is_too_long_or_no_file_is_not_read() {
    let long = format!("{{\"verifier_result\":{{\"rewards\":{{\"reward\":1}}}},\"x\":\"{}\"}}", "y".repeat(2_000_000));
    assert_eq!(trial(&[("result.json", &long)]), None);
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("result.json")).unwrap();
    fs::write(folder.path().join("elsewhere"), "boom").unwrap();
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join("exception.txt")).unwrap();
    assert_eq!(read_trial_outcome(&folder.path().join("t.json")), None);
}
