//! Flaky tests: tests that fail and pass with no edit between.

use std::collections::BTreeMap;

use super::super::unchecked_candidate::{StepReference, UncheckedCandidate};
use super::action_timeline::{ActionTimeline, AgentAction};
use super::command_comparison::ComparableCommand;
use super::displayed_command;
use super::failure_cause::FailureCause;
use super::reason_line;
use super::sentence_text::shorten_error;
use super::supporting_quotes;
use crate::context::{Signal, SignalKind, is_verification};
use crate::domain::{
    DropReason, DroppedCandidate, EpisodeId, FacetValues, Importance, ImportanceBasis, MemoryCategory, MemoryKind,
    MemoryScope, Severity,
};

#[cfg(test)]
#[path = "test_flakiness_tests.rs"]
mod tests;

/// A flaky test and every place where it was seen.
#[derive(Debug, Default)]
struct FlakyTest {
    places: Vec<StepReference>,
    failed: Option<usize>,
    passed: Option<usize>,
    times: u32,
    families: Vec<crate::domain::ErrorFamily>,
}

/// Finds tests that pass and fail with no edit between, and makes candidates of them.
pub(super) fn find_flaky_tests(
    timeline: &ActionTimeline<'_>,
    dropped: &mut Vec<DroppedCandidate>,
) -> Vec<UncheckedCandidate> {
    let mut found: BTreeMap<String, FlakyTest> = BTreeMap::new();
    for signal in timeline.context.signals.iter().filter(|signal| signal.kind == SignalKind::FlakyTest) {
        let outcomes = find_outcomes(timeline, signal);
        let name = name_flaky_test(timeline, signal, &outcomes).filter(|_| is_undisturbed(timeline, &outcomes));
        let Some(name) = name else {
            dropped.push(DroppedCandidate {
                summary: signal.text.clone(),
                why: DropReason::OneOff,
                detail: "no test of its own, or not its fault".to_owned(),
            });
            continue;
        };
        let known = found.entry(name).or_default();
        known.times += 1;
        known
            .places
            .extend(signal.steps.iter().map(|step| StepReference { trajectory: signal.trajectory, step: *step }));
        known.failed = known.failed.or(outcomes.failed);
        known.passed = known.passed.or(outcomes.passed);
        known.families.extend(signal.error_family.clone());
        if let Some(fault) =
            outcomes.failed.and_then(|index| timeline.actions.get(index)).and_then(AgentAction::failure)
        {
            known.families.push(fault.family.clone());
        }
    }
    collect_immediate_reruns(timeline, &mut found);
    collect_across_sessions(timeline, &mut found);
    found.into_iter().filter_map(|(name, flaky)| make_candidate(timeline, &name, &flaky)).collect()
}

/// The indices of the failed and the passed action that a signal refers to.
#[derive(Debug, Default)]
struct FlakyOutcomes {
    failed: Option<usize>,
    passed: Option<usize>,
}

fn find_outcomes(timeline: &ActionTimeline<'_>, signal: &Signal) -> FlakyOutcomes {
    let is_there = |agent_action: &AgentAction<'_>| {
        agent_action.place.trajectory == signal.trajectory
            && signal.steps.contains(&agent_action.place.step)
            && agent_action.is_check
    };
    FlakyOutcomes {
        failed: timeline
            .actions
            .iter()
            .position(|agent_action| is_there(agent_action) && agent_action.failure().is_some()),
        passed: timeline.actions.iter().position(|agent_action| is_there(agent_action) && agent_action.has_passed()),
    }
}

/// Returns the flaky test, or else its test command; `None` if what failed was no test.
fn name_flaky_test(timeline: &ActionTimeline<'_>, signal: &Signal, outcomes: &FlakyOutcomes) -> Option<String> {
    let failed = timeline.actions.get(outcomes.failed?)?;
    let fault = failed.failure()?;
    let marked = failed.output.and_then(|output| find_marked_test(&output.text));
    let is_code = !FailureCause::classify(fault.class, &fault.headline).is_environmental();
    let is_test = matches!(fault.class, "test" | "assertion" | "exception")
        || !fault.tests.is_empty()
        || (marked.is_some() && (is_code || fault.class == "timeout"));
    let told = signal
        .text
        .strip_prefix("test ")
        .and_then(|rest| rest.split_once(" failed, then").or_else(|| rest.split_once(" passed, then")));
    match told {
        Some((test, _)) => Some(format!("`{test}`")),
        None if is_test && is_test_run(failed.command()?) => {
            let root = timeline.working_folder(failed.place.trajectory);
            let shown =
                displayed_command::shorten_command(&displayed_command::relativize_paths(failed.command()?, root));
            let test = fault.tests.first().cloned().or(marked);
            Some(test.map_or_else(|| format!("`{shown}`"), |test| format!("`{test}`")))
        }
        None => None,
    }
}

/// Returns the first test that a runner marks as failed, without its number, browser and time.
fn find_marked_test(output: &str) -> Option<String> {
    let line = output.lines().map(str::trim).find(|line| line.starts_with(['✘', '✗', '✕', '✖', '×']))?;
    let name = line.trim_start_matches(|c: char| !c.is_alphabetic() && c != '[');
    let name = name.split_once("] › ").filter(|(head, _)| head.starts_with('[')).map_or(name, |(_, name)| name);
    let name = name.rsplit_once(" (").filter(|(_, time)| time.ends_with("s)")).map_or(name, |(name, _)| name);
    let name =
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == 'm' && name.ends_with("ms"));
    (name.chars().filter(|c| c.is_alphabetic()).count() >= 4)
        .then(|| super::sentence_text::cut_to_length(&name.replace('`', "'"), 120))
}

/// Tells whether a command runs tests, and not only a build or a linter.
fn is_test_run(command: &str) -> bool {
    is_verification(command)
        && ["test", "spec", "jest", "vitest", "tox", "nox", "check"].iter().any(|word| command.contains(word))
        && !command.contains("cargo check")
}

/// Tells whether only reads and checks lie between a failure and a success, and the user said nothing.
fn is_undisturbed(timeline: &ActionTimeline<'_>, outcomes: &FlakyOutcomes) -> bool {
    let (Some(failed), Some(passed)) = (outcomes.failed, outcomes.passed) else { return true };
    let (first, last) = (failed.min(passed), failed.max(passed));
    let asks = |agent_action: &AgentAction<'_>| agent_action.line.as_ref().is_some_and(ComparableCommand::is_query);
    let is_spoken = timeline
        .actions
        .get(first)
        .zip(timeline.actions.get(last))
        .is_some_and(|(one, two)| timeline.has_user_spoken_between(one, two));
    !is_spoken
        && timeline
            .actions
            .iter()
            .take(last)
            .skip(first + 1)
            .all(|agent_action| agent_action.is_look || agent_action.is_check || asks(agent_action))
}

/// Collects tests whose runner the log's reader does not know as a check, and that fail and then pass at once.
fn collect_immediate_reruns(timeline: &ActionTimeline<'_>, found: &mut BTreeMap<String, FlakyTest>) {
    for (at, pair) in timeline.actions.windows(2).enumerate() {
        let [failed, passed] = pair else { continue };
        let (Some(line), Some(later), Some(fault)) = (&failed.line, &passed.line, failed.failure()) else { continue };
        let is_run = line.main_words().iter().any(|word| matches!(word.as_str(), "--test" | "test" | "tests"));
        let is_next =
            failed.place.trajectory == passed.place.trajectory && !timeline.has_user_spoken_between(failed, passed);
        let is_same = !failed.is_check && !line.main_words().is_empty() && line == later;
        let test =
            failed.output.and_then(|output| fault.tests.first().cloned().or_else(|| find_marked_test(&output.text)));
        let Some(test) = test.filter(|_| is_run && is_next && is_same && passed.has_passed()) else { continue };
        let known = found.entry(format!("`{test}`")).or_default();
        known.times += 1;
        known.failed = known.failed.or(Some(at));
        known.passed = known.passed.or(Some(at + 1));
        known.places.extend([failed.place, passed.place]);
    }
}

/// Collects tests that fail in one session and pass before and after it, with nothing edited in any session.
fn collect_across_sessions(timeline: &ActionTimeline<'_>, found: &mut BTreeMap<String, FlakyTest>) {
    if timeline.session_count() < 3
        || timeline
            .actions
            .iter()
            .any(|agent_action| matches!(agent_action.action, crate::context::ToolAction::Edit(_)))
    {
        return;
    }
    let mut runs: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (index, agent_action) in timeline.actions.iter().enumerate() {
        let Some(line) = agent_action.line.as_ref().filter(|_| agent_action.command().is_some_and(is_test_run)) else {
            continue;
        };
        runs.entry(line.main_words().to_vec()).or_default().push(index);
    }
    for actions in runs.into_values() {
        let passed = |index: &usize| timeline.actions.get(*index).is_some_and(AgentAction::has_passed);
        let test = |index: &usize| {
            timeline.actions.get(*index).and_then(AgentAction::failure).and_then(|fault| fault.tests.first().cloned())
        };
        let Some((at, test)) = actions.iter().enumerate().find_map(|(at, index)| Some((at, test(index)?))) else {
            continue;
        };
        let before = actions.iter().take(at).rfind(|index| passed(index));
        let after = actions.iter().skip(at + 1).find(|index| passed(index));
        let (Some(before), Some(after), Some(failed)) = (before, after, actions.get(at)) else { continue };
        let known = found.entry(format!("`{test}`")).or_default();
        known.times += 1;
        known.failed = known.failed.or(Some(*failed));
        known.passed = known.passed.or(Some(*after));
        known
            .places
            .extend([before, failed, after].iter().filter_map(|index| Some(timeline.actions.get(**index)?.place)));
    }
}

fn make_candidate(timeline: &ActionTimeline<'_>, name: &str, flaky: &FlakyTest) -> Option<UncheckedCandidate> {
    let failed = timeline.actions.get(flaky.failed?)?;
    let fault = failed.failure()?;
    let passed = flaky.passed.and_then(|index| timeline.actions.get(index));
    let evidence = |agent_action: &AgentAction<'_>, words: &str| {
        supporting_quotes::quote_output(timeline.context, agent_action.place, words)
    };
    let said = failed.output.and_then(|output| reason_line::find_failure_line(&output.text, &fault.headline));
    let quotes = supporting_quotes::dedup_and_cap([
        failed.command().and_then(|run| supporting_quotes::quote_agent(timeline.context, failed.place, run)),
        said.and_then(|said| evidence(failed, said)),
        passed.and_then(|agent_action| {
            agent_action
                .command()
                .and_then(|run| supporting_quotes::quote_agent(timeline.context, agent_action.place, run))
        }),
        passed.and_then(|agent_action| evidence(agent_action, find_last_informative_line(&agent_action.output?.text)?)),
    ]);
    let mut episodes: Vec<EpisodeId> =
        flaky.places.iter().map(|place| timeline.owning_episode(place.trajectory)).collect();
    let earlier = timeline
        .context
        .related_episodes
        .iter()
        .filter(|one| one.error_families.iter().any(|family| flaky.families.contains(family)));
    episodes.extend(earlier.map(|one| one.id.clone()));
    episodes.sort();
    episodes.dedup();
    let runs = episodes.len();
    let seen = if runs > 1 { format!(", in {runs} runs") } else { String::new() };
    let run = failed.command().map(|run| {
        displayed_command::shorten_command(&displayed_command::relativize_paths(
            run,
            timeline.working_folder(failed.place.trajectory),
        ))
    });
    let of = run.filter(|run| format!("`{run}`") != name).map(|run| format!(" in `{run}`")).unwrap_or_default();
    Some(UncheckedCandidate {
        summary: format!("{name} is flaky: it failed and passed with no edit between{seen}."),
        rule: Some(format!("IF {name} fails{of} THEN run it again by itself before believing it or changing code.")),
        // Names and flags in an error may be anybody's advice.
        detail: said
            .filter(|said| !said.contains(['\'', '"', '`', '=']) && !said.contains("--"))
            .map(|said| format!("When it failed it said: {}", shorten_error(said))),
        kind: MemoryKind::Lesson,
        category: MemoryCategory::TestStrategy,
        scope: MemoryScope::Project,
        facets: FacetValues { error_family: Some(fault.family.clone()), ..FacetValues::default() },
        tags: vec!["flaky-test".to_owned(), "testing".to_owned()],
        importance: Importance::from_basis(
            if runs > 1 { ImportanceBasis::FailureAcrossSessions } else { ImportanceBasis::FlakyTest },
            flaky.times,
            false,
        ),
        importance_reason: Some("a test that cannot be believed misleads whoever trusts it".to_owned()),
        severity: Some(Severity::Warning),
        quotes,
        episodes,
        near: Vec::new(),
    })
}

/// Returns the last line of an output with at least six letters or digits.
fn find_last_informative_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 6)
}
