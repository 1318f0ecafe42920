//! Events in a form that a test can state.

use proptest::prelude::*;
use serde_json::Value;

use crate::domain::{OutputOwner, Speaker, TokenUsage, TrajectoryEvent};
use crate::ingest::{LogFormat, LogReader, ReaderSettings, SessionReader};

/// What a reader makes of lines.
pub(in crate::ingest) fn events(reader: &mut dyn LogReader, lines: &[Value]) -> Vec<TrajectoryEvent> {
    let mut events = Vec::new();
    for (number, line) in (1..).zip(lines) {
        reader.read_log_line(number, line.clone(), &mut events);
    }
    reader.finish_log(&mut events);
    events
}

/// What is made of a file of the fixtures.
pub(in crate::ingest) fn fixture(name: &str, format: LogFormat) -> Vec<TrajectoryEvent> {
    let bytes = std::fs::read(format!("{}/../../fixtures/logs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut events = Vec::new();
    let read = SessionReader::new(ReaderSettings::default()).read_log(&mut bytes.as_slice(), &mut events).unwrap();
    assert_eq!(read, format, "{name}");
    events
}

/// The lines of a file of the fixtures.
pub(in crate::ingest) fn lines(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{}/../../fixtures/logs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    match serde_json::from_str(&text) {
        Ok(document) => vec![document],
        Err(_) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

/// One line an event; `⏎` is a line's end.
pub(in crate::ingest) fn script(events: &[TrajectoryEvent]) -> Vec<String> {
    events.iter().map(|event| told(event).replace('\n', "⏎")).collect()
}

fn told(event: &TrajectoryEvent) -> String {
    match event {
        TrajectoryEvent::Step(step) => {
            let mut words = format!("{} {}", step.number, step.speaker.as_str());
            for (mark, is_set) in [(" copied", step.copied), (" extra", !step.extra.is_empty())] {
                words.push_str(if is_set { mark } else { "" });
            }
            for (mark, value) in [(" of ", &step.subagent), (" by ", &step.model)] {
                words.extend(value.iter().map(|value| format!("{mark}{value}")));
            }
            words.push_str(&format!(": {}", step.text));
            words.extend(step.reasoning.iter().map(|reasoning| format!(" ({reasoning})")));
            words
        }
        TrajectoryEvent::More(step, text, reasoning) => {
            format!("{step} more: {text}{}", reasoning.iter().map(|more| format!(" ({more})")).collect::<String>())
        }
        TrajectoryEvent::Call(step, call) => format!("{step} calls {} {} {}", call.id, call.tool, call.arguments),
        TrajectoryEvent::Output(of, output) => {
            let mut words = match of {
                OutputOwner::Call(id) => format!("{id} gives {}", output.text),
                OutputOwner::Step(step) => format!("step {step} gives {}", output.text),
            };
            words.extend(output.exit_code.map(|code| format!(" exit {code}")));
            words.extend(output.failed.map(|failed| if failed { " failed" } else { " fine" }));
            words.extend(output.duration_ms.map(|duration| format!(" {duration} ms")));
            words.push_str(if output.interrupted { " interrupted" } else { "" });
            words
        }
        TrajectoryEvent::Spent(step, usage) => format!("{step} spent {}", figures(usage)),
        TrajectoryEvent::Total(usage) => format!("total {}", figures(usage)),
        TrajectoryEvent::Happened(step, happening, text) => format!("after {step} {}: {text}", happening.as_str()),
        TrajectoryEvent::Elsewhere(elsewhere) => {
            format!("{} elsewhere: {}", elsewhere.part.as_str(), elsewhere.id.as_deref().unwrap_or("-"))
        }
        TrajectoryEvent::Skipped(skipped) => format!("skipped {}: {}", skipped.line, skipped.why),
        TrajectoryEvent::About(about) => {
            let about = serde_json::to_value(about).unwrap();
            let parts: Vec<String> = about
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| format!("{key}={}", value.as_str().unwrap()))
                .collect();
            format!("about {}", parts.join(" "))
        }
        TrajectoryEvent::Outcome(outcome) => {
            format!("{} by {}: {}", outcome.status.as_str(), outcome.from, outcome.error.as_deref().unwrap_or("-"))
        }
        other => format!("{other:?}"),
    }
}

fn figures(usage: &TokenUsage) -> String {
    let figure = |figure: Option<u64>| figure.map_or_else(|| "?".to_owned(), |figure| figure.to_string());
    let mut words = format!(
        "in {} out {} cached {} written {}",
        figure(usage.prompt_tokens),
        figure(usage.completion_tokens),
        figure(usage.cached_tokens),
        figure(usage.cache_write_tokens)
    );
    words.extend(usage.cost_usd.map(|cost| format!(" ${cost}")));
    words
}

/// Steps that count, calls, prompts of people, and totals: what a table shows.
pub(in crate::ingest) fn counts(events: &[TrajectoryEvent]) -> (usize, usize, usize, TokenUsage) {
    let steps = |is: &dyn Fn(&crate::domain::Step) -> bool| {
        events.iter().filter(|event| matches!(event, TrajectoryEvent::Step(step) if !step.copied && is(step))).count()
    };
    let calls = events.iter().filter(|event| matches!(event, TrajectoryEvent::Call(..))).count();
    let mut total = TokenUsage::default();
    for event in events {
        match event {
            TrajectoryEvent::Total(all) => {
                return (steps(&|_| true), calls, steps(&|s| s.speaker == Speaker::User), *all);
            }
            TrajectoryEvent::Spent(_, spent) => total = total.add_usage(*spent),
            _ => {}
        }
    }
    (steps(&|_| true), calls, steps(&|step| step.speaker == Speaker::User), total)
}

/// Steps are numbered 1, 2, 3, and nothing names a step that was not told.
pub(in crate::ingest) fn is_in_order(events: &[TrajectoryEvent]) -> bool {
    let mut last = 0;
    events.iter().all(|event| match event {
        TrajectoryEvent::Step(step) => {
            last += 1;
            step.number == last
        }
        TrajectoryEvent::Call(step, _) | TrajectoryEvent::More(step, ..) | TrajectoryEvent::Spent(step, _) => {
            (1..=last).contains(step)
        }
        TrajectoryEvent::Happened(step, ..) => *step <= last,
        _ => true,
    })
}

/// Any JSON object whatever, with the words of a format in it.
pub(in crate::ingest) fn any_json(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let word = prop::sample::select(words).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..8)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
    .prop_map(|value| match value {
        Value::Object(_) => value,
        other => serde_json::json!({ "type": "response_item", "payload": other }),
    })
}

/// Changes one place of a value: drops it, changes its type or cuts it.
pub(in crate::ingest) fn mutate(value: &mut Value, path: &[prop::sample::Index], how: u8) {
    let Some((first, rest)) = path.split_first() else {
        return match how % 5 {
            0 => *value = Value::Null,
            1 => *value = Value::from(-7),
            2 => *value = serde_json::json!([{"type": "text"}, "x", 3]),
            3 => *value = serde_json::json!({"type": {"a": 1}, "text": null}),
            _ => {
                if let Value::String(text) = value {
                    *text = text.chars().take(text.chars().count() / 2).collect();
                }
            }
        };
    };
    match value {
        Value::Object(object) if !object.is_empty() => {
            let key = object.keys().nth(first.index(object.len())).unwrap().clone();
            if rest.is_empty() && how % 7 == 6 {
                object.remove(&key);
            } else {
                mutate(object.get_mut(&key).unwrap(), rest, how);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            let at = first.index(values.len());
            mutate(&mut values[at], rest, how);
        }
        other => mutate(other, &[], how),
    }
}
