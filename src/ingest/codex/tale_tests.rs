//! Events in a form that a test can state.

use proptest::prelude::*;
use serde_json::Value;

use crate::domain::{Event, OutputOf, Speaker, Usage};
use crate::ingest::{Format, Reader, Reading, Rules};

/// What a reader makes of lines.
pub(in crate::ingest) fn events(reader: &mut dyn Reader, lines: &[Value]) -> Vec<Event> {
    let mut events = Vec::new();
    for (number, line) in (1..).zip(lines) {
        reader.line(number, line.clone(), &mut events);
    }
    reader.end(&mut events);
    events
}

/// What is made of a file of the fixtures.
pub(in crate::ingest) fn fixture(name: &str, format: Format) -> Vec<Event> {
    let bytes = std::fs::read(format!("{}/fixtures/logs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut events = Vec::new();
    let read = Reading::new(Rules::default()).read(&mut bytes.as_slice(), &mut events).unwrap();
    assert_eq!(read, format, "{name}");
    events
}

/// The lines of a file of the fixtures.
pub(in crate::ingest) fn lines(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{}/fixtures/logs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    match serde_json::from_str(&text) {
        Ok(document) => vec![document],
        Err(_) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

/// One line an event; `⏎` is a line's end.
pub(in crate::ingest) fn tale(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| told(event).replace('\n', "⏎")).collect()
}

fn told(event: &Event) -> String {
    match event {
        Event::Step(step) => {
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
        Event::More(step, text, reasoning) => {
            format!("{step} more: {text}{}", reasoning.iter().map(|more| format!(" ({more})")).collect::<String>())
        }
        Event::Call(step, call) => format!("{step} calls {} {} {}", call.id, call.tool, call.arguments),
        Event::Output(of, output) => {
            let mut words = match of {
                OutputOf::Call(id) => format!("{id} gives {}", output.text),
                OutputOf::Step(step) => format!("step {step} gives {}", output.text),
            };
            words.extend(output.exit_code.map(|code| format!(" exit {code}")));
            words.extend(output.failed.map(|failed| if failed { " failed" } else { " fine" }));
            words.extend(output.duration_ms.map(|duration| format!(" {duration} ms")));
            words.push_str(if output.interrupted { " interrupted" } else { "" });
            words
        }
        Event::Spent(step, usage) => format!("{step} spent {}", figures(usage)),
        Event::Total(usage) => format!("total {}", figures(usage)),
        Event::Happened(step, happening, text) => format!("after {step} {}: {text}", happening.as_str()),
        Event::Elsewhere(elsewhere) => {
            format!("{} elsewhere: {}", elsewhere.part.as_str(), elsewhere.id.as_deref().unwrap_or("-"))
        }
        Event::Skipped(skipped) => format!("skipped {}: {}", skipped.line, skipped.why),
        Event::About(about) => {
            let about = serde_json::to_value(about).unwrap();
            let parts: Vec<String> = about
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| format!("{key}={}", value.as_str().unwrap()))
                .collect();
            format!("about {}", parts.join(" "))
        }
        Event::Outcome(outcome) => {
            format!("{} by {}: {}", outcome.status.as_str(), outcome.from, outcome.error.as_deref().unwrap_or("-"))
        }
        other => format!("{other:?}"),
    }
}

fn figures(usage: &Usage) -> String {
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
pub(in crate::ingest) fn counts(events: &[Event]) -> (usize, usize, usize, Usage) {
    let steps = |is: &dyn Fn(&crate::domain::Step) -> bool| {
        events.iter().filter(|event| matches!(event, Event::Step(step) if !step.copied && is(step))).count()
    };
    let calls = events.iter().filter(|event| matches!(event, Event::Call(..))).count();
    let mut total = Usage::default();
    for event in events {
        match event {
            Event::Total(all) => return (steps(&|_| true), calls, steps(&|s| s.speaker == Speaker::User), *all),
            Event::Spent(_, spent) => total = total.plus(*spent),
            _ => {}
        }
    }
    (steps(&|_| true), calls, steps(&|step| step.speaker == Speaker::User), total)
}

/// Steps are numbered 1, 2, 3, and nothing names a step that was not told.
pub(in crate::ingest) fn is_in_order(events: &[Event]) -> bool {
    let mut last = 0;
    events.iter().all(|event| match event {
        Event::Step(step) => {
            last += 1;
            step.number == last
        }
        Event::Call(step, _) | Event::More(step, ..) | Event::Spent(step, _) => (1..=last).contains(step),
        Event::Happened(step, ..) => *step <= last,
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
