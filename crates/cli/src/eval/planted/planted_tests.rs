use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::session_script::{CallAction, SessionScript, TurnContent};
use super::*;
use archivist_core::context::{SignalKind, step_text};
use archivist_core::domain::Speaker;

const SEED: u64 = 0;

/// A session, what it was made from, and what is read in it.
pub(super) struct Made {
    scenario: PlantedScenario,
    script: SessionScript,
    pub(super) session: PlantedSession,
    pub(super) context: ReflectionContext,
}

/// Every scenario by every agent that it can happen to. Reading all of them takes a while, so it is done once.
pub(super) static EVERYTHING: LazyLock<Vec<Made>> = LazyLock::new(everything);

fn everything() -> Vec<Made> {
    let redactor = Redactor::new();
    let book = ScenarioCatalog::open().unwrap();
    let lists = ScenarioLists::from_catalog(&book);
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for number in 0..count_all_sessions().unwrap() {
        let session = lists.generate_session(&book, SEED, number).unwrap();
        let list = &lists.0[number % 4];
        let turn = number / 4;
        let scenario = book.scenarios[list[turn % list.len()]].clone();
        let round = (turn / list.len()).to_string();
        let mut draw = SeededRandom::new(&[&SEED.to_string(), &scenario.id, &round]);
        let script = session_script::build_script(&scenario, &book, &mut draw).unwrap();
        assert!(seen.insert(session.name.clone()), "{} was made twice", session.name);
        let context = build_session_context(&session, &redactor, Timestamp::default()).unwrap();
        all.push(Made { scenario, script, session, context });
    }
    all
}

/// Fails with everything that is wrong, not with the first of it.
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn there_are_enough_scenarios_of_every_kind_in_both_halves() {
    let book = ScenarioCatalog::open().unwrap();
    let mut counts: BTreeMap<(PlantedLessonKind, ScenarioHalf), usize> = BTreeMap::new();
    for scenario in &book.scenarios {
        *counts.entry((scenario.kind, scenario.half)).or_default() += 1;
    }
    let of = |kind: PlantedLessonKind, half: ScenarioHalf| counts.get(&(kind, half)).copied().unwrap_or_default();
    for kind in [
        PlantedLessonKind::Fixed,
        PlantedLessonKind::Recurring,
        PlantedLessonKind::Correction,
        PlantedLessonKind::Flaky,
        PlantedLessonKind::Provider,
        PlantedLessonKind::Alternative,
    ] {
        let (dev, held) = (of(kind, ScenarioHalf::Dev), of(kind, ScenarioHalf::Held));
        assert!(dev >= 2 && held >= 2 && dev.abs_diff(held) <= 1, "{kind:?}: {dev} and {held}");
    }
    let routine =
        of(PlantedLessonKind::Routine, ScenarioHalf::Dev) + of(PlantedLessonKind::Routine, ScenarioHalf::Held);
    assert!(routine >= 30 && book.scenarios.len() - routine >= 30, "{counts:?}");
    let stacks: BTreeSet<&str> = book.scenarios.iter().map(|scenario| scenario.stack.as_str()).collect();
    assert!(stacks.len() >= 10, "{stacks:?}");
    assert!(count_all_sessions().unwrap() >= 120);
}

#[test]
fn of_four_sessions_in_a_row_one_is_of_each_sort() {
    for four in generate_sessions(SEED, 40).unwrap().chunks(4) {
        let sorts: BTreeSet<(ScenarioHalf, bool)> = four.iter().map(|one| (one.half, one.expect.is_some())).collect();
        assert_eq!(sorts.len(), 4);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let count = 80;
    let (one, again, other) = (
        generate_sessions(1, count).unwrap(),
        generate_sessions(1, count).unwrap(),
        generate_sessions(2, count).unwrap(),
    );
    assert_eq!(one, again);
    let differing = one.iter().zip(&other).filter(|(a, b)| a.log != b.log).count();
    assert_eq!(differing, count);
}

#[test]
fn every_log_is_read_whole_by_the_reader_of_its_format() {
    for Made { script, session, context, .. } in EVERYTHING.iter() {
        let name = &session.name;
        assert_eq!(context.sessions[0].format, session.format.as_str(), "{name}");
        let survey = &context.survey;
        assert_eq!(survey.skipped, Vec::new(), "{name}");
        assert_eq!((survey.orphaned_outputs, survey.shed, survey.cut.values), (0, 0, 0), "{name}");
        let calls =
            script.turns.iter().filter(|turn| matches!(&turn.does, TurnContent::Agent { call: Some(_), .. })).count();
        let users = script.turns.iter().filter(|turn| matches!(&turn.does, TurnContent::User(_))).count();
        let stops = script.turns.iter().filter(|turn| matches!(&turn.does, TurnContent::Stop)).count();
        let problems = script.turns.iter().filter(|turn| matches!(&turn.does, TurnContent::Provider { .. })).count();
        let counts = survey.counts;
        assert_eq!(counts.tool_calls, calls as u64, "{name}");
        assert_eq!(counts.user_turns, users as u64, "{name}");
        let happened = |what: &str| survey.happenings.get(what).copied().unwrap_or_default();
        assert_eq!(happened("interrupted"), stops as u64, "{name}");
        assert_eq!(happened("api_error"), problems as u64, "{name}");
        let agent =
            scenario::ScenarioAgent::ALL.into_iter().find(|agent| agent.log_format() == session.format).unwrap();
        let rendered = render::render_script(script, agent);
        assert_eq!(rendered.log, session.log, "{name}");
        assert_eq!(counts.steps, u64::from(rendered.last), "{name}");
        assert_eq!(context.trajectories.len(), 1, "{name}");
        // Every turn stands where the renderer says, in its own words.
        let steps = &context.trajectories[0].steps;
        for (turn, number) in script.turns.iter().zip(&rendered.steps) {
            let Some(step) = steps.iter().find(|step| step.number == *number) else { panic!("{name}: {number}") };
            match &turn.does {
                TurnContent::User(words) => {
                    assert_eq!((&step.speaker, &step.text), (&Speaker::User, words), "{name}");
                }
                TurnContent::Agent { text, call, .. } => {
                    assert_eq!((&step.speaker, &step.text), (&Speaker::Agent, text), "{name}");
                    assert_eq!(step.calls.len(), usize::from(call.is_some()), "{name}");
                    if let Some(call) = call {
                        is_told(name, &step_text(step), call);
                    }
                }
                TurnContent::Stop | TurnContent::Provider { .. } => {}
            }
        }
    }
}

fn is_told(name: &str, text: &str, call: &session_script::ScriptedCall) {
    let done = match &call.act {
        CallAction::Run(command) => command,
        CallAction::Read(path) | CallAction::Edit { path, .. } | CallAction::Write { path, .. } => path,
    };
    assert!(text.contains(done.as_str()), "{name}: {done} is not in {text}");
    for line in call.output.lines().filter(|_| !call.fails) {
        assert!(text.contains(line.trim_end()), "{name}: {line} is not in {text}");
    }
}

#[test]
fn atif_documents_obey_the_rules_of_their_format() {
    let redactor = Redactor::new();
    for Made { session, .. } in EVERYTHING.iter().filter(|made| made.session.format == LogFormat::Atif) {
        let mut gathering = LogGatherer::new_brief(&redactor);
        SessionReader::new(ReaderSettings { strict: true })
            .read_log(&mut session.log.as_slice(), &mut gathering)
            .unwrap();
        assert_eq!(gathering.finish().survey.findings, Vec::new(), "{}", session.name);
    }
}

#[test]
fn calls_that_fail_are_read_as_failed_and_others_are_not() {
    // Looks that find nothing, and comparisons and linters that find something, answer by their exit code.
    let answers = |command: &str| {
        ["grep ", "diff ", "test ", "npx eslint ", "bundle exec rubocop"].iter().any(|one| command.starts_with(one))
    };
    let has_failed = |turn: &session_script::ScriptTurn| match &turn.does {
        TurnContent::Agent {
            call: Some(session_script::ScriptedCall { act: CallAction::Run(command), exit, .. }),
            ..
        } => *exit != 0 && !answers(command),
        TurnContent::Agent { call: Some(call), .. } => call.fails,
        _ => false,
    };
    let mut problems = Vec::new();
    for Made { scenario, script, session, context } in EVERYTHING.iter() {
        let failed = script.turns.iter().filter(|turn| has_failed(turn)).count();
        let read = context.survey.counts.tool_errors;
        let most = failed as u64 + u64::from(scenario.misleads);
        if read < failed as u64 || read > most {
            let texts: Vec<&str> = context.signals.iter().map(|signal| signal.text.as_str()).collect();
            problems.push(format!("{}: {read} of {failed} calls failed: {texts:?}", session.name));
        }
    }
    none(&problems);
}

#[test]
fn planted_lessons_can_be_told_from_the_steps_that_prove_them() {
    for Made { scenario, session, context, .. } in EVERYTHING.iter() {
        let Some(expect) = &session.expect else { continue };
        let name = &session.name;
        assert_eq!((expect.kind, session.kind), (scenario.kind, scenario.kind));
        let steps = &context.trajectories[0].steps;
        let marks = scenario.expect.as_ref().unwrap().proof.len();
        assert_eq!(expect.steps.len(), marks, "{name}");
        let proof: Vec<String> = expect
            .steps
            .iter()
            .map(|number| step_text(steps.iter().find(|step| step.number == *number).unwrap()).to_lowercase())
            .collect();
        let signals: String = context.signals.iter().map(|signal| signal.text.to_lowercase() + "\n").collect();
        let whole = steps.iter().map(|step| step_text(step).to_lowercase()).collect::<Vec<_>>().join("\n") + &signals;
        let holds = |text: &str, problem: &[String]| problem.iter().any(|word| text.contains(&word.to_lowercase()));
        for problem in &expect.mention {
            let is_said_of_it = scenario.kind == PlantedLessonKind::Flaky || holds(&whole, problem);
            assert!(is_said_of_it, "{name}: none of {problem:?} stands in the log");
        }
        let is_proven = expect.mention.iter().any(|problem| proof.iter().any(|text| holds(text, problem)));
        assert!(proof.is_empty() || is_proven, "{name}: {proof:?}");
    }
}

#[test]
fn sessions_show_the_signals_that_they_promise_and_no_others_that_they_forswear() {
    let mut problems = Vec::new();
    for Made { scenario, session, context, .. } in EVERYTHING.iter() {
        let kinds: BTreeSet<&SignalKind> = context.signals.iter().map(|signal| &signal.kind).collect();
        let texts = || context.signals.iter().map(|one| format!("{}: {}", one.kind, one.text)).collect::<Vec<_>>();
        let missing = scenario.shows.iter().filter(|kind| !kinds.contains(kind));
        problems.extend(missing.map(|kind| format!("{} shows no {kind}: {:?}", session.name, texts())));
        let unwanted = scenario.hides.iter().filter(|kind| kinds.contains(kind));
        problems.extend(unwanted.map(|kind| format!("{} shows {kind}: {:?}", session.name, texts())));
    }
    none(&problems);
}

#[test]
fn no_log_holds_a_secret_or_a_path_of_a_real_machine() {
    let redactor = Redactor::new();
    for Made { session, .. } in EVERYTHING.iter() {
        let text = std::str::from_utf8(&session.log).unwrap();
        let found = redactor.redact(text).found;
        let shown: Vec<_> = found.iter().map(|finding| (finding.kind, text.get(finding.span.clone()))).collect();
        assert!(shown.is_empty(), "{}: {shown:?}", session.name);
        for part in text.split("/home/").skip(1) {
            assert!(part.starts_with("dev/"), "{}: /home/{part:.40}", session.name);
        }
        for path in ["/Users/", "/root/", "C:\\\\"] {
            assert!(!text.contains(path), "{}: {path}", session.name);
        }
    }
}

#[test]
fn a_context_knows_where_and_when_a_session_was() {
    for Made { session, context, .. } in EVERYTHING.iter() {
        assert!(context.project_root.starts_with("/home/dev/"), "{}", session.name);
        assert!(context.episode.started_at < context.episode.finished_at, "{}", session.name);
        assert_eq!(context.sessions.len(), 1);
        assert_eq!(context.sessions[0].format, session.format.as_str());
    }
}
