use std::io::Read;

use serde_json::json;

use crate::domain::SessionDetails;
use crate::domain::SkippedLogLine;
use crate::domain::TrajectoryEvent;
use crate::ingest::ReaderSettings;
use crate::ingest::atif::read_documents;

fn cut(text: &str, end: usize) -> &str {
    text.get(..end).expect("between characters")
}

fn told(text: &str) -> Vec<TrajectoryEvent> {
    let mut events = Vec::new();
    read_documents(&mut text.as_bytes(), ReaderSettings::default(), &mut events).expect("memory does not fail");
    events
}

/// Steps, and what divides them, in short.
fn short(events: &[TrajectoryEvent]) -> Vec<String> {
    let short = |event: &TrajectoryEvent| match event {
        TrajectoryEvent::Begin => Some("begin".to_owned()),
        TrajectoryEvent::Step(step) => Some(format!("{} {}", step.number, step.text)),
        TrajectoryEvent::Skipped(skipped) => Some(skipped.why.clone()),
        _ => None,
    };
    events.iter().filter_map(short).collect()
}

const TWO: &str = r#"{"steps": [{"source": "user", "message": "a"}, {"source": "agent", "message": "b"}], "agent": {"name": "x"}, "session_id": "s"}"#;

#[test]
fn keys_may_come_in_any_order() {
    let events = told(TWO);
    assert_eq!(short(&events), ["1 a", "2 b"]);
    let about =
        SessionDetails { session_id: Some("s".to_owned()), agent: Some("x".to_owned()), ..SessionDetails::default() };
    assert_eq!(events.last(), Some(&TrajectoryEvent::About(Box::new(about))));
}

#[test]
fn a_document_that_is_cut_off_keeps_its_steps() {
    let end = TWO.find(r#""b""#).expect("there");
    let events = told(cut(TWO, end));
    assert_eq!(short(&events), ["1 a", "the document is cut off after step 1"]);
    assert!(matches!(events.last(), Some(TrajectoryEvent::Skipped(SkippedLogLine { line: 1, .. }))));
    for end in 1..TWO.len() {
        let events = told(cut(TWO, end));
        assert!(matches!(events.last(), Some(TrajectoryEvent::Skipped(_))), "cut at {end}");
    }
}

#[test]
fn a_document_that_breaks_keeps_what_came_before() {
    let events = told(&TWO.replace(r#"{"source": "agent""#, r#"{source: "agent""#));
    assert_eq!(short(&events), ["1 a", "the document is no JSON after step 1"]);
}

#[test]
fn several_documents_are_several_trajectories() {
    for text in [format!("[{TWO}, {TWO}]"), format!("{TWO}\n{TWO}\n"), format!("{TWO}{TWO}")] {
        assert_eq!(short(&told(&text)), ["1 a", "2 b", "begin", "1 a", "2 b"], "{text}");
    }
    let mixed = format!("[7, {TWO}, [{TWO}], null, {}]", cut(TWO, 50));
    assert_eq!(
        short(&told(&mixed)),
        [
            "a JSON value that is no trajectory",
            "1 a",
            "2 b",
            "a JSON value that is no trajectory",
            "a JSON value that is no trajectory",
            "begin",
            "1 a",
            "the document is cut off after step 1 of trajectory 2",
        ]
    );
}

#[test]
fn any_json_is_read_without_complaint() {
    for text in ["{}", "[]", "7", "null", "\"x\"", "", r#"{"steps": 7}"#, r#"{"steps": {"a": 1}, "agent": []}"#] {
        assert!(short(&told(text)).len() <= 1, "{text}");
    }
    let strange = r#"{"steps": [1, {"tool_calls": 7, "observation": [[], 1], "metrics": [], "extra": "x"}], "subagent_trajectories": [1, null, {}], "final_metrics": 3}"#;
    assert_eq!(short(&told(strange)), ["what should be step 1 is no object", "1 ", "begin"]);
}

fn embedded(children: usize, length: usize) -> serde_json::Value {
    let child = |n: usize| json!({"trajectory_id": format!("t{n}"), "steps": [{"source": "user", "message": "c".repeat(length)}, {"source": "agent"}]});
    (0..children).map(child).collect()
}

#[test]
fn embedded_trajectories_come_behind_their_parent() {
    let parent = json!({"session_id": "s"});
    let steps = json!([{"source": "user", "message": "p"}]);
    let metrics = json!({"total_cost_usd": 1});
    for order in
        [["subagent_trajectories", "steps", "final_metrics"], ["steps", "subagent_trajectories", "final_metrics"]]
    {
        let mut text = parent.to_string();
        text.pop();
        for key in order {
            let value = match key {
                "steps" => &steps,
                "final_metrics" => &metrics,
                _ => &embedded(2, 1),
            };
            text.push_str(&format!(", \"{key}\": {value}"));
        }
        text.push('}');
        let events = told(&text);
        assert_eq!(short(&events), ["1 p", "begin", "1 c", "2 ", "begin", "1 c", "2 "], "{order:?}");
        let total = events.iter().position(|event| matches!(event, TrajectoryEvent::Total(_)));
        assert!(total < events.iter().position(|event| *event == TrajectoryEvent::Begin), "{order:?}");
        let child = events.iter().skip_while(|event| **event != TrajectoryEvent::Begin).nth(1);
        let Some(TrajectoryEvent::About(about)) = child else { panic!("{child:?}") };
        assert_eq!(about.parent_session_id.as_deref(), Some("s"));
        let named = |event: &TrajectoryEvent| matches!(event, TrajectoryEvent::About(about) if about.trajectory_id.as_deref() == Some("t0"));
        assert!(events.iter().any(named));
    }
}

#[test]
fn too_much_embedded_is_told_at_once_and_nothing_is_lost() {
    let many = embedded(200, 60_000);
    let before = format!(
        r#"{{"session_id": "s", "subagent_trajectories": {many}, "steps": [{{"source": "user", "message": "p"}}]}}"#
    );
    let after = format!(
        r#"{{"session_id": "s", "steps": [{{"source": "user", "message": "p"}}], "subagent_trajectories": {many}, "final_metrics": {{"total_cost_usd": 1}}}}"#
    );
    for text in [before, after] {
        let events = told(&text);
        let steps = events.iter().filter(|event| matches!(event, TrajectoryEvent::Step(_))).count();
        assert_eq!(steps, 401);
        let again = events.iter().rposition(|event| *event == TrajectoryEvent::Begin).expect("the parent goes on");
        let is_named =
            matches!(&events[again + 1], TrajectoryEvent::About(about) if about.session_id.as_deref() == Some("s"));
        assert!(is_named, "{:?}", events[again + 1]);
    }
}

#[test]
fn embedded_trajectories_end_somewhere() {
    let mut text = String::new();
    for _ in 0..40 {
        text.push_str(r#"{"steps": [{"source": "user", "message": "x"}], "subagent_trajectories": ["#);
    }
    text.push_str(&"]}".repeat(40));
    let told = short(&told(&text));
    assert_eq!(told.iter().filter(|told| *told == "1 x").count(), 17);
    assert!(told.contains(&"trajectories embedded too deep".to_owned()));
    assert!(!told.iter().any(|told| told.starts_with("the document")));
}

#[test]
fn a_cut_in_an_embedded_trajectory_keeps_both() {
    let text = r#"{"steps": [{"source": "user", "message": "p"}], "subagent_trajectories": [{"steps": [{"source": "user", "message": "c"}, {"sou"#;
    assert_eq!(short(&told(text)), ["1 p", "begin", "1 c", "the document is cut off after step 1"]);
}

#[test]
fn long_values_are_cut_and_counted() {
    let ids = vec!["12345"; 50_000].join(",");
    let long = "x".repeat(1_000_000);
    let text = format!(
        r#"{{"steps": [{{"source": "agent", "message": "{long}", "metrics": {{"prompt_tokens": 3, "prompt_token_ids": [{ids}]}}}}, {{"source": "user"}}]}}"#
    );
    let events = told(&text);
    assert!(matches!(&events[0], TrajectoryEvent::Step(step) if step.text.len() < 300_000));
    assert!(
        events.iter().any(|event| matches!(event, TrajectoryEvent::Spent(1, usage) if usage.prompt_tokens == Some(3)))
    );
    assert!(matches!(events.last(), Some(TrajectoryEvent::Cut(cut)) if cut.values == 2));
}

#[test]
fn a_log_that_cannot_be_read_to_its_end_is_an_error_with_the_steps_before() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let end = TWO.find(r#""b""#).expect("there");
    let mut events = Vec::new();
    let read = read_documents(&mut cut(TWO, end).as_bytes().chain(Broken), ReaderSettings::default(), &mut events);
    assert_eq!(read.expect_err("an error").to_string(), "the disk is gone");
    assert_eq!(short(&events), ["1 a"]);
}
