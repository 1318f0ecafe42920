//! Public retrieval sets, and how well right answers are ranked, by words and by embeddings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::model::SentenceModel;
use super::super::redact::read_text_file as read_text;
use super::super::seeded_choice::SeededRandom;
use super::collection::{TextIndex, UnitEmbeddings};
use super::figures::RankingFigures;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::text_format::format_count;
use archivist_core::recall::{
    self, RankingSettings, RecallScore, WordOverlap, combined_closeness, recency_score, split_into_units,
};
use archivist_core::text::WordSplitter;

/// nDCG@10 as recorded in the README next to the public sets: the best of two libraries and two settings of SQLite's
/// full-text search, MiniLM, and plain rank fusion. For `sde_chat` it is the share of right answers in first place.
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

/// The constant that plain rank fusion adds to each place.
const FUSION: f64 = 60.0;
/// The number of answers that are ranked for each query.
const DEPTH: usize = 50;
/// The milliseconds of a day, for texts whose age is not known.
const DAY: i64 = 86_400_000;

#[derive(Debug, Deserialize)]
struct CorpusText {
    id: String,
    group: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct CorpusQuery {
    group: String,
    text: String,
    rel: BTreeMap<String, f64>,
}

/// A named set of texts and of queries for them.
pub(super) struct RetrievalSet {
    name: String,
    texts: Vec<CorpusText>,
    queries: Vec<CorpusQuery>,
}

/// The figures of all ranking methods on one set.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RetrievalSetScore {
    pub(super) name: String,
    pub(super) texts: usize,
    pub(super) questions: usize,
    pub(super) rows: Vec<RankingMethodRow>,
    /// The figures that were recorded with the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<RecordedFigures>,
    /// The median time of a query by words, in microseconds.
    pub(super) microseconds: f64,
}

/// The figures of other methods that were recorded with the data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedFigures {
    pub(super) words: f64,
    pub(super) embeddings: f64,
    pub(super) rank_fusion: f64,
}

/// The figures of one ranking method.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RankingMethodRow {
    pub(super) method: &'static str,
    #[serde(flatten)]
    pub(super) figures: RankingFigures,
}

/// Returns the paths of the wanted sets, or of all sets of a directory.
pub(super) fn list_set_paths(directory: &Path, wanted: &[String]) -> Vec<Result<PathBuf, CliError>> {
    if !wanted.is_empty() {
        return wanted.iter().map(|name| Ok(directory.join(name))).collect();
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return vec![Err(CliError::user_error(format!("cannot read {}: {error}", directory.display())))],
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    if paths.is_empty() {
        let what = format!("there are no sets in {}", directory.display());
        return vec![Err(
            CliError::user_error(what).with_hint("a set is a directory with a corpus and queries; see --help")
        )];
    }
    paths.into_iter().map(Ok).collect()
}

pub(super) fn read_retrieval_set(directory: &Path, console: &mut Console) -> Result<RetrievalSet> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let texts = read_json_records(directory, "corpus", console)?;
    let queries = read_json_records(directory, "queries", console)?;
    Ok(RetrievalSet { name, texts, queries })
}

fn read_json_records<T: serde::de::DeserializeOwned>(
    directory: &Path,
    what: &str,
    console: &mut Console,
) -> Result<Vec<T>> {
    let packed = directory.join(format!("{what}.jsonl.gz"));
    let path = if packed.exists() { packed } else { directory.join(format!("{what}.jsonl")) };
    let text = read_text(&path)?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let records: Vec<T> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if records.len() < lines.len() {
        let strange = format_count(lines.len() - records.len(), "line", "lines");
        console.print_warning(&format!("{strange} of {} not understood and skipped", path.display()));
    }
    Ok(records)
}

/// The texts of one group, ready to be searched.
struct CorpusGroup<'s> {
    texts: Vec<&'s CorpusText>,
    collection: TextIndex,
    meanings: Option<UnitEmbeddings>,
    /// The importance and the recency that are assumed for each text.
    worth: Vec<(f64, f64)>,
}

/// Scores all ranking methods on one set.
pub(super) fn score_retrieval_set(
    set: &RetrievalSet,
    ranking: &RankingSettings,
    model: Option<&SentenceModel>,
) -> Result<RetrievalSetScore> {
    let mut by_group: BTreeMap<&str, Vec<&CorpusText>> = BTreeMap::new();
    for text in &set.texts {
        by_group.entry(&text.group).or_default().push(text);
    }
    let mut cutter = WordSplitter::default();
    let mut groups: BTreeMap<&str, CorpusGroup<'_>> = BTreeMap::new();
    for (name, texts) in by_group {
        let collection = TextIndex::new(texts.iter().map(|text| text.text.as_str()), &mut cutter);
        let meanings = model.map(|model| embed_units(model, &texts)).transpose()?;
        let worth = texts.iter().map(|text| draw_worth(&text.id, ranking)).collect();
        groups.insert(name, CorpusGroup { texts, collection, meanings, worth });
    }
    let mut rows: BTreeMap<(usize, &'static str), Vec<RankingFigures>> = BTreeMap::new();
    let mut times = Vec::new();
    for query in &set.queries {
        let Some(group) = groups.get(query.group.as_str()) else { continue };
        let started = Instant::now();
        let (_, overlaps) = group.collection.find_overlaps(&query.text);
        let words = group.rank_by(|place| combined_closeness(overlaps.get(&place).copied(), None));
        times.push(started.elapsed().as_secs_f64() * 1e6);
        let mut note = |number: usize, method: &'static str, ranked: &[usize]| {
            rows.entry((number, method))
                .or_default()
                .push(RankingFigures::from_ranking(&group.text_ids(ranked), &query.rel));
        };
        note(0, "words", &words);
        note(1, "words, gate, full score", &group.rank_gated(&words, &overlaps, ranking));
        note(2, "words, as recall orders them", &group.rank_as_recall(&words, &overlaps, ranking));
        note(3, "full score over everything", &group.rank_by_score(&overlaps, ranking));
        if let (Some(model), Some(meanings)) = (model, &group.meanings) {
            let asked = model.embed_texts(std::slice::from_ref(&query.text))?;
            let Some(asked) = asked.first() else { continue };
            let cosines = meanings.cosines_to(asked);
            let cosine = |place: usize| cosines.get(place).copied();
            let meaning = group.rank_by(|place| cosine(place).unwrap_or_default() + 1.0);
            note(4, "embeddings", &meaning);
            note(5, "plain rank fusion", &fuse_rankings(&words, &meaning));
            note(
                6,
                "words and embeddings",
                &group.rank_by(|place| combined_closeness(overlaps.get(&place).copied(), cosine(place)) + 2.0),
            );
        }
    }
    times.sort_by(f64::total_cmp);
    let recorded = RECORDED.iter().find(|(name, ..)| *name == set.name);
    Ok(RetrievalSetScore {
        name: set.name.clone(),
        texts: set.texts.len(),
        questions: set.queries.len(),
        rows: rows
            .into_iter()
            .map(|((_, method), all)| RankingMethodRow { method, figures: RankingFigures::mean(&all) })
            .collect(),
        recorded: recorded.map(|&(_, words, embeddings, rank_fusion)| RecordedFigures {
            words,
            embeddings,
            rank_fusion,
        }),
        microseconds: times.get(times.len() / 2).copied().unwrap_or_default(),
    })
}

impl<'s> CorpusGroup<'s> {
    fn text_ids(&self, ranked: &[usize]) -> Vec<&'s str> {
        ranked.iter().filter_map(|place| self.texts.get(*place).map(|text| text.id.as_str())).collect()
    }

    /// Ranks the texts by a value that must be above 0; of two equal ones the earlier comes first.
    fn rank_by(&self, value: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut all: Vec<(usize, f64)> = (0..self.collection.len()).map(|place| (place, value(place))).collect();
        all.retain(|(_, value)| *value > 0.0);
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all.into_iter().take(DEPTH).map(|(place, _)| place).collect()
    }

    fn score_text(&self, place: usize, overlap: Option<WordOverlap>, ranking: &RankingSettings) -> RecallScore {
        let (importance, recency) = self.worth.get(place).copied().unwrap_or_default();
        let closeness = combined_closeness(overlap, None);
        RecallScore { closeness, ..recall::weighted_score(&ranking.weights, importance, recency, closeness.min(1.0)) }
    }

    /// Ranks the texts within the gate as recall does, by score among those that are about as close; the rest follows.
    fn rank_as_recall(
        &self,
        words: &[usize],
        overlaps: &BTreeMap<usize, WordOverlap>,
        ranking: &RankingSettings,
    ) -> Vec<usize> {
        let (let_in, rest) = words.split_at(ranking.gate.min(words.len()));
        let score = |&place: &usize| self.score_text(place, overlaps.get(&place).copied(), ranking);
        let mut arranged = let_in.to_vec();
        recall::arrange_answers(&mut arranged, &RankingSettings { far: 0.0, ..*ranking }, score);
        arranged.extend(rest);
        arranged
    }

    /// Ranks the texts within the gate by score, and appends the rest.
    fn rank_gated(
        &self,
        words: &[usize],
        overlaps: &BTreeMap<usize, WordOverlap>,
        ranking: &RankingSettings,
    ) -> Vec<usize> {
        let (let_in, rest) = words.split_at(ranking.gate.min(words.len()));
        let mut scored: Vec<(usize, f64)> = let_in
            .iter()
            .map(|&place| (place, self.score_text(place, overlaps.get(&place).copied(), ranking).score))
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        scored.into_iter().map(|(place, _)| place).chain(rest.iter().copied()).collect()
    }

    fn rank_by_score(&self, overlaps: &BTreeMap<usize, WordOverlap>, ranking: &RankingSettings) -> Vec<usize> {
        self.rank_by(|place| self.score_text(place, overlaps.get(&place).copied(), ranking).score)
    }
}

/// Draws importance and recency at random, since the texts have none, to show what the full score costs.
fn draw_worth(id: &str, ranking: &RankingSettings) -> (f64, f64) {
    let mut draw = SeededRandom::new(&["worth", id]);
    let importance = draw.number_between(30, 90) as f64 / 100.0;
    let days = i64::try_from(draw.number_between(0, 180)).unwrap_or_default();
    (importance, recency_score(days * DAY, Some(ranking.half_lives.lesson)))
}

fn embed_units(model: &SentenceModel, texts: &[&CorpusText]) -> Result<UnitEmbeddings> {
    let cut: Vec<Vec<String>> = texts.iter().map(|text| split_into_units(&text.text)).collect();
    let flat: Vec<String> = cut.iter().flatten().cloned().collect();
    let mut vectors = model.embed_texts(&flat)?.into_iter();
    Ok(UnitEmbeddings(cut.iter().map(|units| vectors.by_ref().take(units.len()).collect()).collect()))
}

/// Ranks texts by plain rank fusion, the sum of the reciprocal places in both lists.
fn fuse_rankings(one: &[usize], other: &[usize]) -> Vec<usize> {
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
