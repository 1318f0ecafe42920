//! Lessons without a model: rules over signals, steps and related episodes.
//!
//! The rules prefer to say too little. A failure is a lesson if the log shows a remedy and the cause lies in the
//! environment, or if it keeps recurring; ordinary test failures and fixes are none. Every candidate quotes what the
//! agent did as well as the output that it got.

mod action_timeline;
mod agent_packages;
mod command_comparison;
mod command_purpose;
mod displayed_command;
mod error_names;
mod failure_cause;
mod failure_groups;
mod lesson_text;
mod reason_line;
mod remedy;
mod sentence_text;
mod session_account;
mod supporting_quotes;
mod test_flakiness;
mod user_preferences;

pub(super) use user_preferences::QuotedRemark;

use super::unchecked_candidate::{StepReference, UncheckedCandidate, UncheckedQuote};
use crate::context::{ReflectionContext, ToolAction};
use crate::domain::{
    DropReason, DroppedCandidate, EpisodeId, EpisodeStatus, FacetValues, Importance, ImportanceBasis, MemoryCategory,
    MemoryKind, MemoryScope, ReflectionSummary, Severity,
};

use action_timeline::{ActionTimeline, AgentAction};
use failure_cause::FailureCause;
use failure_groups::{FailureGroup, LessonReason};
use remedy::RemedyKind;

#[cfg(test)]
mod test_support;

#[cfg(test)]
#[path = "heuristic_tests.rs"]
mod tests;

/// The most candidates that one session may give.
const MAX_CLAIMS: usize = 5;

/// The most dropped candidates that are reported.
const MAX_DROPPED: usize = 40;

/// The findings of the rules about one session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeuristicFindings {
    pub(super) reflection: ReflectionSummary,
    /// The candidates, the most important first.
    pub(super) claims: Vec<UncheckedCandidate>,
    pub(super) dropped: Vec<DroppedCandidate>,
}

/// Distills a session by rules alone.
pub(super) fn distill_session(context: &ReflectionContext) -> HeuristicFindings {
    let scene = ActionTimeline::from_context(context);
    let mut dropped = Vec::new();
    let mut claims = Vec::new();
    for trouble in failure_groups::group_failures(&scene) {
        match trouble.judge_worth(&scene) {
            Some(Ok(worth)) => match candidate_from_failures(&scene, &trouble, worth) {
                claim if claim.quotes.is_empty() => {
                    dropped.push(make_dropped(
                        &claim.summary,
                        DropReason::NoEvidence,
                        "its words are no longer in the log",
                    ));
                }
                claim => claims.push(claim),
            },
            Some(Err((why, detail))) => {
                dropped.push(make_dropped(&sentence_text::shorten_error(&trouble.headline), why, detail));
            }
            None => {}
        }
    }
    claims.extend(test_flakiness::find_flaky_tests(&scene, &mut dropped));
    claims.extend(user_preferences::collect_candidates(&scene, &mut dropped));
    // The best come first; among equals the order of the session stays.
    claims.sort_by(|a, b| b.importance.value().total_cmp(&a.importance.value()));
    let mut kept: Vec<UncheckedCandidate> = Vec::new();
    for claim in claims {
        match () {
            () if kept.iter().any(|known| is_duplicate(known, &claim)) => {
                dropped.push(make_dropped(&claim.summary, DropReason::Repeated, "another lesson says it"));
            }
            () if kept.len() >= MAX_CLAIMS => {
                dropped.push(make_dropped(&claim.summary, DropReason::TooMany, "there were better ones"));
            }
            () => kept.push(claim),
        }
    }
    dropped.truncate(MAX_DROPPED);
    HeuristicFindings { reflection: session_account::build_reflection(&scene), claims: kept, dropped }
}

fn make_dropped(summary: &str, why: DropReason, detail: &str) -> DroppedCandidate {
    DroppedCandidate { summary: summary.to_owned(), why, detail: detail.to_owned() }
}

/// Tells whether two candidates have the same summary or ask for the same action.
fn is_duplicate(one: &UncheckedCandidate, other: &UncheckedCandidate) -> bool {
    one.summary == other.summary || find_rule_action(one).is_some_and(|order_| find_rule_action(other) == Some(order_))
}

/// Returns the action that a candidate's rule asks for, if it names code.
fn find_rule_action(claim: &UncheckedCandidate) -> Option<&str> {
    let (_, order) = claim.rule.as_deref()?.split_once(" THEN ")?;
    (claim.kind == MemoryKind::Lesson && order.contains('`')).then_some(order)
}

/// Makes a candidate of a group of failures.
fn candidate_from_failures(
    scene: &ActionTimeline<'_>,
    trouble: &FailureGroup,
    worth: LessonReason,
) -> UncheckedCandidate {
    let told = lesson_text::write_lesson_text(scene, trouble);
    let (category, scope) = choose_category_and_scope(scene, trouble, worth);
    let has_failed = matches!(scene.context.episode.status, EpisodeStatus::Failed);
    let is_mended = trouble.is_remedied(scene);
    let basis = match () {
        () if trouble.episode_count() >= 2 => ImportanceBasis::FailureAcrossSessions,
        () if is_mended && trouble.times >= 3 => ImportanceBasis::RepeatedFailure,
        () if is_mended => ImportanceBasis::FailureWithFix,
        () if trouble.cause.is_limit() && trouble.times >= 3 => ImportanceBasis::RepeatedFailure,
        () if trouble.cause.is_limit() => ImportanceBasis::FailureWithFix,
        () => ImportanceBasis::UnresolvedFailure,
    };
    let seen = match basis {
        ImportanceBasis::FailureAcrossSessions => {
            format!("; in {} runs, {} times", trouble.episode_count(), trouble.times)
        }
        _ if trouble.times > 1 => format!("; {} times", trouble.times),
        _ => String::new(),
    };
    let reason = format!("{}{seen}", trouble.describe_basis(scene));
    let failed = if has_failed { "; the run failed" } else { "" };
    let mut episodes: Vec<EpisodeId> = trouble.episodes.iter().chain(&trouble.earlier).cloned().collect();
    episodes.dedup();
    let family = Some(trouble.family.clone());
    let first = trouble.places.keys().next().copied().unwrap_or_default();
    let facets = match (&scope, &category) {
        (MemoryScope::Provider, _) => FacetValues {
            provider: scene.agent_name(first),
            tool: trouble.find_rival_agent(scene).map(|_| trouble.tool.to_lowercase()),
            error_family: family,
            ..FacetValues::default()
        },
        (MemoryScope::Tool, _) => {
            FacetValues { tool: Some(trouble.tool.to_lowercase()), error_family: family, ..FacetValues::default() }
        }
        (MemoryScope::Component, _) => {
            FacetValues { component: find_component(scene, trouble), error_family: family, ..FacetValues::default() }
        }
        _ => FacetValues { error_family: family, ..FacetValues::default() },
    };
    let scope = match &scope {
        MemoryScope::Provider if facets.provider.is_none() => MemoryScope::Project,
        MemoryScope::Component if facets.component.is_none() => MemoryScope::Project,
        scope => scope.clone(),
    };
    UncheckedCandidate {
        summary: told.summary,
        rule: Some(told.rule),
        detail: Some(told.detail),
        kind: MemoryKind::Lesson,
        category,
        scope,
        facets,
        tags: collect_tags(scene, trouble),
        importance: Importance::from_basis(basis, trouble.times, has_failed),
        importance_reason: Some(format!("{reason}{failed}")),
        severity: Some(if is_mended { Severity::Info } else { Severity::Warning }),
        quotes: collect_quotes(scene, trouble),
        episodes,
        near: Vec::new(),
    }
}

/// Returns the category and the scope of a lesson about a failure.
fn choose_category_and_scope(
    scene: &ActionTimeline<'_>,
    trouble: &FailureGroup,
    worth: LessonReason,
) -> (MemoryCategory, MemoryScope) {
    let how = trouble.remedy.as_ref().map(|remedy| &remedy.how);
    let is_model = trouble.tool == "model";
    match (&trouble.cause, how) {
        (FailureCause::Room | FailureCause::Length | FailureCause::Patience, _) if is_model => {
            (MemoryCategory::ProviderQuirk, MemoryScope::Provider)
        }
        (_, None) if is_model => (MemoryCategory::ProviderQuirk, MemoryScope::Provider),
        (FailureCause::Time, _) if trouble.find_rival_agent(scene).is_some() => {
            (MemoryCategory::ProviderQuirk, MemoryScope::Provider)
        }
        (_, Some(RemedyKind::Wait)) => (MemoryCategory::Heuristic, MemoryScope::Project),
        (
            FailureCause::Room
            | FailureCause::Length
            | FailureCause::Patience
            | FailureCause::Flag
            | FailureCause::Target(_),
            _,
        ) => (MemoryCategory::ToolUsage, MemoryScope::Project),
        (FailureCause::Time, _) => (MemoryCategory::Infra, MemoryScope::Project),
        (FailureCause::Code, Some(RemedyKind::Code(_))) => (MemoryCategory::BugfixPattern, MemoryScope::Component),
        (FailureCause::Code, Some(RemedyKind::After(_) | RemedyKind::In(_))) => {
            (MemoryCategory::Infra, MemoryScope::Project)
        }
        (FailureCause::Code, _) if matches!(trouble.class.as_str(), "test" | "assertion") => {
            (MemoryCategory::TestStrategy, MemoryScope::Project)
        }
        (FailureCause::Name(_) | FailureCause::Code, _) => (MemoryCategory::BugfixPattern, MemoryScope::Project),
        (_, Some(RemedyKind::Instead(..))) if trouble.cause == FailureCause::Unknown => {
            (MemoryCategory::ToolUsage, MemoryScope::Project)
        }
        (FailureCause::Unknown, Some(RemedyKind::After(_))) => (MemoryCategory::ToolUsage, MemoryScope::Project),
        (FailureCause::Unknown, _) if worth != LessonReason::Mended => {
            (MemoryCategory::AntiPattern, MemoryScope::Project)
        }
        _ => (MemoryCategory::Infra, MemoryScope::Project),
    }
}

/// Returns the file that a lesson about a code fix is about.
fn find_component(scene: &ActionTimeline<'_>, trouble: &FailureGroup) -> Option<String> {
    let remedy = trouble.remedy.as_ref()?;
    let RemedyKind::Code(edits) = &remedy.how else { return None };
    let deed = scene.deeds.get(*edits.last()?)?;
    let ToolAction::Edit(changes) = &deed.action else { return None };
    let path = sentence_text::shorten_paths(&changes.first()?.path, Some(scene.working_folder(deed.place.trajectory)));
    (!path.starts_with(['/', '.', '~'])).then_some(path)
}

fn collect_tags(scene: &ActionTimeline<'_>, trouble: &FailureGroup) -> Vec<String> {
    let cause = match &trouble.cause {
        FailureCause::Module(_) => "dependency",
        FailureCause::Program(_) => "missing-command",
        FailureCause::Variable(_) => "environment",
        FailureCause::Name(_) => "undefined-name",
        FailureCause::Port(_) => "port",
        FailureCause::Service => "service",
        FailureCause::Lock => "lock",
        FailureCause::Lockfile => "lockfile",
        FailureCause::Migration => "migration",
        FailureCause::Version => "version",
        FailureCause::Flag => "flags",
        FailureCause::Target(_) => "scripts",
        FailureCause::Permission => "permission",
        FailureCause::Login => "login",
        FailureCause::Folder => "working-directory",
        FailureCause::Unmade => "setup",
        FailureCause::Resource => "resources",
        FailureCause::Time => "timeout",
        FailureCause::Patience => "rate-limit",
        FailureCause::Room => "context-window",
        FailureCause::Length => "output-limit",
        FailureCause::Network => "network",
        FailureCause::Sandbox => "sandbox",
        FailureCause::Code | FailureCause::Edit | FailureCause::Unknown => "",
    };
    let deed = trouble.deeds.last().and_then(|index| scene.deeds.get(*index));
    let program = deed.and_then(|deed| deed.line.as_ref()).map(|line| line.program_name().to_lowercase());
    let class = trouble.class.replace('_', "-");
    let mut tags: Vec<String> = Vec::new();
    let class = if cause.is_empty() { class } else { String::new() };
    for tag in [cause.to_owned(), program.unwrap_or_default(), class] {
        let is_word = !tag.is_empty() && tag.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        if is_word && tag != "command" && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

/// Collects quotes of a failure and its remedy: the agent's actions with their outputs, from several sessions if any.
fn collect_quotes(scene: &ActionTimeline<'_>, trouble: &FailureGroup) -> Vec<UncheckedQuote> {
    let mut quotes = Vec::new();
    let said = trouble.headline.as_str();
    if let Some(remedy) = &trouble.remedy {
        let failed = scene.deeds.get(remedy.failed);
        quotes.extend(failed.map(|deed| quote_action(scene, deed)));
        quotes.extend(failed.map(|deed| supporting_quotes::quote_output(scene.context, deed.place, said)));
        let between = match &remedy.how {
            RemedyKind::After(deeds) | RemedyKind::Code(deeds) | RemedyKind::Instead(_, deeds) => deeds.as_slice(),
            _ => &[],
        };
        quotes.extend(between.iter().filter_map(|index| scene.deeds.get(*index)).map(|deed| quote_action(scene, deed)));
        quotes.extend(scene.deeds.get(remedy.worked).map(|deed| quote_action(scene, deed)));
    }
    // One action in the agent's own words comes first, then the outputs, session by session.
    let mut places: Vec<StepReference> = trouble.places.values().copied().collect();
    if places.len() == 1 {
        let others = trouble.deeds.iter().filter_map(|index| scene.deeds.get(*index)).map(|deed| deed.place);
        places.extend(others);
    }
    let spread = sample_evenly(&places, supporting_quotes::MAX_QUOTES);
    if trouble.remedy.is_none() {
        let deeds = trouble.deeds.iter().filter_map(|index| scene.deeds.get(*index));
        quotes.extend(deeds.map(|deed| quote_action(scene, deed)).find(Option::is_some));
    }
    quotes.extend(spread.into_iter().map(|place| {
        supporting_quotes::quote_output(scene.context, place, said)
            .or_else(|| supporting_quotes::quote_anyone(scene.context, place, said))
    }));
    if trouble.is_fetched {
        let own = |cited: &Option<UncheckedQuote>| {
            cited.as_ref().is_some_and(|cited| supporting_quotes::is_agent_quote(scene.context, cited))
        };
        quotes.retain(own);
    }
    let mut quotes = supporting_quotes::dedup_and_cap(quotes);
    if !quotes.iter().any(|cited| supporting_quotes::is_trustworthy_quote(scene.context, cited))
        && let Some(said) =
            trouble.places.values().find_map(|place| supporting_quotes::quote_agent_before(scene.context, *place))
    {
        quotes.truncate(supporting_quotes::MAX_QUOTES - 1);
        quotes.insert(0, said);
    }
    quotes
}

/// Returns at most `most` places, spread evenly from the first to the last.
fn sample_evenly(places: &[StepReference], most: usize) -> Vec<StepReference> {
    let step = places.len().div_ceil(most.max(1)).max(1);
    places.iter().step_by(step).copied().collect()
}

/// Quotes what the agent did, in its own words.
fn quote_action(scene: &ActionTimeline<'_>, deed: &AgentAction<'_>) -> Option<UncheckedQuote> {
    match (&deed.action, deed.command()) {
        (_, Some(run)) => supporting_quotes::quote_agent(scene.context, deed.place, run),
        (ToolAction::Edit(changes), _) => {
            let new = ["new_string", "new_str", "newString", "content"]
                .iter()
                .find_map(|key| deed.arguments?.get(key)?.as_str());
            let new =
                new.and_then(|new| new.lines().find(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 6));
            new.and_then(|line| supporting_quotes::quote_agent(scene.context, deed.place, line))
                .or_else(|| supporting_quotes::quote_agent(scene.context, deed.place, &changes.first()?.path))
        }
        _ => supporting_quotes::find_step(scene.context, deed.place).and_then(|step| {
            let own = crate::context::quotable_texts(step).into_iter().find(|passage| {
                passage.trust == crate::domain::TrustClass::Agent
                    && passage.text.chars().filter(|c| c.is_alphanumeric()).count() >= 6
            })?;
            supporting_quotes::quote_agent(scene.context, deed.place, &own.text)
        }),
    }
}
