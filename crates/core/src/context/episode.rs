//! Builds the episode of a session.

use std::collections::BTreeMap;

use super::failure_record::{is_fixed, record_failures};
use super::signal::{Signal, SignalKind};
use super::status::{JudgedStatus, judge_status};
use super::trajectory_collector::GatheredLogs;
use crate::domain::{
    Episode, EpisodeId, EpisodeKind, EpisodeStatus, EpisodeUsage, ErrorFamily, Extra, SessionId, Speaker, StatusBasis,
    Timestamp, TokenUsage,
};

#[cfg(test)]
#[path = "episode_tests.rs"]
mod tests;

/// The number of tags of an episode; more would match everything.
const MAX_TAGS: usize = 12;

/// The number of error families of an episode.
const MAX_FAMILIES: usize = 32;

/// The number of characters of a title or request that a summary shows.
const SHOWN_CHARACTERS: usize = 160;

/// A description of a session beyond what its log says.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionDescription {
    /// The agent's own id of the session.
    pub session_id: SessionId,
    /// The root folder of the project.
    pub project_root: String,
    /// The repository's identity, if it is known independently of the path.
    pub repo_id: Option<String>,
    /// The task, if the caller names it.
    pub task_id: Option<String>,
    /// The subtask, if the caller names it.
    pub subtask_id: Option<String>,
    /// The kind of episode, if the caller says so.
    pub kind: Option<EpisodeKind>,
    /// The outcome of the session, if the caller says so.
    pub outcome: Option<EpisodeStatus>,
    /// The time of reading, used where the log has no time.
    pub now: Timestamp,
}

/// The status of a session with a short summary.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeOutline {
    /// The status in which the session ended.
    pub status: EpisodeStatus,
    /// The basis of that status.
    pub basis: StatusBasis,
    /// A summary in one to three sentences.
    pub summary: String,
}

/// Judges how a session ended from the caller's word and its logs, and summarizes it.
pub fn outline_episode(gathered: &GatheredLogs, caller: Option<&EpisodeStatus>) -> EpisodeOutline {
    let JudgedStatus { status, basis } = judge_status(gathered, caller);
    EpisodeOutline { summary: write_summary(gathered, &status), status, basis }
}

/// Builds the episode of a session.
pub fn build_episode(run: &SessionDescription, gathered: &GatheredLogs) -> Episode {
    let main = gathered.trajectories.first();
    let about = main.map(|trajectory| trajectory.about.clone()).unwrap_or_default();
    let started_at = gathered.trajectories.iter().filter_map(|one| one.about.started_at).min().unwrap_or(run.now);
    let finished_at = gathered.trajectories.iter().filter_map(|one| one.about.finished_at).max().unwrap_or(run.now);
    let project = run.repo_id.as_deref().unwrap_or(&run.project_root);
    let EpisodeOutline { status, basis, summary } = outline_episode(gathered, run.outcome.as_ref());
    Episode {
        id: EpisodeId::for_session(project, run.session_id.as_str()),
        project_root: run.project_root.clone(),
        repo_id: run.repo_id.clone(),
        task_id: run.task_id.clone().or_else(|| about.task_id.clone()),
        subtask_id: run.subtask_id.clone().or_else(|| about.subtask_id.clone()),
        session_id: run.session_id.clone(),
        kind: run.kind.clone().unwrap_or_else(|| infer_episode_kind(about.agent.as_deref())),
        started_at,
        finished_at,
        status,
        status_basis: Some(basis),
        summary,
        tags: collect_tags(gathered),
        error_families: collect_families(&gathered.signals),
        failures: record_failures(gathered),
        request: find_request(gathered),
        trajectories: gathered
            .trajectories
            .iter()
            .filter_map(|one| one.about.trajectory_id.clone().or_else(|| one.about.session_id.clone()))
            .fold(Vec::new(), |mut ids, id| {
                if !ids.contains(&id) {
                    ids.push(id);
                }
                ids
            }),
        usage: episode_usage(gathered.survey.usage.add_usage(gathered.survey.subagent_usage)),
        reflected: None,
        extra: Extra::new(),
    }
}

fn infer_episode_kind(agent: Option<&str>) -> EpisodeKind {
    match agent {
        Some("healer") => EpisodeKind::HealerRun,
        Some("mechacoder" | "openagents" | "orchestrator" | "archeflow") => EpisodeKind::OrchestratorRun,
        _ => EpisodeKind::SubagentRun,
    }
}

fn episode_usage(usage: TokenUsage) -> Option<EpisodeUsage> {
    (!usage.is_unknown()).then(|| EpisodeUsage {
        prompt_tokens: usage.prompt_tokens.unwrap_or_default(),
        completion_tokens: usage.completion_tokens.unwrap_or_default(),
        cached_tokens: usage.cached_tokens.unwrap_or_default(),
        cost_usd: usage.cost_usd,
        extra: Extra::new(),
    })
}

/// Returns failures that no later signal shows as fixed.
fn unfixed_failures(gathered: &GatheredLogs) -> impl Iterator<Item = &Signal> {
    let is_open = |family: &ErrorFamily| !is_fixed(gathered, family);
    let failures = gathered.signals.iter().filter(|signal| signal.kind.is_failure());
    failures.filter(move |signal| signal.error_family.as_ref().is_some_and(is_open))
}

/// Writes one to three sentences: the subject of the session, its end, and the main obstacle.
fn write_summary(gathered: &GatheredLogs, status: &EpisodeStatus) -> String {
    let main = gathered.trajectories.first();
    let title = main.and_then(|main| main.about.title.as_deref());
    let subject =
        title.or_else(|| first_request(gathered)).map(shorten_to_sentence).filter(|subject| !subject.is_empty());
    let counts = gathered.survey.counts;
    let runs = if counts.trajectories > 1 { format!("{} runs, ", counts.trajectories) } else { String::new() };
    let failed = if counts.tool_errors > 0 { format!(", {} failed", counts.tool_errors) } else { String::new() };
    let ended = format!(
        "{}: {runs}{} steps, {} calls{failed}.",
        capitalize_word(status.as_str()),
        counts.steps,
        counts.tool_calls
    );
    let matter = most_telling_signal(gathered).map(|signal| {
        let times =
            if signal.kind == SignalKind::RepeatedFailure { format!("{}× ", signal.times) } else { String::new() };
        format!("{times}{}.", shorten_to_sentence(&signal.text).trim_end_matches([';', '.']))
    });
    [subject.map(|subject| format!("{}.", subject.trim_end_matches([';', '.']))), Some(ended), matter]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns what the person, or whoever gave the order, said first.
fn first_request(gathered: &GatheredLogs) -> Option<&str> {
    let main = gathered.trajectories.first()?;
    let said = main.steps.iter().find(|step| step.speaker == Speaker::User && !step.copied)?;
    Some(&said.text)
}

/// Returns the beginning of the request, if there is one.
fn find_request(gathered: &GatheredLogs) -> Option<String> {
    first_request(gathered).map(Episode::shorten_request).filter(|request| !request.is_empty())
}

/// Returns the signal that says most about the session.
fn most_telling_signal(gathered: &GatheredLogs) -> Option<&Signal> {
    let of = |kind: SignalKind| {
        gathered
            .signals
            .iter()
            .filter(move |signal| signal.kind == kind)
            .max_by_key(|signal| (signal.times, std::cmp::Reverse(signal.step)))
    };
    let fixed = || of(SignalKind::Fixed).filter(|signal| !signal.alternative);
    of(SignalKind::RepeatedFailure)
        .or_else(fixed)
        .or_else(|| of(SignalKind::FlakyTest))
        .or_else(|| unfixed_failures(gathered).next())
        .or_else(|| of(SignalKind::UserCorrection))
}

/// Returns the first line of a text as one short sentence without inner full stops.
fn shorten_to_sentence(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let unstopped = words.iter().enumerate().map(|(at, word)| without_full_stop(word, words.get(at + 1).copied()));
    let mut short = unstopped.collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = short.char_indices().nth(SHOWN_CHARACTERS) {
        short.truncate(cut);
        short.push('…');
    }
    short
}

/// Returns a word without its full stop: where a new sentence would begin, the stop becomes a semicolon.
fn without_full_stop(word: &str, next: Option<&str>) -> String {
    const CLOSERS: &[char] = &[')', ']', '"', '\'', '”', '’', '»'];
    let begins = next.is_none_or(|next| next.chars().find(|c| c.is_alphanumeric()).is_none_or(|c| !c.is_lowercase()));
    let open = word.trim_end_matches(CLOSERS);
    let bare = open.trim_end_matches(['.', '!', '?', '。', '！', '？']);
    let is_stop = bare.len() < open.len() && !bare.is_empty() && !open.ends_with("..");
    if begins && is_stop { format!("{bare};") } else { word.to_owned() }
}

fn capitalize_word(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Collects the agent, the most used tools and the kinds of signals as tags.
fn collect_tags(gathered: &GatheredLogs) -> Vec<String> {
    let mut tools: BTreeMap<String, usize> = BTreeMap::new();
    for call in gathered.trajectories.iter().flat_map(|one| &one.steps).flat_map(|step| &step.calls) {
        *tools.entry(call.tool.to_lowercase()).or_default() += 1;
    }
    let mut by_use: Vec<(String, usize)> = tools.into_iter().collect();
    by_use.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let agent = gathered.trajectories.first().and_then(|main| main.about.agent.clone());
    let kinds = gathered.signals.iter().map(|signal| signal.kind.as_str().replace('_', "-"));
    let mut tags: Vec<String> = Vec::new();
    for tag in agent.into_iter().chain(by_use.into_iter().take(4).map(|(tool, _)| tool)).chain(kinds) {
        if !tag.is_empty() && !tags.contains(&tag) && tags.len() < MAX_TAGS {
            tags.push(tag);
        }
    }
    tags
}

/// Collects the error families of the signals, the most frequent first.
fn collect_families(signals: &[Signal]) -> Vec<ErrorFamily> {
    let mut times: BTreeMap<&ErrorFamily, u32> = BTreeMap::new();
    for signal in signals {
        if let Some(family) = &signal.error_family {
            let known = times.entry(family).or_default();
            *known = (*known).max(signal.times);
        }
    }
    let mut families: Vec<(&ErrorFamily, u32)> = times.into_iter().collect();
    families.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    families.into_iter().take(MAX_FAMILIES).map(|(family, _)| family.clone()).collect()
}
