//! Compares distilled candidates with the planted lessons.

use std::collections::BTreeMap;

use serde::Serialize;

use archivist_core::domain::Candidate;

use super::scenario::{PlantedLessonKind, ScenarioHalf};
use super::{ExpectedLesson, PlantedSession};

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;

/// The number of characters of a detail that are searched, so that copying the log into it does not count.
const READ_CHARACTERS: usize = 1_200;

/// The result of comparing the candidates of one session with its planted lesson.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlantedVerdict {
    /// The name of the session.
    pub session: String,
    /// The half of the session.
    pub half: ScenarioHalf,
    /// The kind of lesson that the session contains.
    pub kind: PlantedLessonKind,
    /// The format of the session's log.
    pub format: &'static str,
    /// The planted lesson, or `None` for a routine session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<ExpectedLesson>,
    /// The candidate that matches the planted lesson.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<PlantedLessonMatch>,
    /// The texts of all other candidates.
    pub extra: Vec<String>,
    /// The number of other candidates that mention the right words and cite the wrong steps.
    pub unproven: usize,
}

/// The candidate that matches the planted lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PlantedLessonMatch {
    /// The index of the candidate, counted from 0.
    pub at: usize,
    /// True if its category fits.
    pub filed: bool,
    /// True if it has a rule, or needs none.
    pub ruled: bool,
}

/// Compares candidates with the planted lesson: the first match is the lesson, all others are false.
pub(crate) fn score_candidates(session: &PlantedSession, candidates: &[Candidate]) -> PlantedVerdict {
    let found = session.expect.as_ref().and_then(|expect| {
        let at = candidates
            .iter()
            .position(|one| mentions_expected_words(expect, one) && cites_expected_step(expect, one))?;
        let candidate = candidates.get(at)?;
        let filed = expect.category.is_empty() || expect.category.contains(&candidate.category);
        Some(PlantedLessonMatch { at, filed, ruled: !expect.rule || candidate.rule.is_some() })
    });
    let others = || {
        let place = found.as_ref().map(|found| found.at);
        candidates.iter().enumerate().filter(move |(at, _)| Some(*at) != place).map(|(_, candidate)| candidate)
    };
    let is_unproven = |one: &&Candidate| {
        session
            .expect
            .as_ref()
            .is_some_and(|expect| mentions_expected_words(expect, one) && !cites_expected_step(expect, one))
    };
    PlantedVerdict {
        session: session.name.clone(),
        half: session.half,
        kind: session.kind,
        format: session.format.as_str(),
        expect: session.expect.clone(),
        extra: others().map(render_candidate).collect(),
        unproven: others().filter(is_unproven).count(),
        found,
    }
}

/// Returns true if a candidate mentions a word of every group.
fn mentions_expected_words(expect: &ExpectedLesson, candidate: &Candidate) -> bool {
    let text = normalize_text(&candidate_text(candidate));
    expect.mention.iter().all(|group| group.iter().any(|word| text.contains(&normalize_text(word))))
}

/// Returns true if one of the candidate's quotes is from a step that proves the lesson.
fn cites_expected_step(expect: &ExpectedLesson, candidate: &Candidate) -> bool {
    expect.steps.is_empty() || candidate.evidence.quotes.iter().any(|quote| expect.steps.contains(&quote.step))
}

fn candidate_text(candidate: &Candidate) -> String {
    let detail: String = candidate.detail.iter().flat_map(|detail| detail.chars()).take(READ_CHARACTERS).collect();
    [candidate.summary.as_str(), candidate.rule.as_deref().unwrap_or_default(), &detail].join("\n")
}

/// Returns the text in lower case with single spaces.
fn normalize_text(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn render_candidate(candidate: &Candidate) -> String {
    match &candidate.rule {
        Some(rule) => format!("{} ({rule})", candidate.summary),
        None => candidate.summary.clone(),
    }
}

/// The figures of a group of sessions; a share of nothing is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DistillScores {
    /// The number of sessions with a lesson.
    pub planted: usize,
    /// The number of sessions whose lesson was found.
    pub found: usize,
    /// The share of planted lessons that were found.
    pub recall: Option<f64>,
    /// The number of all candidates.
    pub claimed: usize,
    /// The share of candidates that match a planted lesson.
    pub precision: Option<f64>,
    /// The number of sessions without a lesson.
    pub routine: usize,
    /// The number of routine sessions without any candidate.
    pub silent: usize,
    /// The share of routine sessions without any candidate.
    pub silence: Option<f64>,
    /// The number of found lessons whose category fits.
    pub filed: usize,
    /// The number of found lessons that have a rule, or need none.
    pub ruled: usize,
}

impl DistillScores {
    fn from_verdicts<'v>(verdicts: impl Iterator<Item = &'v PlantedVerdict>) -> Self {
        let mut scores = Self::default();
        for verdict in verdicts {
            let claimed = verdict.extra.len() + usize::from(verdict.found.is_some());
            scores.claimed += claimed;
            match verdict.expect {
                Some(_) => scores.planted += 1,
                None => {
                    scores.routine += 1;
                    scores.silent += usize::from(claimed == 0);
                }
            }
            if let Some(found) = &verdict.found {
                scores.found += 1;
                scores.filed += usize::from(found.filed);
                scores.ruled += usize::from(found.ruled);
            }
        }
        scores.recall = compute_share(scores.found, scores.planted);
        scores.precision = compute_share(scores.found, scores.claimed);
        scores.silence = compute_share(scores.silent, scores.routine);
        scores
    }
}

fn compute_share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The figures of one distiller over all sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DistillTally {
    /// The figures over all sessions.
    pub all: DistillScores,
    /// The figures by half.
    pub halves: BTreeMap<ScenarioHalf, DistillScores>,
    /// The figures by kind of lesson, for each half.
    pub kinds: BTreeMap<ScenarioHalf, BTreeMap<PlantedLessonKind, DistillScores>>,
    /// The figures by the format of the log.
    pub formats: BTreeMap<&'static str, DistillScores>,
    /// The planted lessons that were not found.
    pub misses: Vec<MissedLesson>,
    /// The candidates that match no planted lesson.
    pub false_lessons: Vec<FalseLesson>,
}

/// A planted lesson that was not found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MissedLesson {
    /// The name of the session.
    pub session: String,
    /// The half of the session; misses in the holdout must not be inspected to improve a distiller.
    pub half: ScenarioHalf,
    /// The kind of the lesson.
    pub kind: PlantedLessonKind,
    /// The groups of words that it should mention.
    pub mention: Vec<Vec<String>>,
    /// The steps that prove it.
    pub steps: Vec<u32>,
    /// The number of candidates that mention it without proving it.
    pub unproven: usize,
}

/// A candidate that does not match the planted lesson.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FalseLesson {
    /// The name of the session.
    pub session: String,
    /// The half of the session.
    pub half: ScenarioHalf,
    /// The kind of lesson that the session contains.
    pub kind: PlantedLessonKind,
    /// The text of the candidate.
    pub text: String,
}

/// Sums up verdicts into the figures of a distiller.
pub(crate) fn tally_verdicts(verdicts: &[PlantedVerdict]) -> DistillTally {
    let mut halves: BTreeMap<ScenarioHalf, Vec<&PlantedVerdict>> = BTreeMap::new();
    let mut kinds: BTreeMap<ScenarioHalf, BTreeMap<PlantedLessonKind, Vec<&PlantedVerdict>>> = BTreeMap::new();
    let mut formats: BTreeMap<&'static str, Vec<&PlantedVerdict>> = BTreeMap::new();
    let (mut misses, mut false_lessons) = (Vec::new(), Vec::new());
    for verdict in verdicts {
        halves.entry(verdict.half).or_default().push(verdict);
        kinds.entry(verdict.half).or_default().entry(verdict.kind).or_default().push(verdict);
        formats.entry(verdict.format).or_default().push(verdict);
        if let (Some(expect), None) = (&verdict.expect, &verdict.found) {
            misses.push(MissedLesson {
                session: verdict.session.clone(),
                half: verdict.half,
                kind: verdict.kind,
                mention: expect.mention.clone(),
                steps: expect.steps.clone(),
                unproven: verdict.unproven,
            });
        }
        false_lessons.extend(verdict.extra.iter().map(|text| FalseLesson {
            session: verdict.session.clone(),
            half: verdict.half,
            kind: verdict.kind,
            text: text.clone(),
        }));
    }
    DistillTally {
        all: DistillScores::from_verdicts(verdicts.iter()),
        halves: score_groups(halves),
        kinds: kinds.into_iter().map(|(half, kinds)| (half, score_groups(kinds))).collect(),
        formats: score_groups(formats),
        misses,
        false_lessons,
    }
}

fn score_groups<K: Ord>(groups: BTreeMap<K, Vec<&PlantedVerdict>>) -> BTreeMap<K, DistillScores> {
    groups.into_iter().map(|(name, verdicts)| (name, DistillScores::from_verdicts(verdicts.into_iter()))).collect()
}
