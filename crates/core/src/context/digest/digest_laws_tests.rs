//! What holds for every digest.

use proptest::prelude::*;

use super::super::line_marks::choose_line_mark;
use super::*;

/// A deterministic stream of words that no two sessions share.
struct Words(u64);

impl Words {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn line(&mut self, words: u64) -> String {
        const VOCABULARY: &[&str] = &[
            "build", "cart", "order", "module", "checks", "value", "loads", "page", "returns", "index", "state",
            "warning:", "error", "failed", "reads", "list", "item", "price", "view", "model", "cache", "route",
            "query", "token",
        ];
        (0..words)
            .map(|_| match self.next(5) {
                0 => format!("v{}", self.next(100_000)),
                _ => VOCABULARY[usize::try_from(self.next(VOCABULARY.len() as u64)).unwrap()].to_owned(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn text(&mut self, lines: u64) -> String {
        (0..lines)
            .map(|_| {
                let words = 4 + self.next(10);
                self.line(words) + "\n"
            })
            .collect()
    }
}

fn filler(number: u32, words: &mut Words) -> Step {
    match words.next(4) {
        0 => said(number, Speaker::Agent, &words.text(6)),
        1 => ran(number, &words.line(5), 0, &words.text(30)),
        2 => ran(number, &words.line(5), i32::from(words.next(3) == 0), &words.text(20)),
        _ => {
            let arguments = json!({ "file_path": format!("src/part{}.rs", words.next(900)) });
            called(number, "Read", arguments, ToolOutput { text: words.text(40), ..ToolOutput::default() })
        }
    }
}

#[test]
fn twenty_facts_survive_three_hundred_thousand_tokens() {
    let mut words = Words(7);
    let mut steps: Vec<Step> = Vec::new();
    let mut signals = Vec::new();
    let mut facts: Vec<String> = Vec::new();
    let push = |steps: &mut Vec<Step>, make: &dyn Fn(u32) -> Step| {
        let number = u32::try_from(steps.len()).unwrap() + 1;
        steps.push(make(number));
        number
    };
    for fact in 0..20_u32 {
        for _ in 0..45 {
            let number = u32::try_from(steps.len()).unwrap() + 1;
            steps.push(filler(number, &mut words));
        }
        match fact % 4 {
            // A failure, what was changed, and the pass.
            0 | 1 => {
                let error = format!("error[E{fact:04}]: the ledger of shop {fact} has no column `due_{fact}`");
                let cure =
                    format!("ALTER TABLE ledger_{fact} ADD COLUMN due_{fact} date; -- the migration was never run");
                let output = format!("{}{error}\n{}", words.text(40), words.text(40));
                let failed = push(&mut steps, &|at| ran(at, &format!("cargo test ledger_{fact}"), 101, &output));
                let before = words.text(15);
                let edit = json!({ "file_path": "migrations/1.sql", "old_string": "", "new_string": format!("{before}{cure}\n{before}") });
                let edited = push(&mut steps, &|at| called(at, "Edit", edit.clone(), ToolOutput::default()));
                let between = words.text(10);
                let passed = push(&mut steps, &|at| ran(at, &format!("cargo test ledger_{fact}"), 0, &between));
                let text = format!("`cargo test ledger_{fact}` failed and passes now, after: {cure}");
                signals.push(signal(SignalKind::Fixed, &[failed, edited, passed], passed, &text, &error));
                facts.push(error);
                facts.push(cure);
            }
            2 => {
                let words = format!("No, don't mock the gateway of shop {fact}: record it once and replay it.");
                let number = push(&mut steps, &|at| said(at, Speaker::User, &words));
                signals.push(signal(SignalKind::UserCorrection, &[number], number, "the user objects", &words));
                facts.push(words);
            }
            _ => {
                let test = format!("test cart::totals_{fact} ... FAILED (no edit since it passed)");
                let output = format!("{}{test}\n{}", words.text(60), words.text(30));
                let passed = push(&mut steps, &|at| ran(at, "cargo test cart", 0, "ok"));
                let failed = push(&mut steps, &|at| ran(at, "cargo test cart", 101, &output));
                signals.push(signal(SignalKind::FlakyTest, &[passed, failed], failed, "passes and fails", &test));
                facts.push(test);
            }
        }
    }
    let tokenizer = Tokenizer::new();
    let all: usize = steps.iter().flat_map(shown_texts).map(|text| tokenizer.count_tokens(&text)).sum();
    assert!((250_000..400_000).contains(&all), "{all} tokens");
    let session = trajectory(steps);
    let digest = made(std::slice::from_ref(&session), &signals, 24_000);
    assert!(digest.tokens <= 24_000 && digest.tokens > 20_000, "{}", digest.tokens);
    for fact in &facts {
        assert!(digest.text.contains(fact), "{fact}");
    }
    // They stand where they were said, too, and not only in the signals' own lines.
    let shown = digest.text.split_once("## Steps").unwrap().1;
    for quote in signals.iter().filter_map(|signal| signal.quote.as_deref()) {
        assert!(shown.contains(quote), "{quote}");
    }
    assert_eq!(digest.signals_left_out, 0);
    lines_are_of_their_step(std::slice::from_ref(&session), &digest);
}

/// Every line that is not ours occurs in the step under which it is shown.
fn lines_are_of_their_step(trajectories: &[Trajectory], digest: &Digest) {
    let Some((_, steps)) = digest.text.split_once("word for word.\n") else { return };
    let mark = choose_line_mark(trajectories, None) + " ";
    let mut under = Vec::new();
    for line in steps.lines() {
        let Some(ours) = line.strip_prefix(&mark) else {
            assert!(
                under.iter().any(|text: &String| text.contains(line)),
                "{line:?} is of no step, in {}",
                digest.text
            );
            continue;
        };
        let label = ours.split(' ').next().unwrap();
        if ["[…", "said", "thought", "call", "argument", "output"].contains(&label) {
            continue;
        }
        let (index, number) = match label.strip_prefix('t').and_then(|label| label.split_once(".s")) {
            Some((index, number)) => (index.parse::<usize>().unwrap(), number),
            None => (0, label.trim_start_matches('s')),
        };
        let number: Option<u32> = number.parse().ok();
        let of_number = trajectories[index].steps.iter().filter(|step| Some(step.number) == number);
        under = of_number.flat_map(shown_texts).map(std::borrow::Cow::into_owned).collect();
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z :§#\\[\\]…-]{0,60}",
        3 => prop::collection::vec("[ a-zA-Z0-9§/.:'\"{}]{0,40}", 0..30).prop_map(|lines| lines.join("\n")),
        1 => "(error: [a-z]{3,9}\r?\n){0,9}",
        1 => "\\PC{0,40}",
        1 => prop::collection::vec(any::<char>(), 0..200).prop_map(|all| all.into_iter().collect()),
        1 => ("[a-z ]{1,4}", 0..900_usize).prop_map(|(unit, times)| unit.repeat(times)),
    ]
}

fn speaker() -> impl Strategy<Value = Speaker> {
    prop_oneof![
        Just(Speaker::User),
        Just(Speaker::Agent),
        Just(Speaker::System),
        Just(Speaker::Tool),
        Just(Speaker::Other("ghost\nwriter".to_owned())),
    ]
}

fn output() -> impl Strategy<Value = ToolOutput> {
    (text(), any::<Option<bool>>(), prop::option::of(-1..3_i32), any::<Option<u64>>()).prop_map(
        |(text, failed, exit_code, duration_ms)| ToolOutput {
            text,
            failed,
            exit_code,
            duration_ms,
            ..ToolOutput::default()
        },
    )
}

fn call() -> impl Strategy<Value = ToolCall> {
    let arguments = prop_oneof![
        text().prop_map(|text| json!({ "command": text })),
        (text(), text()).prop_map(|(old, new)| json!({ "file_path": "a.rs", "old_string": old, "new_string": new })),
        text().prop_map(|text| json!({ "query": text, "deep": [{ "more": text, "n": 1 }], "none": null })),
        text().prop_map(serde_json::Value::String),
        text().prop_map(|text| json!([text, 1, true])),
    ];
    let tool =
        prop_oneof![Just("Bash".to_owned()), Just("Edit".to_owned()), Just("Read".to_owned()), "\\PC{0,9}", text()];
    (tool, arguments, prop::option::of(output())).prop_map(|(tool, arguments, output)| ToolCall {
        id: String::new(),
        tool,
        arguments,
        output,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let calls = prop::collection::vec(call(), 0..3);
    let outputs = prop::collection::vec(output(), 0..2);
    (speaker(), text(), prop::option::of(text()), calls, outputs, prop::bool::weighted(0.1)).prop_map(
        |(speaker, text, reasoning, calls, outputs, copied)| Step {
            speaker,
            text,
            reasoning,
            calls,
            outputs,
            copied,
            ..Step::default()
        },
    )
}

fn session() -> impl Strategy<Value = Trajectory> {
    (prop::collection::vec(step(), 0..25), prop::option::of(text()), 0..2_u32).prop_map(
        |(mut steps, title, skipped)| {
            for (step, number) in steps.iter_mut().zip(1..) {
                step.number = number * (1 + skipped);
            }
            Trajectory { about: SessionDetails { title, ..SessionDetails::default() }, ..trajectory(steps) }
        },
    )
}

fn found(trajectories: usize) -> impl Strategy<Value = Signal> {
    let kind = prop::sample::select(SignalKind::WORDS).prop_map(|word| SignalKind::parse(word).unwrap());
    let steps = prop::collection::vec(0..40_u32, 0..6);
    let index = 0..u32::try_from(trajectories).unwrap() + 1;
    (kind, steps, index, 0..40_u32, 0..90_u32, text(), text(), prop::option::of(0..3_usize)).prop_map(
        |(kind, steps, trajectory, step, times, text, quote, alike)| Signal {
            trajectory,
            times,
            error_family: alike.and_then(family),
            ..signal(kind, &steps, step, &text, &quote)
        },
    )
}

/// Trajectories, and signals of which some quote a step that is really there.
fn material() -> impl Strategy<Value = (Vec<Trajectory>, Vec<Signal>)> {
    prop::collection::vec(session(), 0..3).prop_flat_map(|trajectories| {
        let signals = prop::collection::vec((found(trajectories.len()), any::<(u16, u16)>()), 0..12);
        (Just(trajectories), signals).prop_map(|(trajectories, signals)| {
            let signals = signals
                .into_iter()
                .map(|(mut signal, (from, length))| {
                    let at = signal.trajectory as usize;
                    let steps = trajectories.get(at).map(|trajectory| trajectory.steps.as_slice()).unwrap_or_default();
                    if let Some(step) = steps.get(usize::from(from) % steps.len().max(1)) {
                        signal.step = step.number;
                        let text = shown_texts(step).into_iter().next().unwrap_or_default().into_owned();
                        let start = text.floor_char_boundary(usize::from(from) % text.len().max(1));
                        let end = text.floor_char_boundary(start + usize::from(length) % 300).max(start);
                        signal.quote = text.get(start..end).map(str::to_owned);
                    }
                    signal
                })
                .collect();
            (trajectories, signals)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_digest_is_never_over_budget_and_never_makes_anything_up(
        (trajectories, signals) in material(),
        budget in prop_oneof![0..60_usize, 0..1500_usize, 0..50_000_usize],
        notes in prop::option::of("[a-z#\n -]{0,400}"),
    ) {
        let material = DigestInput { trajectories: &trajectories, signals: &signals, notes: notes.as_deref() };
        let tokenizer = Tokenizer::new();
        let made = render_digest(&material, budget, &tokenizer);
        prop_assert!(made.tokens <= budget);
        prop_assert_eq!(tokenizer.count_tokens(&made.text), made.tokens);
        prop_assert_eq!(&render_digest(&material, budget, &tokenizer), &made);
        let steps: usize = trajectories.iter().map(|trajectory| trajectory.steps.len()).sum();
        prop_assert_eq!(made.shown.len() + made.elided, steps);
        prop_assert!(made.signals_left_out <= signals.len());
        if notes.is_none() {
            lines_are_of_their_step(&trajectories, &made);
        }
    }

    #[test]
    fn parts_cost_together_what_they_cost_apart((trajectories, signals) in material(), budget in 0..3000_usize) {
        let material = DigestInput { trajectories: &trajectories, signals: &signals, notes: None };
        let composed = super::super::token_budget::compose_digest(&material, budget, &Tokenizer::new());
        prop_assert_eq!(composed.tokens, Tokenizer::new().count_tokens(&composed.text));
    }

    #[test]
    fn with_room_enough_every_quotation_stands_in_its_step((trajectories, signals) in material()) {
        let made = made(&trajectories, &signals, 1_000_000);
        for signal in &signals {
            let Some(trajectory) = trajectories.get(signal.trajectory as usize) else { continue };
            let step = trajectory.steps.iter().find(|step| step.number == signal.step && !step.copied);
            let quote = signal.quote.as_deref().unwrap_or_default().trim();
            let is_there = step.is_some_and(|step| shown_texts(step).iter().any(|text| text.contains(quote)));
            if is_there && step.is_some_and(|step| step.calls.is_empty() && step.outputs.is_empty()) {
                prop_assert!(made.text.contains(quote), "{quote:?}");
            }
        }
        prop_assert_eq!(made.signals_left_out, 0);
    }
}
