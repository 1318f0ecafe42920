//! Public sets of questions: how well what is right is put first, by words and by meaning.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::draw::Draw;
use super::super::model::Model;
use super::super::redact::read as read_text;
use super::collection::{Collection, Meanings};
use super::figures::Figures;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::prose::count;
use crate::recall::{self, Overlap, Ranking, Score, closeness, recency, units};
use crate::text::Cutter;

/// nDCG@10 as recorded in the README beside the public sets: the best of two libraries and two settings of SQLite's
/// full-text search, MiniLM, and plain rank fusion. For `sde_chat` it is the share of right answers in the first place.
const RECORDED: &[(&str, f64, f64, f64)] = &[
    ("locomo", 0.423, 0.307, 0.418),
    ("locomo_session", 0.761, 0.417, 0.597),
    ("beam_100k", 0.330, 0.449, 0.399),
    ("scifact", 0.687, 0.650, 0.723),
    ("coderag_odex", 0.448, 0.564, 0.558),
    ("nl2bash", 0.368, 0.504, 0.497),
    ("reme_en", 0.264, 0.393, 0.345),
    ("sde_chat", 0.88, 0.79, 0.82),
];

/// Plain rank fusion adds up one over the place and this.
const FUSION: f64 = 60.0;
/// Answers that are looked at for each question.
const DEPTH: usize = 50;
/// A moment of a day, for lessons whose age nobody knows.
const DAY: i64 = 86_400_000;

#[derive(Debug, Deserialize)]
struct Text {
    id: String,
    group: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Query {
    group: String,
    text: String,
    rel: BTreeMap<String, f64>,
}

/// Texts, and questions to them.
pub(super) struct Set {
    name: String,
    texts: Vec<Text>,
    queries: Vec<Query>,
}

/// What was reached on one set.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetScore {
    pub(super) name: String,
    pub(super) texts: usize,
    pub(super) questions: usize,
    pub(super) rows: Vec<Row>,
    /// Recorded with the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<Recorded>,
    /// The middle one of the times that a question by words took, in microseconds.
    pub(super) microseconds: f64,
}

/// What was recorded with the data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recorded {
    pub(super) words: f64,
    pub(super) embeddings: f64,
    pub(super) rank_fusion: f64,
}

/// What one way to rank reaches.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub(super) method: &'static str,
    #[serde(flatten)]
    pub(super) figures: Figures,
}

/// The sets of a directory, or those that were asked for.
pub(super) fn names(directory: &Path, wanted: &[String]) -> Vec<Result<PathBuf, Failure>> {
    if !wanted.is_empty() {
        return wanted.iter().map(|name| Ok(directory.join(name))).collect();
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return vec![Err(Failure::user(format!("cannot read {}: {error}", directory.display())))],
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    if paths.is_empty() {
        let what = format!("there are no sets in {}", directory.display());
        return vec![Err(Failure::user(what).with_hint("a set is a directory with a corpus and queries; see --help"))];
    }
    paths.into_iter().map(Ok).collect()
}

pub(super) fn read(directory: &Path, console: &mut Console) -> Result<Set> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let texts = records(directory, "corpus", console)?;
    let queries = records(directory, "queries", console)?;
    Ok(Set { name, texts, queries })
}

fn records<T: serde::de::DeserializeOwned>(directory: &Path, what: &str, console: &mut Console) -> Result<Vec<T>> {
    let packed = directory.join(format!("{what}.jsonl.gz"));
    let path = if packed.exists() { packed } else { directory.join(format!("{what}.jsonl")) };
    let text = read_text(&path)?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let records: Vec<T> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if records.len() < lines.len() {
        let strange = count(lines.len() - records.len(), "line", "lines");
        console.warn(&format!("{strange} of {} not understood and skipped", path.display()));
    }
    Ok(records)
}

/// One group, ready to be asked.
struct Group<'s> {
    texts: Vec<&'s Text>,
    collection: Collection,
    meanings: Option<Meanings>,
    /// What the score would know of each text besides.
    worth: Vec<(f64, f64)>,
}

/// Measures one set.
pub(super) fn score(set: &Set, ranking: &Ranking, model: Option<&Model>) -> Result<SetScore> {
    let mut by_group: BTreeMap<&str, Vec<&Text>> = BTreeMap::new();
    for text in &set.texts {
        by_group.entry(&text.group).or_default().push(text);
    }
    let mut cutter = Cutter::default();
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for (name, texts) in by_group {
        let collection = Collection::new(texts.iter().map(|text| text.text.as_str()), &mut cutter);
        let meanings = model.map(|model| meanings(model, &texts)).transpose()?;
        let worth = texts.iter().map(|text| worth(&text.id, ranking)).collect();
        groups.insert(name, Group { texts, collection, meanings, worth });
    }
    let mut rows: BTreeMap<(usize, &'static str), Vec<Figures>> = BTreeMap::new();
    let mut times = Vec::new();
    for query in &set.queries {
        let Some(group) = groups.get(query.group.as_str()) else { continue };
        let started = Instant::now();
        let (_, overlaps) = group.collection.overlaps(&query.text);
        let words = group.ranked(|place| closeness(overlaps.get(&place).copied(), None));
        times.push(started.elapsed().as_secs_f64() * 1e6);
        let mut note = |number: usize, method: &'static str, ranked: &[usize]| {
            rows.entry((number, method)).or_default().push(Figures::of(&group.names(ranked), &query.rel));
        };
        note(0, "words", &words);
        note(1, "words, gate, full score", &group.gated(&words, &overlaps, ranking));
        note(2, "words, as recall orders them", &group.arranged(&words, &overlaps, ranking));
        note(3, "full score over everything", &group.scored(&overlaps, ranking));
        if let (Some(model), Some(meanings)) = (model, &group.meanings) {
            let asked = model.embed(std::slice::from_ref(&query.text))?;
            let Some(asked) = asked.first() else { continue };
            let cosines = meanings.cosines(asked);
            let cosine = |place: usize| cosines.get(place).copied();
            let meaning = group.ranked(|place| cosine(place).unwrap_or_default() + 1.0);
            note(4, "embeddings", &meaning);
            note(5, "plain rank fusion", &fused(&words, &meaning));
            note(
                6,
                "words and embeddings",
                &group.ranked(|place| closeness(overlaps.get(&place).copied(), cosine(place)) + 2.0),
            );
        }
    }
    times.sort_by(f64::total_cmp);
    let recorded = RECORDED.iter().find(|(name, ..)| *name == set.name);
    Ok(SetScore {
        name: set.name.clone(),
        texts: set.texts.len(),
        questions: set.queries.len(),
        rows: rows.into_iter().map(|((_, method), all)| Row { method, figures: Figures::mean(&all) }).collect(),
        recorded: recorded.map(|&(_, words, embeddings, rank_fusion)| Recorded { words, embeddings, rank_fusion }),
        microseconds: times.get(times.len() / 2).copied().unwrap_or_default(),
    })
}

impl<'s> Group<'s> {
    fn names(&self, ranked: &[usize]) -> Vec<&'s str> {
        ranked.iter().filter_map(|place| self.texts.get(*place).map(|text| text.id.as_str())).collect()
    }

    /// The best by a value that must be above 0, the earlier first where two are equal.
    fn ranked(&self, value: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut all: Vec<(usize, f64)> = (0..self.collection.len()).map(|place| (place, value(place))).collect();
        all.retain(|(_, value)| *value > 0.0);
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all.into_iter().take(DEPTH).map(|(place, _)| place).collect()
    }

    fn score(&self, place: usize, overlap: Option<Overlap>, ranking: &Ranking) -> Score {
        let (importance, recency) = self.worth.get(place).copied().unwrap_or_default();
        let closeness = closeness(overlap, None);
        Score { closeness, ..recall::score(&ranking.weights, importance, recency, closeness.min(1.0)) }
    }

    /// What the gate lets through, the score deciding among those that are about as close.
    fn arranged(&self, words: &[usize], overlaps: &BTreeMap<usize, Overlap>, ranking: &Ranking) -> Vec<usize> {
        let (let_in, rest) = words.split_at(ranking.gate.min(words.len()));
        let score = |&place: &usize| self.score(place, overlaps.get(&place).copied(), ranking);
        let mut arranged = let_in.to_vec();
        recall::arrange(&mut arranged, &Ranking { far: 0.0, ..*ranking }, score);
        arranged.extend(rest);
        arranged
    }

    /// What the gate lets through in the order of the score, and the rest behind it.
    fn gated(&self, words: &[usize], overlaps: &BTreeMap<usize, Overlap>, ranking: &Ranking) -> Vec<usize> {
        let (let_in, rest) = words.split_at(ranking.gate.min(words.len()));
        let mut scored: Vec<(usize, f64)> = let_in
            .iter()
            .map(|&place| (place, self.score(place, overlaps.get(&place).copied(), ranking).score))
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        scored.into_iter().map(|(place, _)| place).chain(rest.iter().copied()).collect()
    }

    fn scored(&self, overlaps: &BTreeMap<usize, Overlap>, ranking: &Ranking) -> Vec<usize> {
        self.ranked(|place| self.score(place, overlaps.get(&place).copied(), ranking).score)
    }
}

/// Importance and age say nothing of these texts, so they are drawn: by that one sees what the score costs.
fn worth(id: &str, ranking: &Ranking) -> (f64, f64) {
    let mut draw = Draw::new(&["worth", id]);
    let importance = draw.between(30, 90) as f64 / 100.0;
    let days = i64::try_from(draw.between(0, 180)).unwrap_or_default();
    (importance, recency(days * DAY, Some(ranking.half_lives.lesson)))
}

fn meanings(model: &Model, texts: &[&Text]) -> Result<Meanings> {
    let cut: Vec<Vec<String>> = texts.iter().map(|text| units(&text.text)).collect();
    let flat: Vec<String> = cut.iter().flatten().cloned().collect();
    let mut vectors = model.embed(&flat)?.into_iter();
    Ok(Meanings(cut.iter().map(|units| vectors.by_ref().take(units.len()).collect()).collect()))
}

/// One over the place in each list, added up.
fn fused(one: &[usize], other: &[usize]) -> Vec<usize> {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for list in [one, other] {
        for (place, &text) in list.iter().enumerate() {
            *sums.entry(text).or_default() += 1.0 / (FUSION + place as f64 + 1.0);
        }
    }
    let mut all: Vec<(usize, f64)> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.into_iter().map(|(text, _)| text).collect()
}
