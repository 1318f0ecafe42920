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
    let timeline = ActionTimeline::from_context(context);
    let mut dropped = Vec::new();
    let mut claims = Vec::new();
    for group in failure_groups::group_failures(&timeline) {
        match group.judge_worth(&timeline) {
            Some(Ok(worth)) => match candidate_from_failures(&timeline, &group, worth) {
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
                dropped.push(make_dropped(&sentence_text::shorten_error(&group.headline), why, detail));
            }
            None => {}
        }
    }
    claims.extend(test_flakiness::find_flaky_tests(&timeline, &mut dropped));
    claims.extend(user_preferences::collect_candidates(&timeline, &mut dropped));
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
    HeuristicFindings { reflection: session_account::build_reflection(&timeline), claims: kept, dropped }
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
    timeline: &ActionTimeline<'_>,
    group: &FailureGroup,
    worth: LessonReason,
) -> UncheckedCandidate {
    let told = lesson_text::write_lesson_text(timeline, group);
    let (category, scope) = choose_category_and_scope(timeline, group, worth);
    let has_failed = matches!(timeline.context.episode.status, EpisodeStatus::Failed);
    let is_mended = group.is_remedied(timeline);
    let basis = match () {
        () if group.episode_count() >= 2 => ImportanceBasis::FailureAcrossSessions,
        () if is_mended && group.times >= 3 => ImportanceBasis::RepeatedFailure,
        () if is_mended => ImportanceBasis::FailureWithFix,
        () if group.cause.is_limit() && group.times >= 3 => ImportanceBasis::RepeatedFailure,
        () if group.cause.is_limit() => ImportanceBasis::FailureWithFix,
        () => ImportanceBasis::UnresolvedFailure,
    };
    let seen = match basis {
        ImportanceBasis::FailureAcrossSessions => {
            format!("; in {} runs, {} times", group.episode_count(), group.times)
        }
        _ if group.times > 1 => format!("; {} times", group.times),
        _ => String::new(),
    };
    let reason = format!("{}{seen}", group.describe_basis(timeline));
    let failed = if has_failed { "; the run failed" } else { "" };
    let mut episodes: Vec<EpisodeId> = group.episodes.iter().chain(&group.earlier).cloned().collect();
    episodes.dedup();
    let family = Some(group.family.clone());
    let first = group.places.keys().next().copied().unwrap_or_default();
    let facets = match (&scope, &category) {
        (MemoryScope::Provider, _) => FacetValues {
            provider: timeline.agent_name(first),
            tool: group.find_rival_agent(timeline).map(|_| group.tool.to_lowercase()),
            error_family: family,
            ..FacetValues::default()
        },
        (MemoryScope::Tool, _) => {
            FacetValues { tool: Some(group.tool.to_lowercase()), error_family: family, ..FacetValues::default() }
        }
        (MemoryScope::Component, _) => {
            FacetValues { component: find_component(timeline, group), error_family: family, ..FacetValues::default() }
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
        tags: collect_tags(timeline, group),
        importance: Importance::from_basis(basis, group.times, has_failed),
        importance_reason: Some(format!("{reason}{failed}")),
        severity: Some(if is_mended { Severity::Info } else { Severity::Warning }),
        quotes: collect_quotes(timeline, group),
        episodes,
        near: Vec::new(),
    }
}

/// Returns the category and the scope of a lesson about a failure.
fn choose_category_and_scope(
    timeline: &ActionTimeline<'_>,
    group: &FailureGroup,
    worth: LessonReason,
) -> (MemoryCategory, MemoryScope) {
    let how = group.remedy.as_ref().map(|remedy| &remedy.how);
    let is_model = group.tool == "model";
    match (&group.cause, how) {
        (FailureCause::Room | FailureCause::Length | FailureCause::Patience, _) if is_model => {
            (MemoryCategory::ProviderQuirk, MemoryScope::Provider)
        }
        (_, None) if is_model => (MemoryCategory::ProviderQuirk, MemoryScope::Provider),
        (FailureCause::Time, _) if group.find_rival_agent(timeline).is_some() => {
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
        (FailureCause::Code, _) if matches!(group.class.as_str(), "test" | "assertion") => {
            (MemoryCategory::TestStrategy, MemoryScope::Project)
        }
        (FailureCause::Name(_) | FailureCause::Code, _) => (MemoryCategory::BugfixPattern, MemoryScope::Project),
        (_, Some(RemedyKind::Instead(..))) if group.cause == FailureCause::Unknown => {
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
fn find_component(timeline: &ActionTimeline<'_>, group: &FailureGroup) -> Option<String> {
    let remedy = group.remedy.as_ref()?;
    let RemedyKind::Code(edits) = &remedy.how else { return None };
    let agent_action = timeline.actions.get(*edits.last()?)?;
    let ToolAction::Edit(changes) = &agent_action.action else { return None };
    let path = sentence_text::shorten_paths(
        &changes.first()?.path,
        Some(timeline.working_folder(agent_action.place.trajectory)),
    );
    (!path.starts_with(['/', '.', '~'])).then_some(path)
}

fn collect_tags(timeline: &ActionTimeline<'_>, group: &FailureGroup) -> Vec<String> {
    let cause = match &group.cause {
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
    let agent_action = group.actions.last().and_then(|index| timeline.actions.get(*index));
    let program =
        agent_action.and_then(|agent_action| agent_action.line.as_ref()).map(|line| line.program_name().to_lowercase());
    let class = group.class.replace('_', "-");
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
fn collect_quotes(timeline: &ActionTimeline<'_>, group: &FailureGroup) -> Vec<UncheckedQuote> {
    let mut quotes = Vec::new();
    let said = group.headline.as_str();
    if let Some(remedy) = &group.remedy {
        let failed = timeline.actions.get(remedy.failed);
        quotes.extend(failed.map(|agent_action| quote_action(timeline, agent_action)));
        quotes.extend(
            failed.map(|agent_action| supporting_quotes::quote_output(timeline.context, agent_action.place, said)),
        );
        let between = match &remedy.how {
            RemedyKind::After(actions) | RemedyKind::Code(actions) | RemedyKind::Instead(_, actions) => {
                actions.as_slice()
            }
            _ => &[],
        };
        quotes.extend(
            between
                .iter()
                .filter_map(|index| timeline.actions.get(*index))
                .map(|agent_action| quote_action(timeline, agent_action)),
        );
        quotes.extend(timeline.actions.get(remedy.worked).map(|agent_action| quote_action(timeline, agent_action)));
    }
    // One action in the agent's own words comes first, then the outputs, session by session.
    let mut places: Vec<StepReference> = group.places.values().copied().collect();
    if places.len() == 1 {
        let others = group
            .actions
            .iter()
            .filter_map(|index| timeline.actions.get(*index))
            .map(|agent_action| agent_action.place);
        places.extend(others);
    }
    let spread = sample_evenly(&places, supporting_quotes::MAX_QUOTES);
    if group.remedy.is_none() {
        let actions = group.actions.iter().filter_map(|index| timeline.actions.get(*index));
        quotes.extend(actions.map(|agent_action| quote_action(timeline, agent_action)).find(Option::is_some));
    }
    quotes.extend(spread.into_iter().map(|place| {
        supporting_quotes::quote_output(timeline.context, place, said)
            .or_else(|| supporting_quotes::quote_anyone(timeline.context, place, said))
    }));
    if group.is_fetched {
        let own = |cited: &Option<UncheckedQuote>| {
            cited.as_ref().is_some_and(|cited| supporting_quotes::is_agent_quote(timeline.context, cited))
        };
        quotes.retain(own);
    }
    let mut quotes = supporting_quotes::dedup_and_cap(quotes);
    if !quotes.iter().any(|cited| supporting_quotes::is_trustworthy_quote(timeline.context, cited))
        && let Some(said) =
            group.places.values().find_map(|place| supporting_quotes::quote_agent_before(timeline.context, *place))
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
fn quote_action(timeline: &ActionTimeline<'_>, agent_action: &AgentAction<'_>) -> Option<UncheckedQuote> {
    match (&agent_action.action, agent_action.command()) {
        (_, Some(run)) => supporting_quotes::quote_agent(timeline.context, agent_action.place, run),
        (ToolAction::Edit(changes), _) => {
            let new = ["new_string", "new_str", "newString", "content"]
                .iter()
                .find_map(|key| agent_action.arguments?.get(key)?.as_str());
            let new =
                new.and_then(|new| new.lines().find(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 6));
            new.and_then(|line| supporting_quotes::quote_agent(timeline.context, agent_action.place, line)).or_else(
                || supporting_quotes::quote_agent(timeline.context, agent_action.place, &changes.first()?.path),
            )
        }
        _ => supporting_quotes::find_step(timeline.context, agent_action.place).and_then(|step| {
            let own = crate::context::quotable_texts(step).into_iter().find(|passage| {
                passage.trust == crate::domain::TrustClass::Agent
                    && passage.text.chars().filter(|c| c.is_alphanumeric()).count() >= 6
            })?;
            supporting_quotes::quote_agent(timeline.context, agent_action.place, &own.text)
        }),
    }
}
