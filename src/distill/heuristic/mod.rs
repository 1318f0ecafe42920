//! Lessons without a model: rules over signals, steps and related episodes.
//!
//! It says less rather than more. A failure is a lesson if the log shows what to do about it and the cause lies around
//! the code, or if it comes again and again; everyday red and green is none. Every claim cites what the agent did beside
//! what came back.

mod account;
mod cause;
mod checks;
mod command;
mod headline;
mod naming;
mod own;
mod purpose;
mod quote;
mod remedy;
mod scene;
mod shown;
mod tell;
mod trouble;
mod user_preferences;
mod weigh;
mod words;

pub(super) use user_preferences::QuotedRemark;

use super::claim::{Cited, Claim, Place};
use crate::context::{Action, ReflectionContext};
use crate::domain::{
    DropReason, Dropped, EpisodeId, EpisodeStatus, Facets, MemoryCategory, MemoryKind, MemoryScope, Reflection,
    Severity,
};

use cause::Cause;
use remedy::How;
use scene::{Deed, Scene};
use trouble::{Trouble, Worth};
use weigh::Ground;

#[cfg(test)]
mod test_support;

#[cfg(test)]
#[path = "heuristic_tests.rs"]
mod tests;

/// More lessons of one session are noise.
const MAX_CLAIMS: usize = 5;

/// More than these are not told one by one.
const MAX_DROPPED: usize = 40;

/// What rules alone make of a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Distillate {
    pub(super) reflection: Reflection,
    /// The most important first.
    pub(super) claims: Vec<Claim>,
    pub(super) dropped: Vec<Dropped>,
}

/// Distils a session.
pub(super) fn distil(context: &ReflectionContext) -> Distillate {
    let scene = Scene::of(context);
    let mut dropped = Vec::new();
    let mut claims = Vec::new();
    for trouble in trouble::collect(&scene) {
        match trouble.judged(&scene) {
            Some(Ok(worth)) => match of_trouble(&scene, &trouble, worth) {
                claim if claim.quotes.is_empty() => {
                    dropped.push(left_out(
                        &claim.summary,
                        DropReason::NoEvidence,
                        "its words are no longer in the log",
                    ));
                }
                claim => claims.push(claim),
            },
            Some(Err((why, detail))) => dropped.push(left_out(&words::telling(&trouble.headline), why, detail)),
            None => {}
        }
    }
    claims.extend(checks::flaky(&scene, &mut dropped));
    claims.extend(user_preferences::collect_claims(&scene, &mut dropped));
    // The best first; of equals the one that came first.
    claims.sort_by(|a, b| b.importance.value().total_cmp(&a.importance.value()));
    let mut kept: Vec<Claim> = Vec::new();
    for claim in claims {
        match () {
            () if kept.iter().any(|known| is_same(known, &claim)) => {
                dropped.push(left_out(&claim.summary, DropReason::Repeated, "another lesson says it"));
            }
            () if kept.len() >= MAX_CLAIMS => {
                dropped.push(left_out(&claim.summary, DropReason::TooMany, "there were better ones"));
            }
            () => kept.push(claim),
        }
    }
    dropped.truncate(MAX_DROPPED);
    Distillate { reflection: account::reflection(&scene), claims: kept, dropped }
}

fn left_out(summary: &str, why: DropReason, detail: &str) -> Dropped {
    Dropped { summary: summary.to_owned(), why, detail: detail.to_owned() }
}

/// Whether two claims are about one matter: the same order, or the same deeds in proof.
fn is_same(one: &Claim, other: &Claim) -> bool {
    one.summary == other.summary || order(one).is_some_and(|order_| order(other) == Some(order_))
}

/// What a rule asks for.
fn order(claim: &Claim) -> Option<&str> {
    let (_, order) = claim.rule.as_deref()?.split_once(" THEN ")?;
    (claim.kind == MemoryKind::Lesson && order.contains('`')).then_some(order)
}

/// The claim that a failure makes.
fn of_trouble(scene: &Scene<'_>, trouble: &Trouble, worth: Worth) -> Claim {
    let told = tell::tell(scene, trouble);
    let (category, scope) = place_of(scene, trouble, worth);
    let has_failed = matches!(scene.context.episode.status, EpisodeStatus::Failed);
    let is_mended = trouble.is_mended(scene);
    let ground = match () {
        () if trouble.runs() >= 2 => Ground::AcrossRuns,
        () if is_mended && trouble.times >= 3 => Ground::Repeated,
        () if is_mended => Ground::Fixed,
        () if trouble.cause.is_limit() && trouble.times >= 3 => Ground::Repeated,
        () if trouble.cause.is_limit() => Ground::Fixed,
        () => Ground::Unmended,
    };
    let seen = match ground {
        Ground::AcrossRuns => format!("; in {} runs, {} times", trouble.runs(), trouble.times),
        _ if trouble.times > 1 => format!("; {} times", trouble.times),
        _ => String::new(),
    };
    let reason = format!("{}{seen}", trouble.ground(scene));
    let failed = if has_failed { "; the run failed" } else { "" };
    let mut episodes: Vec<EpisodeId> = trouble.episodes.iter().chain(&trouble.earlier).cloned().collect();
    episodes.dedup();
    let family = Some(trouble.family.clone());
    let first = trouble.places.keys().next().copied().unwrap_or_default();
    let facets = match (&scope, &category) {
        (MemoryScope::Provider, _) => Facets {
            provider: scene.agent(first),
            tool: trouble.rival(scene).map(|_| trouble.tool.to_lowercase()),
            error_family: family,
            ..Facets::default()
        },
        (MemoryScope::Tool, _) => {
            Facets { tool: Some(trouble.tool.to_lowercase()), error_family: family, ..Facets::default() }
        }
        (MemoryScope::Component, _) => {
            Facets { component: component(scene, trouble), error_family: family, ..Facets::default() }
        }
        _ => Facets { error_family: family, ..Facets::default() },
    };
    let scope = match &scope {
        MemoryScope::Provider if facets.provider.is_none() => MemoryScope::Project,
        MemoryScope::Component if facets.component.is_none() => MemoryScope::Project,
        scope => scope.clone(),
    };
    Claim {
        summary: told.summary,
        rule: Some(told.rule),
        detail: Some(told.detail),
        kind: MemoryKind::Lesson,
        category,
        scope,
        facets,
        tags: tags(scene, trouble),
        importance: weigh::importance(ground, trouble.times, has_failed),
        importance_reason: Some(format!("{reason}{failed}")),
        severity: Some(if is_mended { Severity::Info } else { Severity::Warning }),
        quotes: proof(scene, trouble),
        episodes,
        near: Vec::new(),
    }
}

/// What a lesson about a failure is about, and how far it holds.
fn place_of(scene: &Scene<'_>, trouble: &Trouble, worth: Worth) -> (MemoryCategory, MemoryScope) {
    let how = trouble.remedy.as_ref().map(|remedy| &remedy.how);
    let is_model = trouble.tool == "model";
    match (&trouble.cause, how) {
        (Cause::Room | Cause::Length | Cause::Patience, _) if is_model => {
            (MemoryCategory::ProviderQuirk, MemoryScope::Provider)
        }
        (_, None) if is_model => (MemoryCategory::ProviderQuirk, MemoryScope::Provider),
        (Cause::Time, _) if trouble.rival(scene).is_some() => (MemoryCategory::ProviderQuirk, MemoryScope::Provider),
        (_, Some(How::Wait)) => (MemoryCategory::Heuristic, MemoryScope::Project),
        (Cause::Room | Cause::Length | Cause::Patience | Cause::Flag | Cause::Target(_), _) => {
            (MemoryCategory::ToolUsage, MemoryScope::Project)
        }
        (Cause::Time, _) => (MemoryCategory::Infra, MemoryScope::Project),
        (Cause::Code, Some(How::Code(_))) => (MemoryCategory::BugfixPattern, MemoryScope::Component),
        (Cause::Code, Some(How::After(_) | How::In(_))) => (MemoryCategory::Infra, MemoryScope::Project),
        (Cause::Code, _) if matches!(trouble.class.as_str(), "test" | "assertion") => {
            (MemoryCategory::TestStrategy, MemoryScope::Project)
        }
        (Cause::Name(_) | Cause::Code, _) => (MemoryCategory::BugfixPattern, MemoryScope::Project),
        (_, Some(How::Instead(..))) if trouble.cause == Cause::Unknown => {
            (MemoryCategory::ToolUsage, MemoryScope::Project)
        }
        (Cause::Unknown, Some(How::After(_))) => (MemoryCategory::ToolUsage, MemoryScope::Project),
        (Cause::Unknown, _) if worth != Worth::Mended => (MemoryCategory::AntiPattern, MemoryScope::Project),
        _ => (MemoryCategory::Infra, MemoryScope::Project),
    }
}

/// The file that a lesson is about.
fn component(scene: &Scene<'_>, trouble: &Trouble) -> Option<String> {
    let remedy = trouble.remedy.as_ref()?;
    let How::Code(edits) = &remedy.how else { return None };
    let deed = scene.deeds.get(*edits.last()?)?;
    let Action::Edit(changes) = &deed.action else { return None };
    let path = words::relative(&changes.first()?.path, Some(scene.root(deed.place.trajectory)));
    (!path.starts_with(['/', '.', '~'])).then_some(path)
}

fn tags(scene: &Scene<'_>, trouble: &Trouble) -> Vec<String> {
    let cause = match &trouble.cause {
        Cause::Module(_) => "dependency",
        Cause::Program(_) => "missing-command",
        Cause::Variable(_) => "environment",
        Cause::Name(_) => "undefined-name",
        Cause::Port(_) => "port",
        Cause::Service => "service",
        Cause::Lock => "lock",
        Cause::Lockfile => "lockfile",
        Cause::Migration => "migration",
        Cause::Version => "version",
        Cause::Flag => "flags",
        Cause::Target(_) => "scripts",
        Cause::Permission => "permission",
        Cause::Login => "login",
        Cause::Folder => "working-directory",
        Cause::Unmade => "setup",
        Cause::Resource => "resources",
        Cause::Time => "timeout",
        Cause::Patience => "rate-limit",
        Cause::Room => "context-window",
        Cause::Length => "output-limit",
        Cause::Network => "network",
        Cause::Sandbox => "sandbox",
        Cause::Code | Cause::Edit | Cause::Unknown => "",
    };
    let deed = trouble.deeds.last().and_then(|index| scene.deeds.get(*index));
    let program = deed.and_then(|deed| deed.line.as_ref()).map(|line| line.program().to_lowercase());
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

/// What proves a failure, and what mended it: the agent's deed beside what came back, from several runs if there are some.
fn proof(scene: &Scene<'_>, trouble: &Trouble) -> Vec<Cited> {
    let mut quotes = Vec::new();
    let said = trouble.headline.as_str();
    if let Some(remedy) = &trouble.remedy {
        let failed = scene.deeds.get(remedy.failed);
        quotes.extend(failed.map(|deed| done(scene, deed)));
        quotes.extend(failed.map(|deed| quote::output(scene.context, deed.place, said)));
        let between = match &remedy.how {
            How::After(deeds) | How::Code(deeds) | How::Instead(_, deeds) => deeds.as_slice(),
            _ => &[],
        };
        quotes.extend(between.iter().filter_map(|index| scene.deeds.get(*index)).map(|deed| done(scene, deed)));
        quotes.extend(scene.deeds.get(remedy.worked).map(|deed| done(scene, deed)));
    }
    // One deed in the agent's own words, then the words that came back, run by run.
    let mut places: Vec<Place> = trouble.places.values().copied().collect();
    if places.len() == 1 {
        let others = trouble.deeds.iter().filter_map(|index| scene.deeds.get(*index)).map(|deed| deed.place);
        places.extend(others);
    }
    let spread = spread(&places, quote::MAX_QUOTES);
    if trouble.remedy.is_none() {
        let deeds = trouble.deeds.iter().filter_map(|index| scene.deeds.get(*index));
        quotes.extend(deeds.map(|deed| done(scene, deed)).find(Option::is_some));
    }
    quotes.extend(
        spread
            .into_iter()
            .map(|place| quote::output(scene.context, place, said).or_else(|| quote::any(scene.context, place, said))),
    );
    if trouble.is_fetched {
        let own = |cited: &Option<Cited>| cited.as_ref().is_some_and(|cited| quote::is_agents(scene.context, cited));
        quotes.retain(own);
    }
    let mut quotes = quote::few(quotes);
    if !quotes.iter().any(|cited| quote::is_own(scene.context, cited))
        && let Some(said) = trouble.places.values().find_map(|place| quote::before(scene.context, *place))
    {
        quotes.truncate(quote::MAX_QUOTES - 1);
        quotes.insert(0, said);
    }
    quotes
}

/// A few of many, from the first to the last.
fn spread(places: &[Place], most: usize) -> Vec<Place> {
    let step = places.len().div_ceil(most.max(1)).max(1);
    places.iter().step_by(step).copied().collect()
}

/// What the agent did, in its own words.
fn done(scene: &Scene<'_>, deed: &Deed<'_>) -> Option<Cited> {
    match (&deed.action, deed.command()) {
        (_, Some(run)) => quote::deed(scene.context, deed.place, run),
        (Action::Edit(changes), _) => {
            let new = ["new_string", "new_str", "newString", "content"]
                .iter()
                .find_map(|key| deed.arguments?.get(key)?.as_str());
            let new =
                new.and_then(|new| new.lines().find(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 6));
            new.and_then(|line| quote::deed(scene.context, deed.place, line))
                .or_else(|| quote::deed(scene.context, deed.place, &changes.first()?.path))
        }
        _ => quote::step(scene.context, deed.place).and_then(|step| {
            let own = crate::context::passages(step).into_iter().find(|passage| {
                passage.trust == crate::domain::TrustClass::Agent
                    && passage.text.chars().filter(|c| c.is_alphanumeric()).count() >= 6
            })?;
            quote::deed(scene.context, deed.place, &own.text)
        }),
    }
}
