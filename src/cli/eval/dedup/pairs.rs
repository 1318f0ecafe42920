//! Pairs of lessons of our own: what is merged, and what should have been.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::super::model::Model;
use super::measure::Meanings;
use crate::cli::failure::Failure;
use crate::domain::{Facets, MemoryCategory, MemoryKind};
use crate::judge::{Background, Features, Kin, Saying, Thresholds, relate};
use crate::text::Cutter;

/// The part that weights, signs of conflict and thresholds were made with.
const DEV: &str = include_str!("../../../../fixtures/pairs/dev.jsonl");
/// What that part is called.
const DEVELOPMENT: &str = "development";
/// Held out at first, and looked at when rules were made later.
const HELD: &str = include_str!("../../../../fixtures/pairs/held.jsonl");
/// Written by another hand; looked at when rules were made later.
const FRESH: &str = include_str!("../../../../fixtures/pairs/fresh.jsonl");
/// Written by a third hand, which knew nothing of the program; one rule was made after a look at them.
const BLIND: &str = include_str!("../../../../fixtures/pairs/blind.jsonl");
/// Written by a fourth hand after that; looked at when rules were made later.
const SECOND: &str = include_str!("../../../../fixtures/pairs/second.jsonl");
/// Three more, each by another hand that knew nothing of the program, each looked at once and then used for rules.
const THIRD: &str = include_str!("../../../../fixtures/pairs/third.jsonl");
const FOURTH: &str = include_str!("../../../../fixtures/pairs/fourth.jsonl");
const FIFTH: &str = include_str!("../../../../fixtures/pairs/fifth.jsonl");

/// What became of one half.
#[derive(Debug, Serialize)]
pub(super) struct PairScore {
    pub(super) half: String,
    pub(super) method: &'static str,
    pub(super) pairs: usize,
    /// Pairs that would be merged without asking anybody.
    pub(super) merged: usize,
    /// Those of them that are the same, or a refinement.
    pub(super) rightly: usize,
    pub(super) precision: f64,
    pub(super) recall: f64,
    /// Contradictions and changes that would be merged.
    pub(super) changed_swallowed: usize,
    /// Which pairs were merged wrongly; those of ours that were held out stay unseen.
    pub(super) wrong: Vec<String>,
    /// By label, then by what was said of it.
    pub(super) confusion: BTreeMap<String, BTreeMap<&'static str, usize>>,
}

#[derive(Debug, Deserialize)]
struct Pair {
    id: String,
    relation: String,
    a: Side,
    b: Side,
}

#[derive(Debug, Deserialize)]
struct Side {
    summary: String,
    rule: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    category: MemoryCategory,
    #[serde(flatten)]
    facets: Facets,
}

impl Side {
    fn features(&self, cutter: &mut Cutter) -> Features {
        let saying = Saying {
            summary: &self.summary,
            rule: self.rule.as_deref(),
            tags: &self.tags,
            facets: &self.facets,
            kind: &MemoryKind::Lesson,
            category: &self.category,
        };
        Features::of(&saying, cutter)
    }

    fn text(&self) -> String {
        self.rule.as_ref().map_or_else(|| self.summary.clone(), |rule| format!("{}. {rule}", self.summary))
    }
}

/// Measures every part of our own and each of these files, without and with a model.
pub(super) fn score(files: &[PathBuf], thresholds: &Thresholds, model: Option<&Model>) -> Result<Vec<PairScore>> {
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
    let mut parts: Vec<(String, String, Shown)> = Vec::new();
    for (half, text) in own {
        let shown = if half == DEVELOPMENT { Shown::All } else { Shown::Counts };
        parts.push((half.to_owned(), text.to_owned(), shown));
    }
    for path in files {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::user(format!("cannot read {}: {error}", path.display())).with_hint("name a file of pairs")
        })?;
        parts.push((path.display().to_string(), text, Shown::All));
    }
    let mut scores = Vec::new();
    for (half, text, shown) in &parts {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let pairs: Vec<Pair> =
            lines.map(serde_json::from_str).collect::<Result<_, _>>().with_context(|| format!("a pair of {half}"))?;
        scores.push(score_half(half, *shown, "archivist", &pairs, thresholds, None)?);
        if let Some(model) = model {
            scores.push(score_half(half, *shown, "archivist with embeddings", &pairs, thresholds, Some(model))?);
        }
    }
    Ok(scores)
}

/// Whether pairs may be looked at, or only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    Counts,
}

fn score_half(
    half: &str,
    shown: Shown,
    method: &'static str,
    pairs: &[Pair],
    thresholds: &Thresholds,
    model: Option<&Model>,
) -> Result<PairScore> {
    let texts: Vec<String> = pairs.iter().flat_map(|pair| [pair.a.text(), pair.b.text()]).collect();
    let meanings = model.map(|model| model.embed(&texts).map(Meanings::of)).transpose()?;
    let (mut cutter, background) = (Cutter::default(), Background::default());
    let mut confusion: BTreeMap<String, BTreeMap<&'static str, usize>> = BTreeMap::new();
    let (mut merged, mut rightly, mut mergeable, mut changed_swallowed) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let (known, new) = (pair.a.features(&mut cutter), pair.b.features(&mut cutter));
        let cosine = meanings.as_ref().and_then(|meanings| meanings.cosine(2 * index, 2 * index + 1));
        let kin = relate(&new, &known, &background, cosine, thresholds).relation;
        *confusion.entry(pair.relation.clone()).or_default().entry(name(kin)).or_default() += 1;
        let should = matches!(pair.relation.as_str(), "same" | "refines");
        mergeable += usize::from(should);
        if matches!(kin, Kin::Same | Kin::Refines) {
            merged += 1;
            rightly += usize::from(should);
            changed_swallowed += usize::from(pair.relation == "contradicts");
            if !should && shown == Shown::All {
                wrong.push(pair.id.clone());
            }
        }
    }
    let share = |part: usize, whole: usize| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
    let (precision, recall) = (share(rightly, merged), share(rightly, mergeable));
    Ok(PairScore {
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

/// What a relation is called in the table.
pub(super) fn name(kin: Kin) -> &'static str {
    match kin {
        Kin::Same => "same",
        Kin::Refines => "refines",
        Kin::Contradicts => "contradicts",
        Kin::Similar => "similar",
        Kin::Unsure => "unsure",
        Kin::Different => "different",
    }
}
