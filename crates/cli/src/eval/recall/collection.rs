//! An in-memory index that searches texts with Archivist's own relevance measure, without a store.

use std::collections::{BTreeMap, HashMap};

use archivist_core::domain::{AgentMemory, MemoryId, Timestamp};
use archivist_core::model::embed::EmbeddingVector;
use archivist_core::recall::{
    LessonTerms, RelevanceMeasure, RelevanceQuery, TermStatistics, WordOverlap, closest_similarity,
    collect_lesson_terms,
};
use archivist_core::text::WordSplitter;

/// A word index of one group's texts.
pub(super) struct TextIndex {
    lengths: Vec<u32>,
    /// The texts that contain each term, with the weighted count of the term in them.
    postings: HashMap<String, Vec<(usize, u32)>>,
}

impl TextIndex {
    pub(super) fn new<'t>(texts: impl IntoIterator<Item = &'t str>, cutter: &mut WordSplitter) -> Self {
        let mut collection = Self { lengths: Vec::new(), postings: HashMap::new() };
        for (place, text) in texts.into_iter().enumerate() {
            let LessonTerms { counts, length } = extract_terms(text, cutter);
            collection.lengths.push(length);
            for (term, count) in counts {
                collection.postings.entry(term).or_default().push((place, count));
            }
        }
        collection
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the overlap of each text with a query, for the texts that have any, and the measure behind it.
    pub(super) fn find_overlaps(&self, text: &str) -> (RelevanceMeasure, BTreeMap<usize, WordOverlap>) {
        let question = RelevanceQuery::from_text(text);
        let held: Vec<&[(usize, u32)]> = question
            .terms()
            .iter()
            .map(|term| self.postings.get(term).map(Vec::as_slice).unwrap_or_default())
            .collect();
        let vocabulary = TermStatistics {
            documents: self.lengths.len() as u64,
            length: self.lengths.iter().map(|length| u64::from(*length)).sum(),
            holders: held.iter().map(|postings| postings.len() as u64).collect(),
        };
        let measure = vocabulary.build_measure(&question);
        let mut counts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (term, postings) in held.iter().enumerate() {
            for &(place, count) in *postings {
                let counts = counts.entry(place).or_insert_with(|| vec![0; held.len()]);
                if let Some(slot) = counts.get_mut(term) {
                    *slot = count;
                }
            }
        }
        let length = |place: &usize| self.lengths.get(*place).copied().unwrap_or_default();
        let overlaps = counts.iter().filter_map(|(place, counts)| {
            measure.measure_overlap(counts, length(place)).map(|overlap| (*place, overlap))
        });
        let overlaps = overlaps.collect();
        (measure, overlaps)
    }
}

/// Returns the terms of a text, read as a lesson that has only a summary.
fn extract_terms(text: &str, cutter: &mut WordSplitter) -> LessonTerms {
    let Ok(id) = MemoryId::parse("mem-text") else { return LessonTerms::default() };
    collect_lesson_terms(cutter, &AgentMemory::new(id, Timestamp::default(), text))
}

/// The embeddings of texts, one for each unit of a text.
pub(super) struct UnitEmbeddings(pub(super) Vec<Vec<EmbeddingVector>>);

impl UnitEmbeddings {
    /// Returns the cosine between a query and the closest unit of each text.
    pub(super) fn cosines_to(&self, question: &EmbeddingVector) -> Vec<f64> {
        let close = |units: &Vec<EmbeddingVector>| {
            closest_similarity(units.iter().map(|unit| f64::from(unit.cosine_similarity(question))))
        };
        self.0.iter().map(|units| close(units).unwrap_or_default()).collect()
    }
}
