//! Tests that cannot make up their mind.

use std::collections::BTreeMap;

use super::super::claim::{Claim, Place};
use super::cause::Cause;
use super::command::Line;
use super::headline;
use super::quote;
use super::scene::{Deed, Scene};
use super::shown;
use super::weigh::{self, Ground};
use super::words::telling;
use crate::context::{Signal, SignalKind, is_verification};
use crate::domain::{DropReason, Dropped, EpisodeId, Facets, MemoryCategory, MemoryKind, MemoryScope, Severity};

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;

/// A flaky test, wherever it was seen.
#[derive(Debug, Default)]
struct Flaky {
    places: Vec<Place>,
    failed: Option<usize>,
    passed: Option<usize>,
    times: u32,
    families: Vec<crate::domain::ErrorFamily>,
}

/// Claims about tests that pass and fail with no edit between.
pub(super) fn flaky(scene: &Scene<'_>, dropped: &mut Vec<Dropped>) -> Vec<Claim> {
    let mut found: BTreeMap<String, Flaky> = BTreeMap::new();
    for signal in scene.context.signals.iter().filter(|signal| signal.kind == SignalKind::FlakyTest) {
        let outcomes = outcomes(scene, signal);
        let name = name(scene, signal, &outcomes).filter(|_| is_undisturbed(scene, &outcomes));
        let Some(name) = name else {
            dropped.push(Dropped {
                summary: signal.text.clone(),
                why: DropReason::OneOff,
                detail: "no test of its own, or not its fault".to_owned(),
            });
            continue;
        };
        let known = found.entry(name).or_default();
        known.times += 1;
        known.places.extend(signal.steps.iter().map(|step| Place { trajectory: signal.trajectory, step: *step }));
        known.failed = known.failed.or(outcomes.failed);
        known.passed = known.passed.or(outcomes.passed);
        known.families.extend(signal.error_family.clone());
        if let Some(fault) = outcomes.failed.and_then(|index| scene.deeds.get(index)).and_then(Deed::fault) {
            known.families.push(fault.family.clone());
        }
    }
    again(scene, &mut found);
    across(scene, &mut found);
    found.into_iter().filter_map(|(name, flaky)| claim(scene, &name, &flaky)).collect()
}

/// The deeds that a signal speaks of.
#[derive(Debug, Default)]
struct Outcomes {
    failed: Option<usize>,
    passed: Option<usize>,
}

fn outcomes(scene: &Scene<'_>, signal: &Signal) -> Outcomes {
    let is_there = |deed: &Deed<'_>| {
        deed.place.trajectory == signal.trajectory && signal.steps.contains(&deed.place.step) && deed.is_check
    };
    Outcomes {
        failed: scene.deeds.iter().position(|deed| is_there(deed) && deed.fault().is_some()),
        passed: scene.deeds.iter().position(|deed| is_there(deed) && deed.has_passed()),
    }
}

/// The test, or the test command, that is flaky; none if what failed was no test.
fn name(scene: &Scene<'_>, signal: &Signal, outcomes: &Outcomes) -> Option<String> {
    let failed = scene.deeds.get(outcomes.failed?)?;
    let fault = failed.fault()?;
    let marked = failed.output.and_then(|output| marked(&output.text));
    let is_code = !Cause::read(fault.class, &fault.headline).is_around();
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
            let root = scene.root(failed.place.trajectory);
            let shown = shown::shown(&shown::from(failed.command()?, root));
            let test = fault.tests.first().cloned().or(marked);
            Some(test.map_or_else(|| format!("`{shown}`"), |test| format!("`{test}`")))
        }
        None => None,
    }
}

/// The first test that a runner marks as failed, without its number, browser and time.
fn marked(output: &str) -> Option<String> {
    let line = output.lines().map(str::trim).find(|line| line.starts_with(['✘', '✗', '✕', '✖', '×']))?;
    let name = line.trim_start_matches(|c: char| !c.is_alphabetic() && c != '[');
    let name = name.split_once("] › ").filter(|(head, _)| head.starts_with('[')).map_or(name, |(_, name)| name);
    let name = name.rsplit_once(" (").filter(|(_, time)| time.ends_with("s)")).map_or(name, |(name, _)| name);
    let name =
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == 'm' && name.ends_with("ms"));
    (name.chars().filter(|c| c.is_alphabetic()).count() >= 4).then(|| super::words::cut(&name.replace('`', "'"), 120))
}

/// Whether a command runs tests, and not only a build or a linter.
fn is_test_run(command: &str) -> bool {
    is_verification(command)
        && ["test", "spec", "jest", "vitest", "tox", "nox", "check"].iter().any(|word| command.contains(word))
        && !command.contains("cargo check")
}

/// Whether nothing but looks and checks lies between a failure and a success, and nobody spoke.
fn is_undisturbed(scene: &Scene<'_>, outcomes: &Outcomes) -> bool {
    let (Some(failed), Some(passed)) = (outcomes.failed, outcomes.passed) else { return true };
    let (first, last) = (failed.min(passed), failed.max(passed));
    let asks = |deed: &Deed<'_>| deed.line.as_ref().is_some_and(Line::asks);
    let is_spoken =
        scene.deeds.get(first).zip(scene.deeds.get(last)).is_some_and(|(one, two)| scene.is_answered(one, two));
    !is_spoken && scene.deeds.iter().take(last).skip(first + 1).all(|deed| deed.is_look || deed.is_check || asks(deed))
}

/// Tests of runners that are no checks to the log's reader: they fail and pass with nothing between.
fn again(scene: &Scene<'_>, found: &mut BTreeMap<String, Flaky>) {
    for (at, pair) in scene.deeds.windows(2).enumerate() {
        let [failed, passed] = pair else { continue };
        let (Some(line), Some(later), Some(fault)) = (&failed.line, &passed.line, failed.fault()) else { continue };
        let is_run = line.main().iter().any(|word| matches!(word.as_str(), "--test" | "test" | "tests"));
        let is_next = failed.place.trajectory == passed.place.trajectory && !scene.is_answered(failed, passed);
        let is_same = !failed.is_check && !line.main().is_empty() && line == later;
        let test = failed.output.and_then(|output| fault.tests.first().cloned().or_else(|| marked(&output.text)));
        let Some(test) = test.filter(|_| is_run && is_next && is_same && passed.has_passed()) else { continue };
        let known = found.entry(format!("`{test}`")).or_default();
        known.times += 1;
        known.failed = known.failed.or(Some(at));
        known.passed = known.passed.or(Some(at + 1));
        known.places.extend([failed.place, passed.place]);
    }
}

/// Tests that fail in one run and pass in those before and after it, with nothing edited in any of them.
fn across(scene: &Scene<'_>, found: &mut BTreeMap<String, Flaky>) {
    if scene.runs() < 3 || scene.deeds.iter().any(|deed| matches!(deed.action, crate::context::Action::Edit(_))) {
        return;
    }
    let mut runs: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (index, deed) in scene.deeds.iter().enumerate() {
        let Some(line) = deed.line.as_ref().filter(|_| deed.command().is_some_and(is_test_run)) else { continue };
        runs.entry(line.main().to_vec()).or_default().push(index);
    }
    for deeds in runs.into_values() {
        let passed = |index: &usize| scene.deeds.get(*index).is_some_and(Deed::has_passed);
        let test = |index: &usize| {
            scene.deeds.get(*index).and_then(Deed::fault).and_then(|fault| fault.tests.first().cloned())
        };
        let Some((at, test)) = deeds.iter().enumerate().find_map(|(at, index)| Some((at, test(index)?))) else {
            continue;
        };
        let before = deeds.iter().take(at).rfind(|index| passed(index));
        let after = deeds.iter().skip(at + 1).find(|index| passed(index));
        let (Some(before), Some(after), Some(failed)) = (before, after, deeds.get(at)) else { continue };
        let known = found.entry(format!("`{test}`")).or_default();
        known.times += 1;
        known.failed = known.failed.or(Some(*failed));
        known.passed = known.passed.or(Some(*after));
        known.places.extend([before, failed, after].iter().filter_map(|index| Some(scene.deeds.get(**index)?.place)));
    }
}

fn claim(scene: &Scene<'_>, name: &str, flaky: &Flaky) -> Option<Claim> {
    let failed = scene.deeds.get(flaky.failed?)?;
    let fault = failed.fault()?;
    let passed = flaky.passed.and_then(|index| scene.deeds.get(index));
    let evidence = |deed: &Deed<'_>, words: &str| quote::output(scene.context, deed.place, words);
    let said = failed.output.and_then(|output| headline::said(&output.text, &fault.headline));
    let quotes = quote::few([
        failed.command().and_then(|run| quote::deed(scene.context, failed.place, run)),
        said.and_then(|said| evidence(failed, said)),
        passed.and_then(|deed| deed.command().and_then(|run| quote::deed(scene.context, deed.place, run))),
        passed.and_then(|deed| evidence(deed, telling_line(&deed.output?.text)?)),
    ]);
    let mut episodes: Vec<EpisodeId> = flaky.places.iter().map(|place| scene.episode(place.trajectory)).collect();
    let earlier = scene
        .context
        .related_episodes
        .iter()
        .filter(|one| one.error_families.iter().any(|family| flaky.families.contains(family)));
    episodes.extend(earlier.map(|one| one.id.clone()));
    episodes.sort();
    episodes.dedup();
    let runs = episodes.len();
    let seen = if runs > 1 { format!(", in {runs} runs") } else { String::new() };
    let run = failed.command().map(|run| shown::shown(&shown::from(run, scene.root(failed.place.trajectory))));
    let of = run.filter(|run| format!("`{run}`") != name).map(|run| format!(" in `{run}`")).unwrap_or_default();
    Some(Claim {
        summary: format!("{name} is flaky: it failed and passed with no edit between{seen}."),
        rule: Some(format!("IF {name} fails{of} THEN run it again by itself before believing it or changing code.")),
        detail: said.map(|said| format!("When it failed it said: {}", telling(said))),
        kind: MemoryKind::Lesson,
        category: MemoryCategory::TestStrategy,
        scope: MemoryScope::Project,
        facets: Facets { error_family: Some(fault.family.clone()), ..Facets::default() },
        tags: vec!["flaky-test".to_owned(), "testing".to_owned()],
        importance: weigh::importance(if runs > 1 { Ground::AcrossRuns } else { Ground::Flaky }, flaky.times, false),
        importance_reason: Some("a test that cannot be believed misleads whoever trusts it".to_owned()),
        severity: Some(Severity::Warning),
        quotes,
        episodes,
        near: Vec::new(),
    })
}

/// The last line of an output that says something.
fn telling_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 6)
}
