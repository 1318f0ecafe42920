//! Whether what was distilled is what was planted.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::Candidate;

use super::scenario::{Half, Kind};
use super::{Expectation, Session};

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;

/// So much of a detail is read: who copies the log into it has not said anything.
const READ_CHARACTERS: usize = 1_200;

/// What came of one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    /// The session.
    pub session: String,
    /// Its half.
    pub half: Half,
    /// What there is to learn in it.
    pub kind: Kind,
    /// Its log's format.
    pub format: &'static str,
    /// What was planted, where something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// The candidate that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
    /// All other candidates, in their own words.
    pub extra: Vec<String>,
    /// Those of them that say the right words and prove them by the wrong steps.
    pub unproven: usize,
}

/// The candidate that says what was planted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Found {
    /// Its place among the candidates, counted from 0.
    pub at: usize,
    /// Whether its category fits.
    pub filed: bool,
    /// Whether it has a rule, or needs none.
    pub ruled: bool,
}

/// Holds candidates against what was planted. The first that matches is it; all others are false.
pub(crate) fn score(session: &Session, candidates: &[Candidate]) -> Verdict {
    let found = session.expect.as_ref().and_then(|expect| {
        let at = candidates.iter().position(|one| says(expect, one) && proves(expect, one))?;
        let candidate = candidates.get(at)?;
        let filed = expect.category.is_empty() || expect.category.contains(&candidate.category);
        Some(Found { at, filed, ruled: !expect.rule || candidate.rule.is_some() })
    });
    let others = || {
        let place = found.as_ref().map(|found| found.at);
        candidates.iter().enumerate().filter(move |(at, _)| Some(*at) != place).map(|(_, candidate)| candidate)
    };
    let is_unproven =
        |one: &&Candidate| session.expect.as_ref().is_some_and(|expect| says(expect, one) && !proves(expect, one));
    Verdict {
        session: session.name.clone(),
        half: session.half,
        kind: session.kind,
        format: session.format.as_str(),
        expect: session.expect.clone(),
        extra: others().map(shown).collect(),
        unproven: others().filter(is_unproven).count(),
        found,
    }
}

/// Whether a candidate mentions one of every group.
fn says(expect: &Expectation, candidate: &Candidate) -> bool {
    let text = plain(&words_of(candidate));
    expect.mention.iter().all(|group| group.iter().any(|word| text.contains(&plain(word))))
}

/// Whether one of its quotes stands in a step that proves it.
fn proves(expect: &Expectation, candidate: &Candidate) -> bool {
    expect.steps.is_empty() || candidate.evidence.quotes.iter().any(|quote| expect.steps.contains(&quote.step))
}

fn words_of(candidate: &Candidate) -> String {
    let detail: String = candidate.detail.iter().flat_map(|detail| detail.chars()).take(READ_CHARACTERS).collect();
    [candidate.summary.as_str(), candidate.rule.as_deref().unwrap_or_default(), &detail].join("\n")
}

/// In small letters, with single spaces.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown(candidate: &Candidate) -> String {
    match &candidate.rule {
        Some(rule) => format!("{} ({rule})", candidate.summary),
        None => candidate.summary.clone(),
    }
}

/// How it went over some sessions. A share of nothing is not there.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Scores {
    /// Sessions with a lesson.
    pub planted: usize,
    /// Those whose lesson was found.
    pub found: usize,
    /// The share of them.
    pub recall: Option<f64>,
    /// Candidates, whatever they say.
    pub claimed: usize,
    /// The share of them that are what was planted.
    pub precision: Option<f64>,
    /// Sessions without a lesson.
    pub routine: usize,
    /// Those of which nothing was claimed.
    pub silent: usize,
    /// The share of them.
    pub silence: Option<f64>,
    /// Found lessons whose category fits.
    pub filed: usize,
    /// Found lessons that have a rule, or need none.
    pub ruled: usize,
}

impl Scores {
    fn of<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Self {
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
        scores.recall = share(scores.found, scores.planted);
        scores.precision = share(scores.found, scores.claimed);
        scores.silence = share(scores.silent, scores.routine);
        scores
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tally {
    /// Over all sessions.
    pub all: Scores,
    /// By half.
    pub halves: BTreeMap<Half, Scores>,
    /// By what there is to learn, for each half.
    pub kinds: BTreeMap<Half, BTreeMap<Kind, Scores>>,
    /// By the log's format.
    pub formats: BTreeMap<&'static str, Scores>,
    /// What was planted and not found.
    pub misses: Vec<Missed>,
    /// What was claimed and not planted.
    pub false_lessons: Vec<FalseLesson>,
}

/// A lesson that was not found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Missed {
    /// In which session.
    pub session: String,
    /// Of which half: whoever mends a distiller by its misses must not look at those held out.
    pub half: Half,
    /// What it is.
    pub kind: Kind,
    /// The words that it should hold.
    pub mention: Vec<Vec<String>>,
    /// The steps that prove it.
    pub steps: Vec<u32>,
    /// How many candidates said it and did not prove it.
    pub unproven: usize,
}

/// A candidate that says something else than what was planted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FalseLesson {
    /// In which session.
    pub session: String,
    /// Of which half.
    pub half: Half,
    /// What there was to learn instead.
    pub kind: Kind,
    /// What it says.
    pub text: String,
}

/// Counts verdicts.
pub(crate) fn tally(verdicts: &[Verdict]) -> Tally {
    let mut halves: BTreeMap<Half, Vec<&Verdict>> = BTreeMap::new();
    let mut kinds: BTreeMap<Half, BTreeMap<Kind, Vec<&Verdict>>> = BTreeMap::new();
    let mut formats: BTreeMap<&'static str, Vec<&Verdict>> = BTreeMap::new();
    let (mut misses, mut false_lessons) = (Vec::new(), Vec::new());
    for verdict in verdicts {
        halves.entry(verdict.half).or_default().push(verdict);
        kinds.entry(verdict.half).or_default().entry(verdict.kind).or_default().push(verdict);
        formats.entry(verdict.format).or_default().push(verdict);
        if let (Some(expect), None) = (&verdict.expect, &verdict.found) {
            misses.push(Missed {
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
    Tally {
        all: Scores::of(verdicts.iter()),
        halves: scored(halves),
        kinds: kinds.into_iter().map(|(half, kinds)| (half, scored(kinds))).collect(),
        formats: scored(formats),
        misses,
        false_lessons,
    }
}

fn scored<K: Ord>(groups: BTreeMap<K, Vec<&Verdict>>) -> BTreeMap<K, Scores> {
    groups.into_iter().map(|(name, verdicts)| (name, Scores::of(verdicts.into_iter()))).collect()
}
