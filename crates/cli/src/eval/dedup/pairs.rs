//! Labelled pairs of lessons: which pairs are merged, and which should have been.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::super::model::SentenceModel;
use super::similarity_measures::TextEmbeddings;
use crate::cli_error::CliError;
use archivist_core::domain::{FacetValues, MemoryCategory, MemoryKind};
use archivist_core::judge::{
    JudgedRelation, LessonFeatures, LessonStatement, SimilarityThresholds, WordFrequencies, relate_lessons,
};
use archivist_core::text::WordSplitter;

/// The pairs that weights, signs of conflict and thresholds were developed with.
const DEV: &str = include_str!("../../../../../fixtures/pairs/dev.jsonl");
/// The name of the development part in the report.
const DEVELOPMENT: &str = "development";
/// Pairs that were a holdout at first, and were inspected when later rules were written.
const HELD: &str = include_str!("../../../../../fixtures/pairs/held.jsonl");
/// Pairs by another author, inspected when later rules were written.
const FRESH: &str = include_str!("../../../../../fixtures/pairs/fresh.jsonl");
/// Pairs by a third author, who knew nothing of the program; one rule was written after inspecting them.
const BLIND: &str = include_str!("../../../../../fixtures/pairs/blind.jsonl");
/// Pairs by a fourth author, written after that and inspected when later rules were written.
const SECOND: &str = include_str!("../../../../../fixtures/pairs/second.jsonl");
/// Three more sets of pairs, each by a new author who did not know the program, inspected once and then used for rules.
const THIRD: &str = include_str!("../../../../../fixtures/pairs/third.jsonl");
const FOURTH: &str = include_str!("../../../../../fixtures/pairs/fourth.jsonl");
const FIFTH: &str = include_str!("../../../../../fixtures/pairs/fifth.jsonl");

/// The figures of one part of the pairs.
#[derive(Debug, Serialize)]
pub(super) struct LessonPairScore {
    pub(super) half: String,
    pub(super) method: &'static str,
    pub(super) pairs: usize,
    /// The number of pairs that would be merged without asking a model.
    pub(super) merged: usize,
    /// The number of merged pairs that are labelled as the same or as a refinement.
    pub(super) rightly: usize,
    pub(super) precision: f64,
    pub(super) recall: f64,
    /// The number of contradictions and changes that would be merged.
    pub(super) changed_swallowed: usize,
    /// The ids of wrongly merged pairs; it stays empty for the built-in parts other than development.
    pub(super) wrong: Vec<String>,
    /// The number of pairs by label, and then by the relation that was found.
    pub(super) confusion: BTreeMap<String, BTreeMap<&'static str, usize>>,
}

#[derive(Debug, Deserialize)]
struct LabelledLessonPair {
    id: String,
    relation: String,
    a: PairedLesson,
    b: PairedLesson,
}

#[derive(Debug, Deserialize)]
struct PairedLesson {
    summary: String,
    rule: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    category: MemoryCategory,
    #[serde(flatten)]
    facets: FacetValues,
}

impl PairedLesson {
    fn extract_features(&self, cutter: &mut WordSplitter) -> LessonFeatures {
        let statement = LessonStatement {
            summary: &self.summary,
            rule: self.rule.as_deref(),
            tags: &self.tags,
            facets: &self.facets,
            kind: &MemoryKind::Lesson,
            category: &self.category,
        };
        LessonFeatures::extract(&statement, cutter)
    }

    fn text(&self) -> String {
        self.rule.as_ref().map_or_else(|| self.summary.clone(), |rule| format!("{}. {rule}", self.summary))
    }
}

/// Scores every built-in part and each of these files, without and with a model.
pub(super) fn score_lesson_pairs(
    files: &[PathBuf],
    thresholds: &SimilarityThresholds,
    model: Option<&SentenceModel>,
) -> Result<Vec<LessonPairScore>> {
    let own = [
        (DEVELOPMENT, DEV),
        ("held out", HELD),
        ("fresh", FRESH),
        ("blind", BLIND),
        ("second blind", SECOND),
        ("third blind", THIRD),
        ("fourth blind", FOURTH),
        ("fifth blind", FIFTH),
    ];
    let mut parts: Vec<(String, String, PairVisibility)> = Vec::new();
    for (half, text) in own {
        let shown = if half == DEVELOPMENT { PairVisibility::All } else { PairVisibility::Counts };
        parts.push((half.to_owned(), text.to_owned(), shown));
    }
    for path in files {
        let text = std::fs::read_to_string(path).map_err(|error| {
            CliError::user_error(format!("cannot read {}: {error}", path.display())).with_hint("name a file of pairs")
        })?;
        parts.push((path.display().to_string(), text, PairVisibility::All));
    }
    let mut scores = Vec::new();
    for (half, text, shown) in &parts {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let pairs: Vec<LabelledLessonPair> =
            lines.map(serde_json::from_str).collect::<Result<_, _>>().with_context(|| format!("a pair of {half}"))?;
        scores.push(score_half(half, *shown, "archivist", &pairs, thresholds, None)?);
        if let Some(model) = model {
            scores.push(score_half(half, *shown, "archivist with embeddings", &pairs, thresholds, Some(model))?);
        }
    }
    Ok(scores)
}

/// A choice between naming the wrong pairs of a part and only counting them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairVisibility {
    All,
    Counts,
}

fn score_half(
    half: &str,
    shown: PairVisibility,
    method: &'static str,
    pairs: &[LabelledLessonPair],
    thresholds: &SimilarityThresholds,
    model: Option<&SentenceModel>,
) -> Result<LessonPairScore> {
    let texts: Vec<String> = pairs.iter().flat_map(|pair| [pair.a.text(), pair.b.text()]).collect();
    let meanings = model.map(|model| model.embed_texts(&texts).map(TextEmbeddings::from_vectors)).transpose()?;
    let (mut cutter, background) = (WordSplitter::default(), WordFrequencies::default());
    let mut confusion: BTreeMap<String, BTreeMap<&'static str, usize>> = BTreeMap::new();
    let (mut merged, mut rightly, mut mergeable, mut changed_swallowed) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let (known, new) = (pair.a.extract_features(&mut cutter), pair.b.extract_features(&mut cutter));
        let cosine = meanings.as_ref().and_then(|meanings| meanings.cosine_between(2 * index, 2 * index + 1));
        let kin = relate_lessons(&new, &known, &background, cosine, thresholds).relation;
        *confusion.entry(pair.relation.clone()).or_default().entry(relation_name(kin)).or_default() += 1;
        let should = matches!(pair.relation.as_str(), "same" | "refines");
        mergeable += usize::from(should);
        if matches!(kin, JudgedRelation::Same | JudgedRelation::Refines) {
            merged += 1;
            rightly += usize::from(should);
            changed_swallowed += usize::from(pair.relation == "contradicts");
            if !should && shown == PairVisibility::All {
                wrong.push(pair.id.clone());
            }
        }
    }
    let share = |part: usize, whole: usize| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
    let (precision, recall) = (share(rightly, merged), share(rightly, mergeable));
    Ok(LessonPairScore {
        half: half.to_owned(),
        method,
        pairs: pairs.len(),
        merged,
        rightly,
        precision,
        recall,
        changed_swallowed,
        wrong,
        confusion,
    })
}

/// Returns the name of a relation in the table.
pub(super) fn relation_name(kin: JudgedRelation) -> &'static str {
    match kin {
        JudgedRelation::Same => "same",
        JudgedRelation::Refines => "refines",
        JudgedRelation::Contradicts => "contradicts",
        JudgedRelation::Similar => "similar",
        JudgedRelation::Unsure => "unsure",
        JudgedRelation::Different => "different",
    }
}
